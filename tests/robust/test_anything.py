"""Whatever is given to a public function or a command: a right answer or an error of ours, nothing else."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import instrc
from instrc.cli import main
from instrc.codecs.encode import Inexpressible
from instrc.lowering.lower import lower
from instrc.problems.problem import CompileError

OURS = (CompileError, Inexpressible, TypeError)
"""`TypeError` is for values of a type that the function cannot take; its words are ours (see below)."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "required",
        "enum",
        "const",
        "$ref",
        "$defs",
        "anyOf",
        "allOf",
        "oneOf",
        "not",
        "pattern",
        "format",
        "minimum",
        "minLength",
        "name",
        "role",
        "additionalProperties",
        "patternProperties",
        "dependentRequired",
        "arguments",
        "choices",
        "content",
        "instrc",
        "codec",
        "schema",
        "tool",
        "keys",
        "as",
        "of",
        "error",
        "function",
        "input_schema",
        "parameters",
        "description",
    ]
)
LIKE_SCHEMAS = st.recursive(
    JSON | st.sampled_from(["object", "array", "string", "integer", "null", "#", "#/$defs/a", "^(a+)+$", "("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=15,
)
ODD = st.sampled_from(
    [object(), object, b"x", (1, 2), {1: 2}, {1, 2}, float("nan"), "\ud800", 10**400, lambda: 1, Path("x"), Ellipsis]
)
ANYTHING = LIKE_SCHEMAS | JSON | ODD

RECORD = lower({"type": "object", "properties": {"a": {"type": "string"}, "role": {}}}, "gemini").map
FUNCTIONS: dict[str, Callable[[Any, Any], object]] = {
    "flatten": lambda one, _: instrc.flatten(one),
    "strip": lambda one, _: instrc.strip(one, {"thoughts", "metrics"}),
    "split": instrc.split,
    "lower": lambda one, _: instrc.lower(one),
    "lower_all": lambda one, other: instrc.lower_all([one, ("x", other)]),
    "lift an answer": lambda one, _: instrc.lift(one, RECORD),
    "lift by a map": instrc.lift,
    "encode": lambda one, _: instrc.encode(one, RECORD),
    "encode by a map": instrc.encode,
}


def tried(call: Callable[[], object]) -> None:
    """Run what may end well or in an error of ours; a `TypeError` must be raised on purpose, in our own code."""
    wrong: TypeError | None = None
    try:
        call()
    except TypeError as error:
        wrong = error
    except OURS:
        return
    if wrong is not None and wrong.__traceback__ is not None:
        raised = inspect.getinnerframes(wrong.__traceback__)[-1]
        assert "instrc" in raised.filename, wrong
        assert any("raise " in line for line in raised.code_context or ()), wrong


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=40)
@given(one=ANYTHING, other=ANYTHING)
def test_a_public_function_ends_well_or_in_an_error_of_ours(name: str, one: Any, other: Any) -> None:
    tried(lambda: FUNCTIONS[name](one, other))


COMMANDS = [
    ("check", "{}.aug"),
    ("check", "{}.vibe.json"),
    ("compile", "{}.aug"),
    ("compile", "{}.vibe.json", "--target", "openai"),
    ("flatten", "{}.json"),
    ("split", "{}.json", "--schema", "{}.json"),
    ("lift", "{}.json", "--map", "{}.json"),
    ("import", "openai", "{}.json"),
    ("import", "openapi", "{}.yaml"),
    ("fmt", "--check", "{}.aug"),
]
TEXTS = (
    st.binary(max_size=60)
    | LIKE_SCHEMAS.map(lambda value: json.dumps(value, default=str).encode())
    | st.text("aug:tool input A(){}[]|@;,.\"'=-0x1é\n ", max_size=60).map(str.encode)
    | st.text("a: -&*!<[]{}|>#%'\"\n0x_", max_size=40).map(str.encode)
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(suppress_health_check=[*HealthCheck], deadline=None, max_examples=25)
@given(data=TEXTS)
def test_a_command_ends_with_one_of_its_codes(
    command: tuple[str, ...], data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for ending in ("aug", "vibe.json", "json", "yaml"):
        (tmp_path / f"x.{ending}").write_bytes(data)
    code = main([word.format("x") for word in command])
    assert code in {0, 1, 2}, capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(suppress_health_check=[*HealthCheck], deadline=None, max_examples=10_000)
@given(one=ANYTHING, other=ANYTHING)
def test_ten_thousand_values_for_each_function(name: str, one: Any, other: Any) -> None:
    tried(lambda: FUNCTIONS[name](one, other))
