"""A class that describes a step checks its answers by its own validators, and the model is asked again with their messages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Self

import pytest
from pydantic import AfterValidator, BaseModel, TypeAdapter, field_validator, model_validator
from typing_extensions import TypedDict

import instrc


class Line(BaseModel):
    sku: str

    @field_validator("sku")
    @classmethod
    def in_capitals(cls, value: str) -> str:
        if value != value.upper():
            message = "write the SKU in capital letters"
            raise ValueError(message)
        return value


class Order(BaseModel):
    total: int
    lines: list[Line]
    due: date | None = None

    @model_validator(mode="after")
    def adds_up(self) -> Self:
        assert self.total == len(self.lines), "`total` is the number of lines"
        return self


@dataclass
class Span:
    first: int
    last: int

    def __post_init__(self) -> None:
        if self.last < self.first:
            message = "`last` is before `first`"
            raise ValueError(message)


def _even(value: int) -> int:
    if value % 2:
        message = "it is odd"
        raise ValueError(message)
    return value


class Pair(TypedDict):
    number: Annotated[int, AfterValidator(_even)]


GOOD = {"total": 1, "lines": [{"sku": "AB"}]}
LOW = {"total": 1, "lines": [{"sku": "ab"}]}
MORE = {"total": 2, "lines": [{"sku": "AB"}]}


def asked(kind: Any, *answers: Any, program: str = "Step(prompt)", **options: Any) -> tuple[instrc.Run, list[str]]:
    """Return a run, and what the model was told of each answer that was not accepted."""
    model = instrc.Scripted({"step": [*answers]})
    run = instrc.run(program, "x", vibes={"Step": kind, **options.pop("vibes", {})}, model=model, **options)
    return run, [line for request in model.sent[1:] for line in request.message.splitlines() if line.startswith("* ")]


@pytest.mark.parametrize(
    ("kind", "wrong", "good", "told"),
    [
        (Order, LOW, GOOD, "* at /lines/0/sku: write the SKU in capital letters"),
        (Order, MORE, GOOD, "* at /: `total` is the number of lines"),
        (Span, {"first": 2, "last": 1}, {"first": 1, "last": 2}, "* at /: `last` is before `first`"),
        (Pair, {"number": 1}, {"number": 2}, "* at /number: it is odd"),
        (TypeAdapter(Order), LOW, GOOD, "* at /lines/0/sku: write the SKU in capital letters"),
    ],
)
def test_the_model_is_asked_again_with_the_messages_of_the_class(kind: Any, wrong: Any, good: Any, told: str) -> None:
    run, messages = asked(kind, wrong, good)
    assert (run.status, messages) == ("done", [told])
    assert run.value == good


def test_neither_an_activity_nor_a_person_sees_what_the_class_refuses() -> None:
    seen: list[Any] = []
    program = "const order = Introspect_Mixin(Step(prompt)); do { Approve_User(order); Send_Activity(order: order) }"
    thought = {"_considerations": "-", "_feedback": "-"}
    run, messages = asked(
        Order,
        {**thought, **LOW},
        {**thought, **GOOD},
        program=program,
        vibes={"Approve_User": {"type": "object"}, "Send_Activity": {}},
        activities={"Send_Activity": seen.append},
    )
    seen.append(run.questions[0].show)
    run.answer("approve", {})
    assert run.status == "done"
    assert messages == ["* at /step1_step/lines/0/sku: write the SKU in capital letters"]
    assert seen == [GOOD, {"order": GOOD}]


def test_what_the_schema_says_is_not_said_again() -> None:
    _, messages = asked(Order, {"total": "x", "lines": [{"sku": "ab"}], "due": "yesterday"}, GOOD)
    assert [line.split(":")[0] for line in messages].count("* at /total") == 1
    assert "* at /lines/0/sku: write the SKU in capital letters" in messages


def test_a_member_that_the_program_adds_is_no_mistake() -> None:
    class Closed(BaseModel, extra="forbid"):
        text: str

    program = '@{ title: "Step", type: "object", properties: { more: { type: "string" } } }'
    run, messages = asked(Closed, {"text": "a", "more": "b"}, program=program)
    assert (run.status, messages) == ("done", [])


def test_a_class_that_is_never_satisfied_fails_the_run_with_its_message() -> None:
    run, messages = asked(Order, LOW, LOW, LOW)
    assert run.status == "failed"
    assert len(messages) == 2
    with pytest.raises(instrc.RunFailedError, match="write the SKU in capital letters"):
        _ = run.value


def test_a_validator_that_breaks_fails_the_run_at_its_line() -> None:
    class Broken(BaseModel):
        text: str

        @field_validator("text")
        @classmethod
        def broken(cls, value: str) -> str:
            raise KeyError(value)

    run, _ = asked(Broken, {"text": "a"})
    assert run.status == "failed"
    assert run.outcome is not None
    assert run.outcome["status"] == "failed"
    assert run.outcome["error"]["code"] == "check"
    assert "test_classes_of_answers.py" in run.outcome["error"]["place"]


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_each_engine_asks_again(engine: Any, tmp_path: Any) -> None:
    if engine == "durable":
        pytest.importorskip("dbos")
    run, messages = asked(Order, LOW, GOOD, engine=engine, store=tmp_path)
    assert (run.status, messages) == ("done", ["* at /lines/0/sku: write the SKU in capital letters"])
    instrc.close_stores()


def test_evaluations_check_by_the_class_too() -> None:
    model = instrc.Scripted({"step": [LOW, GOOD]})
    result = instrc.evaluate("Step", [{"input": "x", "expected": GOOD}], vibes={"Step": Order}, model=model)
    assert result.scores() == {"case 1": 1.0}
    assert len(model.sent) == 2


def test_a_list_of_classes_goes_by_their_names() -> None:
    async def work() -> None:
        model = instrc.Scripted({"order": [LOW, GOOD]})
        async with instrc.App(model=model, vibes=[Order]) as app:
            assert (await app.run("Order", "x", as_=Order)).value.total == 1
        assert len(model.sent) == 2

    asyncio.run(work())
