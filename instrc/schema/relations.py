"""Tell of two schemas, keyword by keyword, that one says all that the other says, or that nothing satisfies both.

"No" means only that it cannot be seen this way: the answers are used to leave out what is said anyway.
Both are schemas of 2020-12 that are read in the same scope.
"""

from __future__ import annotations

from instrc.jsonvalue import Json, equal
from instrc.schema.keywords import LAWS, TYPES, Keys, has_type, types_of
from instrc.schema.walk import TRIVIAL

_ANNOTATIONS = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"),
        *("contentEncoding", "contentMediaType", "contentSchema"),
    }
)
SPEAKS_OF: dict[str, frozenset[str]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), frozenset({"integer", "number"})
    ),
    **dict.fromkeys(
        (
            *("items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"),
            "unevaluatedItems",
        ),
        frozenset({"array"}),
    ),
    **dict.fromkeys(
        (
            *("properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties"),
            *("maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
        ),
        frozenset({"object"}),
    ),
}
"""The types that a keyword speaks about; every instance of another type satisfies it."""
_TOGETHER: dict[str, tuple[str, ...]] = {
    "additionalProperties": ("properties", "patternProperties"),
    "items": ("prefixItems",),
    **dict.fromkeys(("contains", "minContains", "maxContains"), ("contains", "minContains", "maxContains")),
    **dict.fromkeys(("if", "then", "else"), ("if", "then", "else")),
}
"""What must be equal too for two equal occurrences of a keyword to say the same."""
_NOT_BY_KEYWORD = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "$id", "unevaluatedItems", "unevaluatedProperties"})
_DEEPEST = 20
_ANYTHING: dict[str, Json] = {}


def implies(left: Json, right: Json) -> bool:
    """Tell whether every instance that satisfies `left` is seen to satisfy `right`."""
    return _Comparison().implies(left, right, 0)


def disjoint(left: Json, right: Json) -> bool:
    """Tell whether it is seen that no instance satisfies both of two schemas."""
    return _Comparison().disjoint(left, right, 0)


class _Comparison:
    """One question, with what has been found out on the way: schemas may share parts many times over."""

    def __init__(self) -> None:
        self.implied: dict[tuple[int, int], bool] = {}
        self.excluded: dict[tuple[int, int], bool] = {}

    def implies(self, left: Json, right: Json, depth: int) -> bool:
        if right in TRIVIAL or left is False or equal(left, right):
            return True
        if left is True:
            left = _ANYTHING
        if left.__class__ is not dict or right.__class__ is not dict:
            return False
        if depth > _DEEPEST or not _NOT_BY_KEYWORD.isdisjoint(right):
            return False
        pair = (id(left), id(right))
        if pair not in self.implied:
            names = types_in(left)
            self.implied[pair] = all(
                keyword in _ANNOTATIONS
                or (names is not None and keyword in SPEAKS_OF and SPEAKS_OF[keyword].isdisjoint(names))
                or self._said(left, keyword, value, right, depth)
                for keyword, value in right.items()
            )
        return self.implied[pair]

    def _said(self, left: dict[str, Json], keyword: str, value: Json, right: dict[str, Json], depth: int) -> bool:
        """Tell whether `left` says what one keyword of `right` says."""
        match keyword:
            case "allOf" if value.__class__ is list:
                return all(self.implies(left, branch, depth + 1) for branch in value)
            case "anyOf" if value.__class__ is list and any(self.implies(left, branch, depth + 1) for branch in value):
                return True
            case "not" if self.disjoint(left, value, depth + 1):
                return True
            case "type" | "enum" | "const" if (values := _values(left)) is not None:
                sound = types_of(value) is not None if keyword == "type" else keyword == "const" or value.__class__ is list
                return sound and not _refuses(values, {keyword: value}, all_of_them=False)
        if keyword not in left:
            return False
        own = left[keyword]
        if equal(own, value):
            beside = _TOGETHER.get(keyword, ())
            return all((word in left) == (word in right) and equal(left.get(word), right.get(word)) for word in beside)
        law = LAWS.get(keyword)
        if law is not None:
            both = law(own, value)
            return both.__class__ is own.__class__ and equal(both, own)
        if keyword == "properties" and own.__class__ is dict and value.__class__ is dict:
            return all(
                schema in TRIVIAL or (name in own and self.implies(own[name], schema, depth + 1))
                for name, schema in value.items()
            )
        if keyword == "propertyNames" or (keyword == "items" and equal(left.get("prefixItems"), right.get("prefixItems"))):
            return self.implies(own, value, depth + 1)
        return False

    def disjoint(self, left: Json, right: Json, depth: int) -> bool:
        if left is False or right is False:
            return True
        if left.__class__ is not dict or right.__class__ is not dict or depth > _DEEPEST:
            return False
        pair = (id(left), id(right))
        if pair not in self.excluded:
            self.excluded[pair] = (
                any(_refuses(_values(one), other, all_of_them=True) for one, other in ((left, right), (right, left)))
                or _apart(types_in(left), types_in(right))
                or self._property_excluded(left, right, depth)
            )
        return self.excluded[pair]

    def _property_excluded(self, left: dict[str, Json], right: dict[str, Json], depth: int) -> bool:
        """Tell whether two schemas of objects disagree on a property that one of them requires."""
        if ("object",) not in {types_in(left), types_in(right)}:
            return False
        mine, theirs = _map(left.get("properties")), _map(right.get("properties"))
        wanted = [name for schema in (left, right) for name in _list(schema.get("required")) if name.__class__ is str]
        return any(name in mine and name in theirs and self.disjoint(mine[name], theirs[name], depth + 1) for name in wanted)


def types_in(schema: dict[str, Json]) -> tuple[str, ...] | None:
    """Return the types that a schema allows at most; `None` if it does not say."""
    if "type" in schema:
        return types_of(schema["type"])
    values = _values(schema)
    return None if values is None else tuple(name for name in sorted(TYPES) if any(has_type(value, (name,)) for value in values))


def _values(schema: dict[str, Json]) -> list[Json] | None:
    """Return the values that a schema allows at most; `None` if it does not list them."""
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if schema.get("enum").__class__ is list else None


def _refuses(values: list[Json] | None, schema: dict[str, Json], *, all_of_them: bool) -> bool:
    """Tell whether `type`, `enum` and `const` of a schema refuse all of some values, or one of them."""
    if values is None:
        return False
    names, listed, key_of = types_in(schema), _values(schema), Keys()
    keys = None if listed is None else {key_of(value) for value in listed}
    found = [
        (names is not None and not has_type(value, names)) or (keys is not None and key_of(value) not in keys) for value in values
    ]
    return all(found) if all_of_them else any(found)


def _apart(a: tuple[str, ...] | None, b: tuple[str, ...] | None) -> bool:
    """Tell whether no value is of one of the types in both lists; every integer is a number."""
    if a is None or b is None:
        return False
    wide = {*b, "number"} if "integer" in b else {*b}
    return not any(name in wide or (name == "integer" and "number" in b) for name in a)


def _list(value: Json) -> list[Json]:
    return value if value.__class__ is list else []


def _map(value: Json) -> dict[str, Json]:
    return value if value.__class__ is dict else {}
