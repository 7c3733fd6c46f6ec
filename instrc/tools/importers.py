"""Import tools from any kind of source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from msgspec import Struct

from instrc.problems.errors import SettingsError
from instrc.problems.importing import NoTools, UnknownImporter
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.tools.sources import Given, ImportedTool
from instrc.tools.vibe_documents import ImportedVibe, Results, vibes

KINDS: dict[str, str] = {
    "openai": "instrc.tools.function_lists:openai_tools",
    "anthropic": "instrc.tools.function_lists:anthropic_tools",
    "mcp": "instrc.tools.function_lists:mcp_tools",
    "openapi": "instrc.tools.openapi:openapi_tools",
    "pydantic": "instrc.tools.python_objects:pydantic_tools",
    "smolagents": "instrc.tools.python_objects:smolagents_tools",
    "bfcl": "instrc.tools.function_lists:bfcl_tools",
    "taskbench": "instrc.tools.taskbench:taskbench_tools",
}
"""Function that reads each kind, imported on first use."""
OF_PYTHON = frozenset({"pydantic", "smolagents"})
"""Kinds whose tools are Python objects."""
OF_ACTIVITIES = frozenset({"taskbench"})
"""Kinds whose tools are always calls of a server."""


class Imported(Struct, frozen=True):
    """The result of an import: vibes, and problems by place."""

    vibes: tuple[ImportedVibe, ...]
    problems: tuple[Problem, ...]


def known_kind(kind: str) -> str:
    """Return a valid kind of source; raise `CompileError` for an unknown one."""
    if not isinstance(kind, str):
        raise TypeError(f"a kind is a text, not {type(kind).__name__}")
    if kind not in KINDS:
        raise SettingsError([UnknownImporter(kind=kind, known=tuple(KINDS), nearest=nearest(kind, tuple(KINDS)))])
    return kind


def read_tools(kind: str, given: Given, results: Results = "leave") -> Imported:
    """Read all tools in a source."""
    module, _, name = KINDS[known_kind(kind)].partition(":")
    read: Callable[[Given], Iterator[ImportedTool]] = getattr(import_module(module), name)
    result = tuple(vibes(read(given), given, "activity" if kind in OF_ACTIVITIES and results == "leave" else results))
    if not result and not any(problem.severity == "error" for problem in given.problems):
        given.problems.append(NoTools(at=given.locate(()), kind=kind))
    report = Report()
    report.problems.extend(given.problems)
    return Imported(result, report.once())
