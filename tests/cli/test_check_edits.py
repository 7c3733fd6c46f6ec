"""Whatever is edited between two runs, a check that remembers tells what one that remembers nothing tells."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from instrc import Problem, Report
from instrc.compiler import checking
from instrc.vibes.find_files import find_files


def vibe(**more: Any) -> str:
    return json.dumps({"type": "object", "properties": {"text": {"type": "string", "description": "A text."}}, **more})


VIBES = st.sampled_from(
    [
        vibe(),
        vibe(required=["text"]),
        vibe(required=["txt"]),
        vibe(unit="m"),
        vibe(description="Say {{name}}."),
        vibe(examples=[{"text": 5}]),
        json.dumps({"$ref": "aug:b"}),
        json.dumps({"allOf": [{"$ref": "aug:c:1"}, {"$ref": "aug:/d"}]}),
        json.dumps({"properties": {"one": {"$ref": "aug:a#text"}, "two": {"$ref": "aug:prog"}}}),
        json.dumps({"schema": {"$ref": "aug:a"}, "solution": {"text": 5}}).replace("aug", "\\u0061ug"),
        "{",
    ]
)
PROGRAMS = st.sampled_from(
    ["A(prompt)", "B(prompt) | C", "const a = A(prompt);\nB(a.text)", "Prog(prompt)", "aug:c:1(prompt)", "D(text: 5)", "A(", ""]
)
TABLES = st.sampled_from(
    [
        "",
        "[tool.instrc]\n",
        '[tool.instrc]\nkeywords = ["unit"]\n',
        "[tool.instrc]\ntemplates = true\n",
        '[tool.instrc]\nroots = ["more"]\n',
        '[tool.instrc]\nshared = ["more"]\nnaming = "camel"\n',
        "[tool.instrc]\nlimits = { vibe = 40 }\n",
        "[tool.instrc",
    ]
)
ROOTS = ("schemas", "more", "inner/schemas")
PLACES = st.sampled_from([f"{root}/{name}.vibe.json" for root in ROOTS for name in ("a", "b", "c", "c@1", "c@2", "d")])
SOURCES = st.sampled_from(["main.aug", "inner/main.aug", "schemas/prog.aug", "more/prog.aug"])
SETTINGS = st.sampled_from(["pyproject.toml", "inner/pyproject.toml"])


class Edits(RuleBasedStateMachine):
    """A small project that is edited at random and checked after each edit."""

    def __init__(self) -> None:
        super().__init__()
        self.before = Path.cwd()
        self.folder = Path(mkdtemp())
        os.chdir(self.folder)

    def teardown(self) -> None:
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    @initialize()
    def some_files(self) -> None:
        for name in "abcd":
            self.write(f"schemas/{name}.vibe.json", vibe())
        self.write("main.aug", "A(prompt) | B | C")

    @rule(place=PLACES, text=VIBES)
    def write_a_vibe(self, place: str, text: str) -> None:
        self.write(place, text)

    @rule(place=SOURCES, text=PROGRAMS)
    def write_a_program(self, place: str, text: str) -> None:
        self.write(place, text)

    @rule(place=SETTINGS, text=TABLES)
    def write_settings(self, place: str, text: str) -> None:
        self.write(place, text)

    @rule(place=PLACES | SOURCES | SETTINGS)
    def delete(self, place: str) -> None:
        Path(place).unlink(missing_ok=True)

    @rule(place=PLACES, other=PLACES)
    def rename(self, place: str, other: str) -> None:
        if Path(place).exists():
            Path(other).parent.mkdir(parents=True, exist_ok=True)
            Path(place).replace(other)

    @rule(place=PLACES | SOURCES)
    def turn_the_clock_back(self, place: str) -> None:
        if Path(place).exists():
            os.utime(place, (1, 1))

    @rule(root=st.sampled_from(ROOTS[:2]))
    def put_a_link_for_a_root(self, root: str) -> None:
        if Path(root).is_dir() and not Path(root).is_symlink():
            shutil.rmtree("kept", ignore_errors=True)
            Path(root).rename("kept")
            Path(root).symlink_to("kept")

    @invariant()
    def both_checks_tell_the_same(self) -> None:
        report = Report()
        files = find_files(["."], report)
        first, again, fresh = (told(checking.check_files(files, cached=cached)) for cached in (True, True, False))
        assert first == fresh
        assert again == fresh

    def write(self, place: str, text: str) -> None:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(text, encoding="utf-8")


def told(problems: list[Problem]) -> list[str]:
    return [f"{each.at and (each.at.source.name, each.at.start, each.at.end)} {each.name}: {each.message}" for each in problems]


@pytest.fixture(autouse=True)
def few_files_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "WORTH_KEEPING", 0)


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=max(settings().max_examples // 10, 1), stateful_step_count=12)
