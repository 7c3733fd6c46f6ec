"""Which argument of a tool each written one is: by its type, by its name, else by its place."""

from __future__ import annotations

from dataclasses import dataclass

from instrc.ir.bench import BenchTool
from instrc.ir.tasks import Reference
from instrc.jsonvalue import Json
from instrc.plans.taskbench.arrange import arranged, content_type, fits
from instrc.plans.taskbench.named_record import NamedRecord, brief, repaired
from instrc.plans.taskbench.written import WrittenArgument
from instrc.problems.plans import ArgumentOrder, PlanProblem, SurplusArgument, WrongArgument

_MEDIA = frozenset({"image", "audio", "video"})


@dataclass(frozen=True, slots=True)
class TaskArguments:
    """The arguments of a task by name, where in its list each was written, and what is wrong with them."""

    values: dict[str, Json | Reference]
    positions: dict[str, int]
    problems: tuple[PlanProblem, ...]


def arguments(record: NamedRecord, number: int, given: list[WrittenArgument]) -> TaskArguments:
    """Return the arguments of a task by name."""
    tool = record.tools[number]
    if tool is not None and tool.kind == "resource":
        return _by_type(record, number, tool, given)
    values: dict[str, Json | Reference] = {}
    positions: dict[str, int] = {}
    problems: list[PlanProblem] = []
    for position, argument in enumerate(given):
        key = argument.key or ""
        if argument.key is None:
            in_place = tool is not None and position < len(tool.slots)
            key = tool.slots[position].key if tool is not None and in_place else f"argument{position + 1}"
        if key in values:
            problems.append(record.odd(f"the argument `{key}` is given twice", number, argument.position))
            continue
        values[key] = _value(record, argument, None)
        positions[key] = argument.position
    return TaskArguments(values, positions, tuple(problems))


def _by_type(record: NamedRecord, number: int, tool: BenchTool, given: list[WrittenArgument]) -> TaskArguments:
    """Return the arguments of a tool whose parameters have no names but types."""
    slots = [slot.type for slot in tool.slots]
    place = record.place(number, "arguments")
    problems: list[PlanProblem] = []
    if len(given) > len(slots):
        problems.append(SurplusArgument(pointer=place, callee=tool.id, takes=len(slots), given=len(given)))
        given = given[: len(slots)]
    sources = [_source(record, argument) for argument in given]
    outputs = [None if source is None else source.outputs for source in sources]
    way = arranged([(each, argument.value) for each, argument in zip(outputs, given, strict=True)], slots)
    moved = way != tuple(range(len(given)))
    if moved and len(given) == len(slots):
        problems.append(_moved(record, tool, place, given, way))
    found = list(zip(way, given, sources, strict=True))
    values: dict[str, Json | Reference] = {}
    positions: dict[str, int] = {}
    for slot, argument, source in sorted(found, key=lambda entry: entry[0]) if moved else found:
        key, kind = tool.slots[slot].key, tool.slots[slot].type
        if (reason := _wrong_type(argument, source, kind)) is not None:
            at = record.place(number, "arguments", argument.position)
            problems.append(WrongArgument(pointer=at, callee=tool.id, argument=kind, reason=reason))
        values[key] = _value(record, argument, kind)
        positions[key] = argument.position
    return TaskArguments(values, positions, tuple(problems))


def _moved(record: NamedRecord, tool: BenchTool, place: str, given: list[WrittenArgument], way: tuple[int, ...]) -> PlanProblem:
    """Return the problem that arguments stand in another order than that of the tool, or its repair."""
    slots = tuple(slot.type for slot in tool.slots)
    if not record.repair:
        return ArgumentOrder(pointer=place, callee=tool.id, types=slots)
    shown = [brief(argument.value)[:40] for argument in given]
    ordered = [shown[way.index(slot)] for slot in range(len(slots))]
    return repaired("argument-order", place, ", ".join(shown), ", ".join(ordered))


def _source(record: NamedRecord, argument: WrittenArgument) -> BenchTool | None:
    """Return the tool of the task that an argument refers to; `None` if it is a literal, or of a task that is not known."""
    if argument.target is None or not argument.target[1:].isdecimal():
        return None
    number = int(argument.target[1:])
    return record.tools[number] if number < len(record.tools) else None


def _wrong_type(argument: WrittenArgument, source: BenchTool | None, slot: str) -> str | None:
    """Return why an argument is not of a type; `None` if it is."""
    if source is not None and source.kind == "resource" and not fits(source.outputs, slot):
        return f"`{source.id}` gives {' and '.join(source.outputs) or 'nothing'}, not {slot}"
    if argument.target is None and isinstance(argument.value, str) and slot.lower() in _MEDIA:
        kind = content_type(argument.value)
        if kind not in {"text", slot.lower()}:
            return f"it is {kind}, not {slot}"
    return None


def _value(record: NamedRecord, argument: WrittenArgument, slot: str | None) -> Json | Reference:
    """Return the value of an argument: a reference to the result of a task, or a part of it."""
    if argument.target is None:
        return argument.value
    source = _source(record, argument)
    steps: tuple[str, ...] = ()
    if source is not None and len(source.outputs) > 1:
        chosen = next((kind for kind in source.outputs if slot is None or kind.lower() == slot.lower()), None)
        steps = () if chosen is None else (chosen,)
    return Reference("from", argument.target, steps)
