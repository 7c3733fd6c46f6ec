"""Let keywords of one conjunction that speak of the same things agree: `const` with `enum` and `type`, bounds with each other."""

from __future__ import annotations

from instrc.jsonvalue import JsonObject, equal
from instrc.schema.kinds import has_type, types_of
from instrc.schema.laws.bounds import BOUNDS, empty_range, redundant_bound

_VALUES = frozenset({"const", "enum"})
_BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


def clash(out: JsonObject) -> tuple[str, str] | None:
    """Let keywords that speak of the same values agree; return two that leave none, if there are such."""
    found = _values_agree(out) if not _VALUES.isdisjoint(out) else None
    return _bounds_agree(out) if found is None and not BOUNDS.isdisjoint(out) else found


def in_order_of_properties(out: JsonObject) -> None:
    """Name what is required in the order in which the properties are described."""
    wanted = out.get("required")
    if wanted.__class__ is list and len(wanted) > 1 and isinstance(properties := out.get("properties"), dict):
        rank = {name: index for index, name in enumerate(properties)}
        last = len(rank)
        ordered = sorted(wanted, key=lambda name: rank.get(name, last) if isinstance(name, str) else last)
        if ordered != wanted:
            out["required"] = ordered


def _values_agree(out: JsonObject) -> tuple[str, str] | None:
    """Keep the listed values that all keywords about values allow; return two keywords that leave none."""
    if "const" in out and "enum" in out and out["enum"].__class__ is list:
        if not any(equal(out["const"], value) for value in out["enum"]):
            return "const", "enum"
        del out["enum"]
    names = types_of(out["type"]) if "type" in out else None
    if names is None:
        return None
    if "const" in out and not has_type(out["const"], names):
        return "type", "const"
    if isinstance(listed := out.get("enum"), list) and listed:
        values = [value for value in listed if has_type(value, names)]
        if not values:
            return "type", "enum"
        if len(values) < len(listed):
            out["enum"] = values
    return None


def _bounds_agree(out: JsonObject) -> tuple[str, str] | None:
    """Keep the stricter of two bounds of one side; return two that leave nothing between them."""
    for inclusive, exclusive in _BOUNDS:
        if exclusive in out and inclusive in out:
            redundant = redundant_bound(out[inclusive], out[exclusive], upper=inclusive == "maximum")
            if redundant is not None:
                del out[inclusive if redundant == "inclusive" else exclusive]
    return empty_range(out)
