"""`instrc compile` prints one document for one export, writes files whole, and says what it cannot do."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from command_lines import Instrc

TOOL = '"Say hello" | Greet\n'
TWO = "tool first = Greet(prompt);\ntool second = Answer(Greet(prompt));\n"
PROCESS = '"Say hello" | Greet | Send_Activity | Answer\n'
CALL = '"Say hello" | Greet | Notify_Activity\n'


@pytest.fixture(autouse=True)
def programs(folder: Path) -> None:
    (folder / "schemas" / "notify_Activity.vibe.json").write_text('{ "type": "object", "properties": {} }')
    for name, text in {"tool": TOOL, "two": TWO, "process": PROCESS, "call": CALL}.items():
        (folder / f"{name}.aug").write_text(text, encoding="utf-8")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_export_is_one_document(instrc: Instrc) -> None:
    done = instrc("compile", "tool.aug")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["title"] == "Say hello"
    assert done.out.startswith('{\n  "')
    assert done.out.endswith("}\n")


def test_several_exports_are_an_array_in_order(instrc: Instrc) -> None:
    first, second = json.loads(instrc("compile", "two.aug").out)
    assert list(first["properties"]) == ["text"]
    assert list(second["properties"]) == ["step1_greet", "step2_answer"]
    assert [each["title"] for each in json.loads(instrc("compile", "process.aug", "tool.aug").out)] == ["Say hello"] * 2


def test_a_direct_call_is_told_to_people_and_not_to_machines(instrc: Instrc) -> None:
    said = "say_hello is a direct call: nothing reads what notify_Activity gives\n"
    assert instrc("compile", "call.aug").err == said
    assert instrc("compile", "call.aug", "-o", "out").err.endswith(said)
    for quiet in (("--format", "json"), ("--emit", "call"), ("--target", "openai")):
        assert said not in instrc("compile", "call.aug", *quiet).err


@pytest.mark.parametrize(
    ("program", "kinds"),
    [
        ("tool", ["tool", "result"]),
        ("process", ["tool", "result", "flat", "process"]),
        ("call", ["tool", "result", "call"]),
    ],
)
def test_each_document_that_exists_can_be_asked_for(instrc: Instrc, program: str, kinds: list[str]) -> None:
    file = f"{program}.aug"
    everything = json.loads(instrc("compile", file, "--emit", "all").out)
    assert sorted(everything) == sorted(kinds)
    assert json.loads(instrc("compile", file).out) == everything[program]
    for kind in ("tool", "result", "flat", "process", "call"):
        done = instrc("compile", file, "--emit", kind, "--format", "json")
        if kind in kinds:
            assert done.code == 0
            assert json.loads(done.out) == everything[kind]
        else:
            assert (done.code, done.out) == (1, "")
            assert done.problem_names() == ["no-such-document"]


def test_a_folder_gets_all_documents(instrc: Instrc, folder: Path) -> None:
    done = instrc("compile", "process.aug", "two.aug", "-o", "out/deep")
    assert (done.code, done.out) == (0, "")
    names = ["say_hello.flat", "say_hello.process", "say_hello.result", "say_hello.tool"]
    names += ["first.result", "first.tool", "second.result", "second.tool"]
    assert files(folder / "out" / "deep") == sorted(f"{name}.json" for name in names)
    assert (folder / "out/deep/say_hello.process.json").read_text() == instrc("compile", "process.aug").out


def test_a_folder_gets_the_one_document_asked_for(instrc: Instrc, folder: Path) -> None:
    assert instrc("compile", "process.aug", "--emit", "flat", "-o", "out").code == 0
    assert files(folder / "out") == ["say_hello.flat.json"]


def test_a_name_that_is_taken_gets_a_number(instrc: Instrc, folder: Path) -> None:
    assert instrc("compile", "tool.aug", "call.aug", "--emit", "tool", "-o", "out").code == 0
    assert files(folder / "out") == ["say_hello.tool.json", "say_hello_2.tool.json"]


def test_nothing_is_written_if_one_of_several_is_wrong(instrc: Instrc, folder: Path) -> None:
    (folder / "wrong.aug").write_text('"Say hello" | Gret\n')
    done = instrc("compile", "tool.aug", "wrong.aug", "-o", "out")
    assert (done.code, done.out) == (1, "")
    assert "wrong.aug:1:15: error:" in done.err
    assert done.err.endswith("1 error\n")
    assert not (folder / "out").exists()


def test_nothing_is_written_if_one_export_lacks_what_is_asked_for(instrc: Instrc, folder: Path) -> None:
    assert instrc("compile", "process.aug", "tool.aug", "--emit", "flat", "-o", "out").code == 1
    assert not (folder / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_a_problem(instrc: Instrc, folder: Path) -> None:
    done = instrc("compile", "tool.aug", "-o", "tool.aug", "--format", "json")
    assert (done.code, done.out) == (1, "")
    assert done.problem_names() == ["unwritable-output"]
    assert (folder / "tool.aug").read_text() == TOOL


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_a_problem(instrc: Instrc, folder: Path) -> None:
    (folder / "out").mkdir(mode=stat.S_IREAD | stat.S_IEXEC)
    done = instrc("compile", "tool.aug", "-o", "out", "--format", "json")
    assert done.code == 1
    assert done.problem_names() == ["unwritable-output"]
    assert files(folder / "out") == []


def test_a_folder_that_refuses_is_a_problem(instrc: Instrc, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    done = instrc("compile", "tool.aug", "-o", "out", "--format", "json")
    assert (done.code, done.out) == (1, "")
    assert [problem["message"] for problem in json.loads(done.err)] == [
        "`out/say_hello.tool.json` cannot be written: permission denied"
    ]
    assert files(folder / "out") == []


def test_a_vibe_is_a_program_whose_schema_is_the_export(instrc: Instrc) -> None:
    done = instrc("compile", "schemas/greet.vibe.json")
    assert done.code == 0
    assert list(json.loads(done.out)["properties"]) == ["text"]


@pytest.mark.parametrize("path", ["missing.aug", "missing.vibe.json", "schemas"])
def test_a_file_that_cannot_be_read_is_a_problem(instrc: Instrc, path: str) -> None:
    done = instrc("compile", path, "--format", "json")
    assert (done.code, done.out) == (1, "")
    (problem,) = json.loads(done.err)
    assert problem["name"] == "unreadable-file"
    assert problem["path"] == path


def test_names_of_keys_are_a_setting(instrc: Instrc, folder: Path) -> None:
    assert list(json.loads(instrc("compile", "two.aug").out)[1]["properties"]) == ["step1_greet", "step2_answer"]
    (folder / "pyproject.toml").write_text('[tool.instrc]\nnaming = "camel"\nhint = "Lies {paths}."\n')
    second = json.loads(instrc("compile", "two.aug").out)[1]
    assert list(second["properties"]) == ["greet", "answer"]
    assert second["properties"]["answer"]["description"] == "Lies greet."


def test_a_batch_multiplies_steps(instrc: Instrc) -> None:
    second = json.loads(instrc("compile", "two.aug", "--batch", "2").out)[1]
    assert list(second["properties"]) == ["step1_greet_item1", "step1_greet_item2", "step2_answer_item1", "step2_answer_item2"]


def test_a_sketch_takes_unknown_instructions(instrc: Instrc, folder: Path) -> None:
    (folder / "new.aug").write_text('"Say hello" | Dream | Greet\n')
    assert instrc("compile", "new.aug").code == 1
    assert list(json.loads(instrc("compile", "new.aug", "--sketch").out)["properties"]) == ["step1_dream", "step2_greet"]


def test_roots_are_options(instrc: Instrc, folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "wave.vibe.json").write_text('{ "type": "object", "properties": { "hand": { "type": "string" } } }')
    (folder / "wave.aug").write_text("Wave\n")
    assert instrc("compile", "wave.aug").code == 1
    for option in ("--root", "--shared"):
        assert '"hand"' in instrc("compile", "wave.aug", option, "more").out


def test_warnings_are_shown_and_fail_only_if_strict(instrc: Instrc, folder: Path) -> None:
    (folder / "unused.aug").write_text("const idle = Greet(prompt);\ntool good = Answer(prompt);\n")
    done = instrc("compile", "unused.aug")
    assert done.code == 0
    assert "[unused-binding]" in done.err
    assert done.err.endswith("1 warning\n")
    strict = instrc("compile", "unused.aug", "--strict")
    assert (strict.code, strict.out) == (1, "")


@pytest.mark.parametrize("shape", ["json", "github"])
def test_problems_can_be_for_machines_and_leave_the_output_alone(instrc: Instrc, shape: str) -> None:
    done = instrc("compile", "tool.aug", "--format", shape)
    assert json.loads(done.out)["title"] == "Say hello"
    assert done.err == "" if shape == "github" else json.loads(done.err) is not None


def test_a_target_gets_its_envelope(instrc: Instrc, folder: Path) -> None:
    payload = json.loads(instrc("compile", "tool.aug", "--target", "openai", "--map", "map.json").out)
    assert payload["function"]["name"] == "say_hello"
    assert list(payload["function"]["parameters"]["properties"]) == ["text"]
    assert json.loads((folder / "map.json").read_text())["target"] == "openai"


def test_targets_are_added_to_a_folder_with_the_way_back(instrc: Instrc, folder: Path) -> None:
    assert instrc("compile", "process.aug", "--emit", "flat", "--target", "openai", "--target", "gemini", "-o", "out").code == 0
    assert files(folder / "out") == [
        "say_hello.flat.json",
        "say_hello.gemini.json",
        "say_hello.gemini.map.json",
        "say_hello.openai.json",
        "say_hello.openai.map.json",
    ]
    flat = json.loads((folder / "out/say_hello.openai.json").read_text())
    assert list(flat["function"]["parameters"]["properties"]) == ["step1_greet", "step2_send", "step3_answer"]


@pytest.mark.parametrize("hint", ["See {paths}.", "Читай тему: {paths}", "{paths}, и снова {paths}!", "Use {paths}."])
def test_a_hint_names_keys_as_the_target_renames_them(instrc: Instrc, folder: Path, hint: str) -> None:
    texts = {"тема": {"type": "string"}, "тему": {"type": "string", "description": "Одна тема."}}
    (folder / "pyproject.toml").write_text(f'[tool.instrc]\nroots = ["schemas"]\nhint = "{hint}"\n')
    (folder / "schemas/найти.vibe.json").write_text(json.dumps({"type": "object", "properties": texts, "required": [*texts]}))
    (folder / "schemas/написать.vibe.json").write_text('{"type": "object", "properties": {"text": {"type": "string"}}}')
    (folder / "письмо.aug").write_text("const found = Найти();\nНаписать(found.тема);\n")
    done = instrc("compile", "письмо.aug", "--target", "anthropic")
    found, written = json.loads(done.out)["input_schema"]["properties"].values()
    assert list(found["properties"]) == ["tema", "temu"]
    assert found["properties"]["temu"]["description"] == "Одна тема."
    assert written["description"] == hint.replace("{paths}", "step1_nayti.tema")
    assert json.dumps(written["description"], ensure_ascii=False) in instrc("preview", "письмо.aug", "--target", "anthropic").out
    kept = json.loads(instrc("compile", "письмо.aug", "--target", "jsonschema").out)["properties"]
    assert kept["step2_написать"]["description"] == hint.replace("{paths}", "step1_найти.тема")


def test_several_tools_are_one_request_with_one_way_back(instrc: Instrc, folder: Path) -> None:
    tools = json.loads(instrc("compile", "two.aug", "--target", "openai", "--map", "map.json").out)
    assert [tool["function"]["name"] for tool in tools] == ["first", "second"]
    assert list(json.loads((folder / "map.json").read_text())["tools"]) == ["first", "second"]


def test_losses_are_warnings_at_the_file_and_errors_if_strict(instrc: Instrc, folder: Path) -> None:
    (folder / "lossy.aug").write_text(
        '// A list.\nprompt | @{ title: "X", type: "object", properties: { a: { type: "array", uniqueItems: true } } }\n'
    )
    done = instrc("compile", "lossy.aug", "--target", "openai", "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)
    assert {problem["severity"] for problem in json.loads(done.err)} == {"warning"}
    assert {problem["path"] for problem in json.loads(done.err)} == {"lossy.aug"}
    lost = [problem for problem in json.loads(done.err) if "uniqueItems" in problem["message"]]
    assert [(problem["line"], problem["column"]) for problem in lost] == [(2, 10)], "where the step is written"
    strict = instrc("compile", "lossy.aug", "--target", "openai", "--strict")
    assert (strict.code, strict.out) == (1, "")


def test_each_loss_of_one_request_names_its_tool_and_is_shown_where_it_was_written(instrc: Instrc, folder: Path) -> None:
    lossy = '@{ type: "object", properties: { a: { type: "array", uniqueItems: true } } }'
    (folder / "ab.aug").write_text(f"tool a = {lossy};\ntool b = {lossy}\n")
    (folder / "c.aug").write_text(f"\n\ntool c = {lossy}\n")
    done = instrc("compile", "ab.aug", "c.aug", "--target", "openai", "--format", "json")
    lost = [problem for problem in json.loads(done.err) if "uniqueItems" in problem["message"]]
    assert [(each["path"], each["line"]) for each in lost] == [("ab.aug", 1), ("ab.aug", 2), ("c.aug", 3)]
    assert ["`/properties/a` of `a`" in lost[0]["message"], "of `b`" in lost[1]["message"], "of `c`" in lost[2]["message"]] == [
        True
    ] * 3


def test_a_loss_is_shown_where_it_was_written(instrc: Instrc, folder: Path) -> None:
    (folder / "schemas/outer.vibe.json").write_text(
        '{"type": "object",\n "properties": {"a": {"type": "string", "pattern": "^(?=x)"},\n'
        '  "b": {"$ref": "#/$defs/d"}},\n'
        ' "$defs": {"d": {"type": "string",\n  "pattern": "(?<=q)x"}}}\n'
    )
    (folder / "lossy.aug").write_text("@{ title: 'First', type: 'object' }\n | Introspect_Mixin(Outer)")
    for file in ("schemas/outer.vibe.json", "lossy.aug"):
        done = instrc("compile", file, "--target", "openai", "--format", "json")
        lost = [each for each in json.loads(done.err) if "pattern" in each["message"]]
        assert [(each["path"], each["line"]) for each in lost] == [
            (str(Path("schemas/outer.vibe.json")), 2),
            (str(Path("schemas/outer.vibe.json")), 5),
        ]
        assert [each["hint"] is None for each in lost] == [False, True]


def test_an_unknown_target_is_a_problem(instrc: Instrc) -> None:
    done = instrc("compile", "tool.aug", "--target", "opneai", "--format", "json")
    assert (done.code, done.out) == (1, "")
    assert done.problem_names() == ["unknown-target"]


@pytest.mark.skipif(os.name == "nt", reason="names of files are bytes on Unix")
def test_a_file_name_of_odd_bytes_does_no_harm(instrc: Instrc, folder: Path) -> None:
    for name, code in {b"bad\xff.aug": 0, b"wr\xffng.aug": 1}.items():
        path = os.fsdecode(name)
        (folder / path).write_text("Greet" if code == 0 else "Gret")
        for shape in ("text", "json", "github"):
            assert instrc("compile", path, "--format", shape).code == code
        assert instrc("compile", path, "-o", "out").code == code


def test_a_project_sets_how_large_a_composed_schema_may_be(instrc: Instrc, folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.instrc]\nlimits = { schema = 1 }\n", encoding="utf-8")
    boxes = '{ "type": "object", "properties": { "a": { "$ref": "#/$defs/x" } }, "$defs": { "x": { "type": "string" } } }'
    (folder / "boxes.vibe.json").write_text(boxes, encoding="utf-8")
    done = instrc("compile", "boxes.vibe.json")
    assert done.code == 1
    assert "[too-large]" in done.err


def test_what_is_written_is_said_on_the_standard_error(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text('tool it = @{ type: "object" }', encoding="utf-8")
    done = instrc("compile", "it.aug", "-o", "out")
    assert (done.out, done.err) == ("", "wrote out/it.tool.json\nwrote out/it.result.json\n")
    assert instrc("compile", "it.aug", "-o", "out", "--format", "json").err == "[]\n"


def test_what_is_imported_is_said_on_the_standard_error(instrc: Instrc, folder: Path) -> None:
    (folder / "tools.json").write_text('[{ "name": "f", "input_schema": { "type": "object" } }]', encoding="utf-8")
    assert instrc("import", "anthropic", "tools.json", "-o", "schemas").err == "wrote schemas/f.vibe.json\n"


def test_the_map_does_not_overwrite_the_source(instrc: Instrc, folder: Path) -> None:
    before = (folder / "tool.aug").read_text()
    done = instrc("compile", "tool.aug", "--target", "openai", "--map", "tool.aug")
    assert done.code == 1
    assert "`tool.aug` cannot be written: it is a source of this run" in done.err
    assert (folder / "tool.aug").read_text() == before


@pytest.mark.parametrize("source", ["tool.aug", "{vibe}"])
@pytest.mark.parametrize("command", [("compile", "--target", "openai", "--map"), ("graph", "--format", "mermaid", "-o")])
def test_nothing_that_a_run_has_read_is_overwritten(instrc: Instrc, folder: Path, source: str, command: tuple[str, ...]) -> None:
    vibe = next((folder / "schemas").glob("*.vibe.json"))
    place = vibe.relative_to(folder).as_posix() if source == "{vibe}" else source
    before = (folder / place).read_text()
    name, *options = command
    done = instrc(name, "tool.aug", *options, place)
    assert done.code == 1
    assert f"`{place}` cannot be written: it is a source of this run" in done.err
    assert (folder / place).read_text() == before


def test_classes_are_written_over_no_program(instrc: Instrc, folder: Path) -> None:
    before = (folder / "tool.aug").read_text()
    done = instrc("types", "tool.aug", "-o", "tool.aug")
    assert done.code == 2
    assert "a module of Python, whose name ends with .py: tool.py" in done.err
    assert (folder / "tool.aug").read_text() == before


def test_a_long_name_and_a_name_of_windows_make_files(instrc: Instrc, folder: Path) -> None:
    goal = "Составить " + "очень подробный план " * 10
    schema = '@{ title: "Plan", type: "object", properties: { text: { type: "string" } } }'
    (folder / "long.aug").write_text(f'"{goal}" | {schema}\n')
    (folder / "con.aug").write_text(f'"Con" | {schema}\n')
    done = instrc("compile", "long.aug", "con.aug", "-o", "out", "--target", "openai")
    assert (done.code, done.out) == (0, "")
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert len(names) == 8
    assert names[:4] == ["con_.openai.json", "con_.openai.map.json", "con_.result.json", "con_.tool.json"]
    assert all(len(name.encode()) <= 200 and name.startswith("составить_очень_") for name in names[4:])
