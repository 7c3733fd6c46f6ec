"""Judges of schemas and payloads: two validators that must be of one mind before and after, and the rules of a target."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
from making import Maker

from instrc.providers.lowering.verify import breaches  # the rules alone, without asking the engines
from instrc.schema.flattening.flatten import flatten

__all__ = ["breaches", "change", "keywords", "verdicts", "written_out"]


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


def written_out(payload: Any, definitions: Any = None, around: tuple[str, ...] = ()) -> Any:
    """Return a payload in which references stand no longer, but for those in what they lead to; such definitions stay."""
    if isinstance(payload, list):
        return [written_out(each, definitions, around) for each in payload]
    if not isinstance(payload, dict):
        return payload
    definitions = payload.get("$defs", definitions)
    name = str(payload.get("$ref", "")).rpartition("/")[2]
    if name and name not in around and f'"#/$defs/{name}"' not in json.dumps(definitions[name]):
        return written_out(definitions[name], definitions, (*around, name))
    kept = {key: written_out(value, definitions, around) for key, value in payload.items() if key != "$defs"}
    left = {key: value for key, value in payload.get("$defs", {}).items() if f'"#/$defs/{key}"' in json.dumps([kept, value])}
    return kept | ({"$defs": left} if left else {})
