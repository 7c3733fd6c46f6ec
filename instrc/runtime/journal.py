"""The journal of a run: its entries, the state rebuilt from them, and what holds the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypedDict

from msgspec import Struct

from instrc.runtime.activities import is_temporary
from instrc.runtime.boundary import copy_of
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import FireCommand, PinnedPlan, Result, SpendingLimits, State
from instrc.text.jsonvalue import Json, JsonObject, mapping, text_or_empty

CommandResult: TypeAlias = tuple[str, Result]
"""The id of a command, and its result."""


class Again(TypedDict, total=False):
    """The changes of a retry: the run continues as if the dropped results had never arrived."""

    drop: list[str]
    """Commands to restart, whose results are dropped or which hold the run."""
    fresh: list[str]
    """Commands to restart under another key."""
    anew: list[str]
    """Commands that may be given other values now: a process that has served one is not continued."""
    limits: SpendingLimits | None
    """New limits; `null` fails what waits for higher ones."""
    model: str
    """Model used for every chunk from now on."""
    shift: float
    """Seconds by which open deadlines are extended, since the run was idle meanwhile."""
    after: int
    """Number of earlier retries at the time of the request: of two simultaneous requests, only one counts."""


class JournalEntry(TypedDict, total=False):
    """Results and other facts recorded together."""

    results: list[CommandResult]
    """Results in the order in which they were applied."""
    due: dict[str, float]
    """End times of timers."""
    later: list[str]
    """Commands whose results arrive from outside later."""
    held: dict[str, Json]
    """Errors that are not applied because they would fail the run; they hold it instead."""
    fired: list[str]
    """Executed commands whose result is not awaited."""
    letters: list[str]
    """Messages that were read."""
    again: Again


@dataclass(slots=True)
class Journal:
    """The progress of a run."""

    plan: PinnedPlan
    inputs: JsonObject
    holds: bool = False
    """Whether a limit holds the run instead of failing it."""
    state: State = field(init=False)
    due: dict[str, float] = field(default_factory=dict)
    later: set[str] = field(default_factory=set)
    held: dict[str, Json] = field(default_factory=dict)
    letters: set[str] = field(default_factory=set)
    unfired: dict[str, FireCommand] = field(default_factory=dict)
    """Commands without a result that may not have been executed."""
    keys: dict[str, int] = field(default_factory=dict)
    """Index of a command's key, if not the first."""
    results: list[CommandResult] = field(default_factory=list)
    """Effective results; new limits are among them, under an empty id."""
    retries: int = 0
    model: str | None = None
    """Model chosen by a retry."""
    _fired: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.state = begun(self.plan, self.inputs, holds=self.holds)

    def key(self, command: str) -> str:
        """Return the suffix of a command's key, `llmContext1~2` after a deliberate restart."""
        number = self.keys.get(command, 1)
        return f"{command}~{number}" if number > 1 else command

    def enter(self, entry: JournalEntry) -> None:
        """Apply an entry."""
        self._issue()
        for command, result in entry.get("results", ()):
            gone = versions.apply(self.plan, self.state, command, result)
            self.results.append((command, result))
            for name in (command, *(gone if self.state["outcome"] is None else ())):
                self.due.pop(name, None)  # those that are open when the run fails are kept for a retry
            self.later.discard(command)
            self.held.pop(command, None)
        self.due |= entry.get("due", {})
        self.later |= set(entry.get("later", ()))
        self.held |= entry.get("held", {})
        self.letters |= set(entry.get("letters", ()))
        for command in entry.get("fired", ()):
            self._fired.add(command)
            self.unfired.pop(command, None)
        if "again" in entry:
            self._begin_again(entry["again"])

    def _issue(self) -> None:
        for command in versions.advance(self.plan, self.state):
            if command["id"] not in self._fired:
                self.unfired[command["id"]] = command

    def is_stale(self, again: Again) -> bool:
        """Return whether another retry came before this one."""
        return again.get("after", self.retries) != self.retries

    def _begin_again(self, again: Again) -> None:
        if self.is_stale(again):
            return
        self.retries += 1
        self.model = again.get("model", self.model)
        drop, state = set(again.get("drop", ())), self.state
        for command in again.get("fresh", ()):
            self.keys[command] = self.keys.get(command, 1) + 1
        for command in drop:
            self.held.pop(command, None)
            self.later.discard(command)
            self.due.pop(command, None)
        limits: CommandResult | None = ("", {"ok": again["limits"]}) if "limits" in again else None  # type: ignore[typeddict-item]  # plain JSON
        if state["outcome"] is not None or any(command in drop for command, _ in self.results):
            kept = [item for item in self.results if item[0] not in drop]
            if limits is not None:
                kept.insert(max(len(kept) - 1, 0), limits)  # it may be the last result by which a limit was reached
            self.state = begun(self.plan, self.inputs, holds=self.holds)
            for item in kept:
                self._issue()
                replay(self.plan, self.state, item)
            asked = {command["id"] for command in versions.pending(self.plan, self.state) if command["kind"] == "model"}
            twice = {command for command, result in self.results if command in drop & asked and "ok" in result}
            spent = state["spent"]  # the omitted part has been spent
            self.state["spent"] = {"requests": spent["requests"] + len(twice), "tokens": spent["tokens"]}
            self.results = kept
        elif limits is not None:
            replay(self.plan, state, limits)
            self.results.append(limits)
        for command in self.due:
            if command.endswith("!within"):
                self.due[command] += again.get("shift", 0)


def begun(plan: PinnedPlan, inputs: JsonObject, *, holds: bool = False) -> State:
    """Return the state of a run that has not started; with `holds`, limits do not end it."""
    state = versions.begin(plan, inputs)
    if holds:
        state["stalled"] = []
    return state


def replay(plan: PinnedPlan, state: State, each: CommandResult) -> None:
    """Apply a result, or raise limits."""
    command, result = each
    if command:
        versions.apply(plan, state, command, result)
    else:
        versions.raise_limits(plan, state, result["ok"])  # type: ignore[arg-type]  # as `Journal` writes it


def rebuild_journal(plan: PinnedPlan, inputs: JsonObject, entries: Iterable[JournalEntry], *, holds: bool = False) -> Journal:
    """Return the progress of a run; the commands that became ready last are not issued."""
    journal = Journal(plan, inputs, holds)
    for entry in entries:
        journal.enter(entry)
    if journal.due or journal.held:
        state = copy_of(journal.state)
        versions.advance(plan, state)
        journal.due = {name: at for name, at in journal.due.items() if name in state["open"]}
        journal.held = {name: error for name, error in journal.held.items() if name in state["open"]}
    return journal


_PASSING: Final = frozenset(
    {
        "timeout",
        "budget",
        "unreachable",
        "unavailable",
        "overloaded",
        "loading",
        "unreadable",
        "quota",
        "setting",
        "wrong-parameters",
        "unknown-activity",
        "unknown-process",
        "unusable-setting",
        "missing-extra",
    }
)
"""Codes of errors that do not come from the run itself; for HTTP, those of `is_temporary` as well."""


def is_passing(error: Json) -> bool:
    """Return whether an error is transient, so that its command may succeed if restarted."""
    code = text_or_empty(mapping(error).get("code"))
    return code in _PASSING or (code.isdecimal() and len(code) == 3 and is_temporary(int(code)))


class Hold(Struct):
    """Determines which errors hold a run."""

    plan: PinnedPlan
    state: State

    def takes(self, command: str, result: Result) -> bool:
        """Return whether a result would fail the run for a transient reason."""
        return "error" in result and is_passing(result["error"]) and versions.is_fatal(self.plan, self.state, command)
