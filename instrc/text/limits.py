"""The limits that several modules share, each with the consequence."""

from __future__ import annotations

from typing import Final

VIBE_BYTES: Final = 1024 * 1024
"""Default maximum size of a vibe, in bytes."""
PROGRAM_BYTES: Final = 1 << 20
"""Default maximum size of a program, in bytes."""
INTEGER_DIGITS: Final = 4300
"""Maximum digits of an integer: the default limit of Python's own conversions."""
REBUILT_LEVELS: Final = 90
"""Maximum nesting of schemas, combinators included; far below Python's recursion limit."""
UNROLL: Final = 3
"""Default number of times a recursive reference is unrolled for a target without references."""
UNION_VARIANTS: Final = 300
"""Maximum alternatives to which a union is expanded."""
LISTED_VALUES: Final = 8
"""Maximum values listed in a hint."""
COMPARED_NAMES: Final = 1_000_000
"""Maximum comparisons of misspelt names per file, about one second; beyond it no suggestions are made."""
ROUNDS: Final = 3
"""Default rounds of a `repeat`, and of a loop inside one model call."""
PROCESS_LEVELS: Final = 1000
"""Maximum nesting of a step's schema that is searched for engine properties."""
ELEMENTS: Final = 1000
"""Default maximum elements of a list that a block iterates over."""
VALUE_LEVELS: Final = 100
"""Maximum nesting of objects in the value of a block."""
SHOWN_NAME: Final = 100
"""Maximum characters of a name shown in a message."""
PATH_MEMBERS: Final = 100
"""Maximum members of a path; the parser keeps one more, for the message."""
HEAD_TOKENS: Final = 30
"""Maximum tokens between a mistake in a block's head and the braces at which parsing resumes."""
BRACKET_LEVELS: Final = 256
"""Maximum nesting of brackets at one place; stacked `@` count as well."""
HINTED_PATH: Final = 60
"""Maximum characters of a path or name repeated in a hint."""
REPORTED_MISTAKES: Final = 100
"""Number of mistakes after which a source is no longer treated as a program."""
BRACKET_DISTANCE: Final = 1_000
"""Maximum tokens searched for the closing bracket."""
STRING_PREFIX: Final = 3
"""Maximum letters before a string that are read as a prefix from another language, such as `f` in `f"…"`."""
FLAT_SCHEMAS: Final = 1_000_000
"""Default maximum schemas in a flat schema, and terms in all its conjunctions; beyond it `too-large` is raised."""
MATCHED_AT_ONCE: Final = 20_000
"""Maximum property names checked against patterns in one pass; larger groups stay separate, and then a required name
may be described by one of the patterns."""
DEPTH: Final = 20
"""Maximum nesting of schemas that a check follows."""
BRANCHES_OF_A_PLACE: Final = 20
"""Maximum schemas at one place whose branches are examined, and maximum branches of each."""
COMPARED_LEVELS: Final = 60
"""Maximum nesting of two vibes that `instrc diff` compares."""
META_ERRORS: Final = 10_000
"""Maximum errors requested from the meta-schema for one schema."""
