"""Let a schema admit null beside what it admits: the sign that somebody else will fill it in."""

from __future__ import annotations

from instrc.jsonvalue import Json, as_array

_SILENT_ON_NULL = frozenset(
    [
        "$comment",
        "additionalProperties",
        "contains",
        "default",
        "deprecated",
        "dependentRequired",
        "dependentSchemas",
        "description",
        "examples",
        "format",
        "items",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "readOnly",
        "required",
        "title",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
        "writeOnly",
        "$defs",
        "$schema",
        "$id",
        "activity",
        "arguments",
        "references",
    ]
)
"""Keywords that say nothing about null."""
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
    made: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "type":
            types: list[Json] = [value] if isinstance(value, str) else as_array(value)
            made[keyword] = types if "null" in types else [*types, "null"]
        elif keyword == "enum":
            made[keyword] = value if None in as_array(value) else [*as_array(value), None]
        elif keyword == "const" and value is not None:
            made["enum"] = [value, None]
        else:
            made[keyword] = value
    return made
