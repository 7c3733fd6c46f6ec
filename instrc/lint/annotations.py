"""Examine the schemas that are written in a program, after `@`, as the vibes of the registry are examined."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from instrc.ir.surface import Annotated, Inline, Input, Matches, Program
from instrc.jsonvalue import Json
from instrc.lint.nodes import program_nodes, statements_with
from instrc.problems.problem import Problem
from instrc.schema.wellformed import problems_of
from instrc.source import Span
from instrc.syntax.places import place_in

_OBJECT = r"@(?!\s*[\"'])"
"""An `@` before what is no string."""


def review_annotations(program: Program, allowed: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield what is wrong with annotations and inline schemas, in order of place; `allowed` are the project's own keywords."""
    if "@" not in program.source.text:
        return
    from instrc.lint.words import suspicious_words  # many programs annotate nothing

    for schema, at, inline in _schemas(program):
        place = partial(place_in, at)
        unsound = problems_of(schema, place)
        yield from unsound
        if not unsound:
            found = suspicious_words(schema, place, allowed)
            yield from (_at_the_top(problem, schema, at, inline=inline) for problem in found)


def _at_the_top(problem: Problem, schema: Json, at: Span, *, inline: bool) -> Problem:
    """Return a problem that knows whether its keyword stands at the top of an annotation."""
    from instrc.problems.schemas import UnknownKeyword

    if isinstance(problem, UnknownKeyword) and isinstance(schema, dict) and problem.word in schema:
        at_the_top = problem.at == place_in(at, f"/{problem.word}", key=True)
        return replace(problem, annotating=at_the_top and not inline, inline=at_the_top and inline)
    return problem


def _schemas(program: Program) -> Iterator[tuple[Json, Span, bool]]:
    """Yield each object after an `@` with the place that holds it, and whether it is a schema of its own."""
    for node in program_nodes(statements_with(program, _OBJECT)):
        match node:
            case Annotated(annotation=dict() as schema, annotation_span=at) | Input(annotation=dict() as schema, span=at):
                yield schema, at, False
            case Matches(schema=schema, schema_span=at):
                yield schema, at, False
            case Inline(schema, at):
                yield schema, at, True
            case _:
                pass
