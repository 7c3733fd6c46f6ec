"""Keep the alternatives of a union apart that mean different things by what is sent alike.

Two lists may be read in two ways (as texts, as values written into texts), and so may two objects.
A list that is more than its items say stands in an object of its own, and objects begin with a key that names them.
That is done only where an answer could be meant either way: types, constants and required properties mostly tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

from msgspec.structs import replace

from instrc.ir.codec import BoxCodec, Codec, PairsCodec
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.limits.payloads import COMPARED_PAIRS
from instrc.lowering.context import Progress
from instrc.lowering.definitions import PayloadDefinitions, definition_name, shared_copy, tagged_later
from instrc.lowering.names import unique_name
from instrc.lowering.rewrites.first_keys import with_distinct_first_keys
from instrc.lowering.tags import with_tag
from instrc.lowering.variants import Variant
from instrc.schema.laws.bounds import bound
from instrc.schema.relations import disjoint
from instrc.schema.walk import map_schemas


def disambiguated(variants: Sequence[Variant], dialect: Dialect, progress: Progress) -> tuple[list[Variant], Progress]:
    """Return the variants of a union with lists and objects so that no answer can be meant in two ways."""
    found = _boxed(variants, dialect, progress.definitions)
    alike: list[int] = []
    if dialect.first_keys:
        found, alike, progress = with_distinct_first_keys(found, progress)
    objects = [number for number, variant in enumerate(found) if isinstance(variant.body.get("properties"), dict)]
    objects = [number for number in objects if found[number].kind == "object"]
    led = set(alike)
    rest = [number for number in objects if number not in led]
    chosen = [*alike, *(rest[number] for number in _mistakable([found[each] for each in rest], dialect, progress.definitions))]
    found, definitions = _tagged(found, chosen, objects, dialect, progress.definitions)
    for number, variant in enumerate(found):
        found[number], definitions = shared_copy(variant, definitions)
    return found, progress.with_definitions(definitions)


def _boxed(variants: Sequence[Variant], dialect: Dialect, definitions: PayloadDefinitions) -> list[Variant]:
    """Put the lists that could be mistaken for others into objects of their own."""
    found = list(variants)
    lists = [number for number, variant in enumerate(variants) if variant.kind == "array"]
    if len(lists) < 2:
        return found
    mistakable = {lists[number] for number in _mistakable([variants[each] for each in lists], dialect, definitions)}
    taken = {name for variant in variants if variant.kind == "object" for name in mapping(variant.body.get("properties"))}
    for number in lists:
        codec = variants[number].codec
        if codec is not None and (number in mistakable or isinstance(codec, PairsCodec)):
            key = unique_name("entries" if isinstance(codec, PairsCodec) else "items", taken, 60)
            taken.add(key)
            found[number] = _box(variants[number], key, dialect)
    return found


def _box(variant: Variant, key: str, dialect: Dialect) -> Variant:
    """Put a list into an object of its own; one that stands for a map shows even when empty that it does."""
    box: JsonObject = {"type": "object", "properties": {key: variant.body}, "required": [key]}
    if dialect.closed:
        box["additionalProperties"] = False
    if "propertyOrdering" in dialect.keywords:
        box["propertyOrdering"] = [key]
    return replace(variant, kind="object", body=box, codec=BoxCodec(key, variant.codec))


def _tagged(
    variants: Sequence[Variant], chosen: Sequence[int], objects: Sequence[int], dialect: Dialect, definitions: PayloadDefinitions
) -> tuple[list[Variant], PayloadDefinitions]:
    """Let each of the chosen objects begin with a key that none of the objects has and that names it."""
    found = list(variants)
    if not chosen:
        return found, definitions
    named = {name for number in objects for name in mapping(variants[number].body["properties"])}
    for variant in (variants[number] for number in chosen):
        if variant.kind == "ref" and isinstance(variant.node, dict):
            named |= mapping(variant.node.get("properties")).keys()
    tag = unique_name("option", named, 64)
    for number, label in _labels([(number, variants[number]) for number in chosen], tag, definitions).items():
        variant = variants[number]
        definitions = definitions.labelled(variant, tag, label)
        if variant.kind == "ref":
            found[number], definitions = tagged_later(variant, tag, label, definitions)
        else:
            body, codec = with_tag(variant.body, variant.codec, tag, label, constant="const" in dialect.keywords)
            found[number] = replace(variant, body=body, codec=codec)
    return found, definitions


def _labels(chosen: Sequence[tuple[int, Variant]], tag: str, definitions: PayloadDefinitions) -> dict[int, str]:
    """Return a label for each of the chosen objects: one that a copy of its definition has already, where there is one.

    Were definitions numbered anew in each union, there would be a copy for each pair of a definition and a number.
    """
    labels: dict[int, str] = {}
    taken: set[str] = set()
    for number, variant in chosen:
        known = definitions.labels.get((definition_name(variant), tag), ())
        if (label := next((each for each in known if each not in taken), None)) is not None:
            labels[number] = label
            taken.add(label)
    for place, (number, variant) in enumerate(chosen, 1):
        if number not in labels:
            labels[number] = unique_name(variant.title or f"option_{place}", taken, 60)
            taken.add(labels[number])
    return {number: labels[number] for number, _ in chosen}


def _mistakable(variants: Sequence[Variant], dialect: Dialect, definitions: PayloadDefinitions) -> list[int]:
    """Return the variants of which an answer could be taken for another one that means something else."""
    found: set[int] = set()
    seen: dict[int, JsonObject] = {}

    def answered(number: int) -> JsonObject:
        if number not in seen:
            seen[number] = _as_answered(variants[number].body, dialect)
        return seen[number]

    def resolve(reference: str) -> Json:
        body = definitions.bodies.get(reference.rsplit("/", 1)[-1])
        return None if body is None else _close_objects(body, dialect)

    codecs = [variant.codec for variant in variants]
    pairs = combinations(range(len(variants)), 2)
    for left, right in islice(pairs, COMPARED_PAIRS):
        if codecs[left] != codecs[right] and not disjoint(answered(left), answered(right), resolve=resolve):
            found |= {left, right}
    if (rest := next(pairs, None)) is not None:
        found |= _taken_for_alike(codecs, *rest)
    return sorted(found)


def _taken_for_alike(codecs: Sequence[Codec], left: int, right: int) -> set[int]:
    """Return the variants that are in a pair with different codecs which is not compared.

    `left` and `right` are the first pair that is not; after it come `left` with each variant behind `right`,
    and the variants behind `left` with one another.
    """
    beside = {number for number in range(right, len(codecs)) if codecs[number] != codecs[left]}
    behind = range(left + 1, len(codecs))
    differ = any(codecs[number] != codecs[left + 1] for number in behind)
    return {*([left] if beside else []), *beside, *(behind if differ else [])}


def _as_answered(body: JsonObject, dialect: Dialect) -> JsonObject:
    """Return the schema of answers by which a variant is told from others: an empty list tells nothing."""
    body = _close_objects(body, dialect)
    return {**body, "minItems": max(1, bound(body, "minItems") or 0)} if body.get("type") == "array" else body


def _close_objects(body: JsonObject, dialect: Dialect) -> JsonObject:
    """Return a schema whose objects are closed: where a target cannot say so, the one is meant that declares what there is."""
    if dialect.closed:
        return body
    closed = map_schemas(body, _close_node)
    return closed if isinstance(closed, dict) else body


def _close_node(node: Json) -> Json:
    if not isinstance(node, dict) or node.get("type") != "object":
        return node
    if not node.keys().isdisjoint({"additionalProperties", "patternProperties"}):
        return node
    return {**node, "additionalProperties": False}
