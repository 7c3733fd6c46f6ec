"""Say objects whose keys are data: maps, patterns of keys, properties that are not declared.

Mistral, vLLM and smolagents keep them with the keywords of JSON Schema, as far as their engines take them.
Where each object must be closed (OpenAI, Anthropic strict) or maps come back empty (Gemini, GigaChat, Ollama)
they become lists of `{key, value}`, one alternative for each pattern of keys.
"""

from __future__ import annotations

from typing import Any

from instrc.codecs.writing import to_json
from instrc.ir.codec import ByPattern, Codec, ObjectCodec, PairsCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import AnyJson as Json
from instrc.lowering.notes import note
from instrc.lowering.rewrites.patterns import spelled
from instrc.lowering.variants import Variant
from instrc.lowering.walk import Walk

_ABSENT: Any = None
"""No word on properties that are not declared: JSON has no such schema."""


def count(lowerer: Walk, node: dict[str, Any], body: dict[str, Any], notes: list[str], *, more: bool) -> None:
    """Say how many properties there may be, where the number says more than the shape does."""
    properties = body.get("properties", {})
    optional_as_null = bool(properties) and (lowerer.dialect.every_required or (lowerer.ordered and lowerer.dialect.reorders))
    mixed = len(body.get("required", ())) < len(properties) and not lowerer.dialect.counts_optional
    sayable = not (optional_as_null or more or mixed)
    needed = len([name for name in node.get("required") or () if isinstance(name, str)])
    if node.get("minProperties", 0) > needed:
        if "minProperties" in lowerer.dialect.keywords and sayable:
            body["minProperties"] = int(node["minProperties"])
        else:
            notes.append(lowerer.lose(node, "minProperties"))
    closed = body.get("additionalProperties") is False and "patternProperties" not in body and not more
    if "maxProperties" in node and not (closed and len(properties) <= node["maxProperties"]):
        if "maxProperties" in lowerer.dialect.keywords and sayable:
            body["maxProperties"] = int(node["maxProperties"])
        else:
            notes.append(lowerer.lose(node, "maxProperties"))


def maps(lowerer: Walk, node: dict[str, Any], level: int, patterns: dict[str, Json], rest: Json) -> Variant | None:
    """Say an object none of whose properties is declared."""
    if lowerer.dialect.maps == "keep":
        body, codec, notes = kept(lowerer, node, level, patterns, rest)
        form = Variant("object", {"type": "object", **body}, codec, notes)
        if not body:  # any object
            form.body["additionalProperties"] = True
        count(lowerer, node, form.body, form.notes, more=False)
    else:
        entries = pairs(lowerer, node, level, patterns, rest)
        if entries is None:
            return _empty(lowerer, node)
        form = entries
        form.notes.insert(0, "An object, written as a list of its keys and values.")
        _count_pairs(lowerer, node, form)
    for keyword in ("dependentRequired", "dependentSchemas"):
        if node.get(keyword):
            form.notes.append(lowerer.lose(node, keyword))
    form.notes = [text for text in form.notes if text]
    return form


def _empty(lowerer: Walk, node: dict[str, Any]) -> Variant | None:
    """Say a map that cannot hold anything."""
    if node.get("minProperties", 0) > 0:
        lowerer.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
        return None
    body: dict[str, Any] = {"type": "object", "properties": {}}
    if lowerer.dialect.closed:
        body["additionalProperties"] = False
    if lowerer.dialect.every_required:
        body["required"] = []
    if "propertyOrdering" in lowerer.dialect.keywords:
        body["propertyOrdering"] = []
    if not lowerer.dialect.closed:
        for keyword in _OF_UNDECLARED:
            if keyword in node:
                lowerer.lose(
                    node, keyword, reason="has no word in the target; what is not allowed is found when the answer is lifted"
                )
    return Variant("object", body)


_OF_UNDECLARED = (
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
)
"""What speaks of properties that are not declared."""


def _count_pairs(lowerer: Walk, node: dict[str, Any], form: Variant) -> None:
    """Say how many entries a map has: a list may hold one key twice, so that a least number is exact up to one only."""
    keywords, limit = lowerer.dialect.keywords, lowerer.dialect.most_min_items
    least = int(node.get("minProperties", 0))
    if least > 0:
        sendable = "minItems" in keywords
        if sendable:
            form.body["minItems"] = least if limit is None else min(least, limit)
        if least > 1 or not sendable:
            form.notes.append(lowerer.lose(node, "minProperties"))
    if "maxProperties" in node:
        if "maxItems" in keywords:
            form.body["maxItems"] = int(node["maxProperties"])
        else:
            form.notes.append(lowerer.lose(node, "maxProperties"))


def kept(
    lowerer: Walk, node: dict[str, Any], level: int, patterns: dict[str, Json], rest: Json, *, renamed: bool = False
) -> tuple[dict[str, Any], ObjectCodec | None, list[str]]:
    """Say undeclared properties with the keywords of JSON Schema: Mistral, vLLM and smolagents take them."""
    keywords = lowerer.dialect.keywords
    notes: list[str] = []
    body: dict[str, Any] = {}
    by: list[ByPattern] = []
    other: Codec = None
    single = len(patterns) == 1 and not renamed  # llguidance refuses patterns that overlap
    sent = {pattern: spelled(pattern, lowerer.dialect, "plain") for pattern in patterns} if single else {}
    if sent and "patternProperties" in keywords and None not in sent.values():
        said: dict[str, Json] = {}
        for pattern, schema in patterns.items():
            value, codec = lowerer.fit(schema, level + 1)
            said[sent[pattern] or pattern] = False if value is None else value
            by.append(ByPattern(pattern, codec))
        body["patternProperties"] = said  # declared properties that match the pattern have its demands among their own
    elif patterns:
        notes.append(lowerer.lose(node, "patternProperties"))
        _lose_rest(lowerer, node, rest)
        values = [schema for schema in patterns.values() if schema is not False]
        if rest is _ABSENT or rest is True:
            rest = True
        else:
            rest = (
                lowerer.made({"anyOf": [*values, *([] if rest is False else [rest])]}, node)
                if values or rest is not False
                else False
            )
    if rest is not _ABSENT and rest is not False:
        value, other = lowerer.fit(rest, level + 1)
        body["additionalProperties"] = False if value is None else True if value == {} else value
    elif rest is _ABSENT:
        body["additionalProperties"] = True
    else:
        body["additionalProperties"] = False
    if "propertyNames" in node:
        if "propertyNames" in keywords:
            names, _ = lowerer.fit(lowerer.made({"allOf": [{"type": "string"}, node["propertyNames"]]}, node), level + 1)
            if names is None:  # no name will do, so there is no property
                return {"additionalProperties": False}, None, notes
            body["propertyNames"] = names
        else:
            notes.append(lowerer.lose(node, "propertyNames"))
    if any(entry.codec is not None for entry in by):
        return body, ObjectCodec({}, other=other, by=tuple(by)), notes
    return body, None if other is None else ObjectCodec({}, other=other), notes


def _lose_rest(lowerer: Walk, node: dict[str, Any], rest: Json) -> None:
    """Lose what holds for keys no pattern matches, where patterns are not told."""
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in node and rest is not True:
            lowerer.lose(node, keyword)


def pairs(lowerer: Walk, node: dict[str, Any], level: int, patterns: dict[str, Json], rest: Json) -> Variant | None:
    """Say entries as a list of `{key, value}`, one alternative for each pattern of keys; `None` if there can be no entry."""
    wanted: list[tuple[str | None, Json]] = [(pattern, schema) for pattern, schema in patterns.items() if schema is not False]
    if rest is not False:
        wanted.append((None, rest))
    if patterns and (len(patterns) > 1 or rest is not False or node.get("properties")):
        lowerer.lose(node, "patternProperties")
    for pattern in patterns:
        if _enforced(lowerer, pattern) is None:
            lowerer.lose(node, "patternProperties")
            _lose_rest(lowerer, node, rest)
    if lowerer.dialect.unions == "choice" and len(wanted) > 1:
        wanted = [(None, lowerer.made({"anyOf": [schema for _, schema in wanted]}, node))]
    entries: list[tuple[str | None, Variant]] = []
    for key_pattern, schema in wanted:
        forms = lowerer.forms(_entry(lowerer, node, key_pattern, schema), level + 1)
        if len(forms) == 1:
            entries.append((key_pattern, forms[0]))
    if not entries:
        return None
    distinct: dict[str, Variant] = {}
    kept = [
        (pattern, distinct.setdefault(dumps([form.body, to_json(form.codec)], indent=False), form)) for pattern, form in entries
    ]
    items, codec = lowerer.combine({}, list(distinct.values()))
    by = tuple(ByPattern(pattern, form.codec) for pattern, form in kept) if len(distinct) > 1 else ()
    return Variant("array", {"type": "array", "items": items}, PairsCodec(codec, by))


def _enforced(lowerer: Walk, pattern: str) -> str | None:
    """Return a pattern as a target takes it, if the target holds keys to patterns."""
    return spelled(pattern, lowerer.dialect) if "pattern" in lowerer.dialect.keywords else None


def _entry(lowerer: Walk, node: dict[str, Any], pattern: str | None, value: Json) -> Json:
    """Return the schema of one entry."""
    key: Json = {"type": "string"}
    if pattern is not None and (enforced := _enforced(lowerer, pattern)) is not None:
        key["pattern"] = enforced
    elif pattern is not None:  # nobody wrote that keyword: what is lost is `patternProperties`
        key["description"] = note("pattern", pattern)
    if "propertyNames" in node:
        key = {"allOf": [key, node["propertyNames"]]}
    pair = {
        "type": "object",
        "properties": {"key": key, "value": value},
        "required": ["key", "value"],
        "additionalProperties": False,
    }
    lowerer.made(key, node)
    return lowerer.own(pair, node)
