"""Write a union for a target without unions: GigaChat.

* If all values can be listed, they become one enum of strings.
* Other scalars share one string.
* Objects become properties of one object; its property `choice` names the alternative that is given.
"""

from __future__ import annotations

from collections.abc import Sequence

from instrc.ir.codec import Choice, ChoiceCodec, Codec, ValuesCodec
from instrc.ir.dialect import Dialect
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, freeze, mapping
from instrc.lowering.context import Progress
from instrc.lowering.names import legal, unique_name
from instrc.lowering.notes import join_notes
from instrc.lowering.rewrites import anything
from instrc.lowering.variants import Variant, listed_values, pairs_by_sent, without_annotations
from instrc.schema.vocabulary import KEYWORDS, NO_ASSERTIONS


def choice(variants: Sequence[Variant], dialect: Dialect, progress: Progress) -> tuple[JsonObject, Codec, Progress]:
    """Write a union as one string, or as one object that names its alternative."""
    if all(_finite(variant) for variant in variants):
        return *_words(variants), progress
    scalars = [variant for variant in variants if variant.kind not in {"object", "array", "ref"}]
    containers = [variant for variant in variants if variant.kind in {"object", "array", "ref"}]
    if len(scalars) > 1:
        text, progress = anything.as_json_text(scalars, progress)
        scalars = [text]
    if not containers:
        notes: JsonObject = {"description": join_notes(*scalars[0].notes)} if scalars[0].notes else {}
        return {**scalars[0].body, **notes}, scalars[0].codec, progress
    reason = "is one of several, which the target cannot tie to the name of the choice"
    for variant in variants:
        if isinstance(variant.node, dict):
            progress = progress.lose(variant.node, "type", reason=reason)
            for keyword in variant.node:
                if keyword in KEYWORDS and keyword not in NO_ASSERTIONS and keyword != "type":
                    progress = progress.lose(variant.node, keyword, "part", reason, parts=False)
    return *_named([*containers, *scalars], dialect), progress


def _words(variants: Sequence[Variant]) -> tuple[JsonObject, Codec]:
    """Say values that can be listed as one enum of strings."""
    known: dict[str, tuple[Json, Json]] = {}
    for variant in variants:
        for sent, value in _finite_table(variant):
            word = sent if isinstance(sent, str) else dumps(sent, indent=False)
            if word in known and freeze(known[word][1]) != freeze(value):
                word = unique_name(word, known, 10_000)
            known[word] = (word, value)
    same = all(sent == value for sent, value in known.values())
    return {"type": "string", "enum": list(known)}, None if same else ValuesCodec(tuple(known.values()))


def _named(variants: Sequence[Variant], dialect: Dialect) -> tuple[JsonObject, Codec]:
    """Say alternatives as properties of one object, of which `choice` names the one that is given."""
    labels: list[str] = []
    of: dict[str, Choice] = {}
    properties: JsonObject = {}
    for variant in variants:
        label = unique_name(_label(variant, dialect), [*labels, "choice"], 60)
        labels.append(label)
        if variant.kind == "null":
            of[label] = Choice(None)
            continue
        text = join_notes(variant.text, *variant.notes) or f"If the choice is {label}."
        properties[label] = {"description": text, **variant.body}
        of[label] = Choice(label, variant.codec, without_annotations(variant.body))
    words: list[Json] = [*labels]
    named: JsonObject = {"type": "string", "enum": words, "description": "Which of the other properties is given."}
    return {"type": "object", "properties": {"choice": named, **properties}, "required": ["choice"]}, ChoiceCodec(of)


def _label(variant: Variant, dialect: Dialect) -> str:
    """Return a word for an alternative: its title, the constant it begins with, its type."""
    words = [variant.title] if variant.title else []
    for schema in mapping(variant.body.get("properties")).values() if variant.kind == "object" else ():
        values = listed_values(schema) if isinstance(schema, dict) else []
        words += [value for value in values if isinstance(value, str) and len(values) == 1]
    plain = (word if dialect.key is None else legal(word, dialect.key, "") for word in words)
    return next((word for word in plain if word), {"array": "list", "string": "value"}.get(variant.kind, variant.kind))


def _finite(variant: Variant) -> bool:
    return variant.kind in {"null", "boolean"} or bool(variant.body.keys() & {"enum", "const"})


def _finite_table(variant: Variant) -> list[tuple[Json, Json]]:
    if variant.kind == "null":
        return [("null", None)]
    if variant.kind == "boolean":
        return [("true", True), ("false", False)]
    return list(pairs_by_sent(variant).values())
