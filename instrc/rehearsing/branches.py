"""The ways that a run can go: which there are in a program, and which a run has taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from instrc.ir.flow import Each, Else, Repeat, Try, When
from instrc.jsonvalue import Json, as_object
from instrc.rehearsing.points import refusals
from instrc.runtime.interpreter.documents import BodyState, State
from instrc.runtime.interpreter.v1.runnable import RunnablePlan
from instrc.runtime.interpreter.v1.state import ROOT, scoped_id
from instrc.runtime.interpreter.v1.units import PlanRegion, PlanUnit

BranchKind: TypeAlias = Literal["body", "succeed", "none", "until", "max", "fail", "refuse"]


@dataclass(frozen=True, slots=True)
class RunBranch:
    """One way that a run can go."""

    way: BranchKind
    region: int
    """A body that begins, or the one in which the block, the `Fail` or the question stands."""
    unit: int
    """The block, the `Fail` or the question; of a body 0."""
    name: str
    """As a person is told."""


def run_branches(program: RunnablePlan) -> list[RunBranch]:
    """Return the branches of a program, in the order in which they stand."""
    refusable = dict.fromkeys(refusals(program))
    return [branch for region in program.regions for unit in region.units for branch in _of(program, region, unit, refusable)]


def _of(program: RunnablePlan, region: PlanRegion, unit: PlanUnit, refusable: dict[tuple[int, str], None]) -> Iterator[RunBranch]:
    here, at = region.index, unit.index
    name = scoped_id(blocks_around(program, region), unit.context)
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
                catcher = _catcher(program, region)
                ending = "fails the run" if catcher is None else f"fails, which {catcher} catches"
                yield RunBranch("fail", here, at, f"{scoped_id(blocks_around(program, region), unit.steps[0].key)} {ending}")
            for step in unit.steps:
                if (here, step.key) in refusable:
                    yield RunBranch("refuse", here, at, f"{scoped_id(blocks_around(program, region), step.key)} is refused")


def blocks_around(program: RunnablePlan, region: PlanRegion) -> str:
    """Return the blocks around a body: `whenContext1.repeatContext1`."""
    names: list[str] = []
    while region.parent is not None:
        outer = program.regions[region.parent]
        names.append(outer.units[region.owner].context)
        region = outer
    return ".".join(reversed(names))


def _catcher(program: RunnablePlan, region: PlanRegion) -> str | None:
    """Return the `try` that goes on after a failure in a body, `None` if that ends the run."""
    while region.parent is not None:
        outer = program.regions[region.parent]
        owner = outer.units[region.owner]
        if isinstance(owner.block, Try) and region.index == owner.regions[0]:
            return scoped_id(blocks_around(program, outer), owner.context)
        region = outer
    return None


class TakenBranches:
    """The branches that a run has taken: told of each body that begins and ends, it misses none, however short."""

    def __init__(self, program: RunnablePlan) -> None:
        self.program = program
        self.found: set[tuple[BranchKind, int, int]] = set()

    def has(self, branch: RunBranch) -> bool:
        """Tell whether a branch was taken."""
        return (branch.way, branch.region, branch.unit) in self.found

    def watch(self, state: State) -> None:
        """Take in from now on what a run does."""
        state["scopes"] = _WatchedScopes(self, state)

    def begun(self, body: BodyState) -> None:
        """Take in that a body has begun."""
        self.found.add(("body", body["region"], 0))

    def ended(self, state: State, scope: str, body: BodyState, *, failed: bool) -> None:
        """Take in what a body has recorded; only its `Fail` can have failed where nothing else was left in it."""
        region = self.program.regions[body["region"]]
        for unit in region.units:
            if unit.block is not None and unit.context in body["record"]:
                self._block(state, scope, region, unit, body["record"][unit.context])
        fails = [unit.index for unit in region.units if unit.kind == "fail"]
        if failed and 0 < body["left"] <= len(fails):
            self.found.add(("fail", region.index, fails[len(fails) - body["left"]]))

    def conclude(self, state: State) -> None:
        """Take in how the run has ended."""
        outcome = state["outcome"]
        for scope, body in state["scopes"].items():
            failed = scope == ROOT and outcome is not None and outcome["status"] == "failed"
            self.ended(state, scope, body, failed=failed)
        if outcome is not None and outcome["status"] == "stopped":
            for region in self.program.regions:
                for unit in region.units:
                    if unit.kind == "user" and any(each.key == outcome["step"] for each in unit.steps):
                        self.found.add(("refuse", region.index, unit.index))

    def _block(self, state: State, scope: str, region: PlanRegion, unit: PlanUnit, recorded: Json) -> None:
        match unit.block:
            case When() if recorded is None:
                self.found.add(("none", region.index, unit.index))
            case Try() if as_object(recorded).get("branch") == 0:
                self.found.add(("succeed", region.index, unit.index))
            case Repeat():
                vain = scoped_id(scope, unit.context) in state["vain"]
                self.found.add(("max" if vain else "until", region.index, unit.index))
            case _:
                pass


class _WatchedScopes(dict[str, BodyState]):
    """The bodies that are open in a run: tells of each that begins, and of each that ends."""

    def __init__(self, taken: TakenBranches, state: State) -> None:
        super().__init__(state["scopes"])
        self.taken, self.state = taken, state
        for body in self.values():
            taken.begun(body)

    def __setitem__(self, scope: str, body: BodyState) -> None:
        self.taken.begun(body)
        super().__setitem__(scope, body)

    def pop(self, scope: str, default: BodyState | None = None) -> BodyState | None:  # type: ignore[override]  # bodies only
        body = super().pop(scope, default)
        if body is not None:
            failed = body["parent"] in self  # what is closed after its parent is cancelled
            self.taken.ended(self.state, scope, body, failed=failed)
        return body
