"""Write problems for machines: plain JSON, and GitHub's workflow commands.

Lines and columns count from 1, columns in code points; an end is the first position after the span.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

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
