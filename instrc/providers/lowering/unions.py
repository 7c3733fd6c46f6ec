"""Write unions such that an answer matches one alternative, or several with the same meaning."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, islice, pairwise
from math import prod
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from instrc.providers.codec import (
    Alternative,
    BoxCodec,
    Choice,
    ChoiceCodec,
    Codec,
    PairsCodec,
    RefCodec,
    TextCodec,
    UnionCodec,
    ValuesCodec,
)
from instrc.providers.dialect import Dialect
from instrc.providers.lowering.context import (
    Ledger,
    PayloadDefinitions,
    RewriteContext,
    Variant,
    definition_name,
    distinct,
    intersected,
    join_notes,
    leading,
    legal,
    listed_values,
    note,
    pairs_by_sent,
    shared_copy,
    tagged_later,
    taking_anything,
    unique_name,
    with_tag,
    without_annotations,
    without_needless,
)
from instrc.providers.lowering.json_text import anything_variant, as_json_text
from instrc.providers.lowering.scalars import OF_NUMBERS, OF_STRINGS, join_enumerations, same_enumeration
from instrc.schema.laws.numbers import bound
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import HOLDERS, KEYWORDS, NO_ASSERTIONS
from instrc.schema.walk import map_schemas, required_names
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, freeze, mapping
from instrc.text.limits import REBUILT_LEVELS, UNION_VARIANTS
from instrc.text.sentences import filled

COMPARED_PAIRS: Final = 1500
"""Maximum pairs of alternatives that are compared; further ones are assumed to be alike."""
MULTIPLIED_BRANCHES: Final = 1000
"""Maximum number of branches when multiplying sibling unions; the remaining ones are reported as lost."""
COMPARED_VARIANTS: Final = 60
"""Maximum branches of `oneOf` that are compared pairwise."""


_NOT_BESIDE = frozenset({"anyOf", "not", "if", "then", "else"}) | NO_ASSERTIONS
"""Keywords that are not merged into the branches of a sibling union."""


def branches(node: JsonObject, context: RewriteContext) -> list[Variant]:
    """Return the variants of all branches of `anyOf` or `oneOf`, each with the keywords next to it.

    Other unions in the sibling `allOf` multiply them: those that would produce too many are recorded as lost.
    """
    if "allOf" not in node:
        return _branches(node, context)
    dropped: list[Json] = []
    if prod(map(_alternatives, as_array(node["allOf"])), start=_alternatives(node)) > MULTIPLIED_BRANCHES:
        fewer, dropped = _with_fewer(node)
    if not dropped:
        mark = context.ledger.mark()
        result = _branches(node, context)
        if not any(variant.too_many for variant in result):
            return result
        fewer, dropped = _with_fewer(node)
        if not dropped:
            return result
        context.ledger.reset(mark)
    for member in dropped:
        context.ledger.lose_all(member, "would make more alternatives than can be kept apart")
    result = _branches(context.ledger.derive(fewer, node), context)
    return [variant.after([note("allOf", dropped, context.sentences)]) for variant in result]


def _branches(node: JsonObject, context: RewriteContext) -> list[Variant]:
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    listed = as_array(node[keyword])
    beside: JsonObject = {name: node[name] for name in node if name != keyword and name not in _NOT_BESIDE}
    if beside:
        context.ledger.derive(beside, node)
        if len(listed) > 1 and not HOLDERS.isdisjoint(beside):
            context = replace(context, copying=True)
    result: list[Variant] = []
    schemas: list[Json] = []
    for branch in listed:
        schema = branch
        if beside:
            schema = intersected([beside, branch], context.ledger)
        schemas.append(schema)
        item = context.variants(schema)
        result += [_named(variant, branch) for variant in item] if isinstance(branch, dict) else item
        if len(result) > UNION_VARIANTS or any(variant.too_many for variant in item):
            variant = anything_variant(context, node, "has more alternatives than can be kept apart")
            return [replace(variant, too_many=True)]
    if keyword == "oneOf" and not _exclusive(schemas, context):
        reason = "is said as anyOf; that exactly one holds is checked when the answer is lifted"
        context.ledger.lose(node, "oneOf", reason=reason)
    if (
        context.dialect.unions == "choice"
        and len(result) > 1
        and any(variant.kind in {"object", "array", "ref"} for variant in result)
    ):
        context.ledger.lose(node, keyword, "part", "is a choice by name, and what it names may be missing")
    return result


def _named(variant: Variant, branch: JsonObject) -> Variant:
    """Return a variant with the description and title of its branch, unless it has its own."""
    text, title = branch.get("description"), branch.get("title")
    text = variant.text or (text if isinstance(text, str) else None)
    title = variant.title or (title if isinstance(title, str) else None)
    return variant if text == variant.text and title == variant.title else replace(variant, text=text, title=title)


def _exclusive(schemas: Sequence[Json], context: RewriteContext) -> bool:
    """Return whether no value satisfies two of the schemas, so that `anyOf` is equivalent to `oneOf`."""
    pairs = combinations(schemas, 2)
    return len(schemas) <= COMPARED_VARIANTS and all(disjoint(left, right, resolve=context.target) for left, right in pairs)


def _alternatives(schema: Json) -> int:
    """Return the factor by which a schema multiplies the branches of a sibling union."""
    lists = [schema[word] for word in ("anyOf", "oneOf") if word in schema] if isinstance(schema, dict) else []
    return prod(len(as_array(item)) for item in lists)


def _with_fewer(node: JsonObject) -> tuple[JsonObject, list[Json]]:
    """Return a union without the siblings that would multiply its branches beyond the limit, and these siblings."""
    many = _alternatives(node)
    kept: list[Json] = []
    dropped: list[Json] = []
    for member in as_array(node["allOf"]):
        factor = _alternatives(member)
        if factor == 1 or many * factor <= COMPARED_VARIANTS:
            many *= factor
            kept.append(member)
        else:
            dropped.append(member)
    fewer: JsonObject = {name: value for name, value in node.items() if name != "allOf"} | ({"allOf": kept} if kept else {})
    return fewer, dropped


def with_distinct_first_keys(variants: Sequence[Variant], ledger: Ledger) -> tuple[list[Variant], list[int]]:
    """Reorder the objects of a union so that their first keys are different or discriminate where possible.

    Return the variants, and the indexes of those that no first key distinguishes.
    """
    definitions = ledger.definitions
    result = [_copied(variant, definitions) for variant in variants]
    objects = [number for number, variant in enumerate(result) if variant.kind == "object" and variant.body.get("properties")]
    for _ in objects:  # objects that start with another key may become ambiguous with it
        leaders = [(group, _leader([result[number] for number in group])) for group in _alike(result, objects)]
        leaders = [(group, leader) for group, leader in leaders if leader is not None]
        if not leaders:
            break
        for group, leader in leaders:
            for number in group:
                result[number] = _led(result[number], leader or "", ledger)
    under_way = [number for number, variant in enumerate(result) if variant.kind == "ref" and definitions.under_way(variant)]
    if under_way:  # their first key is not known yet
        return result, [*objects, *under_way] if len(under_way) > 1 else objects
    return result, [number for group in _alike(result, objects) for number in group]


def _copied(variant: Variant, definitions: PayloadDefinitions) -> Variant:
    """Return the target of a reference as a copy."""
    body = definitions.bodies.get(variant.codec.name) if variant.kind == "ref" and isinstance(variant.codec, RefCodec) else None
    if body is None or body.get("type") != "object" or not isinstance(variant.codec, RefCodec):
        return variant
    copy: JsonObject = {name: value for name, value in body.items() if name not in {"title", "description"}}
    name, text = variant.codec.name, body.get("description")
    text = variant.text or (text if isinstance(text, str) else None)
    return replace(variant, kind="object", body=copy, codec=definitions.codecs[name], text=text, definition=name)


def _leader(group: Sequence[Variant]) -> str | None:
    """Return a key that distinguishes the objects of a group, or `None`."""
    properties = [mapping(variant.body["properties"]) for variant in group]
    shared = [name for name in properties[0] if all(name in others for others in properties[1:])]
    return next((name for name in shared if _discriminates(group, name)), None)


def _discriminates(group: Sequence[Variant], name: str) -> bool:
    """Return whether a property has a different constant in every object of a group."""
    seen: set[Hashable] = set()
    for variant in group:
        schema = mapping(variant.body["properties"]).get(name)
        if not isinstance(schema, dict) or not schema.keys() & {"const", "enum"} or name not in required_names(variant.body):
            return False
        values = {freeze(value) for value in listed_values(schema)}
        if values & seen:
            return False
        seen |= values
    return True


def _alike(variants: Sequence[Variant], objects: Sequence[int]) -> list[list[int]]:
    """Return the groups of objects that begin with the same key without being distinguished by it."""
    groups: dict[str, list[int]] = {}
    for number in objects:
        groups.setdefault(next(iter(mapping(variants[number].body["properties"]))), []).append(number)
    return [
        group
        for first, group in groups.items()
        if len(group) > 1 and not _discriminates([variants[number] for number in group], first)
    ]


def _led(variant: Variant, leader: str, ledger: Ledger) -> Variant:
    """Move one of an object's keys to the front."""
    body = leading(variant.body, leader, mapping(variant.body["properties"])[leader])
    if isinstance(variant.node, dict):
        reason = f"begins with {dumps(leader, indent=False)}, which tells the alternatives apart"
        ledger.lose(variant.node, "properties", "annotation", reason)
    return replace(variant, body=body)


def disambiguated(variants: Sequence[Variant], dialect: Dialect, ledger: Ledger) -> list[Variant]:
    """Return the variants of a union with lists and objects changed so that every answer is unambiguous."""
    result = _boxed(variants, dialect, ledger.definitions)
    alike: list[int] = []
    if dialect.first_keys:
        result, alike = with_distinct_first_keys(result, ledger)
    objects = [number for number, variant in enumerate(result) if isinstance(variant.body.get("properties"), dict)]
    objects = [number for number in objects if result[number].kind == "object"]
    led = set(alike)
    rest = [number for number in objects if number not in led]
    chosen = [*alike, *(rest[number] for number in _mistakable([result[item] for item in rest], dialect, ledger.definitions))]
    result = _tagged(result, chosen, objects, dialect, ledger.definitions)
    return [shared_copy(variant, ledger.definitions) for variant in result]


def _boxed(variants: Sequence[Variant], dialect: Dialect, definitions: PayloadDefinitions) -> list[Variant]:
    """Wrap lists that could be mistaken for others in objects."""
    result = list(variants)
    lists = [number for number, variant in enumerate(variants) if variant.kind == "array"]
    if len(lists) < 2:
        return result
    mistakable = {lists[number] for number in _mistakable([variants[item] for item in lists], dialect, definitions)}
    taken = {name for variant in variants if variant.kind == "object" for name in mapping(variant.body.get("properties"))}
    for number in lists:
        codec = variants[number].codec
        if codec is not None and (number in mistakable or isinstance(codec, PairsCodec)):
            key = unique_name("entries" if isinstance(codec, PairsCodec) else "items", taken, 60)
            taken.add(key)
            result[number] = _box(variants[number], key, dialect)
    return result


def _mistakable(variants: Sequence[Variant], dialect: Dialect, definitions: PayloadDefinitions) -> list[int]:
    """Return the variants whose answers could be mistaken for another variant with a different meaning."""
    result: set[int] = set()
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
            result |= {left, right}
    if (rest := next(pairs, None)) is not None:
        result |= _taken_for_alike(codecs, *rest)
    return sorted(result)


def _as_answered(body: JsonObject, dialect: Dialect) -> JsonObject:
    """Return the answer schema that distinguishes a variant from others: empty lists do not count."""
    body = _close_objects(body, dialect)
    return {**body, "minItems": max(1, bound(body, "minItems") or 0)} if body.get("type") == "array" else body


def _close_objects(body: JsonObject, dialect: Dialect) -> JsonObject:
    """Return a schema with closed objects: in an open union, an object belongs to the alternative that declares its keys."""
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


def _taken_for_alike(codecs: Sequence[Codec], left: int, right: int) -> set[int]:
    """Return the variants in pairs with different codecs that are not compared.

    `left` and `right` are the first such pair; it is followed by `left` with each variant after `right`,
    and by all pairs of variants after `left`.
    """
    beside = {number for number in range(right, len(codecs)) if codecs[number] != codecs[left]}
    behind = range(left + 1, len(codecs))
    differ = any(codecs[number] != codecs[left + 1] for number in behind)
    return {*([left] if beside else []), *beside, *(behind if differ else [])}


def _box(variant: Variant, key: str, dialect: Dialect) -> Variant:
    """Wrap a list in an object; one that encodes a map is marked even if empty."""
    box: JsonObject = {"type": "object", "properties": {key: variant.body}, "required": [key]}
    if dialect.closed:
        box["additionalProperties"] = False
    if "propertyOrdering" in dialect.keywords:
        box["propertyOrdering"] = [key]
    return replace(variant, kind="object", body=box, codec=BoxCodec(key, variant.codec))


def _tagged(
    variants: Sequence[Variant], chosen: Sequence[int], objects: Sequence[int], dialect: Dialect, definitions: PayloadDefinitions
) -> list[Variant]:
    """Prepend to each of the chosen objects an identifying key that none of the objects has."""
    result = list(variants)
    if not chosen:
        return result
    named = {name for number in objects for name in mapping(variants[number].body["properties"])}
    for variant in (variants[number] for number in chosen):
        if variant.kind == "ref" and isinstance(variant.node, dict):
            named |= mapping(variant.node.get("properties")).keys()
    tag = unique_name("option", named, 64)
    for number, label in _labels([(number, variants[number]) for number in chosen], tag, definitions).items():
        variant = variants[number]
        definitions.label(variant, tag, label)
        if variant.kind == "ref":
            result[number] = tagged_later(variant, tag, label, definitions)
        else:
            body, codec = with_tag(variant.body, variant.codec, tag, label, constant="const" in dialect.keywords)
            result[number] = replace(variant, body=body, codec=codec)
    return result


def _labels(chosen: Sequence[tuple[int, Variant]], tag: str, definitions: PayloadDefinitions) -> dict[int, str]:
    """Return a label for each of the chosen objects, reusing one from a copy of its definition if there is one.

    New numbers in each union would require a copy for each pair of a definition and a number.
    """
    labels: dict[int, str] = {}
    taken: set[str] = set()
    for number, variant in chosen:
        known = definitions.labels.get((definition_name(variant), tag), ())
        if (label := next((item for item in known if item not in taken), None)) is not None:
            labels[number] = label
            taken.add(label)
    for place, (number, variant) in enumerate(chosen, 1):
        if number not in labels:
            labels[number] = unique_name(variant.title or f"option_{place}", taken, 60)
            taken.add(labels[number])
    return {number: labels[number] for number, _ in chosen}


def choice(variants: Sequence[Variant], context: RewriteContext) -> tuple[JsonObject, Codec]:
    """Write a union as one string, or as one object that names its alternative."""
    if all(variant.kind in {"null", "boolean"} or not variant.body.keys().isdisjoint({"enum", "const"}) for variant in variants):
        return _words(variants)
    scalars = [variant for variant in variants if variant.kind not in {"object", "array", "ref"}]
    containers = [variant for variant in variants if variant.kind in {"object", "array", "ref"}]
    if len(scalars) > 1:
        text = as_json_text(scalars, context)
        scalars = [text]
    if not containers:
        notes: JsonObject = {"description": join_notes(*scalars[0].notes)} if scalars[0].notes else {}
        return {**scalars[0].body, **notes}, scalars[0].codec
    reason = "is one of several, which the target cannot tie to the name of the choice"
    for variant in variants:
        if isinstance(variant.node, dict):
            context.ledger.lose(variant.node, "type", reason=reason)
            for keyword in variant.node:
                if keyword in KEYWORDS and keyword not in NO_ASSERTIONS and keyword != "type":
                    context.ledger.lose(variant.node, keyword, "part", reason, parts=False)
    return _choice_named([*containers, *scalars], context)


def _words(variants: Sequence[Variant]) -> tuple[JsonObject, Codec]:
    """Write variants with finitely many values as one string enum."""
    known: dict[str, tuple[Json, Json]] = {}
    for variant in variants:
        for sent, value in _finite_table(variant):
            word = sent if isinstance(sent, str) else dumps(sent, indent=False)
            if word in known and freeze(known[word][1]) != freeze(value):
                word = unique_name(word, known, 10_000)
            known[word] = (word, value)
    same = all(sent == value for sent, value in known.values())
    return {"type": "string", "enum": list(known)}, None if same else ValuesCodec(tuple(known.values()))


def _finite_table(variant: Variant) -> list[tuple[Json, Json]]:
    if variant.kind == "null":
        return [("null", None)]
    if variant.kind == "boolean":
        return [("true", True), ("false", False)]
    return list(pairs_by_sent(variant).values())


def _choice_named(variants: Sequence[Variant], context: RewriteContext) -> tuple[JsonObject, Codec]:
    """Write alternatives as properties of one object, whose `choice` names the present one."""
    labels: list[str] = []
    of: dict[str, Choice] = {}
    properties: JsonObject = {}
    for variant in variants:
        label = unique_name(_label(variant, context.dialect), [*labels, "choice"], 60)
        labels.append(label)
        if variant.kind == "null":
            of[label] = Choice(null=True)
            continue
        text = join_notes(variant.text, *variant.notes) or filled(context.sentences.if_chosen, label=label)
        properties[label] = {"description": text, **variant.body}
        of[label] = Choice(label, variant.codec, as_object(without_annotations(variant.body)))
    words: list[Json] = [*labels]
    named: JsonObject = {"type": "string", "enum": words, "description": context.sentences.chosen}
    return {"type": "object", "properties": {"choice": named, **properties}, "required": ["choice"]}, ChoiceCodec(of)


def _label(variant: Variant, dialect: Dialect) -> str:
    """Return a name for an alternative: its title, its leading constant, or its type."""
    words = [variant.title] if variant.title else []
    for schema in mapping(variant.body.get("properties")).values() if variant.kind == "object" else ():
        values = listed_values(schema) if isinstance(schema, dict) else []
        words += [value for value in values if isinstance(value, str) and len(values) == 1]
    plain = (word if dialect.key is None else legal(word, dialect.key, "") for word in words)
    return next((word for word in plain if word), {"array": "list", "string": "value"}.get(variant.kind, variant.kind))


SILENT = frozenset({"$schema", "$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$vocabulary", "title", "description"})
"""Annotations that a flat schema no longer needs, or that are carried over elsewhere."""
_QUIET = SILENT | (KEYWORDS.keys() - NO_ASSERTIONS)
"""Keywords that `described` ignores."""
_IN_DESCRIPTION = "has no force; what a model can use of it is in the description"
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_MORE = (KEYWORDS.keys() - NO_ASSERTIONS - {"type"}) | OF_STRINGS | OF_NUMBERS
"""Keywords that may constrain a value beyond its type."""
Rebuilt: TypeAlias = tuple[JsonObject | None, Codec]
"""A schema in the target's keywords, `None` if it has no values, and the codec of its values."""


def fit(node: Json, context: RewriteContext) -> Rebuilt:
    """Return a schema in the keywords of the target, and its codec."""
    if (kind := scalar_type(node, context)) is not None:
        return described(node, {"type": kind}, None, (), context)
    result = context.variants(node)
    return combine(node, result, context)


def scalar_type(node: Json, context: RewriteContext) -> str | None:
    """Return the scalar type that a schema consists of, or `None` for other schemas.

    Most schemas are scalars: their keywords do not require combining variants.
    """
    if not isinstance(node, dict) or context.active or context.nested >= REBUILT_LEVELS:
        return None
    kind = node.get("type")
    return kind if isinstance(kind, str) and kind in _SCALARS and _MORE.isdisjoint(node) else None


def combine(node: Json, variants: Sequence[Variant], context: RewriteContext, notes: Sequence[str] = ()) -> Rebuilt:
    """Return one schema for several variants, with the node's description and the notes."""
    dialect = context.dialect
    if not variants or len(variants) > 2 or variants[0].kind == "null":
        return combine_variants(node, variants, context, notes)[0]
    variant = variants[0]
    body, codec = variant.body, variant.codec
    if len(variants) == 2:
        if variants[1].kind != "null" or dialect.unions == "choice" or (not dialect.null and variant.anything):
            return combine_variants(node, variants, context, notes)[0]
        body, codec = _or_null(variant, dialect)
    reported = (*variant.notes, variant.text, *notes) if variant.notes or variant.text or notes else ()
    return described(node, body, codec, reported, context)


def _or_null(variant: Variant, dialect: Dialect) -> tuple[JsonObject, Codec]:
    """Return the schema of a variant extended by null, and its codec."""
    codec = variant.codec
    if codec is None:
        return _nullable(variant.body, variant.kind, dialect), None
    if isinstance(codec, RefCodec) or (isinstance(codec, TextCodec) and "null" not in (codec.kinds or ("null",))):
        codec = replace(codec, null=True)  # it is a separate alternative next to the text
    return _nullable(variant.body, variant.kind, dialect), codec


def _nullable(body: JsonObject, kind: str, dialect: Dialect) -> JsonObject:
    if kind == "any":
        return body
    scalar = kind in _SCALARS and "anyOf" not in body
    if not scalar or (("enum" in body or "const" in body) and "null" not in dialect.enums):
        return {"anyOf": [body, {"type": "null"}]}
    types: JsonObject = {"type": [body["type"], "null"]}
    if "const" in body:
        return {**types, "enum": [body["const"], None]}
    if "enum" in body:
        return {**body, **types, "enum": [*as_array(body["enum"]), None]}
    return {**body, **types}


def combine_variants(
    node: Json, variants: Sequence[Variant], context: RewriteContext, notes: Sequence[str] = ()
) -> tuple[Rebuilt, Sequence[Variant]]:
    """Return one schema for several variants, and its variants, some changed to be distinguishable."""
    variants = _merge_variants(context, variants)
    if not variants:
        return (None, None), variants
    shared = [text for text in variants[0].notes if all(text in variant.notes for variant in variants if variant.kind != "null")]
    if len(variants) == 1:
        shared += [text for text in [variants[0].text] if text]
    union = _united(context, variants, tuple(shared))
    return described(node, union.body, union.codec, [*union.notes, *notes], context), union.variants


def _merge_variants(context: RewriteContext, variants: Sequence[Variant]) -> list[Variant]:
    """Return distinct variants: equal ones once, one that accepts anything alone, indistinguishable strings as one."""
    dialect = context.dialect
    if (widest := taking_anything(variants)) is not None:
        nulls = [variant for variant in variants if variant.kind == "null"] if widest.written and dialect.null else []
        return [widest, *nulls]
    if len(variants) < 2 or (len(variants) == 2 and variants[1].kind == "null" != variants[0].kind):
        return list(variants)
    result = without_needless(variants)
    strings = [variant for variant in result if variant.kind == "string"]
    if len(strings) > 1:
        tables = [variant.codec.values for variant in strings if isinstance(variant.codec, ValuesCodec)]
        strange = any(not isinstance(value, str) for table in tables for _, value in table)
        listed = all(same_enumeration(left, right) for left, right in pairwise(strings))
        if any(variant.written for variant in strings) or (strange and not listed):
            text = as_json_text(strings, context)
            result = [*(variant for variant in result if variant.kind != "string"), text]
    nulls = [variant for variant in result if variant.kind == "null"]
    if len(nulls) > 1:
        null = replace(nulls[0], text=join_notes(*(variant.text for variant in nulls)))
        result = [null if variant is nulls[0] else variant for variant in result if variant.kind != "null" or variant is nulls[0]]
    return join_enumerations(dialect, distinct(result))


class _United(NamedTuple):
    """One schema for several variants."""

    body: JsonObject
    codec: Codec
    notes: tuple[str, ...]
    """Notes that apply to all variants."""
    variants: Sequence[Variant]
    """The variants as used in it, in order."""


def _united(context: RewriteContext, variants: Sequence[Variant], shared: tuple[str, ...]) -> _United:
    """Return one schema for different variants, and the codec that identifies the variant of an answer."""
    dialect = context.dialect
    if len(variants) == 1 and variants[0].kind == "null" and not dialect.null_type and dialect.null:
        body: JsonObject = {"type": ["string", "null"], "enum": ["null", None]}
        return _United(body, ValuesCodec(((None, None), ("null", None))), shared, variants)
    if len(variants) == 1 and (variants[0].kind != "null" or dialect.null):
        return _United(variants[0].body, variants[0].codec, shared, variants)
    if dialect.unions == "choice":
        body, codec = choice(variants, context)
        return _United(body, codec, shared, variants)
    others = [variant for variant in variants if variant.kind != "null"]
    nulls = [variant for variant in variants if variant.kind == "null"]
    if len(others) == 1:
        body, codec = _or_null(others[0], dialect)
        return _United(body, codec, _more(shared, [others[0].text, *others[0].notes]), variants)
    others = disambiguated(others, dialect, context.ledger)
    apart = [*others, *nulls]
    if dialect.type_lists and all(variant.bare for variant in others):
        return _United({"type": [variant.kind for variant in apart]}, None, shared, apart)
    for variant in nulls:
        shared = _more(shared, [variant.text, *variant.notes])
    bodies: list[Json] = [_branch(variant, shared, dialect) for variant in others]
    return _United({"anyOf": [*bodies, *(variant.body for variant in nulls)]}, _codec_of(others, nulls), shared, apart)


def _more(shared: tuple[str, ...], texts: Sequence[str | None]) -> tuple[str, ...]:
    """Return the shared notes with further ones."""
    return (*shared, *(text for text in texts if text and text not in shared))


def _branch(variant: Variant, shared: Sequence[str], dialect: Dialect) -> JsonObject:
    """Return one alternative with its own title and notes."""
    head: JsonObject = {"title": variant.title} if variant.title and "title" in dialect.keywords else {}
    if text := join_notes(variant.text, *(note for note in variant.notes if note not in shared)):
        head["description"] = text
    if head and "$ref" in variant.body:
        return {**head, "anyOf": [variant.body]}
    return {**head, **variant.body} if head else variant.body


def _codec_of(others: Sequence[Variant], nulls: Sequence[Variant]) -> Codec:
    """Return the codec of a union, or `None` if all branches are identities."""
    if all(variant.codec is None for variant in others):
        return None
    return UnionCodec(
        tuple(Alternative(as_object(without_annotations(variant.body)), variant.codec) for variant in [*others, *nulls])
    )


def described(node: Json, body: JsonObject, codec: Codec, notes: Sequence[str | None], context: RewriteContext) -> Rebuilt:
    """Return a schema with its title and description first, the latter including annotations that the target lacks."""
    if not isinstance(node, dict):
        text = join_notes(*notes) if notes else None
        return (_headed({"description": text}, body, {}) if text else body, codec)
    head: JsonObject = {}
    tail: JsonObject = {}
    description, title = node.get("description"), node.get("title")
    description = description if isinstance(description, str) else None
    for keyword in () if _QUIET.issuperset(node) else node:
        if keyword in _QUIET:
            continue
        if keyword == "default" and codec is None and "default" in context.dialect.keywords:
            tail["default"] = node["default"]
            continue
        context.ledger.lose(node, keyword, "annotation", _IN_DESCRIPTION)
        if keyword in NO_ASSERTIONS and (text := context.said(node, keyword)):
            notes = [*notes, text]
    if title and isinstance(title, str):
        if "title" in context.dialect.keywords:
            head["title"] = title
        elif not description:
            description = title
        else:
            context.ledger.lose(node, "title", "annotation", "has no place beside the description")
    if text := join_notes(description, *notes) if notes else description:
        head["description"] = text
    return _headed(head, body, tail) if head or tail else body, codec


def _headed(head: JsonObject, body: JsonObject, tail: JsonObject) -> JsonObject:
    """Return a schema with keywords before and after; a reference allows no siblings."""
    return {**head, "anyOf": [body], **tail} if head and "$ref" in body else {**head, **body, **tail}
