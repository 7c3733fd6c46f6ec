"""A run whose code ran in the sandbox before pydantic-monty goes on in this one, by the recorded results of its tools.

Its first round was recorded on CPython, `tests/data/agents/run-of-the-sandbox-of-0.2.json`; then the model was away.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from test_smolagents_code import agent

from instrc import Activities, Reply, Request
from instrc.engines.folder import FolderEngine  # the engine itself, with effects of the test
from instrc.runtime.effects import Effects
from instrc.runtime.retry import RetryOptions

RECORDED = Path(__file__).parents[1] / "data" / "agents" / "run-of-the-sandbox-of-0.2.json"
INHERITS = json.dumps("class Mine(Exception):\n    pass\n")[1:-1]


def finished(place: Path, text: str, answers: list[dict[str, str]]) -> tuple[Any, list[str], list[str]]:
    """Retry the run; return how it ends, what the model was told, and the calls of tools."""
    (place / "runs").mkdir(parents=True)
    (place / "runs" / "agent.json").write_text(text, encoding="utf-8")
    told: list[str] = []
    calls: list[str] = []

    class Model:
        async def answer(self, request: Request) -> Reply:
            told.append(request.message)
            [step] = request.schema["properties"]  # type: ignore[call-overload,index]  # it is an object
            return Reply({step: answers[len(told) - 1]})

    def logged(name: str) -> Any:
        def call(given: Any) -> Any:
            calls.append(name)
            return agent.TOOLS[name](given)

        return call

    runs = agent.code_runs()
    tools = {f"{name.replace('_', '-')}_Activity": logged(name) for name in agent.TOOLS}

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        return Effects(run, Model(), Activities({**agent.activities(runs), **tools}), sink)

    return asyncio.run(FolderEngine(place, equip).retry("agent", RetryOptions())), told, calls


@pytest.mark.long
def test_the_variables_of_a_recorded_round_are_there_and_no_recorded_call_is_repeated(tmp_path: Path) -> None:
    report, told, calls = finished(tmp_path, RECORDED.read_text(encoding="utf-8"), [agent.PLAYED[1]])
    assert report.status == "done", report.outcome
    assert report.outcome["value"]["answer"] == 1_435_420
    assert calls == ["multiply"]
    assert "717710" in told[0]


@pytest.mark.long
def test_a_round_that_this_interpreter_cannot_run_again_is_an_observation_and_the_run_goes_on(tmp_path: Path) -> None:
    text = RECORDED.read_text(encoding="utf-8").replace("n = look_up", f"{INHERITS}n = look_up")
    answers = [agent.PLAYED[1], {"thought": "Again.", "code": "final_answer(multiply(look_up('Oslo'), 2))"}]
    report, told, calls = finished(tmp_path, text, answers)
    assert report.status == "done", report.outcome
    assert report.outcome["value"]["answer"] == 1_435_420
    assert calls == ["look_up", "multiply"]
    assert "inheritance" in told[1]
