"""What every engine does with generated processes: what the interpreter does alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from generated_processes import answer_to, processes
from hypothesis import HealthCheck, Phase, given, settings

from instrc import ActivityError, Request, current_call
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsonvalue import Json

INPUTS = {"prompt": "go"}
NAMES = ("A", "B", "Risky")
FEW = settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
MANY = settings(FEW, max_examples=60)


def alone(document: Any) -> tuple[Any, Any]:
    """Return the outcome and the record of a process without any engine."""
    plan: Any = plan_of(document, activities=NAMES)
    state = versions.begin(plan, dict(INPUTS))
    waiting: list[Any] = []
    while True:
        waiting += versions.issue(plan, state)
        if (outcome := versions.outcome(plan, state)) is not None:
            return outcome, versions.record(plan, state)
        command = waiting.pop(0)
        gone = set(versions.apply(plan, state, command["id"], answer_to(command)))
        waiting = [each for each in waiting if each["id"] not in gone]


def model(request: Request) -> Json:
    answer: Json = answer_to(request.command)["ok"]
    return answer


def handler(name: str) -> Any:
    def work(_given: Any) -> Any:
        answer = answer_to({"kind": "activity", "activity": name, "id": current_call().key.split("/", 1)[1]})
        if "error" in answer:
            raise ActivityError(answer["error"]["message"], code=answer["error"]["code"], retry=False)
        return answer["ok"]

    return work


def hold(stage: Any, document: Any, run: str) -> None:
    stage.model = model
    stage.handlers = {name: handler(name) for name in NAMES}
    report = asyncio.run(asyncio.wait_for(stage.start(document, dict(INPUTS), run), 120))
    assert (report.outcome, report.record) == alone(document)


@pytest.mark.parametrize("amount", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_generated_process_ends_as_the_interpreter_says(stage: Any, amount: settings) -> None:
    documents: list[Any] = []

    @amount
    @given(processes())
    def draw(document: Any) -> None:
        documents.append(document)

    draw()  # before there is an engine: hypothesis wants nobody to use `random` meanwhile, and threads of engines do
    for number, document in enumerate(documents):
        hold(stage, document, f"g{number}")
