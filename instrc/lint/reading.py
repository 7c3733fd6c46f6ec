"""The schemas of a document as they are read: in which dialect, and for which kinds of values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Protocol

from msgspec import Struct

from instrc.ir.process import Process
from instrc.jsonvalue import Json, Location, listing
from instrc.schema.drafts import NULLABLE, Draft, dialect_of_uri, silences_neighbours
from instrc.schema.kinds import ALL, own_kinds
from instrc.schema.vocabulary import HOLDERS, IN_PLACE
from instrc.schema.walk import subschemas
from instrc.source import Span


class SpanOf(Protocol):
    """Gives the place of a part of a document."""

    def __call__(self, pointer: str, /, *, key: bool = False) -> Span | None:
        """Return the place of what a JSON Pointer leads to: of its key, or of its value."""


class ReadNode(Struct, frozen=True):
    """A schema that is an object, and how it is read."""

    path: Location
    schema: dict[str, Json]
    dialect: Draft
    above: frozenset[str]
    """The kinds of values that the schemas around it allow here."""
    of_process: bool
    """Whether the document is a process, whose blocks have words of their own."""

    def kinds(self) -> frozenset[str]:
        """Return the kinds of values that it, those in its `allOf` and those around it allow by themselves."""
        if silences_neighbours(self.schema, self.dialect):
            return self.above
        if "allOf" not in self.schema:
            return self.above & own_kinds(self.schema)
        parts = [own_kinds(part) for part in listing(self.schema["allOf"]) if isinstance(part, dict)]
        return reduce(frozenset.intersection, parts, self.above & own_kinds(self.schema))


def read_nodes(schema: Json) -> Iterator[ReadNode]:
    """Yield the schemas of a document that are objects, in written order."""
    of_process = Process.describes(schema)
    stack: list[tuple[Location, Json, Draft, frozenset[str]]] = [((), schema, NULLABLE, ALL)]
    while stack:
        path, node, dialect, above = stack.pop()
        if node.__class__ is not dict or (of_process and "of" in node and path[-1:] == ("else",)):  # of a `repeat`: no schema
            continue
        if "$schema" in node:
            dialect = dialect_of_uri(node["$schema"]) or dialect
        read = ReadNode(path, node, dialect, above, of_process)
        yield read
        if HOLDERS.isdisjoint(node):  # most schemas are at the end of their path
            continue
        within = ALL if IN_PLACE.isdisjoint(node) else read.kinds()
        below = [
            ((*path, *step), child, dialect, within if step[0] in IN_PLACE else ALL)
            for step, child in subschemas(node)
            if child.__class__ is dict
        ]
        stack.extend(reversed(below))
