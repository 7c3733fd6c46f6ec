"""What a program can do to its own runs: what it reads of them and gives to them are copies, and the user can interrupt it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from applications import run_in_app

import instrc
from instrc.runtime.interpreter import documents  # counted here
from instrc.runtime.plan import plan_of
from instrc.text.jsonvalue import Json

BACK = {"type": "object", "properties": {"output": {}}, "required": ["output"]}
LIST = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
DECISION = {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]}
VIBES = {"Draft": LIST, "Approve_User": DECISION, "Send_Activity": BACK}
PROGRAM = "const draft = Draft(prompt); const said = Approve_User(draft); Send_Activity(draft: draft, said: said)"


def spoil(value: Any) -> None:
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        spoil(part)
    if isinstance(value, dict):
        value.clear()
    elif isinstance(value, list):
        value.append("EVIL")


@pytest.mark.parametrize("engine", ["memory", "stored", "durable"])
def test_what_is_read_of_a_run_and_given_to_it_are_copies(engine: str, tmp_path: Path) -> None:
    given: list[Json] = []
    more: Any = {} if engine == "memory" else {"store": tmp_path, "engine": "memory" if engine == "stored" else engine}
    prompt, answers, answer = {"topic": ["a"]}, {"draft": {"items": [1]}}, {"decision": "Approve"}
    script = instrc.Scripted(answers)
    run = instrc.run(
        PROGRAM,
        {"prompt": prompt},
        vibes=VIBES,
        model=script,
        activities={"Send_Activity": lambda draft, said: given.append({"draft": draft, "said": said})},
        **more,
    )
    for value in (prompt, answers, run.questions[0].show, run.questions[0].schema, run.trace, run.record):
        spoil(value)
    for request in script.sent:
        spoil(request.schema)
        spoil(request.command)
    run = run.answer("approve", answer)
    for value in (answer, run.output, run.value, run.record, run.outcome):
        spoil(value)
    assert given == [{"draft": {"items": [1]}, "said": {"decision": "Approve"}}]
    run = run if engine == "memory" else instrc.find_run(run.id, engine=more["engine"], store=tmp_path)
    assert run.output == {"step1_draft": {"items": [1]}, "step2_approve": {"decision": "Approve"}, "step3_send": {"output": None}}
    assert run.record is not None
    assert run.record["llmContext1"] == {"step1_draft": {"items": [1]}}
    instrc.close_stores()


def send(handler: Any, **more: Any) -> instrc.Run:
    return run_in_app("Send_Activity(prompt)", "x", vibes=VIBES, activities={"Send_Activity": handler}, **more)


def test_the_user_can_interrupt_a_program() -> None:
    async def interrupted(_given: Json) -> Json:
        raise KeyboardInterrupt  # as the signal does it, in the main thread

    with pytest.raises(KeyboardInterrupt):
        send(interrupted)


def test_who_watches_does_not_end_a_run() -> None:
    def leave(_given: Any) -> Json:
        raise SystemExit(2)

    with pytest.warns(RuntimeWarning, match="could not be told: SystemExit: 2"):
        assert send(lambda _: 1, watch=leave).status == "done"


@pytest.mark.parametrize("given", [float("inf"), {"prompt": {1, 2}}, {"prompt": {1: 2}}, "\udc00"])
def test_an_input_is_json_or_a_problem(given: Any) -> None:
    with pytest.raises(instrc.InputError) as raised:
        instrc.run("Send_Activity(prompt)", given, vibes=VIBES, activities={"Send_Activity": lambda _: 1})
    assert [problem.name for problem in raised.value.problems] == ["invalid-input"]


def test_a_module_of_the_settings_that_ends_the_program_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaving_at_once.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    settings = '[tool.instrc.activities]\nSend_Activity = "leaving_at_once:send"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(instrc.SettingsError, match="SystemExit: 3"):
        instrc.run("Send_Activity(prompt)", "x", vibes=VIBES)


def test_a_launch_compares_names_as_often_as_there_are_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    step = {"type": "object", "activity": "A", "arguments": "prompt"}
    chunk = {"type": "object", "properties": {f"step{number}_s{number}": step for number in range(300)}}
    document = {"type": "object", "properties": {"serverContext1": chunk}, "required": ["serverContext1"]}
    real, compared = documents.bare_name, list[str]()

    def counted(name: str) -> str:
        compared.append(name)
        return real(name)

    monkeypatch.setattr(documents, "bare_name", counted)
    plan = plan_of(document, activities=[f"S{number}" for number in range(300)])
    assert len(plan["options"]["fires"]) == 300
    assert len(compared) <= 700


@pytest.mark.parametrize("usage", [None, {"input_tokens": None, "output_tokens": None}])
def test_a_model_that_does_not_know_its_tokens_answers_after_a_refusal(usage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instrc.Retry, "wait", lambda *_: 0.0)

    class Unsure:
        asked = 0

        async def answer(self, _: instrc.Request) -> instrc.Reply:
            self.asked += 1
            if self.asked < 3:
                refusal = instrc.ModelError("busy", retry=True)
                refusal.reply = instrc.Reply(None, usage)
                raise refusal
            return instrc.Reply({"items": [1]}, usage)

    run = instrc.run("Draft(prompt)", "x", vibes=VIBES, model=Unsure())
    assert (run.value, run.usage) == ({"items": [1]}, {"requests": 1})
