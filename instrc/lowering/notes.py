"""Say in a description what a target has no keyword for."""

from __future__ import annotations

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.limits.payloads import DESCRIBED_VALUE
from instrc.schema.vocabulary import COUNTS

_PHRASES = {
    "minimum": "At least {}.",
    "maximum": "At most {}.",
    "exclusiveMinimum": "Greater than {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "pattern": "Matches the regular expression {}.",
    "format": "Format: {}.",
    "minItems": "At least {} items.",
    "maxItems": "At most {} items.",
    "minProperties": "At least {} entries.",
    "maxProperties": "At most {} entries.",
    "contains": "Some items match {}.",
    "minContains": "At least {} of the items do.",
    "maxContains": "At most {} of the items do.",
    "not": "Must not match {}.",
    "if": "Depends on whether it matches {}.",
    "then": "If it does, it matches {}.",
    "else": "If it does not, it matches {}.",
    "dependentRequired": "Keys that ask for others: {}.",
    "dependentSchemas": "Keys that ask for more: {}.",
    "patternProperties": "Values by the pattern of their keys: {}.",
    "propertyNames": "Keys match {}.",
    "additionalProperties": "Other keys hold {}.",
    "unevaluatedProperties": "Other keys hold {}.",
    "unevaluatedItems": "Other items match {}.",
    "items": "Further items match {}.",
    "const": "Always {}.",
    "enum": "One of {}.",
    "default": "Default: {}.",
    "examples": "Examples: {}.",
    "contentEncoding": "Encoded as {}.",
    "contentMediaType": "Content type: {}.",
    "contentSchema": "The decoded content matches {}.",
    "allOf": "Also matches all of {}.",
    "anyOf": "Matches one of {}.",
    "oneOf": "Matches exactly one of {}.",
}
_BARE = {"pattern", "format", "contentEncoding", "contentMediaType"}


def note(keyword: str, value: Json) -> str:
    """Return the sentence that says a keyword in prose; the empty string where there is nothing to tell a model."""
    if keyword == "uniqueItems":
        return "No two items are equal."
    if value is False and keyword in {"additionalProperties", "unevaluatedProperties"}:
        return "No other keys."
    if value is False and keyword in {"items", "unevaluatedItems"}:
        return "No further items."
    phrase = _PHRASES.get(keyword)
    if phrase is None:
        return ""
    if keyword in COUNTS and isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if keyword in _BARE and isinstance(value, str) else dumps(value, indent=False)
    if len(text) > DESCRIBED_VALUE:
        text = text[:DESCRIBED_VALUE] + "…"
    return phrase.format(text)


def join_notes(*parts: str | None) -> str | None:
    """Join descriptions and notes with a line break, equal ones once; `None` if there are none."""
    seen = dict.fromkeys([part for part in parts if part])
    return "\n".join(seen) or None
