"""Keep what a target takes of the keywords of strings and numbers; say the rest in words.

Anthropic strict refuses bounds of numbers and lengths, OpenAI leaves lengths out of its list, Gemini knows inclusive bounds only,
GigaChat and Ollama none; formats outside a target's list are errors in llguidance and vLLM;
look-around in patterns is refused by everyone, and xgrammar anchors patterns that are not.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.rewrites.patterns import spelled
from instrc.lowering.variants import Variant
from instrc.lowering.walk import Walk

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_ROUNDED = {"minimum": ceil, "maximum": floor, "exclusiveMinimum": floor, "exclusiveMaximum": ceil}


def strings(lowerer: Walk, node: dict[str, Any]) -> Variant | None:
    """Return the form of a string; `None` if its lengths contradict each other."""
    keywords, dialect = lowerer.dialect.keywords, lowerer.dialect
    if node.get("minLength", 0) > node.get("maxLength", float("inf")):
        lowerer.lose(node, "minLength", "annotation", "contradicts maxLength, so there is no such string")
        return None
    form = Variant("string", {"type": "string"})
    pattern, form_at = node.get("pattern"), node.get("format")
    if isinstance(pattern, str):
        if "pattern" in keywords and (sendable := spelled(pattern, dialect)) is not None:
            form.body["pattern"] = sendable
        else:
            form.notes.append(lowerer.lose(node, "pattern"))
    if isinstance(form_at, str):
        if "format" in keywords and form_at in dialect.formats and "pattern" not in form.body:
            form.body["format"] = form_at
        else:
            form.notes.append(lowerer.lose(node, "format"))
    for keyword in ("minLength", "maxLength"):
        if keyword not in node or (keyword == "minLength" and node[keyword] <= 0):
            continue
        alone = dialect.lengths_beside_patterns or form.body.keys().isdisjoint({"pattern", "format"})
        if keyword in keywords and alone and (dialect.most_count is None or node[keyword] <= dialect.most_count):
            form.body[keyword] = node[keyword]
        else:
            form.notes.append(lowerer.lose(node, keyword))
    return form


def numbers(lowerer: Walk, node: dict[str, Any], kind: str) -> Variant | None:
    """Return the form of a number; `None` if its bounds leave none."""
    if _empty(node, kind):
        lowerer.lose(node, "minimum", "annotation", "leaves no number")
        return None
    form = Variant(kind, {"type": kind})
    for keyword in _BOUNDS:
        if keyword not in node or isinstance(node[keyword], bool):
            continue
        value = node[keyword]
        if lowerer.dialect.most_bound is not None and abs(value) > lowerer.dialect.most_bound:
            form.notes.append(lowerer.lose(node, keyword))
            continue
        if kind == "integer" and keyword in _ROUNDED and isinstance(value, float):
            value = _ROUNDED[keyword](value)  # xgrammar takes whole numbers only
        if keyword in lowerer.dialect.keywords:
            form.body[keyword] = value
        elif kind == "integer" and keyword == "exclusiveMinimum" and "minimum" in lowerer.dialect.keywords:
            form.body["minimum"] = max(floor(value) + 1, form.body.get("minimum", floor(value) + 1))
        elif kind == "integer" and keyword == "exclusiveMaximum" and "maximum" in lowerer.dialect.keywords:
            form.body["maximum"] = min(ceil(value) - 1, form.body.get("maximum", ceil(value) - 1))
        elif keyword == "multipleOf" and kind == "integer" and value == 1:
            continue
        else:
            form.notes.append(lowerer.lose(node, keyword))
    return form


def _empty(node: dict[str, Json], kind: str) -> bool:
    """Say whether no number is within the bounds."""
    low, high = node.get("minimum", float("-inf")), node.get("maximum", float("inf"))
    above, below = node.get("exclusiveMinimum", float("-inf")), node.get("exclusiveMaximum", float("inf"))
    if isinstance(above, bool) or isinstance(below, bool):
        return False
    if low > high or low >= below or above >= high or above >= below:
        return True
    least, most = max(low, above), min(high, below)
    step = node.get("multipleOf")
    if float("-inf") in {least, most} or float("inf") in {least, most}:
        return False
    if kind == "integer":
        least = ceil(least) + (1 if ceil(least) == above else 0)
        most = floor(most) - (1 if floor(most) == below else 0)
        if least > most:
            return True
        if isinstance(step, int) and step > 0:
            return bool(-(-least // step) * step > most)
    return False
