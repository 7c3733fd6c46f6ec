"""A plan is checked before anything of it runs; only what is certainly wrong is a problem."""

from __future__ import annotations

import time
from typing import Any

import pytest
from every_case import every_case
from hunting import examples
from hypothesis import example, given
from hypothesis import strategies as st

import instrc
from instrc.tools.tasks import Reference, parse_reference  # one reference without a plan

TEXT: Any = {"type": "string"}
FOUND = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": TEXT},
        "count": {"type": "integer"},
        "pair": {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], "minItems": 2},
    },
    "required": ["items", "count", "pair"],
    "additionalProperties": False,
}
TOOLS: Any = {
    "Search": {
        "activity": "Search_Activity",
        "arguments": {
            "type": "object",
            "properties": {"query": TEXT, "limit": {"type": "integer"}, "user": TEXT},
            "required": ["query", "user"],
        },
        "output": FOUND,
        "bound": {"user": "passenger"},
    },
    "Open": {"activity": "Open_Activity", "arguments": {"type": "object"}},
    "Count": {
        "activity": "Count_Activity",
        "arguments": {"type": "object"},
        "output": {"type": "object", "patternProperties": {"^by_": TEXT}, "additionalProperties": False},
    },
    "Window": {
        "process": "aug:window",
        "arguments": {"type": "object", "properties": {"span": {"type": "object", "properties": {"from": TEXT}}}},
        "output": {"type": ["string", "null"]},
    },
}


def task(id_: str, tool: str = "Search", /, *, after: Any = None, **arguments: Any) -> dict[str, Any]:
    made = {"tool": tool, "id": id_, "arguments": arguments}
    return made if after is None else {**made, "after": after}


def names(plan: Any, tools: Any = TOOLS) -> list[tuple[str, str]]:
    return [(problem.name, problem.pointer) for problem in instrc.check_plan(plan, tools)]


SOUND: dict[str, Any] = {
    "null is a plan without tasks": None,
    "so is the empty list": [],
    "values": [task("a", query="boats", limit=3)],
    "no arguments where none are needed": [{"tool": "Open", "id": "a"}],
    "an open tool takes anything": [task("a", "Open", x=[1], y={"from": 3})],
    "a path into the output": [task("a", query="boats"), task("b", query={"from": "a.items.0"}, limit={"from": "a.count"})],
    "a member that a pattern finds": [task("a", "Count"), task("b", query={"from": "a.by_day"})],
    "a forward reference": [task("a", query={"from": "b.pair.0"}), task("b", query="boats")],
    "waiting without reading": [task("a", query="boats", after=["b"]), task("b", query="ships", after=[])],
    "a copy for every element": [task("a", query="boats"), task("b", query={"each": "a.items"})],
    "the list that copies make": [
        task("a", query="boats"),
        task("b", query={"each": "a.items"}),
        task("c", query={"from": "b.0.items.1"}, limit={"each": "b"}) | {"arguments": {"query": {"from": "b.0.items.1"}}},
    ],
    "an object that the argument takes itself": [task("a", "Window", span={"from": "monday"})],
    "an output of which nothing is said": [task("a", "Open"), task("b", query={"from": "a.deep.down.7"})],
    "what may be null may be a text": [task("a", "Window"), task("b", query={"from": "a"})],
    "each over what may be null": [task("a", "Open"), task("b", query={"each": "a"})],
    "thoughts beside a task": [task("a", query="boats") | {"_why": "to begin with", "$cost": 1}],
}


@every_case("plan", SOUND.values(), ids=SOUND)
def test_sound_plans_have_no_problems(plan: Any) -> None:
    assert names(plan) == []


FAULTY: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "an object": ({"plan": []}, [("invalid-plan", "")]),
    "a text": ("[]", [("invalid-plan", "")]),
    "no object in the list": ([task("a", query="x"), 3], [("invalid-plan", "/1")]),
    "no tool": ([{"id": "a", "arguments": {}}], [("invalid-plan", "/0")]),
    "a number as id": ([{"id": 1, "tool": "Open"}], [("invalid-plan", "/0/id")]),
    "an id with a space": ([task("a b", "Open")], [("invalid-plan", "/0/id")]),
    "an id of 33 letters": ([task("a" * 33, "Open")], [("invalid-plan", "/0/id")]),
    "after is one id": ([task("a", "Open", after="b"), task("b", "Open")], [("invalid-plan", "/0/after")]),
    "a dependency under another name": ([task("a", "Open") | {"depends/on": ["b"]}], [("invalid-plan", "/0/depends~1on")]),
    "arguments in a text": ([{"tool": "Open", "id": "a", "arguments": "{}"}], [("invalid-plan", "/0/arguments")]),
    "arguments in a text, where some are needed": (
        [{"tool": "Search", "id": "a", "arguments": '{"query": "x"}'}],
        [("invalid-plan", "/0/arguments")],
    ),
    "an argument without a name": (
        [{"tool": "Search", "id": "a", "arguments": [{"is": "value", "text": "x"}]}],
        [("invalid-plan", "/0/arguments/0")],
    ),
    "each over a member of a list": (
        [task("a", query="x"), task("b", query={"each": "a.items.name"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "each over an element that is a text": (
        [task("a", query="x"), task("b", query={"each": "a.items.0"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "each over a text or null": (
        [task("a", "Window"), task("b", query={"each": "a"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "two of one id": ([task("a", "Open"), task("a", "Open")], [("duplicate-task", "/1/id")]),
    "no such tool": ([task("a", "Serch", query="x")], [("unknown-tool", "/0/tool")]),
    "reads nobody": ([task("a", query={"from": "b.items.0"})], [("dangling-task", "/0/arguments/query")]),
    "waits for nobody": ([task("a", "Open", after=["a2"])], [("dangling-task", "/0/after/0")]),
    "reads itself": ([task("a", query={"from": "a.pair.0"})], [("circular-plan", "/0")]),
    "a circle of three": (
        [task("a", "Open", x={"from": "b"}), task("b", "Open", after=["c"]), task("c", "Open", y={"each": "a"})],
        [("circular-plan", "/0")],
    ),
    "nothing given": ([task("a")], [("missing-argument", "/0/arguments")]),
    "no such argument": ([task("a", query="x", qery="y")], [("unknown-argument", "/0/arguments/qery")]),
    "what the program gives": ([task("a", query="x", user="root")], [("unknown-argument", "/0/arguments/user")]),
    "a value of the wrong type": ([task("a", query=7)], [("wrong-argument", "/0/arguments/query")]),
    "a number is no integer": ([task("a", query="x", limit=0.5)], [("wrong-argument", "/0/arguments/limit")]),
    "a truth is no integer": ([task("a", query="x", limit=True)], [("wrong-argument", "/0/arguments/limit")]),
    "null where it may be left out": ([task("a", query="x", limit=None)], [("wrong-argument", "/0/arguments/limit")]),
    "an output of another type": (
        [task("a", query="x"), task("b", query={"from": "a.count"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "an element of another type": (
        [task("a", query="x"), task("b", query={"from": "a.pair.1"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "a member that cannot be": (
        [task("a", query="x"), task("b", query={"from": "a.total"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "a path into a text": (
        [task("a", query="x"), task("b", query={"from": "a.pair.0.name"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "each over a number": (
        [task("a", query="x"), task("b", query={"each": "a.count"})],
        [("wrong-argument", "/1/arguments/query")],
    ),
    "each with elements of another type": (
        [task("a", query="x"), task("b", query="y", limit={"each": "a.items"})],
        [("wrong-argument", "/1/arguments/limit")],
    ),
    "the list of copies is not a text": (
        [task("a", query="x"), task("b", query={"each": "a.items"}), task("c", query={"from": "b"})],
        [("wrong-argument", "/2/arguments/query")],
    ),
    "no way to write a reference": ([task("a", query={"from": "2nd.items"})], [("wrong-argument", "/0/arguments/query")]),
}


@every_case(("plan", "expected"), FAULTY.values(), ids=FAULTY)
def test_mistakes_are_named_with_their_place(plan: Any, expected: list[tuple[str, str]]) -> None:
    assert names(plan) == expected


@every_case(("plan", "expected"), FAULTY.values(), ids=FAULTY)
def test_problems_speak(plan: Any, expected: list[tuple[str, str]]) -> None:
    assert expected
    for problem in instrc.check_plan(plan, TOOLS):
        assert problem.message.strip()
        assert problem.hint is None or problem.hint.strip()


def test_an_optional_output_may_fit_what_takes_null() -> None:
    tools = {
        "A": {"arguments": {}, "output": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "B": {"arguments": {"properties": {"n": {"type": ["string", "null"]}, "m": TEXT}}, "output": {}},
    }
    assert names([task("a", "A"), task("b", "B", n={"from": "a.n"})], tools) == []
    assert names([task("a", "A"), task("b", "B", m={"from": "a.n"})], tools) == [("wrong-argument", "/1/arguments/m")]


def test_a_union_is_a_problem_only_if_no_branch_fits() -> None:
    tools = {
        "A": {"arguments": {}, "output": {"anyOf": [TEXT, {"type": "integer"}]}},
        "B": {"arguments": {"properties": {"n": {"type": "integer"}, "o": {"type": "boolean"}}}},
    }
    assert names([task("a", "A"), task("b", "B", n={"from": "a"})], tools) == []
    assert names([task("a", "A"), task("b", "B", o={"from": "a"})], tools) == [("wrong-argument", "/1/arguments/o")]


def test_references_and_all_of_in_the_schemas_of_tools_are_followed() -> None:
    arguments = {
        "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"type": "integer"}}, "required": ["y"]}],
        "$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/t"}}, "required": ["x"]}, "t": TEXT},
    }
    tools = {"A": {"arguments": arguments, "output": {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}}}
    assert names([task("a", "A", x="", y=1)], tools) == []
    assert names([task("a", "A", x={"from": "b"}, y={"from": "b"}), task("b", "A", x=1)], tools) == [
        ("wrong-argument", "/0/arguments/x"),
        ("missing-argument", "/1/arguments"),
        ("wrong-argument", "/1/arguments/x"),
    ]


def test_what_is_said_of_all_arguments_together_is_checked_where_all_are_values() -> None:
    tools = {"A": {"arguments": {"properties": {"x": TEXT, "y": TEXT}, "dependentRequired": {"x": ["y"]}}}}
    assert names([task("a", "A", x="")], tools) == [("wrong-argument", "/0/arguments")]
    assert names([task("a", "A", x="", y={"from": "b"}), task("b", "A", y="")], tools) == []


def uniform(*entries: tuple[str, str, str]) -> list[dict[str, str]]:
    return [{"name": name, "is": kind, "text": text} for name, kind, text in entries]


def test_the_uniform_spelling_is_read_by_the_schema_of_the_argument() -> None:
    plan = [
        {"tool": "Search", "id": "a", "arguments": uniform(("query", "value", "42"), ("limit", "value", "42")), "after": []},
        {"tool": "Search", "id": "b", "arguments": uniform(("query", "each", "a.items")), "after": ["a"]},
    ]
    assert names(plan) == []
    assert instrc.typed_plan(plan, TOOLS) == [
        {"tool": "Search", "id": "a", "arguments": {"query": "42", "limit": 42}},
        {"tool": "Search", "id": "b", "arguments": {"query": {"each": "a.items"}}, "after": ["a"]},
    ]


def test_an_argument_has_the_schemas_of_the_patterns_that_its_name_matches() -> None:
    arguments = {"type": "object", "patternProperties": {"^max_": {"type": "integer"}, "_count$": {"minimum": 1}}}
    tools = {"Find": {"activity": "Find_Activity", "arguments": {**arguments, "additionalProperties": False}, "output": FOUND}}
    assert names([task("a", "Find", max_count=2)], tools) == []
    assert names([task("a", "Find", max_count="2")], tools) == [("wrong-argument", "/0/arguments/max_count")]
    assert names([task("a", "Find", max_count=0)], tools) == [("wrong-argument", "/0/arguments/max_count")]
    assert names([task("a", "Find", most=2)], tools) == [("unknown-argument", "/0/arguments/most")]


@every_case(
    ("entries", "place"),
    [
        (uniform(("query", "value", "x"), ("query", "value", "y")), "/0/arguments/1"),
        (uniform(("query", "form", "x")), "/0/arguments/0/is"),
        ([{"name": "query", "is": "value"}], "/0/arguments/0"),
        (["query"], "/0/arguments/0"),
    ],
)
def test_entries_of_the_uniform_spelling_have_a_form(entries: Any, place: str) -> None:
    problems = instrc.check_plan([{"tool": "Search", "id": "a", "arguments": entries}], TOOLS)
    assert ("invalid-plan", place) in [(problem.name, problem.pointer) for problem in problems]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
IDS = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,31}", fullmatch=True)
REFERENCES = st.builds(Reference, st.sampled_from(["from", "each"]), IDS, st.lists(st.text(min_size=1), max_size=3).map(tuple))
TASKS = st.builds(
    lambda tool, id_, arguments, after: {"tool": tool, "id": id_, "arguments": arguments} | ({"after": after} if after else {}),
    st.sampled_from(["Search", "Open", "Window", "Nobody"]),
    IDS,
    st.dictionaries(st.sampled_from(["query", "limit", "span", "x"]), VALUES | REFERENCES.map(Reference.to_json), max_size=3),
    st.lists(IDS, max_size=2),
)


@given(REFERENCES)
def test_a_reference_is_read_as_it_was_written(written: Reference) -> None:
    assert parse_reference(written.kind, str(written)) == written


@every_case("text", ['a."\\q"', 'a."\\ud800"', 'a."b\nc"', 'a."b'])
def test_a_step_that_is_not_a_json_string_is_no_reference(text: str) -> None:
    assert parse_reference("from", text) is None
    assert names([{"tool": "Search", "id": "b", "arguments": {"query": {"from": text}}}]) == [
        ("wrong-argument", "/0/arguments/query")
    ]


@given(st.lists(TASKS, max_size=4))
def test_both_spellings_mean_the_same(plan: Any) -> None:
    typed = instrc.typed_plan(plan, TOOLS)
    back = instrc.typed_plan(instrc.uniform_plan(plan, TOOLS), TOOLS)
    sound = not any(problem.name == "wrong-argument" for problem in instrc.check_plan(plan, TOOLS))
    assert typed == plan
    if sound:  # a number for a text, which is wrong, is a text in the uniform spelling
        assert back == typed
        assert names(instrc.uniform_plan(plan, TOOLS)) == names(plan)


ANYTHING = st.recursive(
    VALUES | st.binary(max_size=3) | st.tuples(VALUES) | st.sets(st.integers(), max_size=2) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tool", "id", "arguments", "after", "name", "is", "text", "from"]), inner, max_size=5)
        | st.dictionaries(st.integers() | st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=12,
)


@example([{"tool": "Open", "id": "a", "arguments": {}}], {"Open": {"activity": "F", "arguments": {"required": [{}]}}})
@examples(300)
@given(st.lists(ANYTHING, max_size=4) | ANYTHING, ANYTHING | st.dictionaries(st.just("Open"), ANYTHING, min_size=1))
def test_nothing_is_raised_whatever_is_given(plan: Any, tools: Any) -> None:
    for problem in instrc.check_plan(plan, tools):
        assert problem.message


@every_case(
    ("tools", "wrong"),
    [
        (5, True),
        ("Search", True),
        (None, True),
        ([5, {}], True),
        ([{"type": "web_search"}, {"name": "Search"}], False),
        ({"Search": {}}, False),
        ({"Search": {"type": "object", "properties": {"query": {}}}}, True),
        ({"Search": {"arguments": {}}, "Book": {"properties": {}}}, True),
        ({"Search": {"activity": "Search_Activity", "type": "object"}}, True),
        ({"Search": {"activity": "Search_Activity", "argument": {}}}, True),
        ({"Search": {"activity": "Search_Activity", "description": "Find a thing."}}, False),
        ({"Search": {"arguments": ["query"]}}, True),
        ({"Search": int}, True),
        ([{"name": "Search", "type": "object", "properties": {"query": {}}}], True),
        ([{"type": "web_search", "name": "web_search", "max_uses": 5}], False),
        ({}, False),
        ([], False),
    ],
)
def test_what_are_no_tools_is_told_in_place_of_the_plan(tools: Any, wrong: bool) -> None:  # noqa: FBT001  -- a parameter
    for plan in ([], [{"tool": "Search", "id": "a", "arguments": {}}]):
        found = [problem.name for problem in instrc.check_plan(plan, tools)]
        assert (found == ["invalid-tools"]) is wrong


def test_what_holds_itself_is_no_plan() -> None:
    circle: list[Any] = []
    circle.append({"tool": "Open", "id": "a", "arguments": {"x": circle}})
    assert names(circle) == [("invalid-plan", "")]


def test_deep_and_large_values_are_values() -> None:
    deep: Any = 1
    for _ in range(1500):
        deep = [deep]
    assert names([task("a", "Open", x=deep, y=10**400)]) == []


def test_a_tool_whose_schemas_are_none_takes_what_it_is_given() -> None:
    tools = {"A": {"arguments": {"properties": {"x": {"type": "strnig", "pattern": "("}, "y": 7}}, "output": "text"}, "B": {}}
    assert names([task("a", "A", x="1", y={"from": "b.z"}), task("b", "B", q=1)], tools) == []


@pytest.mark.long
@every_case("closed", [False, True], ids=["a chain", "a ring"])
def test_long_plans_take_time_that_grows_with_their_length(*, closed: bool) -> None:
    def seconds(length: int) -> float:
        last = 0 if closed else length
        plan = [task(f"t{n}", query={"from": f"t{(n + 1) if n + 1 < length else last}.items.0"}) for n in range(length)]
        plan += [] if closed else [task(f"t{length}", query="x")]
        start = time.process_time()
        found = names(plan)
        assert [name for name, _ in found] == (["circular-plan"] if closed else [])
        return time.process_time() - start

    seconds(500)
    assert seconds(8000) / max(seconds(1000), 0.005) < 8 * 4


def test_tools_are_not_alike_because_they_are_activities() -> None:
    tools: Any = {name: {"activity": name, "arguments": {}} for name in ("multiply_Activity", "weather_Activity")}

    def hint(tool: str) -> str | None:
        [problem] = instrc.check_plan([{"tool": tool, "id": "a", "arguments": {}}], tools)
        return problem.hint

    assert hint("fly_Activity") == "the tools are `multiply_Activity`, `weather_Activity`"
    assert hint("wether_Activity") == hint("weather") == "did you mean `weather_Activity`?"


_QUERY = {"type": "object", "properties": {"query": TEXT}, "required": ["query"], "additionalProperties": False}


@every_case(
    "tool",
    [
        instrc.Tool("Find", _QUERY, "Find a thing."),
        {"name": "Find", "arguments": _QUERY},
        {"name": "Find", "input_schema": _QUERY, "description": "Find a thing."},
        {"name": "Find", "inputSchema": _QUERY, "outputSchema": TEXT},
        {"type": "function", "name": "Find", "parameters": _QUERY},
        {"type": "function", "function": {"name": "Find", "parameters": _QUERY}},
    ],
)
@every_case(
    "among",
    [
        lambda tool: [tool, None, "x", {"name": 3}, {"function": {}}],
        lambda tool: (tool, None, "x", {"name": 3}, {"function": {}}),
        lambda tool: {"Find": tool, "Open": {}},
    ],
    ids=["list", "tuple", "map"],
)
def test_tools_may_be_given_as_a_model_is_shown_them(tool: Any, among: Any) -> None:
    tools = among(tool)
    assert names([task("a", "Find", query="x")], tools) == []
    assert names([task("a", "Find", query=1)], tools) == [("wrong-argument", "/0/arguments/query")]
    assert names([task("a", "Find", quary="x")], tools) == [
        ("missing-argument", "/0/arguments"),
        ("unknown-argument", "/0/arguments/quary"),
    ]
    uniform = instrc.uniform_plan([task("a", "Find", query="x")], tools)
    assert instrc.typed_plan(uniform, tools)[0]["arguments"] == {"query": "x"}


def test_annotated_functions_and_types_are_tools() -> None:
    pydantic = pytest.importorskip("pydantic")

    def find(query: str, most: int = 3) -> list[str]:
        return [query] * most

    class Mail(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        text: str
        copies: int = 1

    sound = [task("a", "find", query="x"), task("b", "Mail", text="y")]
    assert names(sound, [find, Mail]) == names(sound, {"find": find, "Mail": Mail}) == []
    assert names([task("a", "find", query=5, mot=3)], [find]) == [
        ("wrong-argument", "/0/arguments/query"),
        ("unknown-argument", "/0/arguments/mot"),
    ]
    given_a_list = [task("a", "find", query="x"), task("b", "Mail", text={"from": "a"})]
    assert names(given_a_list, [find, Mail]) == [("wrong-argument", "/1/arguments/text")]  # what it returns is known as well


class Engine:
    """Nothing that pydantic knows."""


def test_a_function_that_no_schema_describes_is_no_tool() -> None:
    def find(*queries: str) -> None: ...

    def start(engine: Engine) -> None: ...

    def stop(name: str) -> Engine: ...

    assert names([], {"find": find}) == [("invalid-tools", "")]
    for tool, said in ((find, "takes `*queries`"), (start, "cannot describe `start`"), (stop, "what `stop` returns")):
        sound: Any = {"name": "look", "parameters": {"type": "object", "properties": {}}}
        for tools in ({"find": tool}, [tool], [sound, tool]):
            [problem] = instrc.check_plan([], tools)
            assert said in problem.message
