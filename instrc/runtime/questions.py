"""What a run waits for: a person, or a system that answers later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from instrc import problems
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.runtime.interpreter.commands import Command, UserCommand
from instrc.runtime.interpreter.names import bare_name, is_numbered

RunStatus: TypeAlias = Literal["running", "waiting", "done", "failed", "stopped", "cancelled"]
Asker: TypeAlias = Literal["person", "system"]
People: TypeAlias = Callable[[UserCommand], Json]
"""Answers a question, at once or as a coroutine; `None` leaves it open."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a run waits for: the answer of a person, or the result of an activity that is given later."""

    id: str
    """Distinct in the run; that of a run below it is `RUN/…`."""
    steps: tuple[str, ...]
    """The keys of the steps whose results the answer gives."""
    show: Json
    """What the person is shown, or what the activity was given."""
    schema: Json
    """The JSON Schema that the answer has to satisfy."""
    by: Asker = "person"


def question_of(command: Command) -> Question:
    """Return an open command as what is asked."""
    if command["kind"] == "user":
        return Question(command["id"], tuple(command["steps"]), command["show"], command["schema"])
    assert command["kind"] == "activity"
    return Question(command["id"], (command["step"],), command["input"], command["schema"], "system")


def question_command(question: Question) -> UserCommand:
    """Return a question as the command by which a person is asked."""
    chunk = question.id.rpartition("/")[2].rpartition(".")[2]
    return {
        "kind": "user",
        "id": question.id,
        "chunk": chunk,
        "steps": list(question.steps),
        "show": question.show,
        "schema": question.schema,
    }


def chosen(questions: list[Question], step: str, run: str) -> Question:
    """Return the question of a name: its id, a step, the bare name of a step, or its chunk."""
    ways = (
        lambda question: question.id == step,
        lambda question: step in question.steps,
        lambda question: not is_numbered(step) and bare_name(step) in map(bare_name, question.steps),
        lambda question: question.id.rpartition(".")[2] == step,
    )
    for way in ways:
        found = [question for question in questions if way(question)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    open_ = tuple(
        question.steps[0] if len(question.steps) == 1 and len(questions) == 1 else question.id for question in questions
    )
    raise CompileError([problems.runs.NoSuchQuestion(run=run, step=step, open=open_)])
