"""What is recorded of a run, and how its state is made from that: a pure function of launch and entries.

An entry is one step of DBOS, so that results which come at the same time are one write:
`results` as pairs of command and result, in the order in which they were applied; `due`, when timers end; `later`, commands that
somebody answers later; `fired`, commands whose result nobody waits for; `letters`, what was read of the mail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from dbos import StepInfo

from instrc.jsonvalue import JsonObject
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import FireCommand, Result
from instrc.runtime.interpreter.documents import PinnedPlan, State

STEP = "instrc"
"""The name of the steps."""


class JournalEntry(TypedDict, total=False):
    """One step."""

    results: list[tuple[str, Result]]
    due: dict[str, float]
    later: list[str]
    fired: list[str]
    letters: list[str]


@dataclass(slots=True)
class Journal:
    """How far a run has come."""

    state: State
    due: dict[str, float] = field(default_factory=dict)
    later: set[str] = field(default_factory=set)
    letters: set[str] = field(default_factory=set)
    unfired: dict[str, FireCommand] = field(default_factory=dict)
    """Commands to fire that were perhaps not carried out."""


def entries_of(steps: Iterable[StepInfo]) -> list[JournalEntry]:
    """Return the entries among the steps that DBOS has recorded, in order.

    Where an entry could not be written, DBOS may have recorded that instead; nothing of it was applied.
    """
    return [step["output"] for step in steps if step["function_name"] == STEP and step["output"] is not None]


def rebuild_journal(plan: PinnedPlan, inputs: JsonObject, entries: Iterable[JournalEntry]) -> Journal:
    """Return how far a run has come; what became runnable last is not issued."""
    journal = Journal(versions.begin(plan, inputs))
    for entry in entries:
        for command in versions.issue(plan, journal.state):
            if command["kind"] == "fire":
                journal.unfired[command["id"]] = command
        for command_id, result in entry.get("results", ()):
            versions.apply(plan, journal.state, command_id, result)
            journal.due.pop(command_id, None)
            journal.later.discard(command_id)
        journal.due |= entry.get("due", {})
        journal.later |= set(entry.get("later", ()))
        journal.letters |= set(entry.get("letters", ()))
        for command_id in entry.get("fired", ()):
            journal.unfired.pop(command_id, None)
    open_ = {command["id"] for command in versions.pending(plan, journal.state)} if journal.due else set()
    journal.due = {name: at for name, at in journal.due.items() if name in open_}
    return journal
