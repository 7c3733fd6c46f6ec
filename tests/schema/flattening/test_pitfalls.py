"""Known ways to get `allOf` wrong: each has instances that must stay accepted and rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import orjson
import pytest

from instrc.schema.flattening.flatten import flatten

CASES = orjson.loads((Path(__file__).parents[2] / "data" / "flatten-pitfalls.json").read_bytes())
WRITTEN_DIFFERENTLY = {
    "enum-filter": {"enum": ["a", None], "type": ["string", "null"]},  # the type says nothing new and stays
    "orphan-then": {},
    "ap-pattern-shield": {  # the pattern speaks for `ab` as it did
        "patternProperties": {"^a": {"minimum": 3}},
        "additionalProperties": False,
        "properties": {"ab": {"maximum": 9}},
    },
    "prop-dropped-pattern": {  # no pattern is built from two
        "properties": {"x1": True},
        "patternProperties": {"^y": True},
        "additionalProperties": False,
        "allOf": [
            {
                "properties": {"y": {"type": "string"}},
                "patternProperties": {"\\d$": {"type": "number"}},
                "additionalProperties": False,
            }
        ],
    },
    "if-group": {"if": {"const": 1}, "then": False, "else": {"if": {"const": 2}, "then": False}},  # at most one of them holds
    "recursive": {  # the root itself recurs: no definition is needed
        "type": "object",
        "properties": {"n": {"type": "integer"}, "kids": {"items": {"$ref": "#"}}},
        "required": ["n"],
    },
    "id-base": {"$id": "https://e.com/root", "properties": {"x": {"type": "string"}}},  # the root keeps its name
    "dynamicRef": {"$id": "https://e.com/r", "items": {"type": "string"}},
}


@pytest.fixture(params=CASES, ids=[case["id"] for case in CASES])
def case(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_there_are_all_of_them() -> None:
    assert len(CASES) == 52
    assert {case["id"] for case in CASES} >= WRITTEN_DIFFERENTLY.keys()


def test_what_was_accepted_and_rejected_stays_so(case: Any) -> None:
    flat = flatten(case["input"])
    for judge in (jsonschema.Draft202012Validator(flat), jsonschema_rs.Draft202012Validator(flat)):
        assert [value for value in case["accept"] if not judge.is_valid(value)] == []
        assert [value for value in case["reject"] if judge.is_valid(value)] == []


def test_it_is_written_as_a_person_would(case: Any) -> None:
    assert flatten(case["input"]) == WRITTEN_DIFFERENTLY.get(case["id"], case["good"])


def test_the_input_is_left_alone_and_the_result_is_flat(case: Any) -> None:
    before = orjson.dumps(case["input"])
    flat = flatten(case["input"])
    assert orjson.dumps(case["input"]) == before
    assert orjson.dumps(flatten(flat)) == orjson.dumps(flat)
