"""Find the rounds of `repeat` that paths lead into.

A round is the value of `previous`, and each element of `rounds`, wherever blocks pass them on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from instrc.compiler.ir import Content, Each, Graph, Local, ObjectReading, Path, Reading, Repeat, regions_of

FOLLOWED_PLACES: Final = 200
"""Maximum places to which one path is followed through the rounds of blocks."""

ELEMENT = "[]"
"""Path segment for a list element; real members never have this name."""

_Way: TypeAlias = "tuple[Reading, tuple[str, ...]]"


class Bodies(msgspec.Struct, frozen=True):
    """What is known about the blocks that paths lead through."""

    content: Callable[[int], Content]
    """Returns the content of a step by number."""
    source: Callable[[int], Path | None]
    """Returns the list that a body iterates over."""
    names: Callable[[int], tuple[int, Mapping[str, Reading]]]
    """Returns the body whose rounds `previous` and `rounds` refer to, and its known names."""


class Rounds:
    """Determines whether a path leads to a round."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._known: dict[Path, frozenset[int | None]] = {}

    def body_of(self, path: Path) -> int | None:
        """Return the body to whose rounds a path leads, or `None` if there is none, or if other values are possible too."""
        found = self._found(path)
        return next(iter(found)) if len(found) == 1 else None

    def mixed(self, path: Path) -> frozenset[int]:
        """Return the bodies whose rounds a path may lead to, if it may lead to something else too."""
        found = self._found(path)
        return frozenset(body for body in found if body is not None) if len(found) > 1 else frozenset()

    def _found(self, path: Path) -> frozenset[int | None]:
        if path not in self._known:
            self._known[path] = self._find(path)
        return self._known[path]

    def _find(self, path: Path) -> frozenset[int | None]:
        found: set[int | None] = set()
        seen: set[_Way] = set()
        waiting: list[_Way] = [(path, ())]
        while waiting and len(seen) < FOLLOWED_PLACES:
            way = waiting.pop()
            reading, rest = way
            if isinstance(reading, Path):  # only paths can be cyclic
                if way in seen:
                    continue
                seen.add(way)
            match reading:
                case ObjectReading() if not rest:
                    found.add(None)
                case ObjectReading(members):
                    waiting.extend((member, rest[1:]) for name, member in members if name == rest[0])
                case Path(origin, tail):
                    body, below = self._behind(origin, (*tail, *rest))
                    waiting.extend(below)
                    if body is not None or not below:
                        found.add(body)
                case _:
                    pass
        return frozenset() if waiting else frozenset(found)

    def _behind(self, origin: int | str | Local, tail: tuple[str, ...]) -> tuple[int | None, list[_Way]]:
        """Return the body to whose rounds a path leads here, and its other continuations."""
        match origin:
            case Local(block, _, "item"):
                source = self._bodies.source(block)
                return None, [] if source is None else [(source, (ELEMENT, *tail))]
            case Local(block, _, "rounds") if tail[:1] == (ELEMENT,):
                return self._into_round(block, tail[1:])
            case Local(block, _, "previous"):
                return self._into_round(block, tail)
            case int(number):
                return None, given_by(self._bodies.content(number), tail)
            case _:
                return None, []

    def _into_round(self, block: int, tail: tuple[str, ...]) -> tuple[int | None, list[_Way]]:
        body, names = self._bodies.names(block)
        if not tail:
            return body, []
        return None, [(names[tail[0]], tail[1:])] if tail[0] in names else []


def given_by(content: Content, tail: tuple[str, ...]) -> list[_Way]:
    """Return the continuation of a path in the value of a block."""
    if isinstance(content, Each) or (isinstance(content, Repeat) and content.source is not None):
        found: list[_Way] = [(content.body.value, tail[1:])] if tail[:1] == (ELEMENT,) else []
        if isinstance(content, Repeat) and content.otherwise is not None:
            found.append((content.otherwise.value, tail))
        return found
    return [(region.value, tail) for region in regions_of(content)]


def bodies_by_number(graph: Graph) -> Bodies:
    """Return the facts about the blocks of a graph, by number."""
    lists: dict[int, Path] = {}
    repeats: dict[int, tuple[int, Mapping[str, Reading]]] = {}
    for step in graph.blocks():
        content = step.content
        if isinstance(content, Each | Repeat) and isinstance(content.source, Path):
            lists[content.body.number] = content.source
        if isinstance(content, Repeat):
            repeats |= dict.fromkeys((each.number for each in regions_of(content)), (content.body.number, dict(content.names)))
    return Bodies(lambda number: graph.steps[number].content, lists.get, lambda body: repeats[body])
