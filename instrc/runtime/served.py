"""Activities that need no code: tables under `[tool.instrc.activities]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from instrc import problems
from instrc.problems.problem import CompileError
from instrc.runtime.activities import Activity


def served(name: str, table: Mapping[str, Any], folder: Path) -> Activity:  # noqa: ARG001  -- files of a table lie in the folder
    """Return the activity that a table of the settings describes."""
    known = ", ".join(f"`{key}`" for key in table) or "nothing"
    raise CompileError([problems.runs.UnusableSetting(what="activity", word=name, reason=f"its table has {known}")])
