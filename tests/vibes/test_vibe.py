"""Vibe files: two shapes, the place of every part, and each way in which a file can fail to be one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc import CompileError, Problem
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe, parse_vibe  # a text without a file

Files = Callable[[str, dict[str, str]], Path]


def parse(data: str | bytes) -> Vibe:
    return parse_vibe(data.encode() if isinstance(data, str) else data, name="x.vibe.json", uri="aug:x", segment="x")


def test_a_bare_schema_is_its_own_document() -> None:
    vibe = parse('{"type": "object"}')
    assert vibe.schema is vibe.document
    assert (vibe.pointer, vibe.input, vibe.solution, vibe.has_solution) == ("", None, None, False)


def test_a_record_holds_its_schema_with_input_and_solution() -> None:
    vibe = parse('{"title": "t", "schema": {"type": "object"}, "input": [1], "solution": {"a": 1}}')
    assert vibe.schema is vibe.document["schema"]
    assert (vibe.pointer, vibe.input, vibe.solution, vibe.has_solution) == ("/schema", [1], {"a": 1}, True)


def test_a_null_solution_is_a_solution() -> None:
    assert parse('{"schema": {}, "solution": null}').has_solution


def test_a_property_called_schema_makes_no_record() -> None:
    assert parse('{"properties": {"schema": {"type": "object"}}}').pointer == ""


def test_a_schema_may_have_a_keyword_of_its_own_called_schema() -> None:
    assert parse('{"type": "object", "schema": "v1"}').pointer == ""


def test_solution_and_input_of_a_bare_schema_are_keywords_of_its_own() -> None:
    assert not parse('{"type": "object", "solution": 1}').has_solution


def test_every_part_has_its_place() -> None:
    vibe = parse('{\n "schema": {\n  "type": "object",\n  "a~/b": [1, 2]\n },\n "solution": {"q": 7}\n}')
    assert vibe.span("/type").text == '"object"'
    assert (vibe.span("/type").line, vibe.span("/type").column) == (3, 11)
    assert vibe.span("/type", key=True).text == '"type"'
    assert vibe.span("/a~0~1b/1").text == "2"
    assert vibe.span("").text.startswith('{\n  "type"')
    assert vibe.span("/a~0~1b/7").text == "[1, 2]"
    assert vibe.place("/solution/q").text == "7"


@every_case(
    ("data", "reason", "place"),
    [
        ("", "empty", (1, 1)),
        (" \n\t", "empty", (1, 1)),
        ("\ufeff", "empty", (1, 1)),
        ("\n [1]", "an array", (2, 2)),
        ('[{"type": "function", "function": {"name": "f"}}]', "a list of tools", (1, 1)),
        ('"x"', "a text", (1, 1)),
        ("12", "a number", (1, 1)),
        ("true", "a boolean", (1, 1)),
        ("null", "null", (1, 1)),
        ('{\n "a": 1,\n}', "a key in double quotes", (3, 1)),
        ('{"a": 1', "is expected", (1, 7)),
        ('{"a": NaN}', "a value is expected", (1, 7)),
        ('{"a": 1}\n{"b": 2}', "goes on", (2, 1)),
        ('{\n "a": 1,\n "a": 2\n}', "`a` is written twice", (3, 2)),
        ('{"x": {"type": 1, "t\\u0079pe": 2}}', "`type` is written twice", (1, 19)),
        (b'{\n "\xd1\x91": "\xff"}', "not UTF-8", (2, 8)),
        (b"\xff\xfe{\x00}\x00", "not UTF-8", (1, 1)),
        ('{"schema": 1}', "the `schema` of a record", (1, 12)),
        ('{"schema": true}', "the `schema` of a record", (1, 12)),
        ('{"schema": {}, "properties": {}}', "a record or a schema", (1, 2)),
        ('{"a": "\\ud800"}', "surrogate", (1, 7)),
        ("[" * 100_000, "ends before", (1, 100_000)),
    ],
)
def test_what_is_no_vibe_is_said_once_with_its_place(data: str | bytes, reason: str, place: tuple[int, int]) -> None:
    with pytest.raises(CompileError) as caught:
        parse(data)
    (problem,) = caught.value.problems
    assert problem.name == "invalid-vibe"
    assert reason in problem.message
    assert problem.at is not None
    assert (problem.at.line, problem.at.column) == place


@every_case(("data", "shown"), [('{"a": NaN}', "N"), ('{"a": 1}\n{"b": 2}', "{"), ("", "")])
def test_the_character_that_cannot_stand_there_is_shown(data: str, shown: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(data)
    [problem] = caught.value.problems
    assert problem.at is not None
    assert problem.at.text == shown


def test_each_repeated_key_is_reported() -> None:
    with pytest.raises(CompileError) as caught:
        parse('{"a": 1, "a": 2, "b": {"c": 1, "c": 2, "c": 3}}')
    assert [problem.at.column for problem in caught.value.problems if problem.at] == [10, 32, 40]


def test_depth_and_huge_numbers_are_no_obstacle() -> None:
    deep = parse('{"a":' * 20_000 + str(10**400) + "}" * 20_000)
    assert deep.span("/a/a/a").start == 15
    with pytest.raises(CompileError):
        parse('{"a":' * 20_000 + '{"b": 1, "b": 2}' + "}" * 20_000)


def test_a_byte_order_mark_and_crlf_are_accepted() -> None:
    vibe = parse(b'\xef\xbb\xbf{\r\n"type": "object"\r\n}')
    assert (vibe.span("/type").line, vibe.span("/type").column) == (2, 9)


def test_a_vibe_over_the_limit_is_too_large(files: Files) -> None:
    root = files("w", {"x.vibe.json": '{"a": "' + "x" * 100 + '"}'})
    with pytest.raises(CompileError) as caught:
        Registry([root], max_bytes=100).load("aug:x")
    assert caught.value.problems[0].name == "too-large"
    assert Registry([root], max_bytes=200).load("aug:x").segment == "x"


def test_what_cannot_be_read_as_a_file_is_one_problem(files: Files) -> None:
    root = files("w", {"folder.vibe.json/inner.txt": "x", "gone.vibe.json": "{}"})
    os.mkfifo(root / "pipe.vibe.json")
    registry = Registry([root])
    registry.lookup("gone")
    (root / "gone.vibe.json").unlink()
    for name, reason in (("folder", "it is a folder"), ("pipe", "it is a pipe"), ("gone", "no such file")):
        for read in (lambda name=name: registry.load(f"aug:{name}"), lambda name=name: registry.open(root / f"{name}.vibe.json")):
            with pytest.raises(CompileError) as caught:
                read()
            (problem,) = caught.value.problems
            assert problem.name == "invalid-vibe"
            assert reason in problem.message


def test_a_broken_vibe_shows_who_referred_to_it(files: Files) -> None:
    registry = Registry([files("w", {"x.vibe.json": "[]", "y.vibe.json": '{"$ref": "aug:x"}'})])
    at = registry.load("aug:y").span("/$ref")
    with pytest.raises(CompileError) as caught:
        registry.load("aug:x", at)
    assert caught.value.problems[0].labels[0].span == at


def test_a_file_outside_all_roots_opens_by_its_path(files: Files, tmp_path: Path) -> None:
    files("elsewhere", {"my thing@2.vibe.json": "{}", "plain.json": "{}"})
    registry = Registry([files("w", {})])
    opened = registry.open(tmp_path / "elsewhere" / "my thing@2.vibe.json")
    assert (opened.segment, opened.uri) == ("my thing", "aug:my%20thing:2")
    assert registry.open(tmp_path / "elsewhere" / "plain.json").segment == "plain"


@given(st.binary(max_size=60))
def test_any_bytes_are_a_vibe_or_a_problem(data: bytes) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        assert isinstance(parse(data).schema, dict)
    except CompileError as error:
        problems = error.problems
    assert all(problem.message and problem.at for problem in problems)


@every_case(
    ("data", "name"),
    [
        ('{"instrc": 1, "schema": {}}', None),
        ('{"instrc": 2, "schema": {}}', "newer-vibe"),
        ('{"instrc": 2, "schemas": [{}]}', "newer-vibe"),
        ('{"instrc": 2, "properties": {"llmContext1": {}}}', None),
        ('{"instrc": "mine", "type": "object"}', None),
        *((f'{{"instrc": {version}, "schema": {{}}}}', "invalid-vibe") for version in ("0", "-1", "1.5", "true", '"1"', "null")),
    ],
)
def test_a_file_of_a_newer_form_is_refused_and_a_process_has_a_version_of_its_own(data: str, name: str | None) -> None:
    if name is None:
        parse(data)
        return
    with pytest.raises(CompileError) as raised:
        parse(data)
    assert [(each.name, each.at and each.at.column) for each in raised.value.problems] == [(name, 12)]
