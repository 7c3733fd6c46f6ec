"""A value that holds itself is refused at once by every function that takes a value: no JSON says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import instrc
from instrc.jsontext import dumps


def circle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = [value]
    return value


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "check_plan": lambda value: instrc.check_plan(value, value),
    "dumps": dumps,
    "flatten": instrc.flatten,
    "import_plan": lambda value: instrc.import_plan(value, value),
    "lower": instrc.lower,
    "run": lambda value: instrc.run(value, "x", model="sample"),
    "score_plans": lambda value: instrc.score_plans([value], [value], value),
    "split": instrc.split,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_value_that_holds_itself_ends_at_once(name: str) -> None:
    try:
        FUNCTIONS[name](circle())
    except (instrc.CompileError, TypeError):
        return
    assert name in {"check_plan", "flatten", "import_plan", "score_plans"}, "what is told otherwise is told in the result"


@pytest.mark.parametrize("key", [None, 1, 1.5, True, b"a", ("a",)])
def test_a_key_that_is_no_text_is_refused_on_purpose(key: Any) -> None:
    with pytest.raises(TypeError, match="a key of JSON is a text"):
        instrc.split([{key: {"a": 1}}])


def test_shared_parts_are_no_circle() -> None:
    part = {"_why": 1, "x": 2**70}
    assert instrc.split([part, part])["output"] == [{"x": 2**70}, {"x": 2**70}]
    assert dumps([part, part], indent=False).count(str(2**70)) == 2


@pytest.mark.parametrize("kind", [None, 5, float("nan"), int])
def test_a_kind_of_importer_is_a_text(kind: Any) -> None:
    with pytest.raises(TypeError, match="a kind is a text"):
        instrc.import_tools(kind, {})
