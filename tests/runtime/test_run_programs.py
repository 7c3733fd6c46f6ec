"""Programs from their source to the end of their run, through the functions and the commands that users have."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from applications import run_in_app
from jsonschema import Draft202012Validator

import instrc
from instrc import problems
from instrc.cli import main
from instrc.text.jsontext import dumps, loads

VIBES: dict[str, Any] = {
    "act": {
        "type": "object",
        "properties": {"_thought": {"type": "string"}, "plan": {}, "answer": {"type": ["string", "null"]}},
        "required": ["_thought", "plan", "answer"],
    },
    "search_Activity": {"properties": {"q": {"type": "string"}, "output": {"type": "array", "items": {"type": "string"}}}},
    "sum-up": {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
    "pick": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "approve_User": {"type": "object", "properties": {"decision": {"enum": ["Approve", "Reject"]}}, "required": ["decision"]},
    "confirm": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "save_Activity": {"type": "object", "properties": {"output": {"type": "string"}}},
}
AGENT = """
"Find out and answer" | repeat {
  const act  = Act(prompt, rounds, { plan: Plan(Search_Activity, aug:support/book) });
  const seen = RunPlan_Activity(act.plan);
  act
} until act.answer @ { type: "string" } max 8 keep 4 else { SumUp(prompt, rounds) }
"""
HANDLERS = """
def search(given):
    return [given["q"] if isinstance(given, dict) else given, "b"]


def save(given):
    return f"saved {given['text']}"
"""
SETTINGS = '[tool.instrc.activities]\n"search_Activity" = "found_here:search"\n"Save_Activity" = "found_here:save"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with vibes, activities and a program that others call."""
    (tmp_path / "schemas" / "support").mkdir(parents=True)
    for name, schema in VIBES.items():
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    (tmp_path / "schemas" / "support" / "book.aug").write_text("input city; tool book = Confirm(city) | Save_Activity")
    (tmp_path / "found_here.py").write_text(HANDLERS)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "agent.aug").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def plan(*tasks: Any) -> Any:
    return [{"_thought": "t", "plan": list(tasks), "answer": None}, {"_thought": "t", "plan": [], "answer": "42"}]


def test_an_agent_plans_calls_tools_and_a_program_and_answers(project: Path) -> None:
    tasks = (
        {"tool": "search_Activity", "id": "a", "arguments": {"q": "Rome"}},
        {"tool": "Book", "id": "b", "arguments": {"prompt": "please", "city": {"from": "a.0"}}},
    )
    model = instrc.Scripted({"act": plan(*tasks), "confirm": {"text": "booked"}})
    run = instrc.run(Path("agent.aug"), "Book Rome", model=model, id="r")
    assert run.status == "done", run.outcome
    assert run.value["answer"] == "42"
    seen = run.record["repeatContext1"][0]["serverContext1"]["step2_run_plan"]
    assert [(task["status"], task["output"]) for task in seen] == [("ok", ["Rome", "b"]), ("ok", "saved booked")]
    assert "seen" not in model.sent[-1].message
    Draft202012Validator(run.plan["process"]).validate(run.record)
    children = {event["run"] for event in run.trace} - {"r"}
    assert children == {"r/repeatContext1@1.serverContext1.step2_run_plan[b]"}


def test_a_process_that_serves_an_activity_brings_the_processes_of_its_plans(project: Path) -> None:
    Path("pyproject.toml").write_text(f'{SETTINGS}"find_Activity" = "aug:finder"\n')
    Path("schemas/find_Activity.vibe.json").write_text('{ "properties": { "output": {} } }')
    Path("schemas/finder.aug").write_text(
        "const a = Act(prompt, { plan: Plan(aug:support/book) }); const done = RunPlan_Activity(a.plan); { done }"
    )
    tasks = [{"tool": "Book", "id": "b", "arguments": {"prompt": "please", "city": "Rome"}}]
    model = instrc.Scripted({"act": {"_thought": "t", "plan": tasks, "answer": None}, "confirm": {"text": "booked"}})
    run = instrc.run("Confirm(Find_Activity(prompt))\n", "x", model=model, id="r")
    assert run.status == "done", run.outcome
    assert [event["input"] for event in run.trace if event.get("activity") == "save_Activity"] == [{"text": "booked"}]


def test_one_address_of_two_processes_in_a_run_is_a_problem(project: Path) -> None:
    Path("pyproject.toml").write_text(f'{SETTINGS}"find_Activity" = "aug:finder"\n')
    Path("schemas/find_Activity.vibe.json").write_text('{ "properties": { "output": {} } }')
    Path("schemas/finder.aug").write_text("RunPlan_Activity(Act(prompt, { plan: Plan(aug:support/book) }).plan)")
    Path("sub/schemas/support").mkdir(parents=True)
    Path("sub/schemas/support/book.aug").write_text("Save_Activity(Confirm(prompt))")
    Path("sub/run.aug").write_text(
        "const a = Act(prompt, { plan: Plan(aug:support/book) }); { a: RunPlan_Activity(a.plan), b: Find_Activity(prompt) }"
    )
    for file in Path("schemas").glob("*.json"):
        Path("sub/schemas", file.name).write_bytes(file.read_bytes())
    with pytest.raises(instrc.SettingsError, match="means one process in the program"):
        instrc.run(Path("sub/run.aug"), "x", model="sample", rehearse="with-activities")


def test_what_is_wrong_with_a_plan_is_said_in_the_language_of_the_project(project: Path) -> None:
    Path("pyproject.toml").write_text(f'[tool.instrc]\nprompts = "ru"\n{SETTINGS}')
    source = "const a = Act(prompt, { plan: Plan(aug:support/book) }); RunPlan_Activity(a.plan)\n"
    good = {"tool": "Book", "id": "b", "arguments": {"prompt": "please", "city": "Rome"}}
    wrong = [{**good, "tool": "Bok"}, {**good, "id": "c", "arguments": {"prompt": "please"}}]
    plans = [{"_thought": "t", "plan": plan, "answer": None} for plan in (wrong, [good])]
    model = instrc.Scripted({"act": plans, "confirm": {"text": "booked"}})
    run = instrc.run(source, "x", model=model)
    assert run.status == "done", run.outcome
    schema = str(model.sent[0].schema)
    assert "Результат другой задачи или его часть." in schema
    assert "another task" not in schema
    said = model.sent[1].message
    assert "инструмента `Bok` нет; может быть, `Book`?" in said
    assert "`Book`: не хватает аргумента `city`" in said
    [rejected] = [event for event in run.trace if event["event"] == "rejected"]
    assert "there is no tool `Bok`; did you mean `Book`?" in [each["message"] for each in rejected["complaints"]]


def test_a_choice_is_among_what_was_found(project: Path) -> None:
    source = "const found = Search_Activity(prompt); Pick(found, { id: OneOf(found) })"
    run = instrc.run(source + "\n", "x", model=instrc.Scripted({"pick": {"id": "b"}}))
    assert run.value == {"id": "b"}
    run = instrc.run(source + "\n", "x", model=instrc.Scripted({"pick": {"id": "c"}}))
    assert run.outcome["error"]["kind"] == "invalid"


@pytest.mark.parametrize("answers", [5, None, "abc", b"abc"])
def test_a_script_that_is_no_list_and_no_object_is_refused(answers: Any) -> None:
    with pytest.raises(TypeError, match="`answers` takes a list"):
        instrc.Scripted(answers)


def test_a_list_of_answers_that_is_used_up_says_so() -> None:
    model = instrc.Scripted([{"text": "Dear Ann"}])
    vibes = {"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}}
    assert instrc.run("Draft", "x", vibes=vibes, model=model).status == "done"
    again = instrc.run("Draft", "x", vibes=vibes, model=model)
    assert "its list of 1 is used up" in again.outcome["error"]["message"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("Draft", 'it has "drft", and may name `draft`, `llmContext1`'),
        ("Draft | Score", 'it has "drft", and may name `draft`, `score`, `llmContext1`'),
    ],
)
def test_a_script_without_the_answer_says_what_it_may_name(program: str, said: str) -> None:
    vibes = {name: {"type": "object", "properties": {"text": {"type": "string"}}} for name in ("Draft", "Score")}
    run = instrc.run(program, "x", vibes=vibes, model=instrc.Scripted({"drft": {"text": "Dear Ann"}}))
    assert run.outcome["error"]["message"] == f"the script has no answer for `llmContext1`: {said}"


@pytest.mark.parametrize("name", ["draft", "Draft", "step1_draft", "llmContext1"])
@pytest.mark.parametrize("program", ["Draft(prompt)", "const letter = Draft(prompt)"])
def test_the_only_step_of_a_program_goes_by_its_name(name: str, program: str) -> None:
    """Its answer has no key for it, but a script, a check and the request name it as they do among others."""
    vibes = {"Draft": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}
    model = instrc.Scripted({name: [{"text": "Hi"}, {"text": "Dear Ann"}]})
    checks = {"draft": lambda letter: None if letter["text"] != "Hi" else "say `Dear`"}
    run = run_in_app(program, "x", vibes=vibes, model=model, checks=checks)
    assert run.value == {"text": "Dear Ann"}
    assert [request.name for request in model.sent] == ["draft", "draft"]
    failed = instrc.run(program, "x", vibes=vibes, model=instrc.Scripted({name: {"text": 1}}))
    assert (failed.outcome["error"]["kind"], failed.outcome["error"]["step"]) == ("invalid", "draft")


def test_a_model_is_set_for_the_only_step_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("answers.json").write_text('{ "draft": { "text": "from the settings" } }')
    Path("pyproject.toml").write_text('[tool.instrc.models]\n"draft" = "scripted:answers.json"\n')
    vibes = {"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}}
    run = instrc.run("Draft(prompt)", "x", vibes=vibes, model=instrc.Scripted([]))
    assert run.value == {"text": "from the settings"}


def test_a_script_that_ends_says_why_its_last_answer_was_not_accepted() -> None:
    step = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] }'
    run = instrc.run(step, "x", model=instrc.Scripted([{"txt": "Dear Ann"}]))
    error = run.outcome["error"]
    assert error["code"] == "no-answer"
    assert "the script has no answer for `llmContext1#2`" in error["message"]
    assert 'the one before was not accepted: at `/`: "text" is a required property' in error["message"]


def test_a_person_is_asked_and_an_answer_may_come_from_another_process(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ask.aug").write_text(
        'const answer = Approve_User(prompt); when answer.decision is "Approve" { Confirm(prompt) } else { SumUp(prompt) }'
    )
    Path("answers.json").write_text('{"confirm": {"text": "yes"}}')
    assert main(["run", "ask.aug", "--input", "go", "--model", "scripted:answers.json", "--id", "one"]) == 3
    shown = capsys.readouterr()
    assert loads(shown.out)["status"] == "waiting"
    assert "instrc answer one" in shown.err
    assert main(["answer", "one", "approve", "--data", '{"decision": "Perhaps"}']) == 1
    assert "rejected-answer" in capsys.readouterr().err
    assert main(["answer", "one", "nobody", "--data", "{}"]) == 1
    assert "no-such-question" in capsys.readouterr().err
    assert main(["answer", "one", "approve", "--data", '{"decision": "Approve"}']) == 0
    assert loads(capsys.readouterr().out)["status"] == "done"
    assert main(["answer", "one", "approve", "--data", '{"decision": "Approve"}']) == 1
    assert "`approve` was answered already; `instrc show one`" in capsys.readouterr().err
    assert main(["show", "two"]) == 1
    assert "`instrc runs` lists" in capsys.readouterr().err
    assert main(["runs"]) == 0
    assert "done       one" in capsys.readouterr().out
    for shape in ("text", "html", "json"):
        assert main(["trace", "one", "--format", shape]) == 0
        assert "approve" in capsys.readouterr().out
    for name, beginning in {"one.html": "<!doctype", "one.jsonl": "{", "one.txt": "    0."}.items():
        assert main(["trace", "one", "-o", name]) == 0
        assert Path(name).read_text(encoding="utf-8").startswith(beginning)
    capsys.readouterr()
    assert main(["cancel", "one"]) == 0


@pytest.mark.parametrize(("at", "origin"), [([], "forked from one"), (["--at", "llmContext1"], "forked from one at llmContext1")])
def test_the_trace_of_a_fork_begins_with_its_origin(
    at: list[str], origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text('{ "draft": [{ "text": "a" }, { "text": "b" }] }')
    Path("p.aug").write_text('"Write" | @{ title: "Draft", type: "object", properties: { text: { type: "string" } } }')
    assert main(["run", "p.aug", "--input", "x", "--model", "scripted:s.json", "--id", "one"]) == 0
    assert main(["fork", "one", *at, "--id", "two"]) == 0
    capsys.readouterr()
    assert main(["trace", "two"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == origin
    assert main(["trace", "two", "--format", "html"]) == 0
    assert f"done · {origin} · " in capsys.readouterr().out
    assert main(["trace", "one"]) == 0
    assert "forked" not in capsys.readouterr().out
    assert main(["fork", "two", "--id", "three"]) == 0
    assert main(["run", "p.aug", "--input", "x", "--model", "scripted:s.json", "--id", "other"]) == 0
    capsys.readouterr()
    for run in ("one", "three"):
        assert main(["runs", "--family", run]) == 0
        shown = [line.partition("done")[2].removeprefix(" " * 7) for line in capsys.readouterr().out.splitlines()]
        assert shown == ["one", f"  two  {origin}", "    three  forked from two"]
    assert main(["runs", "--family", "three", "--status", "held"]) == 0
    assert capsys.readouterr() == ("", "there are no such runs here\n")
    assert main(["runs", "--program", "p.aug"]) == 0
    assert capsys.readouterr() == ("", "there are no such runs here; there are some of `write`\n")
    assert main(["runs", "--family", "nobody"]) == 1
    assert main(["runs", "--family", "one", "--do", "delete"]) == 2


def test_files_of_models_are_looked_up_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text('[tool.instrc.run]\nmodel = "scripted:theirs.json"\n')
    (tmp_path / "project" / "theirs.json").write_text('{"draft": {"text": "theirs"}}')
    (tmp_path / "mine.json").write_text('{"draft": {"text": "mine"}}')
    (tmp_path / "project" / "p.aug").write_text(DRAFTED)
    monkeypatch.chdir(tmp_path)
    assert instrc.run("project/p.aug", "x").value == {"text": "theirs"}
    assert instrc.run("project/p.aug", "x", model="scripted:mine.json").value == {"text": "mine"}
    with pytest.raises(instrc.SettingsError, match="no such file"):
        instrc.run("project/p.aug", "x", model="scripted:theirs.json")


DRAFTED = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } } }'
SENT = f"const draft = {DRAFTED}; Send_Activity(text: draft.text)"
SENT_LATER = SENT.replace("text: draft.text", "text: draft.text, copies: 2")
SENT_SHORT = SENT.replace("Send_Activity(text: draft.text)", "const short = Shorten(draft); Send_Activity(text: short)")


@pytest.mark.parametrize("store", [None, "runs"])
def test_a_fork_takes_another_version_of_its_program(store: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    class Model:
        async def answer(self, request: instrc.Request) -> instrc.Reply:
            asked.append(request.name)
            return instrc.Reply({key: {"text": "t"} for key in request.schema["properties"]})

    vibes: dict[str, Any] = {name: {"title": name, "type": "object"} for name in ("Send_Activity", "Shorten")}
    sent: list[Any] = []

    def send(given: dict[str, Any]) -> dict[str, Any]:
        sent.append(given)
        return {}

    run = instrc.run(SENT, "x", model=Model(), activities={"Send_Activity": send}, vibes=vibes, store=store)
    assert (run.status, run.forked, len(asked), len(sent)) == ("done", None, 1, 1)
    Path("later.aug").write_text(SENT_LATER)
    for program in (SENT_LATER, Path("later.aug")):
        with pytest.raises(instrc.ConflictError, match="has another `input`"):
            run.fork(program=program)
        other = run.fork("send", program=program)
        assert (other.status, other.forked) == ("done", {"run": run.id, "at": "send"})
        assert sent[-1]["copies"] == 2
    assert len(asked) == 1, "the draft is reused"
    short = run.fork("send", program=SENT_SHORT)
    assert short.forked is not None
    assert [*short.forked["left"]] == ["step1_draft"]
    assert short.forked["left"]["step1_draft"].endswith("in one answer with other steps: `step1_draft`, `step2_shorten`")
    with pytest.raises(TypeError, match="`program` takes a path"):
        run.fork(program=7)  # type: ignore[arg-type]
    assert run.status == "done"


def test_the_command_that_answers_says_the_store_and_the_engine_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without them the next command would look for the run in another place."""
    Path("ask.aug").write_text("Approve_User(prompt)")
    options = ["--store", "my runs", "--engine", "memory"]
    assert main(["run", "ask.aug", "--input", "go", "--id", "one", *options]) == 3
    [told] = [line for line in capsys.readouterr().err.splitlines() if "waits for an answer: instrc " in line]
    assert told.endswith(" step1_approve --store 'my runs' --engine memory --data …")
    words = shlex.split(told.split(": instrc ")[1].replace("…", '{"decision": "Approve"}'.join("''")))
    assert main(words) == 0
    assert loads(capsys.readouterr().out)["status"] == "done"


def test_events_are_lines_of_json_for_programs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.aug").write_text("Confirm(prompt)")
    assert main(["run", "one.aug", "--input", '{"prompt": {"deep": [1]}}', "--model", "sample", "--json"]) == 0
    lines = [loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("event") for line in lines] == ["asked", "answered", "ended", None]
    assert lines[-1]["output"] == {"text": "a"}


def test_a_thousand_items_stream_through_in_their_order(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.aug").write_text("Confirm(prompt)")
    Path("items.jsonl").write_text("".join(f'"item {number}"\n' for number in range(1000)) + "no json\n\n")
    line = ["run", "one.aug", "--items", "items.jsonl", "--model", "sample", "--concurrency", "8", "--id", "many"]
    assert main(line) == 1
    results = [loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [result["item"] for result in results] == list(range(1001))
    assert {result["status"] for result in results[:-1]} == {"done"}
    assert "not JSON" in results[-1]["error"]["message"]
    assert not Path(".instrc").exists()


def test_the_same_items_continue_where_they_are_stored(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("dbos")
    Path("one.aug").write_text("Confirm(prompt)")
    Path("items.jsonl").write_text('"a"\n')
    line = ["run", "one.aug", "--items", "items.jsonl", "--model", "sample", "--engine", "durable", "--id", "many"]
    assert main(line) == 0
    first = capsys.readouterr().out
    Path("items.jsonl").write_text('"a"\n"b"\n')
    assert main([*line, "--rate", "50"]) == 0
    assert capsys.readouterr().out.startswith(first)
    assert main(["runs", "--engine", "durable", "--json"]) == 0
    assert sorted(loads(line)["run"] for line in capsys.readouterr().out.splitlines()) == ["many.0", "many.1"]


def test_items_that_wait_for_a_person_can_be_answered(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ask.aug").write_text("Approve_User(prompt)")
    Path("items.jsonl").write_text('"a"\n"b"\n')
    assert main(["run", "ask.aug", "--items", "items.jsonl", "--id", "ask"]) == 0
    assert [loads(line)["status"] for line in capsys.readouterr().out.splitlines()] == ["waiting", "waiting"]
    assert main(["answer", "ask.1", "approve", "--data", '{"decision": "Approve"}']) == 0
    capsys.readouterr()
    assert main(["runs"]) == 0
    assert re.search(r"ask\.0  waits for step1_approve\n", capsys.readouterr().out), "the name by which it is answered"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (["agent.aug", "--model", "nobody"], "unusable-setting"),
        (["agent.aug", "--model", "scripted:none.json"], "unusable-setting"),
        (["agent.aug", "--engine", "steam"], "unusable-setting"),
        (["none.aug"], "unreadable-file"),
        (["none.json"], "unreadable-file"),
        (["agent.aug", "--export", "other"], "several-exports"),
        (["broken.json"], "invalid-json"),
        (["agent.aug", "--id", "../../outside"], "unusable-setting"),
        (["agent.aug", "--id", "a/b"], "unusable-setting"),
        (["agent.aug", "--id", ""], "unusable-setting"),
    ],
)
def test_what_cannot_be_run_is_one_problem(project: Path, capsys: pytest.CaptureFixture[str], line: list[str], name: str) -> None:
    Path("broken.json").write_text("{")
    assert main(["run", *line, "--input", "x", *([] if "--model" in line else ["--rehearse"])]) == 1
    assert f"[{name}]" in capsys.readouterr().err
    assert main(["runs", "--json"]) == 0
    assert capsys.readouterr().out == ""  # nothing has begun that could never go on


def test_a_model_of_the_settings_that_nobody_knows_is_named_before_anything_runs(project: Path) -> None:
    Path("pyproject.toml").write_text(SETTINGS + '[tool.instrc.models]\n"sum-*" = "opnai:gpt-5"\n')
    with pytest.raises(instrc.SettingsError, match="opnai:gpt-5"):
        instrc.run("SumUp(prompt)", "x", model="sample", engine="durable", store="kept")
    assert not Path("kept").exists()


def test_an_object_that_is_no_activity_is_shown(project: Path) -> None:
    class SearchTool:
        """Stands for a tool of a framework, which is an object and no function."""

        def __repr__(self) -> str:
            return "SearchTool()"

    with pytest.raises(TypeError, match=r"an activity is a function or a process, not SearchTool\(\)"):
        instrc.run("Confirm(prompt)", "x", model="sample", activities=[SearchTool()])


def test_a_setting_that_a_model_lacks_is_told_in_its_own_words(project: Path) -> None:
    class Keyless:
        async def answer(self, _request: Any) -> Any:
            raise instrc.CompileError([problems.runs.UnusableSetting(what="model", word="x", reason="its key is missing")])

    error = instrc.run("Confirm(prompt)", "x", model=Keyless()).outcome["error"]
    assert (error["code"], error["message"]) == ("unusable-setting", "the model `x` cannot be used: its key is missing")


def test_runs_of_two_engines_are_listed_together_the_latest_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ask.aug").write_text("Approve_User(prompt)")
    for name, engine in [("a", "durable"), ("b", "memory")]:
        assert main(["run", "ask.aug", "--input", "x", "--id", name, "--engine", engine, "--quiet"]) == 3
    file = Path(".instrc/runs/b.json")
    file.write_text(dumps({**loads(file.read_text()), "began": 4e9}))  # a store notes whole seconds: the two may be equal
    capsys.readouterr()
    assert main(["runs", "--json"]) == 0
    assert [loads(line)["run"] for line in capsys.readouterr().out.splitlines()] == ["b", "a"]


NO_FUNCTION = ["no_colon", ":", "os:"]


@pytest.mark.parametrize("said", [*NO_FUNCTION, "none_such:f", "found_here:none", "found_here:__doc__"])
def test_an_activity_that_cannot_be_loaded_is_one_problem(project: Path, said: str) -> None:
    Path("pyproject.toml").write_text(f'[tool.instrc.activities]\n"search_Activity" = "{said}"\n')
    with pytest.raises(instrc.SettingsError) as raised:
        instrc.run("Search_Activity(prompt)\n", "x")
    found = "invalid-settings" if said in NO_FUNCTION else "unusable-setting"
    assert [problem.name for problem in raised.value.problems] == [found]


def test_an_activity_that_is_not_registered_is_named_before_anything_runs(project: Path) -> None:
    with pytest.raises(instrc.SettingsError) as raised:
        instrc.run('Confirm(prompt) | @{ title: "Searhc_Activity", properties: { output: {} } }\n', "x", model="sample")
    [problem] = raised.value.problems
    assert problem.name == "unregistered-activity"
    assert "search_Activity" in (problem.hint or "")


def test_an_activity_like_no_other_is_told_where_to_register_it(project: Path) -> None:
    with pytest.raises(instrc.SettingsError) as raised:
        instrc.run('Confirm(prompt) | @{ title: "Zzz_Activity", properties: { output: {} } }\n', "x", model="sample")
    [problem] = raised.value.problems
    assert problem.name == "unregistered-activity"
    assert problem.hint == (
        "register it under `[tool.instrc.activities]` or in `activities=`, or rehearse: `--rehearse`, `instrc.rehearse`"
    )


def test_a_check_of_the_project_is_asked_again_like_a_schema_error(project: Path) -> None:
    answers = instrc.Scripted({"confirm": [{"text": "no"}, {"text": "please"}]})
    run = run_in_app(
        "Confirm(prompt)| Pick\n",
        "x",
        model=answers,
        checks={"confirm": lambda given: None if given == {"text": "please"} else "say please"},
    )
    assert run.status == "failed"  # `pick` has no answer in the script; `confirm` was asked twice
    assert "say please" in answers.sent[1].message


def test_a_model_is_chosen_by_the_folder_of_a_vibe_and_no_other_step_gets_it(project: Path) -> None:
    (project / "schemas" / "judges").mkdir()
    (project / "schemas" / "judges" / "rate.vibe.json").write_text(dumps(VIBES["pick"]))
    settings = '[tool.instrc.models]\n"judges/*" = "scripted:judge.json"\n'
    settings += '[tool.instrc.prices]\n"small*" = { input = 2, output = 10.5 }\n'
    (project / "pyproject.toml").write_text(settings)
    (project / "judge.json").write_text('{"rate": {"id": "from the judge"}, "llmContext1": {"id": "from the judge"}}')
    (project / "rated.aug").write_text("aug:judges/rate(Save_Activity(Confirm(prompt)))\n")

    class Small:
        async def answer(self, request: instrc.Request) -> instrc.Reply:
            assert request.command is not None
            return instrc.Reply(
                {key: {"text": "draft"} for key in request.command["steps"]},
                usage={"input_tokens": 1000, "output_tokens": 100},
                model="small-1",
            )

    run = instrc.run(Path("rated.aug"), "x", model=Small(), activities={"Save_Activity": lambda given: given["text"]})
    assert run.status == "done", run.outcome
    assert run.value == {"id": "from the judge"}
    assert run.usage == {"requests": 2, "input_tokens": 1000, "output_tokens": 100, "cost": pytest.approx(0.00305)}
    asked = [event["steps"] for event in run.trace if event["event"] == "asked"]
    assert asked == [["step1_confirm"], ["step3_rate"]]
    (project / "rate.aug").write_text("aug:judges/rate(prompt)\n")
    assert instrc.run(Path("rate.aug"), "x", model=Small()).value == {"id": "from the judge"}, "a tool has its model as well"


def test_prices_that_say_nothing_are_a_problem(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.instrc.prices]\n"gpt" = { inputs = 2 }\n')
    with pytest.raises(instrc.SettingsError) as raised:
        instrc.run("Confirm(prompt)\n", "x", model="sample")
    assert "a million tokens" in raised.value.problems[0].message


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("saved", "saved hello"),
        ("{ what: draft.text, saved }", {"what": "hello", "saved": "saved hello"}),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_run_gives_what_its_program_gives_members_of_results_as_well(given: str, value: Any) -> None:
    program = f"const draft = Confirm(prompt); const saved = Save_Activity(draft); {given}"
    handlers = [instrc.activity("Save_Activity")(lambda draft: f"saved {draft['text']}")]
    run = instrc.run(program, "x", model=instrc.Scripted({"confirm": {"text": "hello"}}), activities=handlers)
    assert run.value == value


@pytest.mark.usefixtures("project")
def test_an_activity_may_be_a_function_that_returns_a_coroutine() -> None:
    async def saved(draft: Any) -> str:
        return f"saved {draft['text']}"

    @instrc.activity("Save_Activity")
    def save(draft: Any) -> Any:
        return saved(draft)

    program = "const draft = Confirm(prompt); const saved = Save_Activity(draft); saved"
    run = instrc.run(program, "x", model=instrc.Scripted({"confirm": {"text": "hello"}}), activities=[save])
    assert run.value == "saved hello"


@pytest.mark.parametrize(("options", "told"), [([], True), (["--quiet"], False)])
def test_what_is_suspicious_is_told_before_a_run(
    options: list[str], project: Path, capsys: pytest.CaptureFixture[str], *, told: bool
) -> None:
    (project / "one.aug").write_text("input unused; prompt | Pick")
    assert main(["run", "one.aug", "--input", '{"unused": 1, "prompt": "x"}', "--rehearse", *options]) == 0
    assert ("[unused-binding]" in capsys.readouterr().err) is told


DRAFT = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } }, required: ["text"] }'


@pytest.mark.parametrize(
    ("program", "given", "says"),
    [
        (f"input lang; lang | {DRAFT}", None, "the input `lang` is missing"),
        (f"input lang; lang | {DRAFT}", "Ann", "the input `lang` is missing"),
        (
            f"input lang; lang | {DRAFT}",
            {"lang": "de", "lagn": "de"},
            "the input `lagn` is not declared; there are `prompt`, `lang`",
        ),
        (f"prompt | {DRAFT}", {"lang": "de"}, "the input `lang` is not declared; there are `prompt`"),
        (f'input n @ {{ type: "integer" }}; n | {DRAFT}', {"n": "de"}, "the input `n` does not fit"),
    ],
)
def test_inputs_are_those_of_the_program_whether_it_is_a_process_or_a_tool(program: str, given: Any, says: str) -> None:
    with pytest.raises(instrc.InputError, match=says):
        instrc.run(program, given, model="sample")


def test_a_text_beside_named_inputs_is_told_how_to_name_them() -> None:
    with pytest.raises(instrc.InputError) as caught:
        instrc.run(f"input lang; lang | {DRAFT}", "Ann", model="sample")
    [problem] = caught.value.problems
    assert problem.hint == 'a text fills only `prompt`; give an object that names the inputs: `{ "lang": … }`'


@pytest.mark.parametrize(
    ("program", "given", "name"),
    [
        (f"input lang; lang | {DRAFT}", "lang=de", "lang"),
        (f'input lang @ {{ default: "en" }}; lang | {DRAFT}', "lang=de", "lang"),
        (f"prompt | {DRAFT}", "prompt=Ann", "prompt"),
    ],
)
def test_an_input_that_is_written_with_an_equals_sign_is_no_prompt(program: str, given: str, name: str) -> None:
    with pytest.raises(instrc.InputError) as caught:
        instrc.run(program, given, model="sample")
    [problem] = caught.value.problems
    assert problem.message == f"the input `{name}` is not given with `=`"
    assert problem.hint is not None
    assert f'`{{ "{name}": … }}`' in problem.hint


@pytest.mark.parametrize("limit", ["requests", "tokens"])
def test_a_limit_below_zero_is_refused(limit: str) -> None:
    run = instrc.run(f"prompt | {DRAFT}", "x", model="sample")
    below: Any = {limit: -5}
    with pytest.raises(TypeError, match=f"`{limit}` takes a whole number from 0, not -5"):
        run.retry(**below)
    with pytest.raises(TypeError, match=f"`{limit}` takes a whole number from 0, not -5"):
        run_in_app(f"prompt | {DRAFT}", "x", model="sample", **below)


@pytest.mark.parametrize("given", ["x=1", "lang = de?", "lang=de, please", "a=b=c"])
def test_a_text_with_an_equals_sign_may_be_a_prompt(given: str) -> None:
    program = f'input lang @ {{ default: "en" }}; {{ a: prompt, b: lang }} | {DRAFT}'
    assert instrc.run(program, given, model="sample").status == "done"


@pytest.mark.parametrize(("given", "lang"), [(None, "en"), ({"lang": "de"}, "de")])
def test_an_input_that_is_left_out_has_its_default(given: Any, lang: str) -> None:
    sent: list[str] = []
    program = f'input lang @ {{ type: "string", default: "en" }}; lang | {DRAFT}'
    run_in_app(program, given, model="sample", watch=lambda event: sent.append(event.get("sent", "")))
    assert f'"lang": "{lang}"' in sent[0]


def test_a_rehearsal_waits_for_no_delay_and_makes_up_what_a_called_process_needs(project: Path) -> None:
    child = project / "schemas" / "support" / "book.aug"
    child.write_text('input city; tool book = Confirm(city) | (Save_Activity @ { delay: "PT1H" })')
    source = 'const a = Act(prompt, { plan: Plan(aug:support/book) }); RunPlan_Activity(a.plan) @ { delay: "PT1H" }'
    task = {"tool": "Book", "id": "a", "arguments": {"prompt": "p", "city": "Rome"}}
    model = instrc.Scripted({"act": {"_thought": "t", "plan": [task], "answer": None}, "confirm": {"text": "booked"}})
    run = instrc.run(source, "x", model=model, rehearse=True)
    assert [result["status"] for result in run.value] == ["ok"]


def test_a_run_is_printed_with_its_id_and_how_it_stands(project: Path) -> None:
    (project / "ask.aug").write_text("Approve_User(prompt)")
    run = instrc.run(project / "ask.aug", "Pay?", model="sample")
    assert repr(run) == f"<run {run.id}: waiting for step1_approve>"
    run.answer(run.questions[0].id, {"decision": "Approve"})
    assert repr(run) == f"<run {run.id}: done>"
    failed = instrc.run('Fail(message: "no more")', "Pay?")
    assert repr(failed) == f"<run {failed.id}: failed: no more>"


def test_a_question_whose_deadline_has_passed_is_not_answered_any_more() -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    program = 'try { Ask_User(prompt) @ { within: "PT1S" } } else { Note(error) }'
    run = instrc.run(program, "x", vibes={"Ask_User": text, "Note": text}, model="sample")
    [question] = run.questions
    time.sleep(1.2)
    with pytest.raises(instrc.ConflictError) as late:
        run.answer(question.id, {"text": "Here I am."})
    assert (late.value.problems[0].name, run.status) == ("no-such-question", "done")


def test_a_question_does_not_wait_for_delays() -> None:
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    vibes = {"Ask_User": text, "Note": text}
    model = instrc.Scripted({"note": {"text": "n"}})
    run = instrc.run('race { Ask_User(prompt) } or { Note @ { delay: "P1D" } }', "x", vibes=vibes, model=model)
    assert run.status == "waiting"
    run.answer("ask", {"text": "yes"})
    assert (run.status, run.value) == ("done", {"text": "yes"})
    model = instrc.Scripted({"b": {"text": "n"}})
    run = instrc.run('{ a: Ask_User(prompt), b: Note(prompt) @ { delay: "PT0.2S" } }', "x", vibes=vibes, model=model)
    assert run.status == "waiting"
    run.answer("a", {"text": "yes"})
    assert (run.outcome or {})["output"] == {"a": {"text": "yes"}, "b": {"text": "n"}}


def test_a_key_with_a_dot_stands_for_no_member() -> None:
    """An open object may have such a key, which its schema does not check."""
    price = {"properties": {"total": {"type": "number", "maximum": 100}}}
    vibes: dict[str, Any] = {
        "Quote_Activity": {"properties": {"output": {"properties": {"price": price}}}},
        "Pay_Activity": {"properties": {"output": {}}},
    }
    for price_given, paid in (({"price": {"total": 10}}, 10), ({}, None)):
        run = instrc.run(
            "const q = Quote_Activity(prompt); Pay_Activity({ amount: q.output.price.total })",
            "x",
            vibes=vibes,
            activities={
                "Quote_Activity": lambda _given, quoted=price_given: {**quoted, "price.total": 5000},
                "Pay_Activity": lambda amount: amount,
            },
        )
        assert run.status == "done", run.outcome
        assert run.value == paid


def test_a_model_is_shown_an_input_that_is_called_like_a_property_of_its_answer() -> None:
    model = instrc.Scripted({"draft": {"prompt": "p", "account": "a"}})
    run = instrc.run(
        "input account; const d = Draft(prompt, account); const s = Send_Activity(d); Send_Activity(s)",
        {"prompt": "the request", "account": "the account"},
        vibes={"Draft": {"properties": {"prompt": {}, "account": {}}}, "Send_Activity": {}},
        activities={"Send_Activity": lambda _given: None},
        model=model,
    )
    assert run.status == "done", run.outcome
    assert "the request" in model.sent[0].message
    assert "the account" in model.sent[0].message
