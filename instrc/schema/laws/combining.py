"""The laws of the keywords that apply schemas to the same value: `allOf`, `anyOf`, `oneOf`, `not`, `$ref`.

`if` with `then` and `else` is in `conditions`.
Two occurrences of them are merged in `flattening`: `expand` for `allOf` and `$ref`, `merge_keywords` for `not`,
`keep_separate` and `residual` for the others.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from instrc.schema.laws.law import Answer, KeywordLaws, Kinds, Relation, Schema, all_satisfied, opposite, same
from instrc.text.jsonvalue import Json, as_array

if TYPE_CHECKING:
    from instrc.schema.laws.law import InstanceEvaluation, Relations

CHOICES: Final = 8
"""Maximum branches of a `oneOf` that are compared pairwise for what any two of them share."""


def cases(question: Relations, schema: Schema) -> list[list[Json]]:
    """Return lists of schemas: every instance of a schema satisfies one of each list."""
    result: list[list[Json]] = []
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if branches.__class__ is list and branches:
            result.append(branches)
    branches = schema.get("allOf")
    result += [[branch] for branch in branches] if branches.__class__ is list else []
    target = question.target(schema.get("$ref"))
    return result if target is None else [*result, [target]]


def disjoint(question: Relations, left: Schema, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Return whether each case of one schema is disjoint from the other, or one implies what the other negates."""
    for one, other in ((left, right), (right, left)):
        if "not" in other and question.implies(one, other["not"], depth + 1, kinds):
            return True
        for branches in cases(question, one):
            if all(question.disjoint(branch, other, depth + 1, kinds) for branch in branches):
                return True
        if "if" in one:
            from instrc.schema.laws.conditions import refused  # rarely needed

            if refused(question, one, other, depth, kinds):
                return True
    return any("oneOf" in schema and _chooses_twice(question, schema, depth) for schema in (left, right))


def _chooses_twice(question: Relations, schema: Schema, depth: int) -> bool:
    """Return whether every instance of one branch of a `oneOf` also satisfies another branch."""
    branches = schema["oneOf"]
    if branches.__class__ is not list or not 1 < len(branches) <= CHOICES:
        return False
    return all(
        any(question.implies(branch, other, depth + 1) for place, other in enumerate(branches) if place != number)
        for number, branch in enumerate(branches)
    )


_MANY_KINDS = 7


def widest(implies: Relation, branches: list[Json]) -> Json:
    """Return the branch that every choice reduces to, or `None` if there is none, or another one has annotations."""
    for branch in branches:
        others = [other for other in branches if other is not branch]
        if not any(map(_is_told, others)) and all(implies(other, branch) for other in others):
            return branch
    return None


_TOLD = frozenset({"title", "description", "examples", "default", "const", "enum"})


def _is_told(schema: Json) -> bool:
    """Return whether a schema has values or annotations for a reader."""
    return isinstance(schema, dict) and not schema.keys().isdisjoint(_TOLD)


def narrower(implies: Relation, branches: list[Json], others: list[Json]) -> bool:
    """Return whether each branch of one `anyOf` implies a branch of another."""
    return all(any(implies(branch, other) for other in others) for branch in branches)


def exclusive(disjoint: Relation, branches: list[Json]) -> bool:
    """Return whether the branches are disjoint, so that `anyOf` and `oneOf` mean the same."""
    return all(disjoint(one, other) for one, other in combinations(branches, 2))


def _branches_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    """Decide `allOf`, `anyOf` and `oneOf` for a value."""
    answers = [evaluation.of(value, branch, depth + 1) for branch in as_array(schema[keyword])]
    if keyword == "oneOf":
        return _exactly_one(answers)
    return all_satisfied(answers) if keyword == "allOf" else opposite(all_satisfied(map(opposite, answers)))


def _all_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    return all(question.implies(left, branch, depth + 1, kinds) for branch in as_array(right[keyword]))


def _any_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = as_array(right[keyword])
    if any(question.implies(left, branch, depth + 1, kinds) for branch in branches):
        return True
    return 1 < len(kinds) < _MANY_KINDS and all(
        any(question.implies(left, branch, depth + 1, frozenset({kind})) for branch in branches) for kind in kinds
    )


def _one_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = as_array(right[keyword])
    implied = [question.implies(left, branch, depth + 1, kinds) for branch in branches]
    others = [branch for branch, chosen in zip(branches, implied, strict=True) if not chosen]
    return implied.count(True) == 1 and all(question.disjoint(left, branch, depth + 1, kinds) for branch in others)


def _not_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    return opposite(evaluation.of(value, schema[keyword], depth + 1))


def _not_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    return question.disjoint(left, right[keyword], depth + 1, kinds)


def _reference_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    target = evaluation.target(schema[keyword])
    return None if target is None else evaluation.of(value, target, depth + 1)


def _reference_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    target = question.target(right[keyword])
    return target is not None and question.implies(left, target, depth + 1, kinds)


LAWS: Final = {
    "allOf": KeywordLaws(_branches_satisfied, implied=_all_of_implied, shape=list),
    "anyOf": KeywordLaws(_branches_satisfied, implied=_any_of_implied, shape=list),
    "oneOf": KeywordLaws(_branches_satisfied, implied=_one_of_implied, shape=list),
    "not": KeywordLaws(_not_satisfied, implied=_not_implied),
    "$ref": KeywordLaws(_reference_satisfied, same, implied=_reference_implied),
}


def _exactly_one(answers: list[Answer]) -> Answer:
    """Return whether exactly one answer is yes."""
    if answers.count(True) > 1:
        return False
    return None if None in answers else answers.count(True) == 1
