"""`Plan(…)` and `OneOf(…)`: schemas of the choices that a model or a person has."""

from __future__ import annotations

from collections.abc import Callable
from os.path import realpath
from typing import TypeAlias

from msgspec.structs import replace

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind import called_programs
from instrc.compiler.bind.called_programs import admits_literal
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.given import CallInputs
from instrc.compiler.bind.lookup import callee_of, find_instruction, find_vibe
from instrc.compiler.bind.scopes import Called, CalledProgram, Scope, Special
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Data, Inner, Members, StepResult
from instrc.compiler.instructions import unknown_argument
from instrc.compiler.plan_schema import RUN_PLAN, part_of, plan_schema
from instrc.language.surface import Access, Annotated, Call, Expression, Field, Name, Object, Uri
from instrc.language.surface import Argument as Written
from instrc.problems.errors import InstrcError
from instrc.process.flow import Constant
from instrc.schema.walk import object_of_inputs, of_other_members, without
from instrc.text.jsonvalue import Json, JsonObject, mapping
from instrc.text.names import pascal
from instrc.text.source import Span
from instrc.vibes.registry import Registry


def path_of_constant(ev: Evaluation, literal: Data, context: EvaluationContext, span: Span) -> ir.Path:
    """Return a path to a literal: to a block with this value, placed where the program is called."""
    return _through_do(ev, Constant(literal.value), context.scope, span)


def _through_do(ev: Evaluation, given: ir.Path | Constant, scope: Scope, span: Span) -> ir.Path:
    """Return a path to a `do` block with a value, placed where the program of a scope is called."""
    *_, root = scope.outwards()
    home = EvaluationContext(root, root.region)
    body = ir.Region(ev.steps.open_region(root.region, span), (), given, span)
    content = ir.Do(body)
    reads = (given,) if isinstance(given, ir.Path) else ()
    step = ir.Step(len(ev.steps.table), "do", None, "block", False, content, (), reads, None, span)  # noqa: FBT003  # a block has no `output`
    signs = ev.steps.identities.of("block", "do", (ev.steps.identity(body),), ir.NO_TIMING, None)
    number = ev.steps.one(step, signs, home)
    if number != step.number:
        ev.steps.drop([body.number])
    return ir.Path(number)


def seen_from(ev: Evaluation, value: BoundValue, scope: Scope, span: Span) -> BoundValue:
    """Return a value as a block of a called program reads it.

    There `rounds` belongs to the block. The caller's `rounds`, passed as an argument, goes through a `do` at the call.
    """
    match value:
        case StepResult(ir.Path(ir.Local(block, _, kind, name)) as path) if kind != "item":
            *inner, root = scope.outwards()
            hidden = any(name in each.given and each.region != block for each in inner)
            if hidden and ev.steps.regions.around(block, root.region):
                return StepResult(_through_do(ev, path, scope, span))
            return value
        case Members(fields, size):
            return Members(tuple((key, seen_from(ev, each, scope, span)) for key, each in fields), size)
        case _:
            return value


Collect: TypeAlias = "Callable[[Evaluation, ir.Instruction, tuple[Written, ...], EvaluationContext], CallInputs]"
"""Evaluates the arguments of a call, which may contain nested choices."""


def choice_slot(
    ev: Evaluation, written: Field, expression: Expression, context: EvaluationContext, given: CallInputs, collect: Collect
) -> ir.Slot | None:
    """Create the slot of `Plan(…)` or `OneOf(…)`; the values it needs are passed to the step without being shown."""
    annotations: list[Json] = []
    while isinstance(expression, Annotated):
        said = expression.annotation
        annotations.insert(0, {"description": said} if isinstance(said, str) else said)
        expression = expression.value
    if not isinstance(expression, Call) or not isinstance(expression.callee, Name):
        return None
    made = (
        _plan(ev, expression, context, given, collect)
        if expression.callee.text == "Plan"
        else _one_of(ev, expression, context, given)
    )
    if made is None:
        return None
    schema, engine = made
    content = ir.Fusion(ir.Instruction(expression.callee.text, None, schema), (), tuple(annotations), (), expression.span)
    return ev.steps.identities.slot(written.key, content, written.key_span, engine=engine)


def _plan(
    ev: Evaluation, call: Call, context: EvaluationContext, given: CallInputs, collect: Collect
) -> tuple[dict[str, Json], ir.Planned] | None:
    tools: dict[str, ir.PlannableTool] = {}
    complete = True
    for each in call.arguments:
        tool = _tool(ev, each, context, collect)
        if tool is None:
            complete = False
        elif tool.name in tools:
            ev.report.add(problems.names.RepeatedName(at=each.value.span, word=tool.name, first=None, tool=True))
            complete = False
        else:
            tools[tool.name] = tool
            given.needs += tuple([each.value for each in tool.bound if isinstance(each.value, ir.Path)])
    if not call.arguments:
        ev.report.add(problems.plans.NotForPlans(at=call.span, word="Plan()"))
        return None
    planned = ir.Planned(tuple(tools.values()))
    return (plan_schema(planned.tools, ev.instructions.sentences), planned) if complete else None


def _tool(ev: Evaluation, written: Written, context: EvaluationContext, collect: Collect) -> ir.PlannableTool | None:
    """Evaluate one tool: an activity or a process, and the arguments that the program fixes."""
    expression = written.value
    bound: tuple[Written, ...] = ()
    if isinstance(expression, Call):
        bound = expression.arguments
        expression = expression.callee
    called: Called | None = None
    if isinstance(expression, Name):
        called = callee_of(ev, expression, context)
        if called is None:
            return None
    elif isinstance(expression, Uri):
        called = find_vibe(ev, expression, context.scope)
        if called is None:
            return None
    made = None
    if isinstance(called, ir.Instruction):
        made = _described(ev, called, expression.span, context)
    elif isinstance(called, CalledProgram):
        inputs = called_programs.input_schemas(ev, called, expression.span, context)
        if inputs is None:
            return None
        made = object_of_inputs(inputs), {}, True
    if made is None:
        activity = f"{expression.text}_Activity" if isinstance(expression, Name) else ""
        offered = activity if activity and ev.instructions.named(activity) else ""
        named = isinstance(expression, Name | Uri)
        ev.report.add(problems.plans.NotForPlans(at=written.value.span, word=expression.span.text, activity=offered, named=named))
        return None
    arguments, output, process = made
    labelled = tuple(map(_named_argument, bound))
    given = collect(ev, RUN_PLAN, labelled, context.inside())
    if not given.complete or called is None or isinstance(called, Special):
        return None
    segment = called.name if isinstance(called, ir.Instruction) else called.file.segment
    taken: JsonObject = {**arguments, "additionalProperties": False} if process else arguments
    if not _placed(ev, given, bound, taken, segment, written.value.span):
        return None
    if not _fit(ev, given, arguments, segment, written.value.span):
        return None
    name = pascal(segment) if process else segment
    if not process:
        return ir.PlannableTool(name, "activity", segment, arguments, output, tuple(given.arguments))
    file = _file_of(ev, called)
    target = _target(ev, called, file, expression.span, context)
    return ir.PlannableTool(name, "process", target, arguments, output, tuple(given.arguments), file)


def _described(
    ev: Evaluation, called: ir.Instruction, at: Span, context: EvaluationContext
) -> tuple[dict[str, Json], Json, bool] | None:
    """Return the arguments of a tool, its output, and whether it is a process, or `None` if it cannot be a tool."""
    schema = ev.flat(called, at)
    if called.kind == "server":
        return _arguments(ev, called, schema, at, context), _output(schema), False
    if called.kind != "model" or called.uri is None:
        return None
    try:
        entry = ev.instructions.entry(called)
    except InstrcError:
        return None
    if entry is None or not isinstance(schema, dict):
        return None
    inputs = schema.get("inputs")
    properties: JsonObject = {"prompt": {"type": "string"}, **(inputs if isinstance(inputs, dict) else {})}
    properties.pop("called", None)  # the engine sets the name under which it was called
    if properties["prompt"] == {}:
        properties["prompt"] = {"type": "string"}
    return object_of_inputs(properties), {}, True


def _arguments(ev: Evaluation, called: ir.Instruction, schema: Json, at: Span, context: EvaluationContext) -> dict[str, Json]:
    """Return the schema of an activity's arguments: that of its preparation, its own next to `output`, or an open one."""
    if context.scope.program.instructions.named(called.base_name):
        preparation = find_instruction(ev, Name(called.base_name, at), context.scope)
        if isinstance(preparation, ir.Instruction) and preparation.kind == "model":
            made = ev.flat(preparation, at)
            if isinstance(made, dict):
                return _without_output(made)
    if isinstance(schema, dict) and "output" in mapping(schema.get("properties")):
        own = _without_output(schema)
        if own.get("properties"):
            return own
    return {"type": "object"}


def _without_output(schema: dict[str, Json]) -> dict[str, Json]:
    result = of_other_members(without(schema, "$schema", "$id", "title"), "output")
    return {**without(result, "required"), **{word: result[word] for word in result if word == "required"}}


def _output(schema: Json) -> Json:
    properties = mapping(schema.get("properties")) if isinstance(schema, dict) else {}
    return part_of(schema, properties["output"]) if isinstance(schema, dict) and "output" in properties else schema


def _named_argument(written: Written) -> Written:
    """Return an argument with its name: a bare name also names the argument, and a path does so by its last member."""
    match written:
        case Written(None, _, Name(text) as value):
            return Written(text, value.span, value)
        case Written(None, _, Access(_, (*_, last)) as value):
            return Written(last.text, value.span, value)
        case _:
            return written


def _placed(
    ev: Evaluation, given: CallInputs, bound: tuple[Written, ...], arguments: JsonObject, callee: str, within: Span
) -> bool:
    """Return whether each value that a program binds has an argument of its own, which a model cannot set."""
    known, others = mapping(arguments.get("properties")), arguments.get("additionalProperties")
    plain = {
        _named_argument(each).label: each.value for each in bound if each.label is None and not isinstance(each.value, Object)
    }
    placed = True
    for label in [each.label or "" for each in given.arguments if each.label is None or each.label not in known]:
        base = label if label in given.labels else label.partition(".")[0]
        value = plain.get(base or None)
        open_ = others is not False if isinstance(value, Name) else value is None and (bool(others) or not known)
        if open_ and base not in known:
            continue
        placed, at = False, given.labels.get(base, within if value is None else value.span)
        problem = unknown_argument(label, at, callee, tuple(known))
        by_label = value is None and base == label
        ev.report.add(problem if by_label else replace(problem, nearest=(), value=at.text))
    return placed


def _fit(ev: Evaluation, given: CallInputs, takes: JsonObject, callee: str, within: Span) -> bool:
    """Return whether a tool accepts the literals that a program passes; other values are recorded for a later check."""
    fits, known = True, mapping(takes.get("properties"))
    for each in given.arguments:
        if each.label is None or each.label not in known:
            continue
        label, schema, at = each.label, part_of(takes, known[each.label]), given.labels.get(each.label, within)
        if isinstance(each.value, Constant):
            fits = admits_literal(ev, schema, label, each.value.value, at, callee) and fits
        else:
            ev.passed.append(ir.TypedArgument(callee, label, each.value, schema, within, at))
    return fits


def _file_of(ev: Evaluation, called: ir.Instruction | CalledProgram) -> str | None:
    """Return the file of a process, resolved in its own roots: the caller's roots may have another file at this address."""
    if isinstance(called, CalledProgram):
        return called.file.path
    if called.uri is None:
        return None
    return ev.instructions.registry_of(called).load(called.uri.partition("#")[0]).source.name


def _target(
    ev: Evaluation, called: ir.Instruction | CalledProgram, file: str | None, at: Span, context: EvaluationContext
) -> str:
    """Return the address of a process relative to the compiled program."""
    target = called.uri or called.name if isinstance(called, ir.Instruction) else called.reference
    if file is None or not context.scope.program.calls:
        return target
    address = _address_from(ev.instructions.registry, target, file)  # named by a program that has its own roots
    if address is None:
        ev.report.add(problems.calls.ForeignProcess(at=at, word=target, path=file))
    return address or target


def _one_of(ev: Evaluation, call: Call, context: EvaluationContext, given: CallInputs) -> tuple[dict[str, Json], ir.Among] | None:
    if len(call.arguments) != 1 or call.arguments[0].label is not None:
        ev.report.add(problems.steps.NotAValue(at=call.span, word=call.span.text, choosing=True))
        return None
    written = call.arguments[0].value
    value = ev.value(written, context.inside())
    if isinstance(value, Data) and value.given:
        value = StepResult(path_of_constant(ev, value, context, written.span))
    if not isinstance(value, StepResult):
        if value is not None and value != Inner(mistaken=True):
            ev.report.add(problems.steps.NotAValue(at=written.span, word=written.span.text, choosing=True))
        return None
    given.chosen = (*given.chosen, value.path)
    return {}, ir.Among(value.path, written.span)


_SCHEME = "aug:"
_SHARED = "aug:/"


def _address_from(registry: Registry, target: str, file: str) -> str | None:
    """Return an address that leads to a file in these roots: the given one, one in the shared roots, or `None`."""
    shared = target if target.startswith(_SHARED) else _SHARED + target.removeprefix(_SCHEME)
    return next((address for address in (target, shared) if _leads_to(registry, address, file)), None)


def _leads_to(registry: Registry, address: str, file: str) -> bool:
    document = address.partition("#")[0]
    try:
        if registry.has(document):
            place = registry.peek(document).source.name
        else:
            program = registry.load_program(document)
            place = "" if program is None else program.path
    except InstrcError:
        return False
    return bool(place) and realpath(place) == realpath(file)
