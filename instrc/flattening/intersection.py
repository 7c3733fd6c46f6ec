"""Intersect flat schemas, and say of each schema that is made on the way which ones it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instrc.flattening.flattener import Flattener
from instrc.flattening.run import FlattenOptions
from instrc.jsonvalue import Json
from instrc.limits.schemas import NOTED_SOURCES
from instrc.schema.store import SchemaStore


@dataclass(frozen=True, slots=True)
class Intersection:
    """One schema that accepts what all of several schemas accept."""

    schema: Json
    sources: tuple[tuple[Json, tuple[Json, ...]], ...]
    """Each new schema in it, with the schemas whose keywords it has."""


def intersection(schemas: Sequence[Json]) -> Intersection:
    """Return the intersection of flat schemas; references in them stay as they are, as with `intersect`."""
    flattener = Flattener(SchemaStore(), FlattenOptions(trace=True))
    schema = flattener.run([(each, flattener.flat) for each in schemas])
    return Intersection(schema, tuple(_sources(flattener)))


def _sources(flattener: Flattener) -> list[tuple[Json, tuple[Json, ...]]]:
    found: list[tuple[Json, tuple[Json, ...]]] = []
    for new, by_keyword in flattener.origins.values():
        nodes = {id(conjunct.node): conjunct.node for each in by_keyword.values() for conjunct, _ in each[:NOTED_SOURCES]}
        found.append((new, tuple(node for node in nodes.values() if node is not new)))
    return found
