"""Machine formats: the same facts, in the forms that tools read."""

from __future__ import annotations

import re

import orjson
import pytest

from instrc import CompileError, Label, Source
from instrc.problems.files import NothingToCheck  # the class of one problem
from instrc.problems.machine import to_github, to_json  # one format of one problem
from instrc.problems.names import UnknownName  # the class of one problem
from instrc.problems.problem import shorten_values
from instrc.problems.render import render_text
from instrc.problems.vibes import AmbiguousFragment  # the class of one problem

SOURCE = Source("dir/план: 1,2%.aug", 'const a = "😀";\n  Serch(a)\n')
UNKNOWN = UnknownName(at=SOURCE.span(17, 22), word="Serch", nearest=("Search",))
TWO_PLACES = AmbiguousFragment(
    at=SOURCE.span(0, 16), reference="#x", pointers=("/a", "/b"), places=(SOURCE.span(6, 7), SOURCE.span(23, 24))
)


def test_json_has_the_same_keys_for_every_problem() -> None:
    keys = ["name", "severity", "message", "hint", "path", "line", "column", "end_line", "end_column", "labels", "fixes"]
    objects = to_json([UNKNOWN, TWO_PLACES, NothingToCheck()])
    assert [list(each) for each in objects] == [keys] * 3
    assert objects[0] == {
        "name": "unknown-name",
        "severity": "error",
        "message": "nothing is called `Serch`",
        "hint": "did you mean `Search`?",
        "path": "dir/план: 1,2%.aug",
        "line": 2,
        "column": 3,
        "end_line": 2,
        "end_column": 8,
        "labels": [],
        "fixes": [
            {
                "title": "replace by `Search`",
                "safe": True,
                "edits": [
                    {
                        "text": "Search",
                        "path": "dir/план: 1,2%.aug",
                        "line": 2,
                        "column": 3,
                        "end_line": 2,
                        "end_column": 8,
                    }
                ],
            }
        ],
    }
    assert objects[1]["labels"][0] == {
        "text": "matches",
        "path": "dir/план: 1,2%.aug",
        "line": 1,
        "column": 7,
        "end_line": 1,
        "end_column": 8,
    }
    assert objects[2]["path"] is objects[2]["line"] is None


def test_github_commands_are_escaped() -> None:
    assert to_github([UNKNOWN]) == (
        "::error file=dir/план%3A 1%2C2%25.aug,line=2,endLine=2,col=3,endColumn=8,title=instrc unknown-name"
        "::nothing is called `Serch`%0Adid you mean `Search`?\n"
    )
    assert to_github([NothingToCheck()]).startswith("::warning title=instrc nothing-to-check::")


def test_github_gets_no_character_that_drives_a_terminal_or_turns_the_text() -> None:
    source = Source("a\x1b[31m\u202eb.aug", "x")
    command = to_github([UnknownName(at=source.whole(), word="x\x1b]0;title\x07\u2066\x9b\ud800")])
    assert command.encode()
    assert not set(command[:-1]) & {chr(code) for code in (*range(32), *range(0x7F, 0xA0), 0x202E, 0x2066)}


def test_github_gets_no_columns_for_several_lines() -> None:
    (command,) = to_github([UnknownName(at=SOURCE.span(0, 20), word="x")]).splitlines()
    assert "line=1,endLine=2,title" in command


@pytest.mark.parametrize("name", ["a\udcff.aug", "/\udcff/a.aug", "a\ud800.aug"])  # noqa: PT014  -- they differ in which half of a pair they hold
def test_odd_file_names_do_no_harm(name: str) -> None:
    problem = TWO_PLACES.__class__(at=Source(name, "x").span(0, 1), reference=name, pointers=("/a",))
    assert orjson.dumps(to_json([problem]))
    assert to_github([problem]).encode()


def test_labels_are_those_of_the_problem() -> None:
    assert TWO_PLACES.labels == (Label(SOURCE.span(6, 7), "matches"), Label(SOURCE.span(23, 24), "matches"))


def test_github_shows_what_would_drive_a_terminal_or_turn_text_around() -> None:
    word = "a\x1b[31m\u202eb"
    (command,) = to_github([UnknownName(at=Source("a\u202eb\x07.aug", word).span(0, 3), word=word)]).splitlines()
    assert not re.search(r"[\x00-\x1f\u202e]", command)


def test_long_values_are_shortened_everywhere() -> None:
    problem = UnknownName(at=SOURCE.span(0, 3), word="x" * 5_000)
    assert str(problem) == f"nothing is called `{'x' * 40}…{'x' * 20}`"
    assert to_json([problem])[0]["message"] == str(problem)
    assert max(map(len, render_text([problem]).splitlines())) < 200
    assert max(map(len, str(CompileError([problem])).splitlines())) < 200


def test_only_values_are_shortened_not_the_sentence_between_two() -> None:
    sentence = "is a schema, a tool as a provider takes it, or a type that has one, such as a model, a dataclass, or a function"
    assert shorten_values(f"`a` {sentence}, not `b`") == f"`a` {sentence}, not `b`"
