"""From the JSON of a process to its parts: all spellings, those written by hand included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn, TypeAlias, cast

from msgspec.structs import replace

from instrc.ir.flow import (
    Among,
    Body,
    Branch,
    Chunk,
    Condition,
    Context,
    Do,
    Each,
    Else,
    Executor,
    Loop,
    Planned,
    Repeat,
    Step,
    Try,
    When,
)
from instrc.ir.reads import Constant, Read, Value, reads_of, value_of
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import at

LIMIT = 1000
"""Elements of an `each` where none is given."""
ROUNDS = 3
"""Rounds of a `repeat` and of a loop inside one model call where no number is given."""

_NAME = r"(?i)(llm|server|user|human|when|each|repeat|try|do|else)_?context_?\d*(?:_item\d+)?"  # compiled when it is needed
_EXECUTOR: dict[str, Executor] = {"llm": "model", "server": "server", "user": "user", "human": "user"}
_DEEPEST = 1000
_MOST = 200_000
"""Contexts of one process."""


class UnreadableProcessError(ValueError):
    """Something that is no process: `pointer` leads to the part that shows it, `reason` is a short clause."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{reason} at {pointer or '/'}")
        self.pointer = pointer
        self.reason = reason


def _refuse(pointer: str, reason: str) -> NoReturn:
    raise UnreadableProcessError(pointer, reason)


def _kind(name: str) -> str:
    return cast("re.Match[str]", re.fullmatch(_NAME, name))[1].lower()


def is_context(name: str) -> bool:
    """Tell whether a property of a process is called as a context is."""
    return re.fullmatch(_NAME, name) is not None


def body_of(document: Json) -> Body:
    """Return the contexts of a process; `UnreadableProcessError` says why a document is none."""
    properties = document.get("properties") if isinstance(document, dict) else None
    if not isinstance(properties, dict) or not properties:
        _refuse("", "a process has a property for each context")
    for name in properties:
        if not is_context(name):
            _refuse(f"/properties/{name}", "a context is called `llmContext1`, `serverContext1`, `eachContext1`")
    return _Reader(document).read(properties)


class _Part(NamedTuple):
    """A body as it is written: the engine property of its branch, its contexts, its place."""

    engine: dict[str, Json]
    properties: dict[str, Json]
    place: str


@dataclass(slots=True)
class _Reader:
    """The reading of one document; blocks are found from outside in and made from inside out, so that depth costs no stack."""

    document: Json
    parts: dict[str, list[_Part]] = field(default_factory=dict)
    """The bodies of each block, by its place."""
    made: dict[str, Context] = field(default_factory=dict)

    def read(self, properties: dict[str, Json]) -> Body:
        engine = self.document if isinstance(self.document, dict) and "value" in self.document else {}
        whole = _Part(engine, properties, "/properties")
        found: list[tuple[str, dict[str, Json], str]] = []
        waiting = [whole]
        while waiting:
            part = waiting.pop()
            for name, written in part.properties.items():
                if not is_context(name):
                    continue
                place = f"{part.place}/{name}"
                schema = self.resolved(written, place)
                found.append((name, schema, place))
                if len(found) > _MOST or place.count("/properties/") > _DEEPEST:
                    _refuse("", f"its blocks hold themselves, or are more than {_MOST:,}")
                if _kind(name) not in _EXECUTOR:
                    self.parts[place] = list(self.bodies(_kind(name), schema, place))
                    waiting.extend(self.parts[place])
        for name, schema, place in reversed(found):
            self.made[place] = self.context(name, schema, place)
        return self.body(whole)

    def body(self, part: _Part) -> Body:
        contexts = tuple(self.made[f"{part.place}/{name}"] for name in part.properties if is_context(name))
        value = part.engine.get("value")
        return Body(self.paired(contexts, part.place), None if value is None else value_of(value))

    def paired(self, contexts: tuple[Context, ...], place: str) -> tuple[Context, ...]:
        """Tell each `repeat` which context is its `else`."""
        others = {context.of: context.name for context in contexts if isinstance(context, Else)}
        names = {context.name for context in contexts if isinstance(context, Repeat)}
        for of, name in others.items():
            if of not in names:
                _refuse(f"{place}/{name}", f"there is no `{of}` beside it")
        if not others:
            return contexts

        return tuple(
            replace(context, otherwise=others[context.name])
            if isinstance(context, Repeat) and context.name in others
            else context
            for context in contexts
        )

    def context(self, name: str, schema: dict[str, Json], place: str) -> Context:
        kind = _kind(name)
        if kind in _EXECUTOR:
            return self.chunk(name, _EXECUTOR[kind], schema, place)
        bodies = [(part.engine, self.body(part)) for part in self.parts[place]]
        if kind == "else":
            return self.else_(name, bodies, place)
        engine = schema.get(kind)
        if not isinstance(engine, dict):
            _refuse(place, f"the engine property `{kind}` is missing")
        if kind == "when":
            return self.when(name, bodies, engine, place)
        if kind == "try":
            return self.try_(name, bodies, engine, place)
        if kind == "each":
            return self.each(name, schema, bodies[0][1], engine, place)
        if kind == "repeat":
            return self.repeat(name, schema, bodies[0][1], engine, place)
        return Do(name, bodies[0][1], *_common(engine))

    def resolved(self, schema: Json, place: str) -> dict[str, Json]:
        """Follow references within the document from the top of a schema; what stands beside one counts as well."""
        beside: dict[str, Json] = {}
        for _ in range(100):
            if not isinstance(schema, dict):
                break
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                return {**schema, **beside} if beside else schema
            beside = {**{key: value for key, value in schema.items() if key != "$ref"}, **beside}
            try:
                schema = at(self.document, reference[1:])
            except (LookupError, ValueError):
                _refuse(place, f"`{reference}` leads nowhere")
        _refuse(place, "it is not an object")

    # --- chunks -------------------------------------------------------------------------------------------------------------

    def chunk(self, name: str, executor: Executor, schema: dict[str, Json], place: str) -> Chunk:
        properties = schema.get("properties")
        if properties is not None and not isinstance(properties, dict):
            _refuse(f"{place}/properties", "it is an object of steps")
        steps = tuple(self.step(key, each, executor, f"{place}/{key}") for key, each in (properties or {}).items())
        loops = tuple(self.loops(schema)) if executor == "model" else ()
        return Chunk(name, executor, schema, steps, loops)

    def step(self, key: str, written: Json, executor: Executor, place: str) -> Step:
        if not isinstance(written, dict):
            return Step(key, written)
        schema = self.resolved(written, place) if isinstance(written.get("$ref"), str) else written
        references: dict[Read, None] = {}
        among: list[Among] = []
        plans: list[Planned] = []
        for names, node in self.slots(schema):
            references |= dict.fromkeys(_references(node))
            if isinstance(node.get("among"), str):
                among.append(Among(names, Read.parse(node["among"])))
            if _is_plan(node.get("plan")) and (names or executor != "server"):
                plans.append(Planned(names, node["plan"]["tools"]))
        written_arguments = schema.get("arguments")
        arguments = None if written_arguments is None else value_of(written_arguments)
        if not references:
            references = dict.fromkeys(reads_of(arguments))
        return Step(
            key,
            schema,
            tuple(references),
            arguments,
            _text(schema.get("activity")),
            schema.get("fail") is True,
            _text(schema.get("within")),
            _text(schema.get("delay")),
            schema["plan"]["tools"] if executor == "server" and _is_plan(schema.get("plan")) else None,
            tuple(among),
            tuple(plans),
        )

    def slots(self, schema: Json) -> Iterator[tuple[tuple[str, ...], dict[str, Json]]]:
        """Yield a step's schema and the properties in it, at every depth, with the names that lead there."""
        waiting: list[tuple[tuple[str, ...], Json]] = [((), schema)]
        while waiting:
            names, node = waiting.pop()
            if not isinstance(node, dict) or len(names) > _DEEPEST:
                continue
            yield names, node
            below: list[tuple[tuple[str, ...], Json]] = []
            branches = node.get("allOf")
            for part in (node, *(branches if isinstance(branches, list) else ())):
                properties = part.get("properties") if isinstance(part, dict) else None
                if isinstance(properties, dict):
                    below += [((*names, name), child) for name, child in properties.items()]
            waiting.extend(reversed(below))

    def loops(self, schema: Json) -> Iterator[Loop]:
        for names, node in self.slots(schema):
            properties = node.get("properties")
            if isinstance(properties, dict) and "_iteration" in properties and "_continue" in properties:
                bound = properties["_iteration"]
                most = bound.get("maximum") if isinstance(bound, dict) else None
                yield Loop(names, most if isinstance(most, int) and _is_count(most) else ROUNDS)

    # --- blocks -------------------------------------------------------------------------------------------------------------

    def bodies(self, kind: str, schema: dict[str, Json], place: str) -> Iterator[_Part]:
        """Yield the bodies of a block as they are written."""
        if kind in {"when", "try", "else"}:
            listed = schema.get("anyOf")
            if not isinstance(listed, list):
                _refuse(place, "its branches stand in `anyOf`")
            for index, written in enumerate(listed):
                if not isinstance(written, dict) or written.get("type") != "null":
                    yield self.part(written, kind, f"{place}/anyOf/{index}")
        elif kind == "do":
            yield self.part(schema, kind, place)
        else:
            yield self.part(schema.get("items"), kind, f"{place}/items")._replace(engine=_object(schema.get(kind)))

    def part(self, written: Json, kind: str, place: str) -> _Part:
        schema = self.resolved(written, place)
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            _refuse(f"{place}/properties", "it is an object of contexts")
        return _Part(_object(schema.get(kind)), properties, f"{place}/properties")

    def when(self, name: str, bodies: list[_Bodies], engine: dict[str, Json], place: str) -> When:
        branches = [Branch(_condition(each, place) if "path" in each or "anyOf" in each else None, body) for each, body in bodies]
        return When(name, tuple(branches), *_common(engine))

    def each(self, name: str, schema: dict[str, Json], body: Body, engine: dict[str, Json], place: str) -> Each:
        item, source = engine.get("item"), engine.get("in")
        if not isinstance(item, str) or source is None:
            _refuse(f"{place}/each", "it says the name of an element (`item`) and the list (`in`)")
        most = schema.get("maxItems")
        return Each(name, item, _source(source), body, most if _is_count(most) else LIMIT, *_common(engine))

    def repeat(self, name: str, schema: dict[str, Json], body: Body, engine: dict[str, Json], place: str) -> Repeat:
        source = engine.get("in")
        most = schema.get("maxItems")
        hands = engine.get("hands")
        return Repeat(
            name,
            body,
            _condition(engine["until"], place) if isinstance(engine.get("until"), dict) else None,
            _text(engine.get("item")),
            None if source is None else _source(source),
            most if _is_count(most) else LIMIT if source is not None else ROUNDS,
            engine["keep"] if _is_count(engine.get("keep")) else None,
            tuple(each for each in hands if isinstance(each, str)) if isinstance(hands, list) else None,
            None,
            *_common(engine),
        )

    def else_(self, name: str, bodies: list[_Bodies], place: str) -> Else:
        for engine, body in bodies:
            if isinstance(engine.get("of"), str):
                return Else(name, engine["of"], body)
        _refuse(place, "it says of which `repeat` it is the `else`")

    def try_(self, name: str, bodies: list[_Bodies], engine: dict[str, Json], place: str) -> Try:
        if len(bodies) != 2:
            _refuse(place, "a `try` has two branches")
        return Try(name, bodies[0][1], bodies[1][1], *_common(engine))


_Bodies: TypeAlias = tuple[dict[str, Json], Body]


def _common(engine: dict[str, Json]) -> tuple[str | None, str | None, str | None]:
    return _text(engine.get("key")), _text(engine.get("within")), _text(engine.get("delay"))


def _condition(written: dict[str, Json], place: str) -> Condition:
    tests = written["anyOf"] if isinstance(written.get("anyOf"), list) else [written]
    found = [
        (Read.parse(test["path"]), test.get("schema", True))
        for test in tests
        if isinstance(test, dict) and isinstance(test.get("path"), str)
    ]
    if len(found) < len(tests) or not found:
        _refuse(place, "a condition says a `path` and a `schema`")
    return Condition(tuple(found))


def _source(written: Json) -> Value:
    return Constant(written) if isinstance(written, int | list) else value_of(written)


def _references(node: dict[str, Json]) -> Iterator[Read]:
    listed = node.get("references")
    for path in listed if isinstance(listed, list) else [listed]:
        if isinstance(path, str) and path:
            yield Read.parse(path)


def _is_plan(written: Json) -> bool:
    return isinstance(written, dict) and isinstance(written.get("tools"), dict)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
