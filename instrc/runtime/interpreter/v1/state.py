"""Change the state of a run, and read the result of a command."""

from __future__ import annotations

from typing import NamedTuple, NoReturn, cast

from msgspec import Struct

from instrc.runtime.interpreter import documents
from instrc.runtime.interpreter.v1.runnable import PlanRegion, PlanUnit, RunnablePlan
from instrc.text.jsonvalue import Json, JsonObject, as_text, text_or_empty, without_type

ROOT = ""
"""Id of the outermost scope."""


class FailedError(Exception):
    """Raised when a step has failed for good."""

    def __init__(self, failure: documents.Failure) -> None:
        super().__init__(failure["message"])
        self.failure = failure


class Machine(Struct):
    """A program and the state of a run of it."""

    program: RunnablePlan
    state: documents.State
    withdrawn: list[str]
    """Commands that are no longer needed, as they are discovered."""
    cancelled: bool = False
    """Whether a block ended before everything in it was done."""

    def scope(self, scope: str) -> documents.BodyState:
        """Return a scope."""
        return self.state["scopes"][scope]

    def around(self, scope: str) -> str:
        """Return the scope around a body, or `None` for the outermost."""
        return as_text(self.state["scopes"][scope]["parent"])

    def region(self, scope: str) -> PlanRegion:
        """Return the body of a scope."""
        return self.program.regions[self.scope(scope)["region"]]

    def unit(self, scope: str, unit: int) -> PlanUnit:
        """Return a unit in the body of a scope."""
        return self.region(scope).units[unit]

    def each(self, scope: str, context: str) -> documents.EachState:
        """Return the state of an `each`."""
        return cast("documents.EachState", self.state["scopes"][scope]["blocks"][context])

    def repeat(self, scope: str, context: str) -> documents.RepeatState:
        """Return the state of a `repeat`."""
        return cast("documents.RepeatState", self.state["scopes"][scope]["blocks"][context])

    def race(self, scope: str, unit: PlanUnit) -> documents.RaceState:
        """Return the state of a `race`, or the initial one before a branch begins."""
        fresh: documents.RaceState = {"waiting": [], "begun": False, "left": len(unit.regions), "over": False}
        return cast("documents.RaceState", self.state["scopes"][scope]["blocks"].setdefault(unit.context, fresh))

    def plan(self, scope: str, unit: str) -> documents.PlanState:
        """Return the state of a plan in execution."""
        return cast("documents.PlanState", self.state["scopes"][scope]["blocks"][unit])

    def open_scope(
        self, scope: str, region: int, parent: str | None, names: JsonObject, record: JsonObject | None = None
    ) -> bool:
        """Start a body; return whether it is empty."""
        units = self.program.regions[region].units
        self.state["scopes"][scope] = {
            "region": region,
            "parent": parent,
            "left": len(units),
            "waits": {},
            "record": record or {},
            "values": {},
            "names": names,
            "blocks": {},
            "open": {},
            "children": {},
            "refused": [],
        }
        if parent is not None:
            self.scope(parent)["children"][scope] = None
        self.state["ready"] += [[scope, unit.index] for unit in units if not unit.needs]
        return not units

    def close_scope(self, scope: str) -> None:
        """Remove a body and its contents; its open commands are withdrawn."""
        waiting = [scope]
        while waiting:
            here = waiting.pop()
            gone = self.state["scopes"].pop(here, None)
            if gone is None:
                continue
            for command in gone["open"]:
                if self.state["open"].pop(command, None) is not None:
                    self.withdrawn.append(command)
            waiting.extend(gone["children"])
            if gone["parent"] is not None and gone["parent"] in self.state["scopes"]:
                self.scope(gone["parent"])["children"].pop(here, None)

    def open_command(self, command: str, entry: documents.Entry) -> None:
        """Record that a command is open, and queue it for the engine."""
        self.state["open"][command] = entry
        self.scope(entry["scope"])["open"][command] = None
        self.state["queue"].append(command)

    def close_command(self, command: str) -> None:
        """Record that a command is answered."""
        entry = self.state["open"].pop(command)
        self.scope(entry["scope"])["open"].pop(command, None)

    def withdraw(self, command: str) -> None:
        """Record that a command is no longer needed."""
        if command in self.state["open"]:
            self.close_command(command)
            self.withdrawn.append(command)


def scoped_id(scope: str, name: str) -> str:
    """Return an id inside a scope: `eachContext1[2].llmContext2`."""
    return f"{scope}.{name}" if scope else name


def failure(kind: documents.FailureKind, message: str, step: str | None, code: str | None = None) -> documents.Failure:
    """Return the reason why a step has failed for good."""
    return {"step": step, "kind": kind, "code": code, "message": message}


def give_up(kind: documents.FailureKind, message: str, step: str | None, code: str | None = None) -> NoReturn:
    """Fail a step permanently."""
    raise FailedError(failure(kind, message, step, code))


def give_up_by(error: documents.Fault, step: str | None) -> NoReturn:
    """Fail a step permanently with the error of its command."""
    raise FailedError(cast("documents.Failure", {"step": step, **error}))


def error_value(error: documents.Fault | documents.Failure) -> JsonObject:
    """Return an error in the form for programs: without the source location of an activity."""
    return {name: value for name, value in without_type(error).items() if name != "place"}


def unit_name(unit: PlanUnit) -> str:
    """Return the name of a unit for errors: its step, its key, or else its context."""
    if unit.called is not None:
        return unit.called
    if unit.steps:
        return unit.steps[0].key
    key = getattr(unit.block, "key", None)
    return unit.context if key is None else str(key)


class Came(NamedTuple):
    """A value, or an error."""

    value: Json
    error: documents.Fault | None
    complaints: tuple[documents.Complaint, ...]
    """Reasons why the engine itself rejected a model's answer."""
    tokens: int


def came_of(result: documents.Result) -> Came:
    """Return the value or the error of a result; a result with neither is an error."""
    given: documents.Result = result if isinstance(result, dict) else {}
    tokens = documents.tokens_of(given.get("usage"))
    error = given.get("error")
    complaints = given.get("complaints")
    said = tuple(complaints) if isinstance(complaints, list) else ()
    if error is None and "ok" in given:
        return Came(given["ok"], None, said, tokens)
    words = error if isinstance(error, dict) else {}
    code, message = words.get("code"), words.get("message")
    fault: documents.Fault = {
        "kind": kind_of_failure(words),
        "code": code if isinstance(code, str) else None,
        "message": message if isinstance(message, str) else "it gave neither a value nor an error",
    }
    if isinstance(place := words.get("place"), str):
        fault["place"] = place
    return Came(None, fault, said, tokens)


def kind_of_failure(said: JsonObject) -> documents.FailureKind:
    """Return the kind of an error, or `failed` for an unknown kind."""
    return documents.KINDS.get(text_or_empty(said.get("kind")), "failed")
