"""Find the innermost unsatisfiable schemas of a document, with the keywords that contradict each other.

    schema = {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}
    list(impossible_parts(schema, list(walk(schema))))      # [Impossible((), ("exclusiveMinimum", "exclusiveMaximum"), ())]

A schema that is unsatisfiable only because of one inside it is not reported.
Neither is one written as `false` or `{"not": {}}`, which is intended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from instrc.schema.kinds import own_kinds
from instrc.schema.relations import Answering, Resolve
from instrc.schema.vocabulary import IN_PLACE, NO_ASSERTIONS
from instrc.schema.walk import every_schema, local_target, required_names, with_parts
from instrc.text.jsonvalue import Json, Location, mapping


class Impossible(Struct, frozen=True):
    """An unsatisfiable schema."""

    path: Location
    words: tuple[str, ...]
    """Minimal set of keywords that together admit no value; `type` is omitted where others suffice."""
    names: tuple[str, ...]
    """Required properties that cannot exist, if they are the cause."""


PAIRS_AT_A_PLACE: Final = 100
"""Maximum pairs of schemas compared to decide whether one schema is impossible, since many schemas are checked."""
PAIRS_IN_ALL: Final = 20_000
"""Number of pairs after which no further part of a document is judged, about two seconds."""
WEIGHED_NAMES: Final = 40
"""Maximum required names that are tried individually as the cause of an impossible schema."""


def may_hold_impossible(nodes: Iterable[Json]) -> bool:
    """Return whether a schema of a document may be impossible, by its own keywords or by its references."""
    return any(isinstance(node, dict) and ("$ref" in node or may_be_impossible(node)) for node in nodes)


_OF_PLAIN_OBJECTS = frozenset({"required", "additionalProperties", "unevaluatedProperties"})
_ALONE = frozenset({"not", "if", "oneOf", "contains"})
_WITH_OTHERS = frozenset({"allOf", "anyOf", "$ref"})
_WEIGHED = (
    _OF_PLAIN_OBJECTS
    | _ALONE
    | _WITH_OTHERS
    | {"const", "enum", "pattern", "multipleOf", "uniqueItems", "minContains", "maxContains", "dependencies"}
    | {"patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"}
    | {f"{side}{what}" for side in ("min", "max") for what in ("imum", "Length", "Items", "Properties")}
    | {"exclusiveMinimum", "exclusiveMaximum"}
)
"""Keywords that may be contradictory in combination; `type`, `properties` and `items` matter only through these."""
_LISTS = frozenset({"const", "enum"})


def may_be_impossible(node: Mapping[str, Json]) -> bool:
    """Return whether the keywords of a schema may exclude every value: a fast check that most schemas do not pass."""
    if _WEIGHED.isdisjoint(node):
        return False
    words = node.keys() & _WEIGHED
    if words <= _OF_PLAIN_OBJECTS:
        properties = mapping(node.get("properties"))
        closed = False in (node.get("additionalProperties"), node.get("unevaluatedProperties"))
        names = required_names(dict(node)) if "required" in node else ()
        return any(is_written_false(properties[name]) if name in properties else closed for name in names)
    if len(words) > 1:
        return True
    (word,) = words
    return (
        word in _ALONE
        or (word == "minItems" and ("prefixItems" in node or node.get("items") is False))
        or (word in _LISTS and not own_kinds(dict(node)))
        or (word == "pattern" and str(node[word]).startswith("/^"))  # as in JavaScript: nothing precedes a start
        or (word in _WITH_OTHERS and ("type" in node or word == "allOf"))
    )


def is_written_false(schema: Json) -> bool:
    """Return whether a schema is just `false`, or a `not` of an always true schema."""
    if not isinstance(schema, dict):
        return schema is False
    return forbids_everything(schema) and schema.keys() - {"not", "type"} <= NO_ASSERTIONS


def forbids_everything(schema: Json) -> bool:
    """Return whether a schema is `false`, or has a `not` that matches everything."""
    if not isinstance(schema, dict):
        return schema is False
    forbidden = schema.get("not")
    return forbidden is True or (isinstance(forbidden, dict) and forbidden.keys() <= NO_ASSERTIONS)


SchemaObject: TypeAlias = dict[str, Json]


def impossible_parts(
    root: Json, nodes: Sequence[tuple[Location, Json]], told: frozenset[Location] = frozenset()
) -> Iterator[Impossible]:
    """Yield the innermost unsatisfiable schemas of a 2020-12 document, in order.

    `nodes` are its schemas with their paths, each before its subschemas.
    Those at the paths `told` are known to be impossible.
    """
    objects = [(path, node) for path, node in nodes if isinstance(node, dict)]
    target = _resolver(root, objects)
    judge = Answering(target, PAIRS_AT_A_PLACE)
    asked = [(path, node) for path, node in objects if path in told or (may_be_impossible(node) and not _extends(node))]
    hits = {id(node): path for path, node in asked if path in told or _refuses_all(judge, node)}
    if hits:
        yield from _innermost(objects, hits, told, target)
    of_patterns = [(path, node) for path, node in objects if "pattern" in node or "allOf" in node]
    if of_patterns:
        from instrc.schema.laws.strings import without_texts  # few schemas have patterns

        found = ((path, without_texts(node)) for path, node in of_patterns)
        yield from (Impossible(path, words, ()) for path, words in found if words and path not in {*told, *hits.values()})


def _refuses_all(judge: Answering, node: SchemaObject) -> bool:
    return len(judge.known) < PAIRS_IN_ALL and judge.refuses_all(_with_closed(node))


def _resolver(root: Json, nodes: Sequence[tuple[Location, SchemaObject]]) -> Resolve:
    """Return a resolver of references within a document, as long as no part is a document of its own."""
    divided = any("$id" in node and path for path, node in nodes)

    def resolve(reference: str) -> Json:
        return None if divided else local_target(root, reference)

    return resolve


def _extends(node: SchemaObject) -> bool:
    """Return whether a schema is no more than a plain one in its `allOf`, asked about by itself, with references elsewhere."""
    branches = node.get("allOf")
    if branches.__class__ is not list or not node.keys() - {"allOf"} <= NO_ASSERTIONS:
        return False
    here = [branch for branch in branches if not _is_elsewhere(branch)]
    return len(here) <= 1 and all(_is_plain(part) for item in here for part in every_schema(item))


def _is_elsewhere(schema: Json) -> bool:
    """Return whether a schema only refers to another document, whose contents are unknown here."""
    if not isinstance(schema, dict) or not schema.keys() - {"$ref"} <= NO_ASSERTIONS:
        return False
    reference = schema.get("$ref")
    return isinstance(reference, str) and not reference.startswith("#")


_PLAIN = NO_ASSERTIONS | {"type", "properties", "required", "items", "minItems", "maxItems"}
_OF_VALUES = NO_ASSERTIONS | {"type", "enum", "const", "minLength", "maxLength", "minimum", "maximum"}


def _is_plain(schema: Json) -> bool:
    """Return whether a schema, if impossible, is so by its own keywords rather than as a part of another."""
    if not isinstance(schema, dict):
        return False
    return schema.keys() <= _PLAIN or schema.keys() <= _OF_VALUES


_IN_PLACE = IN_PLACE | {"$ref", "$dynamicRef", "$recursiveRef"}


def _with_closed(node: SchemaObject) -> SchemaObject:
    """Return a schema closed by `additionalProperties` if `unevaluatedProperties` closes it with the same meaning."""
    if node.get("unevaluatedProperties") is not False or not _IN_PLACE.isdisjoint(node):
        return node
    return {**node, "additionalProperties": node.get("additionalProperties", False)}


_OPAQUE: Json = {"$ref": "impossible:"}
"""Placeholder for an impossible schema about which nothing may be inferred."""


def _innermost(
    nodes: Sequence[tuple[Location, SchemaObject]], hits: Mapping[int, Location], told: frozenset[Location], target: Resolve
) -> Iterator[Impossible]:
    """Yield those of some impossible schemas that stay impossible independently of the others."""
    done: dict[int, Json] = {}
    own: dict[int, SchemaObject] = {}
    for _, node in reversed(nodes):
        new = with_parts(node, done)
        if id(node) in hits and isinstance(new, dict):
            own[id(node)] = new
            done[id(node)] = False if is_written_false(node) else _OPAQUE
        else:
            done[id(node)] = new

    def resolve(reference: str) -> Json:
        result = target(reference)
        return done.get(id(result), result)

    for path, node in nodes:
        if id(node) in hits and path not in told and not is_written_false(node):
            reason = _reason(own[id(node)], lambda schema: Answering(resolve, PAIRS_AT_A_PLACE).refuses_all(_with_closed(schema)))
            if reason is not None:
                yield Impossible(path, *reason)


def _reason(node: SchemaObject, refused: Callable[[SchemaObject], bool]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return a minimal set of contradictory keywords, with required names, or `None` if the cause is further inside."""
    kept = {word: value for word, value in node.items() if word not in NO_ASSERTIONS}
    if not refused(kept):
        return None
    for word in list(kept):
        fewer = {item: value for item, value in kept.items() if item != word}
        if refused(fewer):
            kept = fewer
    names = required_names(kept) if "maxProperties" not in kept else []  # only the full number is too many
    if len(names) <= WEIGHED_NAMES:
        for name in list(names):
            fewer_names: list[Json] = [item for item in names if item != name]
            if refused({**kept, "required": fewer_names}):
                names.remove(name)
    words = [word for word in kept if word != "type"]
    return tuple(words if len(words) > 1 else kept), tuple(names)
