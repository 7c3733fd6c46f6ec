"""What a tool is said to be for stands where its target looks for it, once."""

from __future__ import annotations

from typing import Any

from every_case import every_case

from instrc import lower, targets
from instrc.text.jsontext import dumps

TITLED: Any = {"title": "Find a slot", "type": "object", "properties": {"a": {"type": "string"}}}
TOOLS = sorted(set(targets()) - {"jsonschema"})


def described(payload: Any) -> Any:
    """Return the description of the tool itself."""
    for member in ("function", "json_schema", "toolSpec", "structured_outputs", "textFormat", "structure", "jsonSchema"):
        payload = payload.get(member, payload)
    for member in ("json", "schema", "responseJsonSchema"):  # where the envelope has no member for it
        payload = payload if "description" in payload else payload.get(member, payload)
    return payload.get("description")


OPTIONS: Any = {"anthropic": {"defer_loading": True, "name": "other"}, "openai-responses": {"defer_loading": True}}


@every_case(
    ("target", "sent"),
    [
        ("anthropic", {"defer_loading": True}),
        ("anthropic-strict", {"defer_loading": True}),
        ("openai-responses", {"defer_loading": True}),
        ("anthropic-output", {}),
        ("openai", {}),
        ("bedrock", {}),
    ],
)
def test_options_of_a_tool_stand_beside_its_name_at_their_provider_only(target: str, sent: Any) -> None:
    plain, given = lower(TITLED, target, "find"), lower({**TITLED, "x-tool": OPTIONS}, target, "find")
    assert given.payload == {**plain.payload, **sent}
    assert [loss.keyword for loss in given.losses if loss.keyword == "x-tool"] == ([] if sent else ["x-tool"])
    assert given.map["schema"] == {**plain.map["schema"], **({} if sent else {"x-tool": OPTIONS})}


def test_options_are_those_of_an_inner_function_and_may_give_up_strictness() -> None:
    payload: Any = lower({**TITLED, "x-tool": {"openai": {"strict": False, "x": 1}}}, "openai").payload
    assert (payload["function"]["strict"], payload["function"]["x"]) == (False, 1)


def test_a_tool_of_a_provider_keeps_its_options_there() -> None:
    tool: Any = {"name": "a", "input_schema": TITLED, "cache_control": {"type": "ephemeral"}, "allowed_callers": ["direct"]}
    assert (
        lower(tool, "anthropic").payload.items()
        >= {"allowed_callers": ["direct"], "cache_control": {"type": "ephemeral"}}.items()
    )
    assert "cache_control" not in dumps(lower(tool, "openai").payload)


@every_case("target", TOOLS)
def test_a_title_describes_a_tool_that_has_no_description(target: str) -> None:
    payload = lower(TITLED, target).payload
    assert described(payload) == "Find a slot"
    assert dumps({**payload, "_meta": None}, indent=False).count('"description":"Find a slot"') == 1


@every_case("target", TOOLS)
def test_a_description_comes_before_the_title_and_what_is_asked_for_before_both(target: str) -> None:
    schema = {**TITLED, "description": "Looks for one."}
    assert described(lower(schema, target).payload).startswith("Looks for one.")
    assert described(lower(schema, target, description="Finds.").payload).startswith("Finds.")
    assert described(lower(TITLED, target, description="Finds.").payload).startswith("Finds.")
