"""An answer divided as its schema is stripped."""

# ruff: noqa: FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema_rs
from hunting import examples
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.strip import escaped, split, strip  # the names of what is taken out

ANSWER = {"_a": 1, "step": {"_b": {"_c": 2}, "x": [{"_d": 3, "y": 4}, [{"$e": 5}], 6]}, "$m": 7}
SCHEMA = {
    "properties": {
        "_a": {},
        "step": {
            "properties": {
                "_b": {},
                "x": {"items": {"anyOf": [{"properties": {"_d": {}}}, {"items": {"properties": {"$e": {}}}}]}},
            }
        },
        "$m": {},
    }
}


def test_by_names_alone() -> None:
    assert split(ANSWER) == {
        "output": {"step": {"x": [{"y": 4}, [{}], 6]}},
        "thoughts": {"_a": 1, "step._b": {"_c": 2}, "step.x.0._d": 3},
        "metrics": {"step.x.1.0.$e": 5, "$m": 7},
    }


def test_a_schema_that_declares_them_says_the_same() -> None:
    assert split(ANSWER, SCHEMA) == split(ANSWER)


def test_what_a_schema_does_not_declare_is_data() -> None:
    schema = {"properties": {"map": {"additionalProperties": {"type": "number"}}, "_t": {}}}
    answer = {"map": {"_k": 1, "$v": 2}, "_t": 1, "_other": 2}
    assert split(answer, schema) == {"output": {"map": {"_k": 1, "$v": 2}, "_other": 2}, "thoughts": {"_t": 1}, "metrics": {}}
    assert split(answer, True)["output"] == answer
    assert split(answer, {"const": 1})["output"] == answer


def test_every_way_to_say_what_stands_where_is_seen() -> None:
    inner = {"properties": {"_t": {}}}
    for schema in (
        {"patternProperties": {"^k": inner}},
        {"additionalProperties": inner},
        {"unevaluatedProperties": inner},
        {"properties": {"k": {"$ref": "#/$defs/d"}}, "$defs": {"d": inner}},
        {"properties": {"k": {"allOf": [True, inner]}}},
        {"properties": {"k": {"oneOf": [inner]}}},
        {"properties": {"k": {"if": {}, "then": inner}}},
        {"properties": {"k": {"dependentSchemas": {"x": inner}}}},
    ):
        assert split({"k": {"_t": 1}}, schema)["thoughts"] == {"k._t": 1}, schema
    for schema in ({"prefixItems": [inner]}, {"items": inner}, {"contains": inner}, {"items": [inner]}):
        assert split([{"_t": 1}], schema)["thoughts"] == {"0._t": 1}, schema
    for schema in (
        {"properties": {"k": {"$ref": "https://e.com"}}},
        {"properties": {"k": {"$ref": "#/no"}}},
        {"properties": {"k": {"$ref": "#no"}}},
        {"patternProperties": {"(": inner}},
        {"prefixItems": 3},
    ):
        assert split({"k": {"_t": 1}}, schema)["thoughts"] == {}, schema


def test_a_recursive_schema_is_followed() -> None:
    schema = {"properties": {"_t": {}, "kid": {"$ref": "#"}, "loop": {"$ref": "#/properties/loop"}}}
    answer = {"kid": {"kid": {"_t": 1}}, "loop": {"_t": 2}}
    assert split(answer, schema)["thoughts"] == {"kid.kid._t": 1}


def test_paths_are_never_ambiguous() -> None:
    answer = {"a.b": {"_x": 1}, "a": {"b": {"_x": 2}, "": {"_y": 3}}, "c\\": {"_x.y": 4}}
    assert split(answer)["thoughts"] == {"a\\.b._x": 1, "a.b._x": 2, "a.\\._y": 3, "c\\\\._x\\.y": 4}
    assert escaped("plain") == "plain"


def test_plain_values_are_their_own_output() -> None:
    for value in (None, 1, "x", [], {}, [1, [2]]):
        assert split(value) == {"output": value, "thoughts": {}, "metrics": {}}
    assert split([{"_a": 1}])["thoughts"] == {"0._a": 1}


def test_the_answer_is_left_alone() -> None:
    answer = {"_a": 1, "b": [{"_c": 2}]}
    split(answer)["output"]["b"].append(1)
    assert answer == {"_a": 1, "b": [{"_c": 2}]}


NAMES = ("_t", "$m", "a", "b")


def made(random: Random, depth: int) -> tuple[dict[str, Any], Any]:
    """Make an object schema and an answer that it accepts."""
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return {"type": "integer"}, random.randint(0, 9)
    if kind < 0.4:
        schema, value = made(random, depth - 1)
        return {"type": "array", "items": schema}, [value] * random.randint(0, 3)
    if kind < 0.5:
        return {"type": "object", "additionalProperties": {"type": "integer"}}, dict.fromkeys(random.sample(NAMES, 2), 1)
    properties, answer = {}, {}
    for name in random.sample(NAMES, random.randint(1, 4)):
        properties[name], answer[name] = made(random, depth - 1)
    required = random.sample(sorted(answer), random.randint(0, len(answer)))
    schema = {"type": "object", "properties": properties, "required": required, "minProperties": 0}
    if random.random() < 0.5:
        schema["additionalProperties"] = False
    if random.random() < 0.3:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return schema, answer


@examples(60)
@given(st.integers(0, 2**32))
def test_the_output_satisfies_the_stripped_schema(seed: int) -> None:
    random = Random(seed)  # noqa: S311  -- tests want repeatable chance
    for _ in range(50):
        schema, answer = made(random, 4)
        assert jsonschema_rs.is_valid(schema, answer)
        divided = split(answer, schema)
        assert jsonschema_rs.is_valid(strip(schema, {"thoughts", "metrics"}), divided["output"]), (schema, answer)
        if not divided["thoughts"] and not divided["metrics"]:
            assert divided["output"] == answer
