"""Values that a schema lists, checked against the type beside them."""

from __future__ import annotations

from instrc.jsonvalue import Json, Location
from instrc.schema.kinds import has_type, types_of
from instrc.schema.notes import Note, Schema


def fit_listed_values(out: Schema, path: Location) -> tuple[Note, ...]:
    """Give the values of an array to its items, and drop a type that none of the listed values has: the values are the intent."""
    names = types_of(out["type"]) if "type" in out else None
    if not names:
        return ()
    listed = out.get("enum")
    if "array" in names and listed.__class__ is list and _lists_items(listed, names):
        items = out.get("items", {})
        if items.__class__ is dict and "enum" not in items and "prefixItems" not in out:
            del out["enum"]
            out["items"] = {**items, "enum": [value for value in listed if value is not None]}
            return (Note((*path, "enum"), "enum", "repair", "what the items of the array are chosen from"),)
    for keyword in ("enum", "const"):
        values = out[keyword] if keyword == "enum" and keyword in out else [out[keyword]] if keyword in out else []
        if values.__class__ is list and values and not any(has_type(value, names) for value in values):
            del out["type"]
            return (Note((*path, "type"), "type", "left-out", f"no value of `{keyword}` has it"),)
    return ()


def _lists_items(values: list[Json], names: tuple[str, ...]) -> bool:
    """Tell whether values beside `array` are meant for its items: none of them has a type that is allowed, but for `null`."""
    given = [value for value in values if value is not None]
    return bool(given) and (len(given) == len(values) or "null" in names) and not any(has_type(value, names) for value in given)
