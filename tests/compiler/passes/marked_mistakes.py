"""Mistakes in programs whose place is marked: each is reported once, there, with a way out."""

from __future__ import annotations

from typing import Any

from objects import an_object

import instrc
from instrc import Report

TEXT = {"type": "string"}
PEOPLE = "const p = People(prompt); "
CHECK = "const c = Check(prompt); "
LETTER_VIBES: dict[str, Any] = {
    "People": an_object(
        organizer=TEXT,
        guests={"type": "array", "items": an_object(name=TEXT, mail=TEXT)},
        names={"type": "array", "items": TEXT},
        count={"type": "integer"},
    ),
    "Draft": an_object(text=TEXT, tone=TEXT),
    "Write": an_object(letter=TEXT),
    "Check": an_object(ok={"type": "boolean"}, level={"enum": ["low", "high"]}, note={"type": ["string", "null"]}),
    "Act": an_object(plan={"type": "array"}, answer={"type": ["string", "null"]}),
    "Send_Activity": an_object(id=TEXT),
    "Search_Activity": an_object(query=TEXT, output={"type": "array", "items": TEXT}),
    "Confirm_User": an_object(decision={"enum": ["Approve", "Reject"]}),
}
"""Instructions of programs that write letters to people."""


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
