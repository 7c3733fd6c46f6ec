"""Write problems for machines: plain JSON, GitHub's workflow commands, SARIF 2.1.0.

Lines and columns count from 1, columns in code points; an end is the first position after the span.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from instrc.problems.problem import Fix, Problem
from instrc.text.jsonvalue import Json
from instrc.text.source import Span
from instrc.text.visible import visible, visible_lines
from instrc.version import __version__

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_json(problems: Iterable[Problem]) -> list[Json]:
    """Return one object per problem, all with the same keys; an unknown value is `null`."""
    return [
        {
            "name": problem.name,
            "severity": problem.severity,
            "message": _clean(str(problem)),
            "hint": None if problem.hint is None else _clean(problem.hint),
            **_json_place(problem.at),
            "labels": [{"text": _clean(label.text), **_json_place(label.span)} for label in problem.labels],
            "fixes": [_json_fix(fix) for fix in problem.fixes],
        }
        for problem in problems
    ]


def _clean(text: str) -> str:
    """Return a text that UTF-8 can encode: invalid bytes of a file name become `\ufffd`."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _json_place(span: Span | None) -> dict[str, Json]:
    if span is None:
        return {"path": None, "line": None, "column": None, "end_line": None, "end_column": None}
    return {"path": _clean(span.source.name), **_region(span)._asdict()}


class _Region(NamedTuple):
    """A span as lines and columns."""

    line: int
    column: int
    end_line: int
    end_column: int


def _region(span: Span) -> _Region:
    length = len(span.source.text)
    start = span.source.locate(min(span.start, length))
    return _Region(*start, *span.source.locate(min(max(span.start, span.end), length)))


def _json_fix(fix: Fix) -> Json:
    edits: list[Json] = [{"text": _clean(edit.text), **_json_place(edit.span)} for edit in fix.edits]
    return {"title": _clean(fix.title), "safe": fix.safe, "edits": edits}


def to_github(problems: Iterable[Problem]) -> str:
    """Return one workflow command per line, which GitHub Actions shows next to the changed line."""
    return "".join(f"{_github(problem)}\n" for problem in problems)


def _github(problem: Problem) -> str:
    fields = []
    if problem.at is not None:
        region = _region(problem.at)
        fields.append(("file", visible(_clean(problem.at.source.name))))
        fields.append(("line", str(region.line)))
        fields.append(("endLine", str(region.end_line)))
        if region.line == region.end_line:  # GitHub has no columns for spans of several lines
            fields.append(("col", str(region.column)))
            fields.append(("endColumn", str(region.end_column)))
    fields.append(("title", f"instrc {problem.name}"))
    properties = ",".join(f"{key}={_escape_property(value)}" for key, value in fields)
    hint = "" if problem.hint is None else f"\n{problem.hint}"
    return f"::{problem.severity} {properties}::{_escape(visible_lines(_clean(str(problem) + hint)))}"


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def to_sarif(problems: Sequence[Problem], pages: dict[str, str]) -> Json:
    """Return a SARIF log of one run; `pages` has the Markdown explanation of each problem, by name."""
    names = sorted({problem.name for problem in problems})
    severities = {problem.name: problem.severity for problem in problems}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "instrc",
                        "semanticVersion": __version__,
                        "rules": [_rule(name, severities[name], pages.get(name, name)) for name in names],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(problem, names.index(problem.name)) for problem in problems],
            }
        ],
    }


def _rule(name: str, severity: str, page: str) -> Json:
    return {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": page.partition("\n")[0]},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": severity},
    }


def _result(problem: Problem, rule: int) -> Json:
    hint = "" if problem.hint is None else f"\n{problem.hint}"
    result: dict[str, Json] = {
        "ruleId": problem.name,
        "ruleIndex": rule,
        "level": problem.severity,
        "message": {"text": _clean(str(problem) + hint)},
    }
    if problem.at is not None:
        result["locations"] = [{"physicalLocation": _sarif_place(problem.at)}]
    if problem.labels:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _sarif_place(label.span), "message": {"text": _clean(label.text)}}
            for number, label in enumerate(problem.labels)
        ]
    if problem.fixes:
        result["fixes"] = [_sarif_fix(fix) for fix in problem.fixes]
    return result


def _sarif_place(span: Span) -> Json:
    return {"artifactLocation": {"uri": _uri(span.source.name)}, "region": _sarif_region(span)}


def _uri(path: str) -> str:
    """Return a URI reference for a path: relative to the working folder, or `file:` if the path is absolute."""
    from os import fsencode
    from pathlib import Path
    from urllib.parse import quote  # one format needs them

    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(fsencode(Path(path).as_posix()), safe="/")


def _sarif_region(span: Span) -> Json:
    region = _region(span)
    return {
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    }


def _sarif_fix(fix: Fix) -> Json:
    by_file: dict[str, list[Json]] = {}
    for edit in fix.edits:
        new: Json = {"deletedRegion": _sarif_region(edit.span), "insertedContent": {"text": _clean(edit.text)}}
        by_file.setdefault(_uri(edit.span.source.name), []).append(new)
    changes: list[Json] = [{"artifactLocation": {"uri": uri}, "replacements": new} for uri, new in by_file.items()]
    return {"description": {"text": _clean(fix.title)}, "artifactChanges": changes}
