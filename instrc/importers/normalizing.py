"""Normalise the schemas of tools for vibes, and tell in problems what is read otherwise than it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from instrc.importers.given import Given
from instrc.jsonvalue import Json, Location
from instrc.schema.normalize import Rules, normalize
from instrc.schema.notes import Note
from instrc.schema.soundness import drop_invalid_keywords

_OF_THE_ENGINE = "a vibe keeps this word for the engine"
_UNWANTED: dict[str, str] = {
    **dict.fromkeys(("references", "arguments", "activity", "when", "each"), _OF_THE_ENGINE),
    "xml": "answers are JSON",
    "$vocabulary": "it belongs to a meta-schema",
}
"""Keywords that have no place in a vibe, and why."""
DISCRIMINATOR = "JSON Schema tells alternatives apart by their properties"


def normalized(schema: Json, path: Location, given: Given, rules: Rules) -> Json:
    """Return a normalised copy of a schema that stands at `path` of what was given."""
    found = normalize(schema, replace(rules, unwanted=_UNWANTED), path)
    report_notes(found.notes, given, plain_words=rules.plain_words)
    return found.schema


def sound(schema: Json, path: Location, given: Given, rules: Rules) -> Json:
    """Return a normalised copy of a schema, without what the meta-schema refuses."""
    found = drop_invalid_keywords(normalized(schema, path, given, rules), path)
    report_notes(found.notes, given)
    return found.schema


def report_notes(notes: Iterable[Note], given: Given, *, plain_words: bool = False) -> None:
    """Make problems of notes; what a dialect defines, and words of a kind's own, need none."""
    for note in notes:
        if note.kind == "left-out":
            given.left_out(note.path, note.what, note.reason)
        elif note.kind == "repair" or (note.kind == "word" and not plain_words):
            given.read_as(note.path, note.what, note.reason)
