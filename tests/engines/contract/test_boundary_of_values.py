"""What code of others can do to a run: nothing but give a value or fail; it is the same on every engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from written_processes import DECISION, TEXT, attempt, call, chunk, process, step

from instrc import PENDING, ActivityError, Request
from instrc.problems.errors import AnswerError
from instrc.runtime.activities import ONCE, Activity  # with a policy, and in a thread, as the registry makes them
from instrc.text.jsonvalue import Json


def go(work: Any) -> None:
    asyncio.run(asyncio.wait_for(work, 240))


def spoil(value: Any) -> None:
    """Change all that a value leads to."""
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        spoil(part)
    if isinstance(value, dict):
        value["EVIL"] = "EVIL"
    elif isinstance(value, list):
        value.append("EVIL")


# --- what is changed ----------------------------------------------------------------------------------------------------------

NAMES = ("prompt", "step1_first", "step2_write", "step3_confirm", "step4_later")
LIST = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
SPOILED = process(
    serverContext1=chunk(step1_first=call("First", "prompt", LIST)),
    llmContext1=chunk(step2_write=step(LIST, "step1_first")),
    userContext1=chunk(step3_confirm=step(DECISION, "step2_write")),
    serverContext2=chunk(step4_later=call("Later", "step3_confirm", LIST)),
    serverContext3=chunk(step5_all=call("All", {name: name for name in NAMES}, {})),
)


def test_nobody_can_change_what_a_run_has_recorded(stage: Any) -> None:
    """Each handler, check and model, and whoever watches, changes all that it is given and all that it has given."""
    kept: list[Any] = []
    seen: list[Json] = []

    def given(value: Any) -> Any:
        for each in kept:
            spoil(each)
        kept.append(value)
        return value

    def work(items: list[Any]) -> Any:
        def handler(value: Any) -> Any:
            made = given({"items": items})
            spoil(value)
            return made

        return handler

    def model(request: Request) -> Any:
        assert request.command is not None
        spoil(request.schema)
        spoil(request.command)
        return given({"step2_write": {"items": [2]}})

    def everything(value: Any) -> Any:
        seen.append(str(value))
        return given(value)

    async def body() -> None:
        stage.watch = spoil
        stage.model = model
        stage.handlers = {"First": work([1]), "Later": lambda _given: PENDING, "All": everything}
        stage.checks = {"write": spoil}
        inputs = {"prompt": {"items": [0]}}
        await stage.start(SPOILED, inputs)
        for name, answer in (("confirm", {"decision": "Approve"}), ("later", {"items": [4]})):
            given(answer)
            report = await stage.answer(name, answer)
            spoil(answer)
        expected = {
            "prompt": {"items": [0]},
            "step1_first": {"items": [1]},
            "step2_write": {"items": [2]},
            "step3_confirm": {"decision": "Approve"},
            "step4_later": {"items": [4]},
        }
        assert report.status == "done", report.outcome
        assert seen == [str(expected)]
        assert report.outcome["value"] == expected
        assert report.record["serverContext1"] == {"step1_first": {"items": [1]}}
        assert report.outcome["output"] == {**{key: expected[key] for key in NAMES[1:]}, "step5_all": expected}

    go(body())


# --- what is raised -----------------------------------------------------------------------------------------------------------


class SilentError(Exception):
    def __str__(self) -> str:
        raise SystemExit(4)


class PanicError(BaseException):
    """As an extension in another language raises it."""


RAISED: dict[str, tuple[Callable[[], BaseException], str, str | None, str]] = {
    "exit": (lambda: SystemExit(3), "failed", None, "`exit` raised SystemExit: 3"),
    "panic": (lambda: PanicError("at 0x0"), "failed", None, "`panic` raised PanicError: at 0x0"),
    "pytest": (lambda: pytest.fail.Exception("no"), "failed", None, "`pytest` raised Failed: no"),
    "generator": (GeneratorExit, "failed", None, "`generator` raised GeneratorExit: "),
    "cancelled": (asyncio.CancelledError, "failed", None, "`cancelled` raised CancelledError: "),
    "group": (lambda: BaseExceptionGroup("two", [SystemExit(1), ValueError("x")]), "failed", None, "`group` raised"),
    "plain": (lambda: ValueError("odd"), "failed", None, "ValueError: odd"),
    "half": (lambda: ValueError("half \ud800"), "failed", None, "ValueError: half ?"),
    "silent": (SilentError, "failed", None, "SilentError: it does not say what is wrong"),
    "memory": (MemoryError, "failed", None, "MemoryError: "),
    "recursion": (lambda: RecursionError("deep"), "failed", None, "RecursionError: deep"),
    "late": (TimeoutError, "timeout", "timeout", "`late` took too long"),
    "coded": (lambda: ActivityError("gone", code="410"), "failed", "410", "gone"),
    "number": (lambda: ActivityError("gone", code=410), "failed", "410", "gone"),  # type: ignore[arg-type]  # the case
    "odd_code": (lambda: ActivityError("gone", code=b"410"), "failed", None, "gone"),  # type: ignore[arg-type]  # the case
}
ONLY_IN_THREADS: dict[str, tuple[Callable[[], BaseException], str, str | None, str]] = {
    "interrupt": (KeyboardInterrupt, "failed", None, "`interrupt` raised KeyboardInterrupt: "),
    "stop": (lambda: StopIteration(5), "failed", None, "`stop` raised StopIteration: 5"),
}


def each_tried(names: list[str], schema: Json) -> Any:
    """A process that calls an activity of each name, and notes the error of those that fail."""
    contexts: dict[str, Any] = {}
    for number, name in enumerate(names, start=1):
        first = process(**{f"serverContext{number}1": chunk(**{f"step{number}1_{name}": call(name, "prompt", schema)})})
        second = process(**{f"serverContext{number}2": chunk(**{f"step{number}2_note": call("Note", "error", {})})})
        contexts[f"tryContext{number}"] = attempt(
            first, second, (f"step{number}1_{name}", f"step{number}2_note"), key=f"step{number}3_{name}"
        )
    return process(**contexts)


@pytest.mark.parametrize("way", ["thread", "coroutine"])
def test_whatever_a_handler_raises_is_an_error_of_its_step(stage: Any, way: str) -> None:
    cases = RAISED | (ONLY_IN_THREADS if way == "thread" else {})

    def raising(make: Callable[[], BaseException]) -> Any:
        def work(_given: Json) -> Json:
            raise make()

        async def wait(_given: Json) -> Json:
            await asyncio.sleep(0)
            raise make()

        return work if way == "thread" else wait

    async def body() -> None:
        stage.handlers = {name: Activity(name, raising(make), retry=ONCE) for name, (make, *_) in cases.items()}
        stage.handlers["Note"] = lambda error: error
        report = await stage.start(each_tried(list(cases), TEXT))
        errors = {key.partition("_")[2]: value for key, value in report.outcome["output"].items()}
        for name, (_, kind, code, message) in cases.items():
            assert (errors[name]["kind"], errors[name]["code"]) == (kind, code), errors[name]
            assert errors[name]["message"].startswith(message)

    go(body())


# --- what is given ------------------------------------------------------------------------------------------------------------


@dataclass
class Note:
    text: str
    on: date


def nested(levels: int, value: Json = 1) -> Json:
    for _ in range(levels):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value += [value, value]
    return value


def doubled() -> Any:
    value: Any = "x"
    for _ in range(200):
        value = {"a": value, "b": value}
    return value


def numbers() -> Iterator[int]:
    yield 1


GOOD: dict[str, tuple[Any, Json]] = {
    "tuple": ((1, (2,)), [1, [2]]),
    "typed": ([Note("x", date(2026, 11, 26))], [{"text": "x", "on": "2026-11-26"}]),
    "large": (2**80, 2**80),
    "longest": (10**4299, 10**4299),
    "deep": (nested(254), nested(254)),
    "deep_and_large": (nested(250, 2**80), nested(250, 2**80)),
    "float": ({"a": 1.0, "b": -0.0, "c": 1e300}, {"a": 1.0, "b": -0.0, "c": 1e300}),
    "text": ("😀 \u2028 \x00", "😀 \u2028 \x00"),
    "nothing": (None, None),
}
BAD: dict[str, Any] = {
    "nan": {"x": [float("nan")]},
    "infinity": float("-inf"),
    "bytes": b"x",
    "set": {"x": {1, 2}},
    "keys": {1: 2},
    "generator": numbers(),
    "half": ["\ud800"],
    "half_key": {"\udfff": 1},
    "object": object(),
    "long": {"x": [-(10**4300)]},
    "circle": circle(),
    "doubled": doubled(),
    "too_deep": nested(255),
    "too_deep_and_large": nested(255, 2**80),
    "far_too_deep": nested(100_000),
}


def test_what_a_handler_gives_is_json_or_one_error(stage: Any) -> None:
    def giving(value: Any) -> Any:
        return lambda _given: value

    async def body() -> None:
        given = {name: value for name, (value, _) in GOOD.items()} | BAD
        stage.handlers = {name: Activity(name, giving(value)) for name, value in given.items()}
        stage.handlers["Note"] = lambda error: [error["kind"], error["code"]]
        report = await stage.start(each_tried(list(given), {}))
        values = {key.partition("_")[2]: value for key, value in report.outcome["output"].items()}
        assert values == {name: value for name, (_, value) in GOOD.items()} | {key: ["invalid", "no-json"] for key in BAD}

    go(body())


@pytest.mark.parametrize("name", ["nan", "set", "keys", "half", "long", "circle"])
def test_what_a_model_or_a_person_gives_is_json_or_is_not_accepted(stage: Any, name: str) -> None:
    document = process(llmContext1=chunk(step1_write=step({}, "prompt")), userContext1=chunk(step2_ask=step({}, "step1_write")))

    async def body() -> None:
        answers = iter([BAD[name], {"step1_write": BAD[name]}, {"step1_write": "good"}])
        stage.model = lambda _request: next(answers)
        await stage.start(document)
        with pytest.raises(AnswerError) as raised:
            await stage.answer("ask", BAD[name])
        assert raised.value.problems[0].name == "rejected-answer"
        report = await stage.answer("ask", "good")
        assert report.outcome["output"] == {"step1_write": "good", "step2_ask": "good"}
        stage.model = lambda _request: {"step1_write": BAD[name]}
        report = await stage.start(document, run="r2")
        assert [report.outcome["error"][part] for part in ("step", "kind", "code")] == ["step1_write", "invalid", None]

    go(body())


@pytest.mark.parametrize("error", [SystemExit(3), ValueError("odd"), SilentError()])
def test_whatever_a_check_raises_fails_its_step(stage: Any, error: BaseException) -> None:
    def check(_value: Json) -> str:
        raise error

    async def body() -> None:
        stage.model = lambda _request: {"step1_write": {"text": "x"}}
        stage.checks = {"write": check}
        report = await stage.start(process(llmContext1=chunk(step1_write=step(TEXT, "prompt"))))
        assert [report.outcome["error"][part] for part in ("step", "kind", "code")] == ["step1_write", "failed", "check"]
        assert f"the check of `step1_write` raised {type(error).__name__}" in report.outcome["error"]["message"]

    go(body())


@pytest.mark.parametrize("made", [SystemExit(3), PanicError("x"), {"no": "reply"}])
def test_whatever_a_model_raises_fails_its_step(stage: Any, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(_self: object, _request: Request) -> Any:
        if isinstance(made, BaseException):
            raise made
        return made

    async def body() -> None:
        monkeypatch.setattr(type(stage).equip.__globals__["Written"], "answer", answer)
        report = await stage.start(process(llmContext1=chunk(step1_write=step(TEXT, "prompt"))))
        assert [report.outcome["error"][part] for part in ("step", "kind", "code")] == ["step1_write", "failed", None]

    go(body())
