"""Which argument of a tool each written one is: by its type, by its name, else by its place."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.ir.bench import BenchTool
from instrc.ir.tasks import Reference
from instrc.jsonvalue import Json
from instrc.plans.taskbench.arrange import arranged, content_type, fits
from instrc.plans.taskbench.draft import Draft, brief
from instrc.plans.taskbench.written import Given
from instrc.problems.plan_arguments import WrongArgument
from instrc.problems.taskbench import ArgumentOrder, SurplusArgument

_MEDIA = frozenset({"image", "audio", "video"})


class Placing:
    """The arguments of the tasks of one record, and where each was written."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._written: dict[tuple[int, str], int] = {}

    def place(self, number: int, key: str) -> str:
        """Return where an argument of a task was written; of one that was not, the task."""
        position = self._written.get((number, key))
        return self.draft.place(number) if position is None else self.draft.place(number, "arguments", position)

    def placed(self, number: int, given: list[Given]) -> dict[str, Json | Reference]:
        """Return the arguments of a task by name."""
        tool = self.draft.tools[number]
        made: dict[str, Json | Reference] = {}
        if tool is not None and tool.kind == "resource":
            for argument, key, slot in self._by_type(number, tool, given):
                made[key] = self._value(argument, slot)
                self._written[number, key] = argument.position
            return made
        for position, argument in enumerate(given):
            key = argument.key or ""
            if argument.key is None:
                in_place = tool is not None and position < len(tool.slots)
                key = tool.slots[position].key if tool is not None and in_place else f"argument{position + 1}"
            if key in made:
                self.draft.odd(f"the argument `{key}` is given twice", number, argument.position)
                continue
            made[key] = self._value(argument, None)
            self._written[number, key] = argument.position
        return made

    def _by_type(self, number: int, tool: BenchTool, given: list[Given]) -> Iterator[tuple[Given, str, str]]:
        slots = [slot.type for slot in tool.slots]
        if len(given) > len(slots):
            place = self.draft.place(number, "arguments")
            self.draft.problems.append(SurplusArgument(pointer=place, callee=tool.id, takes=len(slots), given=len(given)))
            given = given[: len(slots)]
        sources = [self._source(argument) for argument in given]
        outputs = [None if source is None else source.outputs for source in sources]
        way = arranged([(each, argument.value) for each, argument in zip(outputs, given, strict=True)], slots)
        moved = way != tuple(range(len(given)))
        if moved and len(given) == len(slots):
            place = self.draft.place(number, "arguments")
            if self.draft.repair:
                shown = [brief(argument.value)[:40] for argument in given]
                ordered = [shown[way.index(slot)] for slot in range(len(slots))]
                self.draft.repaired("argument-order", place, ", ".join(shown), ", ".join(ordered))
            else:
                self.draft.problems.append(ArgumentOrder(pointer=place, callee=tool.id, types=tuple(slots)))
        found = list(zip(way, given, sources, strict=True))
        for slot, argument, source in sorted(found, key=lambda entry: entry[0]) if moved else found:
            self._check_type(tool, argument, source, tool.slots[slot].type)
            yield argument, tool.slots[slot].key, tool.slots[slot].type

    def _source(self, argument: Given) -> BenchTool | None:
        """Return the tool of the task that an argument refers to; `None` if it is a literal, or of a task that is not known."""
        if argument.target is None or not argument.target[1:].isdecimal():
            return None
        number = int(argument.target[1:])
        return self.draft.tools[number] if number < len(self.draft.tools) else None

    def _check_type(self, tool: BenchTool, argument: Given, source: BenchTool | None, slot: str) -> None:
        reason = None
        if source is not None and source.kind == "resource" and not fits(source.outputs, slot):
            reason = f"`{source.id}` gives {' and '.join(source.outputs) or 'nothing'}, not {slot}"
        elif argument.target is None and isinstance(argument.value, str) and slot.lower() in _MEDIA:
            kind = content_type(argument.value)
            if kind not in {"text", slot.lower()}:
                reason = f"it is {kind}, not {slot}"
        if reason is not None:
            place = self.draft.place(argument.number, "arguments", argument.position)
            self.draft.problems.append(WrongArgument(pointer=place, callee=tool.id, argument=slot, reason=reason))

    def _value(self, argument: Given, slot: str | None) -> Json | Reference:
        if argument.target is None:
            return argument.value
        source = self._source(argument)
        steps: tuple[str, ...] = ()
        if source is not None and len(source.outputs) > 1:
            chosen = next((kind for kind in source.outputs if slot is None or kind.lower() == slot.lower()), None)
            steps = () if chosen is None else (chosen,)
        return Reference("from", argument.target, steps)
