"""Lay out a file: a program, or JSON by its name."""

from __future__ import annotations

from instrc import problems
from instrc.format.document import format_json
from instrc.format.program import format_program
from instrc.jsonreader import read_value
from instrc.jsonvalue import JsonSyntaxError
from instrc.problems.report import Report
from instrc.source import Source
from instrc.syntax.habits import name_habits
from instrc.syntax.parse import parse

JSON_ENDING = ".json"


def format_source(source: Source, report: Report) -> str | None:
    """Return the canonical text of a program, or of JSON if the name says so; `None` with problems if it is neither.

    A program is left alone, too, if it is not clear where its statements end: `"say "hi" to him"` would become three
    statements with a `;` after each, and nobody would see the mistake any more.
    """
    if source.name.endswith(JSON_ENDING):
        return _json(source, report)
    found = Report()
    name_habits(parse(source, found), found)
    report.problems += found.problems
    unclear = any(isinstance(problem, problems.habits.MissingSeparator) for problem in found.problems)
    return None if found.failed or unclear else format_program(source)


def _json(source: Source, report: Report) -> str | None:
    try:
        read_value(source.text)
    except JsonSyntaxError as error:
        start = min(error.offset, max(len(source.text) - 1, 0))
        at = source.span(start, min(start + 1, len(source.text)))
        report.add(problems.files.InvalidJson(at=at, reason=error.reason))
        return None
    return format_json(source.text)
