"""Finish a merged schema once its parts are done: gather what stays apart, see what has become impossible."""

from __future__ import annotations

from instrc.flattening.conjunction import Finalization, Merging
from instrc.jsonvalue import Json, JsonObject, as_array, as_object
from instrc.schema.laws import unique
from instrc.schema.members import mapping


def finalize(frame: Merging, todo: Finalization) -> Json:
    """Return the finished schema of a frame, or `False` if its parts have shown that nothing satisfies it."""
    out = frame.out
    if frame.idle:
        return False if _impossible(out) else out
    if todo.new_not:
        branches: list[Json] = []
        for branch in as_array(as_object(out["not"])["anyOf"]):
            inside = branch.get("anyOf") if isinstance(branch, dict) and len(branch) == 1 else None
            branches += inside if isinstance(inside, list) else [branch]
        branches = unique(branches)
        branches = [branch for branch in branches if branch is not False] or [False]
        out["not"] = {"anyOf": branches} if len(branches) > 1 else branches[0]
    apart: list[JsonObject] = []
    always: list[Json] = []
    for keyword, others in todo.apart.items():
        if not others:
            continue
        from instrc.flattening.residual import ResidualAllOf  # few schemas keep anything apart

        residue = ResidualAllOf(
            out, keyword, others, unseen_properties=not todo.watched_properties, unseen_items=not todo.watched_items
        )
        residue.reduce()
        if residue.impossible:
            todo.refused = residue.words
            return False
        residue.write(apart)
        todo.to_fold += residue.made
        always += residue.further
        todo.refold |= bool(residue.made or residue.further)
    rest: list[Json] = [*apart, *always]
    for unit in todo.units:
        if unit is False:
            return False
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


def _impossible(out: JsonObject) -> bool:
    """Tell whether an object schema requires a property that it forbids."""
    required = out.get("required")
    if out.get("type") != "object" or not isinstance(required, list):
        return False
    properties = mapping(out.get("properties"))
    closed = out.get("additionalProperties") is False and not out.get("patternProperties")
    for name in required:
        if not isinstance(name, str):
            continue
        if name in properties:
            if properties[name] is False:
                return True
        elif closed:
            return True
    return False
