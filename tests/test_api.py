"""`import instrc` gives what the command line gives, typed, and loads each part when it is first used."""

from __future__ import annotations

import asyncio
import inspect
import json
import linecache
import os
import pickle
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from every_case import every_case

import instrc

VIBE = '{ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }'


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("greet", "answer", "send_Activity"):
        (tmp_path / "schemas").mkdir(exist_ok=True)
        (tmp_path / "schemas" / f"{name}.vibe.json").write_text(VIBE)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "hello.aug").write_text('"Say hello" | Greet | Answer\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path / "hello.aug"


@every_case("name", instrc.__all__)
def test_every_public_name_is_there_and_has_a_page(name: str) -> None:
    value = getattr(instrc, name)
    assert name in dir(instrc)
    assert name == "__version__" or value.__doc__
    with suppress(ValueError):  # of classes that have none, such as enumerations
        assert not callable(value) or inspect.signature(value)


def test_names_are_found_where_type_checkers_look_for_them() -> None:
    text = Path(str(instrc.__file__)).read_text(encoding="utf-8")
    for name, home in instrc._HOMES.items():
        assert f"from {home} import " in text
        assert getattr(instrc, name).__module__.startswith("instrc."), name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'compose'"):
        instrc.compose  # noqa: B018  -- the access is the test


def test_importing_the_package_loads_none_of_its_parts() -> None:
    script = "import sys, instrc; print([name for name in sys.modules if name.startswith('instrc.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['instrc.version']\n"


def test_compile_returns_what_the_command_prints(program: Path) -> None:
    printed = subprocess.run([sys.executable, "-m", "instrc", "compile", program], capture_output=True, check=True).stdout
    (document,) = instrc.compile(program)
    assert document == json.loads(printed)
    assert list(document) == list(json.loads(printed))
    assert instrc.compile(str(program)) == instrc.compile(instrc.Source("hello.aug", program.read_text())) == [document]


def test_a_program_may_be_given_as_text(program: Path) -> None:
    (document,) = instrc.compile('"Say hello" | Greet | Answer')
    assert document == instrc.compile(program)[0]
    assert instrc.compile("Greet\n// greet.aug", emit="tool")


def test_artefacts_have_all_documents_with_their_names(program: Path) -> None:
    (process,) = instrc.artefacts('"Say hello" | Greet | Send_Activity | Answer')
    assert (process.name, process.title, process.kind) == ("say_hello", "Say hello", "process")
    assert set(process.documents) == {"tool", "result", "flat", "process"}
    assert instrc.compile('"Say hello" | Greet | Send_Activity | Answer', emit="flat") == [process.documents["flat"]]


def test_mistakes_are_one_error_with_all_problems(program: Path) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("tool a = Gret(prompt);\ntool b = Anser(prompt);")
    assert [problem.name for problem in caught.value.problems] == ["unknown-name", "unknown-name"]
    with pytest.raises(instrc.CompileError, match="no-such-document"):
        instrc.compile(program, emit="process")
    with pytest.raises(instrc.CompileError, match="unreadable-file"):
        instrc.compile("missing.aug")


def test_warnings_go_to_the_report(program: Path) -> None:
    report = instrc.Report()
    assert instrc.compile("const idle = Greet(prompt);\ntool good = Answer(prompt);", report=report)
    assert [problem.name for problem in report.problems] == ["unused-binding"]


def test_without_a_report_warnings_are_warnings_of_python(program: Path) -> None:
    forgotten = '"Say hello" | Greet Answer'
    for function in (instrc.compile, instrc.artefacts):
        with pytest.warns(instrc.CompileWarning, match="missing-separator: .*program.aug:1:21") as told:
            function(forgotten)
        assert told[0].filename == __file__
        assert isinstance(told[0].message, instrc.CompileWarning)
        assert told[0].message.problem.name == "missing-separator"


def test_a_warning_of_a_run_shows_the_line_that_called_it(program: Path) -> None:
    doubtful = "const idle = Answer(prompt); tool good = Greet(prompt);"

    async def asynchronous() -> None:
        await instrc.run_async(doubtful, "x", model="sample")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = instrc.run(doubtful, "x", model="sample")
        run.fork(program=doubtful)
        asyncio.run(asynchronous())
    lines = [linecache.getline(each.filename, each.lineno).strip().partition("(")[0] for each in told]
    assert lines == ["run = instrc.run", "run.fork", "await instrc.run_async"]


def test_an_error_of_an_earlier_program_in_the_report_does_not_stop_the_next(program: Path) -> None:
    report = instrc.Report()
    with pytest.raises(instrc.CompileError):
        instrc.compile("Gret", report=report)
    assert instrc.compile(program, report=report)


def test_check_returns_problems_and_raises_none(program: Path) -> None:
    assert instrc.check(program) == ()
    (program.parent / "bad.aug").write_text("Gret")
    assert [problem.name for problem in instrc.check(".", os.fspath(program))] == ["unknown-name"]
    assert [problem.name for problem in instrc.check("missing.aug", roots=["nowhere"])] == ["unreadable-file"]


def test_roots_are_read(program: Path) -> None:
    (program.parent / "more").mkdir()
    (program.parent / "more" / "wave.vibe.json").write_text(VIBE)
    assert instrc.compile("Wave", roots=["more"]) == instrc.compile("Wave", shared=[Path("more")])


def test_schemas_and_answers_need_no_program() -> None:
    flat = instrc.flatten({"allOf": [{"type": "object"}, {"properties": {"_note": {"type": "string"}}}]})
    assert flat == {"type": "object", "properties": {"_note": {"type": "string"}}}
    assert instrc.split({"_note": "hm", "a": 1}) == {"output": {"a": 1}, "thoughts": {"_note": "hm"}, "metrics": {}}
    lowering = instrc.lower(flat, target="openai", name="draft")
    assert instrc.lift({"_note": None}, lowering.map).calls


def test_anyones_validator_follows_references_with_the_registry(program: Path) -> None:
    import jsonschema
    import referencing.exceptions

    (program.parent / "note.vibe.json").write_text(VIBE, encoding="utf-8")
    for place in (program, program.parent):
        registry = instrc.registry(place, roots=[program.parent])
        judge = jsonschema.Draft202012Validator({"$ref": "aug:note#text"}, registry=registry)
        assert judge.is_valid("x")
        assert not judge.is_valid(3)
    lost = jsonschema.Draft202012Validator({"$ref": "https://example.org/schema"}, registry=instrc.registry(program))
    with pytest.raises(referencing.exceptions.Unresolvable):
        lost.is_valid(3)


def test_a_registry_of_a_place_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    for place in ("nowhere", "nowhere/a.aug", "nul\0l"):
        with pytest.raises(instrc.CompileError, match="there is no such file or folder"):
            instrc.registry(tmp_path / place)


def test_a_traceback_says_where_and_the_way_out(program: Path) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("tool a = Gret(prompt);\ntool b = Anser(prompt);")
    told = "".join(traceback.format_exception(caught.value))
    assert "program.aug:1:10: unknown-name: nothing is called `Gret`\n  hint: did you mean `Greet`?" in told
    assert "program.aug:2:10" in told
    caught.value.add_note("said by the caller")
    assert "said by the caller" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "call",
    [
        lambda: instrc.compile("greet(prompt)", hints="no"),  # type: ignore[arg-type]
        lambda: instrc.compile("greet(prompt)", sketch="false"),  # type: ignore[arg-type]
        lambda: instrc.check("program.aug", locked="no"),  # type: ignore[arg-type]
        lambda: instrc.lower({}, strict="no"),  # type: ignore[arg-type]
        lambda: instrc.lower({}, ordered="false"),  # type: ignore[arg-type]
        lambda: instrc.lower_all([{}], strict="no"),  # type: ignore[arg-type]
        lambda: instrc.flatten({}, trace="no"),  # type: ignore[call-overload]
        lambda: instrc.encode({}, instrc.lower({}).map, check="no"),  # type: ignore[arg-type]
    ],
)
def test_a_text_is_not_taken_for_true(program: Path, call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="takes `True` or `False`"):
        call()


def test_a_number_below_zero_is_not_taken_for_zero() -> None:
    with pytest.raises(TypeError, match="takes a whole number from 0, not -1"):
        instrc.lower({}, unroll=-1)


def test_the_text_of_an_error_has_the_place_the_message_and_the_hint_of_each_problem() -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("Drft(prompt) |\nNope", vibes={"Draft": {"type": "object"}})
    assert str(caught.value).splitlines()[:3] == [
        "program.aug:1:1: unknown-name: nothing is called `Drft`",
        "  hint: did you mean `Draft`? (looked in `<vibes>`, the built-in library)",
        "program.aug:2:1: unknown-name: nothing is called `Nope`",
    ]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301  -- our own
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("did you mean") == 1
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(" | ".join(f"Nope{number}" for number in range(25)))
    assert str(caught.value).endswith("\n… and 5 more problems")


@every_case("text", ["Nobody", "one two", "prompt", "Nobody.vibe", "letters/none", '"a" | Nobody', "nowhere.aug", "nowhere.json"])
def test_a_text_is_the_same_program_for_check_and_compile(text: str) -> None:
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(text)
    assert [problem.name for problem in instrc.check(text)] == [problem.name for problem in caught.value.problems]


def test_a_line_is_checked_as_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "prompt | Draft"
    vibes = {"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}}
    assert instrc.check(line, vibes=vibes) == ()
    assert instrc.check("Draft", vibes=vibes) == ()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Draft").mkdir()
    (tmp_path / "Draft" / "a.aug").write_text("Nobody")
    assert [problem.name for problem in instrc.check("Draft", vibes=vibes)] == ["unknown-name"]
