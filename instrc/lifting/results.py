"""Say to a model what a call gave: the message each provider wants, from the template of its dialect."""

from __future__ import annotations

from instrc.dialects.catalogue import known_target
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.lifting.replies.provider_objects import json_of
from instrc.schema.validation import json_fault

_CHAT: Json = {"role": "tool", "tool_call_id": "@id", "content": "@text"}
"""What those understand who speak as OpenAI does."""

_OF_MCP = frozenset({"structuredContent", "structured_content", "isError", "is_error", "resultType", "result_type"})
"""Members of which the result of an MCP server has one beside its content."""


def message(record: JsonObject, name: str | None, call_id: str | None, value: object, *, error: bool) -> Json:
    """Return the message for the provider that a call is from; `TypeError` for a value that JSON has no words for."""
    known = known_target(record.get("target"))
    said = json_of(value)
    if (fault := json_fault(said)) is not None:
        wrong = f"the result is not JSON at `{fault[0] or '/'}`: {fault[1]}"
        raise TypeError(wrong)
    if (given := _of_mcp(said)) is not None:
        said, failed = given
        error = error or failed
    text = said if isinstance(said, str) else dumps(said, indent=False)
    words: dict[str, Json] = {
        "@id": call_id,
        "@name": mapping(record.get("tool")).get("sent") or name,
        "@text": text,
        "@json": dumps(said, indent=False),
        "@object": {"error": text} if error else said if isinstance(said, dict) else {"result": said},
        "@error": True if error else None,
        "@status": "error" if error else None,
    }
    return _fill_template(record.get("result", _CHAT if known is None else known.result), words)


def _of_mcp(said: Json) -> tuple[Json, bool] | None:
    """Return what a server of MCP gave, and whether it is an error; `None` for what is no result of a server.

    Of a result, a model is told what it is structured as, or its texts; what holds pictures or files is told whole.
    """
    if not isinstance(said, dict) or not isinstance(content := said.get("content"), list) or _OF_MCP.isdisjoint(said):
        return None
    structured = said.get("structuredContent", said.get("structured_content"))
    failed = said.get("isError", said.get("is_error")) is True
    if isinstance(structured, dict) and not failed:
        return structured, False
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content]
    lines = [each for each in texts if isinstance(each, str)]
    return ("\n".join(lines) if len(lines) == len(content) else content), failed


def _fill_template(template: Json, words: dict[str, Json]) -> Json:
    """Return a template with its words filled in; a member whose word says nothing is left out."""
    if isinstance(template, dict):
        filled = {key: _fill_template(item, words) for key, item in template.items()}
        return {key: item for key, item in filled.items() if item is not None}
    if isinstance(template, list):
        return [_fill_template(item, words) for item in template]
    return words.get(template, template) if isinstance(template, str) else template
