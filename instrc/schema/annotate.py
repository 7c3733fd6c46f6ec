"""Merge keywords into a schema as if both were one object, and make a schema nullable."""

from __future__ import annotations

from collections.abc import Callable

from instrc.schema.drafts import with_null
from instrc.schema.vocabulary import IN_PLACE, SPEAKS_OF
from instrc.schema.walk import without
from instrc.text.jsonvalue import Json, as_object

_OF_THE_SAME_OBJECT = IN_PLACE | {"$ref", "$dynamicRef"}
"""Keywords whose schemas may describe further properties of the same object."""


def write_beside(schema: Json, annotation: Json, intersect: Callable[[Json, Json], Json]) -> Json:
    """Return a schema with the keywords of an annotation added; `intersect` combines the rest as `allOf` does.

    `additionalProperties` and `unevaluatedProperties` then cover the properties of both.
    """
    if not isinstance(schema, dict) or not isinstance(annotation, dict):
        return intersect(schema, annotation)
    annotation = _of_all_properties(schema, annotation)
    adds = as_object(annotation.get("properties", {})).keys() - as_object(schema.get("properties", {})).keys()
    if not closes(annotation) and not (adds and "additionalProperties" in schema):
        return intersect(schema, annotation)
    rests = [part["additionalProperties"] for part in (schema, annotation) if "additionalProperties" in part]
    result = intersect(*(without(part, "additionalProperties") for part in (schema, annotation)))
    if not isinstance(result, dict):
        return result
    rest = False if False in rests else rests[0] if len(rests) == 1 else intersect(rests[0], rests[1])
    keyword = "additionalProperties" if result.keys().isdisjoint(_OF_THE_SAME_OBJECT) else "unevaluatedProperties"
    return {**result, keyword: rest}


def _of_all_properties(schema: dict[str, Json], annotation: dict[str, Json]) -> dict[str, Json]:
    """Return an annotation with `additionalProperties` in place of `unevaluatedProperties`, which an existing one overrides."""
    if "unevaluatedProperties" not in annotation:
        return annotation
    result = without(annotation, "unevaluatedProperties")
    if "additionalProperties" not in schema and "additionalProperties" not in annotation:
        result["additionalProperties"] = annotation["unevaluatedProperties"]
    return result


def closes(annotation: Json) -> bool:
    """Return whether an annotation constrains additional properties."""
    return isinstance(annotation, dict) and "additionalProperties" in annotation


_SILENT_ON_NULL = SPEAKS_OF.keys() | {
    *("title", "description", "$comment", "default", "deprecated", "examples", "readOnly", "writeOnly", "format"),
    *("$schema", "$id", "$defs", "activity", "arguments", "references"),
}
"""Keywords that do not constrain null."""
_ABOUT = ("title", "description")


def nullable(schema: Json) -> Json:
    """Return a schema that admits null as well."""
    if not isinstance(schema, dict):
        return True if schema else {"type": "null"}
    rest = schema.keys() - _SILENT_ON_NULL - {"type", "enum", "const"}
    if rest:
        about = {keyword: schema[keyword] for keyword in _ABOUT if keyword in schema}
        plain = {keyword: value for keyword, value in schema.items() if keyword not in _ABOUT}
        return {**about, "anyOf": [plain, {"type": "null"}]}
    return with_null(schema)
