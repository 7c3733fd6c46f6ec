"""Say a union where a target knows none: GigaChat.

Values that can be listed become one enum of strings, other values that are no objects share one string,
and objects become properties of one object whose `choice` names the one that is meant.
"""

from __future__ import annotations

from typing import Any

from instrc.ir.codec import Choice, ChoiceCodec, Codec, ValuesCodec
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, freeze
from instrc.lowering.names import legal, unique
from instrc.lowering.notes import joined
from instrc.lowering.rewrites import anything
from instrc.lowering.variants import Variant, listed_values, table
from instrc.lowering.walk import Walk
from instrc.schema.vocabulary import KEYWORDS, NO_ASSERTIONS


def choice(lowerer: Walk, forms: list[Variant]) -> tuple[dict[str, Any], Codec]:
    """Say a union as one string, or as one object that names the alternative it holds."""
    if all(_finite(form) for form in forms):
        known: dict[str, tuple[Json, Json]] = {}
        for form in forms:
            for sent, value in _finite_table(form):
                word = sent if isinstance(sent, str) else dumps(sent, indent=False)
                if word in known and freeze(known[word][1]) != freeze(value):
                    word = unique(word, known, 10_000)
                known[word] = (word, value)
        codec: Codec = ValuesCodec(tuple(known.values()))
        if all(sent == value for sent, value in known.values()):
            codec = None
        return {"type": "string", "enum": list(known)}, codec
    scalars = [form for form in forms if form.kind not in {"object", "array", "ref"}]
    containers = [form for form in forms if form.kind in {"object", "array", "ref"}]
    if scalars:
        scalars = [anything.texts(lowerer, scalars)] if len(scalars) > 1 else scalars
    if not containers:
        return {**scalars[0].body, **({"description": joined(*scalars[0].notes)} if scalars[0].notes else {})}, scalars[0].codec
    for form in forms:
        if isinstance(form.node, dict):
            reason = "is one of several, which the target cannot tie to the name of the choice"
            lowerer.take(form.node, "type", "unenforced", reason)
            for keyword in form.node:
                if keyword in KEYWORDS and keyword not in NO_ASSERTIONS and keyword != "type":
                    lowerer.take(form.node, keyword, "part", reason, parts=False)
    labels: list[str] = []
    of: dict[str, Choice] = {}
    properties: dict[str, Json] = {}
    for form in [*containers, *scalars]:
        label = unique(_label(lowerer, form), [*labels, "choice"], 60)
        labels.append(label)
        if form.kind == "null":
            of[label] = Choice(None)
            continue
        text = joined(form.text, *form.notes) or f"If the choice is {label}."
        properties[label] = {"description": text, **form.body}
        of[label] = Choice(label, form.codec, lowerer.without_annotations(form.body))
    choice = {"type": "string", "enum": labels, "description": "Which of the other properties is given."}
    return {"type": "object", "properties": {"choice": choice, **properties}, "required": ["choice"]}, ChoiceCodec(of)


def _label(lowerer: Walk, form: Variant) -> str:
    """Return a word for an alternative: its title, the constant it begins with, its type."""
    words = [form.title] if form.title else []
    for schema in form.body.get("properties", {}).values() if form.kind == "object" else ():
        words += [value for value in listed_values(schema)[:1] if isinstance(value, str) and len(listed_values(schema)) == 1]
    rule = lowerer.dialect.key
    plain = (word if rule is None else legal(word, rule, "") for word in words)
    return next((word for word in plain if word), {"array": "list", "string": "value"}.get(form.kind, form.kind))


def _finite(form: Variant) -> bool:
    return form.kind in {"null", "boolean"} or bool(form.body.keys() & {"enum", "const"})


def _finite_table(form: Variant) -> list[tuple[Json, Json]]:
    if form.kind == "null":
        return [("null", None)]
    if form.kind == "boolean":
        return [("true", True), ("false", False)]
    return list(table(form).values())
