"""The rule check finds what is wrong: each planted mistake is seen."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from test_facts import RICH

from instrc.dialects.catalogue import targets
from instrc.lowering.lower import lower
from instrc.lowering.rules import breaches

Plant = Callable[[Any], object]


def first_array(node: Any) -> Any:
    """Return the first array in a payload's schema."""
    stack = [node]
    while stack:
        here = stack.pop(0)
        if isinstance(here, dict):
            if str(here.get("type")).lower() == "array":
                return here
            stack += [here.get("items"), *(here.get("properties") or {}).values(), *(here.get("anyOf") or ())]
    raise AssertionError


MISTAKES: list[tuple[str, str, str, Plant]] = [
    ("openai", "required", "a property is not required", lambda schema: schema["required"].pop()),
    ("openai", "closed", "an object is open", lambda schema: schema.pop("additionalProperties")),
    ("openai", "keyword", "a refused keyword", lambda schema: schema["properties"]["_thought"].update(uniqueItems=True)),
    ("openai", "keyword", "a default", lambda schema: schema["properties"]["_thought"].update(default="x")),
    ("openai", "root", "a union at the root", lambda schema: schema.update(anyOf=[{"type": "object"}])),
    ("openai", "type", "no type", lambda schema: schema["properties"]["_thought"].clear()),
    (
        "openai",
        "ref",
        "siblings of a reference",
        lambda schema: schema["properties"].update(_thought={"$ref": "#/$defs/Derevo", "type": "object"}),
    ),
    ("openai", "ref", "a dangling reference", lambda schema: schema["properties"].update(_thought={"$ref": "#/$defs/x"})),
    (
        "openai",
        "first-key",
        "unions with one first key",
        lambda schema: [
            branch.update(
                properties={
                    "_reasoning": {"type": "string"},
                    **{k: v for k, v in branch["properties"].items() if k != "_reasoning"},
                }
            )
            for branch in schema["properties"]["step"]["anyOf"]
        ],
    ),
    ("openai", "items", "an array of nothing", lambda schema: first_array(schema).pop("items")),
    ("openai", "enum", "an empty enum", lambda schema: schema["properties"]["_thought"].update(enum=[])),
    ("openai", "enum", "values of another type", lambda schema: schema["properties"]["_thought"].update(enum=[1])),
    ("openai", "format", "an unknown format", lambda schema: schema["properties"]["_thought"].update(format="uri")),
    ("openai", "pattern", "look-around", lambda schema: schema["properties"]["_thought"].update(pattern="(?=a)")),
    ("openai", "order", "required in another order", lambda schema: schema["required"].reverse()),
    ("openai", "boolean", "a boolean schema", lambda schema: schema["properties"].update(_thought=True)),
    ("anthropic", "key", "a dollar", lambda schema: schema["properties"].update({"$a": {}})),
    ("anthropic", "root", "anyOf at the top", lambda schema: schema.update(anyOf=[{}])),
    ("anthropic-strict", "minItems", "a larger minItems", lambda schema: first_array(schema).update(minItems=2)),
    ("anthropic-strict", "keyword", "a bound", lambda schema: schema["properties"]["metric"].update(minimum=1)),
    ("gemini", "order", "no ordering", lambda schema: schema.pop("propertyOrdering")),
    ("gemini", "key", "a key that is no identifier", lambda schema: schema["properties"].update({"a-b": {"type": "string"}})),
    ("gemini-schema", "type", "lower case", lambda schema: schema.update(type="object")),
    ("gemini-schema", "enum", "a number in an enum", lambda schema: schema["properties"]["_thought"].update(enum=[1])),
    ("gigachat", "type", "types in a list", lambda schema: schema["properties"]["_thought"].update(type=["string", "null"])),
    ("gigachat", "description", "nothing said", lambda schema: schema["properties"]["_thought"].pop("description")),
    ("gigachat", "keyword", "a union", lambda schema: schema["properties"]["_thought"].update(anyOf=[{"type": "string"}])),
    ("ollama", "keyword", "const", lambda schema: schema["properties"]["_thought"].update(const="x")),
    ("vllm", "keyword", "multipleOf", lambda schema: schema["properties"]["$metric"].update(multipleOf=2)),
    ("vllm", "pattern", "an open pattern", lambda schema: schema["properties"]["тема"].update(pattern="a")),
    ("mistral", "keyword", "uniqueItems", lambda schema: first_array(schema).update(uniqueItems=True)),
    ("mcp", "root", "a root that is no object", lambda schema: schema.update(type="array")),
    ("smolagents", "description", "an input without words", lambda schema: schema["_thought"].pop("description")),
    ("smolagents", "type", "an unknown type", lambda schema: schema["_thought"].update(type="str")),
]


@pytest.mark.parametrize(("target", "rule", "what", "plant"), MISTAKES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_planted_mistake_is_found(target: str, rule: str, what: str, plant: Plant) -> None:
    payload = copy.deepcopy(lower(RICH, target, "draft").payload)
    assert not breaches(payload, target)
    schema = payload
    for step in targets()[target].where:
        schema = schema[step]
    plant(schema)
    assert rule in {breach.rule for breach in breaches(payload, target)}, what


def test_the_envelope_and_the_name_are_judged() -> None:
    payload = lower(RICH, "openai", "draft").payload
    assert {breach.rule for breach in breaches({**payload, "more": 1}, "openai")} == {"envelope"}
    named = {**payload, "function": {**payload["function"], "name": "a b"}}
    assert {breach.rule for breach in breaches(named, "openai")} == {"tool-name"}
    long = {**payload, "function": {**payload["function"], "description": "x" * 1025}}
    assert {breach.rule for breach in breaches(long, "openai")} == {"description"}
