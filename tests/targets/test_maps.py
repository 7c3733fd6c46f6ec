"""Properties that are not declared come back as what they are, whatever else an object holds."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.targets.lift import encode, lift
from instrc.targets.lower import lower


@pytest.mark.parametrize("target", ["mistral", "vllm", "smolagents", "openai", "gemini", "gigachat"])
def test_values_are_read_by_the_pattern_that_their_keys_match(target: str) -> None:
    strange: Any = {"type": "object", "properties": {'quo"te': {"enum": [[1], {"a": 1}]}}, "required": ['quo"te']}
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "patternProperties": {"^x-": {"enum": [[], "[]"]}},
        "additionalProperties": {**strange, "additionalProperties": False},
    }
    result = lower({"type": "object", "properties": {"v": schema}, "required": ["v"], "additionalProperties": False}, target)
    value = {"v": {"id": 1, "x-a": [], "x-b": "[]", "b": {'quo"te': [1]}, "c": {'quo"te': {"a": 1}}}}
    assert lift(encode(value, result.map), result.map).value == value
    assert not [loss for loss in result.losses if loss.kind == "narrowed"]
