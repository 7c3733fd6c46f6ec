"""Let keywords of one conjunction that speak of the same things agree: `const` with `enum` and `type`, bounds with each other."""

from __future__ import annotations

from instrc.flattening.merge_state import MergeState
from instrc.jsonvalue import equal
from instrc.schema.kinds import has_type, types_of
from instrc.schema.laws.bounds import BOUNDS, empty_range, redundant_bound

_VALUES = frozenset({"const", "enum"})
_BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


def reconcile(state: MergeState) -> bool:
    """Let keywords that speak of the same things agree; false if nothing satisfies them."""
    out = state.out
    if not _VALUES.isdisjoint(out) and not _values_agree(state):
        return False
    if not BOUNDS.isdisjoint(out) and not _bounds_agree(state):
        return False
    wanted = out.get("required")
    if wanted.__class__ is list and len(wanted) > 1 and isinstance(properties := out.get("properties"), dict):
        rank = {name: index for index, name in enumerate(properties)}
        last = len(rank)
        ordered = sorted(wanted, key=lambda name: rank.get(name, last) if isinstance(name, str) else last)
        if ordered != wanted:
            out["required"] = ordered
    return True


def _values_agree(state: MergeState) -> bool:
    """Keep the listed values that all keywords about values allow; false if none is left."""
    out = state.out
    if "const" in out and "enum" in out and out["enum"].__class__ is list:
        if not any(equal(out["const"], value) for value in out["enum"]):
            _contradiction(state, "const", "enum")
            return False
        del out["enum"]
    names = types_of(out["type"]) if "type" in out else None
    if names is None:
        return True
    if "const" in out and not has_type(out["const"], names):
        _contradiction(state, "type", "const")
        return False
    if isinstance(listed := out.get("enum"), list) and listed:
        values = [value for value in listed if has_type(value, names)]
        if not values:
            _contradiction(state, "type", "enum")
            return False
        if len(values) < len(listed):
            out["enum"] = values
    return True


def _bounds_agree(state: MergeState) -> bool:
    """Keep the stricter of two bounds of one side; false if there is nothing between those of both sides."""
    out = state.out
    for inclusive, exclusive in _BOUNDS:
        if exclusive in out and inclusive in out:
            redundant = redundant_bound(out[inclusive], out[exclusive], upper=inclusive == "maximum")
            if redundant is not None:
                del out[inclusive if redundant == "inclusive" else exclusive]
    if bounds := empty_range(out):
        _contradiction(state, *bounds)
        return False
    return True


def _contradiction(state: MergeState, left: str, right: str) -> None:
    """Report two keywords that leave nothing, each from the conjunct that has it last."""
    from instrc.flattening.contradictions import report_contradiction  # for a mistake

    report_contradiction(
        state.run,
        (state.conjuncts[state.groups[left][-1]], left),
        (state.conjuncts[state.groups[right][-1]], right),
    )
