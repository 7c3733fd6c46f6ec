"""How deep a program may nest: one bound for every form of nesting, so that later stages need not ask again."""

from __future__ import annotations

from typing import Any

from instrc.ir.surface import Annotated, Array, Call, Object, Pipe, Program
from instrc.problems.problem import Problem
from instrc.source import Span

MAX_DEPTH = 1_024
"""Brackets around one place; stacked `@` count as well."""


def too_deep(program: Program) -> Problem | None:
    """Return the problem of a program whose stacked `@` make it too deep; its brackets were counted while it was read."""
    if program.source.text.count("@") <= MAX_DEPTH // 2:
        return None  # with brackets at their limit, that is still no deeper than one and a half of it
    nodes: list[tuple[Any, int]] = [(getattr(statement, "value", None), 1) for statement in program.statements]
    while nodes:
        node, depth = nodes.pop()
        if depth > MAX_DEPTH * 3 // 2:
            return deep_at(node.span)
        match node:
            case Annotated():
                nodes.append((node.value, depth + 1))
            case Call():
                nodes.extend((argument.value, depth + 1) for argument in node.arguments)
            case Object():
                nodes.extend((field.value, depth + 1) for field in node.fields)
            case Array():
                nodes.extend((item, depth + 1) for item in node.items)
            case Pipe():
                nodes.extend((stage, depth) for stage in node.stages)
            case _:
                pass
    return None


def deep_at(span: Span) -> Problem:
    """Return the problem of a place that lies too deep."""
    from instrc.problems.text import TooDeep  # problems are imported where there is one

    return TooDeep(at=span, limit=MAX_DEPTH)
