"""`StartProcess` and `LaunchProcess`: tools that begin a process."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import Argument, Fusion, Instruction, Slot
from instrc.ir.paths import Path
from instrc.ir.reads import Constant
from instrc.ir.surface import Argument as Written
from instrc.ir.surface import Expression, Field, Literal, Name, Object, Uri
from instrc.jsonvalue import Json, JsonObject
from instrc.naming import pascal
from instrc.passes.bind import braces, filling
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.given import CallInputs
from instrc.passes.bind.holding import step_numbers
from instrc.passes.bind.literals import data_of, is_data
from instrc.passes.bind.lookup import alias, find_instruction
from instrc.passes.bind.names import CalledProgram
from instrc.passes.bind.slots import brackets_at, check_slots
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import BoundValue, BraceNames, Members, StepResult
from instrc.passes.trampoline import Task
from instrc.problems.problem import CompileError
from instrc.source import Span


def start(
    ev: Evaluation, instruction: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> Task[BoundValue | None]:
    """Make the step that starts a process: what its contexts are given is placed in them."""
    schema = ev.flat(instruction, span)
    slots: list[Slot] = []
    fields, complete = _fields(ev, instruction, written)
    keys = BraceNames.within(context.keys)
    inside = replace(context.inside(), keys=keys, braces=ev.braces(context, ev.steps.identities.written(written)))
    for field in fields:
        expression = field.value or Name(field.key, field.key_span)
        if is_data(expression):
            slots.append(ev.steps.identities.slot(field.key, Constant(data_of(ev, expression)), field.key_span))
            continue
        slot = yield _place_slot(ev, instruction, field, expression, replace(inside, braces=ev.braces(inside, field.key)))
        if slot is None:
            return None
        slots.append(slot)
    if schema is None or not complete or not check_slots(ev, instruction, schema, slots, context.annotations):
        return None
    return StepResult(Path(_add(ev, instruction, tuple(slots), context, span)))


def _fields(ev: Evaluation, instruction: Instruction, written: tuple[Written, ...]) -> tuple[list[Field], bool]:
    """Return what is given by name, in braces or in brackets, and whether that is all: a plain argument has no slot to go to."""
    fields: list[Field] = []
    complete = True
    for each in written:
        if each.label is None and isinstance(each.value, Object):
            fields += each.value.fields
        elif each.label is not None:
            fields.append(Field(each.label, each.label_span or each.value.span, each.value))
        else:
            ev.report.add(problems.calls.TooManyArguments(at=each.value.span, mixin=instruction.name, first=None))
            complete = False
    return fields, complete


def _place_slot(
    ev: Evaluation, holder: Instruction, field: Field, expression: Expression, context: EvaluationContext
) -> Task[Slot | None]:
    """Place the model steps of an expression in a slot: one becomes the slot, several stand in it under their keys."""
    brackets = brackets_at(ev, context)
    if isinstance(expression, Object):
        block = yield braces.block(ev, expression, context, brackets, ())
        return None if block is None else filling.slot_of(ev, field, block[0])
    value = yield ev.value(expression, replace(context.given_to(brackets), key=PRIVATE))
    if value is None:
        return None
    units = ev.steps.fill(brackets, context)
    if not units or not isinstance(value, StepResult | Members):
        ev.report.add(problems.calls.MisplacedCall(at=expression.span, word=expression.span.text, holder=holder.name))
        return None
    if isinstance(value, StepResult) and units == (value.path.origin,):
        return filling.dissolve(ev, field, step_numbers(units)[0], brackets, context)
    return filling.slot_of(ev, field, braces.take(ev, units, brackets, context, expression.span, ()))


def launch(ev: Evaluation, written: tuple[Written, ...], span: Span, context: EvaluationContext) -> Task[BoundValue | None]:
    """Make the tool that launches a process kept as a vibe: its name as a constant, and its entry to fill in."""
    yield from ()
    launcher = find_instruction(ev, Name("LaunchProcess", span), context.scope)
    if not isinstance(launcher, Instruction):
        return None
    target = None
    if len(written) == 1 and written[0].label is None and isinstance(written[0].value, Name | Uri):
        reported = len(ev.report.problems)
        target = alias(ev, written[0].value, context.scope)
        if target is None and len(ev.report.problems) > reported:
            return None
    if isinstance(target, CalledProgram):
        yield from ()
        made = target.instructions.launched(target.file, target.export)
        entry, name = made, target.file.segment
        if entry is None:
            ev.report.add(problems.calls.NotAProcess(at=written[0].value.span, word=name))
            return None
        return _launching(ev, launcher, name, entry, {}, context, span)
    if not isinstance(target, Instruction) or target.uri is None:
        shown = written[0].value.span if written else span
        named = len(written) == 1 and not isinstance(written[0].value, Literal)
        at = written[1].value.span if len(written) > 1 else shown
        ev.report.add(problems.calls.NotAProcess(at=at, word=shown.text if named else "LaunchProcess()"))
        return None
    try:
        entry = ev.instructions.entry(target)
    except CompileError as error:
        for problem in error.problems:
            if not isinstance(problem, problems.runs.UnreadableProcess):  # told where the vibe is reviewed, with its place
                ev.report.add(problem)
        return None
    if entry is None:
        ev.report.add(problems.calls.NotAProcess(at=written[0].value.span, word=target.name))
        return None
    vibe = ev.flat(target, span)
    about: dict[str, Json] = {key: vibe[key] for key in ("title", "description") if isinstance(vibe, dict) and key in vibe}
    return _launching(ev, launcher, target.name, entry, about, context, span)


def _launching(
    ev: Evaluation,
    launcher: Instruction,
    name: str,
    entry: JsonObject,
    about: dict[str, Json],
    context: EvaluationContext,
    span: Span,
) -> StepResult:
    identities = ev.steps.identities
    slots = (
        identities.slot("name", Constant(pascal(name)), span),
        identities.slot("llmContext1", Fusion(Instruction("entry", None, entry), (), (), (), span), span),
    )
    annotations = (about, *context.annotations) if about or not context.annotations else context.annotations
    return StepResult(Path(_add(ev, launcher, slots, replace(context, annotations=annotations), span)))


def _add(ev: Evaluation, instruction: Instruction, slots: tuple[Slot, ...], context: EvaluationContext, span: Span) -> int:
    """Add the step of a reserved instruction; it reads what is piped to it, else `prompt`, beside what is in its slots."""
    given = CallInputs(slots=list(slots))
    ev.reads_pipe(context)
    given.add(None, context.piped if context.piped is not None else StepResult(Path("prompt")))
    return ev.steps.add(
        context,
        base_name=instruction.base_name,
        executor="model",
        content=Fusion(instruction, slots, context.annotations, (), span),
        arguments=tuple(each for each in given.arguments if isinstance(each, Argument)),
        reads=given.reads(),
        span=span,
    )
