"""Standalone braces: objects of values, whose keys create separate steps and name them for later fields."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.given import brackets_at, is_data
from instrc.compiler.bind.lookup import names_a_value
from instrc.compiler.bind.steps import EvaluationContext, Steps
from instrc.compiler.bind.values import BoundValue, BraceNames, Brackets, Data, Inner, Members, StepResult, step_numbers
from instrc.compiler.ir import NO_TIMING, Path, StepObject, Unit
from instrc.language.surface import Object
from instrc.process.flow import Constant
from instrc.text.jsonvalue import Json
from instrc.text.source import Span


def object_of_values(ev: Evaluation, written: Object, context: EvaluationContext) -> BoundValue | None:
    """Evaluate an object of values; every key with a call is a separate step and a name for later fields."""
    inside = replace(context.inside(), piped=context.piped)
    if not ev.spend(0, written.span):
        return None
    if context.key is not None and not context.filling:
        return _evaluate_nested(ev, written, context)
    if context.annotations or context.timing != NO_TIMING:
        ev.report.add(problems.calls.MisplacedAnnotation(at=written.span, values=True))
    members: dict[str, BoundValue] = {}
    complete = True
    keys = BraceNames(context.keys)
    braces = ev.braces(context, ev.steps.identities.expression(written))
    for field in written.fields:
        content = field.content
        reference = names_a_value(ev, content, context)
        here = replace(inside, keys=keys, braces=braces, key=None if reference else field.key, placing=context.placing)
        value = ev.value(content, here)
        if value is None:
            complete = False
            keys.fields.setdefault(field.key, Inner())  # so that its readers report no further problems
            continue
        if isinstance(value, Data) and context.placing:
            ev.steps.add(
                here,
                base_name=field.key,
                executor="model",
                content=Constant(value.value),
                arguments=(),
                reads=[],
                span=field.key_span,
            )
        if not reference:
            keys.fields[field.key] = value
            keys.parts.update(ev.steps.parts(value))
        members[field.key] = value
    size = sum(member.size if isinstance(member, Members) else 1 for member in members.values())
    return Members(tuple(members.items()), size) if complete and ev.spend(size, written.span) else None


def _evaluate_nested(ev: Evaluation, written: Object, context: EvaluationContext) -> BoundValue | None:
    """Evaluate an object under a key: one step that contains the steps of the object, besides what it reads."""
    brackets = brackets_at(ev, context)
    within = replace(context, key=None, annotations=(), braces=ev.braces(context))
    calls = context.placing or any(
        not (is_data(each.content) or names_a_value(ev, each.content, context)) for each in written.fields
    )
    filled = block(ev, written, within, brackets, context.annotations, placing=calls)
    if filled is None:
        return None
    content, value = filled
    if not content.units:
        return value
    step = under_key(ev, content, context, written.span)
    return _beside(ev, value, step, set(step_numbers(content.units))) if isinstance(value, Members) else step


def _beside(ev: Evaluation, value: Members, step: StepResult, inside: set[int]) -> BoundValue:
    """Return the value of an object that has become a step; if it also reads other values, each of its members."""

    def within(name: str, each: BoundValue) -> BoundValue:
        match each:
            case Members(fields, size):
                return Members(tuple((key, within(key, member)) for key, member in fields), size)
            case StepResult(Path(int(origin), tail)) if origin in inside:
                return StepResult(Path(step.path.origin, (ev.steps.table[origin].key or name, *tail)))
            case Data():
                return StepResult(Path(step.path.origin, (name,)))
            case _:
                return each

    fields = tuple((name, within(name, each)) for name, each in value.fields)
    whole = all(each == StepResult(Path(step.path.origin, (name,))) for name, each in fields)
    return step if whole else Members(fields, value.size)


def under_key(ev: Evaluation, block: StepObject, context: EvaluationContext, span: Span) -> StepResult:
    """Make an object of steps a separate step, under its key in the braces."""
    reads = outside_reads(ev.steps, block)
    key = context.key or ""
    number = ev.steps.add(context, base_name=key, executor="model", content=block, arguments=(), reads=reads, span=span)
    return StepResult(Path(number))


def block(
    ev: Evaluation,
    written: Object,
    context: EvaluationContext,
    brackets: Brackets,
    annotations: tuple[Json, ...],
    *,
    placing: bool = True,
) -> tuple[StepObject, BoundValue] | None:
    """Evaluate an object of steps in a slot; return it with the value of its members."""
    value = object_of_values(ev, written, replace(context.given_to(brackets), placing=placing))
    if value is None:
        return None
    return take(ev, ev.steps.fill(brackets, context), brackets, context, written.span, annotations), value


def take(
    ev: Evaluation,
    units: tuple[Unit, ...],
    brackets: Brackets,
    context: EvaluationContext,
    span: Span,
    annotations: tuple[Json, ...],
) -> StepObject:
    """Move some of the contents of brackets into a slot."""
    ev.steps.take_in(units)
    for number in step_numbers(units):
        brackets.written.discard(number)
        brackets.inner.pop(number, None)
        step = ev.steps.table[number]
        for word in step.timing.words:
            ev.report.add(problems.blocks.MisplacedDeadline(at=step.span, word=word, place="slot"))
    if context.brackets is not None:
        brackets.hand_to(context.brackets)
    return StepObject(units, annotations, span)


def outside_reads(steps: Steps, block: StepObject) -> list[Path]:
    """Return the values that the steps of a block read from outside, without duplicates."""
    inside = set(step_numbers(block.units))
    found = [path for number in sorted(inside) for path in steps.table[number].reads if path.origin not in inside]
    return list(dict.fromkeys(found))
