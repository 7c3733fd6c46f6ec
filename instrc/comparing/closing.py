"""Close a schema: refuse the properties that it does not name, which an open object allows.

Who neither writes nor reads properties that a schema does not name is not concerned by what happens to them:
with a property added to an open object, `{"b": 1}` may be refused that was accepted, though nobody thought of `b`.
"""

from __future__ import annotations

from instrc.comparing.inclusion import WORDS
from instrc.flattening.instances import nodes
from instrc.jsonvalue import Json
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas, with_parts

_UNIONS = frozenset({"anyOf", "oneOf"})
_NAMING = frozenset({"properties", "additionalProperties", "unevaluatedProperties", "$ref"})
_OTHERS = IN_PLACE | (_NAMING - {"properties"})
"""Keywords beside which an object stays open: they may speak of further properties."""
_INTO = _UNIONS | {"properties", "additionalProperties", "items", "prefixItems", "$defs"}


def closed(schema: Json) -> Json:
    """Return a schema that still accepts all of what it accepted that has properties only which are named in their place.

    What is not closed for sure stays open, and so does all of a schema whose patterns or references make names hard to tell.
    """
    found = list(nodes(schema))
    beside = {id(each) for node in found if not _is_choice(node) for each in _in_place(node)}
    refers = any("$ref" in node for node in found)
    if any("patternProperties" in node or ("$ref" in node and not node.keys() <= {*WORDS, "$ref", "$defs"}) for node in found):
        return schema
    if refers and beside:  # what is referred to may stand beside others
        return schema
    done: dict[int, Json] = {}
    for node in reversed(found):
        parts = with_parts(node, done, _INTO)
        is_open = "properties" in node and _OTHERS.isdisjoint(node) and id(node) not in beside
        done[id(node)] = {**parts, "additionalProperties": False} if is_open and isinstance(parts, dict) else parts
    return done.get(id(schema), schema)


def _is_choice(node: dict[str, Json]) -> bool:
    """Tell whether a schema leaves it to the branches of one union, if it has any, to name properties."""
    return len(IN_PLACE & node.keys()) <= 1 and IN_PLACE & node.keys() <= _UNIONS and _NAMING.isdisjoint(node)


def _in_place(node: dict[str, Json]) -> list[Json]:
    """Return the schemas in a schema that are about the same value, at any depth."""
    found: list[Json] = [child for _, child in subschemas(node, IN_PLACE)]
    for child in found:
        found += [below for _, below in subschemas(child, IN_PLACE)]
    return found
