"""Describe a violation of a schema in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from jsonschema.exceptions import ValidationError

from instrc.schema.formats import has_format
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

UNIONS = frozenset({"anyOf", "oneOf"})
"""Keywords of which a violation may be that of one branch."""
_OF_KIND = frozenset({"type", "const", "enum"})
_OF_LABEL = frozenset({"const", "enum"})


def in_words(error: ValidationError) -> str:
    """Return the text of a validation error."""
    value, wanted = cast("Json", error.instance), cast("Json", error.validator_value)
    match error.validator:
        case "type":
            return f"{value_in_words(value)} is not of type {names_as_json(wanted if isinstance(wanted, list) else [wanted])}"
        case "enum":
            return f"{value_in_words(value)} is not one of {value_in_words(wanted)}"
        case "const":
            return f"{value_in_words(wanted)} was expected"
        case "not":
            return f"{value_in_words(value)} should not be valid under {value_in_words(wanted)}"
        case "format":
            lacks_zone = isinstance(value, str) and wanted in ("time", "date-time") and has_format(wanted, f"{value}Z")
            zone = ': it has no zone, such as "Z" or "+02:00"' if lacks_zone else ""
            return f"{value_in_words(value)} is not a {value_in_words(wanted)}{zone}"
        case "items" | "unevaluatedItems":
            return f"{value_in_words(value)} has more items than are described"
        case None:
            return f"{value_in_words(value)} is not allowed here"
        case _:
            said = str(error.message)
            own = "" if said.startswith(" ") else repr(value)  # those of `_UNWRITTEN`, and ours, begin behind it
            return value_in_words(value) + said.removeprefix(own) if said.startswith(own) else said


def value_in_words(value: Json) -> str:
    """Return a value formatted for a sentence."""
    return dumps(value, indent=False)


def names_as_json(names: Iterable[Json]) -> str:
    """Return several values as a list for a sentence: `"a", 1, null`."""
    return ", ".join(map(value_in_words, names))


def of_intended_branch(error: ValidationError) -> ValidationError:
    """Return the error of the only branch of a union that the type and constants of a value match, or else the error itself."""
    while error.validator in UNIONS and error.context:
        branches: dict[object, list[ValidationError]] = {}
        for inner in error.context:
            branches.setdefault(inner.relative_schema_path[0], []).append(inner)
        left = [inner for inner in branches.values() if not any(map(_is_of_another, inner))]
        if len(left) != 1:
            break
        branch = ValidationError.create_from(left[0][0])
        branch.path.extendleft(reversed(error.absolute_path))
        branch.schema_path.extendleft(reversed(error.absolute_schema_path))
        branch.parent, error = None, branch  # a remembered error belongs to several values
    return error


def _is_of_another(error: ValidationError) -> bool:
    """Return whether an error shows that another branch was intended: a wrong type, or a wrong constant in a member."""
    path = error.relative_path
    return (not path and error.validator in _OF_KIND) or (len(path) == 1 and error.validator in _OF_LABEL)
