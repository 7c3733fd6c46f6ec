"""What the meta-schema refuses in a normalised schema is taken out: what is left is sound."""

from __future__ import annotations

from typing import Final

from instrc.schema.normalize import Normalized, Note
from instrc.schema.wellformed import problems_of
from instrc.text.jsonvalue import Json, Location, tokens
from instrc.text.limits import META_ERRORS

REPAIR_ROUNDS: Final = 50
"""Each takes out what is refused; one that is left may be refused then, as it needs another."""


def drop_invalid_keywords(schema: Json, path: Location = ()) -> Normalized:
    """Return a schema without the keywords that are refused; it is fresh from `normalize`, and is changed in place."""
    notes: list[Note] = []
    for _ in range(REPAIR_ROUNDS):
        wrong = problems_of(schema, most=META_ERRORS)
        if not wrong:
            return Normalized(schema, tuple(notes))
        for problem in wrong:
            steps = tokens(problem.pointer)
            keyword = _remove(schema, steps)
            if keyword is not None:
                notes.append(Note((*path, *steps), keyword, "left-out", problem.reason))
    notes.append(Note(path, "this schema", "left-out", "too much in it is wrong"))
    return Normalized({}, tuple(notes))


def _remove(schema: Json, steps: list[str]) -> str | None:
    """Delete the innermost member of an object on a path; return its key, `None` if it is gone already."""
    holder, key, node = None, "", schema
    for step in steps:
        if node.__class__ is dict and step in node:
            holder, key, node = node, step, node[step]
        elif node.__class__ is list and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    if holder is None:
        return None
    del holder[key]
    return key
