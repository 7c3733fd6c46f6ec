"""What came of a command, read once: an engine, a worker or a person may have sent anything."""

from __future__ import annotations

from typing import NamedTuple

from instrc.jsonvalue import Json, JsonObject
from instrc.runtime.interpreter.commands import KINDS, Complaint, FailureKind, Result
from instrc.runtime.interpreter.documents import Fault

_TOKENS = ("input_tokens", "output_tokens")


class Came(NamedTuple):
    """A value, or an error."""

    value: Json
    error: Fault | None
    complaints: tuple[Complaint, ...]
    """Of a model's answer that the engine itself did not accept."""
    tokens: int


def came_of(result: Result) -> Came:
    """Return what a result says; one that is neither a value nor an error is an error."""
    given: Result = result if isinstance(result, dict) else {}
    usage = given.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    tokens = sum(count for name in _TOKENS if isinstance(count := counts.get(name), int)) if counts else 0
    error = given.get("error")
    complaints = given.get("complaints")
    said = tuple(complaints) if isinstance(complaints, list) else ()
    if error is None and "ok" in given:
        return Came(given["ok"], None, said, tokens)
    words = error if isinstance(error, dict) else {}
    code, message = words.get("code"), words.get("message")
    fault: Fault = {
        "kind": kind_of_failure(words),
        "code": code if isinstance(code, str) else None,
        "message": message if isinstance(message, str) else "it gave neither a value nor an error",
    }
    return Came(None, fault, said, tokens)


def kind_of_failure(said: JsonObject) -> FailureKind:
    """Return the kind that an error says, `failed` if there is no such kind."""
    kind = said.get("kind")
    return KINDS.get(kind, "failed") if isinstance(kind, str) else "failed"
