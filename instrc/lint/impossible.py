"""Find schemas that nothing satisfies, where no other problem says so already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from instrc.jsonvalue import Json, Location, pointer
from instrc.lint.reading import ReadNode, SpanOf
from instrc.problems.problem import Problem
from instrc.schema.drafts import NULLABLE, ignored_words, modern
from instrc.schema.impossible import impossible_parts
from instrc.schema.kinds import listed_values, own_kinds
from instrc.schema.laws.bounds import empty_ranges
from instrc.schema.maybe_impossible import may_hold_impossible
from instrc.schema.walk import with_parts


def impossible(schema: Json, nodes: Sequence[ReadNode], span_of: SpanOf) -> Iterator[Problem]:
    """Yield the innermost schemas of a sound document that nothing satisfies, in written order.

    Left out are those of which an empty range, an `enum` without members or one of the wrong type tells it.
    """
    if not may_hold_impossible(node.schema for node in nodes):
        return
    root, read = _of_today(schema, nodes)
    told = frozenset(node.path for node in nodes if _is_told(node))
    for found in impossible_parts(root, read, told):
        from instrc.problems.schemas import ImpossibleSchema  # only where there is one

        written = next(node.schema for node in nodes if node.path == found.path)
        words = [word for word in written if word in found.words] or list(written)[:1]
        places = [span_of(pointer((*found.path, word)), key=True) for word in words]
        yield ImpossibleSchema(
            at=places[-1],
            words=tuple(words),
            names=found.names,
            endless=found.endless,
            others=tuple(place for place in places[:-1] if place is not None),
        )


def _of_today(schema: Json, nodes: Sequence[ReadNode]) -> tuple[Json, list[tuple[Location, Json]]]:
    """Return a schema, and those in it by their written paths, in the words of today."""
    if all(node.dialect is NULLABLE and "nullable" not in node.schema for node in nodes):
        return schema, [(node.path, node.schema) for node in nodes]
    done: dict[int, Json] = {}
    for node in reversed(nodes):
        with_today = with_parts(node.schema, done)
        done[id(node.schema)] = modern(with_today, node.dialect) if isinstance(with_today, dict) else with_today
    return done.get(id(schema), schema), [(node.path, done[id(node.schema)]) for node in nodes]


def _is_told(node: ReadNode) -> bool:
    """Tell whether another problem says that a schema leaves nothing."""
    schema = node.schema
    if any(empty_ranges(schema)):
        return True
    values = listed_values(schema) if not {"enum", "const"} & ignored_words(schema, node.dialect) else None
    return values is not None and not own_kinds(schema)
