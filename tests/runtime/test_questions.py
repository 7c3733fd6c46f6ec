"""Whoever answers names a question by its id, by a step, by the bare name of a step, or by its chunk."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep

import pytest
from written_processes import chunk, process

import instrc
from instrc import Question
from instrc.engines.approvals import approval_of  # who may answer
from instrc.problems.errors import ConflictError, GoneError, NotFoundError
from instrc.problems.runs import NoSuchQuestion  # the class of one problem
from instrc.runtime.answers import find_question

ONE = Question("whenContext1.userContext1", ("step2_confirm", "step3_note"), {}, {})
OTHER = Question("userContext2", ("step5_approve",), {}, {})


@pytest.mark.parametrize("name", ["whenContext1.userContext1", "step2_confirm", "note", "userContext1"])
def test_a_question_is_found_by_each_of_its_names(name: str) -> None:
    assert find_question([OTHER, ONE], name, "run") is ONE


def test_a_name_that_two_questions_have_is_none() -> None:
    again = Question("eachContext1.userContext1", ("step2_confirm",), {}, {})
    for name in ("step2_confirm", "confirm", "nothing"):
        with pytest.raises(NotFoundError) as refused:
            find_question([ONE, again], name, "run")
        [problem] = refused.value.problems
        assert isinstance(problem, NoSuchQuestion)
        assert problem.open == (ONE.id, again.id)


TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SOON = 'Ask_User(prompt) @ { within: "PT0.1S" }'
BRANCH = 'const a = First_User(prompt); when a.text is "more" { Ask_User(a) }'


@pytest.mark.parametrize(
    ("program", "do", "closed"),
    [
        ("Ask_User(prompt)", lambda run: run.answer("ask", {"text": "t"}), "answered"),
        (
            'const a = Ask_User(prompt); when a.text is "t" { First_User(a) }',
            lambda run: run.answer("ask", {"text": "t"}),
            "answered",
        ),
        (SOON, lambda _: sleep(0.2), "overdue"),
        ("Ask_User(prompt)", lambda run: run.cancel(), "cancelled"),
        (BRANCH, lambda run: run.answer("first", {"text": "enough"}), "ended"),
        (BRANCH, lambda _: None, "not asked"),
    ],
)
def test_a_closed_question_says_what_has_become_of_it(program: str, do: Callable[[instrc.Run], object], closed: str) -> None:
    run = instrc.run(program, "x", vibes={"Ask_User": TEXT, "First_User": TEXT})
    do(run)
    error = {"not asked": NotFoundError, "overdue": GoneError}.get(closed, ConflictError)
    with pytest.raises(error) as refused:
        run.answer("ask", {"text": "t"})
    [problem] = refused.value.problems
    assert isinstance(problem, NoSuchQuestion)
    assert problem.closed == closed


@pytest.mark.parametrize("keys", [["step1_approve"], ["step1_approve", "step2_note"]])
def test_a_rule_behind_a_reference_beside_the_steps_is_in_its_question(keys: list[str]) -> None:
    asked = {**chunk(**dict.fromkeys(keys, TEXT)), "allOf": [{"$ref": "#/$defs/rule"}]}
    document = {**process(userContext1=asked), "$defs": {"rule": {"x-approvers": ["ann"]}}}
    [question] = instrc.run(document, "x").questions
    assert approval_of(question, ()).approvers == ("ann",)


@pytest.mark.parametrize("rule", ['"x-approvers": ["ann"]', '"anyOf": [{ "x-approvers": ["ann"] }]'])
@pytest.mark.parametrize("asked", ["Approve_User(Draft)", "Approve_User(Draft), Note_User(Draft)"])
def test_a_rule_after_a_context_is_in_its_question(asked: str, rule: str) -> None:
    """Without it, others could approve."""
    program = f"Process(LLM_Context(Draft), User_Context({asked}) @ {{ {rule} }})"
    vibes = {"Draft": TEXT, "Approve_User": TEXT, "Note_User": TEXT}
    run = instrc.run(program, "x", vibes=vibes, model=instrc.Scripted({"draft": {"text": "hi"}}))
    [question] = run.questions
    assert approval_of(question, ()).approvers == ("ann",)
