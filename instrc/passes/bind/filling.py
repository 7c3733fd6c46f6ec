"""What fills a slot of an instruction or a mixin: a composed call, or an object of steps."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import Filling, Group, Instruction, Slot, StepObject
from instrc.ir.surface import Expression, Field, Object
from instrc.passes.bind import braces
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.holding import Frame
from instrc.passes.bind.slots import frame_at
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import Members, Result
from instrc.passes.trampoline import Task


def fuse(
    ev: Evaluation, holder: Instruction, written: Field, expression: Expression, context: EvaluationContext
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
        return slot_of(ev, written, braces.take(ev, frame.taken(), frame, context, expression.span, ()))
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


def dissolve(ev: Evaluation, written: Field, number: int, frame: Frame, context: EvaluationContext) -> Slot:
    """Turn a step into the content of a slot."""
    ev.steps.dissolve(number, frame)
    if context.frame is not None:
        frame.hand_to(context.frame)
    step = ev.steps.table[number]
    content: Filling = step.content  # type: ignore[assignment]  # a block is never dissolved
    return ev.steps.identities.slot(written.key, content, written.key_span, step.reads)


def slot_of(ev: Evaluation, written: Field, block: StepObject) -> Slot:
    """Return a slot filled with an object of steps."""
    reads = tuple(dict.fromkeys(braces.outside_reads(ev.steps, block)))
    return ev.steps.identities.slot(written.key, block, written.key_span, reads)
