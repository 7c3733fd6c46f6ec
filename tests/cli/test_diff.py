"""`instrc diff` says what has changed, for whom it breaks, and claims nothing that it has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_lines import Instrc
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from instrc.schema.differences import compare
from instrc.schema.validation import is_valid

TEXT = {"type": "string"}
SAID = {**TEXT, "description": "What the writer wants."}


def obj(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


@every_case(
    ("old", "new", "changes", "writers", "readers"),
    [
        (obj(["a"], a=TEXT), obj(["a"], a=TEXT), [], "yes", "yes"),
        (obj(["a"], a=TEXT), obj(["a"], a=TEXT, b=TEXT), [("/b", "added")], "no", "yes"),
        (obj(["a"], a=TEXT), obj(["a", "b"], a=TEXT, b=TEXT), [("/b", "added")], "no", "yes"),
        (obj(["a"], a=TEXT), obj([], a=TEXT), [("/a", "optional")], "yes", "no"),
        (obj(["a"], a=TEXT), obj(["a"], a={**TEXT, "maxLength": 3}), [("/a", "narrowed")], "no", "yes"),
        (obj(["a"], a={**TEXT, "maxLength": 3}), obj(["a"], a=TEXT), [("/a", "widened")], "yes", "no"),
        (obj(["a"], a=TEXT), obj(["a"], a={"type": "integer"}), [("/a", "changed")], "no", "no"),
        (obj([], a=True), obj([], a=False), [("/a", "narrowed")], "no", "yes"),
        (obj([], a=True), obj([], a=TEXT), [("/a", "narrowed")], "no", "yes"),
        (obj([], a=TEXT), obj([], a=True), [("/a", "widened")], "yes", "no"),
        (obj(["a"], a=TEXT, b=TEXT), obj(["a"], b=TEXT, a=TEXT), [("", "reordered")], "yes", "yes"),
        (obj(["a"], a=SAID), obj(["b"], b={**SAID, "title": "B"}), [("/b", "renamed")], "no", "no"),
        (obj(["a"], a=SAID), obj([], b=SAID), [("/b", "renamed"), ("/b", "optional")], "no", "no"),
        (obj(["a"], a=TEXT), obj(["b"], b=TEXT), [("/a", "removed"), ("/b", "added")], "no", "no"),
        (obj([], a=SAID, b=SAID), obj([], c=SAID), [("/a", "removed"), ("/b", "removed"), ("/c", "added")], "no", "no"),
        (obj(["a"], a=TEXT), obj(["a"], a={**TEXT, "description": "x"}), [("/a", "described")], "yes", "yes"),
        (
            obj([], a={"type": "array", "items": TEXT}),
            obj([], a={"type": "array", "items": {}}),
            [("/a/*", "widened")],
            "yes",
            "no",
        ),
    ],
)
def test_changes_are_told_for_writers_and_readers(old: Any, new: Any, changes: Any, writers: str, readers: str) -> None:
    found = compare(old, new)
    assert [(change.pointer, change.what) for change in found.changes] == changes
    assert (found.writers, found.readers) == (writers, readers)


SCHEMAS = st.recursive(
    st.sampled_from(
        [TEXT, {"type": "integer"}, {"maximum": 3}, {"const": 1}, {"enum": ["a", 1]}, {}, {"pattern": "^a"}, {"minLength": 2}]
    ),
    lambda inner: st.builds(obj, st.just([]), a=inner, b=inner) | st.builds(lambda x: {"type": "array", "items": x}, inner),
    max_leaves=4,
)
VALUES = st.recursive(
    st.sampled_from(["", "a", "ab", 0, 1, 9, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner),
)


@given(SCHEMAS, SCHEMAS, VALUES)
def test_what_is_claimed_is_so(old: Any, new: Any, value: Any) -> None:
    found = compare(old, new)
    if found.writers == "yes":
        assert not is_valid(value, old) or is_valid(value, new)
    if found.readers == "yes":
        assert not is_valid(value, new) or is_valid(value, old)
    if found.writers == "no":
        assert is_valid(found.refused, old)
        assert not is_valid(found.refused, new)


MAYBE: Any = {"anyOf": [obj([], s=TEXT), {"type": "null"}]}
WIDE_MAYBE: Any = {"anyOf": [obj([], s={}), {"type": "null"}]}
WHOLE: Any = {"type": "integer"}


def kind(name: str, **properties: Any) -> dict[str, Any]:
    return obj(["k", *properties], k={"const": name}, **properties)


def tree(name: str, **properties: Any) -> dict[str, Any]:
    """Return a schema of trees, whose definition has a name."""
    node = {"$ref": f"#/$defs/{name}"}
    return {**obj([], u=node), "$defs": {name: obj([], kids={"type": "array", "items": node}, **properties)}}


@every_case(
    ("old", "new", "changes", "writers", "readers"),
    [
        (
            obj([], u=obj([], v=obj([], a=TEXT, b=TEXT))),
            obj([], u=obj([], v=obj([], b=TEXT, a=TEXT))),
            "/u/v reordered (b, a)",
            "yes",
            "yes",
        ),
        ({**TEXT, "default": "a"}, {**TEXT, "default": "b"}, '/ default ("a" → "b")', "yes", "yes"),
        (TEXT, {**TEXT, "default": None}, "/ default (none → null)", "yes", "yes"),
        ({**TEXT, "examples": ["a"]}, TEXT, "/ described (examples)", "yes", "yes"),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}, "/ reordered (enum)", "yes", "yes"),
        ({"anyOf": [TEXT, {"type": "null"}]}, {"type": ["string", "null"]}, "/ equivalent (anyOf, type)", "yes", "yes"),
        ({**WHOLE, "exclusiveMinimum": 0}, {**WHOLE, "minimum": 1}, "/ equivalent (exclusiveMinimum, minimum)", "yes", "yes"),
        (TEXT, {**TEXT, "readOnly": True}, "/ changed (readOnly)", "yes", "yes"),
        # parts that are no properties
        ({"additionalProperties": TEXT}, {"additionalProperties": {}}, "/* widened (type)", "yes", "no"),
        ({"prefixItems": [{}, {}]}, {"prefixItems": [{}, TEXT]}, "/1 narrowed (type)", "no", "yes"),
        ({"patternProperties": {"^x-": TEXT}}, {"patternProperties": {"^x-": WHOLE}}, "/^x- changed (type)", "no", "no"),
        # branches
        (obj([], a=MAYBE), obj([], a=WIDE_MAYBE), "/a/s widened (type)", "yes", "no"),
        (obj([], a=MAYBE["anyOf"][0]), obj([], a=MAYBE), "/a widened (anyOf)", "yes", "no"),
        (obj([], a=MAYBE), obj([], a=obj([], s=TEXT)), "/a narrowed (anyOf)", "no", "yes"),
        (
            {"oneOf": [kind("a", x=TEXT), kind("b", x=TEXT)]},
            {"oneOf": [kind("b", x={}), kind("a", x=TEXT)]},
            '/x widened (type, where `k` is "b")\n/ reordered (oneOf)',
            "yes",
            "no",
        ),
        (
            obj([], a=kind("a", x=TEXT)),
            obj([], a={"oneOf": [kind("a", x=TEXT), kind("b", y=TEXT)]}),
            "/a widened (oneOf)",
            "yes",
            "no",
        ),
        (
            obj([], a={**obj([], s=TEXT), "description": "D"}),
            obj([], a={"anyOf": [obj([], s={}), {"type": "null"}], "description": "D", "default": None}),
            "/a/s widened (type)\n/a default (none → null)\n/a widened (anyOf)",
            "yes",
            "no",
        ),
        # recursion
        (tree("U", a=TEXT), tree("V", a=TEXT), "", "yes", "yes"),
        (tree("U", a=WHOLE), tree("V", a={"type": "number"}), "/u/a widened (type)", "yes", "no"),
        (tree("U", a=TEXT), tree("U"), "/u/a removed", "yes", "no"),
        (
            obj([], kids={"items": {"$ref": "#"}}, a=WHOLE),
            obj([], kids={"items": {"$ref": "#"}}, a={}),
            "/a widened (type)",
            "yes",
            "no",
        ),
        # far down
        (
            obj(["o"], o=obj(["l"], l={"type": "array", "items": obj(["n", "s"], n=TEXT, s={**TEXT, "pattern": "^[A-Z]{2}-"})})),
            obj(["o"], o=obj(["l"], l={"type": "array", "items": obj(["n", "s"], n=WHOLE, s={**TEXT, "pattern": "^[A-Z]{2}-"})})),
            "/o/l/*/n changed (type)",
            "no",
            "no",
        ),
    ],
)
def test_changes_are_told_in_the_words_of_a_caller(old: Any, new: Any, changes: str, writers: str, readers: str) -> None:
    found = compare(old, new)
    told = (f"{each.pointer or '/'} {each.what}{f' ({each.detail})' if each.detail else ''}" for each in found.changes)
    assert "\n".join(told) == changes
    assert (found.writers, found.readers) == (writers, readers)


CLOSED: Any = {**obj(["a"], a=TEXT), "additionalProperties": False}


@every_case(
    ("old", "new", "named"),
    [
        (obj(["a"], a=TEXT), obj(["a"], a=TEXT, b=TEXT), False),
        (obj(["a"], a=TEXT), CLOSED, False),
        (obj([], u=obj([], a=TEXT)), obj([], u=obj([], a=TEXT, b=TEXT)), False),
        (obj([], a=MAYBE), obj([], a={"anyOf": [obj([], s=TEXT, t=TEXT), {"type": "null"}]}), False),
        (tree("U", a=TEXT), tree("V", a=TEXT, b=TEXT), False),
        (obj(["a"], a=TEXT), obj(["a", "b"], a=TEXT, b=TEXT), True),
        (obj(["a"], a=TEXT), obj(["a"], a=WHOLE, b=TEXT), True),
        (obj([], a=TEXT), obj([], a={**TEXT, "maxLength": 3}), True),
        (CLOSED, {"type": "object", "properties": {}, "additionalProperties": False}, True),
        # the branches name further properties of the same object, so it is not closed
        ({**obj([], a=TEXT), "anyOf": [obj(["b"], b=TEXT)] * 2}, {**obj([], a=TEXT), "anyOf": [obj(["b"], b=WHOLE)] * 2}, True),
        (
            {**obj([], a=TEXT), "anyOf": [obj(["b"], b=TEXT), obj(["c"], c=TEXT)]},
            {**obj([], a=TEXT), "anyOf": [obj(["b"], b=TEXT, c=WHOLE), obj(["c"], c=TEXT)]},
            True,
        ),
    ],
)
def test_a_change_that_concerns_only_properties_without_a_name_is_told_as_that(old: Any, new: Any, named: Any) -> None:
    found = compare(old, new)
    assert (found.writers, found.refused_named) == ("no", named)


def test_an_optional_property_breaks_who_wrote_what_had_no_name(instrc: Instrc, folder: Path) -> None:
    for name, schema in (("old", obj(["a"], a=TEXT)), ("new", obj(["a"], a=TEXT, b=TEXT))):
        (folder / f"{name}.vibe.json").write_text(json.dumps(schema))
    written = "  those who write by the old schema: breaks only if properties are written that the old schema does not name: {"
    assert written in instrc("diff", "old.vibe.json", "new.vibe.json").out
    read = "  those who read by the old schema: breaks only if properties are read that the new schema does not name: {"
    assert read in instrc("diff", "new.vibe.json", "old.vibe.json").out
    told = json.loads(instrc("diff", "old.vibe.json", "new.vibe.json", "--format", "json").out)
    assert (told["old_instances_accepted"], told["only_unnamed_refused"]) == ("no", True)
    assert instrc("diff", "old.vibe.json", "new.vibe.json", "--check").code == 1


def test_what_refers_to_itself_under_a_keyword_that_turns_it_around_proves_nothing() -> None:
    old, new = (tree("U", a=each, b={"not": {"$ref": "#/$defs/U"}}) for each in (WHOLE, {"type": "number"}))
    assert compare(old, new).writers != "yes"


def test_a_definition_gets_the_name_of_another_that_is_there_too() -> None:
    old = {**obj([], u={"$ref": "#/$defs/A"}), "$defs": {"A": obj([], a={"$ref": "#/$defs/A"})}}
    new: Any = {
        **obj([], u={"$ref": "#/$defs/B"}, v={"$ref": "#/$defs/A"}),
        "$defs": {"A": obj([], t=TEXT, a={"$ref": "#/$defs/A"}), "B": obj([], a={"$ref": "#/$defs/B"})},
    }
    found = compare(old, new)
    assert [(each.pointer, each.what) for each in found.changes] == [("/v", "added")]
    assert (found.writers, found.readers) == ("no", "yes")


def test_two_definitions_that_stand_for_one_of_old_are_both_compared() -> None:
    old = {**obj([], a={"$ref": "#/$defs/X"}, b={"$ref": "#/$defs/X"}), "$defs": {"X": TEXT}}
    new: Any = {**obj([], a={"$ref": "#/$defs/Y"}, b={"$ref": "#/$defs/Z"}), "$defs": {"Y": {"type": "integer"}, "Z": TEXT}}
    found = compare(old, new)
    assert [(each.pointer, each.what, each.detail) for each in found.changes] == [("/a", "changed", "type")]
    assert (found.writers, found.readers) == ("no", "no")


def test_references_with_other_definitions_prove_nothing() -> None:
    old = {"$ref": "#/$defs/x", "$defs": {"x": TEXT}}
    new = {"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}}
    assert compare(old, new).writers != "yes"


def test_versions_and_programs_are_compared(instrc: Instrc, folder: Path) -> None:
    for version, schema in (("1", obj(["a"], a=TEXT)), ("2", obj(["a"], a={**TEXT, "maxLength": 3}))):
        (folder / "schemas" / f"note@{version}.vibe.json").write_text(json.dumps(schema))
    done = instrc("diff", "aug:note:1", "aug:note:2")
    assert (done.code, done.err) == (0, "")
    assert "  /a  narrowed (maxLength)\n" in done.out
    [writers] = [line for line in done.out.splitlines() if "those who write by the old schema: breaks" in line]
    assert json.loads(writers.partition("breaks")[2].partition("{")[1] + writers.partition("{")[2])
    assert "those who read by the old schema: safe" in done.out
    assert instrc("diff", "aug:note:1", "aug:note:2", "--check").code == 1
    assert instrc("diff", "aug:note:1", "aug:note:1", "--check").code == 0
    (folder / "old.aug").write_text("const N = aug:note:1; tool it = N; tool gone = N")
    (folder / "new.aug").write_text("const N = aug:note:2; tool it = N")
    found = json.loads(instrc("diff", "old.aug", "new.aug", "--format", "json").out)
    assert [(each["name"], each.get("export")) for each in found] == [("it", None), ("gone", "removed")]


def test_what_cannot_be_read_is_told(instrc: Instrc) -> None:
    done = instrc("diff", "nothing.json", "aug:nothing")
    assert (done.code, done.out) == (1, "")
    assert "[unreadable-file]" in done.err


def test_an_export_with_another_name_and_the_same_content_is_renamed(instrc: Instrc, folder: Path) -> None:
    (folder / "old.aug").write_text("tool one = Greet(prompt);\ntool two = Answer(prompt) | Greet;")
    (folder / "new.aug").write_text("tool one = Greet(prompt);\ntool three = Answer(prompt) | Greet;")
    done = instrc("diff", "old.aug", "new.aug")
    assert "three:\n  the export was renamed (from `two`)\n" in done.out
    assert "two:" not in done.out
    assert instrc("diff", "old.aug", "new.aug", "--check").code == 1


def test_the_only_export_with_another_name_is_renamed_unless_it_is_named_after_its_file(instrc: Instrc, folder: Path) -> None:
    for name, text in {"old": "tool alpha = Greet", "new": "tool beta = Greet", "a": "Greet", "b": "Greet"}.items():
        (folder / f"{name}.aug").write_text(f"{text}(prompt);")
    renamed = instrc("diff", "old.aug", "new.aug", "--check")
    assert (renamed.code, "the export was renamed (from `alpha`)" in renamed.out) == (1, True)
    assert [instrc("diff", old, new, "--check").code for old, new in (("a.aug", "b.aug"), ("old.aug", "old.aug"))] == [0, 0]
    (folder / "alpha.aug").write_text("tool alpha = Greet(prompt);")
    for old, new in (("alpha.aug", "new.aug"), ("old.aug", "alpha.aug"), ("a.aug", "new.aug")):
        assert instrc("diff", old, new, "--check").code == (old != "old.aug")


def test_what_differs_deeper_than_is_looked_is_a_change_too() -> None:
    old, new = TEXT, {"type": "integer"}
    for _ in range(100):
        old, new = obj([], a=old), obj([], a=new)
    (change,) = compare(old, new).changes
    assert (change.pointer.count("/"), change.what, change.detail) == (60, "changed", "what is deeper")


def project(folder: Path) -> None:
    """Write two programs that share their vibes."""
    (folder / "schemas" / "draft.vibe.json").write_text(json.dumps(obj(["text"], text={**TEXT, "maxLength": 900})))
    (folder / "schemas" / "approve_User.vibe.json").write_text(json.dumps(obj(["yes"], yes={"type": "boolean"})))
    (folder / "tool.aug").write_text("Draft(prompt)")
    (folder / "process.aug").write_text("Draft(prompt) | Approve_User")


def test_a_tool_and_a_process_are_compared_by_their_results(instrc: Instrc, folder: Path) -> None:
    project(folder)
    shown = instrc("diff", "process.aug", "tool.aug").out
    assert "it was a process and is a tool; its result:\n" in shown
    assert "/step2_approve  removed\n" in shown
    assert "who writes" not in shown
    assert instrc("diff", "process.aug", "tool.aug", "--check").code == 1


@pytest.mark.parametrize(("program", "artefact"), [("tool", "tool"), ("process", "process")])
def test_a_program_and_its_own_artefact_do_not_differ(instrc: Instrc, folder: Path, program: str, artefact: str) -> None:
    project(folder)
    instrc("compile", f"{program}.aug", "-o", "out")
    (written,) = (folder / "out").glob(f"*.{artefact}.json")
    for pair in ([str(written), f"{program}.aug"], [f"{program}.aug", str(written)]):
        done = instrc("diff", *pair, "--check")
        assert (done.code, "nothing has changed" in done.out) == (0, True), done.out


def test_long_examples_are_shortened_for_people_and_whole_for_programs(instrc: Instrc, folder: Path) -> None:
    for name, most in (("old", 900), ("new", 100)):
        (folder / f"{name}.vibe.json").write_text(json.dumps(obj(["text"], text={**TEXT, "maxLength": most})))
    shown = instrc("diff", "old.vibe.json", "new.vibe.json").out
    assert '…" (900 characters)}' in shown
    assert max(map(len, shown.splitlines())) < 200
    whole = json.loads(instrc("diff", "old.vibe.json", "new.vibe.json", "--format", "json").out)
    assert len(whole["refused"]["text"]) == 900


def test_each_schema_is_read_in_its_own_draft() -> None:
    more: dict[str, Any] = {"type": "array", "contains": {}, "minContains": 2}
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **more}
    found = compare(old, more)
    assert (found.writers, found.readers) == ("no", "yes")
