"""What is said about the schemas in a program: its annotations, its inline schemas, and the vibes that it uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import instrc
from instrc import Source
from instrc.language.program_places import place_in

TEXT = {"type": "string"}
DRAFT = {"type": "object", "properties": {"text": TEXT}, "required": ["text"]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write vibes and settings, and return what checking a program says: name, text at its place, severity."""
    monkeypatch.chdir(tmp_path)

    def run(program: str, vibes: dict[str, Any] | None = None, settings: str = "") -> list[tuple[str, str]]:
        for name, schema in {"draft": DRAFT, **(vibes or {})}.items():
            file = tmp_path / "schemas" / f"{name}.vibe.json"
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(schema), encoding="utf-8")
        (tmp_path / "pyproject.toml").write_text(f"[tool.instrc]\n{settings}", encoding="utf-8")
        (tmp_path / "it.aug").write_text(program, encoding="utf-8")
        found = instrc.check("it.aug")
        return [(problem.name, problem.at.text if problem.at else "") for problem in found]

    return run


@pytest.mark.parametrize(
    ("annotation", "at"),
    [
        ('{ properties: { p: { maximum: "4" } } }', '"4"'),
        ('{ type: "str" }', '"str"'),
        ('{ pattern: "([" }', '"(["'),
        ('{ type: "object", properties: { a: { type: 5 } } }', "5"),
        ("{ required: 'text' }", "'text'"),
        ('{ /* a comment */ "properties": { text: { minLength: -1, }, }, }', "-1"),
        ('{ anyOf: [{}, { enum: "a" }] }', '"a"'),
        ("{ type: true }", "true"),
    ],
)
def test_an_annotation_is_no_schema_at_the_place_where_it_is_wrong(project: Any, annotation: str, at: str) -> None:
    assert project(f"Draft @ {annotation}") == [("invalid-schema", at)]


@pytest.mark.parametrize("program", ["@%s", "{ a: @%s }", "Draft | @%s", "const a = @%s; Draft(a)", "Draft(@%s)"])
def test_an_inline_schema_is_examined_wherever_it_stands(project: Any, program: str) -> None:
    inline = '{ title: "It", type: "object", properties: { a: { type: 5 } } }'
    assert ("invalid-schema", "5") in project(program % inline)


def test_the_annotation_of_an_input_is_examined(project: Any) -> None:
    assert project('input lang @ { type: "text" }\nDraft(lang)') == [("invalid-schema", '"text"')]


@pytest.mark.parametrize("word", ["propertys", "requierd", "minLenght", "discription"])
def test_a_misspelt_keyword_after_an_at_is_told_with_the_nearest(project: Any, word: str) -> None:
    assert project(f"Draft @ {{ {word}: {{}} }}") == [("unknown-keyword", word)]


def test_a_condition_is_examined(project: Any) -> None:
    assert ("invalid-schema", '"text"') in project('const a = Draft(prompt); when a.text @ { type: "text" } { Draft(a) }')


def test_keywords_of_ones_own_are_listed_in_the_settings(project: Any) -> None:
    program = 'Draft @ { "x-unit": "m", unit: "m", properties: { text: { format: "length" } } }'
    assert [name for name, _ in project(program)] == ["unknown-keyword", "unknown-format"]
    assert project(program, settings='keywords = ["unit", "length"]') == []


def test_misspelt_words_of_approvals_at_a_call_are_told(project: Any) -> None:
    program = 'Draft @ { "x-needed": 2, "x-aprovers": ["ann"] }'
    assert project(program) == [("unknown-keyword", '"x-aprovers"')]
    assert project(program, settings='keywords = ["x-aprovers"]') == []


def test_a_misspelt_setting_of_keywords_is_told(project: Any) -> None:
    assert project("Draft", settings="keywords = 5")[0][0] == "invalid-settings"


def test_a_program_with_a_vibe_that_check_refuses_does_not_compile(project: Any) -> None:
    broken = {"type": "object", "properties": {"a": {"type": "text"}}}
    assert project("Reply", {"reply": broken}) == [("invalid-schema", '"text"')]
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile(Path("it.aug"))
    assert [problem.name for problem in caught.value.problems] == ["invalid-schema"]


def test_a_vibe_that_check_refuses_does_not_compile_by_itself(project: Any) -> None:
    project("Draft", {"reply": {"type": "object", "properties": {"a": TEXT}, "required": ["b"]}})
    with pytest.raises(instrc.CompileError) as caught:
        instrc.compile("schemas/reply.vibe.json")
    assert [problem.name for problem in caught.value.problems] == ["missing-from-properties"]


def test_a_broken_vibe_behind_a_reference_keeps_a_program_from_compiling(project: Any) -> None:
    vibes = {"reply": {"$ref": "aug:inner"}, "inner": {"type": "object", "properties": {"a": TEXT}, "required": ["aa"]}}
    assert [name for name, _ in project("Reply", vibes)] == ["missing-from-properties"]


def test_a_version_that_is_never_used_is_told(project: Any) -> None:
    assert [name for name, _ in project("Draft", {"draft@2": DRAFT})] == ["hidden-version"]
    assert project("const D = aug:draft:2; D", {"draft@2": DRAFT}) == []


KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
DATA = st.recursive(
    st.one_of(st.integers(-9, 9), st.booleans(), st.none(), KEYS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(KEYS, DATA, min_size=1, max_size=6))
def test_every_part_of_plain_data_has_its_place(data: dict[str, Any]) -> None:
    text = "// before\n@ " + json.dumps(data, ensure_ascii=True, indent=1)
    span = replace(Source("it.aug", text).whole(), end=len(text))

    def walk(value: Any, pointer: str) -> None:
        assert json.loads(place_in(span, pointer).text) == value
        parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, part in parts:
            below = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
            walk(part, below)
            if isinstance(value, dict):
                assert json.loads(place_in(span, below, key=True).text) == key

    walk(data, "")


def test_the_place_in_data_that_is_cut_off_is_what_is_left_of_it() -> None:
    """Of an annotation that is very long, only the beginning is read again."""
    text = '{ "a": { "b": [1, 2'
    assert place_in(Source("it.aug", text).span(0, len(text)), "/a/b").text == "[1, 2"


# Slots

PAGE = {"type": "object", "properties": {"header": {}, "default": {}, "note": {}}, "required": ["header"]}


@pytest.mark.parametrize(
    "program",
    [
        "Page_Mixin(Draft)",
        "Page_Mixin({ default: { a: Draft, b: Draft @ 'b' } })",
        "Page_Mixin(Page_Mixin(Draft))",
    ],
)
def test_a_required_slot_that_is_left_empty_is_told(project: Any, program: str) -> None:
    assert "empty-slot" in {name for name, _ in project(program, {"page_Mixin": PAGE})}


@pytest.mark.parametrize(
    "program",
    [
        "Page_Mixin(Draft, { header: Draft })",
        "Page_Mixin(Draft) @ { properties: { header: { type: 'string' } } }",
        "Page_Mixin(Draft, { header: 'x' })",
    ],
)
def test_a_slot_that_is_filled_is_fine(project: Any, program: str) -> None:
    assert project(program, {"page_Mixin": PAGE}) == []


# Names


def test_an_unknown_name_is_told_with_the_roots_that_were_searched(project: Any) -> None:
    project("Reply")
    (problem,) = instrc.check("it.aug")
    assert problem.hint is not None
    assert problem.hint.endswith("(looked in `schemas`, the built-in library)")


@pytest.mark.parametrize(
    ("program", "offered"),
    [
        ("const participants = Draft(prompt); Draft(p)", ("prompt", "participants")),
        ("input language\nDraft(l)", ("language",)),
        ("find_slt", ("find_slot",)),
        ("FindSlt", ("FindSlot",)),
        ("const reply = Replyy(prompt); Draft(reply)", ()),
    ],
)
def test_what_is_offered_can_be_typed_and_is_not_what_is_being_defined(project: Any, program: str, offered: Any) -> None:
    project(program, {"find-slot": DRAFT})
    (problem,) = [problem for problem in instrc.check("it.aug") if problem.name == "unknown-name"]
    assert set(problem.nearest) == set(offered)  # type: ignore[attr-defined]


def test_a_misspelt_local_name_stays_a_slip_in_a_sketch(project: Any) -> None:
    for program in ("const people = Identify(prompt); Invite(peple)", "const people = Identify(prompt); Invite(p)"):
        with pytest.raises(instrc.CompileError) as caught:
            instrc.compile(program, sketch=True)
        assert [problem.name for problem in caught.value.problems if problem.severity == "error"] == ["unknown-name"]
    assert instrc.compile("const people = Identify(prompt); People(people)", sketch=True)


@every_case("options", [{"batch": 0}, {"batch": -1}, {"batch": True}, {"batch": "2"}, {"naming": "snake"}])
def test_an_option_that_means_nothing_is_told(options: dict[str, Any]) -> None:
    with pytest.raises(instrc.SettingsError) as caught:
        instrc.compile('@{ type: "object" }', **options)
    assert [problem.name for problem in caught.value.problems] == ["invalid-option"]


@pytest.mark.parametrize(
    ("file", "written", "found"),
    [
        ("save_Activity", "Save_Activity", []),
        ("save_Activity", "save_activity", []),
        ("save_activity", "Save_Activity", ["suffix-case"]),
        ("save-activity", "Save_Activity", ["suffix-case"]),
        ("save-Activity", "Save_Activity", ["suffix-case"]),
        ("saveActivity", "Save_Activity", ["suffix-case"]),
        ("ask-user", "Ask_User", ["suffix-case"]),
        ("ask-user", "ask_user", []),
    ],
)
def test_a_suffix_that_the_file_does_not_have_is_told(project: Any, file: str, written: str, found: list[str]) -> None:
    """Names are compared without case, `_` and `-`, but who fills a step in is told by the file's own suffix."""
    assert [name for name, _ in project(f"prompt | {written}", {file: DRAFT})] == found


CLOSED = {**DRAFT, "additionalProperties": False}
OPEN = {**DRAFT, "additionalProperties": TEXT}
HEADED = {"type": "object", "properties": {"head": TEXT, "default": {}}}


@pytest.mark.parametrize(
    "program",
    [
        'Draft(prompt) @ { required: ["txet"] }',
        'Draft @ "Be brief." @ { properties: { text: {} } } @ { required: ["txet"] }',
        'Page_Mixin(Draft) @ { required: ["txet"] }',
        'Closed(prompt) @ { required: ["txet"] }',
        '@{ type: "object", properties: { text: {} }, required: ["txet"] }',
        '@{ type: "object", properties: { text: { properties: { a: {} }, required: ["txet"] } } }',
        'Draft @ { properties: { text: { type: "object", properties: { a: {} }, required: ["txet"] } } }',
    ],
)
def test_a_required_name_that_nothing_describes_is_a_problem_at_its_place(program: str, project: Any) -> None:
    vibes = {"closed": CLOSED, "page_Mixin": HEADED, "draft": {"type": "object", "properties": {"text": {}}}}
    assert project(program, vibes) == [("missing-from-properties", '"txet"')]


@pytest.mark.parametrize(
    "program",
    [
        'Draft(prompt) @ { required: ["text"] }',
        'Draft @ { properties: { tone: {} }, required: ["tone"] }',
        'Draft @ { properties: { tone: {} } } @ { required: ["tone"] }',
        'Page_Mixin(Draft) @ { required: ["head", "text"] }',
        'Page_Mixin(Draft @ { required: ["text"] })',
        'Open @ { required: ["tone"] }',
        'Empty @ { required: ["tone"] }',
        'Either @ { required: ["tone"] }',
        '@{ type: "object", required: ["tone"] }',
        'Outer({ inner: Draft }) @ { properties: { inner: { required: ["text"] } } }',
    ],
)
def test_a_required_name_may_be_described_anywhere(program: str, project: Any) -> None:
    vibes = {
        "open": OPEN,
        "page_Mixin": HEADED,
        "empty": {"type": "object"},
        "either": {**DRAFT, "anyOf": [{"properties": {"tone": {}}}, {}]},
        "outer": {"type": "object", "properties": {"inner": {"type": "object", "properties": {"more": {}}}}},
    }
    assert project(program, vibes) == []
