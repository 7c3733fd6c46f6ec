"""From the parts of a process to its JSON: the one place that says how contexts, blocks and steps are written."""

from __future__ import annotations

from msgspec import Struct

from instrc.ir.chunk_json import write_chunk
from instrc.ir.flow import Block, Body, Branch, Condition, Context, Do, Each, Else, Repeat, Try, When, bodies_of
from instrc.ir.reads import Constant, Value, written_value
from instrc.ir.steps import Chunk, framed
from instrc.jsonvalue import Json, JsonArray, JsonObject


class ContextsJson(Struct, frozen=True):
    """The contexts of a process: the properties of its root, and its definitions in order."""

    properties: JsonObject
    definitions: JsonObject


def write_contexts(body: Body) -> ContextsJson:
    """Return the contexts of the outermost body and all that is in them."""
    order: list[Context] = []
    waiting = list(reversed(body.contexts))
    while waiting:
        context = waiting.pop()
        order.append(context)
        for inner in reversed(bodies_of(context)):
            waiting.extend(reversed(inner.contexts))
    definitions: JsonObject = {each.definition: None for each in order if each.definition is not None}
    made: dict[int, JsonObject] = {}
    for context in reversed(order):  # what is inside comes after what is around it, so that depth costs no stack
        made[id(context)] = _context(context, made)
        if context.definition is not None:
            definitions[context.definition] = made[id(context)]
    return ContextsJson(_properties(body, made), definitions)


def references_to(contexts: tuple[Context, ...]) -> JsonObject:
    """Return contexts that stand among the definitions as the properties of the body around them."""
    return {each.name: {"$ref": f"#/$defs/{each.definition}"} for each in contexts}


def write_block(block: Block) -> JsonObject:
    """Return the schema of a block whose contexts stand among the definitions."""
    return _context(block, {})


def _properties(body: Body, made: dict[int, JsonObject]) -> JsonObject:
    return {
        each.name: made[id(each)] if each.definition is None else {"$ref": f"#/$defs/{each.definition}"} for each in body.contexts
    }


def _context(context: Context, made: dict[int, JsonObject]) -> JsonObject:
    match context:
        case Do(body=body):
            own: JsonObject = {**_body(body, made), "do": {**_value(body.value), **_common(context)}}
        case Chunk():
            return write_chunk(context)
        case When(branches=branches):
            listed: JsonArray = [_branch(number, branch, made) for number, branch in enumerate(branches)]
            if not branches or branches[-1].condition is not None:
                listed.append({"type": "null"})
            own = {"anyOf": listed, "when": _common(context)}
        case Try(body=body, otherwise=otherwise):
            tried: JsonArray = [
                {**_body(each, made, number), "try": _value(each.value)} for number, each in enumerate((body, otherwise))
            ]
            own = {"anyOf": tried, "try": _common(context)}
        case Else(of=of, body=body):
            own = {"anyOf": [{**_body(body, made), "else": {"of": of, **_value(body.value)}}, {"type": "null"}]}
        case Each():
            own = _each(context, made)
        case Repeat():
            own = _repeat(context, made)
    return own if context.about is None else {**context.about, **own, **context.about}


def _branch(number: int, branch: Branch, made: dict[int, JsonObject]) -> JsonObject:
    condition = {} if branch.condition is None else _condition(branch.condition)
    return {**_body(branch.body, made, number), "when": {**condition, **_value(branch.body.value)}}


def _body(body: Body, made: dict[int, JsonObject], branch: int | None = None) -> JsonObject:
    properties = _properties(body, made)
    if branch is not None and body.frame is None:
        properties = {"branch": {"const": branch}, **properties}
    return framed(body.frame, properties)


def _each(block: Each, made: dict[int, JsonObject]) -> JsonObject:
    engine = {"item": block.item, "in": _source(block.source), **_value(block.body.value), **_common(block)}
    return {"type": "array", "items": _body(block.body, made), **_limits(block), "each": engine}


def _repeat(block: Repeat, made: dict[int, JsonObject]) -> JsonObject:
    engine: JsonObject = {}
    if block.item is not None:
        engine["item"] = block.item
    if block.source is not None:
        engine["in"] = _source(block.source)
    if block.until is not None:
        engine["until"] = _condition(block.until)
    if block.keep is not None:
        engine["keep"] = block.keep
    if block.hands is not None:
        engine["hands"] = list(block.hands)
    engine |= {**_value(block.body.value), **_common(block)}
    return {"type": "array", "items": _body(block.body, made), **_limits(block), "repeat": engine}


def _limits(block: Each | Repeat) -> JsonObject:
    return {**({} if block.least is None else {"minItems": block.least}), "maxItems": block.most}


def _common(block: When | Each | Repeat | Try | Do) -> JsonObject:
    """Return what any block may say: its deadline, its delay, its key."""
    said: JsonObject = {}
    if block.within is not None:
        said["within"] = block.within
    if block.delay is not None:
        said["delay"] = block.delay
    if block.key is not None:
        said["key"] = block.key
    return said


def _value(value: Value | None) -> JsonObject:
    return {} if value is None else {"value": written_value(value)}


def _source(source: Value) -> Json:
    return source.value if isinstance(source, Constant) and isinstance(source.value, int | list) else written_value(source)


def _condition(condition: Condition) -> JsonObject:
    tests: list[JsonObject] = [{"path": read.text, "schema": schema} for read, schema in condition.tests]
    return tests[0] if len(tests) == 1 else {"anyOf": [*tests]}
