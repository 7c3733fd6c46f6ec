"""Answers that were paid for are kept by the exact request, and given again without asking."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from applications import run_in_app
from standins import FILLED, SHAPES, Standin, called, completion

import instrc
from instrc.engines.launch import Launcher  # how `eval` uses it
from instrc.engines.memory import LiveRun  # as above
from instrc.engines.prepare import prepare
from instrc.problems.errors import SettingsError
from instrc.runtime.interpreter import versions  # as above
from instrc.runtime.models.cache import AnswerCache  # as above
from instrc.runtime.run import run_to_end  # as above
from instrc.text.source import Source

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

PROGRAM = """
prompt | @{ title: "Read", type: "object", properties: { asks: { type: "string" }, days: { type: "integer", minimum: 1 } } }
"""


def read(kind: str, cache: Any, text: str = "Dear Ann", **more: Any) -> instrc.Run:
    return run_in_app(PROGRAM, text, model=f"{kind}:m-1", cache=cache, **more)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini", "mistral", "gigachat", "ollama", "llamacpp"], indirect=True)
def test_the_same_request_is_answered_without_asking(kind: str, standin: Standin, tmp_path: Path) -> None:
    standin.answers += [(200, SHAPES[kind](FILLED, "read"))]
    first, second = read(kind, tmp_path / "kept" / "a.sqlite"), read(kind, tmp_path / "kept" / "a.sqlite")
    assert first.value == second.value == FILLED
    assert len(standin.seen) == 1
    assert first.usage == {"requests": 1, "input_tokens": 11, "output_tokens": 7}
    assert second.usage == {"requests": 1, "cached": 1}
    [answered] = [event for event in second.trace if event["event"] == "answered"]
    assert answered["cached"] is True


@pytest.mark.parametrize(
    "other",
    [
        {"input": "Dear Bob"},
        {"settings": {"temperature": 0}},
        {"settings": {"extra": {"top_p": 1}}},
        {"model": "openai:m-2"},
        {"model": "openai-output:m-1"},
        {"cache": False},
        {"cache": "another.sqlite"},
    ],
)
@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_another_request_is_asked(
    kind: str, other: dict[str, Any], standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    standin.answers += [(200, called(FILLED, "read")), (200, called(FILLED, "read"))]
    given: dict[str, Any] = {"input": "Dear Ann", "model": f"{kind}:m-1", "cache": "a.sqlite"}
    assert run_in_app(PROGRAM, **given).value == run_in_app(PROGRAM, **given | other).value == FILLED
    assert len(standin.seen) == 2


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_samples_of_one_request_are_kept_apart(kind: str, standin: Standin, tmp_path: Path) -> None:
    standin.answers += [(200, called({"asks": f"{number}"}, "read")) for number in range(2)]
    prepared, told = prepare(Source("p.aug", PROGRAM)), []
    for sample in (0, 1, 1, 0):
        launcher = Launcher(prepared, model=f"{kind}:m", cache=AnswerCache(tmp_path / "a.sqlite", sample))
        launch = launcher.launch("x")
        effects = launcher.effects(launch.run, None)
        live = LiveRun(launch.plan, versions.begin(launch.plan, launch.inputs), effects)
        told.append(run_to_end(live.resume_async()).value["asks"])
    assert told == ["0", "1", "1", "0"]


BAD = {
    "an error": (400, {"error": {"message": "no"}}),
    "a refusal": (200, completion({"content": None, "refusal": "I would rather not."})),
    "an error inside 200": (200, {"error": {"message": "no", "type": "invalid"}}),
}
NOT_ACCEPTED = {
    "an answer that does not fit": (200, completion({"content": '{"asks": "x", "days": 0}'})),
    "an answer that was cut": (200, completion({"content": '{"asks": "x'})),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_what_failed_is_not_kept(kind: str, name: str, standin: Standin, tmp_path: Path) -> None:
    standin.answers += [BAD[name]] * 3
    assert read(kind, tmp_path / "a.sqlite").status == "failed"
    standin.answers[:] = [(200, called(FILLED, "read"))]
    again = read(kind, tmp_path / "a.sqlite")
    assert (again.value, "cached" in again.usage) == (FILLED, False)


@pytest.mark.parametrize("name", NOT_ACCEPTED)
@pytest.mark.parametrize("kind", ["llamacpp"], indirect=True)
def test_what_was_not_accepted_is_kept_so_that_a_replay_pays_nothing(
    kind: str, name: str, standin: Standin, tmp_path: Path
) -> None:
    standin.answers += [NOT_ACCEPTED[name], (200, SHAPES[kind](FILLED, "read"))]
    first, again = read(kind, tmp_path / "a.sqlite"), read(kind, tmp_path / "a.sqlite")
    assert first.value == again.value == FILLED
    assert (len(standin.seen), again.usage["cached"]) == (2, 2)


@pytest.mark.parametrize("kind", ["openai"], indirect=True)
def test_equal_requests_of_a_run_are_samples_and_a_step_begun_anew_is_asked_again(
    kind: str, standin: Standin, tmp_path: Path
) -> None:
    standin.answers += [(200, called({"step1_read": {"asks": f"{number}"}}, "step1_read")) for number in range(4)]
    program = 'each i in 3 { @{ title: "Read", type: "object", properties: { asks: { type: "string" } } } }'
    runs = [run_in_app(program, "x", model=f"{kind}:m", cache=tmp_path / "a.sqlite") for _ in range(2)]
    first, second = ([each["asks"] for each in run.value] for run in runs)
    assert sorted(first) == sorted(second) == ["0", "1", "2"]
    assert runs[1].usage["cached"] == 3
    assert "3" in json.dumps(runs[1].fork("eachContext1[2].llmContext1").value)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_cache_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="it is empty"):
        run_in_app('@{ title: "A", type: "object" }', model=instrc.Scripted([{}]), cache=name)
    with pytest.raises(SettingsError, match="budget"):
        run_in_app('@{ title: "A", type: "object" }', model=instrc.Scripted([{}]), budget=name)


def test_an_answer_with_a_secret_in_it_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "nobody-may-see-it")
    cache = AnswerCache(tmp_path / "a.sqlite")
    assert cache.keep("k", "m", {"text": "it is nobody-may-see-it"}) is None
    assert cache.find("k") is None


@pytest.mark.parametrize("made", ["a folder", "no database"])
def test_a_file_that_is_no_cache_is_a_problem_before_the_run(made: str, tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    file.mkdir() if made == "a folder" else file.write_text("something else, and longer than the head of a database" * 9)
    with pytest.raises(SettingsError, match=r"the cache `.*` cannot be used"):
        read("openai", file)


def test_several_processes_write_one_file(tmp_path: Path) -> None:
    code = (
        "import sys; from instrc.runtime.models.cache import AnswerCache; cache = AnswerCache(sys.argv[1])\n"
        "told = [cache.keep(f'{sys.argv[2]}.{n}', 'm', {'n': n}) for n in range(60)]\n"
        "sys.exit(any(told) or any(cache.find(f'{sys.argv[2]}.{n}') != {'n': n} for n in range(60)))"
    )
    file = str(tmp_path / "a.sqlite")
    running = [subprocess.Popen([sys.executable, "-c", code, file, str(number)]) for number in range(3)]
    assert [each.wait() for each in running] == [0, 0, 0]
    assert all(AnswerCache(file).find(f"{number}.59") == {"n": 59} for number in range(3))
