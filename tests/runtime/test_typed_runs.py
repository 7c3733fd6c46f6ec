"""Runs take and give values of typed classes: inputs, answers, results of steps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import pytest
from applications import run_in_app
from pydantic import BaseModel, TypeAdapter

import instrc
from instrc.problems.errors import RunHeldError  # no public name


class Draft(BaseModel):
    text: str


@instrc.instruction(name="Approve_User")
class Approve(BaseModel):
    decision: Literal["Approve", "Reject"]
    until: date | None = None


@dataclass
class Order:
    item: str
    due: date


@instrc.instruction(name="Send_Activity")
def send(text: str) -> list[str]:
    return [f"sent: {text}"]


VIBES = [Draft, Approve, send]
WHOLE = "const mail = Introspect_Mixin(Draft(prompt)); do { Approve_User(mail); Send_Activity(text: mail.text) }"
ANSWER = {"_considerations": "why", "text": "Thank you!", "_feedback": "so"}


def begun(engine: Any, store: Any, program: str = WHOLE, **options: Any) -> instrc.Run:
    model = instrc.Scripted({"draft": ANSWER})
    return run_in_app(program, "x", vibes=VIBES, activities=[send], model=model, engine=engine, store=store, **options)


@pytest.mark.parametrize(("engine", "stored"), [("memory", False), ("memory", True), ("durable", True)])
def test_steps_and_results_are_instances(engine: str, stored: bool, tmp_path: Any) -> None:  # noqa: FBT001  -- a parameter
    run = begun(engine, str(tmp_path) if stored else None)
    assert run.step("draft", as_=Draft) == Draft(text="Thank you!")
    assert run.step("Draft") == run.step("step1_draft") == {"text": "Thank you!"}
    run.answer("Approve_User", Approve(decision="Approve", until=date(2026, 1, 1)))
    assert run.step("Approve_User", as_=Approve).until == date(2026, 1, 1)
    assert run.step("send") == run.value == run.typed(list[str]).value == ["sent: Thank you!"]
    assert run.output_as(dict[str, Any])["step1_draft"] == {"text": "Thank you!"}
    assert run.typed(TypeAdapter(tuple[str, ...])).value == ("sent: Thank you!",)
    with pytest.raises(instrc.AnswerError, match="`Approve` refuses it"):
        _ = run.typed(Approve).value
    assert run.typed(None).value == ["sent: Thank you!"]


@pytest.mark.parametrize("store", [None, "kept"])
def test_the_only_step_of_a_program_goes_by_its_name(store: str | None, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = begun("memory", store, "Draft(prompt)")
    assert run.step("draft", as_=Draft) == run.typed(Draft).value == run.output_as(Draft) == Draft(text="Thank you!")


@pytest.mark.parametrize(
    ("program", "name", "value"),
    [
        ("do { each n in 2 { Draft(n) } }", "draft", [{"text": "Thank you!"}] * 2),
        ('when prompt is "x" { Draft(prompt) }', "draft", {"text": "Thank you!"}),
        ("each n in 2 { const d = Draft(n); Send_Activity(text: d.text) }", "Send_Activity", [["sent: Thank you!"]] * 2),
        ("each n in 2 { each m in 1 { Draft(n, m) } }", "draft", [[{"text": "Thank you!"}]] * 2),
    ],
)
def test_steps_in_blocks_are_found_by_their_names(program: str, name: str, value: Any) -> None:
    assert begun("memory", None, program).step(name) == value


@pytest.mark.parametrize(
    ("program", "name", "as_", "says"),
    [
        (WHOLE, "drft", None, "one of `step1_draft`, `step2_approve`, `step3_send`, not `drft`"),
        (
            "const a = Draft(prompt); const b = Draft(a); Send_Activity(text: b.text)",
            "draft",
            None,
            "one of `step1_draft`, `step2",
        ),
        ("Approve_User(prompt)", "draft", None, "one of `step1_approve`, not `draft`"),
        (WHOLE, "draft", Approve, "invalid-answer: .*`/decision`: `Approve` refuses it"),
    ],
)
def test_a_step_that_is_not_there_is_a_problem(program: str, name: str, as_: Any, says: str) -> None:
    with pytest.raises(instrc.InputError if as_ is None else instrc.AnswerError, match=says):
        begun("memory", None, program).step(name, as_=as_)


@pytest.mark.parametrize(("engine", "stored"), [("memory", False), ("memory", True), ("durable", True)])
def test_a_step_that_is_not_reached_is_no_typo(engine: str, stored: bool, tmp_path: Any) -> None:  # noqa: FBT001  -- a parameter
    program = 'const answer = Approve_User(prompt); when answer.decision is "Approve" { Send_Activity(text: prompt) }'
    run = begun(engine, str(tmp_path) if stored else None, program)
    assert [*run.steps] == ["step1_approve", "step2_send"]
    with pytest.raises(instrc.RunWaitingError, match=r"`step2_send` has no output yet: .* waits for `step1_approve`"):
        run.step("send")
    with pytest.raises(instrc.RunWaitingError, match=r'waits for `step1_approve`; `run.answer\("step1_approve", …\)`'):
        _ = run.value
    run.answer("approve", {"decision": "Reject"})
    with pytest.raises(instrc.RunError, match="has ended without the step `step2_send`") as raised:
        run.step("Send_Activity")
    assert type(raised.value) is instrc.RunError
    with pytest.raises(instrc.InputError, match="one of `step1_approve`, `step2_send`, not `sent`"):
        run.step("sent")


def test_a_run_that_has_not_ended_has_no_value() -> None:
    run = begun("memory", None)
    with pytest.raises(instrc.RunWaitingError, match="has not ended: it waits for `step2_approve`"):
        _ = run.typed(Draft).value
    run.cancel()
    with pytest.raises(instrc.RunCancelledError, match="was cancelled"):
        _ = run.output


def test_the_value_of_a_held_run_says_why_it_is_held(tmp_path: Any) -> None:
    pytest.importorskip("dbos")

    class Down:
        async def answer(self, _: instrc.Request) -> instrc.Reply:
            message = "the provider is down"
            raise instrc.ModelError(message, code="503", retry=True)

    given: Any = {"engine": "durable", "store": tmp_path, "settings": {"attempts": 1}}
    run = run_in_app("Draft(prompt)", "x", vibes=VIBES, model=Down(), **given)
    with pytest.raises(RunHeldError, match=r"is held \(.*the provider is down\): `run.retry\(\)` continues it"):
        _ = run.value
    instrc.close_stores()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (Order("cake", date(2026, 1, 2)), {"item": "cake", "due": "2026-01-02"}),
        ({"item": Draft(text="a"), "due": date(2026, 1, 2)}, {"item": {"text": "a"}, "due": "2026-01-02"}),
        ({"item": [Order("a", date(2026, 1, 2))], "due": None}, {"item": [{"item": "a", "due": "2026-01-02"}], "due": None}),
    ],
)
def test_inputs_are_instances_too(given: Any, shown: Any) -> None:
    run = instrc.run("input item; input due; Approve_User({ item: item, due: due })", given, vibes=VIBES)
    assert run.questions[0].show == shown


def test_an_object_that_is_no_prompt_is_told_how_to_be_one() -> None:
    with pytest.raises(instrc.InputError, match=r"`text` is not declared(.|\n)*write `\{ \"prompt\": … \}` around it"):
        instrc.run("Approve_User(prompt)", Draft(text="a"), vibes=VIBES)
    run = instrc.run("Approve_User(prompt)", {"prompt": Draft(text="a")}, vibes=VIBES)
    assert run.questions[0].show == {"text": "a"}


def test_people_and_scripts_answer_with_instances() -> None:
    run = instrc.run(
        "const d = Draft(prompt); do { Approve_User(d); Send_Activity(text: d.text) }",
        "x",
        vibes=VIBES,
        activities=[send],
        model=instrc.Scripted({"draft": Draft(text="Thank you!")}),
    )
    run.answer("approve", Approve(decision="Approve"))
    assert run.value == ["sent: Thank you!"]
