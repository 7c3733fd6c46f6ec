"""From the JSON of a process to its parts: all spellings, those written by hand included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from instrc.ir.block_json import (
    OWN,
    BodyWithEngine,
    Common,
    about_of,
    condition_of,
    engine_property,
    is_branch,
    least_of,
    refuse_process,
    source_of,
    timed,
    when_branches,
)
from instrc.ir.chunk_json import frame_of, is_count, read_chunk, resolved
from instrc.ir.executors import Executor
from instrc.ir.flow import Body, Context, Do, Each, Else, Repeat, Try, When
from instrc.ir.reads import is_value, value_of
from instrc.jsonvalue import Json, JsonObject, mapping, optional_text, pointer
from instrc.limits.programs import ELEMENTS, PROCESS_CONTEXTS, PROCESS_LEVELS, ROUNDS

_NAME = r"(?i)(llm|server|user|human|when|each|repeat|try|do|else)_?context_?\d*(?:_item\d+)?"  # compiled when it is needed
_EXECUTOR: dict[str, Executor] = {"llm": "model", "server": "server", "user": "user", "human": "user"}
_DEFINITIONS = "#/$defs/"
_NO_CONTEXT = "a context is called `llmContext1`, `serverContext1`, `eachContext1`"


def _kind(name: str) -> str:
    return cast("re.Match[str]", re.fullmatch(_NAME, name))[1].lower()


def is_context(name: str) -> bool:
    """Tell whether a property of a process is called as a context is."""
    return "context" in name.casefold() and re.fullmatch(_NAME, name) is not None


def body_of(document: Json) -> Body:
    """Return the contexts of a process; `UnreadableProcessError` says why a document is none."""
    properties = document.get("properties") if isinstance(document, dict) else None
    if not isinstance(properties, dict) or not properties:
        refuse_process("", "a process has a property for each context")
    for name in properties:
        if not is_context(name):
            refuse_process(pointer(("properties", name)), _NO_CONTEXT)
    if isinstance(document, dict) and "value" in document and not is_value(document["value"]):
        refuse_process("/value", 'it is a path, `{ "const": … }`, or a list or an object of these')
    return _ProcessReader(document).read(properties)


class _WrittenBody(Struct, frozen=True):
    """A body as it is written: the engine property of its branch, its contexts, its place."""

    engine: JsonObject
    properties: JsonObject
    place: str
    frame: JsonObject | None = None
    """The schema around the contexts, unless it is as usual."""


class _ProcessReader(Struct):
    """The reading of one document; blocks are found from outside in and made from inside out, so that depth costs no stack."""

    document: Json
    parts: dict[str, list[_WrittenBody]] = field(default_factory=dict)
    """The bodies of each block, by its place."""
    made: dict[str, Context] = field(default_factory=dict)

    def read(self, properties: JsonObject) -> Body:
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
                    refuse_process("", f"its blocks hold themselves, or are more than {PROCESS_CONTEXTS:,}")
                if _kind(name) not in _EXECUTOR:
                    self.parts[place] = list(self.bodies(_kind(name), schema, place))
                    waiting.extend(self.parts[place])
        for name, schema, place, definition in reversed(found):
            self.made[place] = self.context(name, schema, place, definition)
        return self.body(whole)

    def body(self, part: _WrittenBody) -> Body:
        contexts = tuple(self.made[f"{part.place}/{name}"] for name in part.properties if is_context(name))
        value = part.engine.get("value")
        return Body(self.paired(contexts, part.place), None if value is None else value_of(value), part.frame)

    def paired(self, contexts: tuple[Context, ...], place: str) -> tuple[Context, ...]:
        """Tell each `repeat` which context is its `else`."""
        others: dict[str, str] = {}
        for context in contexts:
            if isinstance(context, Else) and others.setdefault(context.of, context.name) != context.name:
                refuse_process(f"{place}/{context.name}", f"`{context.of}` has an `else` already, `{others[context.of]}`")
        names = {context.name for context in contexts if isinstance(context, Repeat)}
        for of, name in others.items():
            if of not in names:
                refuse_process(f"{place}/{name}", f"there is no `{of}` beside it")
        if not others:
            return contexts

        return tuple(
            replace(context, otherwise=others[context.name])
            if isinstance(context, Repeat) and context.name in others
            else context
            for context in contexts
        )

    def context(self, name: str, schema: JsonObject, place: str, definition: str | None) -> Context:
        kind = _kind(name)
        if kind in _EXECUTOR:
            if not isinstance(schema.get("properties", {}), dict):
                refuse_process(f"{place}/properties", "it is an object of steps")
            return timed(read_chunk(name, _EXECUTOR[kind], schema, definition, partial(self.resolved, place=place)), place)
        for word in ("minItems", "maxItems"):
            if not is_count(schema.get(word, 0)):
                refuse_process(f"{place}/{word}", "it is a number of elements")
        about = about_of(kind, schema)
        bodies = [(part.engine, self.body(part)) for part in self.parts[place]]
        if kind == "else":
            return self.else_(name, bodies, place, about, definition)
        engine = engine_property(kind, "block", schema, place)
        common = (
            optional_text(engine.get("key")),
            optional_text(engine.get("within")),
            optional_text(engine.get("delay")),
            about,
            definition,
        )
        match kind:
            case "when":
                return When(name, when_branches(bodies, place), *common)
            case "try":
                if len(bodies) != 2:
                    refuse_process(place, "a `try` has two branches")
                return Try(name, bodies[0][1], bodies[1][1], *common)
            case "each":
                return self.each(name, schema, bodies[0][1], engine, common)
            case "repeat":
                return self.repeat(name, schema, bodies[0][1], engine, place, common)
            case _:
                return Do(name, bodies[0][1], *common)

    def definition(self, written: Json) -> str | None:
        """Return what a context is called among the definitions, if it does nothing but refer to it."""
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
        """Follow references within the document from the top of a schema; what stands beside one counts as well."""
        try:
            return resolved(schema, self.document)
        except ValueError as error:
            refuse_process(place, str(error))

    # --- blocks -------------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str, schema: JsonObject, place: str) -> Iterator[_WrittenBody]:
        """Yield the bodies of a block as they are written."""
        if kind in {"when", "try", "else"}:
            listed = schema.get("anyOf")
            if not isinstance(listed, list):
                refuse_process(place, "its branches stand in `anyOf`")
            number = 0
            for index, written in enumerate(listed):
                if not isinstance(written, dict) or written.get("type") != "null":
                    yield self.branch(written, kind, f"{place}/anyOf/{index}", number)
                    number += 1
        elif kind == "do":
            yield self.part(schema, kind, place)
        else:
            yield replace(self.part(schema.get("items"), kind, f"{place}/items"), engine=mapping(schema.get(kind)))

    def branch(self, written: Json, kind: str, place: str, number: int) -> _WrittenBody:
        """Return one of several bodies, of which a run records by `branch` which one it was."""
        part = self.part(written, kind, place, None if kind == "else" else number)
        engine_property(kind, "branch", {kind: part.engine}, place)
        said = part.properties.get("branch")
        if kind != "else" and not (isinstance(said, dict) and is_branch(said.get("const"), number)):
            where = f"{place}/properties/branch" if "branch" in part.properties else place
            refuse_process(where, f'it has a property `branch`, {{ "const": {number} }}, that tells which branch it is')
        return part

    def part(self, written: Json, kind: str, place: str, branch: int | None = None) -> _WrittenBody:
        schema = self.resolved(written, place)
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            refuse_process(f"{place}/properties", "it is an object of contexts")
        for name in properties:
            if not is_context(name) and (branch is None or name != "branch"):
                refuse_process(place + pointer(("properties", name)), _NO_CONTEXT)
        if not isinstance(schema.get(kind, {}), dict):
            refuse_process(f"{place}/{kind}", "an engine property is an object")
        around = {word: each for word, each in schema.items() if word != kind}
        if kind == "do":
            around = {word: each for word, each in around.items() if word in OWN["do"]}
        contexts = dict.fromkeys(filter(is_context, properties))
        frame = frame_of(around, contexts, None if branch is None else {"branch": {"const": branch}})
        return _WrittenBody(mapping(schema.get(kind)), properties, f"{place}/properties", frame)

    def each(self, name: str, schema: JsonObject, body: Body, engine: JsonObject, common: Common) -> Each:
        most = schema.get("maxItems")
        source = source_of(engine["in"])
        return Each(name, str(engine["item"]), source, body, most if is_count(most) else ELEMENTS, *common, least_of(schema))

    def repeat(self, name: str, schema: JsonObject, body: Body, engine: JsonObject, place: str, common: Common) -> Repeat:
        source = engine.get("in")
        most, keep, hands, until = schema.get("maxItems"), engine.get("keep"), engine.get("hands"), engine.get("until")
        return Repeat(
            name,
            body,
            condition_of(until, place) if isinstance(until, dict) else None,
            optional_text(engine.get("item")),
            None if source is None else source_of(source),
            most if is_count(most) else ELEMENTS if source is not None else ROUNDS,
            keep if is_count(keep) else None,
            tuple(each for each in hands if isinstance(each, str)) if isinstance(hands, list) else None,
            None,
            *common,
            least_of(schema),
        )

    def else_(
        self, name: str, bodies: list[BodyWithEngine], place: str, about: JsonObject | None, definition: str | None
    ) -> Else:
        if len(bodies) != 1:
            refuse_process(f"{place}/anyOf", "an `else` has one branch beside `null`")
        [(engine, body)] = bodies
        return Else(name, str(engine["of"]), body, about, definition)
