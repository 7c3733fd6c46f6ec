"""Mistakes in programs whose place is marked: each is reported once, there, with a way out."""

from __future__ import annotations

from typing import Any

import instrc
from instrc.problems.report import Report

TEXT = {"type": "string"}
PEOPLE = "const p = People(prompt); "
CHECK = "const c = Check(prompt); "


def problems_of(text: str, **options: Any) -> list[Any]:
    """Return the problems of a program, its warnings if it compiles."""
    report = Report()
    try:
        instrc.artefacts(text, report=report, **options)
    except instrc.CompileError as error:
        return list(error.problems)
    return report.ordered()


def found(text: str, vibes: dict[str, Any]) -> list[Any]:
    """Return the problems of a program, but for the warning that something is read by nobody: fragments have no readers."""
    return [problem for problem in problems_of(text, vibes=vibes) if problem.name != "unread-result"]


def assert_one_problem(marked: str, name: str, advice: str, vibes: dict[str, Any]) -> None:
    """Assert that a program has one problem, of this name, between its marks, with this advice in the hint."""
    before, _, rest = marked.partition("«")
    shown = rest.partition("»")[0]
    problems = found(marked.replace("«", "").replace("»", ""), vibes)
    assert [problem.name for problem in problems] == [name]
    [problem] = problems
    assert (problem.at.start, problem.at.text) == (len(before), shown)
    assert advice in (problem.hint or "")
