"""Answers to the questions of a run: find the question, check the answer, record it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from instrc import problems
from instrc.problems.errors import AnswerError, ConflictError, GoneError, InstrcError, NotFoundError, StaleError, UnavailableError
from instrc.runtime.activities import complaints
from instrc.runtime.boundary import NotJsonError, received
from instrc.runtime.interpreter import documents
from instrc.runtime.interpreter.documents import bare_instruction
from instrc.runtime.journal import Again
from instrc.runtime.questions import LIMIT, Question, read_shown_id
from instrc.runtime.run_report import RunReport, step_values
from instrc.runtime.secrets import redacted
from instrc.runtime.traces import EventFacts
from instrc.text import arguments
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_object


def find_question(questions: list[Question], step: str, run: str, report: RunReport | None = None) -> Question:
    """Return a question by its id, a step, the bare name of a step, or its chunk; with a tag after it, as in its `shown_id`.

    If there is none, the error explains what the run's report shows of it; one with another tag raises `StaleError`.
    """
    step, tag = read_shown_id(arguments.as_plain(arguments.text("step", step)))
    ways = (
        lambda question: question.id == step,
        lambda question: step in question.steps,
        lambda question: not documents.is_numbered(step) and bare_instruction(step) in map(bare_instruction, question.steps),
        lambda question: question.id.rpartition(".")[2] == step,
    )
    for way in ways:
        result = [question for question in questions if way(question)]
        if len(result) == 1 and tag in {"", result[0].tag}:
            return result[0]
        if len(result) == 1:
            raise StaleError([problems.serving.QuestionNotFree(question=result[0].id, state="shown anew")])
        if result:
            break
    open_ = tuple(
        question.steps[0] if len(question.steps) == 1 and len(questions) == 1 else question.id for question in questions
    )
    closed = "not asked" if report is None else _end_of_question(report, step)
    raise question_closed(run, step, open_, closed)


def question_closed(run: str, step: str, open_: tuple[str, ...], closed: problems.runs.QuestionEnd) -> InstrcError:
    """Return the error for a closed question, with the reason."""
    error = {"not asked": NotFoundError, "overdue": GoneError, "unknown": UnavailableError}.get(closed, ConflictError)
    return error([problems.runs.NoSuchQuestion(run=run, step=step, open=open_, closed=closed)])


def _end_of_question(report: RunReport, step: str) -> problems.runs.QuestionEnd:
    """Return why a question is closed."""
    name = step.rpartition(".")[2]
    brought = step_values(report.record, report.config.step)
    if name in brought or (not documents.is_numbered(name) and bare_instruction(name) in map(bare_instruction, brought)):
        return "answered"
    error = report.outcome["error"] if report.outcome is not None and report.outcome["status"] == "failed" else None
    if error is not None and error["kind"] == "timeout":
        return "overdue"
    if report.status == "cancelled":
        return "cancelled"
    return "unknown" if report.unknown else "not asked" if report.outcome is None else "ended"


def require_acceptable(wrong: Sequence[documents.Complaint] | None, step: str) -> None:
    """Raise for an answer with errors, or, if they are `None`, for a closed question."""
    if wrong is None or wrong:
        at = wrong[0]["pointer"] if wrong else ""
        reason = wrong[0]["message"] if wrong else "it is not asked any more"
        raise AnswerError([problems.runs.RejectedAnswer(step=step, pointer=at, reason=reason)])


def operator_faults(question: Question, data: Json) -> list[documents.Complaint]:
    """Return the errors of the operator's answer: of its decision, or that it has none."""
    ways = [as_object(way) for way in as_array(as_object(question.schema)["anyOf"])]
    members = [as_object(way["properties"]) for way in ways]
    if isinstance(data, dict):
        ways = [way for way, known in zip(ways, members, strict=True) if data.keys() & known.keys()]
    if len(ways) == 1:
        return complaints(data, ways[0])
    known = ", ".join(f"`{name}`" for item in members for name in item)
    return [{"pointer": "", "message": f"it is an object with one of the members {known}"}]


def decision(question: str, data: JsonObject) -> Again | None:
    """Return the operator's decision for a held run as a retry, or `None` for a given result or an accepted error."""
    if question == LIMIT:
        return {"limits": None if "fail" in data else cast("documents.SpendingLimits", data)}
    return {"drop": [question]} if "retry" in data else None


def answer_result(data: Json, by: documents.Author | None) -> documents.Result:
    """Return an answer in its recorded form, with its author."""
    return {"ok": data} if by is None else {"ok": data, "by": by}


def answer_facts(data: Json, by: documents.Author | None, steps: Sequence[str] | None = None) -> EventFacts:
    """Return the facts of an answer and its author for an event."""
    said: EventFacts = {"answer": data}
    if steps is not None:
        said["steps"] = [*steps]
    if by is not None:
        said["by"] = by
    return said


def copy_answer(step: str, data: object) -> Json:
    """Return a copy of an answer without secrets; raise `AnswerError` if it is not JSON."""
    try:
        return redacted(received(data))
    except NotJsonError as error:
        problem = problems.runs.RejectedAnswer(step=step, pointer=error.pointer, reason=error.reason)
        raise AnswerError([problem]) from None
