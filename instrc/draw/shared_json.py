"""JSON texts in which every value that occurs several times is written once: the schemas of a page repeat each other."""

from __future__ import annotations

from typing import TypeAlias

from instrc.jsontext import dumps
from instrc.jsonvalue import Json

_Node: TypeAlias = str | tuple[str | int, ...]


class SharedJson:
    """A table of values; a value is known by its number.

    A text stands as itself, other scalars as `["12.0"]`, an array as `["[", number…]`, an object as `["{", number of a key,
    number of its value…]`.  So the order of keys stays, and numbers of any size, which a parser of JavaScript would change.
    """

    def __init__(self) -> None:
        """Begin without values."""
        self._numbers: dict[_Node, int] = {}

    def number_of(self, value: Json) -> int:
        """Return the number of a value, which is added if it is a new one; values may nest to any depth."""
        numbers: dict[int, int] = {}  # by identity: what stands in several places is looked at once
        waiting: list[tuple[Json, bool]] = [(value, False)]
        while waiting:
            node, inside_is_done = waiting.pop()
            if id(node) in numbers:
                continue
            inside = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
            if inside and not inside_is_done:
                waiting.append((node, True))
                waiting.extend((part, False) for part in reversed(inside))
            else:
                numbers[id(node)] = self._number(self._node(node, [numbers[id(part)] for part in inside]))
        return numbers[id(value)]

    def table(self) -> Json:
        """Return the values in the order of their numbers."""
        return [node if isinstance(node, str) else list(node) for node in self._numbers]

    def _node(self, value: Json, inside: list[int]) -> _Node:
        """Return a value as it stands in the table; the numbers of what is in it are known."""
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return ("[", *inside)
        if isinstance(value, dict):
            return ("{", *(number for pair in zip(map(self._number, value), inside, strict=True) for number in pair))
        return (dumps(value),)

    def _number(self, node: _Node) -> int:
        return self._numbers.setdefault(node, len(self._numbers))
