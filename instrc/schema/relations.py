"""Decide whether one schema implies another, whether two are disjoint, and whether a value satisfies a schema.

All such questions in the package are answered here.  Yes is certain for every validator; no means only that
nothing was proven, and `None` that validators may differ.  Both schemas are flat schemas of 2020-12.

    implies({"const": 3}, {"type": "number", "minimum": 1})                             # True
    disjoint({"type": "integer"}, {"anyOf": [{"type": "string"}, {"type": "null"}]})    # True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from instrc.schema.kinds import ALL, EqualityKeys, kind_of_value, kinds_spoken_of, listed_values, own_kinds
from instrc.schema.laws.law import Answer, all_satisfied
from instrc.schema.laws.table import LAWS, cases, disjoint_by_branches, disjoint_in
from instrc.schema.vocabulary import FOLLOWERS, KEYWORDS, NO_ASSERTIONS, SPEAKS_OF
from instrc.schema.walk import TRIVIAL, walk
from instrc.text.jsonvalue import Json, JsonArray, as_object, equal, listing
from instrc.text.limits import DEPTH

if TYPE_CHECKING:
    from instrc.schema.validation import Violation

PAIRS: Final = 5000
"""Maximum pairs of schemas compared for one question."""
EVALUATIONS: Final = 2000
"""Maximum schemas that one value is checked against."""
EVALUATIONS_IN_ALL: Final = 50_000
"""Maximum schemas that the listed values of all questions are checked against, and required properties, four a check."""
KIND_DEPTH: Final = 4
"""Maximum nesting of combinators examined for the types that they allow."""
KIND_BRANCHES: Final = 50
"""Maximum branches of one combinator examined for the types that they allow."""
Resolve: TypeAlias = Callable[[str], Json]
"""Function that resolves a reference to its schema, or `None` if unknown."""


def satisfies(value: Json, schema: Json) -> Answer:
    """Return whether a value satisfies a schema, or `None` if that is not certain."""
    return InstanceCheck(None).of(value, schema, 0)


class InstanceCheck:
    """Answers one question about a value within a limited number of steps."""

    def __init__(self, resolve: Resolve | None) -> None:
        self.resolve = resolve
        self.steps: int = 0
        self.key_of = EqualityKeys()
        self._listed: dict[int, tuple[Json, frozenset[object]]] = {}
        """Keys of the values of lists, by the `id` of the list, which is kept alive."""

    def of(self, value: Json, schema: Json, depth: int) -> Answer:
        """Return whether a value satisfies a schema."""
        if schema.__class__ is bool:
            return bool(schema)
        self.steps += 1
        if schema.__class__ is not dict or depth > DEPTH or self.steps > EVALUATIONS:
            return None
        kind = kind_of_value(value)
        return all_satisfied(self._of_keyword(value, kind, keyword, schema, depth) for keyword in schema)

    def lists(self, values: JsonArray, value: Json) -> bool:
        """Return whether a list has a value; one list is asked for many values."""
        if id(values) not in self._listed:
            self._listed[id(values)] = values, frozenset(map(self.key_of, values))
        return self.key_of(value) in self._listed[id(values)][1]

    def target(self, reference: Json) -> Json:
        """Return the target of a reference, or `None` if unknown."""
        return self.resolve(reference) if self.resolve is not None and reference.__class__ is str else None

    def _of_keyword(self, value: Json, kind: str, keyword: str, schema: dict[str, Json], depth: int) -> Answer:
        """Return whether a value satisfies one keyword of a schema."""
        if keyword in NO_ASSERTIONS or (keyword in SPEAKS_OF and kind not in kinds_spoken_of(SPEAKS_OF[keyword])):
            return True
        laws = LAWS[keyword]
        if laws.satisfied is None or not isinstance(schema[keyword], laws.shape):
            return None
        return laws.satisfied(self, value, keyword, schema, depth)


_CONTEXT = frozenset({"$dynamicRef", "$recursiveRef", "$id", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords whose meaning depends on the surrounding and neighbouring schemas."""
_ANYTHING: dict[str, Json] = {}


def implies(left: Json, right: Json, *, resolve: Resolve | None = None) -> bool:
    """Return whether every instance that satisfies `left` satisfies `right`."""
    return Answering(resolve).implies(left, right, 0)


def disjoint(left: Json, right: Json, *, resolve: Resolve | None = None) -> bool:
    """Return whether no instance satisfies both of two schemas."""
    return Answering(resolve).disjoint(left, right, 0)


class Answering:
    """Answers questions about schemas and caches the answers, since schemas may share parts many times over."""

    def __init__(self, resolve: Resolve | None, most: int = PAIRS) -> None:
        self.resolve = resolve
        self.most = most
        """Pairs of schemas that are compared for one question."""
        self.steps = 0
        self.evaluations = 0
        self.known: dict[tuple[str, int, int, frozenset[str]], bool] = {}
        self._check = InstanceCheck(resolve)
        self._own_kinds: dict[int, tuple[Json, frozenset[str]]] = {}
        """By the `id` of the schema, which is kept alive: a list of values may be very long."""
        self.alive: list[Json] = []
        """Schemas that questions were about, since they are known by identity."""

    def refuses_all(self, schema: Json) -> bool:
        """Return whether a schema is unsatisfiable; earlier answers are reused."""
        self.steps = 0
        return self.disjoint(schema, schema, 0)

    def target(self, reference: Json) -> Json:
        """Return the target of a reference, or `None` if unknown."""
        return self.resolve(reference) if self.resolve is not None and reference.__class__ is str else None

    def implies(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Return whether every instance of some kinds that satisfies `left` satisfies `right`."""
        if right in TRIVIAL or left is False or equal(left, right):
            return True
        if left is True:
            left = _ANYTHING
        if left.__class__ is not dict or (right is not False and right.__class__ is not dict):
            return False
        return self._decide_once("implies", left, right, depth, kinds)

    def disjoint(self, left: Json, right: Json, depth: int, kinds: frozenset[str] = ALL) -> bool:
        """Return whether no instance of some kinds satisfies both of two schemas."""
        if left is False or right is False:
            return True
        left, right = (_ANYTHING if schema is True else schema for schema in (left, right))
        if left.__class__ is not dict or right.__class__ is not dict:
            return False
        return self._decide_once("disjoint", left, right, depth, kinds)

    def _decide_once(self, what: str, left: dict[str, Json], right: Json, depth: int, kinds: frozenset[str]) -> bool:
        """Answer a question once; cyclic or too expensive questions get the answer no."""
        key = (what, id(left), id(right), kinds)
        result = self.known.get(key)
        if result is None:
            self.steps += 1
            self.evaluations += len(listing(left.get("required"))) // 4
            if depth > DEPTH or self.steps > self.most or self.evaluations > EVALUATIONS_IN_ALL:
                return False
            self.known[key] = False
            self.alive += (left, right)
            if what == "implies":
                result = self._implies(left, right, depth, kinds)
            else:
                result = self._disjoint(left, as_object(right), depth, kinds)
            self.known[key] = result
        return result

    def kinds(self, schema: Json, depth: int) -> frozenset[str]:
        """Return the types of values that a schema may allow."""
        if schema.__class__ is not dict:
            return frozenset() if schema is False else ALL
        known = self._own_kinds.get(id(schema)) or self._own_kinds.setdefault(id(schema), (schema, own_kinds(schema)))
        kinds = known[1]
        if depth > KIND_DEPTH:
            return kinds
        target = self.target(schema.get("$ref"))
        if target is not None:
            kinds &= self.kinds(target, depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = schema.get(keyword)
            if branches.__class__ is list and 0 < len(branches) <= KIND_BRANCHES:
                found = [self.kinds(branch, depth + 1) for branch in branches]
                kinds &= frozenset.intersection(*found) if keyword == "allOf" else frozenset().union(*found)
        return kinds

    def _implies(self, left: dict[str, Json], right: Json, depth: int, kinds: frozenset[str]) -> bool:
        kinds &= self.kinds(left, 0)
        if not kinds:
            return True
        values = listed_values(left)
        if values is not None:
            return all(self._implied_of(value, left, right) for value in values)
        if right is False:
            return self.disjoint(left, _ANYTHING, depth + 1, kinds)
        asked = as_object(right)
        return _CONTEXT.isdisjoint(asked) and all(self._says(left, keyword, asked, depth, kinds) for keyword in asked)

    def _implied_of(self, value: Json, left: dict[str, Json], right: Json) -> bool:
        """Return whether a listed value is excluded by its own schema, or satisfies another one."""
        return self._satisfies(value, right) is True or self._satisfies(value, left) is False

    def _satisfies(self, value: Json, schema: Json) -> bool | None:
        self.evaluations += self._check.steps
        self._check.steps = 0
        return self._check.of(value, schema, 0) if self.evaluations < EVALUATIONS_IN_ALL else None

    def _says(self, left: dict[str, Json], keyword: str, right: dict[str, Json], depth: int, kinds: frozenset[str]) -> bool:
        """Return whether a schema, combinators included, has a keyword of another one with the same value."""
        if keyword in NO_ASSERTIONS or (keyword in SPEAKS_OF and kinds.isdisjoint(kinds_spoken_of(SPEAKS_OF[keyword]))):
            return True
        if self._says_itself(left, keyword, right, depth, kinds):
            return True
        if keyword not in KEYWORDS:
            return False
        return any(
            all(self._case_says(branch, keyword, right, depth + 1, kinds) for branch in branches)
            for branches in cases(self, left)
        )

    def _says_itself(
        self, left: dict[str, Json], keyword: str, right: dict[str, Json], depth: int, kinds: frozenset[str]
    ) -> bool:
        """Return whether the own keywords of a schema, without combinators, imply a keyword of another one."""
        laws = LAWS[keyword]
        if (
            keyword in left
            and equal(left[keyword], right[keyword])
            and all((word in left) == (word in right) and equal(left.get(word), right.get(word)) for word in laws.beside)
        ):
            return True
        if laws.implied is None or not isinstance(right[keyword], laws.shape):
            return False
        return laws.implied(self, left, keyword, right, depth, kinds)

    def _case_says(self, branch: Json, keyword: str, right: dict[str, Json], depth: int, kinds: frozenset[str]) -> bool:
        if branch is False:
            return True
        self.steps += 1
        if branch.__class__ is not dict or depth > DEPTH or self.steps > self.most:
            return False
        kinds &= self.kinds(branch, 0)
        values = listed_values(branch)
        if values is not None and (not LAWS[keyword].beside or keyword in FOLLOWERS):  # it means the same without its siblings
            asked = {keyword: right[keyword]}
            return all(self._implied_of(value, branch, asked) for value in values)
        return not kinds or self._says(branch, keyword, right, depth, kinds)

    def _disjoint(self, left: dict[str, Json], right: dict[str, Json], depth: int, kinds: frozenset[str]) -> bool:
        kinds &= self.kinds(left, 0) & self.kinds(right, 0)
        if not kinds:
            return True
        for one, other in ((left, right), (right, left)):
            values = listed_values(one)
            if values is not None:
                return all(self._satisfies(value, other) is False or self._satisfies(value, one) is False for value in values)
        if disjoint_by_branches(self, left, right, depth, kinds):
            return True
        left_open = [kind for kind in kinds if not disjoint_in(self, kind, left, right, depth)]
        if not left_open:
            return True
        several = len(kinds) > 1 and any(cases(self, schema) or "not" in schema for schema in (left, right))
        return several and all(self.disjoint(left, right, depth + 1, frozenset({kind})) for kind in left_open)


def literal_fault(value: Json, schema: Json) -> Violation | None:
    """Return why a literal cannot be used where a schema is required, or `None` if it can."""
    if satisfies(value, schema) is not False:
        return missed_format(value, schema)
    from instrc.schema.validation import validate  # loads a library that few programs need

    return next(iter(validate(value, schema, most=1)), None)


def missed_format(value: Json, schema: Json) -> Violation | None:
    """Return the text in a literal that lacks its required format, or `None` if formats are not the error."""
    formats = [node.get("format") for _, node in walk(schema) if isinstance(node, dict)]
    asked = {name for name in formats if isinstance(name, str)}
    if not asked:
        return None
    from instrc.schema.formats import has_format  # few literals have a format

    if all(has_format(name, text) for name in asked for text in _texts(value)):
        return None
    from instrc.schema.validation import is_valid, validate  # as above

    if not is_valid(value, schema, formats=False, unsure=False):
        return None
    return next(iter(validate(value, schema, most=1)), None)


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts in a literal that are values."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
