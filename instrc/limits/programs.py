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
COMPARED_NAMES: Final = 1_000_000
"""Names that misspelt ones of one file are compared with, all together; a second.  For further ones no names are offered."""
COMPARED_NAME: Final = 200
"""Letters of a name that are looked at: a name is a few words, and hostile ones must not cost a second."""
LIST_BEFORE_CALL: Final = 1_000
"""Characters between the name of a slot and a call in its list, within which the two are one mistake."""
COMPARED_LABELS: Final = 20
"""Labels that one is compared with for each letter it may lack."""

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
KEPT_CUT: Final = 12
"""Nodes up to which it is remembered how they were cut."""
ORDERED_BLOCKS: Final = 24
"""Blocks that others wait for, up to which every order of them is tried."""
SEARCHED_STATES: Final = 64
"""States with the same sequence so far that are followed."""
PAGE_STEPS: Final = 20_000
"""Steps of all pictures of one page, which has 20 MB then: browsers are slow with more."""
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

# reading programs, processes and trees of them; what is shown of them

REMEMBERED_FILES: Final = 100_000
"""Files whose contents the check of a tree remembers."""
KNOWN_FILES: Final = 100_000
"""Digests of sound files that the check of a tree keeps, the latest ones."""
BATCH_ITEMS: Final = 10_000
"""Items of one batch."""
SHOWN_WORD: Final = 60
"""Letters of a word of the command line that a refusal shows."""
FIX_ROUNDS: Final = 20
"""How often files are fixed: a fix may bring the next mistake to light."""
LISTED_FILES: Final = 20
"""Written files that are named one by one."""
OUTLINE_LEVELS: Final = 12
"""Levels of a schema that its outline shows."""
PICTURED_LETTERS: Final = 60
"""Letters of a line in a picture."""
PICTURED_LEVELS: Final = 100
"""Blocks inside each other that can be drawn for certain."""
HEADING_NAMES: Final = 3
"""Exports that the heading of a page names."""
ROUNDS: Final = 3
"""Rounds of a `repeat`, and of a loop inside one call of a model, where nothing is said."""
PROCESS_LEVELS: Final = 1000
"""Levels of a step's schema in which what is for the engine is looked for."""
ELEMENTS: Final = 1000
"""Elements of a list that a block runs over, where nothing is said."""
PROCESS_CONTEXTS: Final = 200_000
"""Contexts of one process."""
FOLLOWED_PLACES: Final = 200
"""Places that one path is followed to through the rounds of blocks."""
PATH_MEMBERS: Final = 100
"""Members of a path."""
HIGHEST_BOUND: Final = 1_000_000
"""The largest bound of rounds or elements that may be written."""
VALUE_LEVELS: Final = 100
"""Objects in objects that a block gives."""
GIVEN_VALUES: Final = 500_000
"""Values that the objects and calls of one export are given."""
FOLLOWED_PATHS: Final = 60
"""Paths that one path is followed to; what comes from more places is not looked into."""
SHOWN_VALUE: Final = 120
"""Letters of a value that a warning shows."""
TOLD_OF_A_KIND: Final = 20
"""Problems of each kind of suspicious words that are told of one schema."""
JOINED_SEGMENTS: Final = 4
"""How often a segment is read together with the next one, whose border an edit may have taken away."""
KEPT_RUNS: Final = 32
"""Rows of statements, each of one text, that an editor keeps side by side before it moves them to the text that is shown."""
MOVED_LEVELS: Final = 100
"""Brackets and `@` of a statement that is moved to its place in a later text; one with more is read again there."""
NAMED_VALUES: Final = 3
"""Idle values that a problem names."""
LISTED_ARGUMENTS: Final = 8
"""Arguments that a hint lists."""
SHOWN_NAME: Final = 100
"""Letters of a name that a message shows."""
SHOWN_OF_A_KIND: Final = 100
"""Problems of one name that are shown in full: nobody reads more of them one by one."""
SENTENCE_LENGTH: Final = 600
"""Letters of a message that are shown: a name in it may be as long as the input."""
HEAD_TOKENS: Final = 30
"""Tokens between a mistake in the head of a block and the braces that it is read on at."""
BODY_TOKENS: Final = 500
"""Tokens of the braces of a block that are read back to find the word which begins it."""
BRACKET_LEVELS: Final = 1_024
"""Brackets around one place; stacked `@` count as well."""
KEPT_RECIPES: Final = 20_000
"""Words in the recipes of the parser that are kept from one program to the next."""
HINTED_PATH: Final = 60
"""Letters of a path or name that a hint repeats."""
DECORATOR_TOKENS: Final = 20
"""Tokens between an `@` and what it decorates."""
GUESSED_LINES: Final = 20
"""Lines whose beginnings are looked at to tell what a file is that is no program."""
RECOVERED_MISTAKES: Final = 2_000
"""Mistakes that are repaired in one source."""
LINE_DISTANCE: Final = 200
"""Characters before a word in which its line must have begun."""
REPORTED_MISTAKES: Final = 100
"""Mistakes after which a source is taken for no program at all."""
BRACKET_DISTANCE: Final = 1_000
"""Tokens that are looked at to find out whether a bracket is closed."""
PICTURED_TRACKS: Final = 40
"""Lines side by side between two rows of a picture; more would be wider than anybody can follow, so they share."""
STRING_PREFIX: Final = 3
"""Letters right before a text that may be a prefix of another language, as `f` in `f"…"`."""
EVALUATION_ROUNDS: Final = 200
"""How often an export is evaluated: each time, equal steps and blocks may turn out to lie further out than before."""
