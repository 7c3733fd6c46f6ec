"""What every engine does with generated processes: what the interpreter does alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from generated_processes import answer_to, processes
from hypothesis import HealthCheck, Phase, given, settings

from instrc import ActivityError, ModelError, Request, current_call
from instrc.engines.launch import forked  # as a command does
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import ForkOptions
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
    return played(document)[:2]


def played(document: Any) -> tuple[Any, Any, list[str]]:
    """Return the outcome, the record and the commands of a process without any engine."""
    done: list[str] = []
    plan: Any = plan_of(document, activities=NAMES)
    state = versions.begin(plan, dict(INPUTS))
    waiting: list[Any] = []
    while True:
        waiting += versions.issue(plan, state)
        if (outcome := versions.outcome(plan, state)) is not None:
            return outcome, versions.record(plan, state), done
        command = waiting.pop(0)
        done.append(command["id"])
        gone = set(versions.apply(plan, state, command["id"], answer_to(command)))
        waiting = [each for each in waiting if each["id"] not in gone]


class Flaw:
    """Where a run fails, as long as it has a flaw."""

    at: str | None = None

    def require(self, key: str, error: type[ActivityError | ModelError]) -> None:
        if key.partition("/")[2] == self.at:
            message = "it has a flaw"
            raise error(message, code="flaw", retry=False)


FLAW = Flaw()


def model(request: Request) -> Json:
    FLAW.require(request.key, ModelError)
    answer: Json = answer_to(request.command)["ok"]
    return answer


def handler(name: str) -> Any:
    def work(_given: Any) -> Any:
        FLAW.require(current_call().key, ActivityError)
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


def drawn(amount: settings) -> list[Any]:
    """Return processes, before there is an engine: its threads use `random`, and hypothesis wants nobody to do that meanwhile."""
    documents: list[Any] = []

    @amount
    @given(processes())
    def draw(document: Any) -> None:
        documents.append(document)

    draw()
    return documents


@pytest.mark.parametrize("amount", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_generated_process_ends_as_the_interpreter_says(stage: Any, amount: settings) -> None:
    for number, document in enumerate(drawn(amount)):
        hold(stage, document, f"g{number}")


LAW = settings(FEW, max_examples=200)
SOME = settings(FEW, max_examples=8)
"""Where a step takes long: on a server."""
SLOW = (pytest.mark.slow, pytest.mark.timeout(7200))


@pytest.mark.parametrize(
    ("amount", "most"),
    [(settings(FEW, max_examples=2), 2), pytest.param(SOME, 1000, marks=SLOW), pytest.param(LAW, 1000, marks=SLOW)],
    ids=["few", "some", "law"],
)
def test_retry_and_fork_at_every_step_end_like_a_run_that_never_failed(stage: Any, amount: settings, most: int) -> None:
    """`pytest tests/engines/contract/test_generated_contract.py -m slow -k "law and memory"`: at every step of 200 processes."""
    stage.model = model
    stage.handlers = {name: handler(name) for name in NAMES}
    held = 0

    async def body(document: Any, run: str) -> None:
        nonlocal held
        outcome, record, commands = played(document)
        assert (await stage.start(document, dict(INPUTS), run)).outcome == outcome
        for number, name in enumerate(commands[:: max(len(commands) // most, 1)]):
            FLAW.at = name
            failed = await stage.start(document, dict(INPUTS), f"{run}-{number}")
            FLAW.at = None
            if failed.status == "failed" and failed.outcome["error"]["code"] == "flaw":  # no `try` has taken it up
                again = await stage.retry(run=f"{run}-{number}")
                assert (again.outcome, again.record) == (outcome, record), name
                held += 1
            fork = await forked(stage.engine, run, ForkOptions(name, run=f"{run}-f{number}"))
            await stage.engine.start(fork)
            made = await stage.settled(fork.run)
            assert (made.outcome, made.record) == (outcome, record), name

    for number, document in enumerate(drawn(amount)):
        asyncio.run(asyncio.wait_for(body(document, f"g{number}"), 3600))
    assert held
