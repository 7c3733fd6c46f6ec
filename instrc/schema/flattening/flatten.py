"""Flatten a JSON Schema: resolve references and fold `allOf`; share repeated parts.

Expanding references can turn kilobytes into megabytes.  A result that would grow so far keeps repeated parts as
definitions under `$defs`.  It accepts the same instances.  Parts that differ only in annotations are one part:
the annotations are next to the references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Final, Literal, TypeAlias, Unpack, overload

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.problems.report import Report
from instrc.schema.drafts import dialect_of_uri
from instrc.schema.flattening.definitions import ascii_name
from instrc.schema.flattening.flattener import Flattener
from instrc.schema.flattening.provenance import Flat, origins
from instrc.schema.flattening.run import FlattenKeywords, FlattenOptions, too_large, weight
from instrc.schema.references import Locate, SchemaStore
from instrc.schema.scopes import DynamicScope
from instrc.schema.vocabulary import ANNOTATIONS, HOLDERS
from instrc.schema.walk import objects_below, reached_definitions, schemas_under, subschemas, with_parts, without
from instrc.text import arguments
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import LATEST_DRAFT, Json, JsonObject, Location, as_array, as_object, equal, kind_in_words
from instrc.text.limits import FLAT_SCHEMAS
from instrc.text.names import free_name

FLATTEN_PASSES: Final = 3
"""Maximum further passes over a result; what would need more stays as it is."""
ONE_PASS: Final = 20_000
"""Number of schemas beyond which only one pass is made."""
SHARED_FROM_TIMES: Final = 8
"""Growth of a result over its input beyond which repeated parts are shared under `$defs`."""
SHARED_FROM: Final = 2000
"""Number of schemas below which nothing is shared."""
SHARED_PART: Final = 4
"""Minimum size of a repeated part that gets a definition, in schemas."""

PartKey: TypeAlias = tuple[object, ...]


def sizes(schema: JsonObject, weigh: Callable[[JsonObject], int] = lambda _: 1) -> dict[int, int]:
    """Return by `id` the number of schemas in each part of an expanded result, counting shared ones each time.

    `{"items": {"type": "string"}}` has two, including itself.  `weigh` returns what one counts, without those in it.
    """
    result: dict[int, int] = {}
    stack: list[JsonObject] = [schema]
    pop, push = stack.pop, stack.append
    while stack:
        node = stack[-1]
        if id(node) in result:
            pop()
            continue
        count, waiting = weigh(node), False
        for keyword, value in node.items():
            if keyword not in HOLDERS:
                continue
            for child in schemas_under(keyword, value):
                if child.__class__ is not dict:
                    count += 1
                elif (known := result.get(id(child))) is not None:
                    count += known
                else:
                    waiting = True
                    push(child)
        if not waiting:
            result[id(node)] = count
    return result


def share(
    schema: dict[str, Json], note: Callable[[Json, Json], None] = lambda _new, _old: None, *, described: bool = True
) -> dict[str, Json]:
    """Return a flat schema whose repeated parts are definitions; `note` is called with a new schema and the replaced one.

    With `described`, parts that differ only in annotations are one, with the annotations next to references to it.
    """
    united = _united(schema, note)
    root, annotated = _apart_from_words(united, note) if described else (united, frozenset[int]())
    tops: JsonObject = {
        "": without(root, "$defs"),
        **as_object(root.get("$defs", {})),
    }
    note(tops[""], root)
    names = _names(tops)
    done: dict[int, Json] = {}
    definitions: dict[str, Json] = {}
    for node in _below_first(list(tops.values())):
        new = with_parts(node, done)
        if id(node) in annotated:
            new = _beside_reference(as_object(new))
        if new is not node:
            note(new, node)
        if id(node) in names:
            definitions[names[id(node)]] = new
            done[id(node)] = {"$ref": f"#/$defs/{names[id(node)]}"}
        else:
            done[id(node)] = new
    bodies = {
        name: _beside_reference(as_object(with_parts(top, done))) if id(top) in annotated else with_parts(top, done)
        for name, top in tops.items()
    }
    body = as_object(bodies.pop(""))
    note(body, root)
    for name, made_of in bodies.items():
        note(made_of, tops[name])
    out = {**body, "$defs": {**bodies, **{name: definitions[name] for name in names.values()}}}
    note(out, root)
    return out


def _names(tops: dict[str, Json]) -> dict[int, str]:
    """Return names, by `id`, for repeated parts, in the order in which they first occur."""
    counts: Counter[int] = Counter()
    first: dict[int, tuple[Json, Location]] = {}
    size: dict[int, int] = {}
    for top in tops.values():
        if top.__class__ is not dict:
            continue
        size |= sizes(top)
        stack: list[tuple[Location, Json]] = list(subschemas(top))[::-1]
        while stack:
            path, node = stack.pop()
            if node.__class__ is not dict:
                continue
            counts[id(node)] += 1
            if counts[id(node)] == 1:
                first[id(node)] = (node, path)
                stack += [((*path[-1:], *below), child) for below, child in subschemas(node)][::-1]
    taken: dict[str, Json] = dict(tops)
    numbers: dict[str, int] = {}
    names: dict[int, str] = {}
    for key, (node, path) in first.items():
        if counts[key] > 1 and size.get(key, 1) >= SHARED_PART:
            names[key] = free_name(_word(as_object(node), path), taken.__contains__, tried=numbers)
            taken[names[key]] = node
    return names


def _word(node: dict[str, Json], path: Location) -> str:
    """Return a readable name for a part: its title, or else its key."""
    title = node.get("title")
    place = path[:-2] if path[-2:] == ("allOf", 0) else path  # where annotations stand next to the part
    for text in (title, place[-1] if place else ""):
        if text.__class__ is str and (word := ascii_name(text)):
            return word
    return "shared"


def _below_first(roots: list[Json]) -> Iterator[dict[str, Json]]:
    """Yield all schema objects below some schemas without duplicates, children before parents."""
    done: set[int] = set()
    for root in roots:
        stack: list[tuple[JsonObject, bool]] = [(child, False) for child in objects_below(root)]
        while stack:
            node, entered = stack.pop()
            if id(node) in done:
                continue
            if entered:
                done.add(id(node))
                yield node
            else:
                stack.append((node, True))
                stack += [(child, False) for child in objects_below(node)]


def _united(schema: dict[str, Json], note: Callable[[Json, Json], None]) -> dict[str, Json]:
    """Return a schema in which equal parts with equal order are one object."""
    done: dict[int, Json] = {}
    pool: dict[PartKey, Json] = {}
    for node in _below_first([{"allOf": [schema]}]):
        new = as_object(with_parts(node, done))
        if new is not node:
            note(new, node)
        done[id(node)] = pool.setdefault(_key(new), new)
    return as_object(done[id(schema)])


def _apart_from_words(schema: dict[str, Json], note: Callable[[Json, Json], None]) -> tuple[dict[str, Json], frozenset[int]]:
    """Make schemas that differ only in annotations share one schema, as their `allOf` with one branch.

    `{"description": "a", **body}` and `{"description": "b", **body}` copy a large `body`, where each reference to
    it has a description.  The second result has the `id`s of the changed schemas.
    """
    nodes = list(_below_first([{"allOf": [schema]}]))
    size = sizes(schema)
    alike: dict[PartKey, list[JsonObject]] = {}
    for node in nodes:
        if node is not schema and size.get(id(node), 1) >= SHARED_PART:
            alike.setdefault(_key(without(node, *ANNOTATIONS)), []).append(node)
    own = {id(node): words for copies in alike.values() if (words := _different_words(copies)) for node in copies}
    done: dict[int, Json] = {}
    pool: dict[PartKey, JsonObject] = {}
    annotated: list[JsonObject] = []
    for node in nodes:
        new = as_object(with_parts(node, done))
        if id(node) in own:
            words = own[id(node)]
            body = without(new, *words)
            body = pool.setdefault(_key(body), body)
            note(body, node)
            new = {**without(new, *(new.keys() - words)), "allOf": [body]}
            annotated.append(new)
        if new is not node:
            note(new, node)
        done[id(node)] = new
    return as_object(done[id(schema)]), frozenset(map(id, annotated))


def _different_words(copies: list[JsonObject]) -> frozenset[str]:
    """Return the annotations whose values differ between schemas."""
    written = [{word: dumps(copy[word], indent=False) for word in ANNOTATIONS & copy.keys()} for copy in copies]
    first = written[0]
    return frozenset(word for item in written for word in item.keys() | first.keys() if item.get(word) != first.get(word))


def _beside_reference(node: JsonObject) -> JsonObject:
    """Return annotations next to a reference to the annotated schema."""
    (reference,) = as_array(node["allOf"])
    return {**without(node, "allOf"), **as_object(reference)}


def _key(node: JsonObject) -> PartKey:
    """Return a key shared by equal schemas once their parts are united."""
    return tuple(
        [(keyword, tuple(value) if value.__class__ is dict else (), _parts(keyword, value)) for keyword, value in node.items()]
    )


def _parts(keyword: str, value: Json) -> object:
    """Return a key for a keyword's value: schemas by identity, since they are united already, and data as text."""
    below = tuple(schemas_under(keyword, value)) if keyword in HOLDERS else ()
    if not below:
        return value if value.__class__ is str else dumps(value, indent=False)
    return tuple(id(child) if child.__class__ is dict else dumps(child, indent=False) for child in below)


_HEAD = frozenset({"$schema", "$id", "$vocabulary"})
"""Root keywords that the result keeps."""


@overload
def flatten(
    schema: Json,
    documents: Mapping[str, Json] | None = None,
    *,
    trace: Literal[False] = False,
    **options: Unpack[FlattenKeywords],
) -> Json: ...


@overload
def flatten(
    schema: Json, documents: Mapping[str, Json] | None = None, *, trace: Literal[True], **options: Unpack[FlattenKeywords]
) -> Flat: ...


@overload
def flatten(
    schema: Json, documents: Mapping[str, Json] | None = None, *, trace: bool, **options: Unpack[FlattenKeywords]
) -> Json | Flat: ...


def flatten(
    schema: Json,
    documents: Mapping[str, Json] | None = None,
    *,
    base: str = "",
    trace: bool = False,
    limit: int = FLAT_SCHEMAS,
    report: Report | None = None,
    locate: Locate | None = None,
    nullable: bool = False,
    share: bool = True,
) -> Json | Flat:
    """Return a flat schema that accepts exactly the same instances; `instrc.flatten` describes the arguments."""
    if documents is not None:
        arguments.mapping("documents", documents)
    arguments.text("base", base)
    arguments.whole_number("limit", limit)
    for name, value in (("trace", trace), ("nullable", nullable), ("share", share)):
        arguments.truth(name, value)
    if not isinstance(schema, dict):
        if isinstance(schema, bool):
            return _traced(schema, schema, Flattener(SchemaStore(), FlattenOptions())) if trace else schema
        raise CompileError([problems.schemas.InvalidSchema(pointer="", reason=f"{kind_in_words(schema)} is not a schema")])
    store = SchemaStore(documents, nullable=nullable, locate=locate)
    scope = store.add(base, schema)
    if not store.to_fold and not (nullable and id(schema) in store.needs_flattening):
        return _traced(schema, schema, Flattener(store, FlattenOptions())) if trace else schema
    flattener = Flattener(store, FlattenOptions(limit=limit, report=report, trace=trace, share=share))
    count = store.count
    result = _folded(schema, flattener, scope, count)
    flat = _traced(result, schema, flattener) if trace else None
    for _ in range(FLATTEN_PASSES if flattener.may_simplify and store.count + flattener.frames < ONE_PASS else 0):
        # separated or unrolled parts may have become unnecessary: a second pass must change nothing
        store = SchemaStore()
        scope = store.add("", result)
        if not store.to_fold or not isinstance(result, dict):
            break
        flattener = Flattener(store, FlattenOptions(limit=limit, trace=trace, share=share))
        again = _folded(result, flattener, scope, count)
        if equal(again, result):
            break
        if flat is not None:
            flat = flat.then(_traced(again, result, flattener))
        result = again
    return result if flat is None else flat


def _folded(schema: dict[str, Json], flattener: Flattener, scope: DynamicScope, count: int) -> Json:
    """Return the result of one pass; `count` is the initial number of schemas."""
    result = flattener.run([(schema, scope)])
    modern = not scope.resource.dialect.old and ("$schema" not in schema or dialect_of_uri(schema["$schema"]) is not None)
    result = _with_head(schema, result, flattener, modern=modern)
    limit = flattener.options.limit
    if result.__class__ is not dict or not (
        flattener.shared or flattener.store.aliased or flattener.store.count + flattener.frames > limit
    ):
        return result  # each part occurs once

    written = sizes(result)[id(result)]
    if written > max(SHARED_FROM, SHARED_FROM_TIMES * count) and flattener.options.share:
        result = share(result, flattener.note_copy)
        written = sizes(result)[id(result)]
    if max(written, sizes(result, weight)[id(result)]) > limit:
        raise too_large(limit)
    return result


def _traced(result: Json, schema: Json, flattener: Flattener) -> Flat:
    return Flat(result, origins(result, schema, flattener.store, flattener.origins))


def _with_head(schema: dict[str, Json], result: Json, flattener: Flattener, *, modern: bool) -> Json:
    """Return a result with the identity of the root, and its definitions."""
    if result.__class__ is not dict or (_HEAD.isdisjoint(schema) and not flattener.definitions.schemas):
        return result
    words: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "$schema":
            words[keyword] = value if modern else LATEST_DRAFT
        elif keyword == "$id" and value.__class__ is str:
            base = value.partition("#")[0]  # before 2019-09 it may hold an anchor
            if base:
                words[keyword] = base
        elif keyword == "$vocabulary" and modern:
            words[keyword] = value
    definitions = reached_definitions(result, flattener.definitions.schemas)
    if not words and not definitions:
        return result
    first = list(takewhile(words.__contains__, schema))
    front = {keyword: words.pop(keyword) for keyword in first}
    out = {**front, **result, **words}
    if id(result) in flattener.origins:
        flattener.origins[id(out)] = (out, flattener.origins[id(result)][1])
    if definitions:
        out["$defs"] = definitions
    return out
