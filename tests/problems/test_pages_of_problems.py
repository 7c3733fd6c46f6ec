"""Each problem explains itself with an example that raises exactly it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest
from every_case import every_case

from instrc import Problem
from instrc.cli import main
from instrc.problems import problem  # the folder of its classes is read
from instrc.problems.catalogue import classes, page  # every problem and its page

ALL = classes()
ABOUT_THE_MACHINE = {
    "cannot-fork",
    "invalid-option",
    "invalid-request",
    "key-reused",
    "missing-extra",
    "missing-library",
    "needs-its-program",
    "no-journal",
    "no-such-program",
    "no-such-question",
    "no-such-step",
    "not-allowed",
    "not-authenticated",
    "nothing-to-retry",
    "payload-refused",
    "question-not-free",
    "refused-address",
    "rejected-answer",
    "run-exists",
    "run-goes-on",
    "sandbox-not-started",
    "state-changed",
    "store-in-use",
    "too-much",
    "unusable-store",
}
"""Problems that no file can show on every machine; each has a test of its own."""
_BLOCK = re.compile(r"^(```|~~~)(\w+)(?: +(\S+))?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    files: dict[str, bytes]
    line: list[str]


def example(kind: type[Problem]) -> Example | None:
    """Read the files of a page and the command line to run on them."""
    blocks = _BLOCK.findall(page(kind))
    files = {
        name: bytes.fromhex(text) if language == "hex" else text.encode()
        for _, language, name, text in blocks
        if name and language != "console"
    }
    for _, language, _, text in blocks:
        if language == "console":
            written = next(line for line in text.splitlines() if line.startswith("$ instrc "))
            return Example(files, shlex.split(written)[2:])
    return Example(files, ["check", next(iter(files))]) if files else None


def test_there_are_problems() -> None:
    assert len(ALL) > 20


def test_no_two_classes_share_a_name() -> None:
    problems = {kind.__name__ for kind in ALL.values()}
    written = re.compile(r"^class (\w+)", re.MULTILINE)
    classes = [name for file in Path(problem.__file__).parent.glob("*.py") for name in written.findall(file.read_text("utf-8"))]
    assert sorted(name for name in classes if name in problems) == sorted(problems)
    assert len(problems) == len(ALL)


@every_case("name", ALL)
def test_names_are_kebab_case_and_belong_to_one_class(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert ALL[name].name == name


@every_case("name", ALL)
def test_a_page_begins_with_one_sentence_and_goes_on(name: str) -> None:
    first, blank, rest = page(ALL[name]).partition("\n\n")
    assert first.endswith("."), first
    assert "\n" not in first or "." in first
    assert blank
    assert rest


@every_case("name", ALL)
def test_the_example_raises_exactly_this_problem(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = example(ALL[name])
    if found is None:
        assert name in ABOUT_THE_MACHINE, "a page needs an example"
        return
    for path, data in found.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    if name == "foreign-process":  # an example of two projects: neither has a mistake of its own
        found = found._replace(line=["check"])
    asked = "--problems" if found.line[0] in {"eval", "graph"} else "--format"  # the format of a picture is another matter
    code = main([*found.line, asked, "json"])
    out, err = capsys.readouterr()
    problems = orjson.loads(err if err.strip() else out)
    raised = [each["name"] for each in problems if each["severity"] == "error" or each["name"] == name]
    assert set(raised) == {name}, problems
    assert code == (1 if ALL[name].severity == "error" else 0)
    for each in problems:
        assert each["message"] == each["message"].strip() != ""
        assert each["hint"] is None or each["hint"] == each["hint"].strip() != ""
