"""A compiler for LLM instructions.

Everything here is loaded when it is first used, so that a program that needs one part does not wait for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrc.version import __version__

if TYPE_CHECKING:
    from instrc.ir.artefact import Artefact
    from instrc.library import artefacts, check, compile  # noqa: A004  -- `instrc.compile` is its name
    from instrc.problems.problem import CompileError, Problem
    from instrc.problems.report import Report
    from instrc.source import Source

__all__ = [
    "Artefact",
    "CompileError",
    "Problem",
    "Report",
    "Source",
    "__version__",
    "artefacts",
    "check",
    "compile",
]

_HOMES = {
    "Artefact": "instrc.ir.artefact",
    "CompileError": "instrc.problems.problem",
    "Problem": "instrc.problems.problem",
    "Report": "instrc.problems.report",
    "Source": "instrc.source",
    "artefacts": "instrc.library",
    "check": "instrc.library",
    "compile": "instrc.library",
}
"""Where each public name is defined."""


def __getattr__(name: str) -> object:
    """Load a public name from its module and keep it."""
    if name not in _HOMES:
        message = f"module 'instrc' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
