"""Finish a merged schema once its parts are done: gather what stays apart, see what has become impossible."""

from __future__ import annotations

from instrc.flattening.conjunction import Finalization, Frame
from instrc.flattening.residual import ResidualAllOf
from instrc.jsonvalue import AnyJson as Json
from instrc.schema.laws import unique


def finalize(frame: Frame, todo: Finalization) -> Json:
    """Return the finished schema of a frame, or `False` if its parts have shown that nothing satisfies it."""
    out: dict[str, Json] = frame.out
    if frame.idle:
        return False if _impossible(out) else out
    if todo.new_not:
        branches: list[Json] = []
        for branch in out["not"]["anyOf"]:
            inside = branch["anyOf"] if branch.__class__ is dict and len(branch) == 1 and "anyOf" in branch else [branch]
            branches += inside
        branches = unique(branches)
        branches = [branch for branch in branches if branch is not False] or [False]
        out["not"] = {"anyOf": branches} if len(branches) > 1 else branches[0]
    rest: list[Json] = []
    always: list[Json] = []
    for keyword, others in todo.apart.items():
        if not others:
            continue
        residue = ResidualAllOf(
            out, keyword, others, unseen_properties=not todo.watched_properties, unseen_items=not todo.watched_items
        )
        residue.reduce()
        if residue.impossible:
            todo.refused = residue.words
            return False
        residue.write(rest)
        todo.to_fold += residue.made
        always += residue.further
        todo.refold |= bool(residue.made or residue.further)
    rest += always
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
