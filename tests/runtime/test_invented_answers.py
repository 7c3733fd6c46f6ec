"""Nothing is invented unless that is asked for, and a run says what is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import instrc
from instrc.cli import main
from instrc.text.jsontext import dumps, loads

DRAFT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SEND: dict[str, Any] = {"type": "object", "properties": {"output": {"type": "integer"}}, "required": ["output"]}
PROGRAM = "const mail = Draft(prompt); Send_Activity(text: mail.text)"
VIBES = {"Draft": DRAFT, "Send_Activity": SEND}
INNER = {"title": "Below", "properties": {"llmContext1": {"type": "object", "properties": {"step1_draft": DRAFT}}}}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Texts that the activity of the project was called with."""
    monkeypatch.chdir(tmp_path)
    Path("send.aug").write_text(PROGRAM)
    Path("schemas").mkdir()
    for name, schema in VIBES.items():
        Path(f"schemas/{name.lower().replace('_a', '_A')}.vibe.json").write_text(dumps(schema))
    Path("pyproject.toml").write_text('[tool.instrc.activities]\nSend_Activity = "mails:send"\n')
    found: list[str] = []

    def send(text: str) -> int:
        found.append(text)
        return len(found)

    monkeypatch.setitem(sys.modules, "mails", SimpleNamespace(send=send))
    return found


def run(**options: Any) -> instrc.Run:
    return instrc.run(Path("send.aug"), "x", **options)


@pytest.mark.parametrize("options", [[], ["--quiet"], ["--engine", "memory"], ["--items", "items.jsonl"]])
def test_without_a_model_nothing_runs(options: list[str], sent: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("items.jsonl").write_text('"x"\n')
    given = [] if "--items" in options else ["--input", "x"]
    assert main(["run", "send.aug", *given, *options]) == 1
    told = capsys.readouterr().err
    assert "[no-model]" in told
    for way in ("--model", "[tool.instrc.run]", "--rehearse"):
        assert way in told
    assert (sent, Path(".instrc").exists()) == ([], False)


def test_servers_need_a_model_too(sent: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "send.aug"]) == 1
    assert "[no-model]" in capsys.readouterr().err


def test_a_wrong_folder_does_not_change_what_is_real(sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text(Path("pyproject.toml").read_text() + '[tool.instrc.run]\nmodel = "scripted:answers.json"\n')
    Path("answers.json").write_text('{"draft": {"text": "Dear Ann"}}')
    assert run().outcome["status"] == "done"
    assert sent == ["Dear Ann"]
    Path("pyproject.toml").unlink()
    with pytest.raises(instrc.SettingsError, match="no-model"):
        run(activities={"Send_Activity": len})
    with pytest.raises(instrc.SettingsError, match="no-model"):
        instrc.run(instrc.compile(Path("send.aug"))[0], "x", activities={"Send_Activity": len})


@pytest.mark.parametrize("model", ["sample", instrc.Sample()])
@pytest.mark.parametrize("activities", [(), {"Send_Activity": len}])
def test_invented_answers_do_not_reach_what_is_real(model: Any, activities: Any, sent: list[str]) -> None:
    with pytest.raises(instrc.SettingsError, match=r"real-activity.*`Send_Activity`"):
        run(model=model, activities=activities)
    assert sent == []
    ran = run(model=model, rehearse="with-activities")
    assert (ran.value, ran.invented, sent) == (1, ("answers",), ["a"])


def test_nor_do_those_of_a_model_that_is_asked_in_place_of_another(sent: list[str]) -> None:
    Path("none.json").write_text("[]")
    with pytest.raises(instrc.SettingsError, match="real-activity"):
        run(model="scripted:none.json, sample")
    assert sent == []


def test_a_setting_of_the_project_may_name_it_and_changes_nothing_about_that(sent: list[str]) -> None:
    Path("pyproject.toml").write_text(Path("pyproject.toml").read_text() + '[tool.instrc.models]\ndraft = "sample"\n')
    with pytest.raises(instrc.SettingsError, match="real-activity"):
        run(model=instrc.Scripted({}))


@pytest.mark.parametrize(
    "activities",
    [{"Send_Activity": len, "Below_Activity": INNER}, {"Send_Activity": len}],
    ids=["a process that asks", "none that is called"],
)
def test_processes_that_serve_activities_are_looked_through(activities: dict[str, Any], sent: list[str]) -> None:
    below = "Below_Activity" in activities
    program = "Below_Activity(prompt)" if below else "Other_User(prompt)"
    vibes = {"Below_Activity": {"properties": {"output": {}}}, "Other_User": DRAFT}
    if below:
        with pytest.raises(instrc.SettingsError, match=r"no-model.*`step1_draft`"):
            instrc.run(program, "x", vibes=vibes, activities=activities)
    else:
        assert instrc.run(program, "x", vibes=vibes, activities=activities).status == "waiting"  # it needs no model


@pytest.mark.parametrize(
    ("options", "invented", "models"),
    [
        ({"rehearse": True}, ("answers", "results"), ["sample"]),
        ({"rehearse": True, "model": instrc.Scripted({"draft": {"text": "b"}})}, ("results",), ["scripted"]),
        ({"rehearse": True, "activities": {"Send_Activity": lambda _: 1 / 0}}, ("answers", "results"), ["sample"]),
        ({"rehearse": "with-activities"}, ("answers",), ["sample"]),
        ({"rehearse": "with-activities", "model": instrc.Scripted({"draft": {"text": "b"}})}, (), ["scripted"]),
        ({"model": instrc.Scripted({"draft": {"text": "b"}})}, (), ["scripted"]),
    ],
)
@pytest.mark.parametrize("store", [None, "kept"])
def test_a_run_says_what_is_invented(
    options: dict[str, Any], invented: tuple[str, ...], models: list[str], store: str | None, sent: list[str]
) -> None:
    ran = run(**options, store=store)
    assert ran.invented == invented
    by_kind = {each["event"]: each for each in ran.trace if each["event"] in {"answered", "returned"}}
    assert [by_kind["answered"]["model"]] == models
    assert by_kind["answered"].get("invented", False) is ("answers" in invented)
    assert by_kind["returned"].get("invented", False) is ("results" in invented)
    assert len(sent) == ("results" not in invented)


def test_a_rehearsal_asks_no_model_of_the_settings(sent: list[str]) -> None:
    said = '[tool.instrc.run]\nmodel = "scripted:none.json"\n[tool.instrc.models]\ndraft = "scripted:none.json"\n'
    Path("pyproject.toml").write_text(Path("pyproject.toml").read_text() + said)
    assert run(rehearse=True).invented == ("answers", "results")


def test_the_command_line_says_it_too(sent: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "send.aug", "--input", "x", "--engine", "memory", "--store", "kept", "--id", "one"]
    assert main([*line, "--rehearse"]) == 0
    shown = capsys.readouterr()
    assert loads(shown.out)["invented"] == ["answers", "results"]
    assert "answered, invented" in shown.err
    assert main(["trace", "one", "--store", "kept"]) == 0
    assert capsys.readouterr().out.count("(done, invented, ") == 2
    assert main(["show", "one", "--store", "kept"]) == 0
    assert loads(capsys.readouterr().out)["invented"] == ["answers", "results"]


def as_begun_before(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change what is kept of a run to what an earlier release kept."""
    [file] = (folder / "runs").glob("*.json")
    kept = loads(file.read_bytes())
    edit(kept["how"])
    file.write_text(dumps(kept))


def test_a_run_of_an_earlier_release_goes_on_when_a_model_is_chosen(sent: list[str]) -> None:
    """That release noted no model where it invented the answers."""
    Path("ask.aug").write_text("const who = Ask_User(prompt); Draft(who)")
    Path("schemas/ask_User.vibe.json").write_text(dumps(DRAFT))
    instrc.run(Path("ask.aug"), "x", model="sample", store="kept", id="old")
    as_begun_before(Path("kept"), lambda how: (how.update(model=None), how.pop("invented")))
    with pytest.raises(instrc.SettingsError, match="no-model"):
        instrc.find_run("old", engine="memory", store="kept").answer("ask", {"text": "Ann"})
    answers = instrc.Scripted({"draft": {"text": "Dear Ann"}})
    ended = instrc.find_run("old", engine="memory", store="kept", model=answers).answer("ask", {"text": "Ann"})
    assert ended.value == {"text": "Dear Ann"}


@pytest.mark.parametrize(
    ("more", "told"), [([], True), (["--input", "hello"], False), (["--input", '{"prompt": null}'], False), (["--quiet"], False)]
)
def test_a_run_without_an_input_is_told_that_the_prompt_is_null(
    sent: list[str], capsys: pytest.CaptureFixture[str], more: list[str], *, told: bool
) -> None:
    Path("answers.json").write_text('{"draft": {"text": "t"}}')
    assert main(["run", "send.aug", "--engine", "memory", "--model", "scripted:answers.json", *more]) == 0
    assert sent == ["t"]
    assert ("no input is given" in capsys.readouterr().err) is told


def test_a_program_that_reads_no_prompt_needs_no_input(sent: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("send.aug").write_text('input text @ { type: "string", default: "x" }; Send_Activity(text: text)')
    assert main(["run", "send.aug", "--engine", "memory"]) == 0
    assert sent == ["x"]
    assert "no input is given" not in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["memory", "durable"])
def test_a_rehearsal_invents_no_results_where_nothing_is_called(engine: Any, sent: list[str]) -> None:
    Path("pyproject.toml").write_text('[tool.instrc.activities]\nSend_Activity = "nowhere:send"\n')
    Path("draft.aug").write_text("Draft(prompt)")
    run = instrc.run(Path("draft.aug"), "x", rehearse=True, engine=engine)
    assert (run.outcome["status"], run.invented) == ("done", ("answers",))
    assert instrc.run(Path("send.aug"), "x", rehearse=True, engine=engine).invented == ("answers", "results")
    instrc.close_stores()


def test_another_version_of_what_is_rehearsed_calls_nobody_either(sent: list[str]) -> None:
    Path("draft.aug").write_text("Draft(prompt)")
    for engine in ("memory", "durable"):
        run = instrc.run(Path("draft.aug"), "x", rehearse=True, engine=engine, store="kept")  # type: ignore[arg-type]  # one of its words
        fork = run.fork(program=Path("send.aug"))
        assert (fork.status, fork.invented, sent) == ("done", ("answers", "results"), [])
    instrc.close_stores()
