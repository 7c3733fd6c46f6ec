"""Tell of a value whether it satisfies a schema, as far as that is certain for every validator.

The answer is `None` where validators differ (formats, odd patterns, steps that are no binary fractions), where something cannot
be resolved, and where a keyword is malformed or unknown: whoever asks must be right whatever the validator says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from instrc.jsonvalue import Json, as_array, as_number, as_object, as_text, equal, listing, mapping
from instrc.limits.schemas import DEPTH, EVALUATIONS
from instrc.schema.bounds import size
from instrc.schema.kinds import kind_of_value, kinds_of_types, kinds_spoken_of
from instrc.schema.laws import EqualityKeys, is_number, types_of
from instrc.schema.members import of_item, required_names
from instrc.schema.name_patterns import matches
from instrc.schema.vocabulary import KEYWORDS, NO_ASSERTIONS, SPEAKS_OF

Resolve: TypeAlias = Callable[[str], Json]
"""From a reference to the schema that it leads to; `None` if that is not known."""
Answer: TypeAlias = bool | None

_EXACT = 2**53
_FINEST = 1024


def satisfies(value: Json, schema: Json, resolve: Resolve | None = None) -> Answer:
    """Tell whether a value satisfies a schema; `None` if that is not certain."""
    return InstanceCheck(resolve).of(value, schema, 0)


class InstanceCheck:
    """The asking of one question; the number of steps is bounded."""

    def __init__(self, resolve: Resolve | None) -> None:
        self.resolve = resolve
        self.steps: int = 0

    def of(self, value: Json, schema: Json, depth: int) -> Answer:
        """Tell whether a value satisfies a schema."""
        if schema.__class__ is bool:
            return bool(schema)
        self.steps += 1
        if schema.__class__ is not dict or depth > DEPTH or self.steps > EVALUATIONS:
            return None
        kind = kind_of_value(value)
        return _all(self.keyword(value, kind, keyword, held, schema, depth) for keyword, held in schema.items())

    def keyword(self, value: Json, kind: str, keyword: str, held: Json, schema: dict[str, Json], depth: int) -> Answer:
        """Tell whether a value satisfies one keyword of a schema."""
        if keyword in NO_ASSERTIONS:
            return True
        if keyword not in KEYWORDS:
            return None
        if keyword in SPEAKS_OF and kind not in kinds_spoken_of(SPEAKS_OF[keyword]):
            return True
        match keyword:
            case "type":
                return None if types_of(held) is None else kind in kinds_of_types(held)
            case "const":
                return equal(value, held)
            case "enum":
                return any(equal(value, one) for one in held) if held.__class__ is list else None
            case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
                return _is_in(as_number(value), keyword, held) if is_number(held) else None
            case "multipleOf":
                return _divides(held, as_number(value))
            case "pattern":
                return matches(held, as_text(value)) if held.__class__ is str else None
            case "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties":
                allowed = size({keyword: held}, kind)
                return allowed.low <= _length(value) <= allowed.high if is_number(held) else None
            case "$ref":
                target = self.resolve(held) if self.resolve is not None and held.__class__ is str else None
                return None if target is None else self.of(value, target, depth + 1)
            case "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else":
                return self.in_place(value, keyword, held, schema, depth)
            case _ if kind == "object":
                return self.of_object(as_object(value), keyword, held, schema, depth)
            case _ if kind == "array":
                return self.of_array(as_array(value), keyword, held, schema, depth)
        return None

    def in_place(self, value: Json, keyword: str, held: Json, schema: dict[str, Json], depth: int) -> Answer:
        """Tell it of a keyword whose schemas are about the value itself."""
        match keyword:
            case "allOf" | "anyOf" | "oneOf" if held.__class__ is list:
                answers = [self.of(value, branch, depth + 1) for branch in held]
                if keyword == "oneOf":
                    return _exactly_one(answers)
                return _all(answers) if keyword == "allOf" else _not(_all(map(_not, answers)))
            case "not":
                return _not(self.of(value, held, depth + 1))
            case "if":
                chosen = self.of(value, held, depth + 1)
                then, other = (self.of(value, schema.get(word, True), depth + 1) for word in ("then", "else"))
                return (then if then is other else None) if chosen is None else then if chosen else other
            case "then" | "else":
                return True  # `if` asks them
        return None

    def of_object(self, value: dict[str, Json], keyword: str, held: Json, schema: dict[str, Json], depth: int) -> Answer:
        """Tell it of a keyword about objects."""
        match keyword:
            case "required" if held.__class__ is list:
                return all(name in value for name in required_names(schema))
            case "properties" if held.__class__ is dict:
                return _all(self.of(value[name], below, depth + 1) for name, below in held.items() if name in value)
            case "patternProperties" if held.__class__ is dict:
                pairs = [(matches(regex, name), value[name], below) for regex, below in held.items() for name in value]
                return _all(self._if_matched(*pair, depth) for pair in pairs)
            case "additionalProperties":
                listed, patterns = mapping(schema.get("properties")), mapping(schema.get("patternProperties"))
                further = [name for name in value if name not in listed]
                return _all(self._if_further(name, value[name], patterns, held, depth) for name in further)
            case "propertyNames":
                return _all(self.of(name, held, depth + 1) for name in value)
            case "dependentRequired" if held.__class__ is dict and all(needs.__class__ is list for needs in held.values()):
                return all(need in value for name, needs in held.items() if name in value for need in as_array(needs))
            case "dependentSchemas" if held.__class__ is dict:
                return _all(self.of(value, below, depth + 1) for name, below in held.items() if name in value)
        return None

    def _if_matched(self, match: Answer, part: Json, below: Json, depth: int) -> Answer:
        if match is False:
            return True
        found = self.of(part, below, depth + 1)
        return found if match or found else None

    def _if_further(self, name: str, part: Json, patterns: dict[str, Json], below: Json, depth: int) -> Answer:
        matched = [matches(regex, name) for regex in patterns]
        if True in matched:
            return True
        found = self.of(part, below, depth + 1)
        return found if found or None not in matched else None

    def of_array(self, value: list[Json], keyword: str, held: Json, schema: dict[str, Json], depth: int) -> Answer:
        """Tell it of a keyword about arrays."""
        match keyword:
            case "prefixItems" if held.__class__ is list:
                return _all(self.of(item, below, depth + 1) for item, below in zip(value, held, strict=False))
            case "items" if held.__class__ is not list:
                start = len(listing(schema.get("prefixItems")))
                return _all(self.of(item, of_item(schema, start), depth + 1) for item in value[start:])
            case "uniqueItems" if held.__class__ is bool:
                key_of = EqualityKeys()
                return not held or len({key_of(item) for item in value}) == len(value)
            case "contains":
                return self.contains(value, held, schema, depth)
            case "minContains" | "maxContains":
                return True  # `contains` counts
        return None

    def contains(self, value: list[Json], held: Json, schema: dict[str, Json], depth: int) -> Answer:
        """Count what a list contains."""
        least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
        if not is_number(least) or not is_number(most):
            return None
        answers = [self.of(item, held, depth + 1) for item in value]
        sure, possible = answers.count(True), len(answers) - answers.count(False)
        if sure >= least and possible <= most:
            return True
        return False if possible < least or sure > most else None


def _all(answers: Iterable[Answer]) -> Answer:
    """Return the conjunction of answers."""
    found: Answer = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            found = None
    return found


def _not(answer: Answer) -> Answer:
    return None if answer is None else not answer


def _exactly_one(answers: list[Answer]) -> Answer:
    """Tell whether exactly one answer is yes."""
    if answers.count(True) > 1:
        return False
    return None if None in answers else answers.count(True) == 1


def _is_in(value: float, keyword: str, bound: float) -> bool:
    match keyword:
        case "minimum":
            return value >= bound
        case "maximum":
            return value <= bound
        case "exclusiveMinimum":
            return value > bound
    return value < bound


def _length(value: Json) -> int:
    return len(value) if isinstance(value, (str, list)) else len(as_object(value))


def _divides(step: Json, value: float) -> Answer:
    """Tell whether a number is a multiple of a step, where all validators calculate alike."""
    if not is_number(step) or step <= 0 or abs(value) > _EXACT or step > _EXACT:
        return None
    (a, b), (c, d) = value.as_integer_ratio(), step.as_integer_ratio()
    return None if max(b, d) > _FINEST else (a * d) % (b * c) == 0
