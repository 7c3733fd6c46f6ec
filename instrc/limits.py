"""How far the algebra goes: each limit with what happens beyond it.

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

# comparing branches that stay apart

COMPARED_BRANCHES: Final = 200
"""Branches of `anyOf` and `oneOf` that are compared each with each: beyond it they stay as they are."""
COMPARED_CONTAINS: Final = 50
"""Groups of `contains` that are compared each with each: the effort grows with the square of their number."""

# relations of schemas: beyond these the answer is "not seen"

DEPTH: Final = 20
"""Schemas inside one another that a question follows."""
PAIRS: Final = 5000
"""Pairs of schemas that are compared for one question."""
EVALUATIONS: Final = 2000
"""Schemas that one value is held against."""
KIND_DEPTH: Final = 4
"""Combinators inside one another that are looked through for the kinds of values that they allow."""
KIND_BRANCHES: Final = 50
"""Branches of one combinator that are looked through for that."""
POSITIONS: Final = 200
"""Items of an array that are looked at one by one."""

# witnesses for `subsumes`: beyond these the verdict is "unknown"

INSTANCES: Final = 4000
"""Instances that are tried."""
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

# lowering

LOWERED_SCHEMAS: Final = 100_000
"""Schemas of a flat schema that is lowered: one that would have more shares its parts under `$defs`, or else `too-large`."""
LOWERED_LEVELS: Final = 2000
"""Levels of a payload that is verified: beyond it `too-large`.  No target takes a tenth of that."""

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
"""Instances that are tried for one comparison of two vibes."""
NAMED_DEPTH: Final = 2
"""Levels on which names are tried that a schema speaks of elsewhere."""

# schemas of others

REGEX_SECONDS: Final = 0.5
"""For all texts of one `time_limit` together that the second engine looks at."""
REPAIR_ROUNDS: Final = 50
"""Each takes out at least one of the places that are refused, of which each round names twenty."""
TOLD_WORDS: Final = 500
"""Characters of what a validator says of one violation."""
TOLD_HEAD: Final = 200
"""Characters of a message; the library's own hold the whole value."""
INSTANCE_LEVELS: Final = 2_000
"""Levels of a value that is validated; it is refused beyond."""
INSTANCE_CONTAINERS: Final = 2_000_000
"""Objects and lists of a value that is validated; it is refused beyond."""
NOTED_VALUE: Final = 60
"""Characters of a value that a note shows."""
SHOWN_ORIGIN: Final = 60
"""Characters of what was written that a contradiction shows."""
SPLIT_AT_ONCE: Final = 1000
"""Objects and lists; what holds more, or itself, is divided with care."""

# texts and files

LOCK_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a lock file."""
SHOWN_REFERENCE: Final = 100
"""Characters of a reference that a refusal shows."""
REFERENCE_LENGTH: Final = 4096
"""Characters of an address."""
SETTINGS_BYTES: Final = 1024 * 1024
"""Of a `pyproject.toml`."""
COMPONENT_HOPS: Final = 50
"""References to references that are followed in an OpenAPI document."""
FUNCTION_LEVELS: Final = 100
"""Levels of a list of functions."""
GIVEN_LEVELS: Final = 4000
"""How deep what is given may nest."""
TOOL_NAME: Final = 100
"""Characters of a name; file systems allow 255 bytes, version and ending included."""
TOOL_NAME_BYTES: Final = 200
"""Bytes of it."""
YAML_VALUES: Final = 100_000
"""Values of a YAML text with its aliases written out; ten times what is written may always be."""

# tools, payloads and answers

CARRIED_LEVELS: Final = 150
"""Levels of a value for which codecs are looked up."""
CODECS_FOLLOWED: Final = 50
"""References to references that are followed."""
JUDGED_REFERENCES: Final = 10
"""References to references that are followed."""
MEASURED_STEPS: Final = 20_000
"""Schemas that are looked at to measure one."""
TOLD_LOSSES: Final = 400
"""Schema objects whose constraints are told one by one when all of a schema is lost."""
LOSSES_LOOKED_FOR: Final = 20_000
"""Schema objects that are looked at for all losses of one lowering; after that a schema that is lost is told as a whole."""
PAYLOAD_LEVELS: Final = 60
"""Objects and arrays inside one another, for targets that name no limit of their own."""
REBUILT_LEVELS: Final = 90
"""Schemas inside one another, combinators included: far below what Python's own stack bears."""
UNROLL: Final = 3
"""How often a recursive reference is written out where a target keeps none, unless the caller says it."""
ACTIVE_REFERENCES: Final = 40
"""References inside one another that are written out; what they hold below that is JSON text."""
LOSS_SOURCES: Final = 200
"""Schemas that are looked through for the one that a lost keyword was written in; beyond them it is told of the root."""
SHARED_PART_OF_MAP: Final = 120
"""Characters of JSON from which on a part of a map that stands in several places gets a name."""
SMALL_CODEC: Final = 5000
"""Characters of JSON up to which a codec is looked through for what it repeats before anything of it is shared."""
SAMPLE_OPTIONAL_LEVELS: Final = 4
"""Levels of a sample that have optional properties and items; below them it has only what it must."""
UNROLLED_SCHEMAS: Final = 1000
"""Schema objects that are rebuilt below recursive references before unrolling stops early."""
COPIED_SCHEMAS: Final = 30
"""Schema objects of definitions that are written out in unions before the copies become definitions themselves."""
PAYLOAD_DEFINITIONS: Final = 500
"""Definitions of a payload; what else is recursive is written as JSON text."""
DESCRIBED_VALUE: Final = 400
"""Characters of a value that a description repeats; the whole of it is in the loss report."""
DESCRIBED_SCHEMA: Final = 600
"""Characters of a schema that the description of its JSON text repeats."""
COMPARED_PAIRS: Final = 1500
"""Pairs of alternatives that are compared; the ones beyond are taken for alike."""
TUPLE_PLACES: Final = 200
"""Places of a tuple beyond which it is an array of the union of them."""
UNION_VARIANTS: Final = 300
"""Alternatives that a union may be multiplied out to."""
COMPARED_VARIANTS: Final = 60
"""Branches of `oneOf` that are compared with each other."""
SAMPLE_LEVELS: Final = 120
"""Levels of a sample."""
SAMPLE_VALUES: Final = 5000
"""Values of one sample: of a schema that asks for itself in its own place there is no whole one."""
VERIFIED_ORDERS: Final = 40
"""Reordered answers that an engine is shown."""
VERIFIED_PATTERN: Final = 200_000
"""Characters of a regular expression that is still matched."""
REPAIRED_PLACES: Final = 60
"""Places that are tried one by one."""
UNPACKED_TEXTS: Final = 20
"""Texts that are tried to be read as what they hold."""
TOLD_DIFFERENCES: Final = 1000
"""Differences of a repaired answer that are told."""
TEXTS_IN_TEXTS: Final = 3
"""How often a text may hold a text that holds JSON."""
SEARCHED_TEXT: Final = 100_000
"""Characters in which objects and calls without marks are searched for."""
SEARCHED_STARTS: Final = 100
"""Places of a text from which on JSON is tried to be read."""
PLAIN_LEVELS: Final = 60
"""Levels below which no object of a library is looked for."""
STREAMED_PIECES: Final = 1_000_000
"""Pieces that are read of a stream."""
COUNTED_VIOLATIONS: Final = 300
"""Violations of one value that are weighed."""

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
LISTED_VALUES: Final = 8
"""Values that a hint lists."""
NOTED_PROBLEMS: Final = 5
"""Problems that stand in the notes of an exception."""
SHOWN_LINES: Final = 3
"""Lines of a long span that are shown; the rest is an ellipsis."""
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

DEPENDENT_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file that is searched for references."""
CASE_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file of cases."""
TESTED_COMMANDS: Final = 10_000
"""Commands of one case."""
COMPLETION_DISTANCE: Final = 5_000
"""Characters before a place that are looked at."""
HOVERED_SCHEMA: Final = 4_000
"""Characters of a schema that are shown."""
NAME_STEPS: Final = 40
"""Steps from a name to its schema: names of names, members of members."""

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
