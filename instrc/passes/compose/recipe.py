"""Tell contents that come out as one schema from others: equal recipes are made once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from instrc.ir.blocks import Content
from instrc.ir.fusion import Application, Fusion, Instruction, Slot, StepObject, is_bare_instruction
from instrc.ir.reads import Constant
from instrc.jsontext import dumps
from instrc.jsonvalue import Json

Recipe: TypeAlias = tuple[Hashable, ...]


def recipe(content: Content) -> Recipe:
    """Return what a content is made of, in one row, so that nothing is compared deeply; steps and groups go by their numbers."""
    if is_bare_instruction(content):
        instruction = content.instruction
        return ("fusion", instruction) if instruction.uri is not None else ("fusion", *_instruction(instruction))
    row: list[Hashable] = []
    waiting: list[Content | str] = [content]
    while waiting:
        match waiting.pop():
            case str(name):
                row.append(name)
            case Fusion(instruction, slots, annotations, mixins):
                row += ("fusion", *_instruction(instruction), len(slots), *_written_annotations(annotations), len(mixins))
                for use in reversed(mixins):
                    waiting.extend(_use(use, row))
                waiting.extend(_slots(slots))
            case Constant(value):
                row += ("constant", dumps(value, indent=False))
            case StepObject(units, annotations):
                row += ("steps", *(unit if isinstance(unit, int) else ("group", unit.number) for unit in units))
                row += _written_annotations(annotations)
            case _:  # a block is no content of a step
                pass
    return tuple(row)


def recipe_of_mixin(use: Application) -> Recipe:
    """Return what the schema of a mixin with its slots is made of."""
    row: list[Hashable] = ["mixin"]
    waiting = _use(use, row)
    return (*row, *(each if isinstance(each, str) else recipe(each) for each in reversed(waiting)))


def _use(use: Application, row: list[Hashable]) -> list[Content | str]:
    row += (*_instruction(use.mixin), len(use.slots), *_written_annotations(use.annotations))
    return _slots(use.slots)


def _slots(slots: tuple[Slot, ...]) -> list[Content | str]:
    """Return names and contents of slots, the last first."""
    return [each for slot in reversed(slots) for each in (slot.content, slot.name)]


def _instruction(instruction: Instruction) -> tuple[Hashable, ...]:
    if instruction.uri is not None:
        return instruction.name, instruction.uri, instruction.home
    return instruction.name, ("inline", dumps(instruction.schema, indent=False))


def _written_annotations(annotations: Iterable[Json]) -> tuple[Hashable, ...]:
    return tuple(("written", dumps(each, indent=False)) for each in annotations)
