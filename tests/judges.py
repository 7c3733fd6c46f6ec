"""Judges of schemas and payloads: two validators that must be of one mind before and after, and the rules of a target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
from making import Maker

from instrc.providers.lowering.rules import breaches  # the rules alone, without asking the engines
from instrc.schema.flattening.flatten import flatten

__all__ = ["breaches", "change", "keywords", "verdicts"]


def verdicts(schema: Any, instances: list[Any], *, thoroughly: int) -> list[bool]:
    """Ask `jsonschema-rs` about all instances, `jsonschema`, which is slow, about the first few, and hold one to the other."""
    import jsonschema_rs  # the lowest versions are tested without it

    fast = jsonschema_rs.Draft202012Validator(schema)
    found = [fast.is_valid(instance) for instance in instances]
    slow = jsonschema.Draft202012Validator(schema)
    return found + [slow.is_valid(instance) for instance in instances[:thoroughly]]


def change(seed: int, *, instances: int = 10, thoroughly: int = 2) -> str | None:
    """Flatten a made schema; say what has changed, `None` if nothing."""
    maker = Maker(seed)
    schema = maker.document()
    values = [maker.value() for _ in range(instances)]
    flat = flatten(schema)
    before = verdicts(schema, values, thoroughly=thoroughly)
    after = verdicts(flat, values, thoroughly=thoroughly)
    if before != after:
        return f"seed {seed}: {schema} became {flat}; {values}: {before} became {after}"
    return None


def keywords(error: Any) -> Iterator[str]:
    """Yield the keywords that an error names, those of its causes included."""
    yield error.validator or "false"
    for cause in error.context or ():
        yield from keywords(cause)
