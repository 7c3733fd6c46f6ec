"""Whoever answers names a question by its id, by a step, by the bare name of a step, or by its chunk."""

from __future__ import annotations

import pytest

from instrc import CompileError, Question
from instrc.problems.runs import NoSuchQuestion  # the class of one problem
from instrc.runtime.engine import chosen

ONE = Question("whenContext1.userContext1", ("step2_confirm", "step3_note"), {}, {})
OTHER = Question("userContext2", ("step5_approve",), {}, {})


@pytest.mark.parametrize("name", ["whenContext1.userContext1", "step2_confirm", "note", "userContext1"])
def test_a_question_is_found_by_each_of_its_names(name: str) -> None:
    assert chosen([OTHER, ONE], name, "run") is ONE


def test_a_name_that_two_questions_have_is_none() -> None:
    again = Question("eachContext1.userContext1", ("step2_confirm",), {}, {})
    for name in ("step2_confirm", "confirm", "nothing"):
        with pytest.raises(CompileError) as refused:
            chosen([ONE, again], name, "run")
        [problem] = refused.value.problems
        assert isinstance(problem, NoSuchQuestion)
        assert problem.open == (ONE.id, again.id)
