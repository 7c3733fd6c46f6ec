"""The value of a call as an instance of a class, and the message that answers a call."""

from __future__ import annotations

import datetime as dt
import typing
from dataclasses import dataclass
from typing import Any

import pytest
from every_case import every_case
from msgspec import structs
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from instrc import lift, lower, targets
from instrc.problems.errors import AnswerError, InputError


class Slot(BaseModel):
    model_config = ConfigDict(extra="forbid")

    day: dt.date
    rooms: tuple[int, ...] = ()


@dataclass
class SlotData:
    day: dt.date


class SlotDict(TypedDict):
    day: str


SCHEMA: Any = {
    "type": "object",
    "properties": {
        "_why": {"type": "string"},
        "day": {"type": "string"},
        "rooms": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["day"],
}
RECORD = lower(SCHEMA, "openai", "find-slot").map
NULL = {"_why": "so", "day": "2026-02-28", "rooms": [1, 2]}
F: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
ANSWER = {"name": "f", "arguments": {"a": "x"}, "id": "c"}


def test_the_value_is_an_instance_of_a_model() -> None:
    lifted = lift(NULL, RECORD)
    assert lifted.as_model(Slot) == Slot(day=dt.date(2026, 2, 28), rooms=(1, 2))
    assert lifted.call.as_model(SlotData) == SlotData(dt.date(2026, 2, 28))
    assert lifted.as_model(SlotDict)["day"] == "2026-02-28"


@every_case(
    ("answer", "names"),
    [
        ({"_why": None, "rooms": None}, {"invalid-answer"}),
        ({"_why": None, "day": "someday", "rooms": None}, {"invalid-answer"}),
        ({"error": {"message": "no"}}, {"failed-answer"}),
        ("", {"no-answer"}),
    ],
)
def test_what_is_no_instance_is_a_problem(answer: Any, names: set[str]) -> None:
    with pytest.raises(AnswerError) as caught:
        lift(answer, RECORD).as_model(Slot)
    assert {problem.name for problem in caught.value.problems} == names


@every_case("model", [5, "Slot", "slot", {"type": "object"}, {"type": "int"}])
def test_what_is_no_class_of_data_is_a_type_error(model: Any) -> None:
    with pytest.raises(TypeError, match="not a pydantic model"):
        lift(NULL, RECORD).as_model(model)


def test_of_a_class_that_pydantic_does_not_know_the_reason_is_one_line() -> None:
    class Plain:
        pass

    for use in (lambda: lower(Plain, "openai"), lambda: lift(NULL, RECORD).as_model(Plain)):
        with pytest.raises(TypeError, match=r"it does not know what `Plain` holds: make it a model, ") as caught:
            use()
        assert "\n" not in str(caught.value)


class PlainDict(typing.TypedDict):
    day: str
    rooms: typing.NotRequired[list[int]]


def test_a_typed_dict_of_the_standard_library_is_a_model_on_every_python() -> None:
    assert lift(NULL, RECORD).as_model(PlainDict)["rooms"] == [1, 2]


STEPS = lower({"type": "object", "properties": {"step1_ask": F, "step2_find": SCHEMA}}, "openai", "both").map
BOTH = {"step1_ask": {"a": "x"}, "step2_find": NULL}


def test_a_step_of_a_tool_is_an_instance_of_its_own_model() -> None:
    lifted = lift(BOTH, STEPS)
    assert (
        lifted.as_model(Slot, "step2_find")
        == lifted.call.as_model(Slot, step="step2_find")
        == Slot(day=dt.date(2026, 2, 28), rooms=(1, 2))
    )


def test_a_step_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(InputError, match='`step` must be one of `step1_ask`, `step2_find`, not "step2"'):
        lift(BOTH, STEPS).as_model(Slot, "step2")
    with pytest.raises(AnswerError, match="`/step2_find/day`: `Slot` refuses it"):
        lift(BOTH | {"step2_find": {**NULL, "day": "someday"}}, STEPS).as_model(Slot, "step2_find")


class Wishes(BaseModel):
    rooms: tuple[int, ...] = ()
    quiet: bool = False


@every_case("model", [Slot, Wishes, SlotDict])
def test_a_model_of_a_step_asks_for_the_step(model: Any) -> None:
    """A model that has a default for each property takes any object, and would be an instance of nothing that was said."""
    lifted = lift(BOTH, STEPS)
    for each in (lifted, lifted.call):
        with pytest.raises(InputError) as caught:
            each.as_model(model)
        said = f"`step` must be `step2_find` (the whole value is no `{model.__name__}`), not None"
        assert [str(problem) for problem in caught.value.problems] == [said]


def test_a_model_whose_properties_all_have_defaults_is_made_of_what_says_none_of_them() -> None:
    map_of_any = lower({"type": "object", "properties": {"deep": {"type": "object"}}}, "anthropic", "any").map
    assert lift({}, map_of_any).as_model(Wishes) == Wishes()
    assert lift({"deep": {"rooms": "many"}}, map_of_any).as_model(Wishes) == Wishes()


RESULTS = {
    "openai": {"role": "tool", "tool_call_id": "c", "content": '{"ok":true}'},
    "openai-responses": {"type": "function_call_output", "call_id": "c", "output": '{"ok":true}'},
    "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": '{"ok":true}'}]},
    "gemini": {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"ok": True}}}]},
    "gigachat": {"role": "function", "name": "f", "content": '{"ok":true}'},
    "mistral": {"role": "tool", "tool_call_id": "c", "name": "f", "content": '{"ok":true}'},
    "mcp": {"content": [{"type": "text", "text": '{"ok":true}'}], "structuredContent": {"ok": True}},
    "ollama": {"role": "tool", "tool_name": "f", "content": '{"ok":true}'},
    "vllm": {"role": "tool", "tool_call_id": "c", "content": '{"ok":true}'},
    "bedrock": {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": '{"ok":true}'}]}}]},
    "smolagents": {"role": "tool-response", "content": [{"type": "text", "text": '{"ok":true}'}]},
}


@every_case("target", RESULTS)
def test_a_call_is_answered_in_the_words_of_its_provider(target: str) -> None:
    assert lift(ANSWER, lower(F, target, "f").map).call.result({"ok": True}) == RESULTS[target]


def test_every_target_has_words_for_a_result_and_an_error() -> None:
    for target in targets():
        said = lift(ANSWER, lower(F, target, "f").map).call.result("no room", error=True)
        assert "no room" in str(said)
        assert "@" not in str(said)


def test_a_call_is_answered_in_the_words_of_the_envelope_that_it_was_sent_in() -> None:
    """A gateway that speaks OpenAI's language wants its messages, whatever rules the model behind it has."""
    behind = lower(F, "anthropic-strict", "f", envelope="openai")
    assert lift(ANSWER, behind).call.result({"ok": True}) == RESULTS["openai"]
    own = structs.replace(targets()["mistral"], name="own")
    assert lift(ANSWER, lower(F, own, "f").map).call.result({"ok": True}) == RESULTS["mistral"]


MCP_RESULTS: list[tuple[object, str, bool]] = [
    ({"content": [{"type": "text", "text": "3"}], "isError": False}, "3", False),
    ({"content": [{"type": "text", "text": "3"}], "structuredContent": {"result": 3}}, '{"result":3}', False),
    ({"content": [{"type": "text", "text": "no"}, {"type": "text", "text": "way"}], "is_error": True}, "no\nway", True),
    ({"content": [{"type": "image", "data": "x"}], "isError": False}, '[{"type":"image","data":"x"}]', False),
    ({"content": "mine"}, '{"content":"mine"}', False),
]


@pytest.mark.parametrize(("given", "text", "failed"), MCP_RESULTS)
def test_the_result_of_an_mcp_server_is_told_by_its_content(given: object, text: str, *, failed: bool) -> None:
    (part,) = lift(ANSWER, lower(F, "anthropic", "f").map).call.result(given)["content"]
    assert (part["content"], part.get("is_error", False)) == (text, failed)


def test_errors_are_marked_where_providers_have_a_mark() -> None:
    (part,) = lift(ANSWER, lower(F, "anthropic", "f").map).call.result(" ", error=True)["content"]
    assert part["content"] == "(empty)"
    (part,) = lift(ANSWER, lower(F, "anthropic", "f").map).call.result("no", error=True)["content"]
    assert part["is_error"] is True
    assert lift(ANSWER, lower(F, "gemini", "f").map).call.result(5)["parts"][0]["functionResponse"]["response"] == {"result": 5}
    assert lift(ANSWER, lower(F, "mcp", "f").map).call.result("no", error=True)["isError"] is True
    for empty in ("", " ", {"content": [], "isError": False}):
        (part,) = lift(ANSWER, lower(F, "bedrock", "f").map).call.result(empty)["content"]
        assert part["toolResult"]["content"][0]["text"].strip(), "Bedrock refuses an empty text"
    (part,) = lift(ANSWER, lower(F, "bedrock", "f").map).call.result("no", error=True)["content"]
    assert part["toolResult"]["status"] == "error"


def test_a_result_that_is_no_json_is_a_type_error() -> None:
    call = lift(NULL, RECORD).call
    for value in (object(), float("nan"), {1: 2}):
        with pytest.raises(TypeError, match="not JSON"):
            call.result(value)
