"""The records of TaskBench in both of its releases, of people and of models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from instrc.jsontext import digits, loads
from instrc.jsonvalue import Json, JsonSyntaxError

PlanShape: TypeAlias = Literal["single", "chain", "dag"]
SHAPES: tuple[PlanShape, ...] = ("single", "chain", "dag")
_PREFIXES = ("task", "tool")


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One request with its plan."""

    nodes: Json
    links: Json
    """`None` where nothing is said of them."""
    steps: Json
    holder: dict[str, Json]
    """The object that these are members of."""
    id: str | None = None
    request: str | None = None
    shape: PlanShape | None = None
    """As the data set says."""
    place: tuple[str, ...] = ()
    """Where the plan stands in what was given: answers of models have it under `result`."""
    prefix: str = "task"
    """How the release calls its members: `task_nodes`, `tool_nodes`."""
    encoded: frozenset[str] = field(default_factory=frozenset)
    """Members that are JSON in a text."""
    within: bool = False
    """Whether the plan stands in a text with something else around it: words, marks of a block of code."""


def read_record(value: Json) -> TaskRecord | None:
    """Return the plan of a record, an answer of a model alone too; `None` if there is none in it."""
    place: tuple[str, ...] = ()
    holder = value
    if isinstance(value, dict) and _prefix(value) is None and "result" in value:
        holder, place = value["result"], ("result",)
    within = False
    if isinstance(holder, str):
        text = holder
        holder = _decoded(text)
        if not isinstance(holder, dict):
            holder, within = _inside(text), True
    prefix = _prefix(holder)
    if not isinstance(holder, dict) or prefix is None:
        return None
    said = value if isinstance(value, dict) else holder
    encoded: set[str] = set()

    def member(word: str) -> Json:
        written = holder.get(f"{prefix}_{word}")
        read = _decoded(written)
        if read is not written:
            encoded.add(word)
        return read

    nodes, links, steps = member("nodes"), member("links"), member("steps")
    shape = said.get("type")
    return TaskRecord(
        nodes=nodes,
        links=links,
        steps=steps,
        holder=holder,
        id=id_of(said),
        request=_text(said.get("user_request", said.get("instruction"))),
        shape=next((each for each in SHAPES if each == shape), None),
        place=place,
        prefix=prefix,
        encoded=frozenset(encoded),
        within=within,
    )


def id_of(value: Json) -> str | None:
    """Return the id of a record, a number as its digits; `None` if it has none."""
    return _text(value.get("id")) if isinstance(value, dict) else None


def shape_of(size: int, edges: frozenset[tuple[int, int]]) -> PlanShape:
    """Return the shape of a graph of so many nodes: a chain leads from one to the next through all of them."""
    if size <= 1:
        return "single"
    sources, targets = [source for source, _ in edges], [target for _, target in edges]
    straight = len(edges) == size - 1 and len(set(sources)) == len(sources) and len(set(targets)) == len(targets)
    return "chain" if straight else "dag"


def _prefix(holder: Json) -> str | None:
    return next((prefix for prefix in _PREFIXES if isinstance(holder, dict) and f"{prefix}_nodes" in holder), None)


def _inside(text: str) -> Json:
    """Return the object in a text, from its first brace to its last one; of a text written twice as JSON too."""
    inner = _loaded(text)
    found = inner if isinstance(inner, str) else text
    return _loaded(found[found.find("{") : found.rfind("}") + 1])


def _decoded(value: Json) -> Json:
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    read = _loaded(value)
    return value if read is None else read


def _loaded(text: str) -> Json:
    try:
        return loads(text)
    except JsonSyntaxError:
        return None


def _text(value: Json) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return digits(value)
    return value if isinstance(value, str) else None
