"""Lists of functions in the wrappings in which they are met."""

from __future__ import annotations

import json
from typing import Any

import pytest
from every_case import every_case

from instrc import Problem, Source, import_tools
from instrc.text.jsonvalue import Json
from instrc.tools.importers import KINDS

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
SAID = {"name": "get.weather", "description": "Tell the weather."}
VIBE = {"title": "get.weather", "description": "Tell the weather.", **SCHEMA}
FUNCTION = {**SAID, "parameters": SCHEMA}
INPUT_SCHEMA = {**SAID, "input_schema": SCHEMA}
MCP = {**SAID, "inputSchema": SCHEMA}


def only(kind: str, source: Any) -> Json:
    """Return the document of the one vibe of a source without problems."""
    imported = import_tools(kind, source)
    assert imported.problems == ()
    (vibe,) = imported.vibes
    assert (vibe.name, vibe.path) == ("get-weather", "get-weather.vibe.json")
    return vibe.document


def problems(kind: str, source: Any, **options: Any) -> list[tuple[str, str]]:
    return [(problem.name, problem.message) for problem in import_tools(kind, source, **options).problems]


WRAPPINGS: dict[str, tuple[str, Json]] = {
    "chat": ("openai", [{"type": "function", "function": {**FUNCTION, "strict": True}}]),
    "responses": ("openai", [{"type": "function", **FUNCTION, "strict": False}]),
    "functions of old": ("openai", [FUNCTION]),
    "one function": ("openai", FUNCTION),
    "a chat request": ("openai", {"model": "m", "messages": [], "tools": [{"type": "function", "function": FUNCTION}]}),
    "a request of old": ("openai", {"model": "m", "functions": [FUNCTION]}),
    "response_format": ("openai", {"type": "json_schema", "json_schema": {**SAID, "schema": SCHEMA, "strict": True}}),
    "a request with a format": (
        "openai",
        {"response_format": {"type": "json_schema", "json_schema": {**SAID, "schema": SCHEMA}}},
    ),
    "text.format": ("openai", {"text": {"format": {"type": "json_schema", **SAID, "schema": SCHEMA}}}),
    "tools": ("anthropic", [INPUT_SCHEMA]),
    "custom tools": ("anthropic", [{"type": "custom", **INPUT_SCHEMA}]),
    "a message request": ("anthropic", {"model": "m", "max_tokens": 1, "tools": [INPUT_SCHEMA]}),
    "tools/list": ("mcp", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}}),
    "a result": ("mcp", {"tools": [MCP]}),
    "one tool": ("mcp", MCP),
    "an entry": ("bfcl", {"id": "a_0", "question": [[{"role": "user", "content": "?"}]], "function": [FUNCTION]}),
    "an entry with one": ("bfcl", {"id": "a_0", "function": FUNCTION}),
    "nested lists": ("bfcl", [[[FUNCTION]], [FUNCTION]]),
    "tools as a text": ("bfcl", [{"query": "?", "tools": json.dumps([FUNCTION]), "answers": "[]"}]),
    "the wrong kind": ("anthropic", [{"type": "function", "function": FUNCTION}]),
    "Gemini's": ("openai", {"functionDeclarations": [FUNCTION]}),
}


@every_case("name", WRAPPINGS)
def test_a_tool_is_found_in_its_wrapping(name: str) -> None:
    kind, source = WRAPPINGS[name]
    assert only(kind, source) == VIBE


@every_case("name", WRAPPINGS)
def test_the_text_of_it_gives_the_same(name: str) -> None:
    kind, source = WRAPPINGS[name]
    assert only(kind, json.dumps(source)) == VIBE


def test_keys_stay_in_order() -> None:
    document = only("openai", [FUNCTION])
    assert list(document) == ["title", "description", "type", "properties", "required"]
    properties = {name: {"type": "string"} for name in ("z", "a", "m", "b")}
    (vibe,) = import_tools("openai", [{"name": "x", "parameters": {"type": "object", "properties": properties}}]).vibes
    assert list(vibe.document["properties"]) == ["z", "a", "m", "b"]


def test_json_lines_are_read_line_by_line() -> None:
    lines = [{"id": str(number), "function": [{"name": f"f{number}", "parameters": {"type": "dict"}}]} for number in range(3)]
    text = "\n".join(map(json.dumps, lines)) + "\n\n"
    imported = import_tools("bfcl", Source("data.jsonl", text))
    assert [vibe.name for vibe in imported.vibes] == ["f0", "f1", "f2"]
    assert imported.problems == ()


def test_a_problem_in_json_lines_has_its_place_there() -> None:
    text = '{"name": "a", "parameters": {"type": "dict"}}\n{"name": "b", "parameters": {"type": "dyct"}}\n'
    (problem,) = import_tools("bfcl", Source("data.jsonl", text)).problems
    assert problem.at is not None
    assert (problem.name, problem.at.line, problem.at.text) == ("left-out", 2, '"dyct"')


def test_a_broken_line_is_an_error_with_its_place() -> None:
    text = '{"name": "a"}\n{"name": }\n{"name": "c"}\n'
    imported = import_tools("bfcl", Source("data.jsonl", text))
    (problem,) = imported.problems
    assert problem.at is not None
    assert (problem.name, problem.severity, problem.at.line) == ("invalid-json", "error", 2)


@every_case("parameters", [None, {}, [], ""])
def test_no_parameters_are_an_object_without_properties(parameters: Json) -> None:
    assert only("openai", [{**SAID, "parameters": parameters}]) == {
        "title": "get.weather",
        "description": "Tell the weather.",
        "type": "object",
        "properties": {},
    }


@every_case("rest", [{}, {"strict": True}, {"description": "d"}, {"outputSchema": {"type": "object"}}, {"type": "function"}])
def test_a_name_is_enough_for_a_tool(rest: Json) -> None:
    (vibe,) = import_tools("mcp", [{"name": "ping", **rest}]).vibes
    assert vibe.document["properties"] == {}


def test_parameters_in_other_forms_are_the_same() -> None:
    wanted = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer", "default": 3}},
        "required": ["a"],
    }
    by_name = {"a": {"type": "str"}, "b": {"type": "int", "default": 3}}
    as_list = [{"name": "a", "type": "string", "required": True}, {"name": "b", "type": "integer", "default": 3}]
    two_lists = {"required_parameters": as_list[:1], "optional_parameters": as_list[1:]}
    for function in ({"parameters": by_name}, {"parameters": as_list}, two_lists):
        (vibe,) = import_tools("bfcl", [{"name": "f", **function}]).vibes
        assert vibe.document == {"title": "f", **wanted}


def test_a_parameter_may_be_called_as_a_keyword() -> None:
    for name in ("type", "required", "enum", "$ref", "description"):
        source = [{"name": "f", "parameters": {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}}]
        imported = import_tools("openai", source)
        assert imported.vibes[0].document["properties"] == {name: {"type": "string"}}
    (vibe,) = import_tools("bfcl", [{"name": "f", "parameters": {"type": {"type": "string", "description": "Which."}}}]).vibes
    assert vibe.document["properties"] == {"type": {"type": "string", "description": "Which."}}


class TestNames:
    @pytest.mark.parametrize(
        ("name", "file"),
        [
            ("get.weather", "get-weather"),
            ("getUserByID", "get-user-by-id"),
            ("Get User", "get-user"),
            ("a/b:c", "a-b-c"),
            ("../../etc/passwd", "etc-passwd"),
            ("узнать_погоду", "узнать-погоду"),
            ("3d_render", "tool-3d-render"),
            ("start_process", "start-process-tool"),
            *((name, f"{name}-tool") for name in ("plan", "fail")),
            ("one_of", "one-of-tool"),
            ("delete_user", "delete-user"),
            ("send_Activity", "send-activity"),
        ],
    )
    def test_a_name_becomes_that_of_a_file_and_is_kept_as_the_title(self, name: str, file: str) -> None:
        (vibe,) = import_tools("openai", [{"name": name, "parameters": {}}]).vibes
        assert (vibe.name, vibe.document["title"]) == (file, name)

    def test_no_name_of_a_file_is_too_long(self) -> None:
        for name in ("x" * 5000, "Ж" * 5000, "word " * 900, "слово_" * 900):
            (vibe,) = import_tools("openai", [{"name": name}]).vibes
            assert len(vibe.path.encode()) < 230
            assert vibe.document["title"] == name

    @pytest.mark.parametrize("name", [None, "", "!!!", 3])
    def test_who_has_none_gets_one(self, name: Json) -> None:
        imported = import_tools("openai", [{"name": name, "description": "d", "parameters": {}}, {"parameters": {}}])
        assert [vibe.name for vibe in imported.vibes] == ["tool", "tool-2"]
        assert [problem.name for problem in imported.problems].count("nameless-tool") == 2

    def test_equal_names_get_numbers_and_point_at_the_first(self) -> None:
        text = json.dumps(
            [{"name": "findSlot"}, {"name": "find_slot", "description": "d"}, {"name": "FINDSLOT", "description": "e"}]
        )
        imported = import_tools("openai", Source("tools.json", text))
        assert [vibe.name for vibe in imported.vibes] == ["find-slot", "find-slot-2", "findslot-3"]
        assert [problem.name for problem in imported.problems] == ["repeated-tool"] * 2
        assert imported.problems[0].labels[0].span.text == '{"name": "findSlot"}'

    def test_a_name_that_another_tool_was_given_is_told_as_well(self) -> None:
        text = json.dumps([{"name": "read"}, {"name": "Read", "description": "d"}, {"name": "read2", "description": "e"}])
        imported = import_tools("openai", Source("tools.json", text))
        assert [vibe.name for vibe in imported.vibes] == ["read", "read-2", "read2-2"]
        assert [problem.message for problem in imported.problems] == [
            "the vibe of another tool has the name that `Read` would get; this one becomes `read-2`",
            "the vibe of another tool has the name that `read2` would get; this one becomes `read2-2`",
        ]
        assert imported.problems[1].labels[0].span.text == '{"name": "Read", "description": "d"}'

    @pytest.mark.parametrize("tools", [["find", "find_activity"], ["Find_Activity", "find"]])
    def test_no_name_is_that_of_the_call_of_another_tool(self, tools: list[str]) -> None:
        text = json.dumps([{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in tools])
        imported = import_tools("mcp", Source("tools.json", text), results="activity")
        names = [vibe.name.replace("-", "").replace("_", "").lower() for vibe in imported.vibes]
        assert sorted({*names}) == sorted(names)
        assert [problem.name for problem in imported.problems] == ["repeated-tool"]
        assert imported.problems[0].labels[0].span.text == text[1 : text.index("}}") + 2]

    def test_the_same_tool_twice_is_one_vibe(self) -> None:
        assert only("openai", [FUNCTION, {"type": "function", "function": FUNCTION}]) == VIBE
        read, write = {"name": "a", "description": "Read."}, {"name": "a", "description": "Write."}
        assert [vibe.name for vibe in import_tools("openai", [read, write, write, read]).vibes] == ["a", "a-2"]


@pytest.mark.parametrize("form", [{"type": "text"}, {"type": "grammar", "grammar": {"syntax": "lark", "definition": "s: x"}}])
def test_a_custom_tool_of_chat_completions_needs_no_description(form: Json) -> None:
    made = only("openai", [{"type": "custom", "custom": {"name": "get_weather", "format": form}}])
    assert made["title"] == "get_weather"
    assert list(made["properties"]) == ["input"]


class TestWhatIsLeftOut:
    @pytest.mark.parametrize(
        "entry", [None, 3, True, "text", {}, {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]
    )
    def test_what_is_no_tool_is_told_and_the_others_are_imported(self, entry: Json) -> None:
        imported = import_tools("anthropic", [entry, INPUT_SCHEMA])
        assert [problem.name for problem in imported.problems] == ["not-a-tool"]
        assert [vibe.document for vibe in imported.vibes] == [VIBE]

    @pytest.mark.parametrize("source", [None, [], {}, "[]", 3, {"tools": []}, [[]], "{}"])
    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"pydantic", "smolagents"}])
    def test_no_tools_at_all_are_an_error(self, kind: str, source: Json) -> None:
        imported = import_tools(kind, source)
        assert imported.vibes == ()
        assert "no-tools" in [problem.name for problem in imported.problems]

    def test_fields_of_a_provider_are_told(self) -> None:
        assert problems("anthropic", [{**INPUT_SCHEMA, "cached": {"type": "ephemeral"}}]) == [
            ("left-out", "`cached` is left out: a vibe has no place for it")
        ]

    def test_options_of_a_provider_are_kept_for_it(self) -> None:
        [vibe] = import_tools("anthropic", [{**INPUT_SCHEMA, "cache_control": {"type": "ephemeral"}}]).vibes
        assert vibe.document["x-tool"] == {"anthropic": {"cache_control": {"type": "ephemeral"}}}

    def test_pages_that_follow_are_told(self) -> None:
        assert [name for name, _ in problems("mcp", {"tools": [MCP], "nextCursor": "x"})] == ["left-out"]

    def test_parameters_with_a_meaning_are_told_and_stay(self) -> None:
        schema = {"type": "object", "properties": {"output": {}, "_id": {}, "$filter": {}}}
        imported = import_tools("openai", [{"name": "f", "parameters": schema}])
        assert [problem.name for problem in imported.problems] == ["property-with-meaning"] * 3
        assert imported.vibes[0].document == {"title": "f", **schema}

    def test_every_problem_has_its_place(self) -> None:
        schema = {
            "type": "dict",
            "properties": {"x": {"type": "integer", "maximum": "many", "$ref": "https://a.b/c", "pattern": "(("}},
        }
        source = Source("tools.json", json.dumps([{"name": "f", "parameters": schema, "extra": 1}, 5]))
        found = [(problem.name, problem.at and problem.at.text) for problem in import_tools("openai", source).problems]
        assert found == [
            ("read-otherwise", '"dict"'),
            ("left-out", '"many"'),
            ("left-out", '"https://a.b/c"'),
            ("left-out", '"(("'),
            ("left-out", "1"),
            ("not-a-tool", "5"),
        ]


class TestAnthropic:
    def test_examples_of_inputs_are_examples(self) -> None:
        assert only("anthropic", [{**INPUT_SCHEMA, "input_examples": [{"city": "Rome"}]}])["examples"] == [{"city": "Rome"}]


class TestMcp:
    def test_a_title_stands_beside_the_exact_name(self) -> None:
        document = only("mcp", [{**MCP, "title": "Weather report"}])
        assert (document["title"], document["x-title"], document["description"]) == (
            "get.weather",
            "Weather report",
            "Tell the weather.",
        )

    def test_a_title_without_a_description_describes(self) -> None:
        (vibe,) = import_tools("mcp", [{"name": "f", "title": "Weather report", "inputSchema": SCHEMA}]).vibes
        assert vibe.document["description"] == "Weather report"

    def test_older_drafts_are_brought_to_ours(self) -> None:
        schema = {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"p": {"items": [{"$ref": "#/definitions/q"}]}, "r": {"$ref": "#/properties/p/items/0"}},
            "definitions": {"q": {"type": "string"}},
        }
        document = only("mcp", [{**SAID, "inputSchema": schema}])
        assert document["properties"] == {
            "p": {"prefixItems": [{"$ref": "#/$defs/q"}]},
            "r": {"$ref": "#/properties/p/prefixItems/0"},
        }
        assert document["$defs"] == {"q": {"type": "string"}}
        assert "$schema" not in document


RESULT = {
    "type": "object",
    "properties": {"sky": {"$ref": "#/$defs/Sky"}, "next": {"$ref": "#"}},
    "$defs": {"Sky": {"type": "string"}},
}
TOOL = {**MCP, "outputSchema": RESULT}


class TestResults:
    def test_are_left_out_with_one_warning(self) -> None:
        assert problems("mcp", [TOOL, {**TOOL, "name": "g"}]) == [
            ("results-left-out", "2 tools declare results, which are left out")
        ]

    def test_become_the_output_that_the_server_fills_in(self) -> None:
        imported = import_tools("mcp", [TOOL], results="output")
        assert imported.problems == ()
        document = imported.vibes[0].document
        assert list(document["properties"]) == ["city", "days", "output"]
        assert document["properties"]["output"]["properties"] == {
            "sky": {"$ref": "#/$defs/Sky"},
            "next": {"$ref": "#/properties/output"},
        }
        assert document["$defs"] == {"Sky": {"type": "string"}}
        assert document["required"] == ["city", "output"]

    def test_have_no_place_where_a_parameter_has_their_name(self) -> None:
        taken = {"name": "f", "inputSchema": {"type": "object", "properties": {"output": {}}}, "outputSchema": RESULT}
        imported = import_tools("mcp", [taken, {**taken, "name": "g", "inputSchema": {"enum": [{}]}}], results="output")
        reasons = [problem.message for problem in imported.problems if problem.name == "left-out"]
        assert [reason.rpartition(": ")[2] for reason in reasons] == [
            "a parameter has the name `output`",
            "the arguments are not a plain object",
        ]

    def test_become_an_activity_beside_the_tool(self) -> None:
        imported = import_tools("mcp", [TOOL], results="activity")
        assert [vibe.name for vibe in imported.vibes] == ["get-weather", "get-weather_Activity"]
        assert imported.vibes[0].document == VIBE
        activity = imported.vibes[1].document
        assert activity["required"] == ["output"]
        assert activity["properties"]["output"]["properties"]["next"] == {"$ref": "#/properties/output"}

    def test_definitions_of_two_schemas_stay_apart(self) -> None:
        tool = {
            "name": "f",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/Sky"}},
                "$defs": {"Sky": {"type": "integer"}},
            },
            "outputSchema": RESULT,
        }
        document = import_tools("mcp", [tool], results="output").vibes[0].document
        assert document["properties"]["a"] == {"$ref": "#/$defs/Sky"}
        assert document["properties"]["output"]["properties"]["sky"] == {"$ref": "#/$defs/Sky_2"}
        assert document["$defs"] == {"Sky": {"type": "integer"}, "Sky_2": {"type": "string"}}


def test_an_unknown_kind_is_told_with_the_nearest() -> None:
    (problem,) = import_tools("openapy", {}).problems
    assert (problem.name, problem.hint) == ("unknown-importer", "did you mean `openapi` or `openai`?")


def test_what_is_given_is_not_changed() -> None:
    source = [{"name": "f", "parameters": {"type": "dict", "properties": [{"name": "a", "required": True}], "nullable": True}}]
    before = json.dumps(source)
    import_tools("openai", source)
    assert json.dumps(source) == before


def test_values_that_are_no_json_are_told() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for source in (
        [{1: 2}],
        [{"name": object()}],
        [float("nan")],
        circle,
        ["\ud800"],
        [{"name": "f", "parameters": {"default": {1}}}],
    ):
        found: tuple[Problem, ...] = import_tools("openai", source).problems
        assert [problem.name for problem in found] == ["invalid-json"]


def test_what_shares_itself_without_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.tools.sources.GIVEN_PARTS", 10_000)
    shared: Any = []
    for _ in range(60):
        shared = [shared, shared]
    (problem,) = import_tools("openai", shared).problems
    assert problem.name == "invalid-json"


def test_what_is_required_in_a_branch_and_nowhere_described_is_described_as_anything() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    imported = import_tools("openai", [{"name": "f", "parameters": schema}])
    assert [problem.name for problem in imported.problems] == ["read-otherwise"]
    assert imported.vibes[0].document["anyOf"][1] == {"required": ["b"], "properties": {"b": {}}}


@every_case("schema", [{"type": "array"}, {"enum": [1]}, {"type": "object", "oneOf": [False]}, {"type": ["string", "null"]}])
def test_arguments_that_are_no_object_become_a_property_of_one(schema: Json) -> None:
    imported = import_tools("openai", [{"name": "f", "parameters": schema}])
    assert [problem.name for problem in imported.problems] == ["read-otherwise"]
    assert imported.vibes[0].document == {
        "title": "f",
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
    }


@every_case(
    "key", ["name", "type", "description", "title", "parameters", "inputSchema", "required", "function", "tools", "_meta"]
)
@every_case("junk", [[], {}, [[]], [{}], "x", 3, None, True])
def test_no_member_of_a_tool_can_break_the_reading(key: str, junk: Json) -> None:
    for kind in ("openai", "mcp", "bfcl", "anthropic"):
        import_tools(kind, [{"name": "f", key: junk}, {"parameters": {}, key: junk}, {"description": "d", key: junk}])
        import_tools(kind, {key: junk})


@every_case("kind", ["openai", "anthropic", "mcp"])
def test_tools_of_bedrock_are_read(kind: str) -> None:
    schema = {"type": "object", "properties": {"sign": {"type": "string"}}, "required": ["sign"]}
    spec = {"name": "top_song", "description": "Get the song.", "inputSchema": {"json": schema}}
    for source in ({"toolConfig": {"tools": [{"toolSpec": spec}]}}, [{"toolSpec": spec}], spec):
        imported = import_tools(kind, source)
        assert imported.problems == ()
        assert imported.vibes[0].document == {"title": "top_song", "description": "Get the song.", **schema}
    plain = import_tools(kind, {"name": "a", "inputSchema": {"type": "object", "properties": {"json": {"type": "string"}}}})
    assert plain.vibes[0].document["properties"] == {"json": {"type": "string"}}


def test_no_vibe_has_a_name_that_windows_keeps_for_a_device() -> None:
    tools = [{"name": name, "input_schema": {"type": "object", "properties": {}}} for name in ("con", "NUL", "con-tool")]
    assert [vibe.name for vibe in import_tools("anthropic", tools).vibes] == ["con-tool", "nul-tool", "con-tool-2"]


@every_case("schema", [{}, {"inputSchema": None}, {"inputSchema": []}])
def test_a_tool_of_mcp_without_a_schema_is_told(schema: Json) -> None:
    imported = import_tools("mcp", [{"name": "now", "description": "The time.", **schema}])
    assert imported.vibes[0].document == {
        "title": "now",
        "description": "The time.",
        "type": "object",
        "properties": {},
    }
    assert [problem.message for problem in imported.problems] == [
        "`a tool without inputSchema` is read as one that takes no arguments"
    ]
    assert import_tools("openai", [{"name": "now", "description": "The time."}]).problems == ()  # there it may be left out


@every_case(
    "text",
    [
        '[{"name": "a", "inputSchema": {}, "inputSchema": {"type": "object"}}]',
        '{"name": "a", "inputSchema": {"type": "object"}}\n{"name": "b", "name": "c", "inputSchema": {"type": "object"}}',
    ],
)
def test_a_key_that_is_written_twice_loses_no_tool_in_silence(text: str) -> None:
    (problem,) = import_tools("mcp", Source("tools.json", text)).problems
    assert problem.name == "invalid-json"
    assert "is written twice in one object" in problem.message
    assert problem.at is not None
    assert problem.at.text in {'"inputSchema"', '"name"'}


@pytest.mark.parametrize(("results", "marked"), [("activity", {"look_Activity"}), ("output", {"look"}), ("leave", set())])
def test_a_call_of_mcp_that_only_reads_says_so_in_the_vibe_of_the_call(results: Any, marked: set[str]) -> None:
    tool = {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    made = import_tools("mcp", {"tools": [tool, {**tool, "name": "book", "annotations": {}}]}, results=results)
    assert {vibe.name for vibe in made.vibes if "x-reads-only" in vibe.document} == marked
