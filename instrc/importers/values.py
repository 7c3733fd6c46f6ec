"""Values that a schema lists, held against the type beside them."""

from __future__ import annotations

from instrc.importers.given import Given
from instrc.jsonvalue import Json
from instrc.schema.laws import TYPES
from instrc.schema.walk import Path

_TYPES_OF: dict[type, frozenset[str]] = {
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number", "integer"}),
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    type(None): frozenset({"null"}),
}


def fitting(out: dict[str, Json], path: Path, given: Given) -> None:
    """Give the values of an array to its items, and drop a type that none of the listed values has: they are what was meant."""
    types = out.get("type")
    names = [types] if types.__class__ is str else types if types.__class__ is list else []
    listed = out.get("enum")
    if (
        "array" in names
        and listed.__class__ is list
        and listed
        and not any(item.__class__ in {list, type(None)} for item in listed)
    ):
        items = out.get("items", {})
        if items.__class__ is dict and "enum" not in items and "prefixItems" not in out:
            given.read_as((*path, "enum"), "enum", "what the items of the array are chosen from")
            out["items"] = {**items, "enum": out.pop("enum")}
            return
    for keyword in ("enum", "const"):
        if keyword not in out or not names:
            continue
        values = out[keyword] if keyword == "enum" else [out[keyword]]
        if values.__class__ is list and values and not any(_has(value, names) for value in values):
            given.left_out((*path, "type"), "type", f"no value of `{keyword}` has it")
            del out["type"]
            return


def _has(value: Json, names: list[str]) -> bool:
    return any(name in TYPES and name in _TYPES_OF[value.__class__] for name in names if name.__class__ is str)
