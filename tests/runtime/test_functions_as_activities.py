"""Functions of Python as activities: called by the names of their parameters, with what their annotations say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, get_type_hints

import pytest

import instrc
from instrc.text.jsonvalue import Json, JsonObject

pydantic = pytest.importorskip("pydantic")

ASK = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "days": {}, "on": {"type": "string"}},
    "required": ["who", "days", "on"],
}
BACK = {"type": "object", "properties": {"output": {}}, "required": ["output"]}
ANSWERS = {"ask": {"who": "ann", "days": 2, "on": "2026-11-23"}}


class Slot(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    day: date
    free: bool = True


@dataclass
class Note:
    text: str
    on: date


class Person(TypedDict):
    who: str


def called(function: Any, call: str = "Find_Activity(who: asked.who, days: asked.days)", **answers: Json) -> Any:
    """Return what a step gives that a function carries out; a failed run is an error."""
    program = f"const asked = Ask(prompt); {call}"
    script = instrc.Scripted({"ask": ANSWERS["ask"] | answers})
    run = instrc.run(
        program, "x", vibes={"Ask": ASK, "Find_Activity": BACK}, model=script, activities={"Find_Activity": function}
    )
    return run.value


def failed(function: Any, call: str = "Find_Activity(who: asked.who, days: asked.days)", **answers: Json) -> str:
    """Return why a run failed."""
    program = f"const asked = Ask(prompt); {call}"
    script = instrc.Scripted({"ask": ANSWERS["ask"] | answers})
    run = instrc.run(
        program, "x", vibes={"Ask": ASK, "Find_Activity": BACK}, model=script, activities={"Find_Activity": function}
    )
    assert run.outcome is not None
    assert run.outcome["status"] == "failed"
    message: str = run.outcome["error"]["message"]
    return message


def two(who: str, days: int = 3) -> Json:
    return [who, days]


def plain(who, days=3):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  -- that it says nothing is the case
    return [who, days]


class Finder:
    def __call__(self, who: str, days: int) -> Json:
        return [who, days]

    def find(self, who: str, *, days: int) -> Json:
        return [who, days]

    async def wait(self, who: str, days: int) -> Json:
        await asyncio.sleep(0)
        return [who, days]


@pytest.mark.parametrize(
    "function",
    [
        two,
        plain,
        Finder(),
        Finder().find,
        Finder().wait,
        lambda **given: [given["who"], given["days"]],
        lambda who, days: [who, days],
    ],
)
def test_members_are_arguments_where_they_are_parameters(function: Callable[..., object]) -> None:
    assert called(function) == ["ann", 2]


def test_what_is_left_out_has_its_default() -> None:
    assert called(two, "Find_Activity(who: asked.who)") == ["ann", 3]
    assert called(partial(two, days=9), "Find_Activity(who: asked.who)") == ["ann", 9]


def test_one_parameter_takes_the_value_that_is_read() -> None:
    assert called(two, "Find_Activity(asked.who)") == ["ann", 3]
    assert called(lambda given: given, "Find_Activity(asked.who)") == "ann"


def whole(given: Mapping[str, Any]) -> Json:
    return dict(given)


def whole_dict(who: dict[str, Any]) -> Json:
    return who


def with_another(given, client=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  -- as above
    return [given, client]


def test_a_parameter_that_may_be_any_object_takes_the_whole_value() -> None:
    for function in (whole, lambda given: given):
        assert called(function, "Find_Activity(who: asked.who)") == {"who": "ann"}
    assert called(whole_dict, "Find_Activity(asked)") == ANSWERS["ask"]
    assert called(with_another, "Find_Activity(who: asked.who)") == [{"who": "ann"}, None]


def test_one_parameter_takes_the_member_of_its_name_annotated_or_not() -> None:
    def one(who: str) -> Json:
        return who

    for function in (one, whole_dict, lambda who: who):
        assert called(function, "Find_Activity(who: asked.who)") == "ann"
    assert failed(lambda who: who) == "`Find_Activity` takes `who`, and is given `who`, `days`"


def test_labels_decide_what_one_parameter_takes_and_data_does_not() -> None:
    def anything(who):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  -- as above
        return who

    def typed(who: Person) -> Json:
        return dict(who)

    for data in ({"who": "ann"}, {"who": "ann", "days": 2}, {"days": 2}):
        vibes = {"Ask": {"type": "object", "properties": {"who": {}, "days": {}}}, "Find_Activity": BACK}
        for function in (anything, whole_dict, *([typed] if data.keys() == {"who"} else [])):
            run = instrc.run(
                "const asked = Ask(prompt); Find_Activity(asked)",
                "x",
                vibes=vibes,
                model=instrc.Scripted({"ask": data}),
                activities={"Find_Activity": function},
            )
            assert run.value == data
    assert called(anything, "Find_Activity(who: asked)") == ANSWERS["ask"]
    assert called(lambda who, days: [who, days], "Find_Activity(asked.who, asked.days)") == ["ann", 2]
    assert "by name" in failed(lambda who, days: [who, days], "Find_Activity(asked.days)", days=["ann", 2])


def test_what_a_preparation_fills_in_are_arguments() -> None:
    run = instrc.run(
        "Find_Activity(prompt)",
        "x",
        vibes={"Find": {"type": "object", "properties": {"who": {}}}, "Find_Activity": BACK},
        model=instrc.Scripted({"find": {"who": "ann"}}),
        activities={"Find_Activity": lambda who: who},
    )
    assert run.value == "ann"


def test_a_wrapper_that_does_not_say_what_it_takes_is_given_the_whole_value() -> None:
    def noted(function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            tried.append(function)
            return function(*given, **named)

        return call

    tried: list[object] = []
    assert called(noted(whole), "Find_Activity(who: asked.who)") == {"who": "ann"}


def test_a_parameter_of_a_narrower_type_takes_its_member() -> None:
    def one(who: str) -> Json:
        return who

    def typed(who: Person) -> Json:
        return who["who"]

    assert called(one, "Find_Activity(who: asked.who)") == "ann"
    assert called(typed, "Find_Activity(who: asked)") == "ann"
    assert called(typed, "Find_Activity(asked)") == "ann"


def test_a_function_without_parameters_is_called_without_arguments() -> None:
    assert called(lambda: 7) == 7


def test_values_are_what_annotations_say() -> None:
    def on(on: date, slot: Slot, note: Note | None = None) -> Json:
        return [type(on).__name__, type(slot).__name__, note]

    call = "const slot = Slot_Activity(asked.who); Find_Activity(on: asked.on, slot: slot)"
    program = f"const asked = Ask(prompt); {call}"
    run = instrc.run(
        program,
        "x",
        vibes={"Ask": ASK, "Find_Activity": BACK, "Slot_Activity": BACK},
        model=instrc.Scripted(ANSWERS),
        activities={"Find_Activity": on, "Slot_Activity": lambda _: Slot(day=date(2026, 11, 24))},
    )
    assert run.value == ["date", "Slot", None]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (Slot(day=date(2026, 11, 24)), {"day": "2026-11-24", "free": True}),
        ([Note("x", date(2026, 11, 24))], [{"text": "x", "on": "2026-11-24"}]),
        ({"at": date(2026, 11, 24)}, {"at": "2026-11-24"}),
        (("a", "b"), ["a", "b"]),
    ],
)
def test_what_is_returned_is_json_then(returned: object, said: Json) -> None:
    assert called(lambda who, days: returned) == said  # noqa: ARG005  -- its parameters are the case

    async def later(given: Json) -> object:
        return returned

    assert called(later) == said


def test_our_types_of_json_mean_the_same_whichever_is_asked_for_first() -> None:
    """A type that names itself is kept as it was when it was first met: read from another end, it had no end."""

    def members(given: JsonObject) -> Json:
        return given["who"]

    async def anything(given: Json) -> Json:
        return given

    assert get_type_hints(members)
    assert called(members) == "ann"
    assert called(anything) == {"who": "ann", "days": 2}


Tree: TypeAlias = "str | int | list[Tree]"


def test_a_type_that_names_itself_takes_what_comes() -> None:
    def find(who: Tree, days: Tree) -> Json:
        return [who, days]  # type: ignore[list-item]  -- it is JSON

    assert called(find) == ["ann", 2]


def test_what_is_no_json_is_told() -> None:
    assert "it is not a JSON value but of the type object" in failed(lambda _: object())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("Find_Activity(whom: asked.who, days: asked.days)", "takes `who`, `days`, and is given `whom`, `days`"),
        ("Find_Activity(days: asked.days)", "takes `who`, `days`, and is given `days`"),
        ("Find_Activity(asked)", "takes `who`, `days`, and is given `who`, `days`, `on`"),
    ],
)
def test_members_that_are_no_parameters_are_told_once(call: str, said: str) -> None:
    tried: list[object] = []

    def find(who: str, days: int = 3) -> None:
        tried.append((who, days))

    assert failed(find, call) == f"`Find_Activity` {said}"
    assert tried == []


class Strict(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    model_config = pydantic.ConfigDict(strict=True)
    who: str
    days: tuple[int, ...]
    on: date


def test_a_strict_class_takes_its_json() -> None:
    def find(asked: Strict) -> str:
        return f"{asked.who} {asked.days} {asked.on:%d.%m.}"

    assert called(find, "Find_Activity(asked)", days=[1, 2]) == "ann (1, 2) 23.11."


def test_what_a_function_returns_says_nothing_of_an_argument_called_return() -> None:
    def find(**given: Json) -> int:
        return len(given)

    assert called(find, "Find_Activity(return: asked.who)") == 1


def test_a_value_that_is_not_what_an_annotation_says_is_told() -> None:
    assert failed(two, days="many").startswith(
        "`Find_Activity` is given what does not fit, at `/days`: Input should be a valid integer"
    )


def test_several_parameters_are_not_given_one_value() -> None:
    def both(who: str, days: int) -> None: ...

    assert (
        failed(both, "Find_Activity(asked.who)")
        == "`Find_Activity` takes `who`, `days` by name, and is given a value without names"
    )


def test_what_a_function_raises_is_its_own() -> None:
    def raising(who: str, days: int) -> None:
        Slot.model_validate({"day": "never"})

    assert "ValidationError" in failed(raising)


def test_the_schema_of_an_input_may_be_a_type() -> None:
    @instrc.activity("Find_Activity", input=Note)
    def find(given: Json) -> Json:
        return given

    assert failed(find, "Find_Activity(text: asked.who)").startswith("`Find_Activity` is given what does not fit, at `/`: ")
    assert called(find, "Find_Activity(text: asked.who, on: asked.on)") == {"text": "ann", "on": "2026-11-23"}
    with pytest.raises(TypeError, match="`input` is a JSON Schema or a type, not 5"):
        instrc.activity("Find_Activity", input=5)


def test_it_is_so_on_sqlite(tmp_path: Any) -> None:
    pytest.importorskip("dbos")
    run = instrc.run(
        "const asked = Ask(prompt); Find_Activity(who: asked.who, days: asked.days)",
        "x",
        vibes={"Ask": ASK, "Find_Activity": BACK},
        model=instrc.Scripted(ANSWERS),
        activities={"Find_Activity": two},
        engine="durable",
        store=tmp_path,
    )
    assert run.value == ["ann", 2]


def test_a_mark_without_its_name_is_refused_where_it_stands() -> None:
    with pytest.raises(TypeError, match=r'`@instrc\.activity\("PayBack_Activity"\)`'):

        @instrc.activity  # type: ignore[arg-type]
        def pay_back(given: object) -> object:
            return given


def test_a_function_in_a_list_under_its_own_name_is_not_the_activity() -> None:
    def find(who: str) -> None: ...

    with pytest.raises(instrc.SettingsError) as raised:
        instrc.run("Find_Activity(prompt)", "x", vibes={"Find_Activity": BACK}, model="sample", activities=[find])
    [problem] = raised.value.problems
    assert problem.hint == "there is one called `find`: register it as `Find_Activity`"


def test_what_is_suspicious_in_a_program_is_a_warning_of_its_run() -> None:
    decide = {"type": "object", "properties": {"topic": {"enum": ["bug", "bill"]}}, "required": ["topic"]}
    program = 'const made = Decide(prompt); when made.topic is "bil" { Decide(made) }'
    with pytest.warns(instrc.CompileWarning, match="never-true"):
        instrc.run(program, "x", vibes={"Decide": decide}, model="sample")
    with pytest.warns(instrc.CompileWarning, match="never-true"):
        instrc.rehearse(program, vibes={"Decide": decide})


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("(asked.who, asked.on)", "ann 2026-11-23"),
        ("(asked.on, first: asked.who)", "ann 2026-11-23"),
        ('(asked.who, second: "b")', "ann b"),
        ('(asked.who, asked.on, mark: "!")', "ann 2026-11-23!"),
    ],
)
def test_arguments_without_names_fill_the_parameters_in_order(call: str, value: str) -> None:
    def pair(first: str, second: str, mark: str = "") -> str:
        return f"{first} {second}{mark}"

    assert called(pair, f"Find_Activity{call}") == value


def test_an_argument_for_which_no_parameter_is_left_is_told() -> None:
    def one(who: str) -> str:
        return who

    assert "takes `who`, and is given `0`, `who`" in failed(one, 'asked | Find_Activity(who: "b")')


def test_a_list_that_is_too_long_or_too_short_is_no_call() -> None:
    def pair(first: str, second: str) -> str:
        return first + second

    assert "takes `first`, `second`" in failed(pair, "Find_Activity(asked.who, asked.on, asked.days)")


@pytest.mark.parametrize(
    ("call", "reads"),
    [
        ('Note_Activity(text: "a")', []),
        ('Note_Activity(text: "a", level: "low")', []),
        ('prompt | Note_Activity(level: "low")', ["prompt"]),
        ('each line in prompt { Note_Activity(text: "a", level: "low") }', []),
        ("Note_Activity()", ["prompt"]),
    ],
)
def test_an_activity_given_constants_for_all_that_it_requires_reads_nothing(call: str, reads: list[str]) -> None:
    def note(text: str, level: str = "info") -> str:
        return f"{level}: {text}"

    [process] = instrc.compile(call, vibes={"Note_Activity": note}, emit="process")
    [server] = [each for name, each in process["$defs"].items() if name.startswith("SERVER")]
    [step] = [each for each in server["properties"].values() if "activity" in each]
    assert step.get("references", []) == reads


def test_properties_of_an_activity_without_output_are_no_inputs() -> None:
    vibes = {"Note_Activity": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}
    [process] = instrc.compile('Note_Activity(text: "a")', vibes=vibes, emit="process")
    [step] = process["$defs"]["SERVER_1"]["properties"].values()
    assert step["arguments"] == {"text": {"const": "a"}}
    assert "references" not in step


def test_a_step_whose_own_chunk_of_a_server_calls_it_is_not_sent_as_well() -> None:
    vibe = {"type": "object", "properties": {"who": {"type": "string"}, "output": {}}, "required": ["who", "output"]}
    keys: list[str] = []

    def find(who: str) -> str:
        keys.append(instrc.current_call().key.partition("/")[2])
        return who

    run = instrc.run("Find", "x", vibes={"Find": vibe}, activities={"Find": find}, model=instrc.Scripted({"find": {"who": "a"}}))
    assert (run.value, keys) == ("a", ["serverContext1.step1_find"])


@pytest.mark.parametrize("engine", ["memory", "durable"])
@pytest.mark.parametrize(
    ("call", "given", "at"),
    [
        ("Get_Activity(q: n)", 5, "/q"),
        ("Get_Activity(q: n)", "a", None),
        ("Get_Activity(n)", {"q": 5, "more": 1}, "/q"),
        ("Get_Activity(n)", 5, None),
        ("Get_Activity(q: n.q, words: n.words)", {"q": "a", "words": ["b", 7]}, "/words/1"),
    ],
)
def test_an_activity_is_given_what_its_vibe_says(call: str, given: Json, at: str | None, engine: Any, tmp_path: Any) -> None:
    words = {"$ref": "#/$defs/Words"}
    vibe = {
        "type": "object",
        "properties": {"q": {"type": "string"}, "words": words, "output": {}},
        "required": ["q", "output"],
        "$defs": {"Words": {"type": "array", "items": {"type": "string"}}},
    }
    calls: list[Json] = []
    run = instrc.run(
        f"input n; {call}",
        {"n": given},
        vibes={"Get_Activity": vibe},
        activities={"Get_Activity": lambda *given: calls.append(given[0])},
        engine=engine,
        store=tmp_path / "runs" if engine == "durable" else None,
    )
    assert calls == ([given] if at is None and not isinstance(given, str) else [{"q": "a"}] if at is None else [])
    assert run.outcome is not None
    if at is not None:
        assert run.outcome["status"] == "failed"
        assert (run.outcome["error"]["kind"], run.outcome["error"]["code"]) == ("failed", "invalid-input")
        assert f"is given what does not fit, at `{at}`" in run.outcome["error"]["message"]
    instrc.close_stores()


@pytest.mark.parametrize("way", ["a file", "a document"])
@pytest.mark.parametrize(("days", "status"), [(3, "done"), (30, "failed")])
def test_a_compiled_process_says_what_its_activities_may_be_given(days: int, status: str, way: str, tmp_path: Path) -> None:
    few = {"properties": {"days": {"type": "integer", "maximum": 9}, "output": {}}, "required": ["days", "output"]}
    asked = {"properties": {"days": {"type": "integer"}}, "required": ["days"]}
    vibes = {"Ask": asked, "Get_Activity": few}
    [compiled] = instrc.compile("Get_Activity(days: Ask(prompt).days)", vibes=vibes, emit="process")
    if way == "a file":
        (tmp_path / "get.process.json").write_text(json.dumps(compiled))
    given: list[Json] = []
    run = instrc.run(
        compiled if way == "a document" else str(tmp_path / "get.process.json"),
        "x",
        model=instrc.Scripted({"ask": {"days": days}}),
        activities={"Get_Activity": given.append},
    )
    assert (run.status, len(given)) == (status, status == "done")


@pytest.mark.parametrize("takes", ["days", True, []])
def test_what_a_step_takes_is_a_schema(takes: Json) -> None:
    step: Json = {"properties": {"output": {}}, "activity": "Get_Activity", "takes": takes}
    chunk = {"type": "object", "properties": {"step1_get": step}, "required": ["step1_get"]}
    process = {"type": "object", "properties": {"serverContext1": {"$ref": "#/$defs/S"}}, "$defs": {"S": chunk}}
    with pytest.raises(instrc.CompileError, match="it is the schema of what the activity is given"):
        instrc.run(process, "x", activities={"Get_Activity": lambda given: given})


QUOTE: Any = {"type": "object", "properties": {"item": {"type": "string"}, "output": {}}, "required": ["item", "output"]}
PAY: Any = {
    "type": "object",
    "properties": {"amount": {"$ref": "#/$defs/Amount"}, "to": {"enum": ["ann"]}, "output": {}},
    "required": ["amount", "to", "output"],
    "$defs": {"Amount": {"type": "number", "maximum": 100}},
}


@pytest.mark.parametrize("engine", ["memory", "durable"])
@pytest.mark.parametrize(
    ("said", "status"), [({"price": 99, "to": "ann"}, "ok"), ({"price": 1e6, "to": "ann"}, "failed"), ({}, "failed")]
)
def test_a_task_of_a_plan_is_given_what_the_vibe_of_its_tool_says(said: Any, status: str, engine: Any, tmp_path: Any) -> None:
    """Also what is the result of another task, which nobody knows when the plan is checked."""
    paid: list[Any] = []
    plan = [
        {"tool": "Quote_Activity", "id": "q", "arguments": {"item": "boat"}},
        {"tool": "Pay_Activity", "id": "p", "arguments": {"amount": {"from": "q.price"}, "to": {"from": "q.to"}}},
    ]
    run = instrc.run(
        "const act = Act({ prompt, plan: Plan(Quote_Activity, Pay_Activity) }); RunPlan_Activity(act.plan)",
        "go",
        vibes={"Quote_Activity": QUOTE, "Pay_Activity": PAY, "Act": {"type": "object", "properties": {"plan": {}}}},
        model=instrc.Scripted({"act": {"plan": plan}}),
        activities={"Quote_Activity": lambda _: said, "Pay_Activity": paid.append},
        engine=engine,
        store=tmp_path / "runs" if engine == "durable" else None,
    )
    task = run.value[1]
    assert (task["status"], len(paid)) == (status, int(status == "ok"))
    assert status == "ok" or (task["error"]["code"] == "invalid-input" and "`/amount`" in task["error"]["message"])
    instrc.close_stores()


@pytest.mark.parametrize("form", ["document", "file"])
def test_a_task_of_a_compiled_plan_is_given_what_the_vibe_of_its_tool_says(form: str, tmp_path: Any) -> None:
    paid: list[Any] = []
    tasks = [
        {"tool": "Quote_Activity", "id": "q", "arguments": {"item": "boat"}},
        {"tool": "Pay_Activity", "id": "p", "arguments": {"amount": {"from": "q.price"}, "to": "ann"}},
    ]
    [document] = instrc.compile(
        "const act = Act({ prompt, plan: Plan(Quote_Activity, Pay_Activity) }); RunPlan_Activity(act.plan)",
        vibes={"Quote_Activity": QUOTE, "Pay_Activity": PAY, "Act": {"type": "object", "properties": {"plan": {}}}},
    )
    (tmp_path / "a.process.json").write_text(json.dumps(document))
    run = instrc.run(
        document if form == "document" else tmp_path / "a.process.json",
        "go",
        model=instrc.Scripted({"act": {"plan": tasks}}),
        activities={"Quote_Activity": lambda _: {"price": 5000}, "Pay_Activity": paid.append},
    )
    assert (run.value[1]["error"]["code"], paid) == ("invalid-input", [])


def test_a_process_that_serves_an_activity_is_given_what_the_vibe_says() -> None:
    paid: list[Any] = []
    inner = {"Send_Activity": {"type": "object", "properties": {"output": {}}}}
    [paying] = instrc.compile("input amount; Send_Activity(amount)", vibes=inner)
    run = instrc.run(
        "input n; Trip_Activity(amount: n.amount, to: n.to)",
        {"n": {"amount": 1e6, "to": "ann"}},
        vibes={"Trip_Activity": PAY},
        activities={"Trip_Activity": paying, "Send_Activity": paid.append},
    )
    assert paid == []
    assert "`/amount`: 1000000.0 is greater than the maximum of 100" in str(run.outcome)


_CLOSED: Any = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "to": {"type": "string"}, "note": {"type": "string"}, "output": {}},
    "required": ["amount", "to", "output"],
    "additionalProperties": False,
    "if": {"properties": {"amount": {"type": "number", "minimum": 100}}},
    "then": {"required": ["note", "output"]},
}


@pytest.mark.parametrize(
    ("call", "given", "fits"),
    [
        ("Pay_Activity(amount: n.amount, to: n.to)", {"amount": 99, "to": "ann"}, True),
        ("Pay_Activity(amount: n.amount, to: n.to)", {"amount": 100, "to": "ann"}, False),
        ("Pay_Activity(amount: n.amount, to: n.to, note: n.to)", {"amount": 100, "to": "ann"}, True),
        ("Pay_Activity(n)", {"amount": 99, "to": "ann"}, True),
        ("Pay_Activity(n)", {"amount": 100, "to": "ann"}, False),
        ("Pay_Activity(n)", {"amount": 99, "to": "ann", "approved": True}, False),
        ("Pay_Activity(n.amount, n.to)", {"amount": 100, "to": "ann"}, True),  # nobody knows which of its inputs they are
        ("Pay_Activity(n)", {"bill": 100}, True),
    ],
)
def test_an_activity_is_given_what_its_vibe_says_of_several_inputs(call: str, given: Json, *, fits: bool) -> None:
    paid: list[Any] = []
    run = instrc.run(
        f"input n; {call}",
        {"n": given},
        vibes={"Pay_Activity": _CLOSED},
        activities={"Pay_Activity": lambda *all_: paid.append(all_)},
    )
    assert bool(paid) is fits, run.outcome
    assert fits or (run.outcome is not None and "invalid-input" in str(run.outcome))


_FOR_ANN: Any = {"properties": {"to": {"const": "ann"}}}
_A_TEXT: Any = {"properties": {"output": {"type": "string"}}}
_AT_MOST_0: Any = {"properties": {"amount": {"maximum": 0}}}
_A_NUMBER: Any = {"properties": {"output": {"type": "number"}}}


@pytest.mark.parametrize(
    ("said", "call", "given", "fits"),
    [
        ({"dependentRequired": {"amount": ["output"]}}, "Pay_Activity(amount: n)", 1, True),
        ({"minProperties": 2}, "Pay_Activity(amount: n)", 1, True),
        ({"not": {"required": ["to", "output"]}}, "Pay_Activity(amount: n)", 1, True),
        ({"not": {"required": ["amount", "output"]}}, "Pay_Activity(amount: n)", 1, False),
        ({"oneOf": [{"required": ["to", "output"]}, {"required": ["amount", "output"]}]}, "Pay_Activity(amount: n)", 1, True),
        ({"properties": {"amount": {"required": ["output"]}, "output": {}}}, "Pay_Activity(amount: n)", {"a": 1}, False),
        (
            {"required": ["output"], "additionalProperties": False},
            "Pay_Activity(n)",
            {"text": 1},
            True,
        ),
        ({"required": ["output"], "additionalProperties": False}, "Pay_Activity(n)", {"amount": 1, "text": 1}, False),
        ({"required": ["output"], "additionalProperties": False}, "Pay_Activity(n)", {"amount": 1, "output": 1}, False),
        ({"if": _FOR_ANN, "then": _A_TEXT, "else": _A_NUMBER}, "Pay_Activity(to: n)", "ann", True),
        ({"if": _A_TEXT, "then": {"required": ["amount"]}}, "Pay_Activity(to: n)", "ann", True),
        ({"oneOf": [{**_FOR_ANN, **_A_TEXT}, _A_NUMBER]}, "Pay_Activity(to: n)", "ann", True),
        ({"anyOf": [_A_TEXT, {"required": ["amount"]}]}, "Pay_Activity(to: n)", "ann", True),
        ({"not": _A_TEXT}, "Pay_Activity(to: n)", "ann", True),
        ({"allOf": [{"if": _FOR_ANN, "then": _A_TEXT}, _AT_MOST_0]}, "Pay_Activity(amount: n)", 1, False),
        (
            {"dependentSchemas": {"output": _A_TEXT, "to": {"required": ["amount", "output"]}}},
            "Pay_Activity(to: n)",
            "ann",
            False,
        ),
    ],
)
def test_what_a_vibe_says_of_its_output_holds_beside_any(said: Any, call: str, given: Json, *, fits: bool) -> None:
    paid: list[Any] = []
    vibe = {"properties": {"amount": {}, "to": {}, "output": {}}, **said}
    pay = {"Pay_Activity": lambda *all_: paid.append(all_)}
    run = instrc.run(f"input n; {call}", {"n": given}, vibes={"Pay_Activity": vibe}, activities=pay)
    assert bool(paid) is fits, run.outcome


@pytest.mark.parametrize(("price", "status"), [(99, "ok"), (100, "failed")])
def test_a_reference_passes_no_condition_of_the_vibe(price: int, status: str) -> None:
    """The plan is checked without the value, so the task is checked with it."""
    plan = [
        {"tool": "Quote_Activity", "id": "q", "arguments": {"item": "boat"}},
        {"tool": "Pay_Activity", "id": "p", "arguments": {"amount": {"from": "q.price"}, "to": "ann"}},
    ]
    run = instrc.run(
        "const act = Act({ prompt, plan: Plan(Quote_Activity, Pay_Activity) }); RunPlan_Activity(act.plan)",
        "go",
        vibes={"Quote_Activity": QUOTE, "Pay_Activity": _CLOSED, "Act": {"type": "object", "properties": {"plan": {}}}},
        model=instrc.Scripted({"act": {"plan": plan}}),
        activities={"Quote_Activity": lambda _: {"price": price}, "Pay_Activity": lambda *_: {}},
    )
    assert run.value[1]["status"] == status


def test_what_one_use_of_an_activity_forbids_no_other_use_allows() -> None:
    paid: list[Any] = []
    limited = 'Pay_Activity(amount: n, to: "ann") @ { properties: { amount: { maximum: 10 } } }'
    run = instrc.run(
        f'input n; {limited}; Pay_Activity(amount: n, to: "bob")',
        {"n": 50},
        vibes={"Pay_Activity": {**_CLOSED, "if": False}},
        activities={"Pay_Activity": lambda **given: paid.append(given["to"])},
    )
    assert "`/amount`: 50 is greater than the maximum of 10" in str(run.outcome)
    assert "ann" not in paid


@pytest.mark.parametrize("before", ["", 'const a = Pay_Activity(amount: n, to: "ann"); '])
def test_what_a_process_forbids_its_caller_does_not_allow(before: str, tmp_path: Path) -> None:
    """Both number their steps from one."""
    vibes = {"Pay_Activity": {**_CLOSED, "if": False}, "Settle_Activity": {"properties": {"amount": {}, "output": {}}}}
    limited = 'input amount; Pay_Activity(amount: amount, to: "bob") @ { properties: { amount: { maximum: 10 } } }'
    (tmp_path / "settle.aug").write_text(limited, encoding="utf-8")
    for name, schema in vibes.items():
        (tmp_path / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")
    settings = '[tool.instrc]\nroots = ["."]\n[tool.instrc.activities]\nSettle_Activity = "aug:settle"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    program = tmp_path / "main.aug"
    program.write_text(f"input n; {before}Settle_Activity(amount: n)", encoding="utf-8")
    paid: list[str] = []
    run = instrc.run(program, {"n": 50}, activities={"Pay_Activity": lambda **given: paid.append(given["to"])})
    assert "`/amount`: 50 is greater than the maximum of 10" in str(run.outcome)
    assert "bob" not in paid


def test_what_a_process_forbids_holds_for_a_run_that_waits_as_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run keeps its processes, and what they forbid with them."""
    monkeypatch.chdir(tmp_path)
    ask: dict[str, Any] = {"title": "Ask", "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    vibes: dict[str, Any] = {
        "Pay_Activity": {**_CLOSED, "if": False},
        "Settle_Activity": {"properties": {"amount": {}, "output": {}}},
        "Ask_User": ask,
    }
    limited = "Pay_Activity(amount: amount, to: ok.text) @ { properties: { amount: { maximum: 10 } } }"
    Path("settle.aug").write_text(f"input amount; const ok = Ask_User(amount); {limited}", encoding="utf-8")
    for name, schema in vibes.items():
        Path(f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")
    settings = '[tool.instrc]\nroots = ["."]\n[tool.instrc.activities]\nSettle_Activity = "aug:settle"\n'
    Path("pyproject.toml").write_text(settings, encoding="utf-8")
    Path("main.aug").write_text("input n; Settle_Activity(amount: n)", encoding="utf-8")
    paid: list[Any] = []
    given: Any = {
        "activities": {"Pay_Activity": lambda **each: paid.append(each)},
        "engine": "durable",
        "store": tmp_path / "store",
    }
    assert instrc.run(Path("main.aug"), {"n": 50}, id="r1", **given).status == "waiting"
    instrc.close_stores()  # as a process that ends
    Path("Ask_User.vibe.json").write_text(json.dumps({**ask, "description": "Say to whom."}), encoding="utf-8")
    run = instrc.find_run("r1", **given)
    [question] = run.questions
    run.answer(question.id, {"text": "bob"})
    assert "`/amount`: 50 is greater than the maximum of 10" in str(run.outcome)
    assert paid == []


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [("order", {"to": "ann"}, "order.to"), ("order", {"to": "ann"}, "to: order.to"), ("to", "ann", "to")],
)
def test_a_model_replaces_no_value_that_a_program_binds(name: str, value: Json, bound: str) -> None:
    paid: list[Any] = []

    def run(**more: Json) -> Any:
        return instrc.run(
            f"input {name}; const act = Act(prompt, {{ plan: Plan(Pay_Activity({bound})) }}); RunPlan_Activity(act.plan)",
            {name: value, "prompt": "go"},
            vibes={"Pay_Activity": _CLOSED, "Act": {"type": "object", "properties": {"plan": {}}}},
            model=instrc.Scripted(
                {"act": {"plan": [{"tool": "Pay_Activity", "id": "p", "arguments": {"amount": 1, "note": "x", **more}}]}}
            ),
            activities={"Pay_Activity": lambda **given: paid.append(given)},
        )

    assert run(to="eve").status == "failed"
    assert paid == []
    assert run().value[0]["status"] == "ok"
    assert paid == [{"amount": 1, "note": "x", "to": "ann"}]


def test_an_activity_written_without_engine_properties_is_called_once() -> None:
    """Its inputs are in a chunk of the model under the same key, which has no number."""
    called: list[Any] = []
    ping = {"type": "object", "properties": {"text": {"type": "string"}}, "references": ["prompt"]}
    answer = {"type": "object", "properties": {"output": {}}, "required": ["output"]}
    contexts = {
        name: {"type": "object", "properties": {"ping": step}, "required": ["ping"]}
        for name, step in (("llmContext1", ping), ("serverContext1", answer))
    }
    document: Any = {"type": "object", "properties": contexts, "required": [*contexts]}
    run = instrc.run(document, "x", model=instrc.Scripted({"ping": {"text": "hi"}}), activities={"Ping": called.append})
    assert (run.status, len(called)) == ("done", 1)


def test_names_that_look_like_keys_of_steps_are_names_of_their_own() -> None:
    vibe = {"type": "object", "properties": {"output": {"type": "string"}}, "required": ["output"]}
    names = ["step1_pay_Activity", "step2_pay_Activity", "buy_item1", "buy_item2"]
    activities = instrc.Activities({name: lambda _given, name=name: name for name in names})
    program = "const a = step1_pay_Activity(prompt); const b = step2_pay_Activity(a); { a, b }"
    vibes = dict.fromkeys(names[:2], vibe)
    assert instrc.run(program, "x", vibes=vibes, activities=activities).value == {"a": names[0], "b": names[1]}
    assert [found.name for name in names if (found := activities.find(name))] == names
