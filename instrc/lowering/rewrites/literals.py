"""Say enums and constants with the values a target takes.

`const` is unknown to both Gemini forms, GigaChat and Ollama: there it is an enum of one.
Values of several types are parted by type, because OpenAI wants a type beside every enum.
Values of types a target's enums cannot hold (numbers in Gemini's Schema and GigaChat, objects nearly everywhere) are sent as
their JSON text and come back by a table.  Anthropic may change the case of a value, which the same table undoes.
"""

from __future__ import annotations

from typing import Any

from instrc.ir.codec import TextCodec, ValuesCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze, kind_of
from instrc.lowering.names import unique
from instrc.lowering.variants import Variant, null_variant
from instrc.lowering.walk import Walk
from instrc.schema.vocabulary import NO_ASSERTIONS

_OTHERS = frozenset({"enum", "const", "type", "allOf", "not", "if", "then", "else"}) | NO_ASSERTIONS


def literals(lowerer: Walk, node: dict[str, Any]) -> list[Variant]:
    """Return the forms of a schema that lists its values, one for each JSON type among them."""
    dialect = lowerer.dialect
    values = _values(node)
    groups: dict[str, list[Json]] = {}
    for value in values:
        groups.setdefault(kind_of(value), []).append(value)
    if "number" in groups and "integer" in groups:
        groups["number"] = [value for value in values if kind_of(value) in {"integer", "number"}]
        del groups["integer"]
    forms: list[Variant] = []
    strange: list[Json] = []
    if not dialect.empty_words and "" in groups.get("string", ()):
        groups["string"] = [value for value in groups["string"] if value != ""]
        strange.append("")
    for kind, group in groups.items():
        if not group:
            continue
        if kind == "null" and dialect.null:
            forms.append(null_variant())
        elif kind == "boolean" and len(group) == 2:
            forms.append(Variant("boolean", {"type": "boolean"}))
        elif kind == "string" or kind in dialect.enums:
            if (excess := _excess(lowerer, group)) is None:
                forms.append(Variant(kind, _enumeration(lowerer, node, kind, group), _fold(lowerer, group)))
            else:
                keyword = "enum" if "enum" in node else "const"
                reason = f"{excess}: it is said in the description and checked when the answer is lifted"
                forms.append(Variant(kind, {"type": kind}, notes=[lowerer.lose(node, keyword, reason=reason)]))
        else:
            strange += group
    return _with_strange(lowerer, forms, strange) if strange else forms


def _values(node: dict[str, Any]) -> list[Json]:
    """Return the listed values that the rest of the schema allows, equal ones once."""
    listed = [node["const"]] if "const" in node else list(node["enum"])
    if "const" in node and "enum" in node and all(freeze(node["const"]) != freeze(value) for value in node["enum"]):
        listed = []
    values = list(
        {freeze(value): int(value) if isinstance(value, float) and value.is_integer() else value for value in listed}.values()
    )
    types = node.get("type")
    if types is not None:
        types = {types} if isinstance(types, str) else set(types)
        values = [value for value in values if kind_of(value) in types or (kind_of(value) == "integer" and "number" in types)]
    others = {keyword: value for keyword, value in node.items() if keyword not in _OTHERS}
    if others and values:
        from instrc.codecs.judge import accepts

        values = [value for value in values if accepts(others, value)]
    return values


def _excess(lowerer: Walk, group: list[Json]) -> str | None:
    """Count the values of an enum; say by how much they are too many, `None` if the target takes them."""
    limits = lowerer.dialect.limits
    if limits.long_enum is not None and len(group) > limits.long_enum[0]:
        size = sum(len(value) for value in group if isinstance(value, str))
        if size > limits.long_enum[1]:
            most, characters = limits.long_enum
            return f"has {len(group)} values of {size} characters, and more than {most} may have {characters}"
    counted = lowerer.enum_values + len(group)
    if limits.enum_values is not None and counted > limits.enum_values:
        return f"would be the schema's value {counted} in an enum, and the target takes {limits.enum_values}"
    lowerer.enum_values = counted
    return None


def _enumeration(lowerer: Walk, node: dict[str, Any], kind: str, group: list[Json]) -> dict[str, Any]:
    if len(group) == 1 and "const" in lowerer.dialect.keywords and "const" in node:
        return {"type": kind, "const": group[0]}
    return {"type": kind, "enum": group}


def _fold(lowerer: Walk, group: list[Json]) -> ValuesCodec | None:
    """Return the table that undoes changes of case, if the target is known for them and case is all that can change."""
    if not lowerer.dialect.fold or not isinstance(group[0], str):
        return None
    if not any(value.lower() != value.upper() for value in group):
        return None
    return ValuesCodec(tuple((value, value) for value in group), fold=True)


def _with_strange(lowerer: Walk, forms: list[Variant], strange: list[Json]) -> list[Variant]:
    """Add values that the target's enums cannot hold to the strings, as their JSON text."""
    mine = next((form for form in forms if form.kind == "string"), None)
    own: list[str] = []
    table: list[tuple[Json, Json]] = []
    if mine is not None:
        if "enum" not in mine.body and "const" not in mine.body:  # too many to list; text is all that is left
            return [*(form for form in forms if form is not mine), _text(mine, strange)]
        own = mine.body.get("enum") or [mine.body["const"]]
        table = [(value, value) for value in own]
    taken = set(own)
    for value in strange:
        sent = unique(dumps(value, indent=False), taken, 10_000)
        taken.add(sent)
        table.append((sent, value))
    codec = ValuesCodec(tuple(table), fold=lowerer.dialect.fold)
    form = Variant("string", {"type": "string", "enum": [sent for sent, _ in table]}, codec)
    if mine is None:
        return [*forms, form]
    return [form if other is mine else other for other in forms]


def _text(mine: Variant, strange: list[Json]) -> Variant:
    kinds = ["string", *dict.fromkeys(kind_of(value) for value in strange)]
    return Variant("string", {"type": "string"}, TextCodec(tuple(kinds)), mine.notes)
