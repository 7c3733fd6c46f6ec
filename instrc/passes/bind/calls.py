"""Calls: what is given to them in brackets flows, what is given in braces is composed."""

from __future__ import annotations

from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import Argument, Fusion, Instruction, instruction_kind
from instrc.ir.paths import Path
from instrc.ir.reads import Constant
from instrc.ir.surface import Argument as Written
from instrc.ir.surface import Name
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, mapping
from instrc.passes.bind.arguments import FAIL, CallArguments, arguments_of, collect
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.given import CallInputs
from instrc.passes.bind.lookup import find_instruction
from instrc.passes.bind.signature import Signature, property_names
from instrc.passes.bind.slots import check_slots
from instrc.passes.bind.values import BoundValue, StepResult
from instrc.passes.trampoline import Task, Work
from instrc.schema.evaluation import satisfies
from instrc.schema.members import required_names
from instrc.source import Span

_OF_FAIL = ("kind", "code", "message")
"""What `Fail` looks at in what it is given."""


def is_plain(instruction: Instruction) -> bool:
    """Tell whether a call of an instruction is a step and nothing more."""
    return instruction_kind(instruction.name) != "mixin" and instruction.name != "StartProcess"


def call(
    ev: Evaluation, instruction: Instruction, written: tuple[Written, ...], span: Span, context: EvaluationContext
) -> Work[BoundValue | None]:
    """Make a call a step."""
    return arguments_of(ev, instruction, written, span, context).evaluate(step_of)


def step_of(arguments: CallArguments) -> BoundValue | None:
    """Make the step of a call whose arguments are evaluated, and return its result."""
    ev, instruction, span, context, given = (
        arguments.ev,
        arguments.instruction,
        arguments.span,
        arguments.context,
        arguments.given,
    )
    called = ev.signature(instruction, span, context.annotations)
    if called is None or not given.complete or not ev.spend(len(given.arguments), span):
        return None
    if not given.has_value and not (called.kind == "server" and called.output and _is_all_given(called, given, context)):
        ev.reads_pipe(context)
        given.add(None, context.piped if context.piped is not None else StepResult(Path("prompt")))
    if called.kind == "model" and given.literal:
        context = replace(context, annotations=(*context.annotations, *_told(given, called.properties)))
        for argument in given.arguments:  # for a model, a constant is a property with one value
            if isinstance(argument.value, Constant):
                name = argument.label or ""
                given.add_slot(ev.steps.identities.slot(name, argument.value, given.labels.get(name, span)))
        given.arguments = [argument for argument in given.arguments if isinstance(argument.value, Path)]
    if given.slots and not check_slots(ev, instruction, called.schema, given.slots, context.annotations):
        return None
    if called.kind == "server" and given.constants:
        _leave_out(given, called.schema)
    if called.kind == "server" and not context.by_hand:
        _prepare(ev, instruction, given, span, context)
    number = ev.steps.add(
        context,
        base_name=called.base_name,
        executor=called.executor,
        output=called.output,
        content=Fusion(instruction, tuple(given.slots), context.annotations, (), span),
        same=None if given.slots or context.annotations else called.number,
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
    return StepResult(Path(number))


def _told(given: CallInputs, properties: dict[str, None]) -> list[Json]:
    """Take the constants that a model is to read out of the arguments, and return what tells it of them.

    What is called with a literal reads it as it would read a result; where it has a property of that name, it is that.
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


def _is_all_given(called: Signature, given: CallInputs, context: EvaluationContext) -> bool:
    """Tell whether constants fill all inputs of an activity: then it has no place for what is piped, or for `prompt`.

    Its inputs are the properties beside `output`.  What is piped may still fill an optional input that is not named;
    `prompt`, which nobody wrote, does not.
    """
    named = {each.label for each in given.arguments}
    inputs = called.properties.keys() - {"output"}
    if not named or not named <= inputs or context.scope.program.instructions.named(called.base_name):
        return False
    return (inputs if context.piped is not None else inputs & set(required_names(mapping(called.schema)))) <= named


def _leave_out(given: CallInputs, schema: Json) -> None:
    """Leave out the `null`s that a program is called with where an optional argument excludes them, as a run would."""
    known = mapping(schema.get("properties")) if isinstance(schema, dict) else {}
    optional = known.keys() - set(required_names(schema)) if isinstance(schema, dict) else set()
    arguments, constants = given.arguments, given.constants
    kept: dict[int, str] = {}
    given.arguments, given.constants = [], kept
    for place, each in enumerate(arguments):
        name = constants.get(place)
        if name and each.value == Constant(None) and each.label in optional and satisfies(None, known[each.label]) is False:
            continue
        if name:
            kept[len(given.arguments)] = name
        given.arguments.append(each)


def fail(ev: Evaluation, written: tuple[Written, ...], span: Span, context: EvaluationContext) -> Task[BoundValue | None]:
    """Make the step that ends its block, or the run, as failed with what it reads."""
    given: CallInputs = yield collect(ev, FAIL, written, span, replace(context, annotations=(), own=context.own))
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
        content=Fusion(FAIL, (), (), (), span),
        arguments=tuple(given.arguments),
        reads=given.reads(),
        span=span,
        fail=True,
    )
    for name, place in given.labels.items():
        ev.labels.setdefault((number, name), place)
    return StepResult(Path(number))


def _prepare(ev: Evaluation, instruction: Instruction, given: CallInputs, span: Span, context: EvaluationContext) -> None:
    """Insert the step that prepares a server call, if there is one and it is not there already."""
    found = context.scope.program.instructions.named(instruction.base_name)
    if not found:
        return
    preparation = find_instruction(ev, Name(instruction.base_name, span), context.scope)
    if not isinstance(preparation, Instruction) or preparation.kind != "model":
        return
    for argument in given.arguments:
        if isinstance(argument.value, Path) and isinstance(argument.value.origin, int):
            content = ev.steps.table[argument.value.origin].content
            if isinstance(content, Fusion) and content.instruction == preparation:
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
        content=Fusion(preparation, tuple(fused), told, (), span),
        arguments=tuple(each for each in given.arguments if isinstance(each.value, Path)),
        reads=given.reads(),
        activity=preparation.name if output else None,
        span=span,
    )
    given.arguments = [Argument(None, Path(number)), *kept]
