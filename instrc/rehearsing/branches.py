"""The ways that a run can go: which there are in a program, and which a run has taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from instrc.ir.flow import Each, Else, Repeat, Try, When
from instrc.jsonvalue import Json, JsonObject, as_array, as_integer, as_object
from instrc.rehearsing.points import refusals
from instrc.runtime.interpreter.documents import State
from instrc.runtime.interpreter.v1.program import RunnablePlan
from instrc.runtime.interpreter.v1.state import ROOT, scoped_id
from instrc.runtime.interpreter.v1.units import PlanRegion, Unit

Way: TypeAlias = Literal["body", "succeed", "none", "until", "max", "fail", "refuse"]


@dataclass(frozen=True, slots=True)
class RunBranch:
    """One way that a run can go."""

    way: Way
    region: int
    """A body that begins, or the one in which the block, the `Fail` or the question stands."""
    unit: int
    """The block, the `Fail` or the question; of a body 0."""
    name: str
    """As a person is told."""


def branches_of(program: RunnablePlan) -> list[RunBranch]:
    """Return the branches of a program, in the order in which they stand."""
    refusable = dict.fromkeys(refusals(program))
    return [branch for region in program.regions for unit in region.units for branch in _of(program, region, unit, refusable)]


def _of(program: RunnablePlan, region: PlanRegion, unit: Unit, refusable: dict[tuple[int, str], None]) -> Iterator[RunBranch]:
    here, at = region.index, unit.index
    name = scoped_id(place_of(program, region), unit.context)
    match unit.block:
        case When(branches=cases):
            for number, (case, body) in enumerate(zip(cases, unit.regions, strict=True), 1):
                yield RunBranch("body", body, 0, f"{name} branch {number}" if case.condition else f"{name} else")
            if all(case.condition for case in cases):
                yield RunBranch("none", here, at, f"{name} without a branch")
        case Try():
            yield RunBranch("succeed", here, at, f"{name} succeeds")
            yield RunBranch("body", unit.regions[1], 0, f"{name} else")
        case Repeat(until=until, source=None) if until is not None:
            yield RunBranch("until", here, at, f"{name} ends by its condition")
            yield RunBranch("max", here, at, f"{name} ends after all rounds")
        case Repeat() | Each():
            yield RunBranch("body", unit.regions[0], 0, f"{name} body")
        case Else():
            yield RunBranch("body", unit.regions[0], 0, name)
        case _:
            if unit.kind == "fail":
                yield RunBranch("fail", here, at, f"{scoped_id(place_of(program, region), unit.steps[0].key)} fails the run")
            for step in unit.steps:
                if (here, step.key) in refusable:
                    yield RunBranch("refuse", here, at, f"{scoped_id(place_of(program, region), step.key)} is refused")


def place_of(program: RunnablePlan, region: PlanRegion) -> str:
    """Return the blocks around a body: `whenContext1.repeatContext1`."""
    names: list[str] = []
    while region.parent is not None:
        outer = program.regions[region.parent]
        names.append(outer.units[region.owner].context)
        region = outer
    return ".".join(reversed(names))


class TakenBranches:
    """The branches that a run has taken, found by looking at its state after each step."""

    def __init__(self, program: RunnablePlan) -> None:
        self.program = program
        self.found: set[tuple[Way, int, int]] = set()
        self._rescue: int | None = None
        """The body that went on after the last failure."""

    def has(self, branch: RunBranch) -> bool:
        """Tell whether a branch was taken."""
        return (branch.way, branch.region, branch.unit) in self.found

    def look(self, state: State) -> None:
        """Take in what stands in a state."""
        for scope, noted in list(state["scopes"].items()):
            self._body(noted["region"])
            self._blocks(state, scope, noted["region"], noted["record"])
            error = noted["names"].get("error")
            if isinstance(error, dict):
                self._failed(error.get("step"))
                self._rescue = noted["region"]

    def conclude(self, state: State) -> None:
        """Take in how the run has ended."""
        self.look(state)
        outcome = state["outcome"]
        match outcome:
            case {"status": "failed", "error": {"step": step}}:
                self._failed(step)
                self._passed_on(step)
            case {"status": "stopped", "step": step}:
                for region in self.program.regions:
                    for unit in region.units:
                        if unit.kind == "user" and any(each.key == step for each in unit.steps):
                            self.found.add(("refuse", region.index, unit.index))
            case _:
                pass
        if ROOT in state["scopes"]:
            self._record(state, ROOT, 0, state["scopes"][ROOT]["record"])

    def _body(self, number: int) -> None:
        self.found.add(("body", number, 0))

    def _passed_on(self, step: Json) -> None:
        """Take in that a failure which a `try` has caught ends the run: the `Fail` in its second body has passed it on."""
        fails = [(region, unit) for region in self.program.regions for unit in region.units if unit.kind == "fail"]
        if self._rescue is None or any(unit.steps[0].key == step for _, unit in fails):
            return
        inside = [unit.steps[0].key for region, unit in fails if self._rescue in self._bodies(region.index)]
        if len(inside) == 1:
            self._failed(inside[0])

    def _bodies(self, number: int | None) -> Iterator[int]:
        """Yield a body and those around it."""
        while number is not None:
            yield number
            number = self.program.regions[number].parent

    def _failed(self, step: Json) -> None:
        """Take in that a step has failed; of a `Fail` the bodies around it have begun, however short they lasted."""
        for region in self.program.regions:
            for unit in region.units:
                if unit.kind == "fail" and unit.steps[0].key == step:
                    self.found.add(("fail", region.index, unit.index))
                    for number in self._bodies(region.index):
                        self._body(number)

    def _blocks(self, state: State, scope: str, number: int, record: JsonObject) -> None:
        for unit in self.program.regions[number].units:
            if unit.block is None or unit.context not in record:
                continue
            recorded = record[unit.context]
            match unit.block:
                case When():
                    if recorded is None:
                        self.found.add(("none", number, unit.index))
                    else:
                        self._body(unit.regions[_branch_of(recorded)])
                case Try() if isinstance(recorded, dict) and "branch" in recorded:
                    self._body(unit.regions[_branch_of(recorded)])
                    if recorded["branch"] == 0:
                        self.found.add(("succeed", number, unit.index))
                case Repeat():
                    vain = scoped_id(scope, unit.context) in state["vain"]
                    self.found.add(("max" if vain else "until", number, unit.index))
                case _:
                    pass

    def _record(self, state: State, scope: str, number: int, record: Json) -> None:
        """Go through a whole record: a body may begin and end between two looks."""
        if not isinstance(record, dict):
            return
        self._body(number)
        self._blocks(state, scope, number, record)
        for unit in self.program.regions[number].units:
            recorded = record.get(unit.context)
            if unit.block is None or recorded is None:
                continue
            inside = scoped_id(scope, unit.context)
            match unit.block:
                case When() | Try():
                    branch = _branch_of(recorded)
                    below = f"{inside}.else" if isinstance(unit.block, Try) and branch else inside
                    self._record(state, below, unit.regions[branch], recorded)
                case Each():
                    for place, each in enumerate(as_array(recorded), 1):
                        self._record(state, f"{inside}[{place}]", unit.regions[0], each)
                case Repeat():
                    for place, each in enumerate(as_array(recorded), 1):
                        self._record(state, f"{inside}@{place}", unit.regions[0], each)
                case _:
                    self._record(state, inside, unit.regions[0], recorded)


def _branch_of(recorded: Json) -> int:
    """Return which body the record of a block says it has entered."""
    return as_integer(as_object(recorded)["branch"])
