"""Walk through all nodes of the surface of a program, in order of place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import attrgetter

import msgspec

from instrc.ir.surface import Program, Statement


def program_nodes(statements: Iterable[Statement]) -> Iterator[object]:
    """Yield each node of some statements in order of place; names and places in them are not nodes, nor are annotations."""
    stack: list[object] = [*statements]
    stack.reverse()
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is tuple:
            stack += node[::-1]  # type: ignore[index]  # of nodes
        elif (parts := _parts(kind)) is not None:  # type: ignore[arg-type]  # classes can be hashed
            yield node
            stack += parts(node)


def statements_with(program: Program, pattern: str) -> list[Statement]:
    """Return the statements of a program in whose texts a pattern is found: few of them are worth a walk."""
    places = [found.start() for found in re.finditer(pattern, program.source.text)]
    return [each for each in program.statements if bisect_left(places, each.span.start) < bisect_left(places, each.span.end)]


@cache
def _parts(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """Return what gives the parts of a node that may hold further nodes, the last first; `None` for what is no node."""
    if not issubclass(kind, msgspec.Struct):
        return None
    fields = kind.__struct_fields__
    names = [each for each in reversed(fields) if not (each.endswith("span") or each in {"annotation", "schema"})]
    return attrgetter(*names) if len(names) > 1 else lambda node: tuple(getattr(node, name) for name in names)
