"""The limits that several modules share, each with the consequence."""

from __future__ import annotations

from typing import Final

VIBE_BYTES: Final = 1024 * 1024
"""Bytes of a vibe, unless a setting says otherwise."""
PROGRAM_BYTES: Final = 1 << 20
"""Bytes of a program, unless a setting says otherwise."""
INTEGER_DIGITS: Final = 4300
"""Digits of an integer: Python reads and writes no longer one in one piece."""
REBUILT_LEVELS: Final = 90
"""Nesting of schemas, combinators included: far below Python's recursion limit."""
UNROLL: Final = 3
"""How often a recursive reference is unrolled for a target without references, by default."""
UNION_VARIANTS: Final = 300
"""Alternatives that a union may be multiplied out to."""
SAMPLE_LEVELS: Final = 120
"""Levels of a sample."""
LISTED_VALUES: Final = 8
"""Values that a hint lists."""
COMPARED_NAMES: Final = 1_000_000
"""Names that misspelt ones of one file are compared with, all together; a second.  For further ones no names are offered."""
COMPARED_NAME: Final = 200
"""Letters of a name that are looked at: a name is a few words, and hostile ones must not cost a second."""
ROUNDS: Final = 3
"""Rounds of a `repeat`, and of a loop inside one call of a model, where nothing is said."""
PROCESS_LEVELS: Final = 1000
"""Levels of a step's schema in which what is for the engine is looked for."""
ELEMENTS: Final = 1000
"""Elements of a list that a block runs over, where nothing is said."""
HIGHEST_BOUND: Final = 1_000_000
"""The largest bound of rounds or elements that may be written, or read."""
VALUE_LEVELS: Final = 100
"""Objects in objects that a block gives."""
SHOWN_NAME: Final = 100
"""Letters of a name that a message shows."""
HEAD_TOKENS: Final = 30
"""Tokens between a mistake in the head of a block and the braces that it is read on at."""
BRACKET_LEVELS: Final = 256
"""Brackets around one place; stacked `@` count as well."""
HINTED_PATH: Final = 60
"""Letters of a path or name that a hint repeats."""
REPORTED_MISTAKES: Final = 100
"""Mistakes after which a source is taken for no program at all."""
BRACKET_DISTANCE: Final = 1_000
"""Tokens that are looked at to find out whether a bracket is closed."""
STRING_PREFIX: Final = 3
"""Letters right before a text that may be a prefix of another language, as `f` in `f"…"`."""
FLAT_SCHEMAS: Final = 1_000_000
"""Schemas of a flat schema, and terms of all its conjunctions: beyond it `too-large`; callers may choose another."""
MATCHED_AT_ONCE: Final = 20_000
"""Names of properties that are checked against patterns in one pass: groups that ask for more stay apart, and a required name
may be described by one of the patterns."""
DEPTH: Final = 20
"""Schemas inside one another that a question follows."""
BRANCHES_OF_A_PLACE: Final = 20
"""Schemas about one place whose branches are looked into, and branches of each."""
COMPARED_LEVELS: Final = 60
"""Levels of two vibes that are compared for `instrc diff`."""
SHALLOW: Final = 4
"""Levels at which a comparison of schemas by itself is quicker."""
META_ERRORS: Final = 10_000
"""Errors of one schema that its meta-schema is asked for."""
