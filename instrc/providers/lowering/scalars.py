"""Write enums, constants, strings and numbers in the keywords of a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, inf

from msgspec import Struct

from instrc.providers.codec import Codec, TextCodec, ValuesCodec
from instrc.providers.dialect import Dialect, Limits
from instrc.providers.lowering.context import (
    Ledger,
    RewriteContext,
    Variant,
    join_notes,
    listed_values,
    null_variant,
    pairs_by_sent,
    sent_values,
    unique_name,
)
from instrc.providers.lowering.target_patterns import pattern_for
from instrc.schema.laws.numbers import bound
from instrc.schema.patterns import too_large
from instrc.schema.vocabulary import NO_ASSERTIONS
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_texts, freeze, kind_of

_OTHERS = frozenset({"enum", "const", "type", "allOf", "not", "if", "then", "else"}) | NO_ASSERTIONS
_TEXTS = frozenset({str})


def literals(node: JsonObject, context: RewriteContext) -> list[Variant]:
    """Return the variants of a schema that lists its values, one for each JSON type among them."""
    dialect = context.dialect
    listed = _grouped(_values(node), dialect)
    variants: list[Variant] = []
    for kind, group in listed.groups.items():
        if kind == "null" and dialect.null:
            variants.append(null_variant(node))
        elif kind == "boolean" and len(group) == 2:
            variants.append(Variant("boolean", {"type": "boolean"}, node=node))
        elif (excess := _excess(dialect.limits, context.ledger.enum_values, group)) is None:
            context.ledger.enum_values += len(group)
            variants.append(Variant(kind, _enumeration(node, kind, group, dialect), _fold(group, dialect), node=node))
        else:
            keyword = "enum" if "enum" in node else "const"
            reason = f"{excess}: it is said in the description and checked when the answer is lifted"
            variants.append(Variant(kind, {"type": kind}, notes=(context.said(node, keyword),), node=node))
            context.ledger.lose(node, keyword, reason=reason)
    return _with_strange(variants, listed.strange, node, dialect) if listed.strange else variants


class _Listed(Struct, frozen=True, gc=False):
    """The listed values of a schema, by how a target accepts them."""

    groups: dict[str, list[Json]]
    """Values held by its enums, by type."""
    strange: list[Json]
    """Values that are sent only as JSON text."""


def _grouped(values: list[Json], dialect: Dialect) -> _Listed:
    groups: dict[str, list[Json]] = {}
    if values and _are_texts(values):
        groups["string"] = values
    else:
        for value in values:
            groups.setdefault(kind_of(value), []).append(value)
    if "number" in groups and "integer" in groups:
        groups["number"] = [value for value in values if kind_of(value) in {"integer", "number"}]
        del groups["integer"]
    strange: list[Json] = []
    if not dialect.empty_words and "" in groups.get("string", ()):
        groups["string"] = [value for value in groups["string"] if value != ""]
        strange.append("")
    reported: dict[str, list[Json]] = {}
    for kind, group in groups.items():
        if not _is_told(kind, group, dialect):
            strange += group
        elif group:
            reported[kind] = group
    return _Listed(reported, strange)


def _are_texts(values: list[Json]) -> bool:
    """Return whether all values are texts."""
    return _TEXTS.issuperset(map(type, values))


def _is_told(kind: str, group: list[Json], dialect: Dialect) -> bool:
    """Return whether a target accepts values of a type in an enum."""
    if kind == "null" and dialect.null:
        return True
    if kind == "boolean" and len(group) == 2:
        return True
    most = dialect.most_listed
    if most is not None and any(isinstance(value, int) and abs(value) > most for value in group):
        return False
    return kind == "string" or kind in dialect.enums


def _values(node: JsonObject) -> list[Json]:
    """Return the listed values that the rest of the schema allows, without duplicates."""
    listed = listed_values(node)
    if "const" in node and "enum" in node and all(freeze(node["const"]) != freeze(value) for value in as_array(node["enum"])):
        listed = []
    if are_texts := _are_texts(listed):
        values: list[Json] = [*dict.fromkeys(listed)]
    else:
        whole = {freeze(value): int(value) if isinstance(value, float) and value.is_integer() else value for value in listed}
        values = list(whole.values())
    types = node.get("type")
    if types is not None and not (types == "string" and are_texts):
        kinds = {types} if isinstance(types, str) else set(as_texts(types))
        values = [value for value in values if kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds)]
    others: JsonObject = {} if _OTHERS.issuperset(node) else {word: node[word] for word in node if word not in _OTHERS}
    if others and values:
        from instrc.schema.validation import accepts

        values = [value for value in values if accepts(others, value)]
    return values


def _excess(limits: Limits, enum_values: int, group: Sequence[Json]) -> str | None:
    """Return by how much an enum exceeds the limits of the target, or `None`."""
    if limits.long_enum is not None and len(group) > limits.long_enum[0]:
        size = sum(len(value) for value in group if isinstance(value, str))
        if size > limits.long_enum[1]:
            most, characters = limits.long_enum
            return f"has {len(group)} values of {size} characters, and more than {most} may have {characters}"
    counted = enum_values + len(group)
    if limits.enum_values is not None and counted > limits.enum_values:
        return f"would be the schema's value {counted} in an enum, and the target takes {limits.enum_values}"
    return None


def _enumeration(node: JsonObject, kind: str, group: list[Json], dialect: Dialect) -> JsonObject:
    if len(group) == 1 and "const" in dialect.keywords and "const" in node:
        return {"type": kind, "const": group[0]}
    return {"type": kind, "enum": group}


def _fold(group: Sequence[Json], dialect: Dialect) -> ValuesCodec | None:
    """Return the table that undoes changes of case, if the target is known for them and nothing but case can change."""
    if not dialect.fold or not any(isinstance(value, str) and value.lower() != value.upper() for value in group):
        return None
    return ValuesCodec(tuple(zip(group, group, strict=True)), fold=True)


def _with_strange(variants: list[Variant], strange: list[Json], node: JsonObject, dialect: Dialect) -> list[Variant]:
    """Add values that the target's enums do not support to the strings, as JSON text."""
    mine = next((variant for variant in variants if variant.kind == "string"), None)
    table: list[tuple[Json, Json]] = []
    taken: set[str] = set()
    if mine is not None:
        if "enum" not in mine.body and "const" not in mine.body:  # too many to list; text is all that is left
            return [*(variant for variant in variants if variant is not mine), _text(mine, strange)]
        own = sent_values(mine)
        table = [(value, value) for value in own]
        taken = {value for value in own if isinstance(value, str)}
    for value in strange:
        sent = unique_name(dumps(value, indent=False), taken, 10_000)
        taken.add(sent)
        table.append((sent, value))
    body: JsonObject = {"type": "string", "enum": [sent for sent, _ in table]}
    variant = Variant("string", body, ValuesCodec(tuple(table), fold=dialect.fold), node=node)
    if mine is None:
        return [*variants, variant]
    return [variant if other is mine else other for other in variants]


def _text(mine: Variant, strange: Sequence[Json]) -> Variant:
    kinds = ["string", *dict.fromkeys(kind_of(value) for value in strange)]
    return Variant("string", {"type": "string"}, TextCodec(tuple(kinds)), mine.notes, node=mine.node)


def join_enumerations(dialect: Dialect, variants: Sequence[Variant]) -> list[Variant]:
    """Merge enums of the same type into one, unless each describes its values."""
    result: list[Variant] = []
    lists: list[int] = []
    """Places of enums in the result."""
    for variant in variants:
        listing = _lists_only(variant)
        mate = next((number for number in lists if same_enumeration(result[number], variant)), None) if listing else None
        if mate is None or (dialect.unions == "anyOf" and (variant.text or result[mate].text)):
            if listing and mate is None:
                lists.append(len(result))
            result.append(variant)
        else:
            result[mate] = _joined(result[mate], variant)
    return result


def _lists_only(variant: Variant) -> bool:
    """Return whether a variant consists only of listed values."""
    if len(variant.body) < 2 or not variant.body.keys() <= {"type", "enum", "const"}:
        return False
    return variant.codec is None or isinstance(variant.codec, ValuesCodec)


def _joined(mate: Variant, variant: Variant) -> Variant:
    """Return one enum for two."""
    known = {freeze(value) for value in sent_values(mate)}
    values = [*sent_values(mate), *(value for value in sent_values(variant) if freeze(value) not in known)]
    codec: Codec = None
    if mate.codec is not None or variant.codec is not None:
        pairs = {sent: pair for one in (mate, variant) for sent, pair in pairs_by_sent(one).items()}
        fold = any(isinstance(one.codec, ValuesCodec) and one.codec.fold for one in (mate, variant))
        codec = ValuesCodec(tuple(pairs.values()), fold)
    text = join_notes(mate.text, variant.text)
    return Variant(mate.kind, {"type": mate.kind, "enum": values}, codec, mate.notes, text, node=mate.node)


def same_enumeration(left: Variant, right: Variant) -> bool:
    """Return whether two variants list values of the same type that mean the same in both."""
    if left.kind != right.kind or not (_lists_only(left) and _lists_only(right)):
        return False
    theirs = pairs_by_sent(right)
    return all(key not in theirs or freeze(theirs[key][1]) == freeze(pair[1]) for key, pair in pairs_by_sent(left).items())


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


def strings(node: JsonObject, context: RewriteContext) -> Variant | None:
    """Return the variant of a string, or `None` if its lengths are contradictory."""
    if OF_STRINGS.isdisjoint(node):
        return Variant("string", {"type": "string"}, node=node)
    lengths = {word: length for word in _LENGTHS if word in node and (length := bound(node, word)) is not None}
    if lengths.get("minLength", 0) > lengths.get("maxLength", inf):
        context.ledger.lose(node, "minLength", "annotation", "contradicts maxLength, so there is no such string")
        return None
    dialect = context.dialect
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
        context.ledger.lose(node, "pattern", reason="is too large to be read, so no answer can be checked by it")
    notes = context.lose(node, lost)
    return Variant("string", body, notes=notes, node=node)


def numbers(node: JsonObject, kind: str, context: RewriteContext) -> Variant | None:
    """Return the variant of a number, or `None` if its bounds are contradictory."""
    if OF_NUMBERS.isdisjoint(node):
        return Variant(kind, {"type": kind}, node=node)
    bounds = {keyword: value for keyword in _BOUNDS if keyword in node and (value := bound(node, keyword)) is not None}
    if _empty(bounds, kind):
        context.ledger.lose(node, "minimum", "annotation", "leaves no number")
        return None
    dialect = context.dialect
    body: JsonObject = {"type": kind}
    least, most = inf, -inf
    lost: list[str] = []
    keywords = dialect.keywords if kind in dialect.bounded else frozenset[str]()
    for keyword, number in bounds.items():
        if dialect.most_bound is not None and abs(number) > dialect.most_bound:
            lost.append(keyword)
            continue
        if keyword == "multipleOf" and kind == "number" and not dialect.takes_step(number):
            lost.append(keyword)
            continue
        rounded = kind == "integer" and keyword in _ROUNDED and isinstance(number, float)
        value = _ROUNDED[keyword](number) if rounded else number  # xgrammar only accepts whole numbers
        if keyword in keywords:
            body[keyword] = value
            least, most = (value if keyword == "minimum" else least), (value if keyword == "maximum" else most)
        elif kind == "integer" and keyword == "exclusiveMinimum" and "minimum" in keywords:
            body["minimum"] = floor(value) + 1 if least == inf else max(floor(value) + 1, least)
        elif kind == "integer" and keyword == "exclusiveMaximum" and "maximum" in keywords:
            body["maximum"] = ceil(value) - 1 if most == -inf else min(ceil(value) - 1, most)
        elif keyword != "multipleOf" or kind != "integer" or value != 1:
            lost.append(keyword)
    if kind == "integer" and dialect.single_bound is not None:
        _add_other_bound(node, body, dialect, context.ledger)
    notes = context.lose(node, lost)
    return Variant(kind, body, notes=notes, node=node)


def _empty(bounds: Mapping[str, int | float], kind: str) -> bool:
    """Return whether no number is within the bounds."""
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


def _add_other_bound(node: JsonObject, body: JsonObject, dialect: Dialect, ledger: Ledger) -> None:
    """Add the opposite bound if a target requires both, large enough not to exclude any answer."""
    low, high = body.get("minimum"), body.get("maximum")
    if isinstance(low, int) and high is None and low > (dialect.single_bound or 0):
        keyword, far = "minimum", dialect.other_bound if low < dialect.other_bound else dialect.most_bound or low
        body["maximum"] = far
    elif isinstance(high, int) and low is None and high < 0:
        keyword, far = "maximum", -(dialect.other_bound if -high < dialect.other_bound else dialect.most_bound or -high)
        body["minimum"] = far
    else:
        return
    written = next(item for item in (keyword, f"exclusive{keyword.capitalize()}") if item in node)
    ledger.lose(node, written, "convention", f"is sent with {far} as the other bound, which it needs there")
