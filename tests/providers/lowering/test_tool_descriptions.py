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
