"""Tell whether two flat schemas can be compared keyword by keyword: a reference must mean the same in the one and the other.

    one = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}
    other = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}
    comparable(one, other)      # False

`relations` compares schemas of one document, where equal references are equal.
"""

from __future__ import annotations

from instrc.jsonvalue import Json, equal, mapping
from instrc.schema.relations import implies
from instrc.schema.walk import objects_below

_INTO_DEFINITIONS = "#/$defs/"
_ROOT = "#"
_ELSEWHERE = frozenset({"$dynamicRef", "$recursiveRef"})
_AGAINST = frozenset({"not", "oneOf", "if", "contains", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"})
"""Keywords under which a narrower schema may make a wider one."""


def comparable(narrow: Json, wide: Json) -> bool:
    """Tell whether each reference in two schemas leads to an equal definition, to a narrower one in `narrow`, or to the root.

    That what stands below a root or a definition is narrower in the one may be taken for granted while just that is being shown
    of each of them: values are finite, and what holds of all smaller ones holds of the next.  Only where nothing turns a schema
    around.
    """
    of_narrow, of_wide = _References(narrow), _References(wide)
    references = of_narrow.references | of_wide.references
    if not all(each.startswith(_INTO_DEFINITIONS) or each == _ROOT for each in references):
        return False
    turned = of_narrow.turned or of_wide.turned
    if _ROOT in references and turned:
        return False
    named = (of_narrow.references & of_wide.references) - {_ROOT}  # nothing is known of what only one refers to
    left, right = mapping(mapping(narrow).get("$defs")), mapping(mapping(wide).get("$defs"))
    if not named or equal(left, right):
        return True
    return not turned and all(_narrower(left, right, each.removeprefix(_INTO_DEFINITIONS)) for each in named)


def _narrower(left: dict[str, Json], right: dict[str, Json], name: str) -> bool:
    """Tell whether a definition of one schema implies that of the same name in another, if all that they refer to does."""
    return name in left and name in right and implies(left[name], right[name])


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
