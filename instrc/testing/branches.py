"""The branches that a run can take, and has taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from instrc.process import flow
from instrc.runtime.interpreter.documents import BodyState, State
from instrc.runtime.interpreter.v1.refusals import INPUT, unread_decisions
from instrc.runtime.interpreter.v1.runnable import PlanRegion, PlanUnit, RunnablePlan
from instrc.runtime.interpreter.v1.state import ROOT, Machine, scoped_id
from instrc.runtime.interpreter.v1.values import holds
from instrc.testing.choice_values import schema_inside, values_of
from instrc.text.jsonvalue import Json, as_integer, as_object, as_text

BranchKind: TypeAlias = Literal["body", "succeed", "none", "until", "max", "win", "fail", "refuse"]


class RunBranch(Struct, frozen=True):
    """A branch that a run can take."""

    way: BranchKind
    region: int
    """Region of a body that starts, or that contains the block, `Fail` or question."""
    unit: int
    """Unit of the block, `Fail` or question; 0 for a body."""
    name: str
    """Display name."""


def run_branches(program: RunnablePlan) -> list[RunBranch]:
    """Return the branches of a program, in written order."""
    refusable = dict.fromkeys(refusals(program))
    return [branch for region in program.regions for unit in region.units for branch in _of(program, region, unit, refusable)]


def _of(program: RunnablePlan, region: PlanRegion, unit: PlanUnit, refusable: dict[tuple[int, str], None]) -> Iterator[RunBranch]:
    here, at = region.index, unit.index
    name = scoped_id(blocks_around(program, region), unit.context)
    match unit.block:
        case flow.When(branches=cases):
            for number, (case, body) in enumerate(zip(cases, unit.regions, strict=True), 1):
                yield RunBranch("body", body, 0, f"{name} branch {number}" if case.condition else f"{name} else")
            if all(case.condition for case in cases):
                yield RunBranch("none", here, at, f"{name} without a branch")
        case flow.Try():
            yield RunBranch("succeed", here, at, f"{name} succeeds")
            yield RunBranch("body", unit.regions[1], 0, f"{name} else")
        case flow.Race():
            for number, body in enumerate(unit.regions, 1):
                yield RunBranch("win", body, 0, f"{name} branch {number} wins")
        case flow.Repeat(until=until, source=None) if until is not None:
            yield RunBranch("until", here, at, f"{name} ends by its condition")
            yield RunBranch("max", here, at, f"{name} ends after all rounds")
        case flow.Repeat() | flow.Each() as block:
            yield RunBranch("body", unit.regions[0], 0, f"{name} body")
            if isinstance(block, flow.Each) and block.until is not None:
                yield RunBranch("until", here, at, f"{name} ends by its condition")
                yield RunBranch("max", here, at, f"{name} ends with its list")
        case flow.Else():
            yield RunBranch("body", unit.regions[0], 0, name)
        case _:
            if unit.kind == "fail":
                catcher = _catcher(program, region)
                ending = "fails the run" if catcher is None else f"fails, which {catcher} catches"
                yield RunBranch("fail", here, at, f"{scoped_id(blocks_around(program, region), unit.steps[0].key)} {ending}")
            for step in unit.steps:
                if (here, step.key) in refusable:
                    yield RunBranch("refuse", here, at, f"{scoped_id(blocks_around(program, region), step.key)} is refused")


def _catcher(program: RunnablePlan, region: PlanRegion) -> str | None:
    """Return the block that continues after a failure in a body, or `None` if that ends the run."""
    for outer, unit, part in enclosing_blocks(program, region):
        if part.rescued:
            return scoped_id(blocks_around(program, outer), unit.context)
    return None


def blocks_around(program: RunnablePlan, region: PlanRegion) -> str:
    """Return the enclosing blocks of a body: `whenContext1.repeatContext1`."""
    return ".".join(reversed([unit.context for _, unit, _ in enclosing_blocks(program, region)]))


def refusals(program: RunnablePlan) -> Iterator[tuple[int, str]]:
    """Yield the steps of people, by region and key, whose refusal ends the run."""
    for number, key in unread_decisions(program):
        schema = schema_of(program, number, key)
        if "Reject" in list(values_of(schema_inside(schema, ("decision",), schema), schema)):
            yield number, key


def schema_of(program: RunnablePlan, number: int, key: str) -> Json:
    """Return the schema of a step or an input, with its definitions."""
    if number == INPUT:
        declared: Json = (program.process.inputs or {}).get(key, {"type": "string"})
        return declared
    for unit in program.regions[number].units:
        for step in unit.steps:
            if step.key == key and isinstance(step.schema, dict):
                return {**step.schema, "$defs": program.definitions}
    return None


def enclosing_blocks(program: RunnablePlan, region: PlanRegion) -> Iterator[tuple[PlanRegion, PlanUnit, flow.BlockPart]]:
    """Yield the enclosing blocks of a body, innermost first: the place of each, and its part with the body."""
    while region.parent is not None:
        outer = program.regions[region.parent]
        unit = outer.units[region.owner]
        assert unit.block is not None  # it has a body
        yield outer, unit, flow.parts_of(unit.block)[unit.regions.index(region.index)]
        region = outer


class TakenBranches:
    """The branches taken by a run; it is notified of each body that starts and ends."""

    def __init__(self, program: RunnablePlan) -> None:
        self.program = program
        self.found: set[tuple[BranchKind, int, int]] = set()
        self.held: set[str] = set()
        """The `each` blocks, by their places, whose conditions have held."""

    def has(self, branch: RunBranch) -> bool:
        """Return whether a branch was taken."""
        return (branch.way, branch.region, branch.unit) in self.found

    def watch(self, state: State) -> None:
        """Start recording a run."""
        state["scopes"] = _WatchedScopes(self, state)

    def begun(self, body: BodyState) -> None:
        """Record that a body has started."""
        self.found.add(("body", body["region"], 0))

    def element_done(self, state: State, scope: str, body: BodyState) -> None:
        """Record whether the condition of an `each` holds for a finished element."""
        region = self.program.regions[body["region"]]
        if region.parent is None or region.until is None or body["left"]:
            return
        unit = self.program.regions[region.parent].units[region.owner]
        if isinstance(unit.block, flow.Each) and holds(Machine(self.program, state, []), scope, region.until):
            self.held.add(scoped_id(as_text(body["parent"]), unit.context))

    def ended(self, state: State, scope: str, body: BodyState, *, failed: bool) -> None:
        """Record the end of a body; if nothing else was left in it, only its `Fail` can have failed."""
        region = self.program.regions[body["region"]]
        for unit in region.units:
            if unit.block is not None and unit.context in body["record"]:
                self._block(state, scope, region, unit, body["record"][unit.context])
        fails = [unit.index for unit in region.units if unit.kind == "fail"]
        if failed and 0 < body["left"] <= len(fails):
            self.found.add(("fail", region.index, fails[len(fails) - body["left"]]))

    def conclude(self, state: State) -> None:
        """Record the outcome of the run."""
        outcome = state["outcome"]
        for scope, body in state["scopes"].items():
            failed = scope == ROOT and outcome is not None and outcome["status"] == "failed"
            self.ended(state, scope, body, failed=failed)
        if outcome is not None and outcome["status"] == "stopped":
            for region in self.program.regions:
                for unit in region.units:
                    if unit.kind == "user" and any(item.key == outcome["step"] for item in unit.steps):
                        self.found.add(("refuse", region.index, unit.index))

    def _block(self, state: State, scope: str, region: PlanRegion, unit: PlanUnit, recorded: Json) -> None:
        match unit.block:
            case flow.When() if recorded is None:
                self.found.add(("none", region.index, unit.index))
            case flow.Try() if as_object(recorded).get("branch") == 0:
                self.found.add(("succeed", region.index, unit.index))
            case flow.Race() if recorded is not None:
                self.found.add(("win", unit.regions[as_integer(as_object(recorded)["branch"])], 0))
            case flow.Each(until=until) if until is not None:
                ended: BranchKind = "until" if scoped_id(scope, unit.context) in self.held else "max"
                self.found.add((ended, region.index, unit.index))
            case flow.Repeat():
                vain = scoped_id(scope, unit.context) in state["vain"]
                self.found.add(("max" if vain else "until", region.index, unit.index))
            case _:
                pass


class _WatchedScopes(dict[str, BodyState]):
    """The open bodies of a run; reports each that starts or ends."""

    def __init__(self, taken: TakenBranches, state: State) -> None:
        super().__init__(state["scopes"])
        self.taken, self.state = taken, state
        for body in self.values():
            taken.begun(body)

    def __setitem__(self, scope: str, body: BodyState) -> None:
        self.taken.begun(body)
        super().__setitem__(scope, body)

    def pop(self, scope: str, default: BodyState | None = None) -> BodyState | None:  # type: ignore[override]  # bodies only
        if scope in self:
            self.taken.element_done(self.state, scope, self[scope])
        body = super().pop(scope, default)
        if body is not None:
            failed = body["parent"] in self  # closed after its parent is cancelled
            self.taken.ended(self.state, scope, body, failed=failed)
        return body
