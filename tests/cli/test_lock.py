"""`instrc lock` writes down what references mean, and `--locked` takes nothing else."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_lines import Instrc

import instrc as library

DRAFT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@pytest.fixture(autouse=True)
def project(folder: Path) -> None:
    for file in (folder / "schemas").glob("*.json"):
        file.unlink()
    (folder / "pyproject.toml").write_text("")
    (folder / "it.aug").write_text("tool it = Introspect_Mixin(Draft)")
    vibe(folder, "draft@1", DRAFT)


def vibe(folder: Path, name: str, schema: Any) -> None:
    (folder / "schemas").mkdir(exist_ok=True)
    (folder / "schemas" / f"{name}.vibe.json").write_text(json.dumps(schema))


def test_a_lock_lists_every_vibe_in_use_and_is_written_alike(instrc: Instrc, folder: Path) -> None:
    assert instrc("lock") == (0, "", "wrote aug.lock\n")
    first = (folder / "aug.lock").read_text()
    entries = tomllib.loads(first)["vibe"]
    assert [(entry["reference"], entry["version"], entry["file"]) for entry in entries] == [
        ("aug:/vibes/macros/Introspect_Mixin", "1", "built-in/vibes/macros/Introspect_Mixin@1.vibe.json"),
        ("aug:draft", "1", "schemas/draft@1.vibe.json"),
    ]
    instrc("lock")
    assert (folder / "aug.lock").read_text() == first
    assert instrc("lock", "--check") == (0, "", "")


def test_a_newer_version_is_not_taken_when_locked(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    before = instrc("compile", "it.aug", "--locked").out
    vibe(folder, "draft@2", {**DRAFT, "title": "New"})
    assert instrc("compile", "it.aug", "--locked") == (0, before, "")
    assert instrc("compile", "it.aug").out != before
    assert instrc("lock", "--check", "--format", "json").problem_names() == ["stale-lock"]
    told = instrc("lock", "--check").err
    assert "aug.lock:11:1: error" in told
    assert "it now finds `schemas/draft@2.vibe.json`, not `schemas/draft@1.vibe.json`" in told
    assert '11 | reference = "aug:draft"' in told


def test_what_is_not_in_the_lock_has_no_line_in_it(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    vibe(folder, "reply", DRAFT)
    (folder / "it.aug").write_text("tool it = Draft | Reply")
    told = json.loads(instrc("lock", "--check", "--format", "json").err)
    assert [(problem["message"].rpartition(": ")[2], problem["line"]) for problem in told] == [
        ("nothing refers to `built-in/vibes/macros/Introspect_Mixin@1.vibe.json` by it any more", 5),
        ("`schemas/reply.vibe.json` is not in it", 1),
    ]


def test_spaces_do_not_count_but_order_does(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    (folder / "schemas" / "draft@1.vibe.json").write_text(json.dumps(DRAFT, indent=4))
    assert instrc("compile", "it.aug", "--locked").code == 0
    vibe(folder, "draft@1", dict(reversed(DRAFT.items())))
    done = instrc("compile", "it.aug", "--locked")
    assert (done.code, done.out) == (1, "")
    assert "`schemas/draft@1.vibe.json` has changed" in done.err


def test_what_is_not_locked_is_a_problem_at_the_place_that_asks(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    vibe(folder, "reply", DRAFT)
    (folder / "it.aug").write_text("tool it = Draft | Reply")
    done = instrc("compile", "it.aug", "--locked")
    assert "it.aug:1:19: error: `aug:reply` is not in `aug.lock` [not-locked]" in done.err
    (folder / "aug.lock").unlink()
    assert "[not-locked]" in instrc("compile", "it.aug", "--locked").err


@pytest.mark.parametrize(
    "text", ["", "version = 2", "version = 1\nvibe = 5", "version = 1\n[[vibe]]\nreference = 1", "\x00", "[" * 5000]
)
def test_a_damaged_lock_is_told(instrc: Instrc, folder: Path, text: str) -> None:
    (folder / "aug.lock").write_text(text)
    assert instrc("compile", "it.aug", "--locked", "--format", "json").problem_names() == ["invalid-lock"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("# nothing\n", "it does not say its version: `version = 1`"),
        ("version = true\n", "its version is True, not 1"),
        ("version = 2\n", "its version is 2, not 1"),
    ],
)
def test_a_lock_without_a_version_is_told_to_have_none(instrc: Instrc, folder: Path, text: str, reason: str) -> None:
    (folder / "aug.lock").write_text(text)
    assert f"the lock cannot be read: {reason} [invalid-lock]" in instrc("compile", "it.aug", "--locked").err


@pytest.mark.parametrize(
    ("field", "instead", "place", "reason"),
    [
        ("sha256 =", "sha265 =", "aug.lock:8:1", "`sha256` of an entry is missing, and `sha265` is not known"),
        ("reference =", "# reference =", "aug.lock:4:1", "`reference` of an entry is missing"),
        ("file =", "file = 5 # ", "aug.lock:7:1", "`file` of an entry is not a text"),
    ],
    ids=["misspelt", "left out", "no text"],
)
def test_a_wrong_field_of_an_entry_is_shown_where_it_stands(
    instrc: Instrc, folder: Path, field: str, instead: str, place: str, reason: str
) -> None:
    instrc("lock")
    lock = folder / "aug.lock"
    assert field in lock.read_text()
    lock.write_text(lock.read_text().replace(field, instead, 1))
    done = instrc("compile", "it.aug", "--locked")
    assert f"{place}: error: the lock cannot be read: {reason} [invalid-lock]" in done.err


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> other"])
def test_a_merge_that_failed_is_told_as_that_and_locked_anew(instrc: Instrc, folder: Path, mark: str) -> None:
    instrc("lock")
    lock = folder / "aug.lock"
    sound = lock.read_bytes()
    lock.write_bytes(sound.replace(b"[[vibe]]\n", f"[[vibe]]\n{mark}\n".encode(), 1))
    told = "aug.lock:5:1: error: the lock cannot be read: it contains merge conflict markers [invalid-lock]"
    for words in (("compile", "it.aug", "--locked"), ("lock", "--check")):
        assert told in instrc(*words).err
    assert instrc("lock").code == 0
    assert lock.read_bytes() == sound


@pytest.mark.parametrize(
    ("slip", "place"),
    [
        ("<<<<<<< HEAD\n", "aug.lock:3:1"),
        ("file = \n", "aug.lock:3:8"),
        ("version = 2\n", "aug.lock:3:12"),
        ('file = "a', "aug.lock:3:9"),
    ],
    ids=["mark of a merge", "no value", "twice", "open text"],
)
def test_what_is_no_toml_is_shown_where_it_stands(instrc: Instrc, folder: Path, slip: str, place: str) -> None:
    (folder / "aug.lock").write_text(f"# a lock\nversion = 1\n{slip}")
    for words in (("compile", "it.aug", "--locked"), ("lock", "--check")):
        done = instrc(*words)
        assert done.code == 1
        assert done.err.startswith(f"{place}: error: the lock cannot be read: "), done.err


def test_a_project_with_mistakes_is_not_locked(instrc: Instrc, folder: Path) -> None:
    (folder / "it.aug").write_text("Nothing")
    done = instrc("lock")
    assert done.code == 1
    assert not (folder / "aug.lock").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("check", "it.aug"),
        ("graph", "it.aug"),
        ("preview", "it.aug"),
        ("verify", "it.aug", "--target", "openai"),
        ("types", "it.aug"),
        ("run", "it.aug", "--model", "sample", "--input", "x", "--engine", "memory"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_compiles_takes_the_lock(instrc: Instrc, folder: Path, words: tuple[str, ...]) -> None:
    instrc("lock")
    before = instrc(*words, "--locked")
    assert before.code == 0
    vibe(folder, "draft@2", {**DRAFT, "properties": {"a": {"type": "integer"}}})
    after = instrc(*words, "--locked")
    assert after.code == 0
    if words[0] not in {"run", "verify"}:
        assert after == before
    (folder / "aug.lock").unlink()
    assert instrc(*words, "--locked").code == 1


@pytest.mark.parametrize("command", ["eval", "tune"])
def test_evaluations_take_the_lock(instrc: Instrc, folder: Path, command: str) -> None:
    (folder / "it.eval.jsonl").write_text('{"id": "a", "input": "x", "expected": {}}\n')
    done = instrc(command, "it.aug", "--model", "sample", "--locked")
    assert done.code == 1
    assert "[not-locked]" in done.err


def test_the_functions_take_the_lock_as_well(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    before = library.compile("it.aug", locked=True)
    vibe(folder, "draft@2", {**DRAFT, "title": "New"})
    assert library.compile("it.aug", locked=True) == before != library.compile("it.aug")
    assert library.check("it.aug", locked=True) == ()
    (folder / "aug.lock").unlink()
    assert library.check("it.aug", locked=True)
    with pytest.raises(library.CompileError):
        library.types("it.aug", locked=True)


@pytest.mark.parametrize("words", [("compile", "it.aug", "--locked"), ("lock", "--check")])
def test_a_lock_that_is_no_text_is_told_and_not_taken_for_an_empty_one(
    instrc: Instrc, folder: Path, words: tuple[str, ...]
) -> None:
    lock = folder / "aug.lock"
    for make, reason in (
        (lambda: os.mkfifo(lock), "it is a pipe"),
        (lambda: lock.write_bytes(b"\xff"), "it is not UTF-8"),
        (lambda: lock.symlink_to("aug.lock"), "too many levels of symbolic links"),
        (lambda: lock.write_text(f"{'a.' * 20_000}a = 1"), "it has keys of too many parts"),
    ):
        lock.unlink(missing_ok=True)
        make()
        done = instrc(*words)
        assert (done.code, f"the lock cannot be read: {reason} [invalid-lock]" in done.err) == (1, True), done.err


def test_a_digest_that_is_none_is_one_problem_of_the_lock(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    lock = folder / "aug.lock"
    sound = lock.read_text()
    for damaged in (re.sub(r'sha256 = "\w{3}', 'sha256 = "', sound), re.sub(r'sha256 = ".', 'sha256 = "Z', sound)):
        lock.write_text(damaged)
        for words in (("compile", "it.aug", "--locked"), ("lock", "--check")):
            done = instrc(*words)
            assert (done.code, done.err.count("error:")) == (1, 1), done.err
            assert 'the lock cannot be read: `sha256` of "aug:/vibes/macros/Introspect_Mixin" is not a digest' in done.err
            assert "aug.lock:8:10" in done.err


def test_a_lock_that_was_never_written_is_told_with_the_way_out(instrc: Instrc) -> None:
    done = instrc("lock", "--check")
    assert done.code == 1
    assert "`instrc lock` writes it" in done.err


def test_each_project_in_a_folder_has_its_own_lock(instrc: Instrc, folder: Path) -> None:
    (folder / "library").mkdir()
    (folder / "library" / "ticket.vibe.json").write_text(json.dumps(DRAFT))
    for name in ("mail", "shop"):
        schemas = folder / name / "schemas"
        schemas.mkdir(parents=True)
        (folder / name / "pyproject.toml").write_text('[tool.instrc]\nshared = ["../library"]\n')
        (folder / name / "it.aug").write_text("Ticket | Reply")
        (schemas / "reply.vibe.json").write_text(json.dumps({**DRAFT, "title": name}))
    done = instrc("lock", "mail", "shop", "library")
    assert done.code == 0
    assert done.err.splitlines() == ["wrote mail/aug.lock", "wrote shop/aug.lock"]
    assert instrc("lock", "mail", "shop", "--check").code == 0
    assert instrc("compile", "mail/it.aug", "shop/it.aug", "--locked").code == 0
    (folder / "shop" / "schemas" / "reply.vibe.json").write_text(json.dumps({**DRAFT, "title": "other"}))
    assert instrc("compile", "mail/it.aug", "--locked").code == 0
    done = instrc("lock", "mail", "shop", "--check")
    assert "shop/aug.lock:" in done.err
    assert "mail/aug.lock:" not in done.err


def test_the_lock_of_a_program_counts_for_the_programs_of_other_projects_that_it_calls(instrc: Instrc, folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.instrc]\nshared = ["library/shared"]\n')
    (folder / "it.aug").write_text("Answer(prompt)")
    (folder / "library" / "shared").mkdir(parents=True)
    (folder / "library" / "pyproject.toml").write_text('[tool.instrc]\nroots = ["more"]\n')
    (folder / "library" / "shared" / "Answer.aug").write_text('"x" | Reply')
    (folder / "library" / "more").mkdir()
    reply = folder / "library" / "more" / "reply.vibe.json"
    reply.write_text(json.dumps(DRAFT))
    assert instrc("lock", "it.aug").err.splitlines() == ["wrote aug.lock"]
    assert instrc("compile", "it.aug", "--locked").code == 0
    reply.write_text(json.dumps({**DRAFT, "title": "other"}))
    for _ in range(2):
        assert "`library/more/reply.vibe.json` has changed" in instrc("compile", "it.aug", "--locked").err
        (folder / "library" / "aug.lock").write_text("version = 1\n")


def test_a_lock_in_which_nothing_is_left_is_written_too(instrc: Instrc, folder: Path) -> None:
    for name in ("mail", "shop"):
        (folder / name / "schemas").mkdir(parents=True)
        (folder / name / "pyproject.toml").touch()
        (folder / name / "it.aug").write_text("Reply")
        (folder / name / "schemas" / "reply.vibe.json").write_text(json.dumps(DRAFT))
    instrc("lock", "mail", "shop")
    (folder / "shop" / "it.aug").write_text("@{ type: 'object' }")
    assert instrc("lock", "mail", "shop", "--check").err.startswith("shop/aug.lock:")
    assert instrc("lock", "mail", "shop").err.splitlines() == ["wrote mail/aug.lock", "wrote shop/aug.lock"]
    assert "vibe" not in tomllib.loads((folder / "shop" / "aug.lock").read_text())


def test_that_there_is_no_lock_is_told_once(instrc: Instrc, folder: Path) -> None:
    vibe(folder, "reply", DRAFT)
    (folder / "it.aug").write_text("Draft | Reply")
    done = instrc("compile", "it.aug", "--locked")
    assert done.err.startswith("aug.lock:1:1: error: there is no `aug.lock` [not-locked]\n")
    assert done.err.endswith("1 error\n")


def test_a_lock_tells_the_version_of_each_file(instrc: Instrc, folder: Path) -> None:
    instrc("lock")
    assert 'version = "1"' in (folder / "aug.lock").read_text()
