"""Limits of programs: syntax, passes, checks, problems, editors."""

from __future__ import annotations

from typing import Final

# checks

SOLUTION_VIOLATIONS: Final = 20
"""Violations of one solution that are told."""
SOLUTION_LEVELS: Final = 100
"""Levels that the judge of solutions follows for certain; it keeps them on its own stack."""
DATAFLOW_LEVELS: Final = 40
"""Members of a path that the flow of data is followed along."""
DATAFLOW_PLACES: Final = 20_000
"""Places of a vibe that are looked at for it."""
REQUIRED_VARIANTS: Final = 20_000
"""Where schemas branch without end, nothing is certain any more, so nothing is said."""
LISTED_VALUES: Final = 8
"""Values that a hint lists."""
NOTED_PROBLEMS: Final = 5
"""Problems that stand in the notes of an exception."""
SHOWN_LINES: Final = 3
"""Lines of a long span that are shown; the rest is an ellipsis."""
LISTED_NAMES: Final = 10_000
"""Files of a folder that are compared with the name of a missing one; in a larger folder none is offered."""
SHORTLIST: Final = 24
"""Names that are compared letter by letter."""
COMPARED_NAME: Final = 200
"""Letters of a name that are looked at: a name is a few words, and hostile ones must not cost a second."""

# compiling

SUGGESTED_NAMES: Final = 3
"""Names that are offered for one."""
OBJECT_SCHEMAS: Final = 1_000
"""Schemas looked at; one that takes more is believed."""
OUTCOME_SCHEMAS: Final = 5_000
"""Schemas of which the value of a block may consist; of a larger one nothing is said."""
PLANNED_PLACES: Final = 10_000
"""Places of a schema that are looked at for plans."""
SEARCHED_CHUNKS: Final = 20_000
"""Chunks tried before the search settles for what it has; programs that people write need as many as they have chunks."""
EXPORTED_STEPS: Final = 200_000
"""Steps of all exports of a file: what they share is a step of each, so that the documents grow with the square of the file."""
ORDERED_BLOCKS: Final = 24
"""Blocks that others wait for, up to which every order of them is tried."""
SEARCHED_STATES: Final = 64
"""States with the same sequence so far that are followed."""
INTEGER_DIGITS: Final = 4300
"""Python reads and writes no longer integer in one piece, and nobody counts that far."""
ANNOTATION_DISTANCE: Final = 20_000
"""Characters behind an expression in which its annotations are looked for."""
PASSED_OVER: Final = 20_000
"""Tokens without a clear end of the statement after which the rest of the source is not looked at."""
STRING_LINES: Final = 20
"""Lines over which the end of an open string is looked for."""

# faces

COMPLETION_DISTANCE: Final = 5_000
"""Characters before a place that are looked at."""
HOVERED_SCHEMA: Final = 4_000
"""Characters of a schema that are shown."""
NAME_STEPS: Final = 40
"""Steps from a name to its schema: names of names, members of members."""
