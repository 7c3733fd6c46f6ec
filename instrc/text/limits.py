"""How far everything goes: each limit with what happens beyond it."""

from __future__ import annotations

from typing import Final

# Limits of what comes in: files, references, and tools that others wrote.


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
GIVEN_PARTS: Final = 5_000_000
"""Values of what is given; more is refused, as is what holds itself."""
GIVEN_LEVELS: Final = 4000
"""How deep what is given may nest."""
TOOL_NAME: Final = 100
"""Characters of a name; file systems allow 255 bytes, version and ending included."""
TOOL_NAME_BYTES: Final = 200
"""Bytes of it."""
YAML_VALUES: Final = 100_000
"""Values of a YAML text with its aliases written out; ten times what is written may always be."""

DEPENDENT_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file that is searched for references."""
CASE_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a file of cases."""

# files, and what a project sets

IMPORT_ATTEMPTS: Final = 20
"""Attempts to make an imported vibe pass the check."""
SOURCE_FILES: Final = 1000
"""Files that one source of tools may be spread over."""
VIBE_BYTES: Final = 1024 * 1024
"""Bytes of a vibe, unless a setting says otherwise."""
PROGRAM_BYTES: Final = 1 << 20
"""Bytes of a program, unless a setting says otherwise."""
HIGHEST_LIMIT: Final = 2_000_000_000
"""The largest limit that a project may set: a file of that size is read into memory."""
UNOPENED_BYTES: Final = 1024 * 1024
"""Bytes of a file that an editor has not opened."""
SEEN_BYTES: Final = 1 << 20
"""Bytes of a file that are looked at to tell what kind of source it is."""
LISTED_FILES: Final = 2_000
"""Files and folders near a program among which a vibe is looked for that was saved under a wrong name."""
LISTED_LEVELS: Final = 3
"""Levels of folders that are looked through for it."""


# Limits of payloads and answers: lowering, codecs, lifting.


# lowering

LOWERED_SCHEMAS: Final = 100_000
"""Schemas of a flat schema that is lowered: one that would have more shares its parts under `$defs`, or else `too-large`."""
NAMES_AND_PATTERNS: Final = 100_000
"""Pairs of a listed property and a pattern beside it, of a schema that is lowered: beyond it `too-large`; it takes a second."""
LOWERED_LEVELS: Final = 2000
"""Levels of a payload that is verified: beyond it `too-large`.  No target takes a tenth of that."""

# tools, payloads and answers

RENAMED_LEVELS: Final = 150
"""Levels of a value whose keys are renamed."""
CODEC_LEVELS: Final = 200
"""Levels of a value that codecs go into; what is deeper stays as it is."""
CODECS_FOLLOWED: Final = 50
"""References to references that are followed."""
JUDGED_REFERENCES: Final = 10
"""References to references that are followed."""
MEASURED_ROUNDS: Final = 3
"""How often a reference inside itself is counted to measure a schema."""
MEASURED_STEPS: Final = 20_000
"""Schemas that are looked at to measure one."""
TOLD_LOSSES: Final = 400
"""Schema objects whose constraints are told one by one when all of a schema is lost."""
LOSSES_LOOKED_FOR: Final = 20_000
"""Schema objects that are looked at for all losses of one lowering; after that a schema that is lost is told as a whole."""
USUAL_POINTER: Final = 500
"""Characters of a JSON Pointer: a longer one counts as several losses, as those of a deep schema grow with the square of it."""
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
BRANCH_COPIES: Final = 5_000
"""Schema objects that are rebuilt for one branch of a union after another; what else stands there is written as JSON text."""
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
MULTIPLIED_BRANCHES: Final = 1000
"""Branches that a union may be multiplied to by those beside it; beyond them some of those are told as lost."""
COMPARED_VARIANTS: Final = 60
"""Branches of `oneOf` that are compared with each other."""
SAMPLE_LEVELS: Final = 120
"""Levels of a sample."""
SAMPLE_VALUES: Final = 5000
"""Values of one sample: of a schema that asks for itself in its own place there is no whole one."""
SAMPLE_TRIES: Final = 12
"""Values that are tried for one schema in a sample."""
SAMPLE_TEXTS: Final = 50
"""Different texts that a sample has where a pattern or a format rules."""
SAMPLE_CHARACTERS: Final = 20_000
"""Characters of one text in a sample; a schema that asks for more has no sample."""
VERIFIED_ORDERS: Final = 40
"""Reordered answers that an engine is shown."""
SPLIT_PATTERN: Final = 4000
"""Characters of a pattern whose repetitions are written as several; one that would become longer is told as lost."""
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

# messages of providers

RESULT_LEVELS: Final = 20
"""Levels of the message that brings a result to a model; those of providers have five."""
CALLED_NAME: Final = 300
"""Letters of the name in a call; no provider takes a name half as long."""
LOOSE_TEXT: Final = 1_000_000
"""Characters of a text in which slips of JSON are looked for."""


# Limits of programs: syntax, passes, checks, problems, editors.


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
PROGRAMS_LISTED_FILES: Final = 20
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


# Limits of plans, runs, rehearsals and previews.


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
PREVIEWED_COMMANDS: Final = 4_000
"""Commands of a preview after which it looks no further for calls of the model, if none of them was a new one."""

# plans of others, rehearsals, engines, activities and models

SAMPLED_PLANS: Final = 1_000_000
"""Plans that are sampled at once."""
SAMPLED_TASKS: Final = 1000
"""Tasks of a sampled plan."""
ORDERED_ARGUMENTS: Final = 6
"""Arguments of which all orders are tried."""
SHOWN_REPAIR: Final = 80
"""Letters of a repaired place that a problem shows, before and after."""
SHOWN_VERDICT: Final = 300
"""Letters of what a judge of a value says."""
PLAN_KEY: Final = 32
"""Letters of the key of a step in a plan."""
PLAYED_COMMANDS: Final = 2_000
"""Commands of one rehearsed run; rounds may be as many as a program says."""
TRIED_VALUES: Final = 10
"""Values that are tried in one place of a rehearsal."""
TRIED_ORDERS: Final = 30
"""Pairs of places that are tried one after the other."""
FRUITLESS_CHANGES: Final = 2
"""Choices that are changed one after the other although nothing new came of the first."""
KEPT_PLANS: Final = 256
"""Plans of runs that a worker of Temporal keeps at hand."""
HISTORY_VALUE_BYTES: Final = 128 * 1024
"""Bytes of a value in a history; Temporal refuses payloads of 2 MB, and histories of 50 MB."""
COMMANDS_IN_FLIGHT: Final = 500
"""Temporal allows 2,000 activities of a run at the same time, and is slow long before."""
HISTORY_EVENTS: Final = 20_000
"""Events of a history, if the server does not say when it is long; its limit is 51,200."""
REPORT_TRIES: Final = 5
"""Questions to a worker that has only just taken a run over, and was too slow."""
HTTP_BYTES: Final = 10 * 1024 * 1024
"""Bytes of the answer of an HTTP service; more is an error with the code `too-large`."""
SHOWN_HTTP: Final = 300
"""Letters of an answer that an error of an HTTP service shows."""
KEPT_PROGRAMS: Final = 64
"""Programs that the interpreter keeps ready."""
ANTHROPIC_TOKENS: Final = 8192
"""Tokens of an answer; Anthropic wants a limit in every request."""
KEPT_LOWERINGS: Final = 256
"""Lowered schemas that an adapter keeps; a run asks for the same few again and again."""
SHOWN_TURNS: Final = 40
"""Turns of a conversation that a model is shown."""
TOOLS_OF_A_TURN: Final = 8
"""Tools that a model may use before it has to say something."""
ASKED_AGAIN: Final = 2
"""How often a model is asked again for a turn that cannot be used."""
TRACE_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of a trace that is read; of a longer one the first events are shown."""
SANDBOX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one message of a sandbox."""
WORKER_PAUSE: Final = 30.0
"""Seconds that a worker waits at most before it asks again for a server that is not there."""


# Limits of the algebra of schemas: flattening, relations, witnesses, validation, comparison.
#
# A limit either ends in a problem (`too-large`, a note), or only in a less simple result: that is always right.


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
SCHEMAS_PLAIN_LEVELS: Final = 20
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
