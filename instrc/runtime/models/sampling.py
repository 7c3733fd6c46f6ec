"""A model that makes its answers from the schema, so that any process can be rehearsed with no key and no network."""

from __future__ import annotations

from instrc.jsonvalue import Json
from instrc.runtime.models.model import Reply, Request


class Sample:
    """Answers every request with a small instance of its schema."""

    async def answer(self, request: Request) -> Reply:
        """Make an instance."""
        return Reply(instance_of(request.schema), model="sample")


def instance_of(schema: Json) -> Json:
    """Return a small instance of a schema; loops in it end after the first round, plans are empty."""
    from instrc.lowering.sample import sample  # the making of samples lies with the targets, which use them to ask engines

    return _end_loops(sample(schema))


def _end_loops(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: False if key == "_continue" and item is True else _end_loops(item) for key, item in value.items()}
    return [_end_loops(item) for item in value] if isinstance(value, list) else value
