"""Fold the schema of a tool, where there is anything to fold."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.jsonvalue import Json, mapping
from instrc.limits.payloads import LOWERED_SCHEMAS, NAMES_AND_PATTERNS
from instrc.lowering.survey import Survey, survey
from instrc.problems.problem import CompileError
from instrc.problems.size import TooLarge
from instrc.schema.index import FOLDED
from instrc.schema.walk import subschemas


def flat_survey(seen: Survey, documents: Mapping[str, Json] | None, *, sharing: bool) -> Survey:
    """Return a schema without what flattening folds, and what is seen in it; the same where nothing is to be folded."""
    if documents is None and seen.modern and seen.words.isdisjoint(FOLDED):
        found = seen
    else:
        flat = _flattened(seen.schema, documents, sharing=sharing)
        found = seen if flat is seen.schema else survey(flat)
    if "patternProperties" in found.words:
        _refuse_too_many_matches(found.schema)
    return found


def _refuse_too_many_matches(schema: Json) -> None:
    """Raise a `CompileError` for objects that list very many names beside very many patterns: each is held against each."""
    matches = 0
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(child for _, child in subschemas(node))
            matches += len(mapping(node.get("properties"))) * len(mapping(node.get("patternProperties")))
    if matches > NAMES_AND_PATTERNS:
        what, unit = "the schema", "pairs of a property and a pattern beside it"
        raise CompileError([TooLarge(what=what, size=matches, limit=NAMES_AND_PATTERNS, unit=unit)])


def _flattened(schema: Json, documents: Mapping[str, Json] | None, *, sharing: bool) -> Json:
    """Return the flat schema, written out: a target shares in its own way; one that would be too large shares its parts."""
    from instrc.flattening.flatten import flatten

    try:
        whole: Json = flatten(schema, documents, share=False, limit=LOWERED_SCHEMAS)
    except CompileError as error:
        if not sharing or not any(isinstance(problem, TooLarge) for problem in error.problems):
            raise
        whole = flatten(schema, documents, limit=LOWERED_SCHEMAS)
    return whole
