"""Walk through all nodes of the surface of a program, in order of place."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from typing import cast

import msgspec

from instrc.ir.surface import Program


def program_nodes(program: Program) -> Iterator[object]:
    """Yield each node of a program in order of place; names and places in them are not nodes, nor are annotations."""
    stack: list[object] = list(reversed(program.statements))
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(reversed(node))
            continue
        parts = _parts(cast("Hashable", type(node)))
        if parts is not None:
            yield node
            stack.extend(getattr(node, name) for name in reversed(parts))


@cache
def _parts(kind: Hashable) -> tuple[str, ...] | None:
    """Return the fields of a node that may hold further nodes; `None` for what is no node."""
    if not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
        return None
    return tuple(each for each in kind.__struct_fields__ if not (each.endswith("span") or each in {"annotation", "schema"}))
