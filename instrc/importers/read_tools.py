"""The one function that reads all kinds of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module

from instrc.importers.catalogue import KINDS, OF_ACTIVITIES
from instrc.importers.given import Given
from instrc.importers.tools import ImportedTool
from instrc.importers.vibes import ImportedVibe, Results, vibes
from instrc.problems.importing import NoTools, UnknownImporter
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import gives: vibes, and all that was wrong or could not be said, by place."""

    vibes: tuple[ImportedVibe, ...]
    problems: tuple[Problem, ...]


def known_kind(kind: str) -> str:
    """Return a kind; a `CompileError` if there is none of that name."""
    if not isinstance(kind, str):
        message = f"a kind is a text, not {type(kind).__name__}"
        raise TypeError(message)
    if kind not in KINDS:
        raise CompileError([UnknownImporter(kind=kind, known=tuple(KINDS), nearest=nearest(kind, tuple(KINDS)))])
    return kind


def given_of(kind: str, values: Iterable[object]) -> Given:
    """Return what objects of Python say about themselves, for a kind of Python."""
    read: Callable[[Iterable[object]], Given] = import_module(f"instrc.importers.{KINDS[kind]}").read_objects
    return read(values)


def read_tools(kind: str, given: Given, results: Results = "leave") -> Imported:
    """Read all tools that were given."""
    tools: Iterator[ImportedTool] = import_module(f"instrc.importers.{KINDS[known_kind(kind)]}").tools(given)
    made = tuple(vibes(tools, given, "activity" if kind in OF_ACTIVITIES and results == "leave" else results))
    if not made and not any(problem.severity == "error" for problem in given.problems):
        given.problems.append(NoTools(at=given.locate(()), kind=kind))
    report = Report()
    report.problems.extend(given.problems)
    return Imported(made, report.once())
