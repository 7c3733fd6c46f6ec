"""Mixins: put around the model steps written in their brackets."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import Application, Instruction, Slot
from instrc.ir.reads import Constant
from instrc.ir.surface import Argument as Written
from instrc.ir.surface import Expression, Field, Name, Object
from instrc.jsonvalue import Json
from instrc.passes.bind.arguments import collect
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.given import CallInputs, take_label
from instrc.passes.bind.holding import Brackets
from instrc.passes.bind.literals import data_of, is_data
from instrc.passes.bind.lookup import is_plan_or_one_of
from instrc.passes.bind.signature import property_names
from instrc.passes.bind.slots import brackets_at, check_slots
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import BoundValue, BraceNames, Data, Inner, Members
from instrc.passes.trampoline import Task
from instrc.source import Span


def mix(
    ev: Evaluation, mixin: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> Task[BoundValue | None]:
    """Put a mixin around the model steps written in its brackets; its value is the value of what it is given."""
    brackets = brackets_at(ev, context)
    given = CallInputs()
    within = replace(context.given_to(brackets), own=context.own, placing=True)
    filling = next((each.value for each in written if _is_filling(each)), None)
    for each in written:
        if filling is not None and _is_filling(each) and each.value is not filling:
            ev.report.add(problems.calls.TooManyArguments(at=each.value.span, mixin=mixin.name, first=filling.span))
            return None
    fields, complete = _fields(written), True
    value: BoundValue | None = None
    if filling is not None:
        value = yield ev.value(filling, replace(within, filling=True))
        if value is None:
            return None
    keys = BraceNames.within(context.keys)
    inside = replace(context.inside(), keys=keys)
    braces_number = ev.braces(context, ev.steps.identities.written(written)) if fields else context.braces
    within = replace(within, braces=braces_number)
    for slot_field in fields:
        expression = slot_field.value or Name(slot_field.key, slot_field.key_span)
        if not take_label(ev, given, slot_field.key, slot_field.key_span):
            complete = False
            continue
        if slot_field.key == "default":
            if filling is not None:
                ev.report.add(problems.calls.TooManyArguments(at=expression.span, mixin=mixin.name, first=filling.span))
                return None
            filling = expression
            value = yield ev.value(expression, replace(within, filling=True))
            if value is None:
                return None
            continue
        slot = yield from _filled(ev, mixin, slot_field, expression, given, within, inside)
        if slot is None:
            complete = False
        else:
            given.add_slot(slot)
    if isinstance(value, Data):
        ev.report.add(problems.calls.MisplacedData(at=filling.span if filling else span))
        return None
    schema = ev.flat(mixin, span)
    if schema is None or not complete or not check_slots(ev, mixin, schema, given.slots, ()):
        return None
    _keep_out(given.slots, schema, brackets)
    return _put_around(ev, Application(mixin, tuple(given.slots), context.annotations, span), brackets, value, context)


def _filled(
    ev: Evaluation,
    mixin: Instruction,
    slot_field: Field,
    expression: Expression,
    given: CallInputs,
    within: EvaluationContext,
    inside: EvaluationContext,
) -> Task[Slot | None]:
    """Return a slot of a mixin with what fills it: a choice that is left open, data, or a step of the brackets of `within`."""
    if is_plan_or_one_of(ev, expression, within):
        from instrc.passes.bind.choices import choice_slot  # few mixins leave one

        slot = yield choice_slot(ev, slot_field, expression, inside, given, collect)
        return None if slot is None else replace(slot, reads=tuple(given.chosen))
    if is_data(expression):
        return ev.steps.identities.slot(slot_field.key, Constant(data_of(ev, expression)), slot_field.key_span)
    around = replace(inside, brackets=within.brackets, direct=True, braces=ev.braces(within, slot_field.key))
    from instrc.passes.bind.filling import fuse  # most mixins are put around something

    slot = yield fuse(ev, mixin, slot_field, expression, around)
    if slot is not None and inside.keys is not None:
        inside.keys.fields[slot_field.key] = Inner()
    return slot


def _put_around(
    ev: Evaluation, application: Application, brackets: Brackets, value: BoundValue | None, context: EvaluationContext
) -> BoundValue | None:
    """Put a mixin around the steps of its brackets; return what its brackets are worth."""
    span = application.span
    whole = isinstance(value, Members)
    taken = ev.steps.apply(application, brackets, context.region, whole=whole)
    if not taken:
        elsewhere = (ev.steps.table[number].base_name for number in sorted(brackets.written & ev.steps.homes))
        ev.report.add(problems.calls.EmptyMixin(at=span, mixin=application.mixin.name, elsewhere=next(elsewhere, "")))
        return None
    if whole and not context.filling and context.key not in {None, PRIVATE}:
        from instrc.passes.bind import braces  # many programs have none

        return braces.under_key(ev, braces.take(ev, taken, brackets, context, span, ()), context, span)
    if context.brackets is not None:
        brackets.hand_to(context.brackets)
    return value


def _keep_out(slots: Sequence[Slot], schema: Json, brackets: Brackets) -> None:
    """Let what slots read that come before all that a mixin holds stay outside of its brackets."""
    for slot in slots:
        if _stands_before(slot.name, schema):
            brackets.keep_out(slot.reads)


def _is_filling(each: Written) -> bool:
    """Tell whether what is written is what the mixin is put around: it has no label and is no object of slots."""
    return each.label is None and not isinstance(each.value, Object)


def _fields(written: tuple[Written, ...]) -> list[Field]:
    """Return the slots that are written, as labels or in braces."""
    fields: list[Field] = []
    for each in written:
        if each.label is not None:
            fields.append(Field(each.label, each.label_span or each.value.span, each.value))
        elif isinstance(each.value, Object):
            fields.extend(each.value.fields)
    return fields


def _stands_before(name: str, schema: Json) -> bool:
    """Tell whether a property of a mixin stands before what is put into it."""
    names = list(property_names(schema, ()))
    return "default" not in names or name not in names or names.index(name) < names.index("default")
