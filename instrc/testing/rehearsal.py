"""Find a run for each branch of a process, and report the branches without one."""

from __future__ import annotations

import copy
import heapq
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, cast

from msgspec import Struct

from instrc.process.flow import Read, Try, When, parts_of, reads_of, source_of_block
from instrc.runtime.activities import complaints
from instrc.runtime.interpreter import versions
from instrc.runtime.interpreter.documents import Command, Outcome, PinnedPlan, Result, State
from instrc.runtime.interpreter.v1.refusals import INPUT, bases_of
from instrc.runtime.interpreter.v1.runnable import PlanRegion, PlanUnit, RunnablePlan
from instrc.runtime.models.model import instance_of
from instrc.runtime.plan import plan_of
from instrc.schema.walk import map_schemas
from instrc.testing.branches import RunBranch, TakenBranches, run_branches
from instrc.testing.points import ABSENT, AS_MADE, Fails, Point, is_excluded, points_of
from instrc.text.jsonvalue import Json, JsonObject, without_type
from instrc.text.notebook import block, table
from instrc.tools.plan_check import check_plan


class Rehearsed(Struct, frozen=True):
    """A run of a rehearsal."""

    choices: tuple[str, ...]
    """Choices as text; everything else is generated from the schemas."""
    branches: tuple[str, ...]
    """Branches that no earlier run takes."""
    outcome: Outcome | None
    """Outcome as of any run; `None` if it did not end."""
    sound: bool
    """Whether the program itself intends this end: done, refused by a person, or failed by a `Fail`."""

    def __str__(self) -> str:
        """Return one line: its end, the choices, its inputs."""
        match self.outcome:
            case {"status": "failed", "error": {"step": step, "kind": kind, "code": code, "message": message}}:
                end = f"failed at {step} ({code or kind}): {message}"
            case {"status": "stopped", "step": step}:
                end = f"stopped: {step} is refused"
            case {"status": status}:
                end = str(status)
            case _:
                end = "has no end"
        wrong = "" if self.sound else ", which the program does not provide for"
        return f"{end}{wrong} | {'; '.join(self.choices) or 'as made up'} | {'; '.join(self.branches) or 'no branch'}"


class Missed(Struct, frozen=True):
    """A branch that no run has taken."""

    branch: str
    reason: str


class Rehearsal(Struct, frozen=True):
    """Runs that visit the branches of a process."""

    runs: tuple[Rehearsed, ...]
    missed: tuple[Missed, ...]
    branches: int
    """Total number of branches."""

    @property
    def sound(self) -> bool:
        """Whether each run ended as the program intends."""
        return all(run.sound for run in self.runs)

    def __str__(self) -> str:
        """Return a line for each run and each missed branch, and a summary."""
        lines = [f"{number}. {run}" for number, run in enumerate(self.runs, 1)]
        lines += [f"not reached: {item.branch} | {item.reason}" for item in self.missed]
        runs = f"{len(self.runs)} run{'s' * (len(self.runs) != 1)}"
        return "\n".join([*lines, f"{self.branches - len(self.missed)} of {self.branches} branches in {runs}"])

    def __repr__(self) -> str:
        return f"<rehearsal: {str(self).splitlines()[-1]}>"

    def _repr_html_(self) -> str:
        """Return the runs and the missed branches, for a notebook."""
        runs = [str(run).split(" | ", 2) for run in self.runs]
        missed = [(item.branch, item.reason) for item in self.missed]
        return block(repr(self)[1:-1], table(["end", "choices", "branches"], runs), table(["not reached", "reason"], missed))

    def to_json(self) -> list[dict[str, Json]]:
        """Return the lines as objects."""
        runs: list[dict[str, Json]] = [
            {
                "choices": list(run.choices),
                "branches": list(run.branches),
                "outcome": None if run.outcome is None else without_type(run.outcome),
                "sound": run.sound,
            }
            for run in self.runs
        ]
        missed: list[dict[str, Json]] = [{"missed": item.branch, "reason": item.reason} for item in self.missed]
        return [*runs, *missed]


REHEARSED_RUNS: Final = 400
"""Maximum runs of one rehearsal."""
REHEARSED_COMMANDS: Final = 40_000
"""Maximum commands of all its runs together."""
PLAYED_COMMANDS: Final = 2_000
"""Maximum commands of one rehearsed run; a program may have any number of rounds."""
FRUITLESS_CHANGES: Final = 2
"""Maximum choices changed in turn if the first one has no new effect."""
MADE_UP = "made to fail by the rehearsal"
Choices = dict[Point, tuple[int, ...]]
Watch = Callable[[Command], None]
"""Called with each command of a run before its result is generated."""


class Played(Struct, frozen=True):
    """The result of one run."""

    outcome: Outcome | None
    """Outcome as of any run; `None` if it did not end."""
    taken: TakenBranches
    asked: tuple[Point, ...]
    """Places where it could have taken another branch, in order of execution."""
    commands: int


_ROUNDS = (4, 12)
"""Rounds of a loop: a small number lets a search go far, a larger one finds what only later rounds do."""


def rehearsal_of(
    document: Json,
    given: Mapping[str, Json],
    made: Mapping[str, Json],
    watch: Watch = lambda _command: None,
    enough: Callable[[], bool] = lambda: False,
    models: Mapping[str, str] | None = None,
) -> Rehearsal:
    """Return a rehearsal of a compiled document; missing inputs are `made` or newly generated ones.

    `watch` receives each command of each tried run; no further run is tried once it is `enough`.
    `models` are those of steps, which split chunks as in a run.
    """
    best: Rehearsal | None = None
    before: Json = None
    for rounds in _ROUNDS:
        short = map_schemas(document, partial(_with_few_rounds, rounds))  # a thousand rounds end as twelve do
        if short == before or (best is not None and not best.missed):
            break
        plan = plan_of(short, models=models)
        program = RunnablePlan(plan)
        found = _RunSearch(program, plan, {"prompt": "a", **made, **given}, points_of(program, given), watch, enough).result()
        best = found if best is None or len(found.missed) < len(best.missed) else best
        before = short
    assert best is not None
    return best


def _with_few_rounds(rounds: int, node: Json) -> Json:
    if not isinstance(node, dict):
        return node
    repeat, most = node.get("repeat"), node.get("maxItems")
    if not isinstance(repeat, dict) or "until" not in repeat or "in" in repeat or not isinstance(most, int):
        return node
    return {**node, "maxItems": min(most, rounds)}


class _RunSearch:
    """Searches runs, most promising first: those that differ in one choice from a run with new results."""

    def __init__(
        self,
        program: RunnablePlan,
        plan: PinnedPlan,
        inputs: Mapping[str, Json],
        points: list[Point],
        watch: Watch,
        enough: Callable[[], bool],
    ) -> None:
        self.program, self.plan, self.inputs, self.points, self.watch, self.enough = program, plan, inputs, points, watch, enough
        self.branches = run_branches(program)
        self.kept: list[tuple[Choices, Played, list[RunBranch]]] = []
        self.tried = self.commands = 0

    def result(self) -> Rehearsal:
        self._search()
        seen: set[RunBranch] = set()
        runs: list[Rehearsed] = []
        for choices, played, _ in self._needed():
            new = [branch for branch in self.branches if branch not in seen and played.taken.has(branch)]
            seen.update(new)
            words = tuple(point.told(order) for point, order in choices.items() if point in played.asked and order != (0,))
            runs.append(Rehearsed(words, tuple(branch.name for branch in new), played.outcome, self._is_sound(played)))
        left = [branch for branch in self.branches if branch not in seen]
        return Rehearsal(tuple(runs), tuple(Missed(item.name, self._reason(item, left)) for item in left), len(self.branches))

    def _search(self) -> None:
        left = set(self.branches)
        waiting: list[tuple[int, int, int, Choices]] = [(0, 0, 0, {})]
        pushed: Counter[tuple[Point, tuple[int, ...]]] = Counter()  # rarely tried values come first
        known = {_mark({})}
        while waiting and (left or not self.kept) and self.tried < REHEARSED_RUNS and self.commands < REHEARSED_COMMANDS:
            if self.enough():
                break
            rank, _, _, choices = heapq.heappop(waiting)
            played = _Play(self.program, self.plan, self.points, choices).through(self.inputs, self.watch)
            self.tried += 1
            self.commands += played.commands
            new = [branch for branch in self.branches if branch in left and played.taken.has(branch)]
            left.difference_update(new)
            if new or not self.kept or self._is_news(played):
                self.kept.append((choices, played, new))
            depth = 0 if new else rank + 1
            if depth > FRUITLESS_CHANGES or not self._is_sound(played):
                continue
            for point in played.asked:
                for order in point.orders:
                    changed = {**choices, point: order}
                    if (mark := _mark(changed)) not in known:
                        known.add(mark)
                        heapq.heappush(waiting, (depth, pushed[point, order], len(known), changed))
                        pushed[point, order] += 1

    def _is_news(self, played: Played) -> bool:
        """Return whether a run ends in a way that is unintended, and not yet seen."""
        return not self._is_sound(played) and all(_end_of(played) != _end_of(other) for _, other, _ in self.kept)

    def _needed(self) -> list[tuple[Choices, Played, list[RunBranch]]]:
        """Return the runs without those whose branches others also take; unintended ends are kept."""
        needed = list(self.kept)
        for item in reversed(self.kept):
            others = [other for other in needed if other is not item]
            taken = [branch for branch in self.branches if item[1].taken.has(branch)]
            if others and self._is_sound(item[1]) and all(any(o[1].taken.has(b) for o in others) for b in taken):
                needed = others
        return needed

    def _is_sound(self, played: Played) -> bool:
        """Return whether a run ended as the program intends."""
        match played.outcome:
            case {"status": "done" | "stopped"}:
                return True
            case {"status": "failed", "error": {"step": step, "message": message}}:
                fails = [unit.steps[0].key for region in self.program.regions for unit in region.units if unit.kind == "fail"]
                return step in fails or message == MADE_UP
            case _:
                return played.outcome is None and played.commands >= PLAYED_COMMANDS

    def _reason(self, branch: RunBranch, left: list[RunBranch]) -> str:
        """Return why a branch was not reached."""
        region = self.program.regions[branch.region]
        around = region if branch.way != "body" else self.program.regions[region.parent or 0]
        outer = next((item for item in left if item.way == "body" and item.region == around.index), None)
        if outer is not None:
            return f"{outer.name} was not reached"
        if self.tried >= REHEARSED_RUNS or self.commands >= REHEARSED_COMMANDS:
            bound = f"{REHEARSED_RUNS} runs" if self.tried >= REHEARSED_RUNS else f"{REHEARSED_COMMANDS:,} steps"
            return f"a rehearsal ends after {bound}, and none of its runs went there{self._depends(branch)}; runs: {self.tried}"
        if not self.points:
            return "nothing that is made up decides it"
        if self._is_rescue(branch) and not any(point.fails for point in self.points):
            return "nothing that it could rescue is made up"
        if self._is_excluded(branch):
            return f"no value that its schema allows leads there ({self.tried} runs)"
        return f"none of {self.tried} runs went there{self._depends(branch, tells=True)}"

    def _is_excluded(self, branch: RunBranch) -> bool:
        """Return whether schemas exclude the condition of a branch."""
        region = self.program.regions[branch.region]
        owner = self.program.regions[region.parent or 0]
        block = owner.units[region.owner].block if branch.way == "body" else None
        if not isinstance(block, When):
            return False
        condition = block.branches[owner.units[region.owner].regions.index(region.index)].condition
        return condition is not None and all(is_excluded(self.program, owner, read, schema) for read, schema in condition.tests)

    def _depends(self, branch: RunBranch, *, tells: bool = False) -> str:
        """Return what decides a branch, and optionally the values tried there."""
        region = self.program.regions[branch.region]
        number, at = (region.parent or 0, region.owner) if branch.way == "body" else (branch.region, branch.unit)
        owner = self.program.regions[number]
        block = owner.units[at].block if at < len(owner.units) else None
        reads: list[tuple[PlanRegion, Read, tuple[str, ...]]] = []
        for part in () if block is None else parts_of(block):
            reads += [(owner, read, ()) for read, _ in (part.condition.tests if part.condition else ())]
            body = self.program.regions[owner.units[at].regions[0]]
            reads += [(body, read, ()) for read, _ in (part.until.tests if part.until else ())]
        reads += [] if block is None else [(owner, read, ()) for read in reads_of(source_of_block(block))]
        bases = bases_of(self.program, reads)
        if not bases:
            return ""
        names = ", ".join(f"`{'.'.join((key, *tail))}`" for _, key, tail in sorted(bases))
        points = [point for point in self.points if (point.region, point.key, point.tail) in bases and not point.fails]
        tried = "; ".join(point.tried for point in points if tells)
        return f"; it depends on {names}" + (f"; only these were tried: {tried}" if tried else "")

    def _is_rescue(self, branch: RunBranch) -> bool:
        region = self.program.regions[branch.region]
        owner = self.program.regions[region.parent or 0].units[region.owner] if region.parent is not None else None
        return branch.way == "body" and owner is not None and isinstance(owner.block, Try)


def _mark(choices: Choices) -> frozenset[tuple[Point, tuple[int, ...]]]:
    return frozenset((point, order) for point, order in choices.items() if order != (0,))


class _Play:
    """Executes one run."""

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
        result = dict(inputs)
        declared: JsonObject = {"prompt": {"type": "string"}, **(self.program.process.inputs or {})}
        for name, schema in declared.items():
            for point in self.points.get((INPUT, name), ()):
                result[name] = self._chosen(point, result.get(name), partial(_fits, schema), ())
        return result

    def _result(self, command: Command, state: State) -> Result:
        """Return the result of a command."""
        if command["kind"] in {"timer", "fire"}:
            return {"ok": None}
        entry = state["open"][command["id"]]
        number = state["scopes"][entry["scope"]]["region"]
        unit = self.program.regions[number].units[entry["unit"]]
        schema: Json = command["schema"]  # type: ignore[typeddict-item]  # neither a timer nor a fire-and-forget command
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
        """Return the current choice."""
        time = self.asked[point] = self.asked.get(point, -1) + 1
        order = self.choices.get(point, (0,))
        return point.choices[order[min(time, len(order) - 1)]]

    def _chosen(self, point: Point, value: Json, fits: Callable[[Json], bool], before: tuple[str, ...]) -> Json:
        """Return a value with the choice inserted, or without it if it does not fit."""
        choice = self._choice(point)
        if choice is AS_MADE:
            return value
        changed = _with(value, (*before, *point.tail), choice, (*({} for _ in before), *point.around))
        return changed if fits(changed) else value


def _next(waiting: deque[Command]) -> Command | None:
    """Return the next command to answer: deadlines pass only if nothing else is open."""
    for _ in range(len(waiting)):
        command = waiting.popleft()
        if command["kind"] != "timer" or command["id"].endswith("!delay"):
            return command
        waiting.append(command)
    return None


def _fits(schema: Json, value: Json) -> bool:
    return not complaints(value, schema)


def _without_plans(unit: PlanUnit, value: Json) -> Json:
    """Return an answer with its plans emptied: one generated from its schema alone is rarely valid."""
    alone = unit.kind != "model" and len(unit.steps) == 1
    for step in unit.steps:
        for planned in step.plans:
            names = planned.place if alone else (step.key, *planned.place)
            value = _with(value, names, [])
    return value


def _with(value: Json, names: tuple[str, ...], choice: object, around: tuple[Json, ...] = ()) -> Json:
    """Return a copy with another value at a path; `around` replaces a missing object on the path."""
    if not names:
        return cast("Json", copy.deepcopy(choice))  # anything but a mark is a value
    result = dict(value) if isinstance(value, dict) else {}
    if len(names) == 1 and choice is ABSENT:
        result.pop(names[0], None)
        return result
    inside = result.get(names[0])
    if not isinstance(inside, dict) and around:
        inside = around[0]
    result[names[0]] = _with(inside, names[1:], choice, around[1:])
    return result


def _has_sound_plans(unit: PlanUnit, value: Json) -> bool:
    """Return whether the plans in a model's answer are valid."""
    for step in unit.steps:
        for planned in step.plans:
            part = value
            for name in (step.key, *planned.place):
                part = part.get(name) if isinstance(part, dict) else None
            if check_plan(part, planned.tools):
                return False
    return True


def _end_of(played: Played) -> tuple[object, ...]:
    """Return the part of a run's outcome that is shown."""
    outcome = played.outcome
    error = outcome["error"] if outcome is not None and outcome["status"] == "failed" else None
    return outcome is None, *((None, None, None) if error is None else (error["step"], error["kind"], error["code"]))


def made_inputs(declared: Json) -> dict[str, Json]:
    """Return generated values for inputs with these schemas by name."""
    return {name: instance_of(schema) for name, schema in declared.items()} if isinstance(declared, dict) else {}
