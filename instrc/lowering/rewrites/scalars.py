"""Keep what a target takes of the keywords of strings and numbers; say the rest in words.

Anthropic strict refuses bounds of numbers and lengths, OpenAI leaves lengths out of its list, Gemini knows inclusive bounds only,
GigaChat and Ollama none; formats outside a target's list are errors in llguidance and vLLM;
look-around in patterns is refused by everyone, and xgrammar anchors patterns that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor, inf

from instrc.ir.dialect import Dialect
from instrc.jsonvalue import JsonObject
from instrc.lowering.context import Progress
from instrc.lowering.rewrites.patterns import pattern_for
from instrc.lowering.variants import Variant
from instrc.schema.expressions import too_large
from instrc.schema.laws.bounds import bound

_LENGTHS = ("minLength", "maxLength")
OF_STRINGS = frozenset({"pattern", "format", *_LENGTHS})
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
OF_NUMBERS = frozenset(_BOUNDS)
_ROUNDED: dict[str, Callable[[float], int]] = {
    "minimum": ceil,
    "maximum": floor,
    "exclusiveMinimum": floor,
    "exclusiveMaximum": ceil,
}


def strings(node: JsonObject, dialect: Dialect, progress: Progress) -> tuple[Variant | None, Progress]:
    """Return the variant of a string; `None` if its lengths contradict each other."""
    if OF_STRINGS.isdisjoint(node):
        return Variant("string", {"type": "string"}, node=node), progress
    lengths = {word: length for word in _LENGTHS if word in node and (length := bound(node, word)) is not None}
    if lengths.get("minLength", 0) > lengths.get("maxLength", inf):
        return None, progress.lose(node, "minLength", "annotation", "contradicts maxLength, so there is no such string")
    keywords = dialect.keywords
    body: JsonObject = {"type": "string"}
    lost: list[str] = []
    pattern, format_at = node.get("pattern"), node.get("format")
    if isinstance(pattern, str):
        if "pattern" in keywords and (sendable := pattern_for(pattern, dialect)) is not None:
            body["pattern"] = sendable
        else:
            lost.append("pattern")
    if isinstance(format_at, str):
        if "format" in keywords and format_at in dialect.formats and "pattern" not in body:
            body["format"] = format_at
        else:
            lost.append("format")
    for keyword, length in lengths.items():
        if keyword == "minLength" and length <= 0:
            continue
        alone = dialect.lengths_beside_patterns or body.keys().isdisjoint({"pattern", "format"})
        if keyword in keywords and alone and (dialect.most_count is None or length <= dialect.most_count):
            body[keyword] = length
        else:
            lost.append(keyword)
    if isinstance(pattern, str) and too_large(pattern) is not None:
        progress = progress.lose(node, "pattern", reason="is too large to be read, so no answer can be checked by it")
    notes, progress = progress.lose_with_sentences(node, lost)
    return Variant("string", body, notes=notes, node=node), progress


def numbers(node: JsonObject, kind: str, dialect: Dialect, progress: Progress) -> tuple[Variant | None, Progress]:
    """Return the variant of a number; `None` if its bounds leave none."""
    if OF_NUMBERS.isdisjoint(node):
        return Variant(kind, {"type": kind}, node=node), progress
    bounds = {keyword: value for keyword in _BOUNDS if keyword in node and (value := bound(node, keyword)) is not None}
    if _empty(bounds, kind):
        return None, progress.lose(node, "minimum", "annotation", "leaves no number")
    body: JsonObject = {"type": kind}
    least, most = inf, -inf
    lost: list[str] = []
    for keyword, number in bounds.items():
        if dialect.most_bound is not None and abs(number) > dialect.most_bound:
            lost.append(keyword)
            continue
        rounded = kind == "integer" and keyword in _ROUNDED and isinstance(number, float)
        value = _ROUNDED[keyword](number) if rounded else number  # xgrammar takes whole numbers only
        if keyword in dialect.keywords:
            body[keyword] = value
            least, most = (value if keyword == "minimum" else least), (value if keyword == "maximum" else most)
        elif kind == "integer" and keyword == "exclusiveMinimum" and "minimum" in dialect.keywords:
            body["minimum"] = floor(value) + 1 if least == inf else max(floor(value) + 1, least)
        elif kind == "integer" and keyword == "exclusiveMaximum" and "maximum" in dialect.keywords:
            body["maximum"] = ceil(value) - 1 if most == -inf else min(ceil(value) - 1, most)
        elif keyword != "multipleOf" or kind != "integer" or value != 1:
            lost.append(keyword)
    notes, progress = progress.lose_with_sentences(node, lost)
    return Variant(kind, body, notes=notes, node=node), progress


def _empty(bounds: Mapping[str, int | float], kind: str) -> bool:
    """Say whether no number is within the bounds."""
    low, high = bounds.get("minimum", -inf), bounds.get("maximum", inf)
    above, below = bounds.get("exclusiveMinimum", -inf), bounds.get("exclusiveMaximum", inf)
    if low > high or low >= below or above >= high or above >= below:
        return True
    least, most = max(low, above), min(high, below)
    if -inf in {least, most} or inf in {least, most}:
        return False
    if kind == "integer":
        least = ceil(least) + (1 if ceil(least) == above else 0)
        most = floor(most) - (1 if floor(most) == below else 0)
        if least > most:
            return True
        step = bounds.get("multipleOf")
        if isinstance(step, int) and step > 0:
            return bool(-(-least // step) * step > most)
    return False
