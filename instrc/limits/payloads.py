"""Limits of payloads and answers: lowering, codecs, lifting."""

from __future__ import annotations

from typing import Final

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
