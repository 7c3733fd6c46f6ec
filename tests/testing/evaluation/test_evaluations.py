"""An evaluation runs the real program for every case: what fails counts as failed, and what is finished is not asked again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, Asked, serving

import instrc
from instrc.engines.prepare import prepare
from instrc.runtime.activities import Activities
from instrc.testing.evaluation.dataset import EvalCase  # a case without a file
from instrc.testing.evaluation.export import recorded_answers  # as the command makes them
from instrc.testing.evaluation.report import gates_of  # as the command makes them
from instrc.testing.evaluation.runner import (  # as above
    SILENCE,
    EvalOptions,
    KeptRuns,
    ProgramRunner,
)

LABEL = '@{ title: "Label", type: "object", properties: { label: { enum: ["good", "bad"] } }, required: ["label"] }'
PROCESS = """
const people = prompt | @{ title: "Find_Activity", properties: { output: { type: "array", items: { type: "string" } } } };
const mail = people | @{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const answer = mail | @{ title: "Approve_User", type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
"""
CASES: list[dict[str, Any]] = [
    {"id": str(number), "input": f"case {number}", "expected": {"label": "good"}} for number in range(12)
]


SLOW = (pytest.mark.slow, pytest.mark.timeout(3600))


class Answering:
    """A model that answers by what it is sent; `None` is no answer at all."""

    def __init__(self, says: Any, **usage: int) -> None:
        self.says, self.usage, self.asked = says, usage, 0

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        self.asked += 1
        said = self.says(request.message) if callable(self.says) else self.says
        if isinstance(said, Exception):
            raise said
        return instrc.Reply(said, usage=self.usage, cost=0.01)


def test_what_fails_counts_as_failed_in_every_check_and_is_never_missing() -> None:
    bad = {"case 1": {"label": "ugly"}, "case 2": instrc.ModelError("no", code="refused"), "case 3": None}
    model = Answering(lambda text: next((value for word, value in bad.items() if word in text), {"label": "good"}))
    found = instrc.evaluate(LABEL, CASES[:5], model=model, checks={"true": lambda _run: True})
    assert found.scores("true") == found.scores("label") == {"0": 1.0, "1": 0.0, "2": 0.0, "3": 0.0, "4": 1.0}
    assert [result.error is None for result in found.results] == [True, False, False, False, True]
    assert [result.steps[0].rejected for result in found.results] == [0, 1, 0, 1, 0]
    assert not any(result.unanswered for result in found.results)


def test_results_of_activities_and_answers_of_people_are_those_of_the_case_or_made_from_schemas() -> None:
    cases = [
        {"input": "x", "expected": {"find": ["Ann"], "ok": False}, "answers": {"find": [["Ann"]], "approve": {"ok": False}}},
        {"input": "x", "expected": {"ok": True}, "answers": {"Approve": {"ok": True}}},
        {"input": "x", "expected": {"ok": True}},
        {"input": "x", "answers": {"Find_Activity": {"fail": "it is closed"}}},
    ]
    found = instrc.evaluate(PROCESS, cases, model=instrc.Scripted({"draft": {"text": "Hi"}}))
    assert [result.passed for result in found.results] == [True, True, False, False], found.results
    assert "it waits for an answer to `step3_approve`" in str(found.results[2].error)
    assert "it is closed" in str(found.results[3].error)
    assert found.invented == ("results",)
    assert not instrc.evaluate(PROCESS, cases[:1], model=instrc.Scripted({"draft": {"text": "Hi"}})).invented


def test_activities_that_are_given_are_called() -> None:
    called: list[object] = []
    given = {"Find_Activity": lambda text: called.append(text) or ["Ann"]}
    case = {"input": "x", "expected": {"find": ["Ann"]}, "answers": {"approve": {"ok": True}}}
    found = instrc.evaluate(PROCESS, [case], model=instrc.Scripted({"draft": {"text": "Hi"}}), activities=given)
    assert (found.scores(), called, found.invented) == ({"case 1": 1.0}, ["x"], ())


@pytest.mark.parametrize(
    ("limit", "asked"), [({"requests": 5}, 5), ({"tokens": 35}, 4), ({"cost": 0.025}, 3), ({"requests": 0}, 0), ({}, 12)]
)
def test_a_budget_ends_it_and_what_was_not_run_is_told(limit: dict[str, Any], asked: int) -> None:
    model = Answering({"label": "good"}, input_tokens=7, output_tokens=3)
    found = instrc.evaluate(LABEL, CASES, model=model, concurrency=1, **limit)
    assert (model.asked, len(found.results)) == (asked, asked)
    assert (found.stopped is None) == (asked == 12)
    assert found.cases == 12


def test_a_limit_of_the_cost_needs_the_price_of_each_model(tmp_path: Path) -> None:
    (tmp_path / "label.aug").write_text(LABEL, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.instrc.prices]\ngpt-5 = { input = 1, output = 8 }\n", encoding="utf-8")
    for model, name in (("openai:gpt-6", "openai:gpt-6"), ("openai:gpt-5, llamacpp:small", "llamacpp:small")):
        with pytest.raises(instrc.SettingsError, match=f"`{name}` cannot be used: there is a budget, and its price is not known"):
            instrc.evaluate(tmp_path / "label.aug", CASES, model=model, cost=1)


def test_the_tokens_of_refusals_count_for_the_budget() -> None:
    refusal = instrc.ModelError("no", code="refused")
    refusal.reply = instrc.Reply(None, {"input_tokens": 7, "output_tokens": 3})
    found = instrc.evaluate(LABEL, CASES, model=Answering(refusal), concurrency=1, tokens=35)
    assert (len(found.results), found.stopped) == (4, "the budget of 35 tokens is used up")


def test_a_provider_that_is_silent_is_not_asked_for_every_case() -> None:
    cases = [{"input": str(number)} for number in range(100)]
    found = instrc.evaluate(LABEL, cases, model=Answering(instrc.ModelError("wrong key", code="401")), concurrency=2)
    assert len(found.results) < 12
    assert all(result.unanswered and not result.passed for result in found.results)
    assert "wrong key" in str(found.stopped)
    assert f"; no answer in {len(found.results)} of {len(found.results)} runs: " in repr(found)
    assert "wrong key" in repr(found)


def test_a_failure_of_a_real_activity_is_not_kept(tmp_path: Path) -> None:
    down = [True]

    def find(_text: str) -> Any:
        if down[0]:
            raise ConnectionError("it is down")
        return ["Ann"]

    program = prepare(instrc.Source("find.aug", PROCESS.partition("const mail")[0] + "people"))
    options = EvalOptions(Answering(None), activities=Activities({"Find_Activity": find}))
    runner = ProgramRunner(program, options, real=True)
    runner.kept = KeptRuns(tmp_path / "kept.jsonl")
    found = []
    for down[0] in (True, False, True):
        found.append(asyncio.run(runner.run(EvalCase(id="a", input="x"))))
    assert [(run.value, run.kept) for run in found] == [(None, False), (["Ann"], False), (["Ann"], True)]


class SlowAtFirst:
    """A model whose first answer comes when all else has failed."""

    def __init__(self) -> None:
        self.failed, self.silent = 0, asyncio.Event()

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        if "case 0" not in request.message:
            self.failed += 1
            if self.failed == SILENCE:
                self.silent.set()
            raise instrc.ModelError("overloaded", code="503")
        await self.silent.wait()
        await asyncio.sleep(0.1)
        return instrc.Reply({"label": "good"})


def test_an_answer_that_comes_late_does_not_hide_that_the_others_were_not_run() -> None:
    found = instrc.evaluate(LABEL, CASES, model=SlowAtFirst(), concurrency=2)
    assert (len(found.results), found.results[0].passed) == (SILENCE + 1, True)
    assert "overloaded" in str(found.stopped)


def test_cached_tokens_are_part_of_the_input() -> None:
    model = Answering({"label": "good"}, input_tokens=7, output_tokens=3, cache_read_tokens=6, cache_write_tokens=1)
    assert len(instrc.evaluate(LABEL, CASES, model=model, concurrency=1, tokens=35).results) == 4


def test_the_rate_of_all_checks_is_not_that_of_a_check_called_pass() -> None:
    cases = [{"input": str(number), "expected": {"label": "good", "pass": True}} for number in range(40)]
    program = LABEL.replace("}, required", ", pass: {} }, required")
    found = instrc.evaluate(program, cases, model=Answering({"label": "bad", "pass": True}))
    assert (found.scores("pass")["case 1"], [gate.verdict for gate in gates_of(found, {"pass": 0.9})]) == (1.0, ["missed"])


def test_each_result_is_a_row_and_json_and_comes_as_it_is_made() -> None:
    seen: list[str] = []
    model = Answering({"label": "good"}, input_tokens=7, output_tokens=3)
    found = instrc.evaluate(LABEL, CASES[:2], model=model, repeat=2, progress=lambda result: seen.append(result.case))
    rows = found.rows()
    assert Counter(seen) == {"0": 2, "1": 2}
    assert [(row["case"], row["repeat"], row["check"], row["passed"], row["input_tokens"]) for row in rows] == [
        (case, repeat, "label", True, 7) for case in "01" for repeat in (1, 2)
    ]
    kept = json.loads(json.dumps(found.to_json()))
    assert type(found).from_json(kept) == found
    assert instrc.EvaluationResult.from_json(kept).results == found.results
    assert repr(found) == "<evaluation of program: 2 cases, label 100.0%>"


def test_a_case_is_a_span_with_an_event_for_each_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
    monkeypatch.setenv("INSTRC_TELEMETRY", "1")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    instrc.evaluate(LABEL, CASES[:1], model=Answering({"label": "bad"}))
    chat, run, case = kept.get_finished_spans()
    assert (chat.parent and chat.parent.span_id) == run.context.span_id
    assert (run.parent and run.parent.span_id) == case.context.span_id
    about = dict(case.attributes or {})
    assert (about["instrc.eval.case"], about["instrc.eval.passed"]) == ("0", False)
    [event] = case.events
    assert dict(event.attributes or {}) == {
        "gen_ai.evaluation.name": "label",
        "gen_ai.evaluation.score.value": 0.0,
        "gen_ai.evaluation.score.label": "fail",
        "gen_ai.evaluation.explanation": '"bad" instead of "good"',
    }


def _openai(label: str) -> bytes:
    call = {"id": "c", "type": "function", "function": {"name": "label", "arguments": json.dumps({"label": label})}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return json.dumps(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    ).encode()


def test_a_run_is_kept_as_long_as_the_code_that_checks_its_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    settings = '[tool.instrc.checks]\nlabel = "label_checking:fine"\n'
    files = {
        "pyproject.toml": settings,
        "label.aug": LABEL,
        "label_checking.py": "from label_rules import wrong\n\n\ndef fine(value):\n    return wrong(value)\n",
        "label_rules.py": "def wrong(value):\n    return None\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-as-long-as-a-real-one")

    def kept() -> bool:
        found = instrc.evaluate(tmp_path / "label.aug", CASES[:1], model="openai:m", store=tmp_path / "eval")
        return found.results[0].kept

    with serving(lambda request: asked.append(request.body) or Answer(_openai("good"))) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        assert [kept(), kept()] == [False, True]
        (tmp_path / "label_rules.py").write_text("def wrong(value):\n    return ''\n", encoding="utf-8")
        assert [kept(), kept()] == [False, True]
    assert len(asked) == 1, "the answer itself is kept"


@pytest.mark.parametrize(
    ("cases", "kills"), [pytest.param(40, (12,), marks=pytest.mark.long), pytest.param(300, (20, 110, 200, 280), marks=SLOW)]
)
def test_killed_it_goes_on_and_asks_nothing_twice(tmp_path: Path, cases: int, kills: tuple[int, ...]) -> None:
    """`kill -9` after some answers, perhaps several times: only what was in flight then is asked for again.

    `python -m pytest -m slow tests/testing/evaluation/test_evaluations.py` has 300 cases and four kills.
    """
    asked: Counter[str] = Counter()

    def answer(request: Asked) -> Answer:
        text = json.loads(request.body)["messages"][0]["content"]
        name = text.partition("case ")[2].split('"')[0]
        asked[name] += 1
        time.sleep(0.02)
        return Answer(_openai("good"))

    (tmp_path / "label.aug").write_text(LABEL, encoding="utf-8")
    lines = [json.dumps({"id": str(number), "input": f"case {number}", "expected": {"label": "good"}}) for number in range(cases)]
    (tmp_path / "label.eval.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "instrc", "eval", "label.aug", "--model", "openai:m", "--format", "json", "-q"]
    with serving(answer) as url:
        env = {**os.environ, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "sk-a-key-as-long-as-a-real-one"}
        kept = tmp_path / ".instrc" / "eval"
        for kill in kills:
            killed = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
            until = time.monotonic() + 200
            while sum(asked.values()) < kill and time.monotonic() < until:
                time.sleep(0.005)
            killed.send_signal(signal.SIGKILL)
            killed.wait()
        finished = sum(file.read_bytes().count(b"\n") for file in kept.glob("*.jsonl"))
        before = sum(asked.values())
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
        after = sum(asked.values())
        again = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert kills[-1] - 10 * len(kills) < finished <= before < cases
    assert cases - before <= after - before <= cases - finished, "an answer in flight may be in the cache already"
    assert sum(asked.values()) == after, "the third time nothing is asked"
    repeated = {name for name, count in asked.items() if count > 1}
    assert len(repeated) <= 4 * len(kills), "only what was in flight"
    for run in (done, again):
        found = instrc.EvaluationResult.from_json(json.loads(run.stdout)["evaluations"][0])
        assert (len(found.results), set(found.scores().values()), found.results[0].tokens) == (cases, {1.0}, 7)


def test_recorded_answers_are_those_of_their_cases(tmp_path: Path) -> None:
    """Also where cases are repeated, and where one of them was refused."""
    said = {f"case {at}": {"label": "good" if at % 3 else "bad"} for at in (0, 2, 3, 4, 5)}
    model = Answering(
        lambda text: next((each for word, each in said.items() if word in text), instrc.ModelError("no", code="refused"))
    )
    cases = [{**case, "expected": {"label": "bad"}} for case in CASES[:6]]
    found = instrc.evaluate(LABEL, cases, model=model, repeat=2, store=tmp_path)
    (tmp_path / "answers.json").write_text(recorded_answers(found, tmp_path, {}))
    with pytest.warns(RuntimeWarning, match="for another prompt"):
        again = instrc.evaluate(LABEL, cases, model=f"scripted:{tmp_path}/answers.json", repeat=2, concurrency=1)
    scores = {case: score for case, score in found.scores().items() if case != "1"}
    assert {case: again.scores()[case] for case in scores} == scores
    assert set(scores.values()) == {0.0, 1.0}


class Drawing:
    """A model that notes its seeds."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    async def answer(self, request: instrc.Request) -> instrc.Reply:
        self.seeds.append(request.settings["seed"])
        return instrc.Reply({"label": "good"})


def test_a_seed_gives_each_run_of_each_case_a_seed_of_its_own() -> None:
    drawn: list[list[int]] = []
    for seed in (7, 7, 8):
        model = Drawing()
        instrc.evaluate(LABEL, CASES, model=model, repeat=2, concurrency=1, settings={"seed": seed})
        assert len(set(model.seeds)) == 2 * len(CASES)
        assert all(0 <= each < 2**31 for each in model.seeds)
        drawn.append(model.seeds)
    assert drawn[0] == drawn[1], "the same seed gives the same draws"
    assert not set(drawn[0]) & set(drawn[2])


def test_an_evaluation_alone_needs_no_library_of_statistics() -> None:
    program = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } } }'
    code = f"""
import sys
sys.modules["scipy"] = None
import instrc
found = instrc.evaluate({program!r}, [{{"input": "a"}}], model=instrc.Scripted({{"draft": {{"text": "b"}}}}))
print(len(found.results), found.comparison)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("1 None\n", "")
