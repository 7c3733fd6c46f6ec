"""The state of a run, plain JSON: scopes that are being carried out, what is ready, what is open.

```
{ "inputs": {…}, "scopes": { ID: scope }, "ready": [[scope, unit], …], "queue": [command, …], "open": { ID: entry },
  "spent": { "requests", "tokens" }, "vain": [ID, …], "outcome": null | {…} }
scope = { "region", "parent", "left", "waits": { unit: count }, "record": {…}, "values": { key: value }, "names": {…},
          "blocks": { context: {…} }, "open": { command: null }, "children": { ID: null },
          "refused": [[region, key], …] }
entry = { "scope", "unit", "as": "run" | "delay" | "within" | "task", … }
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from instrc.jsonvalue import AnyJson as Json
from instrc.runtime.interpreter.commands import Failure, Kind
from instrc.runtime.interpreter.v1.program import Program
from instrc.runtime.interpreter.v1.units import Region, Unit

ROOT = ""
"""The id of the outermost scope."""


class FailedError(Exception):
    """A step has failed for good."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure["message"])
        self.failure = failure


@dataclass(slots=True)
class Machine:
    """A program and the state of one run of it."""

    program: Program
    state: dict[str, Json]
    withdrawn: list[str]
    """Commands that nobody waits for any more, as they are found."""

    def scope(self, scope: str) -> dict[str, Json]:
        """Return a scope."""
        found: dict[str, Json] = self.state["scopes"][scope]
        return found

    def region(self, scope: str) -> Region:
        """Return the body that a scope carries out."""
        return self.program.regions[self.scope(scope)["region"]]

    def unit(self, scope: str, unit: int) -> Unit:
        """Return a unit of the body that a scope carries out."""
        return self.region(scope).units[unit]

    # --- scopes ---------------------------------------------------------------------------------------------------------------

    def open_scope(self, scope: str, region: int, parent: str | None, names: Json, record: Json = None) -> bool:
        """Begin a body; tell whether there is nothing in it to do."""
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
        self.state["ready"].extend([scope, unit.index] for unit in units if not unit.needs)
        return not units

    def close_scope(self, scope: str) -> None:
        """Forget a body and all in it; commands that are open in it are withdrawn."""
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
            if gone["parent"] in self.state["scopes"]:
                self.scope(gone["parent"])["children"].pop(here, None)

    # --- commands -------------------------------------------------------------------------------------------------------------

    def open_command(self, command: str, scope: str, unit: int, way: str, **more: Json) -> None:
        """Note that a command is open."""
        self.state["open"][command] = {"scope": scope, "unit": unit, "as": way, **more}
        self.scope(scope)["open"][command] = None

    def close_command(self, command: str) -> Json:
        """Note that a command is answered; return what was noted with it."""
        entry = self.state["open"].pop(command)
        self.scope(entry["scope"])["open"].pop(command, None)
        return entry

    def withdraw(self, command: str) -> None:
        """Note that nobody waits for a command any more."""
        if command in self.state["open"]:
            self.close_command(command)
            self.withdrawn.append(command)


def scoped_id(scope: str, name: str) -> str:
    """Return the id of something in a scope: `eachContext1[2].llmContext2`."""
    return f"{scope}.{name}" if scope else name


def failure(kind: Kind, message: str, step: str | None, code: str | None = None) -> Failure:
    """Return why a step has failed for good."""
    return {"step": step, "kind": kind, "code": code, "message": message}


def give_up(kind: Kind, message: str, step: str | None, code: str | None = None, **more: Json) -> NoReturn:
    """Let a step fail for good; `attempts` of an answer that was never accepted go along."""
    raise FailedError({**failure(kind, message, step, code), **more})  # type: ignore[typeddict-item]  # a failure may say more


def name_of(unit: Unit) -> str:
    """Return what a unit is called in errors: its step, its key, else its context."""
    if unit.steps:
        return unit.steps[0].key
    key = getattr(unit.block, "key", None)
    return unit.context if key is None else str(key)
