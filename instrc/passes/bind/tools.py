"""`Plan(…)` and `OneOf(…)`: schemas that say what a model, or a person, may decide on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc import problems
from instrc.ir.graph import Among, Fusion, Instruction, Path, Planned, Slot, Tool
from instrc.ir.surface import Annotated, Call, Expression, Field, Name, Uri
from instrc.ir.surface import Argument as Written
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import equal
from instrc.naming import pascal
from instrc.passes.bind import programs
from instrc.passes.bind.names import Called, Program, Special
from instrc.passes.bind.values import EvaluationContext, Result
from instrc.passes.trampoline import Task
from instrc.problems.problem import CompileError
from instrc.problems.suggest import nearest
from instrc.schema.walk import rebuild
from instrc.source import Span

if TYPE_CHECKING:
    from instrc.passes.bind.calls import Given
    from instrc.passes.bind.evaluate import Evaluator

OUTCOMES: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "tool": {"type": "string"},
            "status": {"enum": ["ok", "failed", "skipped"]},
            "output": {},
            "error": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string"},
                    "code": {"type": ["string", "null"]},
                    "message": {"type": "string"},
                },
            },
        },
        "required": ["id", "tool", "status"],
    },
}
"""What `RunPlan_Activity` gives back: a result for each task, in the order of the plan."""
RUN_PLAN = Instruction("RunPlan_Activity", None, OUTCOMES)
_ID = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"
_PATH = r"^[A-Za-z][A-Za-z0-9_]{0,31}(\..+)?$"
_FROM: Json = {
    "description": "The output of another task, or a part of it; `each` makes a copy of this task for every element.",
    "anyOf": [
        {
            "type": "object",
            "properties": {word: {"type": "string", "pattern": _PATH}},
            "required": [word],
            "additionalProperties": False,
        }
        for word in ("from", "each")
    ],
}


def is_choice(expression: Expression, context: EvaluationContext) -> bool:
    """Tell whether an expression in braces is `Plan(…)` or `OneOf(…)`."""
    while isinstance(expression, Annotated):
        expression = expression.value
    return isinstance(expression, Call) and isinstance(expression.callee, Name) and _is_word(expression.callee, context)


def _is_word(name: Name, context: EvaluationContext) -> bool:
    if name.text not in {"Plan", "OneOf"} or context.find(name.text) is not None:
        return False
    return isinstance(context.names.program.meaning(name, context.names), Special)


def choice(ev: Evaluator, written: Field, expression: Expression, context: EvaluationContext, given: Given) -> Task[Slot | None]:
    """Make the slot of `Plan(…)` or `OneOf(…)`; what it needs is given to the step without being shown."""
    annotations: list[Json] = []
    while isinstance(expression, Annotated):
        said = expression.annotation
        annotations.insert(0, {"description": said} if isinstance(said, str) else said)
        expression = expression.value
    if not isinstance(expression, Call) or not isinstance(expression.callee, Name):
        return None
    make = _plan if expression.callee.text == "Plan" else _one_of
    made = yield make(ev, expression, context, given)
    if made is None:
        return None
    schema, engine = made
    content = Fusion(Instruction(expression.callee.text, None, schema), (), tuple(annotations), (), expression.span)
    return Slot(written.key, content, (), written.key_span, engine)


def _one_of(ev: Evaluator, call: Call, context: EvaluationContext, given: Given) -> Task[tuple[dict[str, Json], Among] | None]:
    if len(call.arguments) != 1 or call.arguments[0].label is not None:
        ev.report.add(problems.paths.NotAValue(at=call.span, word=call.span.text))
        return None
    written = call.arguments[0].value
    value = yield ev.value(written, context.inside())
    if not isinstance(value, Result):
        if value is not None:
            ev.report.add(problems.paths.NotAValue(at=written.span, word=written.span.text))
        return None
    given.chosen.append(value.path)
    return {}, Among(value.path, written.span)


def _plan(ev: Evaluator, call: Call, context: EvaluationContext, given: Given) -> Task[tuple[dict[str, Json], Planned] | None]:
    tools: dict[str, Tool] = {}
    complete = True
    for each in call.arguments:
        tool = yield _tool(ev, each, context)
        if tool is None:
            complete = False
        elif tool.name in tools:
            ev.report.add(problems.names.RepeatedName(at=each.value.span, word=tool.name, first=None))
            complete = False
        else:
            tools[tool.name] = tool
            given.needs += [argument.value for argument in tool.bound if isinstance(argument.value, Path)]
    if not call.arguments:
        ev.report.add(problems.plan_steps.NotForPlans(at=call.span, word="Plan()"))
        return None
    planned = Planned(tuple(tools.values()))
    return (plan_schema(planned.tools), planned) if complete else None


def _tool(ev: Evaluator, written: Written, context: EvaluationContext) -> Task[Tool | None]:
    """Read one tool: an activity or a process, and what the program gives to it."""
    expression = written.value
    bound: tuple[Written, ...] = ()
    if isinstance(expression, Call):
        bound = expression.arguments
        expression = expression.callee
    called: Called | None = None
    if isinstance(expression, Name):
        called = ev.callee(expression, context)
        if called is None:
            return None
    elif isinstance(expression, Uri):
        called = context.names.program.vibe(expression)
        if called is None:
            return None
    made = None
    if isinstance(called, Instruction):
        made = _described(ev, called, expression.span, context)
    elif isinstance(called, Program):
        inputs = programs.inputs_of(ev, called, expression.span, context)
        if inputs is None:
            return None
        made = {"type": "object", "properties": inputs, "required": list(inputs)}, {}, True
    if made is None:
        ev.report.add(problems.plan_steps.NotForPlans(at=written.value.span, word=expression.span.text))
        return None
    arguments, output, process = made
    from instrc.passes.bind.calls import collect  # calls hold choices

    known = arguments.get("properties", {})
    labelled = tuple(map(_named, bound))
    given = yield collect(ev, RUN_PLAN, labelled, context.inside())
    if not given.complete or called is None or isinstance(called, Special):
        return None
    segment = called.name if isinstance(called, Instruction) else called.file.segment
    closed = known and not arguments.get("additionalProperties")
    wrong = [each.label for each in bound if each.label is not None and closed and each.label not in known]
    for label in wrong:
        near = nearest(label, tuple(known))
        at = given.labels[label]
        ev.report.add(problems.plan_arguments.UnknownArgument(at=at, pointer="", callee=segment, argument=label, nearest=near))
    if wrong:
        return None
    name = pascal(segment) if process else segment
    target = segment
    if process:
        target = called.uri or segment if isinstance(called, Instruction) else called.reference
    return Tool(name, "process" if process else "activity", target, arguments, output, tuple(given.arguments))


def _named(written: Written) -> Written:
    """Return an argument under the name that it stands for: a bare name is that of the argument as well."""
    value = written.value
    if written.label is None and isinstance(value, Name):
        return Written(value.text, value.span, value)
    return written


def _described(
    ev: Evaluator, called: Instruction, at: Span, context: EvaluationContext
) -> tuple[dict[str, Json], Json, bool] | None:
    """Return the arguments of a tool, its output, and whether it is a process; `None` if it cannot be one."""
    schema = ev.flat(called, at)
    if called.kind == "server":
        return _arguments(ev, called, schema, at, context), _output(schema), False
    if called.kind != "model" or called.uri is None:
        return None
    try:
        entry = ev.instructions.entry(called)
    except CompileError:
        return None
    if entry is None or not isinstance(schema, dict):
        return None
    inputs = schema.get("inputs")
    properties = {"prompt": {"type": "string"}, **(inputs if isinstance(inputs, dict) else {})}
    properties.pop("called", None)  # the name that it was called by is the engine's to give
    if properties["prompt"] == {}:
        properties["prompt"] = {"type": "string"}
    return {"type": "object", "properties": properties, "required": list(properties)}, {}, True


def _arguments(ev: Evaluator, called: Instruction, schema: Json, at: Span, context: EvaluationContext) -> dict[str, Json]:
    """Return what an activity is called with: its preparation's schema, else its own beside `output`, else anything."""
    if ev.instructions.named(called.stem):
        preparation = context.names.program.instruction(Name(called.stem, at), context.names)
        if isinstance(preparation, Instruction) and preparation.kind == "model":
            made = ev.flat(preparation, at)
            if isinstance(made, dict):
                return _without(made, "output")
    if isinstance(schema, dict) and "output" in schema.get("properties", {}):
        own = _without(schema, "output")
        if own.get("properties"):
            return own
    return {"type": "object"}


def _without(schema: dict[str, Json], name: str) -> dict[str, Json]:
    made = {keyword: value for keyword, value in schema.items() if keyword not in {"$schema", "$id", "title"}}
    properties = {key: value for key, value in schema.get("properties", {}).items() if key != name}
    required = [key for key in schema.get("required", ()) if key != name]
    made.pop("required", None)
    return {**made, "properties": properties, **({"required": required} if required else {})}


def _output(schema: Json) -> Json:
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return properties.get("output", schema)


def with_shared_references(schema: Json) -> Json:
    """Return a schema with a plan in it so that what a task may take from others is said once, under `$defs`."""
    found = False

    def share(node: Json) -> Json:
        nonlocal found
        if isinstance(node, dict) and node.get("description") == _FROM["description"] and equal(node, _FROM):
            found = True
            return {"$ref": "#/$defs/from"}
        return node

    made = rebuild(schema, share)
    if not found or not isinstance(made, dict):
        return schema
    return {**made, "$defs": {**made.get("$defs", {}), "from": _FROM}}


def plan_schema(tools: tuple[Tool, ...]) -> dict[str, Json]:
    """Return the schema of a plan: a list of tasks, each for one of the tools, with the arguments that are the model's."""
    return {"type": "array", "items": {"anyOf": [_task(tool) for tool in tools]}, "$defs": {"from": _FROM}}


def _task(tool: Tool) -> Json:
    return {
        "type": "object",
        "properties": {
            "tool": {"const": tool.name},
            "id": {"type": "string", "pattern": _ID},
            "arguments": _open_to_others(tool),
            "after": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["tool", "id", "arguments"],
        "additionalProperties": False,
    }


def _open_to_others(tool: Tool) -> Json:
    """Return the arguments that are the model's; each may be the output of another task instead."""
    bound = {argument.label for argument in tool.bound}
    properties = tool.arguments.get("properties", {})
    if not properties:
        return tool.arguments
    mine = {name: schema for name, schema in properties.items() if name not in bound}
    required = [name for name in tool.arguments.get("required", ()) if name in mine]
    made = {keyword: value for keyword, value in tool.arguments.items() if keyword not in {"properties", "required", "$defs"}}
    made["properties"] = {name: {"anyOf": [schema, {"$ref": "#/$defs/from"}]} for name, schema in mine.items()}
    return {**made, **({"required": required} if required else {})}
