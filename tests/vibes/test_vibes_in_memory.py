"""Instructions that a program of Python gives: schemas and types, by name, before those of all folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, TypedDict

import jsonschema
import pytest
from every_case import every_case

import instrc
from instrc.vibes.roots import MemoryRoot

pydantic = pytest.importorskip("pydantic")


class Letter(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    """What the letter says."""

    asks: str
    tone: str = "friendly"


@dataclass
class Reply:
    text: str


class Word(TypedDict, total=False):
    word: str


class Note(TypedDict):
    words: list[Word]


SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_types_and_schemas_are_instructions() -> None:
    vibes = {"ReadLetter": Letter, "WriteReply": Reply, "Note": Note, "mail/Send_Activity": SCHEMA, "Think@2": SCHEMA}
    [process] = instrc.compile('"Answer" | ReadLetter | Note | Think | Send_Activity | WriteReply', vibes=vibes, emit="result")
    assert [key.partition("_")[2] for key in process["properties"]] == ["read_letter", "note", "think", "send", "write_reply"]
    assert process["properties"]["step1_read_letter"]["properties"]["asks"]["type"] == "string"


def test_memory_comes_before_folders_and_is_referred_to_alike(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "draft.vibe.json").write_text('{ "type": "object", "properties": { "old": {} } }')
    vibes = {"draft": {"$ref": "aug:inner/part"}, "inner/part": SCHEMA}
    [tool] = instrc.compile("Draft", vibes=vibes)
    assert list(tool["properties"]) == ["text"]


def test_programs_are_checked_with_vibes_from_memory_and_these_too(tmp_path: Path) -> None:
    vibes = {"ReadLetter": Letter, "mail/Reply": Reply, "Think@1": SCHEMA, "Think@2": SCHEMA}
    (tmp_path / "a.aug").write_text('"Answer" | ReadLetter | Reply | Think')
    assert [problem.name for problem in instrc.check("a.aug")] == ["unknown-name"] * 3
    assert instrc.check("a.aug", vibes=vibes) == instrc.check(vibes=vibes) == ()
    wrong = instrc.check(vibes={**vibes, "Think@1": {"type": "strng"}, "Part": {"$ref": "aug:Nowhere"}})
    assert [(problem.name, problem.at.source.name) for problem in wrong if problem.at] == [
        ("unresolved-reference", "<vibes>/Part.vibe.json"),
        ("invalid-schema", "<vibes>/Think@1.vibe.json"),
    ]
    (problem,) = instrc.check("a.aug", vibes={"Think": 3})
    assert problem.name == "invalid-option"


def test_a_text_is_checked_as_it_is_compiled() -> None:
    text = "const letter = ReadLetter(prompt);\nWrit(letter)\n"
    for given in (text, instrc.Source("a.aug", text)):
        (problem,) = instrc.check(given, vibes={"ReadLetter": Letter, "Write": Reply})
        assert (problem.name, problem.characters) == ("unknown-name", "Writ")
        assert instrc.check(given, vibes={"ReadLetter": Letter, "Writ": Reply}) == ()
    twice = instrc.check(text, instrc.Source("b.aug", "Reed(prompt)"), vibes={"ReadLetter": Letter, "Writ": Reply})
    assert [problem.name for problem in twice] == ["unknown-name"]


def test_a_registry_holds_vibes_from_memory() -> None:
    registry = instrc.registry(vibes={"Reply": Reply, "mail/Letter": Letter, "Both": {"$ref": "aug:mail/Letter"}})
    for reference, value, valid in (
        ("aug:Reply", {"text": "Yes."}, True),
        ("aug:Reply", {"text": 1}, False),
        ("aug:Both#", {"tone": "warm"}, False),
        ("aug:mail/Letter", {"asks": "a date"}, True),
    ):
        assert jsonschema.Draft202012Validator({"$ref": reference}, registry=registry).is_valid(value) is valid
    with pytest.raises(instrc.CompileError, match=r'vibes\["Reply"\]'):
        instrc.registry(vibes={"Reply": object()})


def test_a_mistake_in_memory_has_its_place() -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("Draft", vibes={"Draft": {"type": "objekt"}})
    (problem,) = caught.value.problems
    assert problem.name == "invalid-schema"
    assert problem.at is not None
    assert problem.at.source.name == "<vibes>/Draft.vibe.json"
    assert problem.at.text == '"objekt"'


@every_case("value", [None, 5, "text", [], object()])
def test_what_has_no_schema_is_told_by_its_name(value: Any) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("Draft", vibes={"Draft": value})
    assert [problem.name for problem in caught.value.problems] == ["invalid-option"]
    assert 'vibes["Draft"]' in caught.value.problems[0].message


@every_case("name", ["", "../x", "a//b", ".x", "/a"])
def test_a_name_that_no_vibe_can_have_is_told(name: str) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("Draft", vibes={name: SCHEMA})
    assert [problem.name for problem in caught.value.problems] == ["invalid-option"]


def test_vibes_are_a_mapping() -> None:
    with pytest.raises(instrc.CompileError):
        instrc.compile("Draft", vibes=[SCHEMA])  # type: ignore[arg-type]


def write(asks: str, tone: str = "friendly") -> str:
    """Write a letter.

    Args:
        asks: What is asked for.
    """
    return asks + tone


TOOLS: dict[str, Any] = {
    "openai": {"type": "function", "function": {"name": "t", "description": "D.", "parameters": SCHEMA}},
    "responses": {"type": "function", "name": "t", "description": "D.", "parameters": SCHEMA, "strict": True},
    "anthropic": {"name": "t", "description": "D.", "input_schema": SCHEMA},
    "mcp": {"name": "t", "description": "D.", "inputSchema": SCHEMA},
    "gemini": {"functionDeclarations": [{"name": "t", "description": "D.", "parametersJsonSchema": SCHEMA}]},
    "gemini schema": {"name": "t", "description": "D.", "parameters": {**SCHEMA, "type": "OBJECT"}},
    "bedrock": {"toolSpec": {"name": "t", "description": "D.", "inputSchema": {"json": SCHEMA}}},
    "tool": instrc.Tool("t", SCHEMA, "D."),
}


@every_case("kind", TOOLS)
def test_tools_of_providers_are_instructions(kind: str) -> None:
    [tool] = instrc.compile("Draft", vibes={"Draft": TOOLS[kind]})
    assert tool["type"] == "object"
    assert tool["properties"] == SCHEMA["properties"]
    assert tool["description"].startswith("D.")


def test_a_function_brings_what_its_docstring_says() -> None:
    pytest.importorskip("griffe", reason="the parameters of docstrings need the extra `docstrings`")
    [tool] = instrc.compile("Write", vibes={"Write": write})
    assert tool["description"].startswith("Write a letter.")
    assert tool["properties"]["asks"]["description"] == "What is asked for."


def test_an_instance_is_not_taken_for_its_class() -> None:
    with pytest.raises(instrc.CompileError, match="give the class, `Letter`"):
        instrc.compile("Read", vibes={"Read": Letter(asks="a date")})


def test_what_is_lost_of_a_tool_is_in_the_report() -> None:
    report = instrc.Report()
    instrc.compile("Draft", vibes={"Draft": {**TOOLS["mcp"], "outputSchema": SCHEMA}}, report=report)
    assert [problem.name for problem in report.problems] == ["results-left-out"]


def test_several_tools_are_not_one_instruction() -> None:
    with pytest.raises(instrc.CompileError, match="it holds 2 tools"):
        instrc.compile("Draft", vibes={"Draft": {"tools": [TOOLS["mcp"], {"name": "other", "inputSchema": SCHEMA}]}})


def test_names_in_memory_are_listed_folder_by_folder_in_the_order_of_their_names() -> None:
    root = MemoryRoot({"mail/b": SCHEMA, "calendar/a": SCHEMA, "c": SCHEMA})
    assert list(root.uris()) == ["aug:c", "aug:calendar/a", "aug:mail/b"]


class Slot(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    day: str
    after: Slot | None = None


def find_slot(who: str, days: int = 3) -> list[Slot]:
    """Find free days."""
    return [Slot(day=who)] * days


ASK = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
CALL = "const asked = Ask(prompt); Write(FindSlot_Activity(who: asked.who))"


def called(value: Any, program: str = CALL) -> Any:
    """Return the step of the server that calls what is given as `FindSlot_Activity`."""
    [process] = instrc.compile(program, vibes={"Ask": ASK, "Write": SCHEMA, "FindSlot_Activity": value})
    return next(iter(process["$defs"]["SERVER_1"]["properties"].values()))


def test_of_a_function_that_is_called_parameters_are_given_and_output_is_what_it_returns() -> None:
    step = called(find_slot)
    assert step["properties"]["output"] == {"type": "array", "items": {"$ref": "#/$defs/Slot"}}
    assert step["arguments"] == {"who": "step1_ask.who"}


@every_case(
    ("tool", "output"),
    [
        ({"name": "find", "inputSchema": ASK, "outputSchema": SCHEMA}, SCHEMA),
        ({"type": "function", "function": {"name": "find", "parameters": ASK}}, {}),
        (instrc.Tool("find", ASK, "Find."), {}),
    ],
)
def test_so_it_is_of_a_tool_and_what_is_not_said_is_anything(tool: Any, output: Any) -> None:
    assert called(tool)["properties"] == {"output": output}


def test_a_schema_or_a_type_that_is_called_is_what_comes_back() -> None:
    for value in (Letter, pydantic.TypeAdapter(Letter), Letter.model_json_schema()):
        assert list(called(value)["properties"]) == ["asks", "tone"]


def test_a_function_that_returns_nothing_gives_null_and_one_that_does_not_say_gives_anything() -> None:
    def remind(who: str) -> None: ...

    def look(who: str): ...  # type: ignore[no-untyped-def]  # noqa: ANN202  -- that it does not say is the case

    assert called(remind)["properties"]["output"] == {"type": "null"}
    assert called(look)["properties"]["output"] == {}


def test_what_a_function_cannot_say_it_returns_is_told() -> None:
    def look(who: str) -> Thread: ...  # type: ignore[empty-body]

    with pytest.raises(instrc.CompileError, match=r'vibes\["FindSlot_Activity"\].*describe what `look` returns'):
        called(look)


def test_literals_are_held_against_the_parameters_of_a_function() -> None:
    with pytest.raises(instrc.CompileError, match="5 is not of type"):
        called(find_slot, "const asked = Ask(prompt); Write(asked, FindSlot_Activity(who: 5))")


def test_a_plan_knows_what_a_function_takes() -> None:
    program = "const made = Act({ steps: Plan(FindSlot_Activity) }); RunPlan_Activity(made.steps)"
    act = {"type": "object", "properties": {"steps": {}}, "required": ["steps"]}
    [process] = instrc.compile(program, vibes={"Act": act, "FindSlot_Activity": find_slot})
    [tool] = process["$defs"]["SERVER_1"]["properties"]["step2_run_plan"]["plan"]["tools"].values()
    assert tool["arguments"]["properties"].keys() == {"who", "days"}
    assert tool["output"]["type"] == "array"


PROGRAM = '"Answer" | ReadLetter | Send_Activity'
SENT = {"type": "object", "properties": {"asks": {"type": "string"}, "output": {"type": "string"}}, "required": ["asks"]}


def test_a_run_takes_them_as_a_compilation_does() -> None:
    asked = instrc.run(
        PROGRAM,
        "When is the fair?",
        vibes={"ReadLetter": Letter, "Send_Activity": SENT},
        model=instrc.Scripted({"read_letter": {"asks": "a date", "tone": "short"}}),
        activities={"Send_Activity": lambda letter: f"sent: {letter['asks']}"},
    )
    assert asked.value == "sent: a date"


def test_a_rehearsal_takes_them() -> None:
    rehearsed = instrc.rehearse(PROGRAM, vibes={"ReadLetter": Letter, "Send_Activity": SENT})
    assert rehearsed.runs
    assert not rehearsed.missed


def test_a_wrong_one_is_told_before_anything_runs() -> None:
    with pytest.raises(instrc.CompileError, match=r'`vibes\["Draft"\]` must be a JSON Schema'):
        instrc.run("Draft", vibes={"Draft": 5})


def test_what_a_run_loses_of_a_tool_is_a_warning() -> None:
    with pytest.warns(instrc.CompileWarning, match="results-left-out"):
        instrc.run("Draft", vibes={"Draft": {**TOOLS["mcp"], "outputSchema": SCHEMA}}, model="sample")


def send(text: str) -> int:
    return len(text)


@instrc.instruction(name="Ask_User")
class Ask(Letter):
    pass


class AskAgain(Ask):
    """It has a name of its own, not that of its base."""


def test_classes_and_functions_in_a_list_go_by_their_names() -> None:
    vibes = [Letter, Reply, Note, Ask, AskAgain, instrc.instruction(name="Send_Activity")(send)]
    [process] = instrc.compile("Letter | Reply | Note | Ask_User | AskAgain | Send_Activity", vibes=vibes, emit="result")
    keys = [key.partition("_")[2] for key in process["properties"]]
    assert keys == ["letter", "reply", "note", "ask", "ask_again", "send"]
    assert instrc.check("Letter |\nReply", vibes=vibes) == ()
    assert instrc.check("Letter | Reply", vibes=vibes) == ()
    assert [problem.name for problem in instrc.check("Letter")] == ["unknown-name"]
    [tool] = instrc.compile("Mail", vibes=[instrc.Tool("Mail", SCHEMA)])
    assert list(tool["properties"]) == ["text"]


@every_case(
    ("vibes", "says"),
    [
        ([Reply, Reply], r"`vibes\[1\]` must be .*, not a second `Reply`"),
        ([SCHEMA], r"`vibes\[0\]` must be a class or a function with a name of its own"),
        ("Reply", "`vibes` must be a mapping from names to schemas, or a list"),
        (5, "`vibes` must be a mapping from names to schemas, or a list"),
        ([5], r"`vibes\[0\]` must be"),
    ],
)
def test_what_has_no_name_of_its_own_is_given_by_name(vibes: Any, says: str) -> None:
    with pytest.raises(instrc.CompileError, match=says):
        instrc.compile("Reply", vibes=vibes)


@every_case("name", ["", " ", 5, None])
def test_an_instruction_has_a_name(name: Any) -> None:
    with pytest.raises(TypeError, match="name"):
        instrc.instruction(name=name)
