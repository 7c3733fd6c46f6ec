"""Limits of plans, runs, rehearsals and previews."""

from __future__ import annotations

from typing import Final

# plans

SUGGESTED_PROBLEMS: Final = 50
"""Problems for which the nearest names are looked up."""
REMEMBERED_FITS: Final = 50_000
"""Answers on which value fits which slot that are kept."""
PLAN_LEVELS: Final = 1900
"""Levels of a plan."""
RELATED_LEVELS: Final = 12
"""Levels of two schemas that are compared for a plan."""
RELATED_BRANCHES: Final = 64
"""Branches of one schema that are looked at; what has more is taken to fit."""

TESTED_COMMANDS: Final = 10_000
"""Commands of one case."""

# runs

TASK_COPIES: Final = 1000
"""Copies of one task of a plan."""
PLAN_PARTS: Final = 5_000_000
"""Values of one plan."""
COMPLAINTS: Final = 20
"""Complaints about one answer."""
REHEARSED_RUNS: Final = 400
"""Runs of one rehearsal."""
REHEARSED_COMMANDS: Final = 40_000
"""Commands of all its runs together."""
PREVIEWED_COMMANDS: Final = 2_000
"""Commands of a preview."""
