"""Tell whether two flat schemas can be compared keyword by keyword: a reference must mean the same in the one and the other.

    one = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}
    other = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}
    comparable(one, other)      # False

`relations` compares schemas of one document, where equal references are equal.
"""

from __future__ import annotations

from instrc.jsonvalue import Json, equal, mapping
from instrc.schema.walk import objects_below

_INTO_DEFINITIONS = "#/$defs/"
_ROOT = "#"
_ELSEWHERE = frozenset({"$dynamicRef", "$recursiveRef"})
_AGAINST = frozenset({"not", "oneOf", "if", "contains", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"})
"""Keywords under which a narrower schema may make a wider one."""


def comparable(left: Json, right: Json) -> bool:
    """Tell whether each reference in two schemas leads to an equal definition, or to the root of each.

    That what stands below a root is narrower in the one may be taken for granted while just that is being shown of its root:
    values are finite, and what holds of all smaller ones holds of the next.  Only where nothing turns a schema around.
    """
    of_left, of_right = _References(left), _References(right)
    references = of_left.references | of_right.references
    if not all(each.startswith(_INTO_DEFINITIONS) or each == _ROOT for each in references):
        return False
    if _ROOT in references and (of_left.turned or of_right.turned):
        return False
    defined = any(each != _ROOT for each in references)
    return not defined or equal(mapping(left).get("$defs", {}), mapping(right).get("$defs", {}))


class _References:
    """Where the references of a schema lead, and whether it has a keyword that turns a narrower part into a wider whole."""

    def __init__(self, schema: Json) -> None:
        self.references: set[str] = set()
        self.turned = False
        stack: list[Json] = [schema]
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            self.references |= {str(node["$ref"])} if "$ref" in node else set()
            self.references |= {word for word in _ELSEWHERE if word in node}  # leads nobody knows where
            self.turned = self.turned or not _AGAINST.isdisjoint(node)
            stack += objects_below(node)
