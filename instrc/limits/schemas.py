"""Limits of the algebra of schemas: flattening, relations, witnesses, validation, comparison.

A limit either ends in a problem (`too-large`, a note), or only in a less simple result: that is always right.
"""

from __future__ import annotations

from typing import Final

# results of flatten

FLAT_SCHEMAS: Final = 1_000_000
"""Schemas of a flat schema, and terms of all its conjunctions: beyond it `too-large`; callers may choose another."""
FLATTEN_PASSES: Final = 3
"""Further passes over a result: what would take more is left as it is."""
ONE_PASS: Final = 20_000
"""Schemas over which one pass has to do."""
SHARED_FROM_TIMES: Final = 8
"""How many times its input a result may grow before what stands in several places of it is shared under `$defs`."""
SHARED_FROM: Final = 2000
"""Schemas up to which nothing is shared."""
SHARED_PART: Final = 4
"""Schemas from which on a part that stands in several places gets a definition."""
TRACED_CHARACTERS: Final = 50_000_000
"""Characters of the JSON Pointers in a trace: those of 2,800 lists in one another, or of a million keywords near the top."""

# comparing branches that stay apart

COMPARED_BRANCHES: Final = 200
"""Branches of `anyOf` and `oneOf` that are compared each with each: beyond it they stay as they are."""
CHAINED_REFERENCES: Final = 100
"""References that are followed from one place of a process written by hand."""
CHAINED_CONDITIONS: Final = 40
"""Conditions that are asked one in the `else` of another: validators follow each level on their own stack."""
COMPARED_CONTAINS: Final = 50
"""Groups of `contains` that are compared each with each: the effort grows with the square of their number."""

MANY_TERMS: Final = 12
"""Schemas of one conjunction from which on it is asked whether all can be taken in at once."""
MANY_AT_ONCE: Final = 40
"""Schemas of one list or map from which on all are read at once, with what is below them."""
LEVELS_AT_ONCE: Final = 4
"""Levels below them that are read so: where there are more, each level would be read again from each above it."""

TERMS_AT_ONCE: Final = 4000
"""Terms that branches give to the names of each other by `additionalProperties` in one pass; twice the names if that is more."""

MATCHED_AT_ONCE: Final = 20_000
"""Names of properties that are checked against patterns in one pass: groups that ask for more stay apart, and a required name
may be described by one of the patterns."""
COMPARED_GROUPS: Final = 50
"""Groups of property keywords that stay apart with which a further one is tried to be joined."""
NOTED_SOURCES: Final = 200
"""Schemas that are noted as those which one keyword of an intersection comes from."""

# relations of schemas: beyond these the answer is "not seen"

DEPTH: Final = 20
"""Schemas inside one another that a question follows."""
PAIRS: Final = 5000
"""Pairs of schemas that are compared for one question."""
EVALUATIONS: Final = 2000
"""Schemas that one value is checked against."""
KIND_DEPTH: Final = 4
"""Combinators inside one another that are looked through for the kinds of values that they allow."""
KIND_BRANCHES: Final = 50
"""Branches of one combinator that are looked through for that."""
CHOICES: Final = 8
"""Branches of a `oneOf` that are compared each with each for what two of them always share."""
POSITIONS: Final = 200
"""Items of an array that are looked at one by one."""

PAIRS_AT_A_PLACE: Final = 100
"""Pairs of schemas that are compared to see whether one schema of a document is impossible: it is asked of many."""
ENDLESS_ROUNDS: Final = 60
"""Levels of schemas that refer to each other through which is looked for one that a value can end with."""
WEIGHED_NAMES: Final = 40
"""Required names that are tried one by one for those that make a schema impossible."""

# witnesses for `subsumes`: beyond these the verdict is "unknown"

INSTANCES: Final = 4000
"""Instances that are tried."""
INSTANCES_AT_ONCE: Final = 200
"""Instances that are tried before the engine is asked for a proof: most schemas that differ are told apart by them."""
DECIDED_PROPERTIES: Final = 150
"""Properties of one schema that the engine is asked about: its effort grows faster than with their cube."""
DECIDED_SCHEMAS: Final = 5000
"""Schemas inside one that the engine is asked about."""
INSTANCES_AT_A_PLACE: Final = 12
"""Values tried at one place inside a larger one."""
INSTANCE_DEPTH: Final = 6
"""Levels of an instance."""
BRANCHES_OF_A_PLACE: Final = 20
"""Schemas about one place whose branches are looked into, and branches of each."""
LARGEST_INSTANCE: Final = 100
"""Properties or items of an instance that is made for its size."""

# normalising what others wrote

READ_LEVELS: Final = 500
"""Levels of a schema: no model fills in a tenth of that; what is deeper is left out with a note."""
READ_SCHEMAS: Final = 100_000
"""Schemas of one tool: the rest is left out with a note."""
TOLD_PROBLEMS: Final = 20
"""Problems that are told of one schema; a file that is no schema at all would have thousands."""
TYPE_WORD: Final = 1000
"""Letters of a word for a type; a longer one is none."""
TYPE_WORD_DEPTH: Final = 40
"""Brackets inside one another in a word for a type."""

# flattening and comparing results

REFERENCES_AT_ONCE: Final = 100
"""References to references that are followed at once; more are perhaps a circle, which the thorough way tells."""
REMEMBERED_LISTS: Final = 8
"""Lists that a further one is compared with."""
MEMBERS_LOOKED_AT: Final = 2_000
"""Schemas that are looked at; after that anything may be there."""
COMPARED_LEVELS: Final = 60
"""Levels of two vibes that are compared for `instrc diff`."""
INSTANCES_COMPARED: Final = 400
"""Instances that are tried for one comparison of two vibes; as many are tried again for their parts."""
COMPARED_PARTS: Final = 60
"""Pairs of parts of two vibes, or of their branches, for which instances are thought of."""
INSTANCES_OF_A_PART: Final = 40
"""Instances that are thought of for one such pair."""
SCHEMAS_ASKED: Final = 20_000
"""Schemas that the instances of one comparison are checked against, where each meets very many branches: fewer are tried then."""
NAMED_DEPTH: Final = 2
"""Levels on which names are tried that a schema speaks of elsewhere."""

# schemas of others

REGEX_SECONDS: Final = 0.5
"""For all texts of one `time_limit` together that the second engine looks at."""
REPAIR_ROUNDS: Final = 50
"""Each takes out what is refused; one that is left may be refused then, as it needs another."""
TOLD_WORDS: Final = 500
"""Characters of what a validator says of one violation."""
TOLD_HEAD: Final = 200
"""Characters of a message; the library's own hold the whole value."""
INSTANCE_LEVELS: Final = 2_000
"""Levels of a value that is validated; it is refused beyond."""
INSTANCE_CONTAINERS: Final = 2_000_000
"""Objects and lists of a value that is validated; it is refused beyond."""
JUDGED_VALUES: Final = 200
"""Defaults and examples of one schema that are validated by it, of those that are not valid at first sight."""
NOTED_VALUE: Final = 60
"""Characters of a value that a note shows."""
SHOWN_ORIGIN: Final = 60
"""Characters of what was written that a contradiction shows."""
SPLIT_AT_ONCE: Final = 1000
"""Objects and lists; what holds more, or itself, is divided with care."""

# judging values by patterns and plain schemas

PATTERN_TEXT: Final = 2_000
"""Characters of a text that is made for a pattern."""
PATTERN_CHARACTERS: Final = 1_000_000
"""Characters of all beginnings that are tried for one pattern together."""
REGEX_TEXT: Final = 100_000
"""Characters of a text that the engine looks at that backtracks."""
REGEX_PATTERN: Final = 20_000
"""Characters of a pattern that is read at all."""
REGEX_WRITTEN_OUT: Final = 200_000
"""Atoms of a pattern with its counts written out, as the engine keeps it that backtracks: some 60 MB."""
PLAIN_LEVELS: Final = 20
"""Levels of a schema that is checked without a validator."""
SHALLOW: Final = 4
"""Levels at which a comparison of schemas by itself is quicker."""
INSTANCE_NODES: Final = 200
"""Schemas that are looked through for values and names of witnesses."""
JUDGED_PATTERN: Final = 10_000
"""Characters of a pattern for which it is told why no engine reads it."""
PATTERNS_OF_A_NAME: Final = 50
"""Patterns of `patternProperties` that are looked through for what a property must satisfy; of more nothing is sure."""
PATTERNS_AT_ONCE: Final = 50
"""Patterns that are looked for in one walk over a text, where there are at least so many; more at once may take longer."""
MATCHED_NAME: Final = 200
"""Characters of a property name for which it is decided whether a pattern is found in it."""
MATCHED_PATTERN: Final = 400
"""Characters of a pattern that is decided for names of properties."""
META_ERRORS: Final = 10_000
"""Errors of one schema that its meta-schema is asked for."""
EXTENT_LEVELS: Final = 40
"""Levels of groups of a pattern whose lengths are counted."""
EXTENT_LENGTH: Final = 1_000
"""Characters of a pattern whose lengths are counted."""
CLASS_NUMBER: Final = 10**300
"""Beyond it a number of a schema is left out of the classes that are written for it: their libraries do not read it."""
