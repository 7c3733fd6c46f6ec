"""Say in words what is wrong with a value, with all values as JSON: what the library of the validators says is Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.schema.formats import has_format

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_UNIONS = frozenset({"anyOf", "oneOf"})
_OF_KIND = frozenset({"type", "const", "enum"})
_OF_LABEL = frozenset({"const", "enum"})


def value_in_words(value: Json) -> str:
    """Return a value as it stands in a sentence."""
    return dumps(value, indent=False)


def names_as_json(names: Iterable[Json]) -> str:
    """Return several values as they stand in a sentence: `"a", 1, null`."""
    return ", ".join(map(value_in_words, names))


def in_words(error: ValidationError) -> str:
    """Return what an error of the library says."""
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
            return f"{value_in_words(value)} is not a {value_in_words(wanted)}{_zone_missing(str(wanted), value)}"
        case "oneOf" if not error.context:
            return f"{value_in_words(value)} is valid under more than one of the given schemas"
        case "items" | "unevaluatedItems":
            return f"{value_in_words(value)} has more items than are described"
        case None:
            return f"{value_in_words(value)} is not allowed here"
        case _:
            own, said = repr(value), str(error.message)
            return value_in_words(value) + said.removeprefix(own) if said.startswith(own) else said


def _zone_missing(wanted: str, value: Json) -> str:
    """Return what a time lacks that has no zone, as clocks and Python write it."""
    lacks_zone = isinstance(value, str) and wanted in {"time", "date-time"} and has_format(wanted, f"{value}Z")
    return ': it has no zone, such as "Z" or "+02:00"' if lacks_zone else ""


def of_intended_branch(error: ValidationError) -> ValidationError:
    """Return the error of the one branch of a union that the type and the constants of a value allow; else the error itself."""
    while error.validator in _UNIONS and error.context:
        branches: dict[object, list[ValidationError]] = {}
        for inner in error.context:
            branches.setdefault(inner.relative_schema_path[0], []).append(inner)
        left = [inner for inner in branches.values() if not any(map(_is_of_another, inner))]
        if len(left) != 1:
            break
        error = left[0][0]
    return error


def _is_of_another(error: ValidationError) -> bool:
    """Tell whether an error shows that another branch is intended: a wrong type, or a wrong constant in a member."""
    path = error.relative_path
    return (not path and error.validator in _OF_KIND) or (len(path) == 1 and error.validator in _OF_LABEL)
