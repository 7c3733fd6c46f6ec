"""One run with made answers: which branches it takes, and how it ends."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from instrc.jsonvalue import Json, JsonObject
from instrc.limits.runs import PLAYED_COMMANDS
from instrc.plans.check import check_plan
from instrc.rehearsing.branches import TakenBranches
from instrc.rehearsing.points import ABSENT, AS_MADE, Fails, Point
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.commands import Command, Result
from instrc.runtime.interpreter.documents import Outcome, PinnedPlan, State
from instrc.runtime.interpreter.v1.refusals import INPUT
from instrc.runtime.interpreter.v1.runnable import RunnablePlan
from instrc.runtime.interpreter.v1.units import PlanUnit
from instrc.runtime.models.sampling import instance_of
from instrc.runtime.validation import complaints

MADE_UP = "made to fail by the rehearsal"

Choices = dict[Point, tuple[int, ...]]
Watch = Callable[[Command], None]
"""Is given each command of a run before its result is made."""


@dataclass(frozen=True)
class Played:
    """What came of one run."""

    outcome: Outcome | None
    """As of any run; `None` if it did not end."""
    taken: TakenBranches
    asked: tuple[Point, ...]
    """The places where it could have gone another way, in the order in which it came by."""
    commands: int


def play(
    program: RunnablePlan, plan: PinnedPlan, inputs: Mapping[str, Json], points: list[Point], choices: Choices, watch: Watch
) -> Played:
    """Carry a run out; what is not chosen is made from the schemas."""
    return _Play(program, plan, points, choices).through(inputs, watch)


class _Play:
    """One run."""

    def __init__(self, program: RunnablePlan, plan: PinnedPlan, points: list[Point], choices: Choices) -> None:
        self.program = program
        self.plan = plan
        self.choices = choices
        self.points: dict[tuple[int, str], list[Point]] = {}
        for point in points:
            self.points.setdefault((point.region, point.key), []).append(point)
        self.asked: dict[Point, int] = {}
        """How often a point was reached."""

    def through(self, inputs: Mapping[str, Json], watch: Watch) -> Played:
        taken = TakenBranches(self.program)
        state = versions.begin(self.plan, self._inputs(inputs))
        taken.watch(state)
        waiting: deque[Command] = deque()
        count = 0
        while state["outcome"] is None and count < PLAYED_COMMANDS:
            waiting.extend(versions.issue(self.plan, state))
            if state["outcome"] is not None:
                break
            command = _next(waiting)
            if command is None:
                break
            count += 1
            watch(command)
            if command["id"] in state["open"]:
                versions.apply(self.plan, state, command["id"], self._result(command, state))
        taken.conclude(state)
        return Played(state["outcome"], taken, tuple(self.asked), count)

    def _inputs(self, inputs: Mapping[str, Json]) -> dict[str, Json]:
        made = dict(inputs)
        declared: JsonObject = {"prompt": {"type": "string"}, **(self.program.process.inputs or {})}
        for name, schema in declared.items():
            for point in self.points.get((INPUT, name), ()):
                made[name] = self._chosen(point, made.get(name), partial(_fits, schema), ())
        return made

    def _result(self, command: Command, state: State) -> Result:
        """Return what comes of a command."""
        if command["kind"] in {"timer", "fire"}:
            return {"ok": None}
        entry = state["open"][command["id"]]
        number = state["scopes"][entry["scope"]]["region"]
        unit = self.program.regions[number].units[entry["unit"]]
        schema: Json = command["schema"]  # type: ignore[typeddict-item]  # neither a timer nor a fire
        failed = self._failure(unit, number)
        if failed is not None:
            return failed
        value = _without_plans(unit, instance_of(schema))
        if entry["as"] == "task":
            return {"ok": value}
        if unit.kind == "activity" and unit.steps[0].output and isinstance(value, dict):
            value = value["output"]
        alone = unit.kind != "model" and len(unit.steps) == 1

        def fits(changed: Json) -> bool:
            wrong = versions.faults(self.plan, state, command["id"], changed)
            return not wrong if wrong is not None else not complaints(changed, schema) and _has_sound_plans(unit, changed)

        for step in unit.steps:
            for point in self.points.get((number, step.key), ()):
                if not point.fails:
                    value = self._chosen(point, value, fits, () if alone else (step.key,))
        return {"ok": value}

    def _failure(self, unit: PlanUnit, number: int) -> Result | None:
        for point in self.points.get((number, unit.steps[0].key), ()) if unit.steps else ():
            if point.fails and isinstance(choice := self._choice(point), Fails):
                return {"error": {"kind": choice.kind, "code": choice.code, "message": MADE_UP}}
        return None

    def _choice(self, point: Point) -> object:
        """Return what is chosen, this time."""
        time = self.asked[point] = self.asked.get(point, -1) + 1
        order = self.choices.get(point, (0,))
        return point.choices[order[min(time, len(order) - 1)]]

    def _chosen(self, point: Point, value: Json, fits: Callable[[Json], bool], before: tuple[str, ...]) -> Json:
        """Return a value with the choice in its place; without, where it does not fit there."""
        choice = self._choice(point)
        if choice is AS_MADE:
            return value
        changed = _with(value, (*before, *point.tail), choice, (*({} for _ in before), *point.around))
        return changed if fits(changed) else value


def _next(waiting: deque[Command]) -> Command | None:
    """Return what is answered next: deadlines pass only where nothing else is open."""
    for _ in range(len(waiting)):
        command = waiting.popleft()
        if command["kind"] != "timer" or command["id"].endswith("!delay"):
            return command
        waiting.append(command)
    return None


def _with(value: Json, names: tuple[str, ...], choice: object, around: tuple[Json, ...] = ()) -> Json:
    """Return a copy in which something else stands below names; `around` is put where no object is on the way."""
    if not names:
        return cast("Json", copy.deepcopy(choice))  # what is no mark is a value
    made = dict(value) if isinstance(value, dict) else {}
    if len(names) == 1 and choice is ABSENT:
        made.pop(names[0], None)
        return made
    inside = made.get(names[0])
    if not isinstance(inside, dict) and around:
        inside = around[0]
    made[names[0]] = _with(inside, names[1:], choice, around[1:])
    return made


def _fits(schema: Json, value: Json) -> bool:
    return not complaints(value, schema)


def _has_sound_plans(unit: PlanUnit, value: Json) -> bool:
    """Tell whether the plans in an answer of a model can be carried out."""
    for step in unit.steps:
        for planned in step.plans:
            part = value
            for name in (step.key, *planned.place):
                part = part.get(name) if isinstance(part, dict) else None
            if check_plan(part, planned.tools):
                return False
    return True


def _without_plans(unit: PlanUnit, value: Json) -> Json:
    """Empty the plans in an answer: one that is made from its schema alone is rarely right."""
    alone = unit.kind != "model" and len(unit.steps) == 1
    for step in unit.steps:
        for planned in step.plans:
            names = planned.place if alone else (step.key, *planned.place)
            value = _with(value, names, [])
    return value
