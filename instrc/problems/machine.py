"""Write problems for machines: plain JSON, and GitHub's workflow commands.

Lines and columns count from 1, columns in code points; an end is the first position after the span.
"""

from __future__ import annotations

from collections.abc import Iterable

from instrc.problems.problem import Fix, Problem
from instrc.text.jsonvalue import Json
from instrc.text.source import Span
from instrc.text.visible import visible, visible_lines


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
        return dict.fromkeys(("path", "line", "column", "end_line", "end_column"))
    length = len(span.source.text)
    line, column = span.source.locate(min(span.start, length))
    end_line, end_column = span.source.locate(min(max(span.start, span.end), length))
    return {"path": _clean(span.source.name), "line": line, "column": column, "end_line": end_line, "end_column": end_column}


def _json_fix(fix: Fix) -> Json:
    edits: list[Json] = [{"text": _clean(edit.text), **_json_place(edit.span)} for edit in fix.edits]
    return {"title": _clean(fix.title), "safe": fix.safe, "edits": edits}


def to_github(problems: Iterable[Problem]) -> str:
    """Return one workflow command per line, which GitHub Actions shows next to the changed line."""
    return "".join(f"{_github(problem)}\n" for problem in problems)


def _github(problem: Problem) -> str:
    place = _json_place(problem.at)
    fields: dict[str, Json] = {}
    if problem.at is not None:
        fields = {"file": visible(str(place["path"])), "line": place["line"], "endLine": place["end_line"]}
        if place["line"] == place["end_line"]:  # GitHub has no columns for spans of several lines
            fields |= {"col": place["column"], "endColumn": place["end_column"]}
    fields["title"] = f"instrc {problem.name}"
    properties = ",".join(f"{key}={_escape_property(str(value))}" for key, value in fields.items())
    hint = "" if problem.hint is None else f"\n{problem.hint}"
    return f"::{problem.severity} {properties}::{_escape(visible_lines(_clean(str(problem) + hint)))}"


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
