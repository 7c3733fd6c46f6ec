"""The rule check finds what is wrong: each planted mistake is seen."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from every_case import every_case
from test_facts_of_targets import RICH

from instrc import lower, targets, verify
from instrc.providers.lowering.verify import Breach, breaches  # the rules alone, without a look for the schema
from instrc.text.jsonvalue import at

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
    ("openai", "object", "a map", lambda schema: schema["properties"]["_thought"].update(type="object", additionalProperties={})),
    (
        "vllm",
        "object",
        "neither properties nor a map",
        lambda schema: [schema.pop("properties"), schema.pop("additionalProperties")],
    ),
    ("openai", "items", "an array of nothing", lambda schema: first_array(schema).pop("items")),
    ("openai", "enum", "an empty enum", lambda schema: schema["properties"]["_thought"].update(enum=[])),
    ("openai", "enum", "values of another type", lambda schema: schema["properties"]["_thought"].update(enum=[1])),
    ("openai", "format", "an unknown format", lambda schema: schema["properties"]["_thought"].update(format="uri")),
    ("openai", "pattern", "look-around", lambda schema: schema["properties"]["_thought"].update(pattern="(?=a)")),
    ("openai", "order", "required in another order", lambda schema: schema["required"].reverse()),
    ("openai", "boolean", "a boolean schema", lambda schema: schema["properties"].update(_thought=True)),
    ("openai", "schema", "a schema that is none", lambda schema: schema["properties"].update(_thought=1)),
    ("openai", "schema", "a type twice", lambda schema: schema["properties"]["_thought"].update(type=["string", "string"])),
    ("openai", "schema", "a list of no types", lambda schema: schema["properties"]["_thought"].update(type=[])),
    ("openai", "enum", "a value twice", lambda schema: schema["properties"]["_thought"].update(enum=["a", "a"])),
    ("openai", "schema", "a name twice", lambda schema: schema["required"].append(schema["required"][-1])),
    ("openai", "required", "a name of nothing", lambda schema: schema["required"].append("nowhere")),
    ("openai", "schema", "a union of nothing", lambda schema: schema["properties"].update(_thought={"anyOf": []})),
    ("anthropic", "comment", "a comment", lambda schema: schema.update({"$comment": "for programs"})),
    ("anthropic", "comment", "a word of an API", lambda schema: schema["properties"]["_thought"].update({"x-order": 1})),
    ("anthropic", "comment", "one in capitals", lambda schema: schema["properties"]["_thought"].update({"X-Order": 1})),
    ("anthropic", "key", "a dollar", lambda schema: schema["properties"].update({"$a": {}})),
    ("anthropic", "root", "anyOf at the top", lambda schema: schema.update(anyOf=[{}])),
    ("anthropic-strict", "minItems", "a larger minItems", lambda schema: first_array(schema).update(minItems=2)),
    ("anthropic-strict", "keyword", "a bound", lambda schema: schema["properties"]["metric"].update(minimum=1)),
    ("gemini", "enum", "an empty word", lambda schema: schema["properties"]["_thought"].update(enum=["a", ""])),
    (
        "gemini",
        "recursion",
        "a reference",
        lambda schema: [schema["properties"].update(_thought={"$ref": "#/$defs/a"}), schema.update({"$defs": {"a": {}}})],
    ),
    ("gemini", "order", "no ordering", lambda schema: schema.pop("propertyOrdering")),
    ("gemini", "key", "a key that is not an identifier", lambda schema: schema["properties"].update({"a-b": {"type": "string"}})),
    ("gemini-schema", "type", "lower case", lambda schema: schema.update(type="object")),
    ("gemini-schema", "enum", "a number in an enum", lambda schema: schema["properties"]["_thought"].update(enum=[1])),
    ("gigachat", "type", "two types", lambda schema: schema["properties"]["_thought"].update(type=["string", "integer"])),
    ("gemini-schema", "type", "two types", lambda schema: schema["properties"]["_thought"].update(type=["STRING", "INTEGER"])),
    ("gigachat", "type", "types in a list", lambda schema: schema["properties"]["_thought"].update(type=["string", "null"])),
    ("gigachat", "description", "nothing said", lambda schema: schema["properties"]["_thought"].pop("description")),
    ("gigachat", "keyword", "a union", lambda schema: schema["properties"]["_thought"].update(anyOf=[{"type": "string"}])),
    ("ollama", "keyword", "const", lambda schema: schema["properties"]["_thought"].update(const="x")),
    ("vllm", "keyword", "multipleOf", lambda schema: schema["properties"]["$metric"].update(multipleOf=2)),
    (
        "mistral",
        "number",
        "a step of two decimals",
        lambda schema: schema["properties"]["$metric"].update(type="number", multipleOf=0.25),
    ),
    ("vllm", "pattern", "an open pattern", lambda schema: schema["properties"]["тема"].update(pattern="a")),
    (
        "vllm",
        "pattern",
        "a length beside a pattern",
        lambda schema: schema["properties"]["тема"].update(pattern="^a$", maxLength=2),
    ),
    ("vllm", "number", "a bound over 63 bits", lambda schema: schema["properties"]["$metric"].update(minimum=-(2**62) - 1)),
    ("vllm", "number", "a count over 31 bits", lambda schema: schema["properties"]["тема"].update(maxLength=2**31 + 1)),
    ("vllm", "closed", "an object that says nothing of other keys", lambda schema: schema.pop("additionalProperties")),
    ("mistral", "keyword", "uniqueItems", lambda schema: first_array(schema).update(uniqueItems=True)),
    ("mcp", "root", "a root that is not an object", lambda schema: schema.update(type="array")),
    ("smolagents", "description", "an input without words", lambda schema: schema["_thought"].pop("description")),
    ("smolagents", "key", "a key that is not an identifier", lambda schema: schema.update({"a-b": schema["_thought"]})),
    ("smolagents", "nullable", "a null that is denied", lambda schema: schema["_thought"].update(nullable=False)),
    ("smolagents", "type", "an unknown type", lambda schema: schema["_thought"].update(type="str")),
]


@every_case(("target", "rule", "what", "plant"), MISTAKES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_planted_mistake_is_found(target: str, rule: str, what: str, plant: Plant) -> None:
    payload = copy.deepcopy(lower(RICH, target, "draft").payload)
    assert not verify(payload, target).breaches
    schema = payload
    for step in targets()[target].where:
        schema = schema[step]
    plant(schema)
    assert rule in {breach.rule for breach in verify(payload, target).breaches}, what


def test_the_envelope_and_the_name_are_judged() -> None:
    payload = lower(RICH, "openai", "draft").payload
    assert {breach.rule for breach in verify({**payload, "more": 1}, "openai").breaches} == {"envelope"}
    named = {**payload, "function": {**payload["function"], "name": "a b"}}
    assert {breach.rule for breach in verify(named, "openai").breaches} == {"tool-name"}
    long = {**payload, "function": {**payload["function"], "description": "x" * 1025}}
    assert {breach.rule for breach in verify(long, "openai").breaches} == {"description"}


def test_a_payload_that_is_no_object_and_a_schema_that_is_no_json_are_told() -> None:
    payload = lower(RICH, "openai", "draft").payload
    assert {breach.rule for breach in breaches({**payload, "function": "draft"}, "openai")} == {"envelope"}
    text = copy.deepcopy(lower(RICH, "bedrock-output", "draft").payload)
    assert not breaches(text, "bedrock-output")
    *above, last = targets()["bedrock-output"].where
    holder = text
    for step in above:
        holder = holder[step]
    holder[last] = "{"
    assert {breach.rule for breach in breaches(text, "bedrock-output")} == {"schema"}


def test_a_breach_is_written_with_its_place_and_its_rule() -> None:
    payload = copy.deepcopy(lower(RICH, "openai", "draft").payload)
    payload["function"]["parameters"]["properties"]["_thought"]["format"] = "uri"
    [breach] = verify(payload, "openai").breaches
    assert str(breach) == '/function/parameters/properties/_thought: "uri" is not a known format [format]'


@every_case("value", ["x", 5, None, [[]], [{"a": []}], {"a": 1}])
@every_case("keyword", ["anyOf", "required", "enum", "properties", "$ref", "type", "pattern", "format", "minItems"])
@every_case("target", ["openai", "gemini-schema", "smolagents", "anthropic", "vllm"])
def test_a_keyword_that_holds_what_it_cannot_is_judged_and_never_ends_the_judgement(
    target: str, keyword: str, value: Any
) -> None:
    payload = lower({"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}, target, "draft").payload
    place = "".join(f"/{step}" for step in targets()[target].where) + ("/a" if target == "smolagents" else "/properties/a")
    at(payload, place)[keyword] = copy.deepcopy(value)
    found = verify(payload, target).breaches
    lists = keyword in {"anyOf", "required", "enum"} and not isinstance(value, list)
    assert found or target == "smolagents" or not lists, keyword  # inputs are judged by their types alone


@every_case(("place", "shown"), [("/properties/a", "/properties/a"), ("", "/")])
def test_a_breach_is_shown_with_its_place_and_its_rule(place: str, shown: str) -> None:
    assert str(Breach("depth", place, "it is too deep")) == f"{shown}: it is too deep [depth]"
