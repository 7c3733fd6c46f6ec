"""The records of TaskBench in both of its releases, of people and of models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from instrc.jsonreader import JsonSyntaxError
from instrc.jsontext import loads
from instrc.jsonvalue import AnyJson as Json

Shape: TypeAlias = Literal["single", "chain", "dag"]
SHAPES: tuple[Shape, ...] = ("single", "chain", "dag")
_PREFIXES = ("task", "tool")


@dataclass(frozen=True, slots=True)
class Record:
    """One request with its plan."""

    nodes: Json
    links: Json
    """`None` where nothing is said of them."""
    steps: Json
    id: str | None = None
    request: str | None = None
    shape: Shape | None = None
    """As the data set says."""
    place: tuple[str, ...] = ()
    """Where the plan stands in what was given: answers of models have it under `result`."""
    prefix: str = "task"
    """How the release calls its members: `task_nodes`, `tool_nodes`."""
    encoded: frozenset[str] = field(default_factory=frozenset)
    """Members that are JSON in a text."""


def read_record(value: Json) -> Record | None:
    """Return the plan of a record; `None` if there is none in it."""
    if value.__class__ is not dict:
        return None
    place: tuple[str, ...] = ()
    holder: Json = value
    if not _prefix(holder) and "result" in value:
        holder, place = _decoded(value["result"]), ("result",)
        if holder.__class__ is not dict:
            return None
    prefix = _prefix(holder)
    if prefix is None:
        return None
    encoded: set[str] = set()

    def member(word: str) -> Json:
        written = holder.get(f"{prefix}_{word}")
        read = _decoded(written)
        if read is not written:
            encoded.add(word)
        return read

    nodes, links, steps = member("nodes"), member("links"), member("steps")
    said = value.get("type")
    return Record(
        nodes=nodes,
        links=links,
        steps=steps,
        id=_text(value.get("id")),
        request=_text(value.get("user_request", value.get("instruction"))),
        shape=said if said in SHAPES else None,
        place=place,
        prefix=prefix,
        encoded=frozenset(encoded),
    )


def shape_of(size: int, edges: frozenset[tuple[int, int]]) -> Shape:
    """Return the shape of a graph of so many nodes: a chain leads from one to the next through all of them."""
    if size <= 1:
        return "single"
    sources, targets = [source for source, _ in edges], [target for _, target in edges]
    straight = len(edges) == size - 1 and len(set(sources)) == len(sources) and len(set(targets)) == len(targets)
    return "chain" if straight else "dag"


def _prefix(holder: dict[str, Json]) -> str | None:
    return next((prefix for prefix in _PREFIXES if f"{prefix}_nodes" in holder), None)


def _decoded(value: Json) -> Json:
    if value.__class__ is not str or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return loads(value)
    except (JsonSyntaxError, ValueError):
        return value


def _text(value: Json) -> str | None:
    return value if value.__class__ is str else str(value) if value.__class__ is int else None
