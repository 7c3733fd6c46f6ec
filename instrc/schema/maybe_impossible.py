"""What can be told of a schema without looking into what its keywords say together: whether they may leave nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from instrc.jsonvalue import Json, mapping
from instrc.schema.kinds import own_kinds
from instrc.schema.members import required_names
from instrc.schema.vocabulary import NO_ASSERTIONS


def may_hold_impossible(nodes: Iterable[Json]) -> bool:
    """Tell whether one of the schemas of a document may be impossible, by its own keywords or by what it refers to."""
    return any(isinstance(node, dict) and ("$ref" in node or may_be_impossible(node)) for node in nodes)


def may_be_impossible(node: Mapping[str, Json]) -> bool:
    """Tell at first sight whether the keywords of a schema may leave nothing; most schemas hold too few for that."""
    if _WEIGHED.isdisjoint(node):
        return False
    words = node.keys() & _WEIGHED
    if words <= _OF_PLAIN_OBJECTS:
        properties = mapping(node.get("properties"))
        closed = False in (node.get("additionalProperties"), node.get("unevaluatedProperties"))
        names = required_names(dict(node)) if "required" in node else ()
        return any(is_written_false(properties[name]) if name in properties else closed for name in names)
    if len(words) > 1:
        return True
    (word,) = words
    return (
        word in _ALONE
        or (word == "minItems" and ("prefixItems" in node or node.get("items") is False))
        or (word in _LISTS and not own_kinds(dict(node)))
        or (word == "pattern" and str(node[word]).startswith("/^"))  # as in JavaScript: nothing stands before a beginning
        or (word in _WITH_OTHERS and ("type" in node or word == "allOf"))
    )


def is_written_false(schema: Json) -> bool:
    """Tell whether a schema says in so many words, and in no others, that nothing satisfies it."""
    if not isinstance(schema, dict):
        return schema is False
    return forbids_everything(schema) and schema.keys() - {"not", "type"} <= NO_ASSERTIONS


def forbids_everything(schema: Json) -> bool:
    """Tell whether a schema is `false`, or has a `not` that does not care for the value, which says the same."""
    if not isinstance(schema, dict):
        return schema is False
    forbidden = schema.get("not")
    return forbidden is True or (isinstance(forbidden, dict) and forbidden.keys() <= NO_ASSERTIONS)


_OF_PLAIN_OBJECTS = frozenset({"required", "additionalProperties", "unevaluatedProperties"})
_LISTS = frozenset({"const", "enum"})
_ALONE = frozenset({"not", "if", "oneOf", "contains"})
_WITH_OTHERS = frozenset({"allOf", "anyOf", "$ref"})
_WEIGHED = (
    _OF_PLAIN_OBJECTS
    | _ALONE
    | _WITH_OTHERS
    | {"const", "enum", "pattern", "multipleOf", "uniqueItems", "minContains", "maxContains", "dependencies"}
    | {"patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"}
    | {f"{side}{what}" for side in ("min", "max") for what in ("imum", "Length", "Items", "Properties")}
    | {"exclusiveMinimum", "exclusiveMaximum"}
)
"""Keywords that may leave nothing together with others; `type`, `properties` and `items` matter by these only."""
