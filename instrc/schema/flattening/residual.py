"""Finish a merged schema: remove from its residual `allOf` what is implied, impossible or expressible inside.

A group is a single-valued keyword (`anyOf`, `oneOf`, `if`, `contains`, …) and its companions.
The first group of a kind is in the schema, further ones become branches of its `allOf`.
The laws of these keywords are in `schema/laws/`, and exact; this module decides which of them are tried when.
A branch that may mark properties or items as evaluated is removed only where no `unevaluated…` depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from instrc.schema.flattening.conjunction import Finalization, Finalized, Merging
from instrc.schema.flattening.unevaluated import marks_nothing
from instrc.schema.kinds import ALL, EqualityKeys, kinds_spoken_of, own_kinds, unique
from instrc.schema.laws.arrays import contained_by_length, contains_impossible, contains_more, none_of_several, stricter
from instrc.schema.laws.combining import exclusive, narrower, widest
from instrc.schema.laws.conditions import by_key, chained, deciding, keys_to_require, with_one_question
from instrc.schema.laws.table import LAWS
from instrc.schema.relations import disjoint, implies
from instrc.schema.vocabulary import SPEAKS_OF
from instrc.schema.walk import TRIVIAL, required_names
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object, listing, mapping

COMPARED_BRANCHES: Final = 200
"""Maximum branches of `anyOf` and `oneOf` that are compared pairwise; beyond it they stay as they are."""
COMPARED_VALUES: Final = 50
"""Values of an `enum` that count as a branch."""
COMPARED_CONTAINS: Final = 50
"""Maximum groups of `contains` that are compared pairwise, at quadratic cost."""

KeywordGroup: TypeAlias = JsonObject

_WORDS = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}
"""Groups of keywords by the leading one."""
_CHOICES = frozenset({"anyOf", "oneOf"})


class ResidualAllOf:
    """The groups of one kind in a schema that is being finished."""

    def __init__(
        self, out: KeywordGroup, keyword: str, others: list[KeywordGroup], *, unseen_properties: bool, unseen_items: bool
    ) -> None:
        self.out = out
        self.keyword = keyword
        self.words = _WORDS.get(keyword) or tuple(others[0])
        self.around = {word: value for word, value in out.items() if word not in self.words}
        """What the schema says besides."""
        self.main = {word: value for word, value in out.items() if word in self.words}
        self.groups = [self.main, *others]
        self.unseen_items = unseen_items
        self.unseen_marks = unseen_properties and unseen_items
        """Whether no `unevaluated…` keyword depends on the evaluation here."""
        self.further: list[Json] = []
        """Schemas that have turned out to hold always."""
        self.made: list[KeywordGroup] = []
        """Schemas that have to be folded."""
        self.impossible = False
        self.key_of = EqualityKeys()

    def reduce(self) -> None:
        """Drop the redundant groups."""
        kinds = own_kinds(self.around)
        if kinds < ALL:
            idle = {word for word, types in SPEAKS_OF.items() if kinds_spoken_of(types).isdisjoint(kinds)}
            self.groups[1:] = [group for group in self.groups[1:] if not group.keys() <= idle]
        self.groups = list({self.key_of(group): group for group in reversed(self.groups)}.values())[::-1]
        few = 1 < len(self.groups) <= COMPARED_BRANCHES
        if self.main and few and (self.keyword not in _CHOICES or self._comparable(self.keyword)):
            self.drop_implied_groups()
        if len(self.groups) > 1 and self.keyword in _REDUCED:
            self.impossible = self.impossible or implies(self.around, right=False)
            if not self.impossible:
                _REDUCED[self.keyword](self)

    def drop_implied_groups(self) -> None:
        """Drop groups that the schema implies; detect one that contradicts it."""
        others = [group for group in self.groups if group is not self.main]
        self.impossible = any(disjoint(self.out, group) for group in others)
        kept = [group for group in others if not (self._unseen([group]) and implies(self.out, group))]
        lone = self.keyword in _REDUCED or LAWS[self.keyword].intersect is not None
        idle = lone and self._unseen([self.main]) and implies(self.around, self.main)
        self.groups = kept if kept and idle else [self.main, *kept]

    def write(self, rest: list[KeywordGroup]) -> None:
        """Put the first group into the schema, and distribute the others over branches."""
        first = self.groups[0] if self.groups else {}
        if first is not self.main:
            items = [item for word, value in self.out.items() for item in self._instead(word, value, first)]
            self.out.clear()
            self.out.update(items)
        for level, group in enumerate(self.groups[1:]):
            if level == len(rest):
                rest.append({})
            rest[level].update(group)

    def _instead(self, word: str, value: Json, group: KeywordGroup) -> list[tuple[str, Json]]:
        """Return the value of a schema's keyword, if its group is another one."""
        if word not in self.main:
            return [(word, value)]
        return list(group.items()) if word == next(iter(self.main)) else []

    def _unseen(self, schemas: list[Json]) -> bool:
        """Return whether removing some schemas leaves what is evaluated unchanged."""
        return self.unseen_marks or all(map(marks_nothing, schemas))

    def absorb(self, says: Callable[[KeywordGroup, KeywordGroup], bool]) -> None:
        """Drop groups implied by another one."""
        kept: list[KeywordGroup] = []
        for group in self.groups:
            if not any(says(other, group) for other in kept):
                kept = [*(other for other in kept if not says(group, other)), group]
        self.groups = kept

    def any_of(self) -> None:
        """Drop impossible branches, and choices that are decided or allow everything."""
        if not self._comparable("anyOf"):
            return
        kept: list[KeywordGroup] = []
        for group in self.groups:
            branches = [branch for branch in listing(group["anyOf"]) if not disjoint(self.around, branch)]
            if not branches:
                self.impossible = True
            elif len(branches) == 1:
                self.further += branches
            elif self._unseen(branches) and (chosen := widest(implies, branches)) is not None:
                self.further.append(chosen)
            elif not self._unseen(branches) or not any(implies(self.around, branch) for branch in branches):
                kept.append(group if len(branches) == len(listing(group["anyOf"])) else {"anyOf": branches})
        self.groups = kept
        self.absorb(self._narrower)
        self._move("oneOf")

    def _narrower(self, one: KeywordGroup, other: KeywordGroup) -> bool:
        """Return whether each choice of one group is also one of another, which is therefore redundant."""
        wide = listing(other["anyOf"])
        return self._unseen(wide) and narrower(implies, listing(one["anyOf"]), wide)

    def one_of(self) -> None:
        """Drop impossible branches and decided choices; detect that several branches always hold."""
        if not self._comparable("oneOf"):
            return
        kept: dict[object, KeywordGroup] = {}
        for group in self.groups:
            branches = [branch for branch in listing(group["oneOf"]) if not disjoint(self.around, branch)]
            chosen = [branch for branch in branches if implies(self.around, branch)]
            if not branches or len(chosen) > 1:
                self.impossible = True
            elif len(branches) == 1:
                self.further += branches
            elif chosen and self._unseen(chosen):
                others = [branch for branch in branches if branch is not chosen[0]]
                self.further.append({"not": others[0] if len(others) == 1 else {"anyOf": others}})
            else:
                found: KeywordGroup = group if len(branches) == len(listing(group["oneOf"])) else {"oneOf": branches}
                kept.setdefault(frozenset(Counter(map(self.key_of, branches)).items()), found)
        self.groups = list(kept.values())
        self._move("anyOf")

    def _comparable(self, keyword: str) -> bool:
        """Return whether the groups are lists of limited length; many values of an `enum` count as a branch."""
        lists = [value for group in self.groups if isinstance(value := group[keyword], list)]
        count = sum(1 + len(listing(mapping(each).get("enum"))) // COMPARED_VALUES for branches in lists for each in branches)
        return len(lists) == len(self.groups) and count <= COMPARED_BRANCHES

    def _move(self, other: str) -> None:
        """Move a choice of which at most one branch holds to the other of `anyOf` and `oneOf`, if that is free."""
        if len(self.groups) < 2 or other in self.out:
            return
        for group in self.groups:
            if exclusive(disjoint, listing(group[self.keyword])):
                self.groups = [one for one in self.groups if one is not group]
                self.out[other] = group[self.keyword]
                return

    def conditions(self) -> None:
        """Drop idle and decided conditions, and merge those with equal `if`."""
        kept: dict[object, KeywordGroup] = {}
        for group in map(deciding, self.groups):
            condition = group["if"]
            unseen = self._unseen([condition])
            if unseen and implies(self.around, condition):
                self.further += [group["then"]] if "then" in group else []
            elif disjoint(self.around, condition):
                self.further += [group["else"]] if "else" in group else []
            elif not unseen or any(group.get(word, True) not in TRIVIAL for word in ("then", "else")):
                key = self.key_of(condition)
                kept[key], made = with_one_question(kept[key], group) if key in kept else (group, [])
                self.made += made
        self.groups = list(kept.values())
        if len(self.groups) > 1:
            self._join_conditions()

    def _join_conditions(self) -> None:
        """Nest one condition in the `else` of another; or require keys that they need, or split them by keys."""
        joined = chained(disjoint, self.around, self.groups)
        if joined is None and (required := keys_to_require(disjoint, self.around, self.groups)):
            self.further.append({"required": [*required]})
            return
        if joined is None and (divided := by_key(disjoint, self.around, self.groups)) is not None:
            self.out["dependentSchemas"] = divided.dependents
            joined = divided.condition
        if joined is None:
            return
        self.groups = [joined] if joined else []
        following: Json = joined
        while isinstance(following, dict) and "allOf" not in following:
            following = following.get("else")
        if isinstance(following, dict):
            self.made.append(following)

    def contains(self) -> None:
        """Merge equal `contains`, express trivial ones as lengths, and drop implied ones."""
        if not all(_is_count(group.get("minContains", 1)) and _is_count(group.get("maxContains", 0)) for group in self.groups):
            return
        kept: dict[object, KeywordGroup] = {}
        for group in self.groups:
            key = self.key_of(group["contains"])
            if group["contains"] in TRIVIAL and self.unseen_items and (sizes := contained_by_length(group, self.out)) is not None:
                self.out.update(sizes)
            else:
                kept[key] = stricter(kept[key], group) if key in kept else group
        self.groups = list(kept.values())
        never = next(filter(contains_impossible, self.groups), None)
        if never is not None:
            self.groups = [never]  # it rejects every list, and the others only concern lists
            return
        nothing = [group for group in self.groups if group.get("maxContains") == 0]
        if len(nothing) > 1:
            one = none_of_several(nothing)
            few = [group for group in self.groups if group is nothing[0] or group.get("maxContains") != 0]
            self.groups = [one if group is nothing[0] else group for group in few]
        if self.unseen_items and len(self.groups) <= COMPARED_CONTAINS:
            self.absorb(partial(contains_more, implies))


_REDUCED: dict[str, Callable[[ResidualAllOf], None]] = {
    "anyOf": ResidualAllOf.any_of,
    "oneOf": ResidualAllOf.one_of,
    "if": ResidualAllOf.conditions,
    "contains": ResidualAllOf.contains,
}


def _is_count(value: Json) -> bool:
    return value.__class__ is int and value >= 0


def finalize(frame: Merging, todo: Finalization) -> Finalized:
    """Return the finished schema of a frame, which its finished parts may show to be unsatisfiable."""
    out = frame.out
    if todo.new_not:
        out["not"] = _flat_not(as_array(as_object(out["not"])["anyOf"]))
    apart: list[JsonObject] = []
    always: list[Json] = []
    result: list[JsonObject] = []
    for keyword, others in todo.apart.items():
        residual = ResidualAllOf(
            out, keyword, others, unseen_properties=not todo.watched.properties, unseen_items=not todo.watched.items
        )
        residual.reduce()
        if residual.impossible:
            return Finalized(False, residual.words)  # noqa: FBT003  -- the schema
        residual.write(apart)
        result += residual.made
        always += residual.further
    schema = _with_rest(out, [*apart, *always, *todo.units])
    return Finalized(schema, (), tuple(result), bool(result or always))


def _flat_not(branches: list[Json]) -> Json:
    """Return the schemas that `not` excludes as one list: `not` of a nested `anyOf` excludes each of its branches."""
    flat: list[Json] = []
    for branch in branches:
        inside = branch.get("anyOf") if isinstance(branch, dict) and len(branch) == 1 else None
        flat += inside if isinstance(inside, list) else [branch]
    left = [branch for branch in unique(flat) if branch is not False] or [False]
    return {"anyOf": left} if len(left) > 1 else left[0]


def _with_rest(out: JsonObject, rest: list[Json]) -> Json:
    """Return a schema with further ones applied next to it, or `False` if they are unsatisfiable together."""
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
    """Return whether an object schema requires a property that it forbids."""
    if "required" not in out or out.get("type") != "object":
        return False
    properties = mapping(out.get("properties"))
    closed = out.get("additionalProperties") is False and not out.get("patternProperties")
    return any(properties.get(name, not closed) is False for name in required_names(out))
