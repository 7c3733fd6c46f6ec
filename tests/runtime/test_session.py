"""A session: a model with compiled tools."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from written_processes import TEXT, chunk, process, step

from instrc import Model, ModelError, Reply, Request, Retry
from instrc.cli import main
from instrc.runtime.interpreter import versions
from instrc.runtime.plan import plan_of
from instrc.runtime.session import (  # the schema of a turn, before it is sent
    ASKED_AGAIN,
    TOOLS_OF_A_TURN,
    Session,
    SessionTool,
    turn_schema,
)
from instrc.text.jsontext import dumps, loads
from instrc.text.sentences import sentences_in


def turns_of(session: Session, text: str) -> list[Any]:
    async def talk() -> list[Any]:
        return [turn async for turn in session.say(text)]

    return asyncio.run(talk())


def test_a_run_begins_with_the_entry_that_a_model_has_filled() -> None:
    document = process(llmContext1=chunk(step1_a=step(TEXT, "prompt")), llmContext2=chunk(step2_b=step(TEXT, "step1_a")))
    plan = plan_of(document, entry={"step1_a": {"text": "filled"}})
    state = versions.begin(plan, {"prompt": "x"})
    [command] = versions.issue(plan, state)
    assert command["id"] == "llmContext2"
    assert command["kind"] == "model"
    assert command["context"] == {"step1_a": {"text": "filled"}}
    plan = plan_of(document, entry={"step1_a": 5})
    [command] = versions.issue(plan, versions.begin(plan, {"prompt": "x"}))
    assert command["id"] == "llmContext1"


def test_a_model_fills_tools_starts_processes_and_talks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemas").mkdir()
    vibes: dict[str, Any] = {"note": TEXT, "plan-trip": TEXT, "book_Activity": {"properties": {"output": {"type": "string"}}}}
    for name, schema in vibes.items():
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(dumps(schema))
    (tmp_path / "note.aug").write_text("tool note = Note(prompt)")
    (tmp_path / "trip.aug").write_text("tool trip = PlanTrip(prompt) | Book_Activity | PlanTrip")
    entry = {"step1_plan_trip": {"text": "Rome"}}
    answers = [
        {"say": None, "use": {"tool": "nothing", "arguments": {}}},
        {"say": None, "use": {"tool": "note", "arguments": {"text": "remember"}}},
        {"say": None, "use": {"tool": "trip", "arguments": entry}},
        {"say": "Done.", "use": None},
        {"say": "Bye.", "use": None},
    ]
    (tmp_path / "answers.json").write_text(dumps(answers))
    monkeypatch.setattr("sys.stdin", io.StringIO("Book a trip\n\nThanks\n"))
    assert main(["chat", "note.aug", "trip.aug", "--model", "scripted:answers.json", "--rehearse", "--engine", "memory"]) == 0
    assert capsys.readouterr().out == "Done.\nBye.\n"
    turns = loads((tmp_path / ".instrc" / "sessions" / "chat.json").read_bytes())
    assert [turn["from"] for turn in turns] == ["person", "model", "note", "model", "trip", "model", "person", "model"]
    assert turns[2]["result"] == {"text": "remember"}
    assert turns[4]["result"]["run"].startswith("trip-")


def test_a_session_takes_the_vibes_of_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "schemas").mkdir()
    vibe = tmp_path / "schemas" / "note.vibe.json"
    vibe.write_text(dumps(TEXT))
    (tmp_path / "note.aug").write_text("tool note = Note(prompt)")
    (tmp_path / "answers.json").write_text(dumps([{"say": "Hello.", "use": None}]))
    command = ["chat", "note.aug", "--locked", "--model", "scripted:answers.json", "--engine", "memory"]
    monkeypatch.setattr("sys.stdin", io.StringIO("Hi\n"))
    assert main(["lock"]) == 0
    assert main(command) == 0
    vibe.write_text(dumps({**TEXT, "title": "Changed"}))
    assert main(command) == 1
    assert "lock" in capsys.readouterr().err


def test_each_request_of_a_session_has_a_key_of_its_own_and_says_what_was_wrong_before() -> None:
    seen: list[Request] = []

    class Deaf(Model):
        async def answer(self, request: Request) -> Reply:
            seen.append(request)
            return Reply({"nothing": len(seen)})

    talk = Session("s1", Deaf(), (SessionTool("note", TEXT),))
    [note] = turns_of(talk, "Hi")
    assert note["from"] == "session"
    assert "no answer that fits" in note["note"]
    assert [(each.key, each.name) for each in seen] == [("s1/turn1", "turn"), ("s1/turn1#2", "turn"), ("s1/turn1#3", "turn")]
    assert [each.command and each.command["rejected"] for each in seen] == [None, {"nothing": 1}, {"nothing": 2}]
    assert [turn for turn in talk.turns if turn["from"] == "model"] == []  # nothing is put into its mouth
    again = turns_of(talk, "Hi again")
    assert '"from": "session"' in seen[3].message
    assert again[0]["from"] == "session"


def test_what_only_looks_like_a_reference_keeps_its_name() -> None:
    data = {"$ref": "#/$defs/thing"}
    said = {"const": data, "enum": [data], "default": data, "examples": [data]}

    def tool(kind: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"it": said, "own": data}, "$defs": {"thing": {"type": kind}}}

    schema: Any = turn_schema((SessionTool("One", tool("string")), SessionTool("Two", tool("integer"))))
    properties = schema["properties"]["use"]["anyOf"][2]["properties"]["arguments"]["properties"]
    assert properties == {"it": said, "own": {"$ref": "#/$defs/thing_2"}}


def test_a_tool_whose_root_is_recursive_leads_back_to_itself_and_not_to_the_turn() -> None:
    kids = {"type": "array", "items": {"$ref": "#"}}
    tree = {"type": "object", "properties": {"kids": kids}, "required": ["kids"], "additionalProperties": False}
    schema = turn_schema((SessionTool("Tree", tree),))

    def fits(value: Any) -> bool:
        return Draft202012Validator(schema).is_valid({"say": None, "use": {"tool": "Tree", "arguments": value}})

    assert fits({"kids": [{"kids": []}]})
    assert not fits({"kids": [{"say": None, "use": None}]})


def test_definitions_of_the_same_name_in_two_tools_stay_apart() -> None:
    def tool(kind: str) -> dict[str, Any]:
        properties = {"it": {"$ref": "#/$defs/thing"}}
        return {"type": "object", "properties": properties, "required": ["it"], "$defs": {"thing": {"type": kind}}}

    schema = turn_schema((SessionTool("One", tool("string")), SessionTool("Two", tool("integer"))))

    def fits(name: str, value: Any) -> bool:
        return Draft202012Validator(schema).is_valid({"say": None, "use": {"tool": name, "arguments": {"it": value}}})

    assert fits("One", "x")
    assert fits("Two", 1)
    assert not fits("One", 1)
    assert not fits("Two", "x")


def test_a_turn_asks_and_uses_tools_only_so_often() -> None:
    class Stubborn:
        """Always answers the same."""

        def __init__(self, answer: Any) -> None:
            self.given = answer
            self.asked: list[str] = []

        async def answer(self, request: Request) -> Reply:
            self.asked.append(request.key)
            return Reply(self.given)

    tools = (SessionTool("note", TEXT),)
    wrong = Stubborn({"say": 5, "use": None})
    [note] = turns_of(Session("s", wrong, tools), "Hello")
    assert note["note"].startswith("the model gave no answer that fits, at `/say`: ")
    assert wrong.asked == ["s/turn1", *(f"s/turn1#{attempt}" for attempt in range(2, ASKED_AGAIN + 2))]
    endless = Stubborn({"say": None, "use": {"tool": "note", "arguments": {"text": "x"}}})
    talk = Session("s", endless, tools)
    *used, last = turns_of(talk, "Hello")
    assert [turn["from"] for turn in used] == ["model", "note"] * TOOLS_OF_A_TURN
    most = f"the model has used {TOOLS_OF_A_TURN} tools, which is the most in one turn: say something to go on"
    assert last == {"from": "session", "note": most}
    assert talk.turns == [{"from": "person", "text": "Hello"}, *used, last]
    assert len(endless.asked) == TOOLS_OF_A_TURN
    silent = Stubborn({"say": None, "use": None})
    [note] = turns_of(Session("s", silent, tools), "Hello")
    assert note["note"].endswith("nothing is said and no tool is used: do one of the two")
    [note] = turns_of(Session("s", silent, tools, sentences=sentences_in("ru")), "Hello")
    said = "ничего не сказано и ни один инструмент не вызван: сделай одно из двух"
    assert note["note"] == f"модель не дала подходящего ответа, в `/`: {said}"
    schema: Any = turn_schema(tools, sentences_in("ru"))
    assert "Скажи" in schema["description"]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply({"say": "A moment.", "use": {"tool": "note", "arguments": {"text": "x"}}}), "A moment."),
        (Reply({"say": None, "use": {"tool": "note", "arguments": {"text": "x"}}}, text="A moment."), "A moment."),
        (Reply({"say": None, "use": {"tool": "note", "arguments": {"text": "x"}}}), None),
    ],
    ids=["in the turn", "beside the call", "none"],
)
def test_words_beside_a_tool_are_shown_before_it_is_used_and_kept(reply: Reply, text: str | None) -> None:
    replies = iter([reply, Reply({"say": "Done.", "use": None})])
    order: list[str] = []

    class Words:
        async def answer(self, _request: Request) -> Reply:
            return next(replies)

    async def begin(_name: str, _filled: Any, _said: str) -> Any:
        order.append("begun")
        return "noted"

    async def talk() -> list[Any]:
        session = Session("s", Words(), (SessionTool("note", TEXT, begin),))
        async for turn in session.say("Hello"):
            order.append(str(turn.get("text")))  # noqa: PERF401  -- one at a time: the order is what is tested
        return session.turns

    turns = asyncio.run(talk())
    assert order == [str(text), "begun", "None", "Done."]
    assert turns[1].get("text") == text


def test_text_alone_is_an_answer() -> None:
    class Plain:
        async def answer(self, _request: Request) -> Reply:
            return Reply(None, complaints=({"pointer": "", "message": "nothing was filled in"},), text="Hello there.")

    assert turns_of(Session("s", Plain(), (SessionTool("note", TEXT),)), "Hello") == [{"from": "model", "text": "Hello there."}]


def test_a_busy_provider_is_asked_again_as_in_a_run() -> None:
    errors = [ModelError("busy", code="429", retry=True), ModelError("down", code="503", retry=True)]
    seen: list[str] = []

    class Busy:
        async def answer(self, _request: Request) -> Reply:
            if errors:
                raise errors.pop()
            return Reply({"say": "Hello.", "use": None})

    tools = (SessionTool("note", TEXT),)
    talk = Session("s", Busy(), tools, watch=lambda event: seen.append(event["event"]), retry=Retry(pause=0))
    assert turns_of(talk, "Hello") == [{"from": "model", "text": "Hello."}]
    assert seen == ["asked", "retried", "retried", "answered"]
    errors += [ModelError("no key", code="401")]
    with pytest.raises(ModelError, match="no key"):
        turns_of(talk, "Hello")
    assert talk.turns[-1] == {"from": "person", "text": "Hello"}
