"""Fold the schema of a tool, where there is anything to fold."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.jsonvalue import Json
from instrc.limits.payloads import LOWERED_SCHEMAS
from instrc.lowering.survey import Survey, survey
from instrc.problems.problem import CompileError
from instrc.problems.size import TooLarge
from instrc.schema.index import FOLDED


def flat_survey(seen: Survey, documents: Mapping[str, Json] | None, *, sharing: bool) -> Survey:
    """Return a schema without what flattening folds, and what is seen in it; the same where nothing is to be folded."""
    if documents is None and seen.modern and seen.words.isdisjoint(FOLDED):
        return seen
    flat = _flattened(seen.schema, documents, sharing=sharing)
    return seen if flat is seen.schema else survey(flat)


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
