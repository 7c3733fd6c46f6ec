"""Problems, as values.

A problem is a frozen class of facts: spans, names, paths.
Its message and its hint are computed from the facts; its page in `pages/` is what `instrc explain` prints.

Defining all of them takes longer than compiling a small program, so they are loaded on demand:
`problems.files.InvalidJson` loads the module `files` on first access.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from instrc.problems import blocks as blocks
    from instrc.problems import calls as calls
    from instrc.problems import files as files
    from instrc.problems import habits as habits
    from instrc.problems import importing as importing
    from instrc.problems import names as names
    from instrc.problems import plans as plans
    from instrc.problems import punctuation as punctuation
    from instrc.problems import runs as runs
    from instrc.problems import schemas as schemas
    from instrc.problems import serving as serving
    from instrc.problems import settings as settings
    from instrc.problems import statements as statements
    from instrc.problems import steps as steps
    from instrc.problems import targets as targets
    from instrc.problems import text as text
    from instrc.problems import vibes as vibes


def __getattr__(name: str) -> ModuleType:
    """Load a module of problems on first access."""
    try:
        return import_module(f"instrc.problems.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'instrc.problems' has no attribute {name!r}") from None
