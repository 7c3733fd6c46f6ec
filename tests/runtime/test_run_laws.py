"""What holds of every run, whatever the process and in whatever order its commands are answered."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from generated_processes import answer_to, processes
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from written_processes import TEXT, call, chunk, process, step

from instrc.process.process import Process
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import dumps, loads

INPUTS = {"prompt": "go"}


class Journal:
    """A run that was played to its end: what was answered, in order, and the state before each answer."""

    def __init__(self, document: Any, choose: Any) -> None:
        self.plan = plan_of(document)
        state = versions.begin(self.plan, INPUTS)
        self.answers: list[tuple[str, Any]] = []
        self.states: list[str] = []
        self.ids: list[str] = []
        waiting: list[Any] = []
        while True:
            new = versions.issue(self.plan, state)
            self.ids += [command["id"] for command in new]
            waiting += new
            self.states.append(dumps(state, indent=False))
            if versions.outcome(self.plan, state) is not None:
                break
            assert waiting, "nothing is open, and the run has not ended"
            command = waiting.pop(choose(len(waiting)))
            answer = answer_to(command)
            self.answers.append((command["id"], answer))
            gone = set(versions.apply(self.plan, state, command["id"], answer))
            waiting = [each for each in waiting if each["id"] not in gone]
        self.state = state
        self.outcome = versions.outcome(self.plan, state)


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(processes(), st.data())
def test_any_order_of_answers_gives_the_same_outcome_and_record(document: Any, data: st.DataObject) -> None:
    first = Journal(document, lambda _count: 0)
    last = Journal(document, lambda count: count - 1)
    other = Journal(document, lambda count: data.draw(st.integers(0, count - 1)))
    assert first.outcome["status"] == "done", first.outcome
    for journal in (last, other):
        assert canonical(journal.outcome) == canonical(first.outcome)
        assert canonical(versions.record(journal.plan, journal.state)) == canonical(versions.record(first.plan, first.state))
    Draft202012Validator(document).validate(versions.record(first.plan, first.state))


@given(processes(), st.data())
def test_any_prefix_of_a_journal_replays_to_the_same_state(document: Any, data: st.DataObject) -> None:
    journal = Journal(document, lambda count: data.draw(st.integers(0, count - 1)))
    length = data.draw(st.integers(0, len(journal.answers)))
    state = versions.begin(journal.plan, INPUTS)
    versions.issue(journal.plan, state)
    for command, answer in journal.answers[:length]:
        versions.apply(journal.plan, state, command, answer)
        versions.issue(journal.plan, state)
    assert dumps(state, indent=False) == journal.states[length]


@given(processes(), st.data())
def test_the_state_survives_json_at_any_moment_and_a_second_delivery_changes_nothing(document: Any, data: st.DataObject) -> None:
    journal = Journal(document, lambda _count: 0)
    cut = data.draw(st.integers(0, len(journal.answers)))
    state = loads(journal.states[cut])
    before = [command["id"] for command in versions.pending(journal.plan, state)]
    for command, answer in journal.answers[:cut]:
        assert versions.apply(journal.plan, state, command, answer) == []
    assert dumps(state, indent=False) == journal.states[cut]
    assert [command["id"] for command in versions.pending(journal.plan, state)] == before
    for command, answer in journal.answers[cut:]:
        versions.apply(journal.plan, state, command, answer)
        versions.issue(journal.plan, state)
    assert canonical(versions.outcome(journal.plan, state)) == canonical(journal.outcome)


@given(processes())
def test_every_command_has_an_id_of_its_own_and_the_process_is_read_without_a_loss(document: Any) -> None:
    journal = Journal(document, lambda _count: 0)
    assert len(set(journal.ids)) == len(journal.ids)
    assert Process.from_json(document).to_json() == document
    assert journal.plan["digest"] == plan_of(loads(dumps(document)))["digest"]


def test_ten_thousand_steps_are_linear() -> None:
    """Counted in calls of the interpreter's own functions, not in time: doubling the steps doubles the work."""

    def work(count: int) -> int:
        contexts = {
            f"llmContext{number}": chunk(**{f"step{number}_a": step(TEXT, f"step{number - 1}_a" if number > 1 else "prompt")})
            for number in range(1, count + 1)
        }
        return calls_of(process(**contexts), lambda command: {command["steps"][0]: {"text": "x"}})

    small, large = work(200), work(400)
    assert large < 2.2 * small


@pytest.mark.parametrize("after", ["", "before"], ids=["wide", "chain"])
def test_work_grows_with_the_number_of_tasks_of_a_plan_and_not_with_its_square(after: str) -> None:
    tools = {"Search": {"activity": "Search", "arguments": {}, "output": {}}}
    asked = step({"type": "object", "properties": {"plan": {"type": "array", "plan": {"tools": tools}}}}, "prompt")
    carried = call("RunPlan_Activity", "step1_act.plan", {"type": "array"}, plan={"tools": tools})
    document = process(llmContext1=chunk(step1_act=asked), serverContext1=chunk(step2_run=carried))

    def work(count: int) -> int:
        tasks = [
            {"tool": "Search", "id": f"s{number}", "arguments": {}, "after": [f"s{number - 1}"] if after and number else []}
            for number in range(count)
        ]
        return calls_of(document, lambda command: {"step1_act": {"plan": tasks}} if command["kind"] == "model" else {})

    work(2)
    assert work(400) < 2.2 * work(200)


def calls_of(document: Any, answer: Callable[[Any], Any]) -> int:
    """Carry a process out, and return how many functions were called."""
    plan = plan_of(document)
    state = versions.begin(plan, INPUTS)
    calls = 0

    def count_calls(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count_calls)
    try:
        while versions.outcome(plan, state) is None:
            for command in versions.issue(plan, state):
                versions.apply(plan, state, command["id"], {"ok": answer(command)})
    finally:
        sys.setprofile(None)
    return calls
