"""Finish a merged schema once its parts are done: gather what stays apart, see what has become impossible."""

from __future__ import annotations

from instrc.jsonvalue import Json, equal
from instrc.schema.keywords import is_number, key_of, unique
from instrc.schema.pieces import TRIVIAL, Frame

_GROUP_OF = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}


def settle(frame: Frame) -> Json:
    """Return the finished schema of a frame, or `False` if its parts have shown that nothing satisfies it."""
    out: dict[str, Json] = frame.out
    todo = frame.settle
    if todo is None:
        return out
    if todo.new_not:
        branches: list[Json] = []
        for branch in out["not"]["anyOf"]:
            inside = branch["anyOf"] if branch.__class__ is dict and len(branch) == 1 and "anyOf" in branch else [branch]
            branches += inside
        branches = unique(branches)
        branches = [branch for branch in branches if branch is not False] or [False]
        out["not"] = {"anyOf": branches} if len(branches) > 1 else branches[0]
    rest: list[Json] = []
    for keyword, others in todo.apart.items():
        if keyword == "if" and not todo.idle_conditions:
            others = [other for other in others if _decides(other)]  # noqa: PLW2901  -- a part may have turned out to say nothing
        _keep_apart(out, keyword, others, rest)
    for unit in todo.units:
        if unit is False:
            return False
        if unit is not True:
            rest.append(unit)
    if len(rest) > 1:
        rest = unique(rest)
    if rest:
        if not out and len(rest) == 1:
            return rest[0]
        out["allOf"] = rest
    if _impossible(out):
        return False
    return out


def _decides(condition: dict[str, Json]) -> bool:
    return any(word in condition and condition[word] not in TRIVIAL for word in ("then", "else"))


def _keep_apart(out: dict[str, Json], keyword: str, others: list[dict[str, Json]], rest: list[Json]) -> None:
    """Spread further groups of a keyword over the residual branches, equal ones once."""
    if not others:
        return
    words = _GROUP_OF.get(keyword, ())
    main = {word: out[word] for word in words if word in out} if words else {word: out[word] for word in others[0] if word in out}
    kept = [main]
    seen = {key_of(main)}
    for other in others:
        key = key_of(other)
        if key in seen:
            continue
        seen.add(key)
        if keyword == "contains" and _same_contains(kept, other, out):
            continue
        kept.append(other)
    for level, other in enumerate(kept[1:]):
        if level == len(rest):
            rest.append({})
        rest[level].update(other)


def _same_contains(kept: list[dict[str, Json]], other: dict[str, Json], out: dict[str, Json]) -> bool:
    """Join two `contains` of the same schema by their bounds."""
    for number, one in enumerate(kept):
        if not equal(one["contains"], other["contains"]):
            continue
        target = out if number == 0 else one
        low, high = (one.get("minContains", 1), other.get("minContains", 1)), (one.get("maxContains"), other.get("maxContains"))
        if not all(is_number(value) for value in low) or not all(value is None or is_number(value) for value in high):
            return False
        if "minContains" in one or "minContains" in other:
            target["minContains"] = one["minContains"] = max(low)
        limits = [value for value in high if value is not None]
        if limits:
            target["maxContains"] = one["maxContains"] = min(limits)
        return True
    return False


def _impossible(out: dict[str, Json]) -> bool:
    """Tell whether an object schema requires a property that it forbids."""
    if out.get("type") != "object" or out.get("required").__class__ is not list:
        return False
    properties = out.get("properties", {})
    closed = out.get("additionalProperties") is False and not out.get("patternProperties")
    for name in out["required"]:
        if name.__class__ is not str:
            continue
        if name in properties:
            if properties[name] is False:
                return True
        elif closed:
            return True
    return False
