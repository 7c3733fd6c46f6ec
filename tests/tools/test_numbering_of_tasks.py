"""Tasks of one id are numbered apart where nothing reads that id; all else stays as it was written."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from instrc.tools.plan_check import with_unique_ids

TASK = {"type": "object", "properties": {"tool": {"const": "a"}, "id": {"type": "string"}, "arguments": {}}}
SCHEMA = {"properties": {"plan": {"type": "array", "items": {"anyOf": [TASK]}}, "other": {"type": "array", "items": {}}}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["plan", "id", "tool", "from"]), inner, max_size=3)
    ),
)


def task(name: str, after: list[str] | None = None, **arguments: Any) -> dict[str, Any]:
    return {"tool": "a", "id": name, "arguments": arguments, **({"after": after} if after else {})}


def ids(*tasks: Any) -> list[str]:
    answer: Any = with_unique_ids({"plan": list(tasks)}, SCHEMA)[0]
    return [each["id"] for each in answer["plan"]]


def test_the_first_task_keeps_its_id_and_the_others_are_counted() -> None:
    assert ids(task("a"), task("b"), task("a"), task("a")) == ["a", "b", "a_2", "a_3"]


def test_an_id_that_is_in_use_is_not_given_again() -> None:
    assert ids(task("a"), task("a"), task("a_2"), task("a_2")) == ["a", "a_3", "a_2", "a_2_2"]


def test_an_id_that_is_read_or_waited_for_stays_twice() -> None:
    assert ids(task("a"), task("a"), task("b", x={"from": "a.path"})) == ["a", "a", "b"]
    assert ids(task("a"), task("a"), task("b", after=["a"])) == ["a", "a", "b"]


def test_an_id_stays_as_long_as_ids_may_be() -> None:
    assert all(len(each) <= 32 for each in ids(*[task("x" * 32)] * 200))
    assert len(set(ids(*[task("x" * 32)] * 200))) == 200


def test_each_change_is_noted_with_its_place() -> None:
    assert with_unique_ids({"plan": [task("a"), task("a")]}, SCHEMA)[1] == ("/plan/1/id: another task `a` is called `a_2`",)


def test_lists_that_are_no_plan_are_left_alone() -> None:
    answer = {"other": [task("a"), task("a")]}
    assert with_unique_ids(answer, SCHEMA) == (answer, ())


@given(JSON, JSON)
def test_whatever_is_answered_nothing_is_raised(answer: Any, schema: Any) -> None:
    with_unique_ids(answer, schema)
    with_unique_ids({"plan": answer}, SCHEMA)


def test_many_tasks_of_one_id_take_no_time() -> None:
    start = time.process_time()
    ids(*[task("a")] * 100_000)
    assert time.process_time() - start < 5
