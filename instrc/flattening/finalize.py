"""Finish a merged schema once its parts are done: gather what stays apart, see what has become impossible."""

from __future__ import annotations

from instrc.flattening.conjunction import Finalization, Finalized, Merging
from instrc.jsonvalue import Json, JsonObject, as_array, as_object, mapping
from instrc.schema.equality import unique


def finalize(frame: Merging, todo: Finalization) -> Finalized:
    """Return the finished schema of a frame, which its parts may have shown that nothing satisfies."""
    out = frame.out
    if todo.new_not:
        out["not"] = _flat_not(as_array(as_object(out["not"])["anyOf"]))
    apart: list[JsonObject] = []
    always: list[Json] = []
    made: list[JsonObject] = []
    for keyword, others in todo.apart.items():
        from instrc.flattening.residual import ResidualAllOf  # few schemas keep anything apart

        residual = ResidualAllOf(
            out, keyword, others, unseen_properties=not todo.watched.properties, unseen_items=not todo.watched.items
        )
        residual.reduce()
        if residual.impossible:
            return Finalized(False, residual.words)  # noqa: FBT003  -- the schema
        residual.write(apart)
        made += residual.made
        always += residual.further
    schema = _with_rest(out, [*apart, *always, *todo.units])
    return Finalized(schema, (), tuple(made), bool(made or always))


def _flat_not(branches: list[Json]) -> Json:
    """Return what `not` excludes as one list: `not` of an `anyOf` in an `anyOf` excludes each of its branches."""
    flat: list[Json] = []
    for branch in branches:
        inside = branch.get("anyOf") if isinstance(branch, dict) and len(branch) == 1 else None
        flat += inside if isinstance(inside, list) else [branch]
    left = [branch for branch in unique(flat) if branch is not False] or [False]
    return {"anyOf": left} if len(left) > 1 else left[0]


def _with_rest(out: JsonObject, rest: list[Json]) -> Json:
    """Return a schema with further ones that hold beside it; `False` if nothing satisfies them together."""
    if any(schema is False for schema in rest):
        return False
    if len(rest) > 1:
        rest = unique(rest)
    if rest:
        if not out and len(rest) == 1:
            return rest[0]
        out["allOf"] = rest
    return False if is_impossible(out) else out


def is_impossible(out: JsonObject) -> bool:
    """Tell whether an object schema requires a property that it forbids."""
    if "required" not in out or out.get("type") != "object":
        return False
    required = out["required"]
    if not isinstance(required, list):
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
