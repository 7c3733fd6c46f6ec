"""The vectors of `schemas/vectors`, as any engine can be tested by them: the interpreter alone, and every engine of ours."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from instrc import ActivityError, Request, current_call
from instrc.problems.errors import InstrcError
from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json

VECTORS: dict[str, Any] = {
    file.stem: loads(file.read_bytes()) for file in sorted((Path(__file__).parents[3] / "schemas" / "vectors").glob("*.json"))
}


def without_words(value: Any, vector: Any) -> Any:
    """Return a value without the messages that are ours: their words are no part of the contract, those of results are."""
    said = {move["result"]["error"]["message"] for move in vector["moves"] if "error" in move.get("result", {})}
    said |= {text for text in vector["inputs"].values() if isinstance(text, str)}

    def strip(part: Any) -> Any:
        if isinstance(part, dict):
            ours = {"message"} if part.get("message") not in said else set()
            return {key: strip(each) for key, each in part.items() if key not in ours and key != "place"}
        return [strip(each) for each in part] if isinstance(part, list) else part

    return strip(value)


def by_id(commands: list[Any], vector: Any) -> dict[str, Any]:
    return {command["id"]: without_words(command, vector) for command in commands}


@pytest.mark.parametrize("name", VECTORS)
def test_the_interpreter_does_what_a_vector_says(name: str) -> None:
    vector = VECTORS[name]
    plan = plan_of(vector["process"], activities=vector["activities"], **vector["options"])
    state = versions.begin(plan, vector["inputs"])
    for move in vector["moves"]:
        if "answered" in move:
            gone = versions.apply(plan, state, move["answered"], move["result"])
            assert sorted(gone) == move["withdrawn"]
        state = loads(dumps(state))  # as an engine has it that goes on elsewhere
        assert by_id(versions.issue(plan, state), vector) == by_id(move["commands"], vector)  # type: ignore[arg-type]  # plain JSON
    outcome, record = versions.outcome(plan, state), versions.record(plan, state)
    assert (without_words(outcome, vector), record) == (without_words(vector["outcome"], vector), vector["record"])


def results_of(vector: Any) -> dict[str, list[Any]]:
    """Return the results by their commands; of a deadline that passes, or an error that no handler can raise, there is none."""
    found: dict[str, list[Any]] = {}
    for move in vector["moves"]:
        if "answered" in move:
            found.setdefault(move["answered"], []).append(move["result"])
    return found


def can_be_acted(vector: Any) -> bool:
    errors = [move["result"]["error"] for move in vector["moves"] if "error" in move.get("result", {})]
    late = any(move.get("answered", "").endswith("!within") for move in vector["moves"])
    return not late and all(error["kind"] == "failed" for error in errors)


def test_an_engine_ends_as_a_vector_says(stage: Any) -> None:
    async def act(name: str) -> None:
        vector = VECTORS[name]
        left = results_of(vector)
        commands = [command for move in vector["moves"] for command in move["commands"]]
        fired = {command["id"] for command in commands if command["kind"] == "fire"}

        def model(request: Request) -> Json:
            assert request.command is not None
            answer: Json = left[request.command["id"]].pop(0)["ok"]
            return answer

        async def handler(_given: Json) -> Json:
            command = current_call().key.split("/", 1)[1]
            if command not in fired and not left.get(command):
                await asyncio.sleep(50)  # it is withdrawn meanwhile
            result = {"ok": None} if command in fired else left[command].pop(0)
            if "error" in result:
                raise ActivityError(result["error"]["message"], code=result["error"]["code"], retry=False)
            given: Json = result["ok"]
            return given

        stage.model = model
        names = {command["activity"] for command in commands if "activity" in command} | set(vector["activities"])
        stage.handlers = dict.fromkeys(names, handler)
        report = await stage.start(vector["process"], vector["inputs"], name, failed="fail", **vector["options"])
        while report.status == "waiting":
            question = report.questions[0].id
            with suppress(InstrcError):  # a wrong answer, which leaves the question open
                report = await stage.answer(question, left[question].pop(0)["ok"], name)
        assert without_words(report.outcome, vector) == without_words(vector["outcome"], vector), name
        assert report.record == vector["record"], name

    async def body() -> None:
        for name, vector in VECTORS.items():
            if can_be_acted(vector):
                await act(name)

    asyncio.run(asyncio.wait_for(body(), 300))


def test_there_are_vectors_for_every_kind_of_command_context_and_end() -> None:
    text = dumps(list(VECTORS.values()), indent=False)
    for word in ("model", "activity", "fire", "user", "timer"):
        assert f'"kind":"{word}"' in text
    for word in ("failed", "timeout", "invalid", "plan", "limit"):
        assert f'"kind":"{word}","code"' in text
    for context in ("when", "each", "repeat", "else", "try", "do"):
        assert f'"{context}Context1":' in text
    assert {vector["outcome"]["status"] for vector in VECTORS.values()} == {"done", "failed", "stopped"}
