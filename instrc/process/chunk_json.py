"""The JSON of chunks, steps and blocks: read and write engine keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Literal, NoReturn, TypeAlias, TypeGuard

from instrc.process import flow
from instrc.text.durations import is_duration, is_no_time
from instrc.text.jsonvalue import Json, JsonArray, JsonObject, Location, as_object, at, optional_text, pointer, size_of
from instrc.text.limits import PROCESS_LEVELS, ROUNDS

Resolve: TypeAlias = Callable[[Json], JsonObject]
"""Function that resolves references at the top of a schema within the document."""
WORDS = ("activity", "takes", "plan", "among", "fail", "after", "within", "delay", "references", "arguments")
"""Engine properties next to a schema, in the order in which they are written."""
_SIGNS = frozenset({"activity", "plan", "among", "references", "arguments"})
"""Keywords that mark a schema inside a step as one with engine properties; the other names are free for authors."""
REFERRED_CHARACTERS: Final = 20_000_000
"""Maximum characters of the schemas that the steps of a chunk refer to, which are written out at each."""


def read_step(key: str, written: Json, executor: flow.Executor, resolve: Resolve) -> flow.Step:
    """Read one property of a chunk as a step."""
    if not isinstance(written, dict):
        return flow.Step(key, written, executor)
    refers = isinstance(written.get("$ref"), str)
    schema = resolve(written) if refers else written
    slots: list[flow.EngineSlot] = []
    for path, node in nodes_in(schema):
        if path and not _SIGNS.isdisjoint(node):
            engine = _engine_in_slot(node)
            if engine is not flow.NO_ENGINE:
                slots.append(flow.EngineSlot(path, engine))
    engine = _engine_of(schema)
    for slot in slots:
        schema = as_object(with_changed_part(schema, slot.path, partial(_bare, engine=slot.engine)))
    return flow.Step(key, _bare(schema, engine), executor, engine, tuple(slots), written if refers else None)


def _engine_in_slot(node: JsonObject) -> flow.EngineProperties:
    """Return the engine keywords next to a schema inside a step; arguments only if they have the compiler's form."""
    engine = _engine_of(node)
    arguments = node.get("arguments")
    if arguments is not None and flow.written_value(flow.value_of(arguments)) != arguments:
        engine = _engine_of({word: value for word, value in node.items() if word != "arguments"})
    return engine if _with_engine({}, engine).keys() & _SIGNS else flow.NO_ENGINE


def _engine_of(node: JsonObject) -> flow.EngineProperties:
    """Return the engine keywords next to the schema of a step; other keywords stay in the schema."""
    if all(word not in node for word in WORDS):
        return flow.NO_ENGINE
    among, plan, arguments, takes = (node.get(word) for word in ("among", "plan", "arguments", "takes"))
    tools = plan.get("tools") if isinstance(plan, dict) else None
    return flow.EngineProperties(
        tuple(_references(node)),
        None if arguments is None else flow.value_of(arguments),
        optional_text(node.get("activity")),
        tools if isinstance(tools, dict) else None,
        flow.Read.parse(among) if isinstance(among, str) else None,
        node.get("fail") is True,
        optional_text(node.get("within")),
        optional_text(node.get("delay")),
        texts_of(node.get("after")),
        takes if isinstance(takes, dict) else None,
    )


def texts_of(written: Json) -> tuple[str, ...]:
    """Return the texts of a list, or nothing for any other value."""
    return tuple([str(each) for each in written]) if isinstance(written, list) and _is_texts(written) else ()


def _references(node: JsonObject) -> Iterator[flow.Read]:
    listed = node.get("references")
    for path in listed if isinstance(listed, list) else [listed]:
        if isinstance(path, str) and path:
            yield flow.Read.parse(path)


def _with_engine(found: JsonObject, engine: flow.EngineProperties) -> JsonObject:
    arguments = None if engine.arguments is None else flow.written_value(engine.arguments)
    return add_words(found, engine, [read.text for read in engine.references], arguments)


def _bare(node: Json, engine: flow.EngineProperties) -> Json:
    words = _with_engine({}, engine)
    return {word: value for word, value in as_object(node).items() if word not in words} if words else node


def write_step(step: flow.Step) -> Json:
    """Return the schema of a step with its engine keywords."""
    if step.reference is not None:
        return step.reference
    schema: Json = step.schema
    for slot in step.slots:
        schema = with_changed_part(schema, slot.path, partial(beside, engine=slot.engine))
    return schema if step.engine is flow.NO_ENGINE else beside(schema, step.engine)


def read_chunk(name: str, executor: flow.Executor, schema: JsonObject, definition: str | None, resolve: Resolve) -> flow.Chunk:
    """Read the schema of a chunk."""
    properties = as_object(schema.get("properties") or {})
    steps, left = list[flow.Step](), REFERRED_CHARACTERS
    for key, each in properties.items():
        steps.append(read_step(key, each, executor, resolve))
        left -= 0 if steps[-1].reference is None else size_of(steps[-1].schema)
        if left < 0:
            refuse_process(pointer((key,)), f"its steps refer to schemas of over {REFERRED_CHARACTERS:,} characters")
    return flow.Chunk(name, executor, tuple(steps), frame_of(schema, dict.fromkeys(properties)), definition)


def resolved(schema: Json, document: Json) -> JsonObject:
    """Resolve references within the document at the top of a schema; keywords next to a reference apply as well.

    Raise `ValueError` with the place if the result is not an object.
    """
    beside: JsonObject = {}
    for _ in range(100):
        if not isinstance(schema, dict):
            break
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {**schema, **beside} if beside else schema
        beside = {**{key: value for key, value in schema.items() if key != "$ref"}, **beside}
        try:
            schema = at(document, reference[1:])
        except (LookupError, ValueError):
            raise ValueError(f"`{reference}` has no target") from None
    raise ValueError("it is not an object")


def write_chunk(chunk: flow.Chunk) -> JsonObject:
    """Return the schema of a chunk with its engine keywords."""
    return flow.framed(chunk.frame, {step.key: write_step(step) for step in chunk.steps})


def frame_of(schema: JsonObject, inside: dict[str, None], canonical: JsonObject | None = None) -> JsonObject | None:
    """Return a schema without its `inside`, or `None` if it is a plain object that requires its properties."""
    properties = as_object(schema["properties"]) if "properties" in schema else None
    kept = {name: each for name, each in (properties or {}).items() if name not in inside}
    usual = (
        schema.keys() <= {"type", "properties", "required"}
        and schema.get("type") == "object"
        and properties is not None
        and kept == (canonical or {})
        and schema.get("required", []) == list(properties)
    )
    return None if usual else {**schema, "properties": kept} if properties is not None else schema


def loops_of(chunk: flow.Chunk) -> Iterator[flow.Loop]:
    """Yield the parts of a model's answer that may ask for another round."""
    for path, node in nodes_in(chunk.schema) if chunk.executor == "model" else ():
        properties = node.get("properties")
        if isinstance(properties, dict) and "_iteration" in properties and "_continue" in properties:
            bound = properties["_iteration"]
            most = bound.get("maximum") if isinstance(bound, dict) else None
            yield flow.Loop(flow.EngineSlot(path, flow.NO_ENGINE).names, most if is_count(most) else ROUNDS)


def nodes_in(schema: Json) -> Iterator[tuple[Location, JsonObject]]:
    """Yield a schema and those of its properties at every depth, with their paths."""
    waiting: list[tuple[Location, int, Json]] = [((), 0, schema)]
    while waiting:
        path, depth, node = waiting.pop()
        if not isinstance(node, dict) or depth > PROCESS_LEVELS:
            continue
        yield path, node
        below: list[tuple[Location, int, Json]] = []
        branches = node.get("allOf")
        parts: list[tuple[Location, Json]] = [((), node)]
        parts += [(("allOf", index), each) for index, each in enumerate(branches)] if isinstance(branches, list) else []
        for way, part in parts:
            properties = part.get("properties") if isinstance(part, dict) else None
            if isinstance(properties, dict):
                below += [((*path, *way, "properties", name), depth + 1, child) for name, child in properties.items()]
        waiting.extend(reversed(below))


def beside(schema: Json, engine: flow.EngineProperties) -> Json:
    """Write engine keywords after the other keywords of a schema."""
    return _with_engine(dict(schema), engine) if isinstance(schema, dict) else schema


def is_count(value: Json) -> TypeGuard[int]:
    """Return whether a value is a non-negative integer."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def add_words(found: JsonObject, engine: flow.EngineProperties, references: list[str], arguments: Json) -> JsonObject:
    """Add the engine keywords to an object, with its paths as text, and return it."""
    if engine is not flow.NO_ENGINE:
        written: JsonObject = {
            "activity": engine.activity,
            "takes": engine.takes,
            "plan": None if engine.plan is None else {"tools": engine.plan},
            "among": None if engine.among is None else engine.among.text,
            "fail": True if engine.fail else None,
            "after": [*engine.after] or None,
            "within": engine.within,
            "delay": engine.delay,
        }
        found.update({word: value for word, value in written.items() if value is not None})
    if references:
        found["references"] = references  # type: ignore[assignment]  # a list of texts is JSON
    if arguments is not None:
        found["arguments"] = arguments
    return found


def with_changed_part(schema: Json, path: Location, change: Callable[[Json], Json]) -> Json:
    """Return a schema in which the part at a path is changed."""
    above: list[JsonArray | JsonObject] = []
    for each in path:
        outer = schema if isinstance(schema, list) else as_object(schema)
        above.append(outer)
        schema = outer[each]  # type: ignore[index]  # the place exists, as the walk reached it
    made = change(schema)
    for outer, each in zip(reversed(above), reversed(path), strict=True):
        if isinstance(outer, list):
            made = [made if index == each else part for index, part in enumerate(outer)]
        else:
            made = {**outer, str(each): made}
    return made


Place: TypeAlias = Literal["block", "branch"]
"""Where an engine property is written: on the whole block, or in one of its branches."""
MisplacedWord: TypeAlias = tuple[tuple[str | int, ...], str]
"""Path to the keyword, and a short clause with the reason."""


def fault_of(kind: str, place: Place, engine: JsonObject) -> MisplacedWord | None:
    """Return the first fault of an engine property; a missing part is reported at the property itself."""
    form = flow.FORMS[kind]
    words = form.block if place == "block" else form.branch
    for word, value in engine.items():
        if word not in words:
            return (word,), f"`{kind}` has no `{word}` here: it takes {', '.join(f'`{each}`' for each in words)}"
        sound, reason = _SHAPES[word]
        if not sound(value):
            return (word,), reason
    match kind:
        case "each" if not {"item", "in"} <= engine.keys():
            return (), "it states the name of an element (`item`) and the list (`in`)"
        case "each":
            return _of_until(engine.get("when"), "when") or _of_until(engine.get("until"))
        case "repeat":
            return _of_repeat(engine)
        case "else" if "of" not in engine:
            return (), "it names the `repeat` whose `else` it is"
        case "when" if place == "branch":
            return _of_condition(engine, ())
        case _:
            return None


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


_DELAY = 'it is a duration of ISO 8601 without years and months: `"P2D"` is two days, `"PT30S"` half a minute'
_DEADLINE = _DELAY.replace("without", "that is not zero, without")


def _is_source(value: Json) -> bool:
    """Return whether a value can be a list or a number of rounds."""
    match value:
        case {"const": constant, **others} if not others:
            return constant is None or isinstance(constant, list) or is_count(constant)
        case {"path": str(path), "optional": bool(), **others} if not others:
            return bool(path)
        case str() | list():
            return bool(value) or isinstance(value, list)
        case _:
            return is_count(value)


_NO_CONDITION = "a condition has a `path` and a `schema`, or a path that it `equals`, `differs` from, or is compared with by size"


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_Shape: TypeAlias = tuple[Callable[[Json], bool], str]
_SHAPES: dict[str, _Shape] = {
    "key": (_is_text, "it is the key by which others read the block, a text"),
    "within": (lambda value: isinstance(value, str) and is_duration(value) and not is_no_time(value), _DEADLINE),
    "delay": (lambda value: isinstance(value, str) and is_duration(value), _DELAY),
    "value": (flow.is_value, 'it is a path, `{ "const": … }`, or a list or an object of these'),
    "shows": (flow.is_value, 'it is a path, `{ "const": … }`, or a list or an object of these'),
    "item": (_is_text, "it is the name of an element, a text"),
    "in": (_is_source, "it is the path to a list, a number, or a list in `const`"),
    "until": (lambda value: isinstance(value, dict), _NO_CONDITION),
    "when": (lambda value: isinstance(value, dict), _NO_CONDITION),
    "max": (_is_text, "it is the path to a number"),
    "first": (lambda value: _is_text(value) or is_count(value), "it is a number, or the path to one"),
    "keep": (lambda value: is_count(value) and value > 0, "it is the number of rounds that are shown, 1 or more"),
    "hands": (_is_texts, "it is a list of keys"),
    "after": (_is_texts, "it is a list of keys or contexts of its body"),
    "fail": (lambda value: isinstance(value, bool), "it is `true` if the step ends its block as failed"),
    "takes": (lambda value: isinstance(value, dict), "it is the schema of what the activity is given, an object"),
    "of": (_is_text, "it is the name of a `repeat` beside it"),
    "path": (_is_text, "it is a path"),
    "schema": (lambda value: isinstance(value, dict | bool), "it is a schema"),
    **dict.fromkeys(flow.COMPARISONS, (_is_text, "it is a path")),
    "anyOf": (lambda value: isinstance(value, list), "it is a list of conditions"),
    "allOf": (lambda value: isinstance(value, list), "it is a list of conditions"),
    "from": (lambda value: isinstance(value, dict) and flow.is_value(value), "it is an object of paths and constants"),
}
"""Check of each keyword's value, with the error message."""


def _of_until(until: Json, name: str = "until") -> MisplacedWord | None:
    if not isinstance(until, dict):
        return None
    for word in until:
        if word not in flow.CONDITION:
            words = ", ".join(f"`{each}`" for each in flow.CONDITION)
            return (name, word), f"a condition has no `{word}`: it takes {words}"
    return _of_condition(until, (name,)) if until else ((name,), _NO_CONDITION)


_TESTS = tuple({"path", word} for word in ("schema", *flow.COMPARISONS))
"""Keywords of each kind of test."""


def _of_condition(engine: JsonObject, way: tuple[str | int, ...]) -> MisplacedWord | None:
    """Return the fault of a condition; an empty one is that of an `else`."""
    said = {word: engine[word] for word in flow.CONDITION if word in engine}
    if not said:
        return None
    tests: list[tuple[tuple[str | int, ...], Json]] = [(way, said)]
    for word in ("anyOf", "allOf"):
        for place, test in tests:
            if isinstance(test, dict) and word in test and len(test) > 1:
                return place, f"a condition is one `path` with its `schema`, or a list of these in `{word}`"
            listed = test.get(word) if isinstance(test, dict) else None
            if isinstance(test, dict) and word in test and not (isinstance(listed, list) and listed):
                return (*place, word), "it is a list of conditions"
        tests = [each for place, test in tests for each in _listed(word, place, test)]
    for place, test in tests:
        if not isinstance(test, dict) or test.keys() not in _TESTS:
            return place, _NO_CONDITION
        for word, value in test.items():
            sound, reason = _SHAPES[word]
            if not sound(value):
                return (*place, word), reason
    return None


def _listed(word: str, place: tuple[str | int, ...], test: Json) -> list[tuple[tuple[str | int, ...], Json]]:
    """Return the tests of a list with their places; an invalid list is its own entry."""
    listed = test.get(word) if isinstance(test, dict) else None
    return [((*place, word, number), each) for number, each in enumerate(listed)] if isinstance(listed, list) else [(place, test)]


def _of_repeat(engine: JsonObject) -> MisplacedWord | None:
    if ("item" in engine) != ("in" in engine):
        return (), "the name of an element (`item`) and the list (`in`) belong together"
    if fault := _of_until(engine.get("when"), "when"):
        return fault
    if isinstance(engine.get("until"), dict):
        return _of_until(engine["until"])
    return None if "in" in engine else ((), "it states when it ends (`until`), or the list that it iterates over (`item`, `in`)")


BodyWithEngine: TypeAlias = tuple[JsonObject, flow.Body]


class UnreadableProcessError(ValueError):
    """A document that is not a process: `pointer` leads to the faulty part, `reason` is a short clause."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{reason} at {pointer or '/'}")
        self.pointer = pointer
        self.reason = reason


def refuse_process(pointer: str, reason: str) -> NoReturn:
    """Raise the error for a document that is not a process."""
    raise UnreadableProcessError(pointer, reason)


def about_of(kind: str, schema: JsonObject) -> JsonObject | None:
    """Return the keywords of a block's schema other than its parts."""
    own = flow.FORMS[kind].own
    return {word: each for word, each in schema.items() if word != kind and word not in own} or None


def least_of(schema: JsonObject) -> int | None:
    """Return the minimum number of rounds."""
    least = schema.get("minItems")
    return least if is_count(least) else None


def engine_property(kind: str, place: Place, schema: JsonObject, at: str) -> JsonObject:
    """Return the engine property of a block or a branch."""
    engine = schema.get(kind)
    if not isinstance(engine, dict):
        refuse_process(f"{at}/{kind}" if kind in schema else at, f"the engine property `{kind}` is missing")
    fault = fault_of(kind, place, engine)
    if fault is not None:
        way, reason = fault
        refuse_process(f"{at}/{kind}{pointer(way)}", reason)
    return engine


def timed(chunk: flow.Chunk, place: str) -> flow.Chunk:
    """Return a chunk after checking that deadlines and delays are durations, `fail` is a boolean, and `takes` a schema."""
    for step in chunk.steps:
        left = step.schema if isinstance(step.schema, dict) else {}  # only strings are read from there
        for word, said in (("within", step.engine.within), ("delay", step.engine.delay), ("fail", None), ("takes", None)):
            sound, reason = _SHAPES[word]
            if (word in left or said is not None) and not sound(left.get(word, said)):
                refuse_process(place + pointer(("properties", step.key, word)), reason)
    return chunk


_COUNTS = {
    "when": "a `when` has a branch",
    "try": "a `try` has two branches",
    "race": "a `race` has two branches or more",
    "else": "an `else` has one branch beside `null`",
}
"""Error message about the number of branches of each block."""


def branches_of(kind: str, bodies: list[BodyWithEngine], place: str) -> tuple[flow.Branch, ...]:
    """Return the bodies of a block with their conditions; only the last of several can be the `else`."""
    form = flow.FORMS[kind]
    if len(bodies) < form.least or (form.most is not None and len(bodies) > form.most):
        refuse_process(f"{place}/anyOf" if kind == "else" else place, _COUNTS[kind])
    found = tuple(
        flow.Branch(condition_of(engine, place) if not engine.keys().isdisjoint(flow.CONDITION) else None, body)
        for engine, body in bodies
    )
    for number, branch in enumerate(found if set(flow.CONDITION) & set(form.branch) else ()):
        if branch.condition is None and (number == 0 or number < len(found) - 1):
            refuse_process(
                f"{place}/anyOf/{number}",
                "`when` states with a `path` and a `schema` when it runs; only the last can be the `else`",
            )
    return found


def condition_of(written: JsonObject, place: str) -> flow.Condition:
    """Read a condition."""
    tests: list[tuple[flow.Read, Json]] = []
    joined: set[int] = set()
    compared: dict[int, flow.Comparison] = {}
    for _, case in _listed("anyOf", (), written):
        for number, (_, test) in enumerate(_listed("allOf", (), case)):
            if not isinstance(test, dict) or not isinstance(path := test.get("path"), str):
                refuse_process(place, _NO_CONDITION)
            if number:
                joined.add(len(tests))
            word = next((each for each in flow.COMPARISONS if each in test), None)
            if word is not None and isinstance(other := test[word], str):
                compared[len(tests)] = word
                joined.add(len(tests) + 1)
                tests += [(flow.Read.parse(path), {}), (flow.Read.parse(other), {})]
            else:
                tests.append((flow.Read.parse(path), test.get("schema", True)))
    return flow.Condition(tuple(tests), frozenset(joined), compared)


def selection_of(engine: JsonObject, place: str) -> flow.Selection | None:
    """Read the selection of elements that a block runs for, if any."""
    if engine.keys().isdisjoint({"when", "max", "first"}):
        return None
    condition = condition_of(as_object(engine["when"]), place) if "when" in engine else None
    return flow.Selection(condition, *(source_of(engine[word]) if word in engine else None for word in ("max", "first")))


def source_of(written: Json) -> flow.Value:
    """Read the list or number of a block; a literal list is not a list of paths."""
    return flow.Constant(written) if isinstance(written, int | list) else flow.value_of(written)
