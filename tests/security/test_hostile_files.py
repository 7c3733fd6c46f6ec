"""Files of others: opening, checking and formatting them runs nothing, and a small one costs little."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from lsprotocol import types
from serving import go, service

import instrc
from instrc.cli.review_files import deleted  # what the hook of pre-commit asks git
from instrc.compiler.lint.letters import misleading  # one check of a text
from instrc.compiler.lint.review import review  # the checks of one vibe by itself
from instrc.compiler.workspace import OptionOverrides, Workspace  # the checks of an editor
from instrc.language.formatter import format_source  # the layout by itself
from instrc.lsp.completion import completion  # one request of an editor
from instrc.lsp.hints import semantic_tokens  # another one
from instrc.lsp.session import EditorSession, Lines, TextDocument, applied  # the texts of an editor
from instrc.problems.errors import RequestError, SettingsError
from instrc.problems.report import Report
from instrc.problems.text import MisleadingText  # what is told
from instrc.process.process import Process  # what every run reads
from instrc.schema.impossible import impossible_parts  # a part of a check
from instrc.schema.outline import outline  # what a preview shows
from instrc.schema.patterns import time_limit  # of all patterns
from instrc.schema.relations import disjoint  # what a check of a vibe asks
from instrc.schema.samples import sample  # what a comparison tries
from instrc.schema.validation import is_valid, validate  # what every answer and input passes
from instrc.schema.walk import walk  # the parts of a schema, as a check reads them
from instrc.server.studio import Studio  # the room behind its command
from instrc.testing.cases import read_cases  # the reader behind `instrc test`
from instrc.testing.evaluation.checks import CheckedRun, part_of  # what a check reads
from instrc.testing.evaluation.dataset import EvalCase, read_data_set  # the reader behind `instrc eval`
from instrc.testing.evaluation.report import as_junit, as_markdown, tables_of  # what it writes
from instrc.testing.evaluation.results import CaseResult, CheckResult, EvaluationResult, RunFacts  # what it is made of
from instrc.testing.evaluation.variants import _git, at_revision  # what asks git for a revision
from instrc.text.jsontext import dumps
from instrc.text.source import Source
from instrc.tools.python_classes import module, module_parts  # the generator behind `instrc types`
from instrc.vibes.registry import Registry
from instrc.vibes.settings import read_file  # the reader of settings
from instrc.vibes.vibe import Vibe

MODULES = ("instrc", "typer", "msgspec", "json")


def test_no_module_of_a_project_is_imported_by_the_views_of_the_studio(tmp_path: Path) -> None:
    project, trace = tmp_path / "project", tmp_path / "imported"
    project.mkdir()
    (project / "a.aug").write_text("Draft(prompt);\n")
    for name in MODULES:
        (project / f"{name}.py").write_text(f"open({str(trace)!r}, 'w').close()\n")

    async def body() -> None:
        page = Studio(project, service(tmp_path / ".instrc"))
        shown = await page.command("compile", "--sketch", "--", "./a.aug")
        page.close()
        assert shown.code == 0
        assert "Use prompt." in shown.output

    go(body())
    assert not trace.exists()


def _checked(text: str) -> None:
    report = Report()
    Workspace().check(Source("a.aug", text), report)
    assert all(problem.hint != "" for problem in report.problems)


def _formatted(text: str) -> None:
    format_source(Source("a.aug", text), Report())


def _completed(text: str) -> None:
    session = EditorSession()
    completion(session.put("a.aug", text), len(text), session, snippets=False)


def _coloured(text: str) -> None:
    semantic_tokens(TextDocument("a.aug", text, "utf-16"))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_cases, f"## a{' ' * 100_000}b\n"),
        (read_cases, "## a\n" + "```json answer\n" * 20_000),
        (read_cases, "## a\n" * 50_000),
        (_checked, f"// {'a' * 100_000}\nconst b = Letter(prompt)@2\n"),
        (_checked, "a." * 20_000 + "a"),
        (_formatted, "/* x */ " * 10_000),
        (_completed, '"' + '\\"' * 20_000 + "\\"),
        (_completed, "null" * 1_250),
        (_coloured, "\U0001d400)" * 8_000),
        (lambda text: [*misleading(Source("a.aug", text))], " ".join(f"a\u0441{number}" for number in range(60_000))),
    ],
    ids=["heading", "fences", "headings", "comment", "path", "comments", "quotes", "word", "line", "letters"],
)
def test_a_text_of_one_thing_repeated_is_read_in_one_pass(read: Callable[[str], object], text: str) -> None:
    start = process_time()
    read(text)
    assert process_time() - start < 1


def test_settings_behind_many_lines_are_read_in_one_pass(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("\n" * 100_000)
    start = process_time()
    assert read_file(file).file == file
    assert process_time() - start < 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_of_a_line_are_counted_in_its_units(encoding: str) -> None:
    text = "aé\U0001d400\ud800b\r\nя\U0001d400"
    lines = Lines(Source("a.aug", text), encoding)
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    for offset in range(len(text) + 1):
        line, column = lines.place(offset)
        before = text[:offset].rpartition("\n")[2]
        assert (line, column) == (text.count("\n", 0, offset), len(before.encode(codec, "surrogatepass")) // width)


def test_a_form_of_a_program_that_nests_too_deeply_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.aug").write_text('@{ title: "A", type: "object" };\n')
    head = "".join(f'{name} = "a"\n' for name in ("export", "model", "program", "data", "date"))
    (tmp_path / "a.tuned.toml").write_text(f"{head}[form.values]\na = ['{'[' * 100_000}']\n")
    report = Report()
    Workspace().compile(str(tmp_path / "a.aug"), OptionOverrides(), report)
    assert [problem.name for problem in report.problems] == ["not-tuned"]


def _node(word: str) -> dict[str, Any]:
    members = {"op": {"const": word}, "of": {"type": "array", "items": {"$ref": "#/$defs/node"}}}
    return {"type": "object", "properties": members, "required": ["op", "of"]}


LEAF = {"type": "object", "properties": {"op": {"const": "is"}, "v": {"type": "string"}}, "required": ["op", "v"]}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [_node("and"), _node("or"), LEAF]}}}
TOOL = {"type": "object", "properties": {"filter": {"$ref": "#/$defs/node"}}, "$defs": TREE["$defs"]}


@pytest.mark.parametrize("leaf", ["x", 1])
def test_a_value_of_a_recursive_union_is_checked_in_one_pass(leaf: object) -> None:
    value: Any = {"op": "is", "v": leaf}
    for _ in range(100):
        value = {"op": "or", "of": [value]}
    start = process_time()
    found = [(each.instance, each.keyword) for each in validate(value, TREE)]
    lifted = instrc.lift({"filter": value}, instrc.lower(TOOL, "mcp").map)
    assert process_time() - start < 1
    assert found == ([] if leaf == "x" else [("/of/0" * 100 + "/v", "type")])
    assert [each.instance for each in lifted.invalid] == ([] if leaf == "x" else ["/filter" + "/of/0" * 100 + "/v"])


def _doubled(leaf: Any, word: str) -> dict[str, Any]:
    both = {f"a{level}": {word: [{"$ref": f"#/$defs/a{level - 1}"}] * 2} for level in range(1, 60)}
    return {"$ref": "#/$defs/a59", "$defs": {"a0": leaf, **both}}


@pytest.mark.parametrize("word", ["anyOf", "allOf", "oneOf"])
def test_doubled_references_cost_no_more_than_single_ones(word: str) -> None:
    items = {**_doubled({"type": "array", "prefixItems": [True]}, word), "unevaluatedItems": False}
    members = {**_doubled({"type": "object", "properties": {"a": True}}, word), "unevaluatedProperties": False}
    start = process_time()
    for value in ("a", 1, None):
        assert {each.keyword for each in validate(value, _doubled({"type": "boolean"}, word))} == {
            word if word != "allOf" else "type"
        }
    for value, schema in (([1, 2], items), ({"a": 1, "b": 2}, members)):
        assert validate(value, schema)
    assert process_time() - start < 2


ALONE: Any = {"pattern": r"(?<!\w)password(?!\w)"}


@pytest.mark.parametrize(
    "schema",
    [
        {"not": ALONE},
        {"if": ALONE, "then": False},
        {"oneOf": [True, ALONE]},
        {"not": {"not": {"not": ALONE}}},
        {"not": {"pattern": "("}},
    ],
)
def test_what_a_part_forbids_is_not_accepted_where_its_search_is_undecided(schema: Any) -> None:
    """The part refuses a text whose search takes too long, which `not` and others would take for the contrary."""
    long = f"a password b{'x' * 100_001}"
    assert [each.message[-30:] for each in validate(long, schema)]
    assert not is_valid(long, schema)
    assert not validate({"text": "a"}, {"additionalProperties": {"not": ALONE}})


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [ALONE, {"type": "string"}]},
        {"anyOf": [{"type": "string"}, ALONE]},
        {"not": {"allOf": [ALONE, {"const": "a"}]}},
        {"not": {"allOf": [{"const": "a"}, ALONE]}},
        {"oneOf": [{"allOf": [ALONE, {"const": "a"}]}, True]},
        {"if": {"allOf": [ALONE, {"const": "a"}]}, "then": False},
        {"$defs": {"a": {"anyOf": [ALONE, True]}}, "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]},
    ],
)
def test_an_undecided_search_refuses_nothing_that_does_not_depend_on_it(schema: Any) -> None:
    assert not validate(f"a password b{'x' * 100_001}", schema)


@pytest.mark.parametrize("several", [{"not": {"anyOf": [ALONE]}}, {"not": {"$ref": "#/$defs/a"}, "$defs": {"a": ALONE}}])
def test_an_undecided_search_that_was_of_no_account_counts_where_it_is(several: Any) -> None:
    schema = {"anyOf": [{"$ref": "#/$defs/a"}, True], "allOf": [several], "$defs": {"a": ALONE}}
    assert validate(f"a password b{'x' * 100_001}", schema)


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf", "if", "then", "contains"])
def test_parts_within_parts_are_asked_once_what_they_evaluate(word: str) -> None:
    """Each level asked the one below twice, so that 40 levels of 1.6 KB never ended."""
    schema: Any = {"prefixItems": [True], "properties": {"a": True}}
    for _ in range(60):
        inner = {word: [schema]} if word.endswith("Of") else {"if": True, "then": schema} if word == "then" else {word: schema}
        schema = {**inner, "unevaluatedProperties": False, "unevaluatedItems": False}
    start = process_time()
    assert validate({"b": 1}, schema)
    validate([[[[1]]]], schema)
    assert process_time() - start < 2


def _unions(outer: int, inner: int) -> Any:
    nulls = ({"anyOf": [{"type": "null"} for _ in range(inner)]} for _ in range(outer))
    return {"items": {"anyOf": [*nulls, {"type": "object"}]}}


def test_unions_of_very_many_branches_within_others_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of sixty objects was compared with 90,000 branches."""
    found = validate([{} for _ in range(60)], _unions(300, 300))
    assert [(each.instance, each.keyword) for each in found] == [("", "schema")]
    assert "takes too long" in found[0].message
    assert not validate([{} for _ in range(100)], _unions(1_000, 1))
    monkeypatch.setattr("instrc.schema.validation.CHECKS", 5_000)
    assert validate([{} for _ in range(60)], {"not": _unions(30, 30)})
    assert not is_valid([{} for _ in range(60)], {"not": {"not": _unions(30, 30)}})


MANY: Any = [f"p{number}x{number}" for number in range(8_000)]
ASKED_FOR: Any = {"type": "object", "properties": {name: {} for name in MANY}, "required": MANY}


def test_very_many_required_names_are_looked_up() -> None:
    start = process_time()
    assert sample(ASKED_FOR)
    assert outline(ASKED_FOR)
    assert process_time() - start < 2


def test_very_many_required_names_are_compared_with_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many schemas was compared with itself by all names that it requires."""
    monkeypatch.setattr("instrc.schema.relations.EVALUATIONS_IN_ALL", 5_000)
    parts = {f"q{number}": {"allOf": [{"$ref": "#/$defs/a"}, {"minProperties": number}]} for number in range(100)}
    schema: Any = {"properties": parts, "$defs": {"a": ASKED_FOR}}
    start = process_time()
    assert not list(impossible_parts(schema, [*walk(schema)]))
    assert process_time() - start < 2


def test_a_sample_holds_some_names_against_very_many_patterns() -> None:
    patterns: Any = {f"^p{number}.*x{number}$": {"type": "string"} for number in range(1_500)}
    names: Any = [f"p{number}x{number}" for number in range(1_500)]
    start = process_time()
    sample({"type": "object", "patternProperties": patterns, "additionalProperties": False, "required": names})
    assert process_time() - start < 3


ITEMS: Any = {"type": "array", "allOf": [{"contains": {"const": number}} for number in range(600)]}
CROSSED: Any = [{"oneOf": [{"properties": {f"a{i}": {"const": j}}} for j in range(10)]} for i in range(30)]


@pytest.mark.parametrize("schema", [{"properties": {"a": ITEMS}, "required": ["a"]}, {"allOf": CROSSED}], ids=["items", "oneOf"])
def test_a_sample_of_very_many_parts_is_given_up(schema: Any) -> None:
    start = process_time()
    sample({"type": "object", **schema})
    assert process_time() - start < 3


@pytest.mark.long
def test_very_many_names_beside_very_many_patterns_are_held_against_some() -> None:
    names, patterns = ({f"{letter}{number}": {} for number in range(3_000)} for letter in "ab")
    start = process_time()
    found = validate(names, {"patternProperties": patterns, "additionalProperties": False}, most=10)
    assert process_time() - start < 8
    assert "takes too long on this text" in found[0].message


ROOT: Any = {"type": "object", "properties": {f"p{number}": {"$ref": "#"} for number in range(3_000)}}
HOPS: Any = {"$ref": "#/$defs/d0", "$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(5_000)} | {"d5000": {}}}
CLOSED: Any = {
    "allOf": [{"properties": {f"z{number}": {}}, "additionalProperties": False} for number in range(3_000)],
    "anyOf": [{"properties": {f"m{number}": {} for number in range(3_000)}}],
}

CHAIN: Any = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}], "properties": {f"p{i}": {}}} for i in range(1_500)}
ALL_OF: Any = {"$ref": "#/$defs/d0", "$defs": CHAIN | {"d1500": {}}}


@pytest.mark.parametrize("schema", [ROOT, HOPS, CLOSED, ALL_OF], ids=["root", "hops", "closed", "allOf"])
def test_schemas_that_are_at_many_places_are_reviewed_in_few(schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.compiler.lint.required.EXAMINED_PARTS", 30_000)
    monkeypatch.setattr("instrc.schema.impossible.PAIRS_IN_ALL", 2_000)
    report = Report()
    start = process_time()
    review(Vibe("aug:x", "x", Source("x.vibe.json", json.dumps(schema)), schema, ""), Registry(), report)
    assert process_time() - start < 3


def _reviewed(schema: Any) -> Report:
    report = Report()
    review(Vibe("aug:x", "x", Source("x.vibe.json", json.dumps(schema)), schema, ""), Registry(), report)
    return report


def _referring(count: int, beside: Callable[[int], Any] = lambda _: {}, **definitions: Any) -> Any:
    """Return a schema with very many references to one definition, or to two."""
    references = [{"$ref": f"#/$defs/{name}"} for name in definitions]
    properties = {f"p{number}": {"allOf": [*references, beside(number)]} for number in range(count)}
    return {"type": "object", "properties": properties, "$defs": definitions}


VALUES: Any = [f"v{number}" for number in range(20_000)]
MANY: Any = {f"n{number}": {} for number in range(10_000)}


@pytest.mark.parametrize(
    "schema",
    [
        _referring(2_000, a={"enum": VALUES}),
        _referring(2_000, lambda number: {"minLength": number}, a={"enum": VALUES}),
        _referring(2_000, lambda number: {"minLength": number}, a={"enum": VALUES}, b={"enum": VALUES[::-1]}),
        _referring(2_000, lambda number: {"description": f"{number}"}, a={"description": "a " * 200_000}),
        _referring(4_000, lambda number: {"minProperties": number}, a={"properties": MANY, "required": [*MANY]}),
        _referring(2_000, lambda _: False, a={"allOf": [{"minLength": number} for number in range(10_000)]}),
        _referring(2_000, a={"const": "a" * 400_000}),
        _referring(2_000, a={"properties": {"a" * 400_000: {}}}),
    ],
    ids=["enum", "narrowed", "two enums", "description", "properties", "false", "const", "name"],
)
def test_data_at_very_many_places_is_told(schema: Any) -> None:
    start = process_time()
    with pytest.raises(instrc.CompileError, match="the flat schema has over 100,000 schemas"):
        instrc.flatten(schema, limit=100_000)
    assert process_time() - start < 2


def test_resources_in_a_ring_with_anchors_of_their_own_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrc.schema.references.MERGED_ANCHORS", 50_000)
    ring = {
        f"d{number}": {
            "$id": f"https://example.org/{number}",
            "$dynamicAnchor": f"a{number}",
            "properties": {"x": {"$ref": f"https://example.org/{(number + 1) % 1_000}"}},
        }
        for number in range(1_000)
    }
    with pytest.raises(instrc.CompileError, match="over 50,000 dynamic anchors"):
        _reviewed({"properties": {"a": {"$ref": "https://example.org/0"}}, "$defs": ring})


ALIKE: Any = {f"q{number}": {"properties": {"a": {}}} for number in range(2_000)}


@pytest.mark.parametrize(
    ("references", "properties", "told"),
    [
        ([f"#b{number}" for number in range(4_000)], {}, "unresolved-reference"),
        (["#a"] * 4_000, ALIKE, "ambiguous-fragment"),
        (["#q0"] * 4_000, ALIKE, None),
    ],
    ids=["none", "several", "one"],
)
def test_very_many_references_by_name_are_looked_up_in_one_pass(references: list[str], properties: Any, told: str | None) -> None:
    referring = {f"p{number}": {"$ref": reference} for number, reference in enumerate(references)}
    start = process_time()
    report = _reviewed({"properties": {**referring, **properties}})
    assert process_time() - start < 3
    assert [problem.name for problem in report.problems] == ([told] * 100 + ["further-problems"] if told else [])


def test_steps_without_a_common_multiple_are_compared_with_some() -> None:
    start = process_time()
    instrc.flatten({"allOf": [{"multipleOf": number} for number in range(3, 20_000, 2)]})
    assert process_time() - start < 2


def test_patterns_are_read_in_the_time_of_a_sample() -> None:
    texts = {f"p{number}": {"format": "date-time", "pattern": f"^{number}"} for number in range(4_000)}
    start = process_time()
    sample({"type": "object", "properties": texts})
    assert process_time() - start < 2


def test_rings_of_references_that_are_multiplied_are_told() -> None:
    rings = {
        f"{name}{number}": {"items": {"$ref": f"#/$defs/{name}{(number + 1) % size}"}}
        for name, size in (("a", 300), ("b", 301))
        for number in range(size)
    }
    both = [{"$ref": f"#/$defs/{name}0"} for name in "ab"]
    with pytest.raises(instrc.CompileError, match="over 100,000 schemas"):
        instrc.flatten({"allOf": both, "$defs": rings}, limit=100_000)


def test_listed_values_are_held_against_some_branches() -> None:
    lists: Any = [{"anyOf": [{"enum": [f"{k}{i}_{j}" for j in range(400)]} for i in range(60)]} for k in "ab"]
    start = process_time()
    disjoint({}, {"allOf": lists})
    instrc.flatten({"allOf": lists})
    assert process_time() - start < 2


def test_a_long_constant_is_compared_with_others_in_one_pass() -> None:
    left, right = ({"const": {"k": [*range(50_000)]}} for _ in "ab")
    alike: Any = {"anyOf": [{**left, "title": f"{number}"} for number in range(100)]}
    start = process_time()
    assert not disjoint(alike, {"allOf": [right, {"not": {"const": 1}}]})
    assert process_time() - start < 2


def test_steps_that_refer_to_one_large_schema_very_often_are_told() -> None:
    large = {"type": "object", "properties": {f"n{number}": {} for number in range(4_000)}}
    steps = {f"step{number}_a": {"$ref": "#/$defs/large"} for number in range(4_000)}
    document = {"properties": {"llmContext1": {"type": "object", "properties": steps}}, "$defs": {"large": large}}
    start = process_time()
    with pytest.raises(instrc.CompileError, match="its steps refer to schemas of over 20,000,000 characters"):
        Process.from_json(document)
    assert process_time() - start < 2


@pytest.mark.parametrize("count", [4_000, 20_000])
def test_classes_of_very_many_definitions_cost_little(count: int) -> None:
    chain: Any = {f"d{i}": {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{(i + 1) % count}"}}} for i in range(count)}
    start = process_time()
    with pytest.raises(instrc.CompileError, match="over the limit of 5,000"):
        module("a", module_parts({"a": ({"a": {"$defs": chain}}, {"$defs": chain})}))
    assert process_time() - start < 2


def test_an_outline_of_alternatives_that_nest_deeply_ends() -> None:
    part: Any = {"type": "string"}
    for _ in range(2_000):
        part = {"anyOf": [part, {"type": "null"}]}
    [line] = outline({"properties": {"a": part}})
    assert line.startswith("a?: any")


def test_a_program_of_very_many_words_and_signs_is_told() -> None:
    source, reports = Source("a.aug", "A(prompt);\n" * 30_000), (Report(), Report())
    start = process_time()
    Workspace().check(source, reports[0])
    assert format_source(source, reports[1]) is None
    assert process_time() - start < 2
    for report in reports:
        assert [problem.message for problem in report.problems] == ["the source has over 100,000 words and signs"]


def test_two_long_lists_of_values_are_compared_in_one_pass() -> None:
    left, right = ([f"{name}{number}" for number in range(10_000)] for name in "ab")
    lists: Any = [{"enum": left}, {"enum": right}]
    start = process_time()
    assert disjoint({"type": "string", "enum": left}, {"allOf": lists})
    assert process_time() - start < 1


def test_names_beside_many_branches_are_checked_in_one_pass(tmp_path: Path) -> None:
    names, branches = [f"a{number}" for number in range(6_000)], [{"maxProperties": number} for number in range(6_000)]
    text = json.dumps({"type": "object", "properties": {"a": True}, "required": names, "allOf": branches})
    (tmp_path / "a.vibe.json").write_text(text)
    start = process_time()
    Workspace().check(str(tmp_path / "a.vibe.json"), Report())
    assert process_time() - start < 3


def test_very_many_texts_that_are_patterns_are_read_within_the_time_for_all() -> None:
    """Each takes a moment: a body of eight kilobytes took forty seconds."""
    start = process_time()
    with time_limit(0.3):
        found = validate([f"(?=(a+)+${number})(b{{900}}){{200}}" for number in range(300)], {"items": {"format": "regex"}})
    assert process_time() - start < 1.5
    assert {each.message[-16:] for each in found} == {'is not a "regex"'}


def test_an_object_that_is_used_twice_has_a_violation_at_each_of_its_places() -> None:
    wrong: Any = {"op": "or", "of": [{"op": "is", "v": 1}]}
    found = validate([wrong, wrong, {"op": "and", "of": [wrong]}], {"items": {"$ref": "#/$defs/node"}, "$defs": TREE["$defs"]})
    assert [each.instance for each in found] == ["/0/of/0/v", "/1/of/0/v", "/2/of/0/of/0/v"]


@pytest.mark.parametrize(
    "part",
    [
        {"enum": [f"v{i}" for i in range(60_000)]},
        {"anyOf": [{"maxLength": i} for i in range(2_000)]},
        {"properties": {"x" * 400_000: {}}},
        {"allOf": CROSSED},
    ],
    ids=["enum", "anyOf", "name", "allOf"],
)
def test_classes_that_take_a_generator_minutes_are_refused(part: Any) -> None:
    start = process_time()
    with pytest.raises(instrc.CompileError, match="over the limit of 5,000"):
        module("a", {"A": {"type": "object", "properties": {"a": part}}})
    assert process_time() - start < 2


def test_equal_values_at_two_places_have_a_violation_each() -> None:
    schema: Any = {"items": {"$ref": "#/$defs/node"}, "$defs": TREE["$defs"]}
    wrong = validate([{"op": "is", "v": 1}, {"op": "is", "v": 1}, 1, 1], schema)
    assert [each.instance for each in wrong] == ["/0/v", "/1/v", "/2", "/3"]


def test_a_reference_that_leads_to_itself_ends() -> None:
    found = validate({}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})
    assert [each.message for each in found] == ["the schema cannot be applied: it is cyclic, or is nested too deeply"]


@pytest.mark.parametrize("ask", [deleted, lambda: _git(Path(), "HEAD", "rev-parse", "HEAD")])
def test_git_is_told_to_fetch_nothing_and_to_run_no_hook(
    ask: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of these an installed git knows depends on its release, so what it is told is asked here."""
    git = tmp_path / "git"
    git.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\nenv > {tmp_path}/environment\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    ask()
    words = (tmp_path / "words").read_text()
    for option in ("safe.bareRepository=explicit", "core.fsmonitor=false", "core.hooksPath=/dev/null", "fetch.bundleURI="):
        assert f"-c {option} " in words
    assert {"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="} <= {*(tmp_path / "environment").read_text().splitlines()}


_SETTINGS = """
[core]\nfsmonitor = {0}\nsshCommand = {0}\npager = {0}\neditor = {0}\naskPass = {0}\ngitProxy = {0}\nhooksPath = hooks
alternateRefsCommand = {0}\n[pager]\ndiff = {0}\ndiff-index = {0}\nrev-parse = {0}\nls-tree = {0}\ncat-file = {0}
[diff]\nexternal = {0}\nsubmodule = diff\n[diff "x"]\ncommand = {0}\ntextconv = {0}\nbinary = true
[filter "x"]\nclean = {0}\nsmudge = {0}\nprocess = {0}\nrequired = true\n[gpg]\nprogram = {0}\n[log]\nshowSignature = true
[alias]\ndiff = !{0}\ndiff-index = !{0}\nrev-parse = !{0}\nls-tree = !{0}\ncat-file = !{0}\n[credential]\nhelper = !{0}
[submodule "s"]\nupdate = !{0}\nrecurse = true\n[status]\nsubmoduleSummary = true\n[include]\npath = more
"""
_HOOKS = ("reference-transaction", "post-index-change", "post-checkout", "fsmonitor-watchman", "pre-auto-gc")


def _git_here(*words: str) -> str:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    return subprocess.run([*git, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a repository with two programs, of which the next commit deletes `b.aug`; it is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("a.aug").write_text('@{ title: "A", type: "object" }\n')
    Path("b.aug").touch()
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"], ["rm", "-q", "--cached", "b.aug"]):
        _git_here(*words)
    return tmp_path


def test_git_runs_no_command_of_a_repository(repository: Path) -> None:
    """Each setting that names a command names one here, as does an included file, and each hook that reading could run."""
    command = repository / "command"
    command.write_text(f"#!/bin/sh\ntouch {repository}/run\n")
    command.chmod(0o755)
    for folder in (Path("hooks"), Path(".git/hooks")):
        for hook in _HOOKS:
            folder.mkdir(exist_ok=True)
            (folder / hook).symlink_to(command)
    Path(".gitattributes").write_text("* diff=x filter=x\n")
    hooks = "".join(f'[hook "{name}-x"]\nevent = {name}\ncommand = {command}\n' for name in _HOOKS)
    Path(".git/more").write_text(_SETTINGS.format(command).replace("[include]", "[x]") + hooks)
    with Path(".git/config").open("a") as config:
        config.write(_SETTINGS.format(command))
    Path("a.aug").write_text('@{ title: "B", type: "object" }\n')  # so that comparing it with the index would call for the filter
    assert deleted() == ["b.aug"]
    assert at_revision("a.aug", "HEAD").document["title"] == "A"
    assert not Path("run").exists()


def test_settings_of_diffs_do_not_hide_deleted_files(repository: Path) -> None:
    _git_here("config", "diff.orderFile", str(repository / "missing"))
    assert deleted() == ["b.aug"]


@pytest.mark.parametrize("ask", [deleted, lambda: _git(Path(), "HEAD", "cat-file", "-p", "HEAD^{tree}")])
@pytest.mark.usefixtures("repository")
def test_git_fetches_nothing_whatever_a_repository_allows(ask: Callable[[], object]) -> None:
    """Neither from a remote with a command of its own, nor a bundle, whose branches run a hook (git 2.40 and later)."""
    tree = _git_here("rev-parse", "HEAD^{tree}")
    _git_here("bundle", "create", "-q", ".git/b", "--all")
    Path(".git/objects", tree[:2], tree[2:]).unlink()
    hook = Path(".git/hooks/reference-transaction")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch run\n")
    hook.chmod(0o755)
    settings = '[extensions]\npartialClone = o\n[remote "o"]\npromisor = true\nuploadpack = touch run;\nurl = file:///\n'
    with Path(".git/config").open("a") as config:
        config.write(f'{settings}[protocol "file"]\nallow = always\n[fetch]\nbundleURI = {Path(".git/b").resolve()}\n')
    with suppress(SettingsError):
        ask()
    assert not Path("run").exists()


def test_a_root_that_is_a_link_to_very_many_folders_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, project = tmp_path / "disk", tmp_path / "project"
    for name in range(30):
        (disk / str(name)).mkdir(parents=True)
    project.mkdir()
    (project / "schemas").symlink_to(disk)
    (project / "a.aug").write_text("Draft(prompt);\n")
    monkeypatch.setattr("instrc.vibes.roots.ROOT_FOLDERS", 20)
    report = Report()
    Workspace().check(str(project / "a.aug"), report)
    assert [problem.message for problem in report.problems] == [f"the root `{project}/schemas` has over 20 folders"]
    with pytest.raises(instrc.CompileError, match="over 20 folders"):
        Workspace().files(str(project / "a.aug"))()


@pytest.mark.parametrize("data", [".", "elsewhere"])
def test_a_data_set_names_no_program_of_another_project(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of that project name functions that would be run, wherever the data set itself lies."""
    other, project = tmp_path / "project" / "elsewhere", tmp_path / "project"
    other.mkdir(parents=True)
    monkeypatch.chdir(project)
    (project / "pyproject.toml").write_text("[tool.instrc]\n")
    (project / "a.aug").write_text('@{ title: "A", type: "object" }\n')
    (other / "pyproject.toml").write_text('[tool.instrc]\npython = ["evil"]\n[tool.instrc.checks]\nJudge = "evil:check"\n')
    (other / "evil.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()\ndef check(value): return None\n")
    answer = 'properties: { why: { type: "string" }, pass: { type: "boolean" } }, required: ["why", "pass"]'
    (other / "judge.aug").write_text(f'@{{ title: "Judge", type: "object", {answer} }}\n')
    named = str(other / "judge.aug")
    file = project / data / "a.eval.jsonl"
    file.write_text(json.dumps({"checks": {"c": {"check": "judge", "judge": named}}}) + '\n{"id": "1", "input": "x"}\n')
    with pytest.raises(instrc.CompileError, match="belongs to another project than the program"):
        instrc.evaluate(Path("a.aug"), str(file), model="sample")
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    "head",
    [
        {"checks": {f"c{number}": "equal" for number in range(2_000)}},
        {"min": {f"c{number}": 0.5 for number in range(2_000)}},
        {"tags": [f"t{number}" for number in range(2_000)]},
        {"expected": {f"m{number}": 1 for number in range(2_000)}},
        {"weight": 1e308},
        {"id": 10**5_000, "tags": "a", "weight": 0},
    ],
    ids=["checks", "rates", "tags", "members", "weight", "digits"],
)
def test_a_data_set_with_too_much_of_one_thing_is_told(head: dict[str, Any], tmp_path: Path) -> None:
    """Each row of the report costs a pass over all cases, and weights that are too large have no sum."""
    is_case = not head.keys() & {"checks", "min"}
    lines = [{"id": "1", "input": "x", **head}] if is_case else [head, {"id": "1", "input": "x"}]
    file, report = tmp_path / "a.eval.jsonl", Report()
    file.write_text("".join(f"{dumps(line, indent=False)}\n" for line in lines))
    assert read_data_set(str(file), report) is None
    assert {problem.name for problem in report.problems} == {"invalid-data-set"}


def test_a_place_of_very_many_digits_is_missing() -> None:
    case = EvalCase(id="1", input="x")
    with pytest.raises(LookupError, match="there is no"):
        part_of(CheckedRun(case=case, run=RunFacts(value={"a": [1]})), f"a.{'1' * 5_000}")


def test_the_reports_of_an_evaluation_show_what_they_are_made_of() -> None:
    """Names of checks and cases are those of a file: they neither steer a terminal, nor form a page, nor break its reader."""
    hostile = "\x1b[31m\u202e\U000e0041 [a](https://example.org) @team `x` </td>"
    check = CheckResult(name=hostile, score=0.0, passed=False, reason=hostile)
    result = CaseResult(case=hostile, checks=(check,), tags=(hostile, hostile))
    found = EvaluationResult(program="\x1b\udc80.aug", results=(result,), cases=1)
    told = as_markdown(found, [f"`{hostile}` is not calibrated"], tables_of(found))
    assert not {*told} & {"\x1b", "\u202e", "\U000e0041"}
    assert not [word for word in ("[a](", "</td>", "@team") if word in told]
    assert ET.fromstring(as_junit([found]).encode()).tag == "testsuites"  # noqa: S314  -- ours


def test_a_pipe_in_a_project_does_not_stop_the_studio(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.aug")

    async def body() -> None:
        page = Studio(tmp_path, service(tmp_path / ".instrc"))
        with pytest.raises(RequestError, match="it is a pipe"):
            await page._write({"path": "a.aug", "text": ""})
        page.close()

    go(body())


def test_many_small_edits_of_a_long_text_are_applied_in_one_pass() -> None:
    place = types.Range(types.Position(2_000, 1), types.Position(2_000, 1))
    text, start = "\U0001d400 a line\n" * 10_000, process_time()
    made = applied(text, [types.TextDocumentContentChangePartial(place, "x") for _ in range(3_000)], "utf-16")
    assert process_time() - start < 1
    assert len(made) == len(text) + 3_000


@pytest.mark.parametrize("name", ["a.aug", "a.vibe.json"])
@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("An\u202eswer", "U+202E is not seen"),
        ("Answer\U000e0041", "U+E0041 is not seen"),
        ("\u0410nswer", "in `\u0410nswer`, `\u0410` in it is Cyrillic (U+0410) and only looks like `A`"),
        ("\u0410\u041e", "in `\u0410\u041e`, it only looks like `AO`"),
    ],
    ids=["order", "tag", "letter", "word"],
)
def test_letters_that_are_not_seen_or_look_like_others_are_told(name: str, title: str, said: str, tmp_path: Path) -> None:
    written = {"title": title, "type": "object", "description": "AO"}
    (tmp_path / name).write_text(f"{'@' if name == 'a.aug' else ''}{json.dumps(written, ensure_ascii=False)}\n")
    report = Report()
    Workspace().check(str(tmp_path / name), report)
    assert [problem.signs for problem in report.problems if isinstance(problem, MisleadingText)] == [said]


@pytest.mark.parametrize(
    "title", ["Составить_User", "\u0627\u0644\u0631\u062f", "Réponse", "\U0001f469\u200d\U0001f4bb", "Ответ"]
)
def test_other_scripts_mislead_nobody(title: str) -> None:
    report = Report()
    Workspace().check(Source("a.aug", f'@{{ title: "{title}", type: "object" }}\n'), report)
    assert not [problem for problem in report.problems if isinstance(problem, MisleadingText)]


@pytest.mark.parametrize(("said", "found"), [("Одно, а потом другое с а", 0), ("a, а b", 1), ("и А", 0), ("а", 1)])
def test_a_letter_among_words_of_its_script_is_one(said: str, found: int) -> None:
    assert len([*misleading(Source("a.aug", f'// a c A\n"{said}" | Draft'))]) == found


_LOOKED_UP = "input letter; input secret; const found = LookUp_Activity(letter); const a = Draft(found); Send_Activity(a, secret)"
_ENGINE_WORDS: dict[str, Any] = {
    "plan": {"tools": {"pay": {"activity": "Pay_Activity", "arguments": {"type": "object"}, "output": {}}}},
    "among": "secret",
    "fail": True,
    "delay": "P1D",
    "within": "PT0.001S",
    "after": ["step9_nothing"],
    "activity": "Pay_Activity",
    "arguments": "secret",
    "references": ["secret"],
}


@pytest.mark.parametrize("word", _ENGINE_WORDS)
@pytest.mark.parametrize("held", ["beside", "all", "reference", "property"])
def test_a_vibe_has_no_word_for_the_engine(word: str, held: str) -> None:
    """With `plan`, what an activity is given would be a plan of calls of any other one."""
    said = {word: _ENGINE_WORDS[word]}
    elsewhere: dict[str, dict[str, Any]] = {
        "all": {"allOf": [said]},
        "reference": {"$ref": "#/$defs/said", "$defs": {"said": said}},
        "property": {"allOf": [{"properties": {"text": {"type": "string", **said}}}]},
    }
    beside = elsewhere.get(held, said)
    model = instrc.Scripted({"draft": {"text": "hi"}})
    called: list[str] = []

    def calls(name: str) -> Callable[[Any], object]:
        return lambda _given: called.append(name)

    run = instrc.run(
        _LOOKED_UP,
        {"letter": [{"tool": "pay", "id": "p", "arguments": {}}], "secret": ["a secret"]},
        vibes={"LookUp_Activity": beside, "Draft": {"properties": {"text": {"type": "string"}}, **beside}, "Send_Activity": {}},
        activities={name: calls(name) for name in ("LookUp_Activity", "Pay_Activity", "Send_Activity")},
        model=model,
    )
    assert run.status == "done", run.outcome
    assert called == ["LookUp_Activity", "Send_Activity"]
    assert "a secret" not in str([(asked.message, asked.schema) for asked in model.sent])


@pytest.mark.parametrize("word", ["references", "among"])
def test_a_part_of_a_vibe_reads_nothing_of_the_program(word: str) -> None:
    """A model, perhaps that of another provider, reads what the program gives it."""
    model = instrc.Scripted({"draft": {"text": "hi"}})
    instrc.run(
        "const found = LookUp_Activity(prompt); Draft(found)",
        ["a secret"],
        vibes={
            "LookUp_Activity": {},
            "Draft": {"type": "object", "properties": {"text": {"type": "string", word: _PROMPT[word]}}},
        },
        activities={"LookUp_Activity": lambda _given: "found"},
        model=model,
    )
    assert [("a secret" in asked.message, "a secret" in str(asked.schema)) for asked in model.sent] == [(False, False)]


@pytest.mark.parametrize("word", ["plan", "fail", "delay", "within", "after", "activity"])
@pytest.mark.parametrize("batch", [1, 2])
def test_a_vibe_by_itself_has_no_word_for_the_engine(tmp_path: Path, word: str, batch: int) -> None:
    said: dict[str, Any] = {word: _ENGINE_WORDS[word]}
    path = tmp_path / "letter.vibe.json"
    path.write_text(json.dumps({"type": "object", "properties": {"text": {"type": "string", **said}}, **said}))
    made: Any = instrc.compile(path, batch=batch, report=instrc.Report())[0]
    letters = list(made["properties"].values()) if batch > 1 else [made]
    assert all(each["properties"] == {"text": {"type": "string"}} and word not in each for each in letters)


_PROMPT: dict[str, Any] = {"references": ["prompt"], "among": "prompt"}


@pytest.mark.parametrize("word", _ENGINE_WORDS)
@pytest.mark.parametrize(
    ("held", "root"), [("beside", "written"), ("property", "written"), ("beside", "pointed"), ("beside", "all")]
)
def test_a_process_written_by_hand_has_no_word_of_a_vibe_for_the_engine(tmp_path: Path, word: str, held: str, root: str) -> None:
    """A vibe that it refers to by `$ref` may be of others."""
    said = {word: _ENGINE_WORDS[word]}
    text = {"type": "string", **(said if held == "property" else {})}
    other = {"type": "object", "properties": {"text": text}, **(said if held == "beside" else {})}
    step = {"$ref": "aug:other", "references": ["prompt"]}
    process = {
        "type": "object",
        "properties": {"llmContext1": {"type": "object", "properties": {"draft": step}, "required": ["draft"]}},
        "required": ["llmContext1"],
    }
    (tmp_path / "pyproject.toml").write_text('[tool.instrc]\nroots = ["."]\n')
    (tmp_path / "other.vibe.json").write_text(json.dumps(other))
    path = tmp_path / "by-hand.vibe.json"
    whole = {"written": process, "pointed": {"$ref": "#/$defs/Main", "$defs": {"Main": process}}, "all": {"allOf": [process]}}[
        root
    ]
    path.write_text(json.dumps(whole))
    (made,) = instrc.compile(path, emit="process")
    engine = {"references": ["prompt"]}
    draft: Any = made["properties"]["llmContext1"]["properties"]["draft"]
    assert draft == {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        **engine,
    }


_TWO_TEXTS = {"Draft": {"properties": {"text": {"type": "string"}}}, "Check": {"properties": {"ok": {}}}, "Send_Activity": {}}


@pytest.mark.parametrize("name", ["account", "prompt", "account.x", "step1_draft", "step9_pay", "serverContext9"])
def test_no_property_of_a_mixin_stands_for_an_input_or_a_step(name: str) -> None:
    """What the model writes there would be sent in place of the input."""
    program = (
        "input account; const both = Two_Mixin(Draft(prompt) | Check); const a = Send_Activity(both); Send_Activity(account, a)"
    )
    mixin = {"properties": {name: {"type": "string"}, "default": {}}}
    with pytest.raises(instrc.CompileError, match=f"reserved-name: `{name}`"):
        instrc.compile(program, vibes={**_TWO_TEXTS, "Two_Mixin": mixin})


@pytest.mark.parametrize("name", ["bill", "error", "round", "previous"])
def test_no_property_of_a_mixin_in_a_block_stands_for_its_element(name: str) -> None:
    """A body inside the block is searched before the element; outside blocks, and for `user_context`, nothing is hidden."""
    both = "const both = Two_Mixin(Draft(prompt) | Check);"
    inside = f"input bills; each bill in bills {{ when bill.due is true {{ {both} Send_Activity(bill.to, both) }} }}"
    mixin = {"properties": {name: {}, "user_context": {}, "default": {}}}
    with pytest.raises(instrc.CompileError, match=f"reserved-name: `{name}`"):
        instrc.compile(inside, vibes={**_TWO_TEXTS, "Two_Mixin": mixin})
    outside = f"input bills; {both} each bill in bills {{ Send_Activity(bill.to, both) }}"
    beside = f"input bills; each bill in bills {{ Send_Activity(bill.to) }}; when prompt is true {{ {both} Send_Activity(both) }}"
    for program in (outside, *((beside,) if name == "bill" else ())):
        assert instrc.compile(program, vibes={**_TWO_TEXTS, "Two_Mixin": mixin})


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("Draft(prompt)", "pay_activity"),
        ("Draft(prompt)", "_pay_activity"),
        ("Draft(prompt)", "step1_pay_activity"),
        ("Send_Activity(Two_Mixin(Draft(prompt) | Check))", "pay_activity"),
        ("Send_Activity(Two_Mixin(Draft(prompt) | Check))", "_pay_activity"),
    ],
)
def test_no_property_of_a_vibe_calls_an_activity(program: str, name: str) -> None:
    """A step that is called like an activity is sent to it; a property of a vibe is no step."""
    called: list[object] = []
    vibes = {**_TWO_TEXTS, "Two_Mixin": {"properties": {name: {}, "default": {}}}}
    if "Two_Mixin" not in program:
        vibes["Draft"] = {"properties": {name: {}}}
    model = instrc.Scripted({"draft": {name: 5}, "check": {"ok": 1}, name: 5})
    activities = {"Pay_Activity": called.append, "Send_Activity": lambda _given: None}
    run = instrc.run(program, "x", vibes=vibes, model=model, activities=activities)
    assert run.status == "done", run.outcome
    assert not called


def test_a_served_program_is_no_process_by_the_names_in_its_vibe(tmp_path: Path) -> None:
    pay = {"type": "object", "properties": {"pay_activity": {"type": "object"}}}
    chunk = {"type": "object", "properties": {"step1_x": {"type": "string"}}}
    draft = {"type": "object", "properties": {"llmContext1": chunk, "serverContext1": pay}}
    (tmp_path / "Draft.vibe.json").write_text(json.dumps(draft), encoding="utf-8")
    (tmp_path / "Find_Activity.vibe.json").write_text(json.dumps({"properties": {"q": {}, "output": {}}}), encoding="utf-8")
    (tmp_path / "find.aug").write_text("Draft(prompt)", encoding="utf-8")
    settings = '[tool.instrc]\nroots = ["."]\n[tool.instrc.activities]\nFind_Activity = "aug:find"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    main = tmp_path / "main.aug"
    main.write_text("Find_Activity(prompt)", encoding="utf-8")
    paid: list[object] = []
    answer: dict[str, Any] = {"llmContext1": {"step1_x": "a"}, "serverContext1": {"pay_activity": {}}}
    instrc.run(main, "hi", activities={"Pay_Activity": paid.append}, model=instrc.Scripted({"draft": answer}))
    assert paid == []


@pytest.mark.parametrize("program", ["Draft(prompt)", '"Write" | Draft', "Draft"])
def test_a_vibe_whose_properties_are_named_like_chunks_is_no_process(program: str) -> None:
    """The run would call activities that the program does not name."""
    chunk = {"type": "object", "properties": {"step1_pay_Activity": {"type": "object", "properties": {"output": {}}}}}
    answer: dict[str, Any] = {"serverContext1": {}}
    paid: list[object] = []
    run = instrc.run(
        program,
        "hi",
        vibes={"Draft": {"type": "object", "description": "Draft", "properties": {"serverContext1": chunk}}},
        activities={"Pay_Activity": paid.append},
        model=instrc.Scripted({"draft": answer}),
    )
    assert (run.value, paid) == (answer, [])


def test_what_conditions_read_of_rounds_is_found_in_time() -> None:
    """The members of `previous` that branches give lead into each other: with ten branches there were 10^8 ways."""
    branches = " else ".join(f'when a.comment is "{n}" {{ previous.w.m{n} }}' for n in range(10))
    program = f'repeat {{ const a = Ask_User(prompt); const w = {branches} else {{ a }}; w }} until w.decision is "Yes" max 2'
    [document] = instrc.compile(
        program, vibes={"Ask_User": {"properties": {"decision": {}, "comment": {}}}}, report=instrc.Report()
    )
    before = process_time()
    run = instrc.run(document, "x")
    assert run.status == "waiting"
    assert process_time() - before < 3
