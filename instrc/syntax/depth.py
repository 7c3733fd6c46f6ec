"""How deep a program may nest: one bound for every form of nesting, so that later stages need not ask again."""

from __future__ import annotations

from instrc.ir.children import children
from instrc.ir.surface import Expression, Input, Pipe, Program
from instrc.limits.programs import BRACKET_LEVELS
from instrc.problems.problem import Problem
from instrc.source import Span


def too_deep(program: Program) -> Problem | None:
    """Return the problem of a program whose stacked `@` make it too deep; its brackets were counted while it was read."""
    if program.source.text.count("@") <= BRACKET_LEVELS // 2:
        return None  # with brackets at their limit, that is still no deeper than one and a half of it
    nodes: list[tuple[Expression, int]] = [(each.value, 1) for each in program.statements if not isinstance(each, Input)]
    while nodes:
        node, depth = nodes.pop()
        if depth > BRACKET_LEVELS * 3 // 2:
            return deep_at(node.span)
        deeper = depth if isinstance(node, Pipe) else depth + 1
        nodes.extend((child, deeper) for child in children(node))
    return None


def deep_at(span: Span) -> Problem:
    """Return the problem of a place that lies too deep."""
    from instrc.problems.text import TooDeep  # problems are imported where there is one

    return TooDeep(at=span, limit=BRACKET_LEVELS)
