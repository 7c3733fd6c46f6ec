"""Calls and mixins: values in brackets flow in as data, values in braces are composed."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind import braces
from instrc.compiler.bind.evaluation import Evaluation, Signature, property_names
from instrc.compiler.bind.given import CallInputs, brackets_at, check_names, check_slots, data_of, is_data, take_label
from instrc.compiler.bind.lookup import find_instruction, is_plan_or_one_of, reads_and_calls
from instrc.compiler.bind.steps import PRIVATE, EvaluationContext
from instrc.compiler.bind.values import (
    BoundValue,
    BraceNames,
    Brackets,
    Data,
    Inner,
    Members,
    StepResult,
    paths_read,
    step_numbers,
)
from instrc.language.surface import Argument as Written
from instrc.language.surface import Expression, Field, Name, Object
from instrc.process.flow import Constant
from instrc.schema.relations import satisfies
from instrc.schema.walk import nodes, required_names
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, mapping
from instrc.text.source import Span


def fuse(
    ev: Evaluation, holder: ir.Instruction, written: Field, expression: Expression, context: EvaluationContext
) -> ir.Slot | None:
    """Compose the callee of an expression into a slot: its arguments are passed on, its schema becomes the slot's."""
    brackets = brackets_at(ev, context)
    if isinstance(expression, Object):
        block = braces.block(ev, expression, context, brackets, ())
        return None if block is None else slot_of(ev, written, *block)
    value = ev.value(expression, replace(context, brackets=brackets, key=PRIVATE))
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
    if taken is not None and isinstance(taken.unit, ir.MixinGroup):
        return slot_of(ev, written, braces.take(ev, (taken.unit,), brackets, context, expression.span, ()))
    return dissolve(ev, written, step.number, brackets, context)


def dissolve(ev: Evaluation, written: Field, number: int, brackets: Brackets, context: EvaluationContext) -> ir.Slot:
    """Turn a step into the content of a slot."""
    ev.steps.dissolve(number, brackets)
    if context.brackets is not None:
        brackets.hand_to(context.brackets)
    step = ev.steps.table[number]
    for word in step.timing.words:
        ev.report.add(problems.blocks.MisplacedDeadline(at=step.span, word=word, place="slot"))
    content: ir.Filling = step.content  # type: ignore[assignment]  # blocks are never merged into their parent
    return ev.steps.identities.slot(written.key, content, written.key_span, step.reads)


def slot_of(ev: Evaluation, written: Field, block: ir.StepObject, value: BoundValue | None = None) -> ir.Slot:
    """Return a slot filled with an object of steps; `value` is that of an object, which may read values next to them."""
    inside = set(step_numbers(block.units))
    beside = [] if value is None else [path for path in paths_read(value) if path.origin not in inside]
    reads = tuple(dict.fromkeys((*beside, *braces.outside_reads(ev.steps, block))))
    return ev.steps.identities.slot(written.key, block, written.key_span, reads)


FAIL = ir.Instruction("Fail_Activity", None, {})
"""Instruction that `Fail` calls; the engine carries it out."""


def collect(ev: Evaluation, instruction: ir.Instruction, written: tuple[Written, ...], context: EvaluationContext) -> CallInputs:
    """Evaluate the arguments of a call from left to right; a piped value is the first unnamed one."""
    given = CallInputs()
    if context.own and context.piped is not None:
        given.complete = given.add(None, context.piped)
    inside = context.inside()
    for each in written:
        if (each.label is None and type(each.value) is Object) or (each.label is not None and is_data(each.value)):
            given.complete = _in_braces(ev, instruction, each, written, given, context) and given.complete
        elif each.label is not None and not take_label(ev, given, each.label, each.label_span or each.value.span):
            given.complete = False
            continue
        else:
            value = ev.value(each.value, inside)
            if type(value) is Data and each.label is None and not value.given:
                ev.report.add(problems.calls.MisplacedData(at=each.value.span, failing=instruction is FAIL))
                value = None
            given.complete = value is not None and given.add(each.label, value) and given.complete
        if given.unchecked:
            check_names(ev, given, each.value.span)
    return given


def _in_braces(
    ev: Evaluation,
    instruction: ir.Instruction,
    argument: Written,
    written: tuple[Written, ...],
    given: CallInputs,
    context: EvaluationContext,
) -> bool:
    """Evaluate an object as the arguments that it names, and labelled data like a field; return whether all can be passed.

    Names of values are read, constants and calls are composed into the slot of their key.
    """
    if argument.label is None:
        context = replace(context, braces=ev.braces(context, ev.steps.identities.written(written)))
    keys = BraceNames(context.keys)
    inside = replace(context.inside(), keys=keys)
    complete = True
    for each in fields_of((argument,)):
        if not take_label(ev, given, each.key, each.key_span):
            complete = False
            continue
        expression = each.content
        if is_data(expression):
            given.add_constant(each.key, data_of(ev, expression))
        elif instruction.kind in {"model", "user"} and is_plan_or_one_of(ev, expression, inside):
            from instrc.compiler.bind.choices import choice_slot  # few steps have one

            slot = choice_slot(ev, each, expression, inside, given, collect)
            if slot is None:
                complete = False
            else:
                given.slots.append(slot)
                keys.fields[each.key] = Inner()
        elif instruction.kind != "model" or (read := reads_and_calls(ev, expression, inside)) == (True, False):
            value = ev.value(expression, inside)
            complete = value is not None and given.add(each.key, value) and complete
        else:
            slot = fuse(ev, instruction, each, expression, replace(inside, braces=ev.braces(inside, each.key)))
            if slot is None:
                complete = False
            else:
                given.slots.append(slot)
                given.has_value = given.has_value or read[0]
                keys.fields[each.key] = Inner()
    return complete


_OF_FAIL = ("kind", "code", "message")
"""Arguments that `Fail` uses."""


def call(
    ev: Evaluation, instruction: ir.Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> BoundValue | None:
    """Add the step of a call and return its result."""
    given = collect(ev, instruction, written, context)
    called = ev.signature(instruction, span, context.annotations)
    if called is None or not given.complete or not ev.spend(len(given.arguments), span):
        return None
    if not given.has_value and not _is_given(called, given, context):
        ev.reads_pipe(context)
        given.add(None, context.piped if context.piped is not None else StepResult(ir.Path("prompt")))
    if called.kind == "model" and given.literal:
        context = replace(context, annotations=(*context.annotations, *_told(given, called.properties)))
        for argument in given.arguments:  # for a model, a constant is a property with one value
            if isinstance(argument.value, Constant):
                name = argument.label or ""
                given.slots.append(ev.steps.identities.slot(name, argument.value, given.labels.get(name, span)))
        given.arguments = [argument for argument in given.arguments if isinstance(argument.value, ir.Path)]
    if given.slots and not check_slots(ev, instruction, called.schema, given.slots, context.annotations):
        return None
    if called.kind == "user":
        _check_people(ev, called.schema, given, written, span)
    if called.kind == "server" and given.constants:
        _leave_out(given, called.schema)
    if called.kind == "server" and not context.by_hand:
        _prepare(ev, instruction, given, span, context)
    number = ev.steps.add(
        context,
        base_name=called.base_name,
        executor=called.executor,
        output=called.output,
        content=ir.Fusion(instruction, tuple(given.slots), context.annotations, (), span),
        arguments=tuple(given.arguments),
        reads=given.reads(),
        activity=called.activity,
        span=span,
        needs=given.needs,
        chosen=given.chosen,
    )
    if called.executor == "server":
        for label, place in given.labels.items():
            ev.labels.setdefault((number, label), place)
    return StepResult(ir.Path(number))


def _check_people(ev: Evaluation, schema: Json, given: CallInputs, written: tuple[Written, ...], span: Span) -> None:
    """Report an approval rule that would mean a person, as the call passes the value of that name without a label."""
    unnamed = {each.value.text for each in written if each.label is None and isinstance(each.value, Name)}
    paths = [each.value for each in given.arguments if each.label is None and isinstance(each.value, ir.Path)]
    unnamed |= {str(path.tail[-1]) for path in paths if path.tail}
    rules = ((word, node.get(word)) for node in nodes(schema) for word in ("x-approvers", "x-not"))
    for word, name in dict.fromkeys(rule for rule in rules if isinstance(rule[1], str) and rule != ("x-not", "starter")):
        if name in unnamed - given.labels.keys():
            follows = f"it means a person `{name}`; write `{name}: …` for the value of this call"
            wanted = "the label of an argument"
            ev.report.add(problems.schemas.InvalidApprovalRule(at=span, word=word, wanted=wanted, follows=follows))


def _is_given(called: Signature, given: CallInputs, context: EvaluationContext) -> bool:
    """Return whether a call of the server or a person reads only its arguments; one that a model prepares reads more."""
    prepared = called.kind == "server" and context.scope.program.instructions.named(called.base_name) and not context.by_hand
    return called.kind in {"server", "user"} and bool(given.arguments) and not prepared


def _told(given: CallInputs, properties: dict[str, None]) -> list[Json]:
    """Remove the constants for a model from the arguments, and return the sentence that states them.

    A literal is read like a result; if the callee has a property of that name, the literal fills it.
    """
    told = {
        place: name
        for place, name in given.constants.items()
        if given.arguments[place].label is None or given.arguments[place].label not in properties
    }
    texts = []
    for place, name in told.items():
        value = given.arguments[place].value
        if isinstance(value, Constant):
            texts.append(f"{name}: {dumps(value.value, indent=False)}")
    given.arguments = [each for place, each in enumerate(given.arguments) if place not in told]
    given.constants = {}
    return [{"description": text} for text in texts]


def _leave_out(given: CallInputs, schema: Json) -> None:
    """Leave out the `null`s passed to a program if an optional argument excludes them, as a run would."""
    known = mapping(schema.get("properties")) if isinstance(schema, dict) else {}
    optional = known.keys() - set(required_names(schema)) if isinstance(schema, dict) else set()
    arguments, constants = given.arguments, given.constants
    given.arguments, given.constants = [], {}
    for place, each in enumerate(arguments):
        name = constants.get(place)
        if name and each.value == Constant(None) and each.label in optional and satisfies(None, known[each.label]) is False:
            continue
        if name:
            given.constants[len(given.arguments)] = name
        given.arguments.append(each)


def _prepare(ev: Evaluation, instruction: ir.Instruction, given: CallInputs, span: Span, context: EvaluationContext) -> None:
    """Insert the step that prepares a server call, if there is one and it is not already present."""
    found = context.scope.program.instructions.named(instruction.base_name)
    if not found:
        return
    preparation = find_instruction(ev, Name(instruction.base_name, span), context.scope)
    if not isinstance(preparation, ir.Instruction) or preparation.kind != "model":
        return
    for argument in given.arguments:
        if isinstance(argument.value, ir.Path) and isinstance(argument.value.origin, int):
            content = ev.steps.table[argument.value.origin].content
            if isinstance(content, ir.Fusion) and content.instruction == preparation:
                return
    schema = ev.flat(preparation, span)
    known = property_names(schema, ())
    told = tuple(_told(given, known))
    kept = [each for each in given.arguments if isinstance(each.value, Constant) and each.label not in known]
    fused = [
        ev.steps.identities.slot(each.label, each.value, given.labels.get(each.label, span))
        for each in given.arguments
        if isinstance(each.value, Constant) and each.label in known
    ]
    output = "output" in known
    number = ev.steps.add(
        replace(context.inside(), keys=None),
        base_name=preparation.base_name,
        executor="model",
        output=output,
        content=ir.Fusion(preparation, tuple(fused), told, (), span),
        arguments=tuple(each for each in given.arguments if isinstance(each.value, ir.Path)),
        reads=given.reads(),
        activity=preparation.name if output else None,
        span=span,
    )
    given.arguments = [ir.Argument(None, ir.Path(number)), *kept]


def fail(ev: Evaluation, written: tuple[Written, ...], span: Span, context: EvaluationContext) -> BoundValue | None:
    """Create the step that ends its block, or the run, as failed with the value it reads."""
    given = collect(ev, FAIL, written, replace(context, annotations=(), own=context.own))
    if context.annotations:
        ev.report.add(problems.calls.MisplacedAnnotation(at=span))
        return None
    for argument in given.arguments:
        label = argument.label
        if label is not None and label not in _OF_FAIL and isinstance(argument.value, Constant):
            at = given.labels.get(label, span)
            ev.report.add(problems.plans.UnknownArgument(at=at, pointer="", callee="Fail", argument=label, known=_OF_FAIL))
            return None
    if not given.complete:
        return None
    number = ev.steps.add(
        context,
        base_name=FAIL.base_name,
        executor="server",
        content=ir.Fusion(FAIL, (), (), (), span),
        arguments=tuple(given.arguments),
        reads=given.reads(),
        span=span,
        fail=True,
    )
    for name, place in given.labels.items():
        ev.labels.setdefault((number, name), place)
    return StepResult(ir.Path(number))


def mix(
    ev: Evaluation, mixin: ir.Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> BoundValue | None:
    """Put a mixin around the model steps in its brackets; its value is that of its argument."""
    brackets = brackets_at(ev, context)
    given = CallInputs()
    within = replace(context.given_to(brackets), own=context.own, placing=True)
    filling = next((each.value for each in written if is_filling(each)), None)
    for each in written:
        if filling is not None and is_filling(each) and each.value is not filling:
            ev.report.add(problems.calls.TooManyArguments(at=each.value.span, mixin=mixin.name, first=filling.span))
            return None
    fields, complete = fields_of(written), True
    value: BoundValue | None = None
    if filling is not None:
        value = ev.value(filling, replace(within, filling=True))
        if value is None:
            return None
    keys = BraceNames(context.keys)
    inside = replace(context.inside(), keys=keys)
    braces_number = ev.braces(context, ev.steps.identities.written(written)) if fields else context.braces
    within = replace(within, braces=braces_number)
    for slot_field in fields:
        expression = slot_field.content
        if not take_label(ev, given, slot_field.key, slot_field.key_span):
            complete = False
            continue
        if slot_field.key == "default":
            if filling is not None:
                ev.report.add(problems.calls.TooManyArguments(at=expression.span, mixin=mixin.name, first=filling.span))
                return None
            filling = expression
            value = ev.value(expression, replace(within, filling=True))
            if value is None:
                return None
            continue
        slot = _filled(ev, mixin, slot_field, expression, given, within, inside)
        if slot is None:
            complete = False
        else:
            given.slots.append(slot)
    if isinstance(value, Data):
        ev.report.add(problems.calls.MisplacedData(at=filling.span if filling else span))
        return None
    schema = ev.flat(mixin, span)
    if schema is None or not complete or not check_slots(ev, mixin, schema, given.slots, ()):
        return None
    for slot in given.slots:
        if _stands_before(slot.name, schema):
            brackets.keep_out(slot.reads)
    return _put_around(ev, ir.Application(mixin, tuple(given.slots), context.annotations, span), brackets, value, context)


def is_filling(each: Written) -> bool:
    """Return whether an expression is the argument of a mixin: it has no label, and is not an object of slots."""
    return each.label is None and not isinstance(each.value, Object)


def fields_of(written: tuple[Written, ...]) -> list[Field]:
    """Return the written slots, as labels or in braces."""
    fields: list[Field] = []
    for each in written:
        if each.label is not None:
            fields.append(Field(each.label, each.label_span or each.value.span, each.value))
        elif isinstance(each.value, Object):
            fields.extend(each.value.fields)
    return fields


def _filled(
    ev: Evaluation,
    mixin: ir.Instruction,
    slot_field: Field,
    expression: Expression,
    given: CallInputs,
    within: EvaluationContext,
    inside: EvaluationContext,
) -> ir.Slot | None:
    """Return a slot of a mixin with its content: an open choice, data, or a step in the brackets `within`."""
    if is_plan_or_one_of(ev, expression, within):
        from instrc.compiler.bind.choices import choice_slot  # few mixins have one

        slot = choice_slot(ev, slot_field, expression, inside, given, collect)
        return None if slot is None else replace(slot, reads=tuple(given.chosen))
    if is_data(expression):
        return ev.steps.identities.slot(slot_field.key, Constant(data_of(ev, expression)), slot_field.key_span)
    around = replace(inside, brackets=within.brackets, direct=True, braces=ev.braces(within, slot_field.key))

    slot = fuse(ev, mixin, slot_field, expression, around)
    if slot is not None and inside.keys is not None:
        inside.keys.fields[slot_field.key] = Inner()
    return slot


def _stands_before(name: str, schema: Json) -> bool:
    """Return whether a property of a mixin comes before its argument."""
    names = list(property_names(schema, ()))
    return "default" not in names or name not in names or names.index(name) < names.index("default")


def _put_around(
    ev: Evaluation, application: ir.Application, brackets: Brackets, value: BoundValue | None, context: EvaluationContext
) -> BoundValue | None:
    """Put a mixin around the steps of its brackets; return the value of its brackets."""
    span = application.span
    whole = isinstance(value, Members)
    taken = ev.steps.apply(application, brackets, context.region, whole=whole)
    if not taken:
        elsewhere = (ev.steps.table[number].base_name for number in sorted(brackets.written & ev.steps.homes))
        reads = [(slot.name, path.origin) for slot in application.slots for path in slot.reads]
        slot, before = next(((slot, step) for slot, step in reads if step in brackets.written & brackets.barriers), ("", 0))
        step = ev.steps.table[before].base_name if slot and isinstance(before, int) else ""
        name = application.mixin.name
        ev.report.add(problems.calls.EmptyMixin(at=span, mixin=name, elsewhere=next(elsewhere, ""), slot=slot, step=step))
        return None
    if whole and not context.filling and context.key not in {None, PRIVATE}:
        return braces.under_key(ev, braces.take(ev, taken, brackets, context, span, ()), context, span)
    if context.brackets is not None:
        brackets.hand_to(context.brackets)
    return value
