"""What fills the slots of an instruction or a mixin: constants, composed calls, objects of steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from instrc import problems
from instrc.ir.graph import Group, Instruction, Slot, StepObject
from instrc.ir.surface import Annotated, Array, Call, Expression, Field, Literal, Name, Object, Uri
from instrc.jsonvalue import AnyJson as Json
from instrc.passes.bind import braces
from instrc.passes.bind.holding import Frame
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import EvaluationContext, Members, Result, paths
from instrc.passes.trampoline import Task
from instrc.problems.suggest import nearest

if TYPE_CHECKING:
    from instrc.passes.bind.evaluate import Evaluator


def fuse(
    ev: Evaluator, holder: Instruction, written: Field, expression: Expression, context: EvaluationContext
) -> Task[Slot | None]:
    """Compose what an expression calls into a slot: its arguments flow, its schema becomes the slot's."""
    frame = frame_at(ev, context)
    if isinstance(expression, Object):
        block = yield braces.block(ev, expression, context, frame, ())
        return None if block is None else slot_of(ev, written, block[0])
    value = yield ev.value(expression, replace(context, frame=frame, key=PRIVATE))
    if value is None:
        return None
    if isinstance(value, Members) and frame.inner:  # a mixin around an object
        units = tuple({id(taken.unit): taken.unit for taken in frame.inner.values()}.values())
        return slot_of(ev, written, braces.take(ev, units, frame, context, expression.span, ()))
    number = value.path.origin if isinstance(value, Result) else None
    step = ev.steps.table[number] if isinstance(number, int) else None
    if step is None or step.executor != "model" or step.output:
        word = expression.span.text if step is None else step.activity or step.stem
        ev.report.add(problems.misplaced.MisplacedCall(at=expression.span, word=word, holder=holder.name))
        return None
    taken = frame.inner.get(step.number)
    if taken is not None and isinstance(taken.unit, Group):
        return slot_of(ev, written, braces.take(ev, (taken.unit,), frame, context, expression.span, ()))
    return dissolve(ev, written, step.number, frame, context)


def dissolve(ev: Evaluator, written: Field, number: int, frame: Frame, context: EvaluationContext) -> Slot:
    """Turn a step into the content of a slot."""
    ev.steps.dissolve(number, frame)
    if context.frame is not None:
        frame.hand_to(context.frame)
    step = ev.steps.table[number]
    return Slot(written.key, step.content, step.reads, written.key_span)


def slot_of(ev: Evaluator, written: Field, block: StepObject) -> Slot:
    """Return a slot filled with an object of steps."""
    return Slot(written.key, block, tuple(dict.fromkeys(braces.outside_reads(ev.steps, block))), written.key_span)


def frame_at(ev: Evaluator, context: EvaluationContext) -> Frame:
    """Return brackets that place steps; they cannot hold what is piped to where they open."""
    ev.reads_pipe(context)
    if context.piped is None:
        return Frame(frozenset())
    return Frame(frozenset(path.origin for path in paths(context.piped) if isinstance(path.origin, int)))


def properties_of(schema: Json, annotations: tuple[Json, ...]) -> dict[str, None]:
    """Return the names of the top-level properties in order, those that annotations add included."""
    found: dict[str, None] = {}
    for part in (schema, *annotations):
        if isinstance(part, dict) and isinstance(part.get("properties"), dict):
            found.update(dict.fromkeys(part["properties"]))
    return found


def check_slots(ev: Evaluator, holder: Instruction, schema: Json, slots: Iterable[Slot], annotations: tuple[Json, ...]) -> bool:
    """Report slots that name no property, of the schema or of annotations, unless the schema is open."""
    if not isinstance(schema, dict):
        return True
    names = tuple(properties_of(schema, annotations))
    open_ = holder.kind != "mixin" and ("properties" not in schema or schema.get("additionalProperties", False) is not False)
    unknown = [] if open_ else [slot for slot in slots if slot.name not in names]
    for slot in unknown:
        ev.report.add(
            problems.calls.SlotNotFound(
                at=slot.span, word=slot.name, holder=holder.name, nearest=nearest(slot.name, names), slots=names
            )
        )
    return not unknown


def is_data(expression: Expression) -> bool:
    """Tell whether an expression is a literal, an array, or an object of nothing else."""
    waiting: list[Expression | None] = [expression]
    while waiting:
        each = waiting.pop()
        match each:
            case Literal() | Array():
                pass
            case Object(fields):
                waiting.extend(field.value for field in fields)
            case None | Name() | Uri() | Call() | Annotated() | _:
                return False
    return True
