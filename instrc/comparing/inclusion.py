"""Tell whether a schema accepts all that another does: proven, shown by an instance, or unknown."""

from __future__ import annotations

from itertools import chain, islice
from typing import Literal, TypeAlias

from instrc.comparing.witnesses import differing_in_a_part
from instrc.flattening.instances import instances, nodes
from instrc.jsonvalue import Json, equal
from instrc.limits.schemas import INSTANCES_COMPARED, SCHEMAS_ASKED
from instrc.schema.comparable import comparable
from instrc.schema.relations import implies
from instrc.schema.validation import SchemaValidator
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import subschemas

Inclusion: TypeAlias = Literal["yes", "no", "unknown"]
WORDS = frozenset({"title", "description", "examples", "default", "$comment", "deprecated", "$schema"})
"""Keywords that say nothing about instances."""


def includes(wide: Json, narrow: Json) -> tuple[Inclusion, Json]:
    """Tell whether a schema accepts all that another does, with an instance if it does not."""
    if certainly_includes(wide, narrow):
        return "yes", None
    narrow_validator, wide_validator = SchemaValidator(narrow, formats=False), SchemaValidator(wide, formats=False)
    most = _tried(narrow, wide)
    for instance in chain(islice(instances(narrow, wide), most), islice(differing_in_a_part(narrow, wide), most)):
        if narrow_validator.is_valid(instance, unsure=False) and not wide_validator.is_valid(instance, unsure=True):
            return "no", instance
    return "unknown", None


def certainly_includes(wide: Json, narrow: Json) -> bool:
    """Tell whether it is proven that a schema accepts all that another does."""
    return equal(_plain(wide), _plain(narrow)) or (comparable(narrow, wide) and implies(narrow, wide))


def _tried(*schemas: Json) -> int:
    """Return how many instances are tried: fewer where each is checked against very many branches."""
    return min(INSTANCES_COMPARED, 1 + SCHEMAS_ASKED // max(map(_most_about_a_place, schemas)))


def _most_about_a_place(schema: Json) -> int:
    """Return how many schemas are about one value, where there are most of them."""
    about: dict[int, int] = {}
    for node in reversed(list(nodes(schema))):
        about[id(node)] = 1 + sum(about.get(id(branch), 1) for _, branch in subschemas(node, IN_PLACE))
    return max(about.values(), default=1)


def _plain(schema: Json) -> Json:
    """Return a schema without the words that say nothing about instances, at its top."""
    return {key: value for key, value in schema.items() if key not in WORDS} if isinstance(schema, dict) else schema
