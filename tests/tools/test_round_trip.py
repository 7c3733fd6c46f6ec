"""A tool that we made ourselves comes back as the vibe it was made of, or as exactly what was sent."""

from __future__ import annotations

from typing import Any

import pytest
from hunting import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from instrc import CompileError, flatten, import_tools, lower
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

SENT = {
    "openai": ("openai", ("function", "parameters")),
    "openai-responses": ("openai", ("parameters",)),
    "openai-output": ("openai", ("json_schema", "schema")),
    "mistral": ("openai", ("function", "parameters")),
    "ollama": ("openai", ("function", "parameters")),
    "vllm": ("openai", ("function", "parameters")),
    "gemini": ("openai", ("parametersJsonSchema",)),
    "gigachat": ("openai", ("parameters",)),
    "anthropic": ("anthropic", ("input_schema",)),
    "anthropic-strict": ("anthropic", ("input_schema",)),
}
"""By target: the kind that reads it, and where its schema is."""

KEYS = st.sampled_from(["city", "days", "_thought", "type", "Имя", "a b", "required", "items"])
TEXTS = st.sampled_from(["d", "Tell it.", "Две строки.\nЕщё."])
LEAVES = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "boolean", "number"])}, optional={"description": TEXTS}),
    st.fixed_dictionaries({"type": st.just("integer"), "minimum": st.integers(-3, 3)}, optional={"maximum": st.integers(3, 9)}),
    st.just({"enum": ["a", "b", 1, None]}),
    st.just({"type": "string", "enum": ["a", "b"], "description": "Which."}),
    st.just({"type": ["string", "null"], "maxLength": 5}),
    st.just({}),
)


def _objects(below: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.builds(
        lambda properties, count, description: {
            "type": "object",
            **({"description": description} if description else {}),
            "properties": properties,
            **({"required": list(properties)[:count]} if list(properties)[:count] else {}),
        },
        st.dictionaries(KEYS, below, min_size=1, max_size=4),
        st.integers(0, 4),
        st.none() | TEXTS,
    )


OBJECTS = _objects(
    st.recursive(
        LEAVES,
        lambda below: (
            _objects(below)
            | st.builds(lambda items: {"type": "array", "items": items}, below)
            | st.builds(lambda one, other: {"anyOf": [one, other]}, below, below)
        ),
        max_leaves=6,
    )
)
TOOL_NAMES = st.sampled_from(["get_weather", "getWeather", "get-weather", "a"])


def at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("target", SENT)
@examples(30)
@given(schema=OBJECTS, name=TOOL_NAMES)
def test_what_was_sent_comes_back(target: str, schema: Json, name: str) -> None:
    kind, where = SENT[target]
    try:
        payload = lower(schema, target, name).payload
    except CompileError:
        assume(condition=False)
        return
    imported = import_tools(kind, [payload])
    assert {problem.name for problem in imported.problems} <= {"property-with-meaning"}
    (vibe,) = imported.vibes
    sent = at(payload, where)
    left = {key: value for key, value in vibe.document.items() if key not in {"title", "description"}}
    assert vibe.document["title"] == at(payload, where[:-1])["name"]
    assert dumps(left) == dumps({key: value for key, value in sent.items() if key not in {"title", "description"}})


@examples(100)
@given(schema=OBJECTS, name=st.sampled_from(["get_weather", "узнать погоду", "get weather!"]))
def test_a_tool_of_mcp_is_the_vibe_it_was(schema: Json, name: str) -> None:
    payload = lower(schema, "mcp", name).payload
    imported = import_tools("mcp", {"tools": [payload]})
    assert {problem.name for problem in imported.problems} <= {"property-with-meaning"}
    left = {key: value for key, value in imported.vibes[0].document.items() if key not in {"title", "description"}}
    assert dumps(left) == dumps({key: value for key, value in flatten(schema).items() if key != "description"})
    assert imported.vibes[0].document["title"] == name
    assert imported.vibes[0].document.get("description") == schema.get("description")


def test_a_tool_of_mcp_that_was_renamed_since_is_what_it_says() -> None:
    payload = lower({"type": "object", "properties": {"a": {"type": "string"}}}, "mcp", "имя").payload
    payload["name"] = "other"
    (vibe,) = import_tools("mcp", [payload]).vibes
    assert vibe.document["title"] == "other"


@pytest.mark.parametrize(
    "junk",
    [None, 3, [], {}, {"tool": 3}, {"tool": {"name": 3}, "schema": {}}, {"tool": {"name": "x", "sent": "f"}, "schema": "x"}],
)
def test_a_map_that_is_none_is_no_matter(junk: Json) -> None:
    tool = {"name": "f", "inputSchema": {"type": "object", "properties": {}}, "_meta": {"dev.instrc/map": junk}}
    for meta in (tool["_meta"], junk):
        (vibe,) = import_tools("mcp", [{**tool, "_meta": meta}]).vibes
        assert vibe.document == {"title": "f", "type": "object", "properties": {}}


@examples(60)
@given(schema=OBJECTS)
def test_a_tool_of_smolagents_has_its_inputs_again(schema: Json) -> None:
    payload = lower(schema, "smolagents", "f").payload
    (vibe,) = import_tools("smolagents", [payload]).vibes
    assert list(vibe.document["properties"]) == list(payload["inputs"])
    assert vibe.document["required"] == [name for name, value in payload["inputs"].items() if not value.get("nullable")]


@examples(60)
@given(schema=OBJECTS, kind=st.sampled_from(["openai", "anthropic", "mcp", "bfcl"]))
def test_what_was_imported_is_imported_again_unchanged(schema: Json, kind: str) -> None:
    (first,) = import_tools(kind, [{"name": "f", "parameters": schema}]).vibes
    inner = {key: value for key, value in first.document.items() if key != "title"}
    (second,) = import_tools(kind, [{"name": "f", "parameters": inner}]).vibes
    assert dumps(second.document) == dumps(first.document)
