"""Open questions of a run: to people, to systems and to its operator."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from instrc.runtime.interpreter import documents, versions
from instrc.text.jsontext import digest_of
from instrc.text.jsonvalue import Json, JsonObject


class Question(Struct, frozen=True, dict=True):
    """A pending answer of a person, or later result of an activity."""

    id: str
    """Id, unique in the run; `RUN/…` for a question of a child run."""
    steps: tuple[str, ...]
    """Keys of the steps that the answer completes."""
    show: Json
    """Value shown to the person, or the input of the activity."""
    schema: Json
    """JSON Schema that the answer must satisfy."""
    by: Asker = "person"

    @cached_property
    def tag(self) -> str:
        """A short text that changes with what is shown and asked."""
        return digest_of([self.show, self.schema])[:24]

    @property
    def shown_id(self) -> str:
        """Its id with its tag: the answer of a client that sends it back is refused if the question has changed."""
        return f"{self.id}@{self.tag}"

    def below(self, run: str) -> Question:
        """Return the question as one of the parent run, of which `run` is a child."""
        return structs.replace(self, id=f"{run}/{self.id}")


_SHOWN: Final = re.compile(r"(.+)@([0-9a-f]{24})")


def read_shown_id(said: str) -> tuple[str, str]:
    """Return the id or step of a question, in which rounds and elements have an `@` too, and the tag after it, or ""."""
    found = _SHOWN.fullmatch(said)
    return (said, "") if found is None else (found[1], found[2])


Asker: TypeAlias = Literal["person", "system", "operator"]


def question_of(command: documents.Command) -> Question:
    """Return an open command as a question."""
    if command["kind"] == "user":
        return Question(command["id"], tuple(command["steps"]), command["show"], command["schema"])
    assert command["kind"] == "activity"
    return Question(command["id"], (command["step"],), command["input"], command["schema"], "system")


LIMIT: Final = "limit"
"""Id of the question to the operator of a run held by a limit."""


def _way(name: str, schema: Json) -> JsonObject:
    """Return the schema of an operator's decision: an object with one member."""
    return {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}


_FAIL: Final = _way("fail", {"const": True})
_RETRY: Final = _way("retry", {"const": True})


def open_questions(
    plan: documents.PinnedPlan,
    state: documents.State,
    later: Collection[str],
    held: Mapping[str, Json],
    among: Collection[str] | None = None,
) -> list[Question]:
    """Return the open questions of a run: to people, to systems that answer later, and to its operator.

    With `among`, return only those of some commands, and that to the operator of a run held by a limit.
    """
    only = (plan["options"]["step"],) if "step" in plan["options"] else ()
    result = [
        _held_question(command, held[command["id"]], only) if command["id"] in held else question_of(command)
        for command in versions.pending(plan, state, among)
        if command["kind"] == "user" or command["id"] in later or command["id"] in held
    ]
    if (stalled := versions.stalled(plan, state)) is not None:
        steps, message = stalled
        amount: JsonObject = {"type": "integer", "minimum": 1}
        raised: JsonObject = {
            "type": "object",
            "properties": {"requests": amount, "tokens": amount},
            "minProperties": 1,
            "additionalProperties": False,
        }
        result.append(
            Question(LIMIT, only or tuple(steps), {"error": {"message": message}}, {"anyOf": [raised, _FAIL]}, "operator")
        )
    return result


def _held_question(command: documents.Command, error: Json, only: tuple[str, ...]) -> Question:
    """Return the question to the operator about a command that holds a run: retry it, provide its result, or let it fail."""
    assert command["kind"] == "model" or command["kind"] == "activity"
    steps = (only or tuple(command["steps"])) if command["kind"] == "model" else (command["step"],)
    schema = command["schema"]
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if command["kind"] == "activity" and isinstance(properties, dict) and properties.keys() == {"output"}:
        schema = {"anyOf": [schema, properties["output"]]}  # as its handler returns it: the value, or an object that contains it
    show: JsonObject = {"error": error}
    if command["kind"] == "activity":
        show |= {"activity": command["activity"], "input": command["input"]}
    return Question(command["id"], steps, show, {"anyOf": [_RETRY, _way("result", schema), _FAIL]}, "operator")
