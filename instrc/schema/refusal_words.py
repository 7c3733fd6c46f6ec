"""Say in words what a meta-schema refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.jsontext import digits
from instrc.jsonvalue import Json, Location, as_texts
from instrc.schema.kinds import TYPES

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_SHORT_NAMES = {"int": "integer", "str": "string", "bool": "boolean", "obj": "object", "num": "number", "arr": "array"}
"""How types are written in short, which may be misspelt as well."""


def reason_of(error: ValidationError) -> str:
    """Say in a clause what a meta-schema found."""
    value: Json = error.instance  # type: ignore[assignment]  # it is set: the error was found in one
    wanted: Json = error.validator_value  # type: ignore[assignment]  # as above
    match error.validator:
        case "type":
            names = [wanted] if isinstance(wanted, str) else as_texts(wanted)
            return f"{shown_value(value)} is not {' or '.join(_NOUNS.get(name, name) for name in names)}"
        case "enum" | "anyOf" if "type" in list(error.absolute_path)[-2:]:
            return "it is empty" if value == [] else f"{shown_value(value)} is not a type"
        case "minItems":
            return "it is empty"
        case "uniqueItems":
            return "it says something twice"
        case "minimum" | "exclusiveMinimum":
            return f"{shown_value(value)} is too small"
        case "pattern":
            return f"{shown_value(value)} is not written as this keyword wants it"
    return f"{shown_value(value)} is not what this keyword holds"


_NOUNS = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def shown_value(value: Json) -> str:
    """Return a value as a sentence shows it: containers only by their kind."""
    if value.__class__ is dict:
        return "an object"
    if value.__class__ is list:
        return "an array"
    if value.__class__ is str:
        shown = value if len(value) <= 40 else f"{value[:39]}…"
        return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value is None or value.__class__ is bool:
        return {True: "true", False: "false", None: "null"}[value]
    return digits(value)[:40] if value.__class__ is int else str(value)


def nearest_type(path: Location, value: Json) -> tuple[str, ...]:
    """Return the types nearest to a misspelt one; `path` leads to the value."""
    if "type" not in path[-2:] or value.__class__ is not str:
        return ()
    from instrc.problems.suggest import nearest  # only where something is wrong

    return nearest(value, tuple(sorted(TYPES))) or tuple(_SHORT_NAMES[name] for name in nearest(value, tuple(_SHORT_NAMES)))
