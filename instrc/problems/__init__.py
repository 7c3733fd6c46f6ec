"""What can be wrong, as values.

A problem is a frozen dataclass of facts: spans, names, paths.
Its words are properties computed from them; its docstring is the page that `instrc explain` prints.

There are many, and to define them takes longer than to compile a small program, so they are loaded on demand:
`problems.files.InvalidJson` loads the module `files` when it is first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from instrc.problems import (
        answers,
        bindings,
        blocks,
        bounds,
        calls,
        conditions,
        deadlines,
        exports,
        files,
        habits,
        hidden,
        idle,
        imported,
        importing,
        impossible,
        installed,
        keys,
        keywords,
        launches,
        layout,
        listed,
        locks,
        misplaced,
        names,
        notation,
        options,
        paths,
        plan_arguments,
        plan_steps,
        plans,
        programs,
        references,
        runs,
        schemas,
        settings,
        size,
        steps,
        strings,
        suspicious,
        targets,
        taskbench,
        taskbench_links,
        text,
        unchecked,
        unknown_name,
        unread,
        vibe_files,
        vibes,
        words,
    )

__all__ = [
    "answers",
    "bindings",
    "blocks",
    "bounds",
    "calls",
    "conditions",
    "deadlines",
    "exports",
    "files",
    "habits",
    "hidden",
    "idle",
    "imported",
    "importing",
    "impossible",
    "installed",
    "keys",
    "keywords",
    "launches",
    "layout",
    "listed",
    "locks",
    "misplaced",
    "names",
    "notation",
    "options",
    "paths",
    "plan_arguments",
    "plan_steps",
    "plans",
    "programs",
    "references",
    "runs",
    "schemas",
    "settings",
    "size",
    "steps",
    "strings",
    "suspicious",
    "targets",
    "taskbench",
    "taskbench_links",
    "text",
    "unchecked",
    "unknown_name",
    "unread",
    "vibe_files",
    "vibes",
    "words",
]


def __getattr__(name: str) -> ModuleType:
    """Load a module of problems when it is first named."""
    if name not in __all__:
        message = f"module 'instrc.problems' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return import_module(f"instrc.problems.{name}")
