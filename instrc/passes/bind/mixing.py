"""Mixins: put around the model steps written in their brackets."""

from __future__ import annotations

from instrc import problems
from instrc.ir.graph import Application, Constant, Instruction
from instrc.ir.surface import Annotated, Expression, Field, Name, Object
from instrc.ir.surface import Argument as Written
from instrc.jsonvalue import AnyJson as Json
from instrc.passes.bind import braces
from instrc.passes.bind.calls import collect
from instrc.passes.bind.choices import choice, is_choice
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.filling import fuse
from instrc.passes.bind.given import Given, take_label
from instrc.passes.bind.literals import data_of, is_data
from instrc.passes.bind.slots import check_slots, frame_at, properties_of
from instrc.passes.bind.steps import PRIVATE
from instrc.passes.bind.values import Data, Inner, Keys, Members, Value
from instrc.passes.trampoline import Task
from instrc.source import Span


def mix(
    ev: Evaluation, mixin: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> Task[Value | None]:
    """Put a mixin around the model steps written in its brackets; its value is the value of what it is given."""
    frame = frame_at(ev, context)
    given = Given()
    within = context.given_to(frame)._replace(own=context.own, placing=True)
    filling: Expression | None = None
    fields: list[Field] = []
    for each in written:
        if each.label is None and not isinstance(each.value, Object):
            if filling is not None:
                ev.report.add(problems.calls.TooManyArguments(at=each.value.span, mixin=mixin.name, first=filling.span))
                return None
            filling = each.value
        elif each.label is None and isinstance(each.value, Object):
            fields.extend(each.value.fields)
        else:
            fields.append(Field(each.label or "", each.label_span or each.value.span, each.value))
    value: Value | None = None
    if filling is not None:
        value = yield ev.value(filling, _unkeyed(ev, filling, within))
        if value is None:
            return None
    keys = Keys.within(context.keys)
    braces_number = ev.braces(context, ev.steps.identities.written(written)) if fields else context.braces
    within = within._replace(braces=braces_number)
    for slot_field in fields:
        expression = slot_field.value or Name(slot_field.key, slot_field.key_span)
        if not take_label(ev, given, slot_field.key, slot_field.key_span):
            continue
        if slot_field.key == "default":
            if filling is not None:
                ev.report.add(problems.calls.TooManyArguments(at=expression.span, mixin=mixin.name, first=filling.span))
                return None
            filling = expression
            value = yield ev.value(expression, _unkeyed(ev, expression, within))
        elif is_choice(ev, expression, within):
            slot = yield choice(ev, slot_field, expression, context.inside()._replace(keys=keys), given, collect)
            if slot is None:
                given.complete = False
            else:
                given.slots.append(slot._replace(reads=tuple(given.chosen)))
            continue
        elif is_data(expression):
            given.slots.append(ev.steps.identities.slot(slot_field.key, Constant(data_of(ev, expression)), slot_field.key_span))
            continue
        else:
            slot = yield fuse(
                ev,
                mixin,
                slot_field,
                expression,
                context.inside()._replace(keys=keys, frame=frame, direct=True, braces=ev.braces(within, slot_field.key)),
            )
            if slot is not None:
                given.slots.append(slot)
                keys.fields[slot_field.key] = Inner()
            else:
                given.complete = False
            continue
        if value is None:
            return None
    if isinstance(value, Data):
        ev.report.add(problems.misplaced.MisplacedData(at=filling.span if filling else span))
        return None
    schema = ev.flat(mixin, span)
    if schema is None or not given.complete or not check_slots(ev, mixin, schema, given.slots, ()):
        return None
    for slot in given.slots:
        if _stands_before(slot.name, schema):  # what it reads comes before all that the mixin holds
            frame.keep_out(slot.reads)
    application = Application(mixin, tuple(given.slots), context.annotations, span)
    whole = isinstance(value, Members)
    taken = ev.steps.apply(application, frame, whole=whole)
    if not taken:
        ev.report.add(problems.calls.EmptyMixin(at=span, mixin=mixin.name))
        return None
    if whole and context.key not in {None, PRIVATE}:
        return braces.under_key(ev, braces.take(ev, taken, frame, context, span, ()), context, span)
    if context.frame is not None:
        frame.hand_to(context.frame)
    return value


def _stands_before(name: str, schema: Json) -> bool:
    """Tell whether a property of a mixin stands before what is put into it."""
    names = list(properties_of(schema, ()))
    return "default" not in names or name not in names or names.index(name) < names.index("default")


def _unkeyed(ev: Evaluation, filling: Expression, context: EvaluationContext) -> EvaluationContext:
    """Return the place of what fills a mixin; the key of the mixin's call goes on to a call, but is not that of an object."""
    scope = context.scope
    while isinstance(filling, Annotated | Name):
        if isinstance(filling, Annotated):
            filling = filling.value
        elif (found := scope.find(filling.text)) and context.find(filling.text) is None and not ev.ends.is_circular(found):
            filling, scope = found.binding.value, found.scope
        else:
            break
    return context._replace(key=None) if isinstance(filling, Object) else context
