"""Blocks: start each kind, and continue when a body is done."""

from __future__ import annotations

from typing import Final, NamedTuple

from instrc.process.flow import Do, Each, Else, Race, Read, Repeat, Segment, Try, When
from instrc.runtime.interpreter.documents import EachState, Failure, RepeatState
from instrc.runtime.interpreter.v1.refusals import decisions_of, reads_of_condition
from instrc.runtime.interpreter.v1.runnable import PlanUnit
from instrc.runtime.interpreter.v1.state import Machine, error_value, give_up, scoped_id, unit_name
from instrc.runtime.interpreter.v1.values import evaluate, holds, resolve, test_of
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_integer, kind_in_words

CHOSEN_FROM: Final = 100_000
"""Maximum elements among which a condition selects: checking them takes seconds, in which no other run continues."""
LOOKED_AT: Final = 300_000
"""Maximum blocks that a run begins, and elements that they look at, once for each test of a condition: seconds of work."""
ASKED: Final = 30
"""Amount of `LOOKED_AT` that a question to a person takes: each answer of a run costs something for all that are open."""
LOOKED_AT_AGAIN: Final = 1_000
"""Amount of `LOOKED_AT` that each external result restores, so that only loops without results reach the limit."""


class BlockResult(NamedTuple):
    """The record and the value of a finished block."""

    record: Json
    value: Json


class StoppedError(Exception):
    """A person refused: the run ends."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step


def begin(machine: Machine, scope: str, unit: PlanUnit) -> BlockResult | None:
    """Start a block; return its result if there is nothing to wait for."""
    block = unit.block
    here = scoped_id(scope, unit.context)
    noted = machine.scope(scope)["blocks"]
    look(machine, unit, 1)
    match block:
        case When(branches=branches):
            for index, branch in enumerate(branches):
                if branch.condition is None or holds(machine, scope, branch.condition):
                    noted[unit.context] = {"branch": index}
                    return _enter(machine, here, unit.regions[index], scope, {}, {"branch": index})
        case Do() | Try():
            record: JsonObject = {} if isinstance(block, Do) else {"branch": 0}
            noted[unit.context] = {} if isinstance(block, Do) else {"branch": 0}
            return _enter(machine, here, unit.regions[0], scope, {}, record)
        case Race():
            race = machine.race(scope, unit)
            race["begun"] = True
            entered = (_enter_branch(machine, scope, unit, number) for number in sorted(race["waiting"]))
            return next((won for won in entered if won is not None), None)
        case Else(of=of):
            repeated = machine.repeat(scope, of)
            if not repeated["vain"]:
                del noted[of]
                return BlockResult(None, repeated["value"])
            return _enter(machine, here, unit.regions[0], scope, {})
        case Each():
            elements = _selected(machine, scope, unit, block)
            empty: list[Json] = [None] * len(elements)
            noted[unit.context] = {"items": elements, "next": 0, "left": len(elements), "records": empty, "values": [*empty]}
            return _more_elements(machine, scope, unit, block) if elements else BlockResult([], [])
        case Repeat():
            items = None if block.source is None else _selected(machine, scope, unit, block)
            state = RepeatState(items=items, round=0, records=[], values=[], shown=[], vain=False, value=None)
            if block.first is not None:
                state["first"] = evaluate(machine, scope, block.first)
            noted[unit.context] = state
            ends = items == [] or block.most == 0
            return (_end_repeat if ends else _next_round)(machine, scope, unit, block)
    return BlockResult(None, None)


def _enter(
    machine: Machine, inner: str, region: int, scope: str, names: JsonObject, record: JsonObject | None = None
) -> BlockResult | None:
    return body_done(machine, inner) if machine.open_scope(inner, region, scope, names, record) else None


def _enter_branch(machine: Machine, scope: str, unit: PlanUnit, number: int) -> BlockResult | None:
    inner = f"{scoped_id(scope, unit.context)}[{number + 1}]"
    return _enter(machine, inner, unit.regions[number], scope, {}, {"branch": number})


def _selected(machine: Machine, scope: str, unit: PlanUnit, block: Each | Repeat) -> list[Json]:
    """Return the elements that a block runs for: filtered by its condition, then cut to the first ones and its limit."""
    source, chosen, most = evaluate(machine, scope, block.source), block.selection, block.most
    if chosen is None:
        elements = _elements(unit, source, most)
        look(machine, unit, len(elements))
        return elements
    condition, item = chosen.condition, block.item
    elements = _elements(unit, source, None if condition is None and isinstance(source, list) else CHOSEN_FROM)
    look(machine, unit, len(elements) * (1 if condition is None else len(condition.tests)))
    if condition is not None and item is not None:
        chosen_by = test_of(machine, scope, condition)
        elements = [each for each in elements if chosen_by({item: each})]
    if chosen.first is not None:
        elements = elements[: _count(unit, evaluate(machine, scope, chosen.first))]
    return _elements(unit, elements, most if chosen.most is None else _count(unit, evaluate(machine, scope, chosen.most)))


def look(machine: Machine, unit: PlanUnit, count: int) -> None:
    """Count what a run looks at: nothing else bounds loops in loops."""
    looked = machine.state["looked"] = machine.state.get("looked", 0) + count
    if looked > LOOKED_AT:
        message = f"at `{unit.context}` more than {LOOKED_AT:,} blocks and elements were evaluated"
        message += f", of which a question is {ASKED}: split the input"
        give_up("limit", message, unit_name(unit), "too-many-elements")


def _count(unit: PlanUnit, value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return give_up("failed", f"`{unit.context}` is given no number to count with", unit_name(unit), "not-a-count")


def _elements(unit: PlanUnit, source: Json, most: int | None) -> list[Json]:
    """Return the elements of a list; a number means 1, 2, 3, …; `null` is the empty list."""
    name = unit_name(unit)
    if isinstance(source, int) and not isinstance(source, bool):
        count, most = max(source, 0), min(LOOKED_AT if most is None else most, LOOKED_AT)  # before it is written out
    elif source is None:
        return []
    elif isinstance(source, list):
        count = len(source)
    else:
        message = f"`{unit.context}` goes through a list, but is given {kind_in_words(source)}"
        give_up("failed", message, name, "not-a-list")
    if most is not None and count > most:
        give_up("limit", f"`{unit.context}` has a limit of {most} elements, and there are {count}", name, "too-many-elements")
    return source if isinstance(source, list) else list(range(1, count + 1))


def _more_elements(machine: Machine, scope: str, unit: PlanUnit, block: Each) -> BlockResult | None:
    """Start as many elements as may run concurrently."""
    noted = machine.each(scope, unit.context)
    items = noted["items"]
    limit = machine.program.options.get("elements") or len(items)
    ends = False
    while not ends and noted["next"] < len(items) and noted["left"] - (len(items) - noted["next"]) < limit:
        noted["next"] += 1
        number = noted["next"]
        inner = f"{scoped_id(scope, unit.context)}[{number}]"
        names: JsonObject = {block.item: items[number - 1], "#": number}
        if machine.open_scope(inner, unit.regions[0], scope, names):  # nothing to do
            ends = _element_done(machine, inner, noted, block, evaluate(machine, inner, machine.region(inner).value))
    return None if noted["left"] and not ends else _end_each(machine, scope, unit, block)


def _element_done(machine: Machine, inner: str, noted: EachState, block: Each, value: Json) -> bool:
    """Record the value of an element, and close its body; return whether it ends the `each`."""
    done = machine.scope(inner)
    index = as_integer(done["names"]["#"]) - 1
    noted["records"][index], noted["values"][index] = done["record"], value
    if machine.program.shows:
        noted.setdefault("shows", [None] * len(noted["values"]))[index] = _shown(machine, inner)
    noted["left"] -= 1
    ends = block.until is not None and holds(machine, inner, block.until)
    machine.close_scope(inner)
    return ends


def _shown(machine: Machine, inner: str) -> Json:
    """Return the part of a body's value that rounds show."""
    region = machine.region(inner)
    return evaluate(machine, inner, region.value if region.shows is None else region.shows, shown=True)


def _end_each(machine: Machine, scope: str, unit: PlanUnit, block: Each) -> BlockResult:
    """Return the values of the elements, without waiting for unfinished ones."""
    noted = machine.each(scope, unit.context)
    if noted["left"]:
        _cancel(machine, scope, unit, noted["next"])
    _keep_shown(machine, scope, block.key, noted.get("shows"))
    del machine.scope(scope)["blocks"][unit.context]
    return BlockResult(noted["records"], noted["values"])


def _cancel(machine: Machine, scope: str, unit: PlanUnit, count: int) -> None:
    """Close the bodies of a block with all their contents."""
    machine.cancelled = True
    here = scoped_id(scope, unit.context)
    for number in range(1, count + 1):
        machine.close_scope(f"{here}[{number}]")


def _keep_shown(machine: Machine, scope: str, key: str | None, shown: Json) -> None:
    """Store the part of a block's value that rounds show."""
    if key is not None and machine.program.shows:
        machine.scope(scope).setdefault("shows", {})[key] = shown


def _end_repeat(machine: Machine, scope: str, unit: PlanUnit, block: Repeat) -> BlockResult:
    noted = machine.repeat(scope, unit.context)
    noted["value"] = noted["values"] if block.source is not None else noted["value"]
    if shown := noted.get("shows"):
        _keep_shown(machine, scope, block.key, shown if block.source is not None else shown[-1])
    records = noted.pop("records")
    noted.pop("items")
    if block.otherwise is None:
        del machine.scope(scope)["blocks"][unit.context]
    return BlockResult(records, noted["value"])


def _next_round(machine: Machine, scope: str, unit: PlanUnit, block: Repeat) -> BlockResult | None:
    noted = machine.repeat(scope, unit.context)
    while True:
        noted["round"] += 1
        inner = f"{scoped_id(scope, unit.context)}@{noted['round']}"
        items = noted["items"]
        names = {} if block.item is None or items is None else {block.item: items[noted["round"] - 1]}
        if not machine.open_scope(inner, unit.regions[0], scope, names):
            return None
        look(machine, unit, 1)  # nothing in it counts
        if _round_ends(machine, inner, unit, block, evaluate(machine, inner, machine.region(inner).value)):  # an empty body
            return _end_repeat(machine, scope, unit, block)


def _hand_on(machine: Machine, inner: str, block: Repeat, noted: RepeatState) -> None:
    """Store the part of a round that later rounds see, if they use it."""
    if machine.region(inner).index not in machine.program.handed:
        return
    keys = block.hands if block.hands is not None else tuple(machine.region(inner).keys)
    shown = {key: resolve(machine, inner, Read((Segment(key, quoted=True),)), shown=True) for key in keys}
    # a new list, because the last one may be part of a command
    noted["shown"] = [*noted["shown"], shown][-block.keep if block.keep else None :]


def body_done(machine: Machine, inner: str) -> BlockResult | None:
    """Record that a body is done: continue with the next one, or return the value of the block."""
    done = machine.scope(inner)
    scope, region = machine.around(inner), machine.region(inner)
    unit = machine.unit(scope, region.owner)
    value = evaluate(machine, inner, region.value)
    if not isinstance(unit.block, Repeat):
        machine.scope(scope)["refused"].extend(done["refused"])
    match unit.block:
        case Each() as block:
            elements = machine.each(scope, unit.context)
            ends = _element_done(machine, inner, elements, block, value) or not elements["left"]
            return (_end_each if ends else _more_elements)(machine, scope, unit, block)
        case Repeat() as block:
            ends = _round_ends(machine, inner, unit, block, value)
            return (_end_repeat if ends else _next_round)(machine, scope, unit, block)
        case block:
            if machine.program.shows:
                _keep_shown(machine, scope, key_of(machine, scope, unit), _shown(machine, inner))
            if isinstance(block, Race):
                machine.race(scope, unit)["over"] = True  # it is kept for the branches that cannot begin yet
                _cancel(machine, scope, unit, len(unit.regions))
            else:
                machine.close_scope(inner)
                machine.scope(scope)["blocks"].pop(block.of if isinstance(block, Else) else unit.context, None)
            return BlockResult(done["record"], value)


def _round_ends(machine: Machine, inner: str, unit: PlanUnit, block: Repeat, value: Json) -> bool:
    """Record a round, and close its body; return whether it is the last one."""
    scope, done = machine.around(inner), machine.scope(inner)
    noted = machine.repeat(scope, unit.context)
    ends = block.until is not None and holds(machine, inner, block.until)
    refused = None if ends else _refusing_step(machine, inner, block)
    _hand_on(machine, inner, block, noted)
    noted["records"].append(done["record"])
    noted["value"] = value
    if block.source is not None:
        noted["values"].append(value)
    if machine.program.shows:
        noted["shows"] = [*(() if block.source is None else noted.get("shows", ())), _shown(machine, inner)]
    machine.close_scope(inner)
    last = noted["round"] >= ((block.most or 0) if block.source is None else len(noted["items"] or ()))
    passed = block.source is None and not ends and (not last or block.otherwise is not None)
    machine.scope(scope)["refused"].extend([*each[:2], 1] if passed else each for each in done["refused"])
    if last and not ends and block.source is None:
        noted["vain"] = True
        machine.state["vain"].append(scoped_id(scope, unit.context))
        if refused is not None:
            raise StoppedError(refused)
    return ends or last


def _refusing_step(machine: Machine, inner: str, block: Repeat) -> str | None:
    """Return the step of a person who refused in this round, if the failed condition reads it and no `else` follows."""
    refused = machine.scope(inner)["refused"]
    if block.until is None or block.otherwise is not None or not refused:
        return None
    reads = reads_of_condition(machine.region(inner), block.until)
    holding = [each for each in reads if '"Reject"' in dumps(resolve(machine, inner, each[1]))]
    read, kept = decisions_of(machine.program, reads), decisions_of(machine.program, holding)
    return next((str(key) for number, key, *passed in refused if (number, key) in (kept if passed else read)), None)


def key_of(machine: Machine, scope: str, unit: PlanUnit) -> str | None:
    """Return the key of a block, or of the `repeat` that an `else` belongs to."""
    key: str | None = getattr(machine.region(scope).repeated(unit).block, "key", None)
    return key


def rescue(machine: Machine, scope: str, unit: PlanUnit, error: Failure) -> BlockResult | None:
    """Continue with the `else` of a `try` whose first body has failed; return its result if there is nothing to wait for."""
    machine.scope(scope)["blocks"][unit.context] = {"branch": 1}
    inner = scoped_id(scoped_id(scope, unit.context), "else")
    return _enter(machine, inner, unit.regions[1], scope, {"error": error_value(error)}, {"branch": 1})


def can_rescue(machine: Machine, scope: str, unit: PlanUnit) -> bool:
    """Return whether a block is a `try` in its first body."""
    return isinstance(unit.block, Try) and machine.scope(scope)["blocks"].get(unit.context) == {"branch": 0}


def begin_branch(machine: Machine, scope: str, unit: PlanUnit) -> BlockResult | None:
    """Start one body of a `race`, and the `race` itself with the first one; return its result if that ends it."""
    owner = machine.unit(scope, unit.race)
    race = machine.race(scope, owner)
    number = unit.index - owner.index - 1
    if race["begun"]:
        return None if race["over"] else _enter_branch(machine, scope, owner, number)
    if not race["waiting"]:
        machine.state["ready"].append([scope, owner.index])
    race["waiting"].append(number)
    return None


def branch_failed(machine: Machine, scope: str, unit: PlanUnit) -> bool:
    """Record that one body of a block has failed; return whether another one may still provide its value."""
    if not isinstance(unit.block, Race):
        return False
    race = machine.race(scope, unit)
    race["left"] -= 1
    race["over"] = not race["left"]
    return bool(race["left"])
