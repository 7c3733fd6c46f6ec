"""Write objects whose keys are data, and the number of their entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, structs

from instrc.providers.codec import ByPattern, Codec, ObjectCodec, PairsCodec, to_json
from instrc.providers.dialect import Dialect
from instrc.providers.lowering.context import Ledger, RewriteContext, Variant, note
from instrc.providers.lowering.target_patterns import pattern_for
from instrc.providers.lowering.unions import combine_variants, fit
from instrc.schema.laws.numbers import bound
from instrc.schema.walk import required_names
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, mapping

_COUNTING = frozenset({"minProperties", "maxProperties"})


def counted(node: JsonObject, body: JsonObject, context: RewriteContext, *, more: bool) -> tuple[JsonObject, Sequence[str]]:
    """Return an object with its property counts, unless its properties imply them, and the lost keywords."""
    if _COUNTING.isdisjoint(node):
        return body, ()
    dialect, properties = context.dialect, mapping(body.get("properties"))
    optional_as_null = bool(properties) and context.all_asked
    mixed = len(as_array(body.get("required", []))) < len(properties) and not dialect.counts_optional
    sayable = not (optional_as_null or more or mixed)
    least, most = bound(node, "minProperties") or 0, bound(node, "maxProperties")
    result: JsonObject = dict(body)
    lost: list[str] = []
    if least > len(required_names(node)):
        if "minProperties" in dialect.keywords and sayable:
            result["minProperties"] = int(least)
        else:
            lost.append("minProperties")
    closed = body.get("additionalProperties") is False and "patternProperties" not in body and not more
    if most is not None and not (closed and len(properties) <= most):
        if "maxProperties" in dialect.keywords and sayable:
            result["maxProperties"] = int(most)
        else:
            lost.append("maxProperties")
    context.ledger.lose_each(node, lost)
    return result, lost


def counted_entries(node: JsonObject, variant: Variant, context: RewriteContext) -> Variant:
    """Add the number of entries of a map: a list may repeat a key, so only a minimum of one is exact."""
    if _COUNTING.isdisjoint(node):
        return variant
    dialect = context.dialect
    keywords, limit = dialect.keywords, dialect.most_count if dialect.most_min_items is None else dialect.most_min_items
    least, most = int(bound(node, "minProperties") or 0), bound(node, "maxProperties")
    body: JsonObject = dict(variant.body)
    lost: list[str] = []
    if least > 0:
        sendable = "minItems" in keywords
        if sendable:
            body["minItems"] = least if limit is None else min(least, limit)
        if least > 1 or not sendable:
            lost.append("minProperties")
    if most is not None:
        if "maxItems" in keywords and (dialect.items_limit is None or most <= dialect.items_limit):
            body["maxItems"] = int(most)
        else:
            lost.append("maxProperties")
    notes = context.lose(node, lost)
    return structs.replace(variant, body=body, notes=(*variant.notes, *notes))


DEPENDENT = ("dependentRequired", "dependentSchemas")
_REST = ("additionalProperties", "unevaluatedProperties")
_OF_UNDECLARED = (*_REST, "patternProperties", "propertyNames", "maxProperties", *DEPENDENT)
"""Keywords about undeclared properties."""


class Undeclared(Struct, frozen=True, eq=False, gc=False):
    """The schemas of undeclared properties."""

    patterns: Mapping[str, Json]
    """Schemas by the patterns of keys."""
    rest: Json = None
    """Schema of keys that match no pattern; `None` if there is none."""

    @property
    def unsaid(self) -> bool:
        """Whether undeclared properties are unconstrained."""
        return self.rest is None and not self.patterns

    @property
    def given(self) -> Json:
        """The schema of keys that no pattern matches."""
        return True if self.rest is None else self.rest


class KeywordMap(NamedTuple):
    """Undeclared properties in the keywords of JSON Schema."""

    body: JsonObject
    codec: ObjectCodec | None
    notes: tuple[str, ...]


def maps(node: JsonObject, others: Undeclared, context: RewriteContext) -> Variant | None:
    """Write an object without declared properties."""
    if context.dialect.maps == "keep":
        result = keep_map(node, Undeclared(others.patterns, others.given), context)
        body, lost = counted(node, {"type": "object", **result.body}, context, more=False)
        variant = Variant("object", body, result.codec, (*result.notes, *context.sentences_for(node, lost)))
    else:
        entries = pairs(node, others, context)
        if entries is None:
            return _empty(node, context.dialect, context.ledger)
        variant = counted_entries(node, entries, context)
        variant = variant.after([context.sentences.key_list])
    lost = tuple(keyword for keyword in DEPENDENT if node.get(keyword))
    reported = context.lose(node, lost)
    return structs.replace(variant, notes=tuple(text for text in (*variant.notes, *reported) if text), node=node)


def _empty(node: JsonObject, dialect: Dialect, ledger: Ledger) -> Variant | None:
    """Write a map that must be empty."""
    if (bound(node, "minProperties") or 0) > 0:
        ledger.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
        return None
    body: JsonObject = {"type": "object", "properties": {}}
    if dialect.closed:
        body["additionalProperties"] = False
    if dialect.every_required:
        body["required"] = []
    if "propertyOrdering" in dialect.keywords:
        body["propertyOrdering"] = []
    if not dialect.closed:
        reason = "has no keyword in the target; what is not allowed is found when the answer is lifted"
        ledger.lose_each(node, [keyword for keyword in _OF_UNDECLARED if keyword in node], reason)
    return Variant("object", body, node=node)


def keep_map(node: JsonObject, others: Undeclared, context: RewriteContext, *, renamed: bool = False) -> KeywordMap:
    """Write undeclared properties with JSON Schema keywords, which Mistral, vLLM and smolagents support."""
    keywords = context.dialect.keywords
    patterns, rest = others.patterns, others.rest
    lost: list[str] = []
    body: JsonObject = {}
    by: list[ByPattern] = []
    other: Codec = None
    single = len(patterns) == 1 and not renamed  # llguidance refuses patterns that overlap
    sent = {pattern: pattern_for(pattern, context.dialect, "plain") for pattern in patterns} if single else {}
    if sent and "patternProperties" in keywords and None not in sent.values():
        by_pattern: JsonObject = {}
        for pattern, schema in patterns.items():
            value, codec = fit(schema, context.deeper())
            by_pattern[sent[pattern] or pattern] = False if value is None else value
            by.append(ByPattern(pattern, codec))
        body["patternProperties"] = by_pattern  # declared properties that match the pattern have its demands among their own
    elif patterns:
        lost.append("patternProperties")
        context.ledger.lose(node, "patternProperties")
        _lose_rest(node, rest, context.ledger)
        rest = _any_of(node, others, context.ledger)
    if rest is None:
        body["additionalProperties"] = True
    elif rest is False:
        body["additionalProperties"] = False
    else:
        value, other = fit(rest, context.deeper())
        body["additionalProperties"] = False if value is None else value or True
    if "propertyNames" in node and "propertyNames" in keywords:
        named: JsonObject = {"allOf": [{"type": "string"}, node["propertyNames"]]}
        names, _ = fit(context.ledger.derive(named, node), context.deeper())
        if names is None:  # no name is valid, so there is no property
            return KeywordMap({"additionalProperties": False}, None, context.sentences_for(node, lost))
        body["propertyNames"] = names
    elif "propertyNames" in node:
        lost.append("propertyNames")
        context.ledger.lose(node, "propertyNames")
    if any(entry.codec is not None for entry in by):
        return KeywordMap(body, ObjectCodec({}, other=other, by=tuple(by)), context.sentences_for(node, lost))
    return KeywordMap(body, None if other is None else ObjectCodec({}, other=other), context.sentences_for(node, lost))


def _lose_rest(node: JsonObject, rest: Json, ledger: Ledger) -> None:
    """Record the loss of the schema for keys that match no pattern, if patterns are not sent."""
    if rest is not True:
        ledger.lose_each(node, [keyword for keyword in _REST if keyword in node])


def _any_of(node: JsonObject, others: Undeclared, ledger: Ledger) -> Json:
    """Return a schema for every undeclared property, if patterns are not sent."""
    if others.given is True:
        return True
    values = [schema for schema in others.patterns.values() if schema is not False]
    if others.rest is not False:
        values.append(others.rest)
    if not values:
        return False
    union: JsonObject = {"anyOf": values}
    return ledger.derive(union, node)


def pairs(node: JsonObject, others: Undeclared, context: RewriteContext) -> Variant | None:
    """Write entries as a list of `{key, value}`, one alternative per key pattern; return `None` if no entry is possible."""
    patterns, rest = others.patterns, others.given
    wanted: list[tuple[str | None, Json]] = [(pattern, schema) for pattern, schema in patterns.items() if schema is not False]
    if rest is not False:
        wanted.append((None, rest))
    if patterns and (len(patterns) > 1 or rest is not False or node.get("properties")):
        context.ledger.lose(node, "patternProperties")
    for pattern in patterns:
        if _enforced(pattern, context.dialect) is None:
            context.ledger.lose(node, "patternProperties")
            _lose_rest(node, rest, context.ledger)
    if context.dialect.unions == "choice" and len(wanted) > 1:
        union: JsonObject = {"anyOf": [schema for _, schema in wanted]}
        wanted = [(None, context.ledger.derive(union, node))]
    entries: list[tuple[str | None, Variant]] = []
    for key_pattern, schema in wanted:
        entry = _entry(node, key_pattern, schema, context)
        result = context.deeper().variants(entry)
        if len(result) == 1:
            entries.append((key_pattern, result[0]))
    if not entries:
        return None
    return _list_of(entries, context)


def _enforced(pattern: str, dialect: Dialect) -> str | None:
    """Return a pattern in the target's form, if the target enforces patterns of keys."""
    return pattern_for(pattern, dialect) if "pattern" in dialect.keywords else None


def _entry(node: JsonObject, pattern: str | None, value: Json, context: RewriteContext) -> JsonObject:
    """Return the schema of one entry."""
    key: JsonObject = {"type": "string"}
    if pattern is not None and (enforced := _enforced(pattern, context.dialect)) is not None:
        key["pattern"] = enforced
    elif pattern is not None:  # that keyword is generated: what is lost is `patternProperties`
        key["description"] = note("pattern", pattern, context.sentences)
    if "propertyNames" in node:
        key = {"allOf": [key, node["propertyNames"]]}
    pair: JsonObject = {
        "type": "object",
        "properties": {"key": key, "value": value},
        "required": ["key", "value"],
        "additionalProperties": False,
    }
    context.ledger.derive(key, node)
    return context.ledger.invent(pair, node)


def _list_of(entries: Sequence[tuple[str | None, Variant]], context: RewriteContext) -> Variant:
    """Return the list of entries of several kinds."""
    keys = [dumps([variant.body, to_json(variant.codec)], indent=False) for _, variant in entries]
    distinct: dict[str, Variant] = {}
    for key, (_, variant) in zip(keys, entries, strict=True):
        distinct.setdefault(key, variant)
    (items, codec), combined = combine_variants({}, list(distinct.values()), context)
    codecs = {key: variant.codec for key, variant in zip(distinct, combined, strict=False)}
    by = tuple(ByPattern(pattern, codecs.get(key)) for key, (pattern, _) in zip(keys, entries, strict=True))
    return Variant("array", {"type": "array", "items": items}, PairsCodec(codec, by if len(distinct) > 1 else ()))
