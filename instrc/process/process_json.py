"""The JSON of a process: read and write its contexts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final, cast

from msgspec import Struct, field, structs

from instrc.process import chunk_json, flow
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, mapping, optional_text, pointer
from instrc.text.limits import ELEMENTS, PROCESS_LEVELS, ROUNDS

PROCESS_CONTEXTS: Final = 200_000
"""Maximum contexts in one process."""
_NAME = rf"(?i)(llm|server|user|human|{'|'.join(flow.FORMS)})_?context_?\d*(?:_item\d+)?"  # compiled on first use
_EXECUTOR: dict[str, flow.Executor] = {"llm": "model", "server": "server", "user": "user", "human": "user"}
_DEFINITIONS = "#/$defs/"
_MAY_STOP: Json = ["object", "null"]
"""Type of the record of an element that may not be awaited."""
_NO_CONTEXT = "a context is called `llmContext1`, `serverContext1`, `eachContext1`"


def body_of(document: Json) -> flow.Body:
    """Return the contexts of a process; raise `UnreadableProcessError` if the document is not one."""
    properties = document.get("properties") if isinstance(document, dict) else None
    if not isinstance(properties, dict) or not properties:
        chunk_json.refuse_process("", "a process has a property for each context")
    for name in properties:
        if not is_context(name):
            chunk_json.refuse_process(pointer(("properties", name)), _NO_CONTEXT)
    if isinstance(document, dict) and "value" in document and not flow.is_value(document["value"]):
        chunk_json.refuse_process("/value", 'it is a path, `{ "const": … }`, or a list or an object of these')
    return _ProcessReader(document).read(properties)


def is_context(name: str) -> bool:
    """Return whether a property name of a process is that of a context."""
    return "context" in name.casefold() and re.fullmatch(_NAME, name) is not None


class _WrittenBody(Struct, frozen=True):
    """A body in the document: the engine property of its branch, its contexts, its place."""

    engine: JsonObject
    properties: JsonObject
    place: str
    frame: JsonObject | None = None
    """Schema around the contexts, unless it is the usual one."""


class _ProcessReader(Struct):
    """Parses one document; blocks are found from outside in and built from inside out, so that depth needs no stack."""

    document: Json
    parts: dict[str, list[_WrittenBody]] = field(default_factory=dict)
    """Bodies of each block, by its place."""
    made: dict[str, flow.Context] = field(default_factory=dict)

    def read(self, properties: JsonObject) -> flow.Body:
        engine = self.document if isinstance(self.document, dict) and "value" in self.document else {}
        whole = _WrittenBody(engine, properties, "/properties")
        found: list[tuple[str, JsonObject, str, str | None]] = []
        waiting = [whole]
        while waiting:
            part = waiting.pop()
            for name, written in part.properties.items():
                if not is_context(name):
                    continue
                place = f"{part.place}/{name}"
                schema = self.resolved(written, place)
                found.append((name, schema, place, self.definition(written)))
                if len(found) > PROCESS_CONTEXTS or place.count("/properties/") > PROCESS_LEVELS:
                    chunk_json.refuse_process("", f"its blocks contain themselves, or there are more than {PROCESS_CONTEXTS:,}")
                if _kind(name) not in _EXECUTOR:
                    self.parts[place] = list(self.bodies(_kind(name), schema, place))
                    waiting.extend(self.parts[place])
        for name, schema, place, definition in reversed(found):
            self.made[place] = self.context(name, schema, place, definition)
        return self.body(whole)

    def body(self, part: _WrittenBody) -> flow.Body:
        contexts = tuple(self.made[f"{part.place}/{name}"] for name in part.properties if is_context(name))
        _refuse_later(contexts, part.place)
        value, shows = (None if said is None else flow.value_of(said) for said in map(part.engine.get, ("value", "shows")))
        return flow.Body(self.paired(contexts, part.place), value, part.frame, shows)

    def paired(self, contexts: tuple[flow.Context, ...], place: str) -> tuple[flow.Context, ...]:
        """Connect each `repeat` with the context of its `else`."""
        others: dict[str, str] = {}
        for context in contexts:
            if isinstance(context, flow.Else) and others.setdefault(context.of, context.name) != context.name:
                chunk_json.refuse_process(
                    f"{place}/{context.name}", f"`{context.of}` has an `else` already, `{others[context.of]}`"
                )
        names = {context.name for context in contexts if isinstance(context, flow.Repeat)}
        for of, name in others.items():
            if of not in names:
                chunk_json.refuse_process(f"{place}/{name}", f"there is no `{of}` beside it")
        if not others:
            return contexts

        return tuple(
            structs.replace(context, otherwise=others[context.name])
            if isinstance(context, flow.Repeat) and context.name in others
            else context
            for context in contexts
        )

    def context(self, name: str, schema: JsonObject, place: str, definition: str | None) -> flow.Context:
        kind = _kind(name)
        if kind in _EXECUTOR:
            if not isinstance(schema.get("properties", {}), dict):
                chunk_json.refuse_process(f"{place}/properties", "it is an object of steps")
            return chunk_json.timed(
                chunk_json.read_chunk(name, _EXECUTOR[kind], schema, definition, partial(self.resolved, place=place)), place
            )
        for word in ("minItems", "maxItems"):
            if not chunk_json.is_count(schema.get(word, 0)):
                chunk_json.refuse_process(f"{place}/{word}", "it is a number of elements")
        about = chunk_json.about_of(kind, schema)
        bodies = [(part.engine, self.body(part)) for part in self.parts[place]]
        if kind == "else":
            return self.else_(name, bodies, place, about, definition)
        engine = chunk_json.engine_property(kind, "block", schema, place)
        common = flow.Common(
            key=optional_text(engine.get("key")),
            within=optional_text(engine.get("within")),
            delay=optional_text(engine.get("delay")),
            after=chunk_json.texts_of(engine.get("after")),
            about=about,
            definition=definition,
        )
        match kind:
            case "each":
                return self.each(name, schema, bodies[0][1], engine, place, common)
            case "repeat":
                return self.repeat(name, schema, bodies[0][1], engine, place, common)
            case _:
                return flow.branched(kind, name, chunk_json.branches_of(kind, bodies, place), common)

    def definition(self, written: Json) -> str | None:
        """Return the name of a context among the definitions, if it is just a reference to one."""
        match written:
            case {"$ref": str(reference), **others} if not others and reference.startswith(_DEFINITIONS):
                name = reference[len(_DEFINITIONS) :]
                found = self.document.get("$defs") if isinstance(self.document, dict) else None
                target = found.get(name) if isinstance(found, dict) else None
                plain = isinstance(target, dict) and "$ref" not in target
                return name if plain else None
            case _:
                return None

    def resolved(self, schema: Json, place: str) -> JsonObject:
        """Resolve references within the document at the top of a schema; keywords next to one apply as well."""
        try:
            return chunk_json.resolved(schema, self.document)
        except ValueError as error:
            chunk_json.refuse_process(place, str(error))

    def bodies(self, kind: str, schema: JsonObject, place: str) -> Iterator[_WrittenBody]:
        """Yield the bodies of a block as written in the document."""
        way = flow.FORMS[kind].bodies
        if way == "anyOf":
            listed = schema.get("anyOf")
            if not isinstance(listed, list):
                chunk_json.refuse_process(place, "its branches are in `anyOf`")
            number = 0
            for index, written in enumerate(listed):
                if not isinstance(written, dict) or written.get("type") != "null":
                    yield self.branch(written, kind, f"{place}/anyOf/{index}", number)
                    number += 1
        elif not way:
            yield self.part(schema, kind, place)
        else:
            engine, items = mapping(schema.get(kind)), schema.get(way)
            if kind == "each" and "until" in engine and isinstance(items, dict) and items.get("type") == _MAY_STOP:
                items = {**items, "type": "object"}
            yield structs.replace(self.part(items, kind, f"{place}/{way}"), engine=engine)

    def branch(self, written: Json, kind: str, place: str, number: int) -> _WrittenBody:
        """Return one of several bodies; a run records the number of the chosen one as `branch`."""
        part = self.part(written, kind, place, None if kind == "else" else number)
        chunk_json.engine_property(kind, "branch", {kind: part.engine}, place)
        said = mapping(part.properties.get("branch")).get("const")
        if kind != "else" and not (chunk_json.is_count(said) and said == number):
            where = f"{place}/properties/branch" if "branch" in part.properties else place
            chunk_json.refuse_process(
                where, f'it has a property `branch`, {{ "const": {number} }}, that tells which branch it is'
            )
        return part

    def part(self, written: Json, kind: str, place: str, branch: int | None = None) -> _WrittenBody:
        schema = self.resolved(written, place)
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            chunk_json.refuse_process(f"{place}/properties", "it is an object of contexts")
        for name in properties:
            if not is_context(name) and (branch is None or name != "branch"):
                chunk_json.refuse_process(place + pointer(("properties", name)), _NO_CONTEXT)
        if not isinstance(schema.get(kind, {}), dict):
            chunk_json.refuse_process(f"{place}/{kind}", "an engine property is an object")
        around = {word: each for word, each in schema.items() if word != kind}
        if not flow.FORMS[kind].bodies:
            around = {word: each for word, each in around.items() if word in flow.FORMS[kind].own}
        contexts = dict.fromkeys(filter(is_context, properties))
        frame = chunk_json.frame_of(around, contexts, None if branch is None else {"branch": {"const": branch}})
        return _WrittenBody(mapping(schema.get(kind)), properties, f"{place}/properties", frame)

    def each(
        self, name: str, schema: JsonObject, body: flow.Body, engine: JsonObject, place: str, common: flow.Common
    ) -> flow.Each:
        most, until = schema.get("maxItems"), engine.get("until")
        source = chunk_json.source_of(engine["in"])
        return flow.Each(
            name,
            str(engine["item"]),
            source,
            body,
            most if chunk_json.is_count(most) else ELEMENTS,
            least=chunk_json.least_of(schema),
            until=chunk_json.condition_of(until, place) if isinstance(until, dict) else None,
            selection=chunk_json.selection_of(engine, place),
            **common,
        )

    def repeat(
        self, name: str, schema: JsonObject, body: flow.Body, engine: JsonObject, place: str, common: flow.Common
    ) -> flow.Repeat:
        source = engine.get("in")
        most, keep, hands, until = schema.get("maxItems"), engine.get("keep"), engine.get("hands"), engine.get("until")
        return flow.Repeat(
            name,
            body,
            chunk_json.condition_of(until, place) if isinstance(until, dict) else None,
            optional_text(engine.get("item")),
            None if source is None else chunk_json.source_of(source),
            most if chunk_json.is_count(most) else ELEMENTS if source is not None else ROUNDS,
            keep if chunk_json.is_count(keep) else None,
            tuple(each for each in hands if isinstance(each, str)) if isinstance(hands, list) else None,
            None,
            least=chunk_json.least_of(schema),
            first=flow.value_of(engine["from"]) if "from" in engine else None,
            selection=chunk_json.selection_of(engine, place),
            **common,
        )

    def else_(
        self, name: str, bodies: list[chunk_json.BodyWithEngine], place: str, about: JsonObject | None, definition: str | None
    ) -> flow.Else:
        chunk_json.branches_of("else", bodies, place)
        [(engine, body)] = bodies
        return flow.Else(name, str(engine["of"]), body, about, definition)


def _refuse_later(contexts: tuple[flow.Context, ...], place: str) -> None:
    """Raise if a context must come after one that does not precede it."""
    known: set[str] = set()
    for context in contexts:
        steps = context.steps if isinstance(context, flow.Chunk) else ()
        if isinstance(context, flow.Chunk) and context.executor != "server":
            known |= {step.key for step in steps}  # the steps of a form begin together
        for each in steps or (context,):
            after = each.after if isinstance(each, flow.Step) else flow.afters_of(each)
            if strange := next((name for name in after if name not in known), None):
                where = pointer((context.name, *(("properties", each.key) if isinstance(each, flow.Step) else ())))
                chunk_json.refuse_process(
                    f"{place}{where}", f"nothing before it in its body has the name `{strange}`, which it is `after`"
                )
            key = each.key if isinstance(each, flow.Step) else getattr(each, "key", None)
            known |= {key} if key is not None else set()
        known.add(context.name)


def _kind(name: str) -> str:
    return cast("re.Match[str]", re.fullmatch(_NAME, name))[1].lower()


class ContextsJson(Struct, frozen=True):
    """The contexts of a process as JSON: the properties of its root, and its definitions in order."""

    properties: JsonObject
    definitions: JsonObject


def write_contexts(body: flow.Body) -> ContextsJson:
    """Return the contexts of the outermost body and all nested ones."""
    order = list(flow.all_contexts(body))
    definitions: JsonObject = {each.definition: None for each in order if each.definition is not None}
    written: dict[int, JsonObject] = {}
    for context in reversed(order):  # outer parts first, to avoid recursion
        written[id(context)] = _context(context, written)
        if context.definition is not None:
            definitions[context.definition] = written[id(context)]
    return ContextsJson(_properties(body, written), definitions)


def _context(context: flow.Context, made: dict[int, JsonObject]) -> JsonObject:
    match context:
        case flow.Chunk():
            return chunk_json.write_chunk(context)
        case flow.Do(body=body):
            own: JsonObject = {**_body(body, made), "do": {**_value(body), **_common(context)}}
        case flow.Else(of=of, body=body):
            own = {"anyOf": [{**_body(body, made), "else": {"of": of, **_value(body)}}, {"type": "null"}]}
        case flow.Each():
            own = _each(context, made)
        case flow.Repeat():
            own = _repeat(context, made)
        case _:
            own = _branches(context, made)
    return own if context.about is None else {**context.about, **own, **context.about}


def _body(body: flow.Body, made: dict[int, JsonObject], branch: int | None = None) -> JsonObject:
    properties = _properties(body, made)
    if branch is not None and body.frame is None:
        properties = {"branch": {"const": branch}, **properties}
    return flow.framed(body.frame, properties)


def _properties(body: flow.Body, made: dict[int, JsonObject]) -> JsonObject:
    return {
        each.name: made[id(each)] if each.definition is None else {"$ref": f"#/$defs/{each.definition}"} for each in body.contexts
    }


def _value(body: flow.Body) -> JsonObject:
    parts = {"value": body.value, "shows": body.shows}
    return {word: flow.written_value(value) for word, value in parts.items() if value is not None}


def _common(block: flow.KeyedBlock) -> JsonObject:
    """Return the properties common to all blocks: deadline, delay, key."""
    written: JsonObject = {"after": [*block.after]} if block.after else {}
    if block.within is not None:
        written["within"] = block.within
    if block.delay is not None:
        written["delay"] = block.delay
    if block.key is not None:
        written["key"] = block.key
    return written


def _each(block: flow.Each, made: dict[int, JsonObject]) -> JsonObject:
    until: JsonObject = {} if block.until is None else {"until": _condition(block.until)}
    engine = {
        "item": block.item,
        "in": _source(block.source),
        **_selection(block.selection),
        **until,
        **_value(block.body),
        **_common(block),
    }
    items = _body(block.body, made)
    if block.until is not None:
        items = {**items, "type": _MAY_STOP}  # an element that nothing waits for has no record
    return {"type": "array", "items": items, **_limits(block), "each": engine}


def _condition(condition: flow.Condition) -> JsonObject:
    cases: list[JsonObject] = []
    for case in condition.alternatives:
        tests = [_test(condition, number) for number in case if number - 1 not in condition.compared]
        cases.append(tests[0] if len(tests) == 1 else {"allOf": [*tests]})
    return cases[0] if len(cases) == 1 else {"anyOf": [*cases]}


def _test(condition: flow.Condition, number: int) -> JsonObject:
    read, schema = condition.tests[number]
    if number in condition.compared:
        return {"path": read.text, condition.compared[number]: condition.tests[number + 1][0].text}
    return {"path": read.text, "schema": schema}


def _source(source: flow.Value) -> Json:
    return (
        source.value if isinstance(source, flow.Constant) and isinstance(source.value, int | list) else flow.written_value(source)
    )


def _selection(chosen: flow.Selection | None) -> JsonObject:
    """Return the properties that select the elements that a block runs for."""
    written: JsonObject = {}
    if chosen is not None and chosen.condition is not None:
        written["when"] = _condition(chosen.condition)
    if chosen is not None:
        numbers = {"max": chosen.most, "first": chosen.first}
        written |= {word: _source(value) for word, value in numbers.items() if value is not None}
    return written


def _limits(block: flow.Each | flow.Repeat) -> JsonObject:
    return {**({} if block.least is None else {"minItems": block.least}), "maxItems": block.most}


def _repeat(block: flow.Repeat, made: dict[int, JsonObject]) -> JsonObject:
    engine: JsonObject = {}
    if block.item is not None:
        engine["item"] = block.item
    if block.source is not None:
        engine |= {"in": _source(block.source), **_selection(block.selection)}
    if block.first is not None:
        engine["from"] = flow.written_value(block.first)
    if block.until is not None:
        engine["until"] = _condition(block.until)
    if block.keep is not None:
        engine["keep"] = block.keep
    if block.hands is not None:
        engine["hands"] = list(block.hands)
    engine |= {**_value(block.body), **_common(block)}
    return {"type": "array", "items": _body(block.body, made), **_limits(block), "repeat": engine}


def _branches(block: flow.KeyedBlock, made: dict[int, JsonObject]) -> JsonObject:
    """Return a block whose bodies are in `anyOf`, with `null` if possibly none runs."""
    word = flow.word_of(block)
    listed: JsonArray = []
    for number, part in enumerate(flow.parts_of(block)):
        condition = {} if part.condition is None else _condition(part.condition)
        listed.append({**_body(part.body, made, number), word: {**condition, **_value(part.body)}})
    if flow.gives(block).null:
        listed.append({"type": "null"})
    return {"anyOf": listed, word: _common(block)}


def references_to(contexts: tuple[flow.Context, ...]) -> JsonObject:
    """Return contexts among the definitions as properties of the enclosing body."""
    return {each.name: {"$ref": f"#/$defs/{each.definition}"} for each in contexts}


def write_block(block: flow.Block) -> JsonObject:
    """Return the schema of a block whose contexts are among the definitions."""
    return _context(block, {})


CONTEXT: dict[flow.Executor, str] = {"model": "llmContext", "server": "serverContext", "user": "userContext"}
"""Prefix of a chunk's property name in a process."""
CHUNK: dict[flow.Executor, str] = {"model": "LLM", "server": "SERVER", "user": "USER"}
"""Prefix of a chunk's name among the definitions."""
