"""Check the names of arguments against the schema of what is called: unknown names, and missing ones."""

from __future__ import annotations

from collections.abc import Collection

from instrc import problems
from instrc.problems.problem import Problem
from instrc.problems.suggest import nearest
from instrc.source import Span


def unknown_argument(name: str, at: Span, callee: str, known: tuple[str, ...]) -> Problem:
    """Return the problem of a name that what is called does not take."""
    near = nearest(name, known)
    return problems.plans.UnknownArgument(at=at, pointer="", callee=callee, argument=name, nearest=near, known=known)


def missing_arguments(
    given: Collection[str], at: Span, callee: str, known: tuple[str, ...], required: tuple[str, ...]
) -> Problem | None:
    """Return the problem of required names that are not given, unless names that are not taken are probably meant for them."""
    unknown = [name for name in given if name not in known]
    meant = {near for name in unknown for near in nearest(name, known)}
    missing = [name for name in required if name not in given and name not in meant]
    if len(missing) <= sum(not nearest(name, known) for name in unknown):
        return None
    first, *others = missing
    return problems.plans.MissingArgument(at=at, pointer="", callee=callee, argument=first, others=tuple(others))
