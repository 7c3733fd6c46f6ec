"""Give every loop a bound: an engine must know when to stop asking."""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.limits.programs import ROUNDS
from instrc.schema.walk import map_schemas


def bound_loops(schema: Json) -> Json:
    """Return a schema in which each `_iteration` beside a `_continue` has a `maximum`; the same object if nothing lacks one."""
    if not isinstance(schema, dict):
        return schema
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    iteration = properties.get("_iteration")
    if "_continue" not in properties or not isinstance(iteration, dict):
        return schema
    if not {"maximum", "exclusiveMaximum", "const", "enum"}.isdisjoint(iteration):
        return schema
    return schema | {"properties": properties | {"_iteration": iteration | {"maximum": ROUNDS}}}


def bound_all_loops(schema: Json) -> Json:
    """Do the same at every depth, as hand-written compositions need it."""
    return map_schemas(schema, bound_loops)
