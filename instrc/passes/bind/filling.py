"""What fills a slot of an instruction or a mixin: a composed call, or an object of steps."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import Filling, Instruction, MixinGroup, Slot, StepObject
from instrc.ir.surface import Expression, Field, Object
from instrc.passes.bind import braces
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.holding import Brackets, step_numbers
from instrc.passes.bind.slots import brackets_at
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import BoundValue, Members, StepResult, paths_read
from instrc.passes.trampoline import Task


def fuse(
    ev: Evaluation, holder: Instruction, written: Field, expression: Expression, context: EvaluationContext
) -> Task[Slot | None]:
    """Compose what an expression calls into a slot: its arguments flow, its schema becomes the slot's."""
    brackets = brackets_at(ev, context)
    if isinstance(expression, Object):
        block = yield braces.block(ev, expression, context, brackets, ())
        return None if block is None else slot_of(ev, written, *block)
    value = yield ev.value(expression, replace(context, brackets=brackets, key=PRIVATE))
    if value is None:
        return None
    if isinstance(value, Members) and brackets.inner:  # a mixin around an object
        return slot_of(ev, written, braces.take(ev, brackets.taken(), brackets, context, expression.span, ()))
    number = value.path.origin if isinstance(value, StepResult) else None
    step = ev.steps.table[number] if isinstance(number, int) else None
    if step is None or step.executor != "model" or step.output:
        word = expression.span.text if step is None else step.activity or step.base_name
        ev.report.add(problems.calls.MisplacedCall(at=expression.span, word=word, holder=holder.name))
        return None
    taken = brackets.inner.get(step.number)
    if taken is not None and isinstance(taken.unit, MixinGroup):
        return slot_of(ev, written, braces.take(ev, (taken.unit,), brackets, context, expression.span, ()))
    return dissolve(ev, written, step.number, brackets, context)


def dissolve(ev: Evaluation, written: Field, number: int, brackets: Brackets, context: EvaluationContext) -> Slot:
    """Turn a step into the content of a slot."""
    ev.steps.dissolve(number, brackets)
    if context.brackets is not None:
        brackets.hand_to(context.brackets)
    step = ev.steps.table[number]
    for word in step.timing.words:
        ev.report.add(problems.blocks.MisplacedDeadline(at=step.span, word=word, place="slot"))
    content: Filling = step.content  # type: ignore[assignment]  # a block is never dissolved
    return ev.steps.identities.slot(written.key, content, written.key_span, step.reads)


def slot_of(ev: Evaluation, written: Field, block: StepObject, value: BoundValue | None = None) -> Slot:
    """Return a slot filled with an object of steps; `value` is that of an object, which may read values beside them."""
    inside = set(step_numbers(block.units))
    beside = [] if value is None else [path for path in paths_read(value) if path.origin not in inside]
    reads = tuple(dict.fromkeys((*beside, *braces.outside_reads(ev.steps, block))))
    return ev.steps.identities.slot(written.key, block, written.key_span, reads)
