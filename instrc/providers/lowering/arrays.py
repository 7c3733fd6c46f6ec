"""Write arrays and tuples in the keywords of a target.

OpenAI, Anthropic strict, Gemini's Schema, GigaChat and Ollama do not support `prefixItems`: a tuple becomes an object with one
property per position, with optional ones nullable or left out as in any object.
OpenAI and Gemini's Schema refuse an array without `items`; Anthropic strict accepts only `minItems` 0 and 1;
`uniqueItems` and `contains` are refused or ignored by every engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

from msgspec.structs import replace

from instrc.providers.codec import Codec, TupleCodec, array_codec
from instrc.providers.dialect import Dialect
from instrc.providers.lowering import json_text
from instrc.providers.lowering.context import Ledger, RewriteContext, Variant
from instrc.providers.lowering.unions import fit
from instrc.schema.laws.numbers import bound
from instrc.text.jsonvalue import Json, JsonObject, listing

_COUNTING = frozenset({"minItems", "maxItems", "uniqueItems", "contains"})


def arrays(node: JsonObject, context: RewriteContext) -> Variant | None:
    """Return the variant of an array, or `None` if it would be too long."""
    counted = not _COUNTING.isdisjoint(node)
    if counted and int(bound(node, "minItems") or 0) > _most(node):
        context.ledger.lose(node, "minItems", "annotation", "contradicts maxItems, so there is no such array")
        return None
    if (reason := context.too_deep) is not None:
        return json_text.container(context, node, "array", reason)
    lost: tuple[str, ...] = ()
    if counted:
        lost = _uncounted(node, context.dialect, context.ledger)
    prefix = listing(node.get("prefixItems"))
    rest = node.get("items", node.get("unevaluatedItems", True))
    if prefix and (context.dialect.tuples == "object" or "prefixItems" not in context.dialect.keywords):
        variant = _tuple(node, context)
    elif prefix:
        variant = _keep_tuple(node, rest, context)
    else:
        variant = _list(node, rest, context)
    return variant.after(context.sentences_for(node, lost)) if variant is not None and lost else variant


def _most(node: JsonObject) -> int | float:
    most = bound(node, "maxItems")
    return inf if most is None else most


def _uncounted(node: JsonObject, dialect: Dialect, ledger: Ledger) -> tuple[str, ...]:
    """Record the loss of keywords that no decoder enforces: counts of matching items."""
    lost: list[str] = []
    keywords = dialect.keywords
    if node.get("uniqueItems") is True and "uniqueItems" not in keywords:
        if _most(node) > 1:
            lost.append("uniqueItems")
            ledger.lose(node, "uniqueItems")
        elif "maxItems" not in keywords:
            ledger.lose(node, "uniqueItems", "part", "has no effect without maxItems, which is lost")
    if "contains" not in node:
        return tuple(lost)
    least = bound(node, "minContains")
    counted = ["contains"] if least is None or least > 0 else []
    if least is not None and least > 0 and least != 1:
        counted.append("minContains")
    if "maxContains" in node:
        counted.append("maxContains")
    ledger.lose_each(node, counted)
    return (*lost, *counted)


TUPLE_PLACES: Final = 200
"""Maximum positions of a tuple; a longer one becomes an array of the union of its items."""


def _tuple(node: JsonObject, context: RewriteContext) -> Variant | None:
    """Write a tuple as an object: `item_1`, `item_2`, and `more` for further items."""
    least, most, prefix = int(bound(node, "minItems") or 0), _most(node), listing(node["prefixItems"])
    if len(prefix) > TUPLE_PLACES:
        return json_text.container(context, node, "array", "has more places than can be kept apart")
    places = prefix[: int(min(most, len(prefix)))]
    names = [f"item_{index}" for index in range(1, len(places) + 1)]
    properties: JsonObject = dict(zip(names, places, strict=True))
    required = names[:least]
    rest = node.get("items", node.get("unevaluatedItems"))
    more = most > len(prefix) and rest is not None and rest is not False
    if rest is None and most > len(prefix):
        if least > len(prefix):
            more, rest = True, True
        else:
            context.ledger.lose(node, "items", "convention", "is not given, so nothing follows the places that are")
    if more:
        following = _following(rest, least - len(prefix), most - len(prefix))
        properties["more"] = context.ledger.derive(following, node)
        required = [*required, "more"] if least > len(prefix) else required
    elif least > len(names):
        context.ledger.lose(node, "minItems", "annotation", "asks for more items than there can be")
        return None
    return _as_object(node, names, properties, required, context)


def _following(rest: Json, least: int, most: float) -> JsonObject:
    """Return the schema of the list of items after the positions of a tuple."""
    following: JsonObject = {"type": "array", "items": rest}
    if least > 0:
        following["minItems"] = least
    if most != inf:
        following["maxItems"] = int(most)
    return following


def _as_object(
    node: JsonObject,
    names: Sequence[str],
    properties: JsonObject,
    required: Sequence[str],
    context: RewriteContext,
) -> Variant | None:
    """Return the variant of a tuple with named positions."""
    shape: JsonObject = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    result = context.beside().variants(context.ledger.invent(shape, node))
    if len(result) != 1:
        return None
    variant = result[0]
    if "type" in node and len(properties) - len(required) > 1:
        context.ledger.lose(node, "type", "part", "is an object of places, and one before others may be missing")
    if variant.kind != "object":
        return json_text.container(context, node, "array", "is nested too deeply")
    return replace(variant, codec=TupleCodec(tuple(names), variant.codec, "more" if "more" in properties else None))


def _keep_tuple(node: JsonObject, rest: Json, context: RewriteContext) -> Variant | None:
    """Pass a tuple through: Gemini's JSON Schema form, llguidance and xgrammar accept it."""
    bodies: list[Json] = []
    codecs: list[Codec] = []
    shut = False
    for place in listing(node["prefixItems"])[: int(min(_most(node), TUPLE_PLACES))]:
        body, codec = fit(place, context.deeper())
        if body is None:
            shut = True
            break
        bodies.append(body)
        codecs.append(codec)
    items: JsonObject | None = None
    codec = None
    if rest is not False and not shut:
        items, codec = fit(rest, context.deeper())
    most = min(_most(node), len(bodies)) if items is None else _most(node)
    if int(bound(node, "minItems") or 0) > most:
        context.ledger.lose(node, "prefixItems", "annotation", "leaves no array that long")
        return None
    if not bodies:
        return _list({**node, "items": rest}, not shut and rest, context)
    shape: JsonObject = {"type": "array", "prefixItems": bodies}
    if items is None and context.dialect.false_items:
        shape["items"] = False
    elif items is not None:
        shape["items"] = items
    variant = Variant("array", shape, array_codec(tuple(codecs), codec), node=node)
    if most != inf and (items is None or "maxItems" in node):
        bounded: JsonObject = {**node, "maxItems": most}
        return _bounded(context.ledger.derive(bounded, node), variant, context)
    return _bounded(node, variant, context)


def _list(node: JsonObject, rest: Json, context: RewriteContext) -> Variant | None:
    """Write an array with one schema for all items."""
    items: JsonObject | None = None
    codec: Codec = None
    if rest is not False:
        items, codec = fit(rest, context.deeper())
    if items is not None:
        variant = Variant("array", {"type": "array", "items": items}, array_codec((), codec), node=node)
        return _bounded(node, variant, context)
    if (bound(node, "minItems") or 0) >= 1:  # only the empty array is left
        context.ledger.lose(node, "items", "annotation", "leaves no item, though some are asked for")
        return None
    if "maxItems" in context.dialect.keywords:
        return Variant("array", {"type": "array", "items": {"type": "string"}, "maxItems": 0}, node=node)
    reason = "has no keyword in the target; any item is found when the answer is lifted"
    context.ledger.lose_each(node, [word for word in ("items", "unevaluatedItems", "maxItems") if word in node], reason)
    return Variant("array", {"type": "array", "items": {"type": "string"}}, notes=(context.sentences.always_empty,), node=node)


def _bounded(node: JsonObject, variant: Variant, context: RewriteContext) -> Variant:
    """Add the limits on the number of items that the target supports."""
    if _COUNTING.isdisjoint(node):
        return variant
    dialect = context.dialect
    keywords, least, items = dialect.keywords, int(bound(node, "minItems") or 0), bound(node, "maxItems")
    body: JsonObject = dict(variant.body)
    lost: list[str] = []
    if least > 0:
        most = dialect.most_min_items if dialect.most_min_items is not None else dialect.most_count
        if "minItems" in keywords and (most is None or least <= most):
            body["minItems"] = least
        else:
            if "minItems" in keywords and most is not None:
                body["minItems"] = most
            lost.append("minItems")
    notes: tuple[str, ...] = ()
    if items is not None:
        total, most = context.ledger.items + int(items), dialect.limits.items
        if "maxItems" not in keywords or (dialect.items_limit is not None and items > dialect.items_limit):
            lost.append("maxItems")
        elif most is not None and total > most:
            notes = (context.said(node, "maxItems"),)
            reason = f"would bring the sum of maxItems to {total}, and the target takes {most}: it is said in the description"
            context.ledger.lose(node, "maxItems", reason=reason)
        else:
            body["maxItems"], context.ledger.items = int(items), total
    if node.get("uniqueItems") is True and "uniqueItems" in keywords:
        body["uniqueItems"] = True
    return replace(variant, body=body, notes=(*variant.notes, *context.lose(node, lost), *notes))
