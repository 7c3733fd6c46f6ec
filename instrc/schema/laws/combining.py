"""The laws of the keywords that apply schemas to the same value.

`allOf`, `anyOf`, `oneOf`, `not`, `if` with `then` and `else`, `$ref`.
How two occurrences of them are merged is in `flattening`: `expand` for `allOf` and `$ref`, `merge_keywords` for `not`,
`set_apart`, `residual` and `chaining` for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from instrc.jsonvalue import Json
from instrc.limits.schemas import CHOICES
from instrc.schema.laws.law import Answer, KeywordLaws, Kinds, Schema, all_satisfied, opposite, same

if TYPE_CHECKING:
    from instrc.schema.laws.question import InstanceEvaluation, Relations


def cases(question: Relations, schema: Schema) -> list[list[Json]]:
    """Return lists of schemas: whatever satisfies a schema satisfies one of each list."""
    found: list[list[Json]] = []
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if branches.__class__ is list and branches:
            found.append(branches)
    branches = schema.get("allOf")
    found += [[branch] for branch in branches] if branches.__class__ is list else []
    target = question.target(schema.get("$ref"))
    return found if target is None else [*found, [target]]


def disjoint(question: Relations, left: Schema, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Tell whether each case of one schema is disjoint from the other, or one implies what the other denies."""
    for one, other in ((left, right), (right, left)):
        if "not" in other and question.implies(one, other["not"], depth + 1, kinds):
            return True
        for branches in cases(question, one):
            if all(question.disjoint(branch, other, depth + 1, kinds) for branch in branches):
                return True
        if "if" in one and _refused_conditionally(question, one, other, depth, kinds):
            return True
    return any("oneOf" in schema and _chooses_twice(question, schema, depth) for schema in (left, right))


def _refused_conditionally(question: Relations, one: Schema, other: Schema, depth: int, kinds: Kinds) -> bool:
    """Tell it of a condition that is certainly met, or certainly not, by what satisfies another schema."""
    condition = one["if"]
    if "then" in one and question.implies(other, condition, depth + 1, kinds):
        return question.disjoint(one["then"], other, depth + 1, kinds)
    if "else" in one and question.disjoint(condition, other, depth + 1, kinds):
        return question.disjoint(one["else"], other, depth + 1, kinds)
    return False


def _chooses_twice(question: Relations, schema: Schema, depth: int) -> bool:
    """Tell whether whatever satisfies one branch of a `oneOf` satisfies another one as well."""
    branches = schema["oneOf"]
    if branches.__class__ is not list or not 1 < len(branches) <= CHOICES:
        return False
    return all(
        any(question.implies(branch, other, depth + 1) for place, other in enumerate(branches) if place != number)
        for number, branch in enumerate(branches)
    )


def _all_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = right[keyword]
    return branches.__class__ is list and all(question.implies(left, branch, depth + 1, kinds) for branch in branches)


def _any_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = right[keyword]
    if branches.__class__ is not list:
        return False
    if any(question.implies(left, branch, depth + 1, kinds) for branch in branches):
        return True
    return 1 < len(kinds) < _MANY_KINDS and all(
        any(question.implies(left, branch, depth + 1, frozenset({kind})) for branch in branches) for kind in kinds
    )


_MANY_KINDS = 7


def _one_of_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    branches = right[keyword]
    if branches.__class__ is not list:
        return False
    implied = [question.implies(left, branch, depth + 1, kinds) for branch in branches]
    others = [branch for branch, chosen in zip(branches, implied, strict=True) if not chosen]
    return implied.count(True) == 1 and all(question.disjoint(left, branch, depth + 1, kinds) for branch in others)


def _branches_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    """Answer for `allOf`, `anyOf` and `oneOf`."""
    branches = schema[keyword]
    if branches.__class__ is not list:
        return None
    answers = [evaluation.of(value, branch, depth + 1) for branch in branches]
    if keyword == "oneOf":
        return _exactly_one(answers)
    return all_satisfied(answers) if keyword == "allOf" else opposite(all_satisfied(map(opposite, answers)))


def _exactly_one(answers: list[Answer]) -> Answer:
    """Tell whether exactly one answer is yes."""
    if answers.count(True) > 1:
        return False
    return None if None in answers else answers.count(True) == 1


def _not_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    return question.disjoint(left, right[keyword], depth + 1, kinds)


def _not_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    return opposite(evaluation.of(value, schema[keyword], depth + 1))


def _if_implied(question: Relations, left: Schema, _keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    """Answer for `if`, `then` and `else` together."""
    if "if" not in right:
        return True
    then, other = right.get("then", True), right.get("else", True)
    return (question.implies(left, then, depth + 1, kinds) or question.disjoint(left, right["if"], depth + 1, kinds)) and (
        question.implies(left, other, depth + 1, kinds) or question.implies(left, right["if"], depth + 1, kinds)
    )


def _if_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    chosen = evaluation.of(value, schema[keyword], depth + 1)
    then, other = (evaluation.of(value, schema.get(word, True), depth + 1) for word in ("then", "else"))
    return (then if then is other else None) if chosen is None else then if chosen else other


def _decided_by_if(_evaluation: InstanceEvaluation, _value: Json, _keyword: str, _schema: Schema, _depth: int) -> Answer:
    return True


def _reference_implied(question: Relations, left: Schema, keyword: str, right: Schema, depth: int, kinds: Kinds) -> bool:
    target = question.target(right[keyword])
    return target is not None and question.implies(left, target, depth + 1, kinds)


def _reference_satisfied(evaluation: InstanceEvaluation, value: Json, keyword: str, schema: Schema, depth: int) -> Answer:
    target = evaluation.target(schema[keyword])
    return None if target is None else evaluation.of(value, target, depth + 1)


_DECIDED = KeywordLaws(_decided_by_if, implied=_if_implied, beside=("if", "then", "else"))
LAWS: Final = {
    "allOf": KeywordLaws(_branches_satisfied, implied=_all_of_implied),
    "anyOf": KeywordLaws(_branches_satisfied, implied=_any_of_implied),
    "oneOf": KeywordLaws(_branches_satisfied, implied=_one_of_implied),
    "not": KeywordLaws(_not_satisfied, implied=_not_implied),
    "if": KeywordLaws(_if_satisfied, implied=_if_implied, beside=("then", "else")),
    "then": _DECIDED,
    "else": _DECIDED,
    "$ref": KeywordLaws(_reference_satisfied, same, implied=_reference_implied),
}
