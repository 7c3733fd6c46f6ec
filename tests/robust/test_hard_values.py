"""Values that are hard to work with, given to every parameter of every public function: circles, depth, length, odd kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from functions import SOUND, call, ends_well, parameters, public, required
from values import Proxy, Refusing, Unreadable, Wordless

import instrc
from instrc.text.arguments import WRITTEN_VALUES  # a limit that takes long to reach
from instrc.text.jsontext import dumps


def circle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = [value]
    return value


def deep(levels: int) -> Any:
    value: Any = {"type": "string"}
    for _ in range(levels):
        value = {"properties": {"a": value}}
    return value


def long(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def shared(held: Callable[[Any], Any]) -> Any:
    """Return a small value that would be 2^40 values if it were written."""
    value: Any = {"type": "string"}
    for _ in range(40):
        value = held(value)
    return value


HARD: dict[str, Callable[[], Any]] = {
    "shared objects": lambda: shared(lambda part: {"properties": {"a": part, "b": part}}),
    "shared lists": lambda: {"a": shared(lambda part: [part, part])},
    "shared tuples": lambda: {"a": shared(lambda part: (part, part))},
    "shared beside a class": lambda: {"a": int, "b": shared(lambda part: {"allOf": [part, part]})},
    "circle": circle,
    "deep": lambda: deep(1100),
    "long": lambda: long(1500),
    "no comparing": Refusing,
    "no words": Wordless,
    "a proxy of nothing": Proxy,
    "more digits than Python writes": lambda: 10**5000,
    "huge": lambda: 10**40,
    "less than nothing": lambda: -1,
    "nothing": lambda: None,
    "NUL": lambda: "\0",
    "many letters": lambda: "a" * 5000,
    "one text": lambda: "schemas",
    "lists of odd things": lambda: [None, 1, object(), {1: 2}],
    "names of odd things": lambda: {"": object(), "a": None},
    "used up": lambda: iter([{}]),
}
HARDEST = HARD | {"deep": lambda: deep(5000), "long": lambda: long(20_000)}
ALIKE = {"shared lists", "shared tuples", "shared beside a class"}
"""Values that are refused as shared objects are."""
PLACES = [(name, each.name, each.default) for name, function in public().items() for each in parameters(function)]


@pytest.mark.parametrize(
    ("hard", "values", "limit"),
    [
        *(pytest.param(name, HARD, 50_000, id=name) for name in HARD if name not in ALIKE),
        *(pytest.param(name, HARDEST, WRITTEN_VALUES, id=f"{name}, most", marks=pytest.mark.long) for name in HARD),
    ],
)
def test_hard_values_end_well_wherever_they_are_given(
    hard: str, values: Any, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shared parts are counted up to a limit, which takes a tenth of a second each time: a low one does as well."""
    for name in ("text.arguments.WRITTEN_VALUES", "runtime.boundary.WRITTEN_VALUES", "tools.sources.GIVEN_PARTS"):
        monkeypatch.setattr(f"instrc.{name}", limit)
    monkeypatch.chdir(tmp_path)  # a text may be taken for a store
    for name, place, default in PLACES:
        if hard == "no comparing" and isinstance(default, bool):
            continue  # what is true or false is asked for its truth
        given = {each.name: SOUND[each.name][0] for each in required(public()[name])}
        given[place] = values[hard]()
        started = process_time()  # not that of others on the machine
        try:
            ends_well(lambda name=name, given=given: call(public()[name], given))  # type: ignore[misc]  -- bound for this turn
        except Exception as error:
            error.add_note(f"{name}({place}=…)")
            raise
        assert process_time() - started < 20, (name, place)


def asking() -> instrc.Run:
    """Return a run that has done a step and waits for a person."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    vibes = {"Draft": text, "Approve_User": text}
    model = instrc.Scripted({"draft": {"text": "t"}})
    return instrc.run("const d = Draft(prompt); Approve_User(d)", "x", vibes=vibes, model=model)


METHODS: dict[str, Callable[[instrc.Run, Any], object]] = {
    "answer(step)": lambda run, hard: run.answer(hard, {"text": "t"}),
    "answer(data)": lambda run, hard: run.answer("approve", hard),
    "step(name)": lambda run, hard: run.step(hard),
    "step(as_)": lambda run, hard: run.step("draft", as_=hard),
    "output_as": lambda run, hard: run.output_as(hard),
    "retry(step)": lambda run, hard: run.retry(hard),
    "retry(new_key)": lambda run, hard: run.retry(new_key=hard),
    "retry(requests)": lambda run, hard: run.retry(requests=hard),
    "retry(tokens)": lambda run, hard: run.retry(tokens=hard),
    "fork(step)": lambda run, hard: run.fork(hard),
    "fork(set)": lambda run, hard: run.fork(set=hard),
    "fork(set=a result)": lambda run, hard: run.fork(set={"draft": hard}),
    "fork(id)": lambda run, hard: run.fork(id=hard),
}


@pytest.mark.parametrize("method", METHODS)
def test_hard_values_end_well_in_a_run(method: str) -> None:
    def work(hard: str) -> object:
        try:
            return METHODS[method](asking(), HARD[hard]())
        except instrc.RunError as error:
            return str(error)

    for hard in HARD:
        try:
            ends_well(partial(work, hard))
        except Exception as error:
            error.add_note(hard)
            raise


@pytest.mark.parametrize("key", [None, 1, 1.5, True, b"a", ("a",)])
def test_a_key_that_is_no_text_is_refused_on_purpose(key: Any) -> None:
    with pytest.raises(TypeError, match="a key of JSON is a text"):
        instrc.split([{key: {"a": 1}}])


@pytest.mark.parametrize("held", [lambda part: {"a": part, "b": part}, lambda part: [part, part]])
def test_parts_that_are_shared_too_often_to_be_written_are_told(held: Callable[[Any], Any]) -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    lowered = instrc.lower(schema, "openai", "x")
    for work in (
        lambda: instrc.lower({"const": shared(held)}, "openai"),
        lambda: instrc.compile("X", vibes={"X": {"type": "object", "default": shared(held)}}),
        lambda: instrc.encode({"a": shared(held)}, lowered),
    ):
        with pytest.raises(TypeError, match="over 5,000,000 values when it is written"):
            work()
    activity = {"type": "object", "properties": {"output": {}}}
    run = instrc.run(
        "X_Activity(prompt)",
        "q",
        vibes={"X_Activity": activity},
        model="sample",
        activities={"X_Activity": lambda _: shared(held)},
    )
    assert run.outcome is not None
    assert "over 5,000,000 values" in run.outcome["error"]["message"]


def test_shared_parts_are_no_circle() -> None:
    part = {"_why": 1, "x": 2**70}
    assert instrc.split([part, part])["output"] == [{"x": 2**70}, {"x": 2**70}]
    assert dumps([part, part], indent=False).count(str(2**70)) == 2


@pytest.mark.parametrize("kind", [None, 5, float("nan"), int])
def test_a_kind_of_importer_is_a_text(kind: Any) -> None:
    with pytest.raises(TypeError, match="a kind is a text"):
        instrc.import_tools(kind, {})


def test_a_document_whose_schemas_are_none_is_refused_before_it_is_run() -> None:
    with pytest.raises(instrc.CompileError, match="invalid-schema"):
        instrc.rehearse({"pattern": []}, "a letter")
    with pytest.raises(instrc.CompileError, match="invalid-schema"):
        instrc.rehearse({"activity": "a", "arguments": "prompt", "tool": {"properties": {"a": {"pattern": []}}}}, "a letter")


def test_a_value_is_written_for_a_target_only_if_it_is_json() -> None:
    record = instrc.lower({"type": "object", "properties": {"a": {}}}, "gemini").map
    for value in ({1: 2}, {"a": float("nan")}):
        with pytest.raises(instrc.AnswerError, match="invalid-answer"):
            instrc.encode(value, record, check=False)


@pytest.mark.parametrize("inside", [{"default": Wordless()}, {"enum": [10**5000, Wordless()]}, Unreadable(type="object")])
def test_what_raises_when_it_is_read_is_refused_on_purpose(inside: Any) -> None:
    with pytest.raises((TypeError, instrc.CompileError)):
        instrc.lower({"type": "object", "properties": {"a": inside}}, "openai")
