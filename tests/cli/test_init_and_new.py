"""`instrc init` and `instrc new`: what they begin compiles at once, and nothing is overwritten."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from command_lines import Instrc
from hypothesis import given
from hypothesis import strategies as st

from instrc.compiler.scaffold import new

ROOT = Path(__file__).parents[2]


def test_two_commands_lead_from_an_empty_folder_to_a_first_tool(instrc: Instrc, folder: Path) -> None:
    begun = instrc("init")
    assert begun.code == 0
    assert begun.err.endswith("next: instrc compile answer.aug\n")
    done = instrc("compile", "answer.aug")
    assert (done.code, done.err) == (0, "")
    assert list(json.loads(done.out)["properties"]) == ["step1_read_letter", "step2_write_reply"]
    assert instrc("check", ".") == (0, "", "")
    assert instrc("test") == (0, "", "2 passed\n")
    assert tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["instrc"]["roots"] == ["schemas"]


def test_what_is_written_has_the_layout_of_fmt(instrc: Instrc, folder: Path) -> None:
    assert instrc("init", "fresh").code == 0
    assert instrc("fmt", "--check", "fresh") == (0, "", "")
    for kind in ("instruction", "mixin", "process"):
        instrc("new", kind, f"FindSlotOf{kind}")
    tool = {"name": "look_up", "input_schema": {"type": "object", "properties": {"word": {"enum": ["a", "b"]}}}}
    (folder / "tools.json").write_text(json.dumps([tool]))
    assert instrc("import", "anthropic", "tools.json", "-o", "fresh/schemas").code == 0
    begun = [str(path.relative_to(folder)) for path in folder.rglob("find-slot*")]
    assert len(begun) == 3
    assert instrc("fmt", "--check", "fresh", *begun) == (0, "", "")


def test_a_project_begins_in_a_folder_that_is_made(instrc: Instrc, folder: Path) -> None:
    assert instrc("init", "first").err.endswith("next: cd first && instrc compile answer.aug\n")
    assert instrc("compile", "first/answer.aug").code == 0


def test_init_adds_its_table_to_settings_and_leaves_the_rest(instrc: Instrc, folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    (folder / ".pre-commit-config.yaml").write_text("repos: []\n")
    done = instrc("init")
    assert done.code == 0
    assert "kept .pre-commit-config.yaml as it is\n" in done.err
    settings = tomllib.loads((folder / "pyproject.toml").read_text())
    assert settings["project"]["name"] == "mine"
    assert settings["tool"]["instrc"]["roots"] == ["schemas"]
    assert (folder / ".pre-commit-config.yaml").read_text() == "repos: []\n"


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ('# not [tool.instrc]\n[project]\nname = "mine"\n', True),
        ('[project]\r\nname = "mine"\r\n', True),
        ("", True),
        ('[tool.instrc]\nroots = ["mine"]\n', False),
        ('[tool]\ninstrc = { roots = ["mine"] }\n', False),
        ('[tool."instrc"]\nroots = ["mine"]\n', False),
        ("tool = { mine = 1 }\n", False),
        ("[broken", False),
    ],
)
def test_settings_that_have_our_table_or_can_take_none_stay_as_they_are(
    instrc: Instrc, folder: Path, given: str, *, taken: bool
) -> None:
    (folder / "pyproject.toml").write_bytes(given.encode())
    done = instrc("init")
    assert done.code == 0
    assert ("kept pyproject.toml as it is\n" not in done.err) is taken
    written = (folder / "pyproject.toml").read_bytes().decode()
    if taken:
        assert tomllib.loads(written)["tool"]["instrc"]["roots"] == ["schemas"]
        assert written.startswith(given.rstrip())
        assert written.count("\r\n") == (written.count("\n") if "\r" in given else 0)
    else:
        assert written == given


@pytest.mark.parametrize(
    ("name", "said"), [("a b", "'a b'"), ("it's", "'it'\"'\"'s'"), ("-x", "./-x"), ("назначить", "'назначить'"), ("v1.2", "v1.2")]
)
def test_the_next_command_can_be_pasted(instrc: Instrc, folder: Path, name: str, said: str) -> None:
    assert instrc("init", "--", name).err.endswith(f"next: cd {said} && instrc compile answer.aug\n")


def test_init_writes_nothing_where_a_file_of_its_own_is(instrc: Instrc, folder: Path) -> None:
    (folder / "answer.aug").write_text("mine")
    done = instrc("init")
    assert done.code == 1
    assert "[file-exists]" in done.err
    assert (folder / "answer.aug").read_text() == "mine"
    assert not (folder / "schemas").joinpath("read-letter.vibe.json").exists()


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [
        ("instruction", "FindSlot", "schemas/find-slot.vibe.json"),
        ("instruction", "mail/Send_Activity", "schemas/mail/send_Activity.vibe.json"),
        ("instruction", "НайтиСлот", "schemas/найти-слот.vibe.json"),
        ("mixin", "BePolite", "schemas/be-polite_Mixin.vibe.json"),
        ("mixin", "Polite_Mixin", "schemas/polite_Mixin.vibe.json"),
        ("process", "PlanTrip", "plan-trip.aug"),
    ],
)
def test_what_is_begun_is_sound(instrc: Instrc, folder: Path, kind: str, name: str, path: str) -> None:
    assert instrc("new", kind, name).err == f"wrote {path}\n"
    assert instrc("check", path) == (0, "", "")
    assert instrc("compile", path).code == 0
    assert instrc("new", kind, name).code == 1


def test_nothing_is_begun_that_a_program_would_find_by_the_name_of_the_vibe_beside_it(instrc: Instrc, folder: Path) -> None:
    assert instrc("new", "instruction", "FindSlot").code == 0
    done = instrc("new", "instruction", "findslot")
    assert done.code == 1
    assert "`schemas/find-slot.vibe.json` exists already [file-exists]" in done.err
    assert "programs would find both by this name" in done.err
    assert not (folder / "schemas/findslot.vibe.json").exists()


@pytest.mark.parametrize("name", ["con", "Nul_Activity", "mail/aux", "com1/FindSlot", "a:b/FindSlot", "mail./FindSlot"])
def test_a_name_that_windows_does_not_take_is_wrong_use(instrc: Instrc, folder: Path, name: str) -> None:
    done = instrc("new", "instruction", name)
    assert (done.code, "on Windows" in done.err) == ((0, False) if name == "Nul_Activity" else (2, True))


def test_a_name_that_is_too_long_for_a_file_is_wrong_use_and_shortened(instrc: Instrc) -> None:
    done = instrc("new", "instruction", "x" * 300)
    assert done.code == 2
    assert "it is too long for a file" in " ".join(done.err.split())
    assert "x" * 100 not in done.err


def test_a_name_without_letters_is_wrong_use(instrc: Instrc, folder: Path) -> None:
    before = len(list(folder.rglob("*.vibe.json")))
    for name in ("..", "--", "a/../b", "/"):
        assert instrc("new", "instruction", "--", name).code == 2
    assert len(list(folder.rglob("*.vibe.json"))) == before


@given(st.sampled_from(["instruction", "mixin", "process"]), st.text(max_size=30))
def test_any_name_makes_a_plain_path_or_none(kind: str, name: str) -> None:
    files = new(kind, name, "schemas")  # type: ignore[arg-type]
    for path in files or ():
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        assert "\0" not in path


def test_the_hooks_of_a_project_run_as_the_shipped_ones_do(instrc: Instrc, folder: Path) -> None:
    """A commit that only deletes a vibe gives a hook no files; it runs all the same, and finds the program that breaks."""
    assert instrc("init", "fresh").code == 0
    yaml = pytest.importorskip("yaml")
    shipped = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    [repo] = yaml.safe_load((folder / "fresh" / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    for hook in repo["hooks"]:
        for member in ("name", "entry", "files", "require_serial", "always_run"):
            assert hook.get(member) == shipped[hook["id"]].get(member), (hook["id"], member)
    assert shipped["instrc-check"]["always_run"] is shipped["instrc-lock"]["always_run"] is True


def test_the_editor_of_a_project_knows_what_a_vibe_is(instrc: Instrc, folder: Path) -> None:
    assert instrc("init", "fresh").code == 0
    [rule] = json.loads((folder / "fresh/.vscode/settings.json").read_text(encoding="utf-8"))["json.schemas"]
    assert rule["fileMatch"] == ["*.vibe.json"]
    known = json.loads((folder / "fresh" / rule["url"]).read_text(encoding="utf-8"))
    assert known == json.loads((ROOT / "schemas/meta/vibe.schema.json").read_text(encoding="utf-8"))
