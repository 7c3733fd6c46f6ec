"""Say arrays and tuples.

OpenAI, Anthropic strict, Gemini's Schema, GigaChat and Ollama know no `prefixItems`: a tuple becomes an object with one
property for each place, its optional places nullable or left out as those of any object.
OpenAI and Gemini's Schema refuse an array without `items`; Anthropic strict takes `minItems` 0 and 1 only;
`uniqueItems` and `contains` are refused or ignored by every engine.
"""

from __future__ import annotations

from typing import Any

from instrc.ir.codec import Codec, TupleCodec, array_codec
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.rewrites import anything
from instrc.lowering.variants import Variant
from instrc.lowering.walk import Walk

_MOST_PLACES = 200
"""Places of a tuple beyond which it is an array of the union of them."""


def arrays(lowerer: Walk, node: dict[str, Any], level: int) -> Variant | None:
    """Return the form of an array; `None` if there is none that long."""
    least, most = int(node.get("minItems", 0)), node.get("maxItems", float("inf"))
    if least > most:
        lowerer.lose(node, "minItems", "annotation", "contradicts maxItems, so there is no such array")
        return None
    if lowerer.too_deep(level):
        return anything.written(lowerer, lowerer.made({**node, "type": "array"}, node), lowerer.beyond(level))
    notes = _uncounted(lowerer, node)
    prefix = node.get("prefixItems") or []
    rest = node.get("items", node.get("unevaluatedItems", True))
    if prefix and (lowerer.dialect.tuples == "object" or "prefixItems" not in lowerer.dialect.keywords):
        form = _tuple(lowerer, node, level, least, most)
    elif prefix:
        form = _kept(lowerer, node, level, rest)
    else:
        form = _list(lowerer, node, level, rest)
    if form is not None:
        form.notes[:0] = notes
    return form


def _uncounted(lowerer: Walk, node: dict[str, Any]) -> list[str]:
    """Lose what no decoder enforces: how often something occurs among the items."""
    notes = []
    keywords = lowerer.dialect.keywords
    if node.get("uniqueItems") is True and "uniqueItems" not in keywords:
        if node.get("maxItems", 2) > 1:
            notes.append(lowerer.lose(node, "uniqueItems"))
        elif "maxItems" not in keywords:
            lowerer.take(node, "uniqueItems", "part", "says nothing beside maxItems, which is lost")
    if "contains" in node and node.get("minContains", 1) > 0:
        notes.append(lowerer.lose(node, "contains"))
        if node.get("minContains", 1) != 1:
            notes.append(lowerer.lose(node, "minContains"))
    if "contains" in node and "maxContains" in node:
        notes.append(lowerer.lose(node, "maxContains"))
    return notes


def _bounds(lowerer: Walk, node: dict[str, Any], form: Variant) -> None:
    """Add the numbers of items, as far as the target takes them."""
    keywords, least = lowerer.dialect.keywords, int(node.get("minItems", 0))
    if least > 0:
        most = lowerer.dialect.most_min_items if lowerer.dialect.most_min_items is not None else lowerer.dialect.most_count
        if "minItems" in keywords and (most is None or least <= most):
            form.body["minItems"] = least
        else:
            if "minItems" in keywords and most is not None:
                form.body["minItems"] = most
            form.notes.append(lowerer.lose(node, "minItems"))
    if "maxItems" in node:
        if "maxItems" in keywords and (lowerer.dialect.most_count is None or node["maxItems"] <= lowerer.dialect.most_count):
            form.body["maxItems"] = int(node["maxItems"])
        else:
            form.notes.append(lowerer.lose(node, "maxItems"))
    if node.get("uniqueItems") is True and "uniqueItems" in keywords:
        form.body["uniqueItems"] = True


def _list(lowerer: Walk, node: dict[str, Any], level: int, rest: Json) -> Variant | None:
    """Say an array of one kind of items."""
    items, codec = (None, None) if rest is False else lowerer.fit(rest, level + 1)
    if items is None:  # only the empty array is left
        if int(node.get("minItems", 0)) > 0:
            lowerer.lose(node, "items", "annotation", "leaves no item, though some are asked for")
            return None
        if "maxItems" in lowerer.dialect.keywords:
            return Variant("array", {"type": "array", "items": {"type": "string"}, "maxItems": 0})
        for keyword in ("items", "unevaluatedItems", "maxItems"):
            if keyword in node:
                lowerer.lose(node, keyword, reason="has no word in the target; any item is found when the answer is lifted")
        return Variant("array", {"type": "array", "items": {"type": "string"}}, notes=["Always empty."])
    form = Variant("array", {"type": "array", "items": items}, array_codec((), codec))
    _bounds(lowerer, node, form)
    return form


def _kept(lowerer: Walk, node: dict[str, Any], level: int, rest: Json) -> Variant | None:
    """Keep a tuple as it is: Gemini's JSON Schema form, llguidance and xgrammar take it."""
    bodies: list[Json] = []
    codecs: list[Codec] = []
    shut = False
    for place in node["prefixItems"][: int(min(node.get("maxItems", _MOST_PLACES), _MOST_PLACES))]:
        body, codec = lowerer.fit(place, level + 1)
        if body is None:
            shut = True
            break
        bodies.append(body)
        codecs.append(codec)
    items, codec = (None, None) if rest is False or shut else lowerer.fit(rest, level + 1)
    most = node.get("maxItems", float("inf"))
    if items is None:
        most = min(most, len(bodies))
    if int(node.get("minItems", 0)) > most:
        lowerer.lose(node, "prefixItems", "annotation", "leaves no array that long")
        return None
    if not bodies:
        return _list(lowerer, {**node, "items": rest}, level, rest if not shut else False)
    form = Variant("array", {"type": "array", "prefixItems": bodies}, array_codec(tuple(codecs), codec))
    if items is None and lowerer.dialect.false_items:
        form.body["items"] = False
    elif items is not None:
        form.body["items"] = items
    bounded = {**node, "maxItems": most} if most != float("inf") and (items is None or "maxItems" in node) else node
    _bounds(lowerer, lowerer.made(bounded, node), form)
    return form


def _tuple(lowerer: Walk, node: dict[str, Any], level: int, least: int, most: float) -> Variant | None:
    """Say a tuple as an object: `item_1`, `item_2`, and `more` for what may follow."""
    prefix = node["prefixItems"]
    if len(prefix) > _MOST_PLACES:
        return anything.written(lowerer, lowerer.made({**node, "type": "array"}, node), "has more places than can be kept apart")
    places = prefix if most >= len(prefix) else prefix[: int(most)]
    names = [f"item_{index}" for index in range(1, len(places) + 1)]
    properties: dict[str, Json] = dict(zip(names, places, strict=True))
    required = names[:least]
    rest = node.get("items", node.get("unevaluatedItems"))
    more = most > len(prefix) and rest is not None and rest is not False
    if rest is None and most > len(prefix):
        if least > len(prefix):
            more, rest = True, True
        else:
            lowerer.lose(node, "items", "convention", "is not given, so nothing follows the places that are")
    if more:
        properties["more"] = following = {"type": "array", "items": rest}
        if least > len(prefix):
            following["minItems"] = least - len(prefix)
            required = [*required, "more"]
        if most != float("inf"):
            following["maxItems"] = int(most) - len(prefix)
        lowerer.made(following, node)
    elif least > len(names):
        lowerer.lose(node, "minItems", "annotation", "asks for more items than there can be")
        return None
    shape = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    inner = lowerer.forms(lowerer.own(shape, node), level)
    if len(inner) != 1:
        return None
    form = inner[0]
    if form.kind != "object":
        return anything.written(lowerer, lowerer.made({**node, "type": "array"}, node), "is nested too deeply")
    form.codec = TupleCodec(tuple(names), form.codec, "more" if more else None)
    return form
