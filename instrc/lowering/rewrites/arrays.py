"""Say arrays and tuples.

OpenAI, Anthropic strict, Gemini's Schema, GigaChat and Ollama know no `prefixItems`: a tuple becomes an object with one
property for each place, its optional places nullable or left out as those of any object.
OpenAI and Gemini's Schema refuse an array without `items`; Anthropic strict takes `minItems` 0 and 1 only;
`uniqueItems` and `contains` are refused or ignored by every engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instrc.codecs.reverse import Codec, array_codec
from instrc.jsonvalue import Json
from instrc.lowering.forms import Form
from instrc.lowering.rewrites import anything

if TYPE_CHECKING:
    from instrc.lowering.fit import Fitter

_MOST_PLACES = 200
"""Places of a tuple beyond which it is an array of the union of them."""


def arrays(fitter: Fitter, node: dict[str, Any], level: int) -> Form | None:
    """Return the form of an array; `None` if there is none that long."""
    least, most = int(node.get("minItems", 0)), node.get("maxItems", float("inf"))
    if least > most:
        fitter.lose(node, "minItems", "annotation", "contradicts maxItems, so there is no such array")
        return None
    if fitter.too_deep(level):
        return anything.written(fitter, fitter.made({**node, "type": "array"}, node), fitter.beyond(level))
    notes = _uncounted(fitter, node)
    prefix = node.get("prefixItems") or []
    rest = node.get("items", node.get("unevaluatedItems", True))
    if prefix and (fitter.dialect.tuples == "object" or "prefixItems" not in fitter.dialect.keywords):
        form = _tuple(fitter, node, level, least, most)
    elif prefix:
        form = _kept(fitter, node, level, rest)
    else:
        form = _list(fitter, node, level, rest)
    if form is not None:
        form.notes[:0] = notes
    return form


def _uncounted(fitter: Fitter, node: dict[str, Any]) -> list[str]:
    """Lose what no decoder enforces: how often something occurs among the items."""
    notes = []
    keywords = fitter.dialect.keywords
    if node.get("uniqueItems") is True and "uniqueItems" not in keywords:
        if node.get("maxItems", 2) > 1:
            notes.append(fitter.lose(node, "uniqueItems"))
        elif "maxItems" not in keywords:
            fitter.take(node, "uniqueItems", "part", "says nothing beside maxItems, which is lost")
    if "contains" in node and node.get("minContains", 1) > 0:
        notes.append(fitter.lose(node, "contains"))
        if node.get("minContains", 1) != 1:
            notes.append(fitter.lose(node, "minContains"))
    if "contains" in node and "maxContains" in node:
        notes.append(fitter.lose(node, "maxContains"))
    return notes


def _bounds(fitter: Fitter, node: dict[str, Any], form: Form) -> None:
    """Add the numbers of items, as far as the target takes them."""
    keywords, least = fitter.dialect.keywords, int(node.get("minItems", 0))
    if least > 0:
        most = fitter.dialect.most_min_items if fitter.dialect.most_min_items is not None else fitter.dialect.most_count
        if "minItems" in keywords and (most is None or least <= most):
            form.body["minItems"] = least
        else:
            if "minItems" in keywords and most is not None:
                form.body["minItems"] = most
            form.notes.append(fitter.lose(node, "minItems"))
    if "maxItems" in node:
        if "maxItems" in keywords and (fitter.dialect.most_count is None or node["maxItems"] <= fitter.dialect.most_count):
            form.body["maxItems"] = int(node["maxItems"])
        else:
            form.notes.append(fitter.lose(node, "maxItems"))
    if node.get("uniqueItems") is True and "uniqueItems" in keywords:
        form.body["uniqueItems"] = True


def _list(fitter: Fitter, node: dict[str, Any], level: int, rest: Json) -> Form | None:
    """Say an array of one kind of items."""
    items, codec = (None, None) if rest is False else fitter.fit(rest, level + 1)
    if items is None:  # only the empty array is left
        if int(node.get("minItems", 0)) > 0:
            fitter.lose(node, "items", "annotation", "leaves no item, though some are asked for")
            return None
        if "maxItems" in fitter.dialect.keywords:
            return Form("array", {"type": "array", "items": {"type": "string"}, "maxItems": 0})
        for keyword in ("items", "unevaluatedItems", "maxItems"):
            if keyword in node:
                fitter.lose(node, keyword, reason="has no word in the target; any item is found when the answer is lifted")
        return Form("array", {"type": "array", "items": {"type": "string"}}, notes=["Always empty."])
    form = Form("array", {"type": "array", "items": items}, array_codec([], codec))
    _bounds(fitter, node, form)
    return form


def _kept(fitter: Fitter, node: dict[str, Any], level: int, rest: Json) -> Form | None:
    """Keep a tuple as it is: Gemini's JSON Schema form, llguidance and xgrammar take it."""
    bodies: list[Json] = []
    codecs: list[Codec] = []
    shut = False
    for place in node["prefixItems"][: int(min(node.get("maxItems", _MOST_PLACES), _MOST_PLACES))]:
        body, codec = fitter.fit(place, level + 1)
        if body is None:
            shut = True
            break
        bodies.append(body)
        codecs.append(codec)
    items, codec = (None, None) if rest is False or shut else fitter.fit(rest, level + 1)
    most = node.get("maxItems", float("inf"))
    if items is None:
        most = min(most, len(bodies))
    if int(node.get("minItems", 0)) > most:
        fitter.lose(node, "prefixItems", "annotation", "leaves no array that long")
        return None
    if not bodies:
        return _list(fitter, {**node, "items": rest}, level, rest if not shut else False)
    form = Form("array", {"type": "array", "prefixItems": bodies}, array_codec(codecs, codec))
    closed_by_items = "$ref" in fitter.dialect.keywords  # booleans as schemas: all engines that take prefixItems and references
    if items is None and closed_by_items and fitter.dialect.spelling == "json-schema" and fitter.dialect.order != "hinted":
        form.body["items"] = False
    elif items is not None:
        form.body["items"] = items
    bounded = {**node, "maxItems": most} if most != float("inf") and (items is None or "maxItems" in node) else node
    _bounds(fitter, fitter.made(bounded, node), form)
    return form


def _tuple(fitter: Fitter, node: dict[str, Any], level: int, least: int, most: float) -> Form | None:
    """Say a tuple as an object: `item_1`, `item_2`, and `more` for what may follow."""
    prefix = node["prefixItems"]
    if len(prefix) > _MOST_PLACES:
        return anything.written(fitter, fitter.made({**node, "type": "array"}, node), "has more places than can be kept apart")
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
            fitter.lose(node, "items", "convention", "is not given, so nothing follows the places that are")
    if more:
        properties["more"] = following = {"type": "array", "items": rest}
        if least > len(prefix):
            following["minItems"] = least - len(prefix)
            required = [*required, "more"]
        if most != float("inf"):
            following["maxItems"] = int(most) - len(prefix)
        fitter.made(following, node)
    elif least > len(names):
        fitter.lose(node, "minItems", "annotation", "asks for more items than there can be")
        return None
    shape = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    inner = fitter.forms(fitter.own(shape, node), level)
    if len(inner) != 1:
        return None
    form = inner[0]
    if form.kind != "object":
        return anything.written(fitter, fitter.made({**node, "type": "array"}, node), "is nested too deeply")
    codec: dict[str, Any] = {"as": "tuple", "keys": names, "item": form.codec}
    if more:
        codec["more"] = "more"
    form.codec = codec
    return form
