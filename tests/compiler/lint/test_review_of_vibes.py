"""What `instrc check` says about a vibe: all of it, each occurrence once, with its place and what was meant."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case

from instrc import CompileError, Problem, Report
from instrc.compiler.lint.programs import used_vibes  # counts its calls alone, or one finding without the others
from instrc.compiler.lint.review import review  # one vibe by itself, without a folder
from instrc.problems.schemas import ClosedAway, UnknownKeyword  # as below
from instrc.problems.vibes import (  # the class of one problem
    DanglingReference,
    ForwardReference,
    InvalidSolution,
    MissingFromProperties,
)
from instrc.schema.vocabulary import ENGINE  # the words themselves
from instrc.vibes.registry import Registry

Check = Callable[..., list[Problem]]
TEXT = {"type": "string"}
LOOP = {"$ref": "aug:/vibes/macros/Loop_Mixin"}
OLD = "http://json-schema.org/draft-07/schema#"
LATEST = "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Write a vibe, and others by their paths, and return what the review of the first says, in order of place."""

    def run(vibe: Any, others: dict[str, Any] | None = None, name: str = "it") -> list[Problem]:
        for path, document in {name: vibe, **(others or {})}.items():
            file = tmp_path / f"{path}.vibe.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(document if isinstance(document, str) else json.dumps(document, indent=1), encoding="utf-8")
        registry, report = Registry([tmp_path]), Report()
        try:
            review(registry.open(tmp_path / f"{name}.vibe.json"), registry, report)
        except CompileError as error:
            report.problems.extend(error.problems)
        return list(report.ordered())

    return run


def names(problems: list[Problem]) -> list[str]:
    return [problem.name for problem in problems]


def step(*names: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": list(names), **more}


def chunks(**chunk: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "object", "properties": steps} for name, steps in chunk.items()}}


# Properties that branches describe and a closed schema around them forbids


X = {"properties": {"x": TEXT}}
CLOSED: dict[str, Any] = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}
IF_A = {"if": {"required": ["a"]}}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({**IF_A, "then": X}, "/then"),
        ({**IF_A, "else": X}, "/else"),
        ({"dependentSchemas": {"a": X}}, "/dependentSchemas/a"),
        ({"anyOf": [{"required": ["a"]}, X]}, "/anyOf/1"),
        ({"oneOf": [X, {"required": ["a"]}]}, "/oneOf/0"),
        ({"allOf": [{"allOf": [{**IF_A, "then": X}]}]}, "/allOf/0/allOf/0/then"),
        ({**IF_A, "then": {"allOf": [{**IF_A, "else": {"allOf": [X]}}]}}, "/then/allOf/0/else/allOf/0"),
        ({**IF_A, "then": {"$ref": "#/$defs/x"}, "$defs": {"x": X}}, "/$defs/x"),
    ],
)
@pytest.mark.parametrize("inside", ["whole", "a branch of `allOf`", "a property"])
def test_what_a_branch_describes_and_a_closed_schema_forbids_is_told(check: Check, more: Any, place: str, inside: str) -> None:
    definitions = {"$defs": more["$defs"]} if "$defs" in more else {}
    branch = {word: each for word, each in more.items() if word != "$defs"}
    vibe, around = {
        "whole": ({**CLOSED, **branch}, ""),
        "a branch of `allOf`": ({"allOf": [CLOSED, branch]}, "/allOf/1"),
        "a property": ({"type": "object", "properties": {"in": {**CLOSED, **branch}}}, "/properties/in"),
    }[inside]
    (problem,) = check({**vibe, **definitions})
    assert isinstance(problem, ClosedAway)
    assert (problem.key, problem.described.pointer) == ("x", f"{'' if definitions else around}{place}/properties/x")
    assert problem.closed.pointer.endswith("/additionalProperties")


@pytest.mark.parametrize(
    "schema",
    [
        {**CLOSED, **IF_A, "then": {"properties": {"a": {"minLength": 2}}}},
        {**CLOSED, **IF_A, "then": {"properties": {"x": False}}},
        {**CLOSED, "if": X, "then": {"required": ["a"]}},
        {**CLOSED, "not": {**X, "required": ["a"]}},
        {**CLOSED, "patternProperties": {"^x": TEXT}, **IF_A, "then": X},
        {"type": "object", "properties": {"a": TEXT}, "unevaluatedProperties": False, **IF_A, "then": X},
        {"anyOf": [CLOSED, {**X, "additionalProperties": False}]},
        {"type": "object", "properties": {"a": TEXT}, **IF_A, "then": X},
    ],
)
def test_what_a_branch_describes_and_nothing_forbids_is_not_told(check: Check, schema: Any) -> None:
    assert check(schema) == []


def test_a_name_that_no_branch_describes_is_missing_where_a_condition_requires_it(check: Check) -> None:
    conditions = [{**IF_A, "then": {"required": ["x"]}}, {**IF_A, "else": {"required": ["y"]}}]
    assert names(check({**CLOSED, "allOf": conditions})) == ["missing-from-properties"] * 2
    for word in ("dependentRequired", "dependencies"):
        schema = {**CLOSED, "$schema": OLD, word: {"a": ["x"]}} if word == "dependencies" else {**CLOSED, word: {"a": ["x"]}}
        assert names(check(schema)) == ["missing-from-properties"]
    assert check({"type": "object", "properties": {"a": TEXT}, "dependentRequired": {"a": ["x"]}}) == []


# Required names


def test_a_required_name_without_a_property_is_reported_at_its_place(check: Check) -> None:
    (problem,) = check({"properties": {"organizer": TEXT}, "required": ["organizer", "organiser", "x"][:2]})
    assert isinstance(problem, MissingFromProperties)
    assert (problem.word, problem.nearest) == ("organiser", ("organizer",))
    assert problem.at is not None
    assert problem.at.text == '"organiser"'


def test_each_occurrence_is_reported_once(check: Check) -> None:
    vibe = {
        "properties": {
            "a": {"properties": {"x": TEXT}, "required": ["y"]},
            "b": {"$ref": "#/$defs/d"},
            "c": {"$ref": "#/$defs/d"},
        }
    }
    vibe["$defs"] = {"d": {"properties": {"x": TEXT}, "required": ["y", "z"]}}
    assert names(check(vibe)) == ["missing-from-properties"] * 3


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"]},
        {"type": "object", "required": ["a"]},
        {"properties": {"b": TEXT}, "required": ["a"], "allOf": [{"properties": {"a": TEXT}}]},
        {"properties": {"a": TEXT}, "allOf": [{"properties": {"b": TEXT}, "required": ["a"]}]},
        {"allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": TEXT}, "required": ["a", "b"]}]},
        {"properties": {"a": TEXT, "b": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"properties": {"a": TEXT}, "if": {"required": ["a"]}, "then": {"properties": {"b": TEXT}, "required": ["b"]}},
        {"properties": {"a": TEXT}, "oneOf": [{"properties": {"k": {"const": 1}}, "required": ["k", "a"]}], "required": ["k"]},
        {"properties": {"a": TEXT}, "dependentSchemas": {"a": {"properties": {"b": TEXT}, "required": ["b"]}}},
        {"properties": {"a": TEXT}, "not": {"required": ["b"]}},
        {"properties": {"a": TEXT}, "required": ["x1"], "patternProperties": {"^x": TEXT}},
        {"properties": {"a": TEXT}, "required": ["x1"], "patternProperties": {"\\p{L}": TEXT}},
        {"properties": {"a": TEXT}, "required": ["b"], "additionalProperties": TEXT},
        {"properties": {"a": TEXT}, "required": ["b"], "unevaluatedProperties": True},
        {"$ref": "#/$defs/d", "properties": {"b": TEXT}, "required": ["a"], "$defs": {"d": {"properties": {"a": TEXT}}}},
        {"$ref": "#/$defs/d", "properties": {"b": TEXT}, "$defs": {"d": {"properties": {"a": TEXT}, "required": ["b"]}}},
        {"$ref": "aug:other", "properties": {"b": TEXT}, "required": ["from_other"]},
        {
            "allOf": [
                {"properties": {"p": {"properties": {"a": TEXT}}}},
                {"properties": {"p": {"properties": {"b": TEXT}, "required": ["a"]}}},
            ]
        },
        {
            "allOf": [
                {"$ref": "aug:/vibes/macros/Loop_Mixin"},
                {"properties": {"default": step("a")}, "required": ["_iteration", "a"]},
            ]
        },
        {"properties": {"self": {"$ref": "#"}, "list": {"items": {"$ref": "#"}}}, "required": ["self"]},
        {"$dynamicAnchor": "n", "properties": {"n": {"$dynamicRef": "#n"}}, "required": ["n"]},
        {
            "properties": {"required": {"type": "array"}, "properties": {"properties": {"a": TEXT}}},
            "default": {"properties": {}, "required": ["x"]},
        },
        {"properties": {"a": {"enum": [{"properties": {"z": 1}, "required": ["y"]}]}}},
        {"properties": {"a": TEXT}, "$defs": {"for_others": {"properties": {"q": TEXT}, "required": ["somewhere"]}}},
    ],
)
def test_what_is_described_elsewhere_or_invited_is_no_slip(check: Check, schema: Any) -> None:
    assert check(schema, {"other": step("from_other")}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": TEXT}, "allOf": [{"required": ["ab"]}]},
        {"properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"properties": {"l": {"items": {"properties": {"a": TEXT}, "required": ["b"]}}}},
        {"properties": {"l": {"prefixItems": [step("b"), {"properties": {"a": TEXT}, "required": ["b"]}]}}},
        {"additionalProperties": {"properties": {"a": TEXT}, "required": ["b"]}},
        {"properties": {"a": TEXT}, "required": ["b"], "additionalProperties": False},
        {"$ref": "aug:other", "properties": {"b": TEXT}, "required": ["from_othr"]},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"d": step("a")},
            "properties": {"a": TEXT},
            "required": ["b"],
        },
        {"$defs": {"unused": {"properties": {"name": TEXT}, "required": ["nmae"]}}},
    ],
)
def test_what_is_described_nowhere_is_a_slip(check: Check, schema: Any) -> None:
    assert names(check(schema, {"other": step("from_other")})) == ["missing-from-properties"]


def test_a_mixin_may_require_what_comes_from_what_it_is_mixed_into(check: Check) -> None:
    mixin = {"properties": {"_notes": TEXT, "default": {}}, "required": ["_notes", "default", "answer"]}
    assert check(mixin, name="Note_Mixin") == []
    mixin["required"] = ["_note", "default"]
    assert names(check(mixin, name="Note_Mixin")) == ["missing-from-properties"]


def test_a_reference_that_leads_nowhere_leaves_required_names_in_doubt(check: Check) -> None:
    assert names(check({"$ref": "aug:nowhere", "properties": {"a": TEXT}, "required": ["b"]})) == ["unresolved-reference"]


# Paths between steps

MEETING = chunks(
    llmContext1={
        "identifyParticipants1": step("organizer", "attendee"),
        "fetchAvailability": step("organizerId", references=["identifyParticipants"]),
    },
    serverContext1={"FetchAvailability_Activity": step("slots", references=["llmContext1.fetchAvailability"])},
    llmContext2={
        "findSlot": step("slot", references=["llmContext1.identifyParticipants", "serverContext1.FetchAvailability_Activity"]),
        "draft": step("body", references=["llmContext1.identifyParticipants", "findSlot"]),
    },
    userContext={"confirm": step("decision", references=["llmContext2.draft"])},
    serverContext2={"send": step("id", references=["llmContext1.identifyParticipants", "userContext.confirm"])},
)
MEETING["properties"]["llmContext1"]["required"] = ["identifyParticipants", "fetchAvailability"]


@pytest.mark.parametrize("chunk", ["llmContext1", "llmContext2"])
def test_of_several_steps_of_a_name_that_of_the_same_chunk_is_offered(check: Check, chunk: str) -> None:
    found = chunks(llmContext1={"find": step("a")}, llmContext2={"find": step("a")}, llmContext3={})
    found["properties"]["llmContext3"]["properties"]["use"] = step("x", references=[f"{chunk}.fnid"])
    (problem,) = check(found)
    assert isinstance(problem, DanglingReference)
    assert problem.nearest == (f"{chunk}.find",)


def test_one_renamed_step_is_reported_at_each_of_its_five_places(check: Check) -> None:
    problems = check(MEETING)
    assert names(problems) == ["dangling-reference", "missing-from-properties", *["dangling-reference"] * 3]
    assert [problem.nearest for problem in problems if isinstance(problem, DanglingReference | MissingFromProperties)] == [
        ("identifyParticipants1",),
        ("identifyParticipants1",),
        ("llmContext1.identifyParticipants1",),
        ("llmContext1.identifyParticipants1",),
        ("llmContext1.identifyParticipants1",),
    ]
    assert {problem.at.text for problem in problems if problem.at} == {
        '"identifyParticipants"',
        '"llmContext1.identifyParticipants"',
    }


def test_chunks_may_lie_under_defs(check: Check) -> None:
    moved = copy.deepcopy(MEETING)
    moved["$defs"] = {"LLM_1": moved["properties"]["llmContext1"], "LLM_2": moved["properties"]["llmContext2"]}
    moved["properties"]["llmContext1"] = {"$ref": "#/$defs/LLM_1"}
    moved["properties"]["llmContext2"] = {"allOf": [{"$ref": "#/$defs/LLM_2"}, {"description": "Decide."}]}
    # what a chunk reads that is put together from several schemas has no one place, so it is not judged
    assert sorted(names(check(moved))) == ["dangling-reference"] * 2 + ["missing-from-properties"]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "prompt",
            "prompt_item2",
            "people",
            "find",
            "llmContext1.find",
            "find.output",
            "find.output.id",
            "llmContext1.find.output",
        ),
        *("llmContext1", "find.open.anything.at.all", "find.list.0.name", "find.list.name", "find.dotted.key", "find.any.thing"),
        *("find.mixed.a", "find.mixed.b", "wrapped", "llmContext1.wrapped", "llmContext1.wrapped.inner"),
    ],
)
def test_a_path_may_lead_to_any_part_of_an_earlier_step(check: Check, path: str) -> None:
    find = step("why")
    find["properties"] |= {
        "output": {"type": ["object", "null"], "properties": {"id": TEXT}},
        "open": {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
        "list": {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}}},
        "dotted.key": TEXT,
        "any": {},
        "mixed": {"allOf": [{"properties": {"a": TEXT}}, {"$ref": "#/$defs/b"}]},
    }
    loop = {
        "allOf": [
            {"$ref": "aug:/vibes/macros/Loop_Mixin"},
            {"properties": {"default": {"properties": {"wrapped": step("inner")}}}},
        ]
    }
    schema = chunks(llmContext1={"find": find}, llmContext2={"use": step("x", references=[path])})
    schema["properties"]["llmContext1"]["allOf"] = [loop]
    schema["$defs"] = {"b": {"properties": {"b": TEXT}}}
    assert check({"schema": schema, "input": {"people": ["Ann"]}}) == []


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("fnid", ("find",)),
        ("llmContext1.fnid", ("llmContext1.find",)),
        ("llmContext2.find", ("llmContext1.find",)),
        ("find.ouput", ("find.output",)),
        ("find.output.idd", ("find.output.id",)),
        ("find.output.id.more", ()),
        ("llmContext1.find.ouput.id", ("llmContext1.find.output.id",)),
        ("llmContxt1.find", ("llmContext1.find",)),
        ("promt", ("prompt",)),
        ("zzz", ()),
        ("", ()),
        ("find.", ()),
        (".", ()),
    ],
)
def test_a_path_that_leads_nowhere_offers_the_nearest_written_alike(check: Check, path: str, nearest: tuple[str, ...]) -> None:
    find = step("why")
    find["properties"]["output"] = step("id")
    problems = check(chunks(llmContext1={"find": find}, llmContext2={"use": step("x", references=[path or "."])}))
    (problem,) = problems
    assert isinstance(problem, DanglingReference)
    assert problem.nearest == nearest


@pytest.mark.parametrize("path", ["later", "llmContext2.later", "use", "llmContext1", "llmContext1.use", "llmContext2", "below"])
def test_a_path_to_what_comes_later_is_reported_with_both_places(check: Check, path: str) -> None:
    schema = chunks(llmContext1={"use": step("x", references=[path]), "below": step("y")}, llmContext2={"later": step("z")})
    (problem,) = check(schema)
    assert isinstance(problem, ForwardReference)
    assert problem.step == "use"
    assert problem.labels[0].span.text == f'"{path.rpartition(".")[2]}"'


def test_the_server_half_of_a_step_reads_the_half_of_the_model_under_the_same_key(check: Check) -> None:
    server = {"properties": {"output": step("rows")}, "activity": "q", "references": ["step1_q"], "arguments": "step1_q"}
    schema = chunks(
        llmContext1={"step1_q": step("sql")},
        serverContext1={"step1_q": server},
        llmContext2={"step2_use": step("x", references=["step1_q.output.rows", "step1_q.sql"])},
    )
    assert check(schema) == []


def test_arguments_are_paths_too_but_constants_are_not(check: Check) -> None:
    schema = chunks(
        llmContext1={
            "a": step("x", arguments="prompt"),
            "b": step("x", arguments=["a", "aa", {"const": "aaa"}]),
            "c": step("x", arguments={"one": "a", "two": {"const": ["b"]}, "three": "bb"}),
        },
    )
    assert [problem.path for problem in check(schema) if isinstance(problem, DanglingReference)] == ["aa", "bb"]


def test_a_name_that_is_read_and_fills_an_argument_is_taken_for_an_input_unless_it_resembles_a_step(check: Check) -> None:
    both = step("x", references=["people", "identfy"], arguments=["people", "identfy"])
    assert [problem.name for problem in check(chunks(llmContext1={"identify": step("y"), "use": both}))] == [
        "dangling-reference"
    ] * 2
    assert names(check(chunks(llmContext1={"use": step("x", references=["people"])}))) == ["dangling-reference"]


def test_steps_without_chunks_read_each_other_as_well(check: Check) -> None:
    schema = {"type": "object", "properties": {"a": step("x"), "b": step("y", references=["a", "c"]), "c": step("z")}}
    assert names(check(schema)) == ["unknown-keyword", "forward-reference"]


@pytest.mark.parametrize("word", sorted(ENGINE - {"else"}))
def test_engine_properties_outside_a_process_have_no_effect(check: Check, word: str) -> None:
    value = ["identify"] if word == "references" else "identify"
    (problem,) = check(step("x", **{word: value}))
    assert isinstance(problem, UnknownKeyword)
    assert problem.word == word
    assert "read only in a program" in problem.message
    assert problem.hint == "remove it here, and write it where a program uses the step"


def test_paths_in_other_vibes_are_left_to_their_own_review(check: Check) -> None:
    part = {"properties": {"a": step("x"), "b": step("y", references=["nowhere"])}}
    assert check(chunks(llmContext1={"one": {"$ref": "aug:part#b"}}), {"part": part}) == []


def test_a_property_called_references_is_no_engine_property(check: Check) -> None:
    assert check({"properties": {"references": {"type": "array"}, "arguments": TEXT, "activity": {"enum": [1]}}}) == []


@pytest.mark.parametrize(
    "wrong",
    [{"references": "a"}, {"references": [1]}, {"references": [""]}, {"arguments": 1}, {"arguments": [["a"]]}, {"activity": []}],
)
def test_engine_properties_have_a_form(check: Check, wrong: dict[str, Any]) -> None:
    assert names(check(chunks(llmContext1={"a": step("x", **wrong)}))) == ["invalid-schema"]


@pytest.mark.parametrize("argument", ["step1_a", {"path": "step1_a", "optional": True}, {"const": None}])
def test_arguments_are_paths_optional_paths_and_constants(check: Check, argument: Any) -> None:
    for arguments in (argument, [argument], {"name": argument}, {"path": argument}):
        assert check(chunks(llmContext1={"step1_a": step("x"), "step2_b": step("y", arguments=arguments)})) == []


# References


def test_each_reference_that_leads_nowhere_is_reported_by_itself(check: Check) -> None:
    vibe = {
        "properties": {
            "a": {"$ref": "aug:othr"},
            "b": {"$ref": "aug:other:9"},
            "c": {"$ref": "aug:other#x"},
            "d": {"$ref": "#/$defs/nope"},
            "e": {"$ref": "http://example.org/x"},
            "f": {"$ref": "other.vibe.json"},
            "g": {"$ref": "aug:../x"},
            "h": {"$ref": "aug:other#twice"},
            "i": {"$ref": "aug:other#once"},
            "j": {"$ref": "aug:broken"},
            "k": {"$ref": "#once_here"},
            "l": {"$ref": "aug:a:b"},
            "once_here": TEXT,
        },
    }
    twice = {"properties": {"p": step("twice", "once"), "q": step("twice")}}
    problems = check(vibe, {"other": twice, "broken": "[]"})
    assert sorted(names(problems)) == sorted(
        [
            *("unresolved-reference", "unknown-version", "unresolved-reference", "unresolved-reference"),
            *("forbidden-reference", "forbidden-reference", "forbidden-reference"),
            *("ambiguous-fragment", "invalid-vibe", "malformed-reference"),
        ],
    )
    places = {problem.at.text for problem in problems if problem.at and problem.at.source.name.endswith("it.vibe.json")}
    assert places >= {'"aug:othr"', '"aug:other:9"', '"#/$defs/nope"', '"http://example.org/x"', '"aug:other#twice"'}


def test_composing_a_vibe_shows_what_only_composing_can(check: Check) -> None:
    assert names(check({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})) == [
        "reference-cycle"
    ]
    assert check({"properties": {"tree": {"$ref": "#"}}}) == []


# Form


def test_a_file_that_is_no_vibe_has_only_that_problem(check: Check) -> None:
    assert names(check("[]")) == names(check("")) == names(check('{"a": 1, "a": 2}')) == ["invalid-vibe"]


def test_an_unsound_schema_has_only_that_problem(check: Check) -> None:
    assert names(check({"type": "objct", "properties": {"a": TEXT}, "required": ["b"]})) == ["invalid-schema"]


def test_an_unknown_dialect_is_reported(check: Check) -> None:
    assert names(check({"$schema": "https://example.org/ours", "type": "object"})) == ["unknown-dialect"]
    part = {"$id": "https://example.org/part", "$schema": "https://example.org/ours"}
    [problem] = check({"$schema": LATEST, "$defs": {"part": part}, "allOf": [{"$ref": "#/$defs/part"}]})
    assert problem.at is not None
    assert (problem.name, problem.at.text) == ("unknown-dialect", '"https://example.org/ours"')


def test_a_name_with_a_wrong_version_is_reported(check: Check) -> None:
    assert names(check({}, name="find@latest")) == ["invalid-vibe"]
    assert check({}, name="find@1.2") == []


def test_places_in_a_record_are_those_of_the_file(check: Check) -> None:
    (problem,) = check('{\n "input": {},\n "schema": {\n  "type": "objekt"\n }\n}')
    assert problem.at is not None
    assert (problem.at.line, problem.at.column) == (4, 11)


# Solutions


def test_a_solution_has_to_satisfy_the_composed_schema(check: Check) -> None:
    schema = {"allOf": [{"$ref": "aug:/vibes/macros/Introspect_Mixin"}, {"properties": {"default": step("body")}}]}
    good = {"_considerations": "c", "body": "b", "_feedback": "f"}
    assert check({"schema": schema, "solution": good}) == []
    problems = check({"schema": schema, "solution": {**good, "body": 1}})
    assert names(problems) == ["invalid-solution"]
    (problem,) = problems
    assert isinstance(problem, InvalidSolution)
    assert problem.pointer == "/body"
    assert problem.at is not None
    assert problem.at.text == "1"
    assert names(check({"schema": schema, "solution": {"body": "b"}})) == ["invalid-solution"] * 2


def test_a_solution_that_is_null_is_judged_too(check: Check) -> None:
    assert names(check({"schema": {"type": "object"}, "solution": None})) == ["invalid-solution"]


def test_a_solution_is_judged_by_patterns_of_ecma_262_and_by_formats(check: Check) -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^\\p{Lu}"}, "b": {"type": "string", "format": "date"}}}
    assert check({"schema": schema, "solution": {"a": "X", "b": "2026-02-28"}}) == []
    assert names(check({"schema": schema, "solution": {"a": "x"}})) == ["invalid-solution"]
    assert names(check({"schema": schema, "solution": {"b": "2026-02-30"}})) == ["invalid-solution"]


def test_a_solution_cannot_make_a_pattern_take_long(check: Check) -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert names(check({"schema": schema, "solution": {"a": "a" * 60 + "!"}})) == ["invalid-solution"]


# Hostile input


@pytest.mark.long
def test_depth_is_no_obstacle(check: Check) -> None:
    deep: Any = {"properties": {"a": TEXT}, "required": ["b"], "references": ["x"]}
    text = '{"properties": {"a": {}, "p": ' * 1200 + json.dumps(deep) + "}}" * 1200
    assert "missing-from-properties" in names(check(text))
    assert check('{"allOf": [' * 1200 + "{}" + "]}" * 1200) == []


def test_schemas_that_branch_without_end_come_to_an_end(check: Check) -> None:
    defs = {f"d{n}": {"properties": {f"p{m}": {"$ref": f"#/$defs/d{(n * 7 + m) % 12}"} for m in range(12)}} for n in range(12)}
    steps = {"a": {"allOf": [{"$ref": f"#/$defs/d{n}"} for n in range(4)], "references": ["b"]}}
    assert check({"properties": {"llmContext1": {"properties": steps}}, "$defs": defs}) is not None


def test_a_solution_of_great_depth_is_judged_or_refused(check: Check) -> None:
    text = '{"schema": {"properties": {"a": {"$ref": "#"}}}, "solution": ' + '{"a": ' * 3000 + "1" + "}" * 3001
    assert set(names(check(text))) <= {"too-large", "invalid-solution"}


# Words that nobody knows


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("propertys", "properties"), ("requierd", "required"), ("minLenght", "minLength"), ("discription", "description")],
)
def test_a_misspelt_keyword_is_told_with_the_nearest(check: Check, word: str, nearest: str) -> None:
    (problem,) = check({"type": "object", "properties": {"a": {word: 5}}})
    assert problem.name == "unknown-keyword"
    assert problem.severity == "warning"
    assert problem.nearest[0] == nearest  # type: ignore[attr-defined]
    assert problem.at is not None
    assert problem.at.text == f'"{word}"'


def test_words_of_known_vocabularies_are_no_slips(check: Check) -> None:
    assert check({"type": "object", "x-mine": 1, "discriminator": {}, "example": {}, "enumNames": []}) == []


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"x-aprovers": ["ann"]}, ["x-aprovers"]),
        ({"x-approver": ["ann"]}, ["x-approver"]),
        ({"x-Needed": 2, "x-approvers": ["ann"]}, ["x-Needed"]),
        ({"x-neeeded": 2}, ["x-neeeded"]),
        ({"x-needed": 2, "x-vetto": False, "x-nott": ["starter"]}, ["x-vetto", "x-nott"]),
        ({"x-approvers": ["ann"], "x-needed": 2, "x-veto": False, "x-not": ["starter"]}, []),
        ({"x-temperature": 0.7}, []),
        ({"x-temperature": 10**400}, ["x-temperature"]),
        ({"x-temperature": "hot", "x-approvers": ["ann"]}, ["x-temperature"]),
        ({"x-wordings": ["Say it.", "Tell it."]}, []),
        ({"x-wordings": "Say it."}, ["x-wordings"]),
        ({"x-wording": ["Say it."]}, ["x-wording"]),
        ({"x-temprature": 0.7}, ["x-temprature"]),
        ({"x-note": "of ours", "x-vetos": 1, "x-node": 2, "x-order": 3, "x-need-by": 4}, []),
    ],
)
def test_misspelt_words_that_engines_read_are_told(check: Check, schema: dict[str, object], told: list[str]) -> None:
    found = check({"type": "object", **schema})
    assert [(each.name, each.at and each.at.text) for each in found] == [("unknown-keyword", f'"{word}"') for word in told]
    known = {"x-approvers", "x-needed", "x-veto", "x-not", "x-temperature", "x-wordings"}
    assert all({*problem.nearest} <= known for problem in found)  # type: ignore[attr-defined]


@pytest.mark.parametrize("rule", [{"a": 1}, [], None, 3, ["ann", None], ""])
def test_a_rule_that_names_nobody_is_told(check: Check, rule: object) -> None:
    found = check({"type": "object", "x-approvers": rule, "x-not": {}, "x-needed": True})
    assert [each.name for each in found] == ["invalid-approval-rule"] * 3
    assert str(found[0].message) == "`x-approvers` is not a name or a list of names: no one can answer this step"


@pytest.mark.parametrize("span", ["tomorrow", "P99999999D", "P1Y", "PT0S", "", 0, 3600, None, ["PT2H"]])
def test_a_claim_of_no_readable_span_is_told(check: Check, span: object) -> None:
    (problem,) = check({"type": "object", "x-claim": span})
    assert problem.name == "invalid-approval-rule"
    assert problem.message == '`x-claim` is not a duration such as "PT2H": a claim lasts as long as the settings say'


def test_rules_that_are_neither_true_nor_false_are_told(check: Check) -> None:
    found = check({"type": "object", "x-veto": "no", "x-links": 1})
    assert [each.message for each in found] == [
        "`x-veto` is not `true` or `false`: one refusal decides",
        "`x-links` is not `true` or `false`: links are for candidates only",
    ]
    assert not check({"type": "object", "x-claim": "PT2H", "x-veto": False, "x-links": True})


def test_names_of_properties_and_values_are_no_keywords(check: Check) -> None:
    assert (
        check(
            {
                "type": "object",
                "properties": {"propertys": TEXT},
                "default": {"requierd": 1},
                "enum": [{"format": 5}, {"requierd": 1}],
            }
        )
        == []
    )


def test_a_format_that_nobody_knows_is_told(check: Check) -> None:
    (problem,) = check({"properties": {"at": {"type": "string", "format": "datetime"}}})
    assert problem.name == "unknown-format"
    assert "date-time" in (problem.hint or "")


@pytest.mark.parametrize(
    "bounds",
    [
        {"minimum": 5, "maximum": 1},
        {"exclusiveMinimum": 5, "maximum": 5},
        {"minLength": 2, "maxLength": 1},
        {"minItems": 2, "maxItems": 1},
        {"minProperties": 2, "maxProperties": 1},
        {"contains": {}, "minContains": 2, "maxContains": 1},
    ],
)
def test_bounds_that_leave_nothing_are_told(check: Check, bounds: dict[str, Any]) -> None:
    (problem,) = check({"properties": {"a": bounds}})
    assert problem.name == "empty-range"


# Documents that are no schemas

PARAMETERS = {"type": "object", "properties": {"city": TEXT}}


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"type": "function", "function": {"name": "f", "parameters": PARAMETERS}}, "import openai"),
        ({"type": "function", "name": "f", "parameters": PARAMETERS}, "import openai"),
        ({"name": "f", "description": "…", "parameters": PARAMETERS}, "import openai"),
        ({"name": "f", "description": "…", "input_schema": PARAMETERS}, "import anthropic"),
        ({"name": "f", "title": "F", "inputSchema": PARAMETERS, "outputSchema": PARAMETERS}, "import mcp"),
        ({"tools": [{"name": "f", "inputSchema": PARAMETERS}]}, "import mcp"),
        ({"toolSpec": {"name": "f", "inputSchema": {"json": PARAMETERS}}}, "import mcp"),
        ({"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": PARAMETERS}}}]}}, "import mcp"),
        ({"functionDeclarations": [{"name": "f", "parameters": PARAMETERS}]}, "import mcp"),
        ({"name": "f", "parameters": {"type": "OBJECT"}}, "import mcp"),
        ({"openapi": "3.1.0", "info": {}, "paths": {}}, "import openapi"),
        ({"city": TEXT, "days": {"type": "integer", "minimum": 1}}, '"properties"'),
        ({"title": TEXT, "type": TEXT}, '"properties"'),
        ({"program": "A | B"}, ".aug"),
        ({"name": "w", "nodes": [], "connections": {}}, ".aug"),
        ({"Comment": "w", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}, ".aug"),
        ({"activity": "a", "arguments": "step1_a", "tool": PARAMETERS}, "program"),
    ],
)
def test_a_document_that_is_no_schema_is_told_with_the_way_out(check: Check, document: dict[str, Any], word: str) -> None:
    (problem,) = check(document)
    assert problem.name == "foreign-document"
    assert word in (problem.hint or "")


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"description": "Anything."},
        {"type": "object", "properties": {"input_schema": PARAMETERS, "name": TEXT}},
        {"$defs": {"a": TEXT}},
        {"properties": {"a": TEXT}},
        {"not": {"type": "null"}},
        {"schema": PARAMETERS},
        {"city": {**TEXT, "label": "City"}},
        {"city": TEXT, "author": {"name": TEXT}},
        {"city": TEXT, "days": {"type": 3}},
        {"city": TEXT, "days": {"description": "How many."}},
    ],
)
def test_a_schema_is_taken_for_nothing_else(check: Check, schema: dict[str, Any]) -> None:
    assert "foreign-document" not in names(check(schema))


def test_a_numbered_version_beside_a_file_without_one_is_told(check: Check) -> None:
    (problem,) = check(PARAMETERS, {"it@2": PARAMETERS})
    assert problem.name == "hidden-version"
    assert "it@2" in (problem.at.source.name if problem.at else "")
    assert check(PARAMETERS, {"other@1": PARAMETERS}, name="other@2") == []


@every_case(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 1}}, "required": ["a"]},
        {"type": "string", "const": 1, "maxItems": 2, "frmat": "date", "format": "dat"},
        {"type": "object", "properties": {"a": False, "b": {"enum": []}}, "required": ["a", "c"]},
        {"type": "string", "maxLength": 1, "enum": ["aa"], "default": 3},
        {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
        {"type": "strin"},
        {"$ref": "#/$defs/nowhere"},
    ],
)
def test_without_suspicions_all_errors_are_told(schema: Any, tmp_path: Path) -> None:
    file = tmp_path / "it.vibe.json"
    file.write_text(json.dumps(schema), encoding="utf-8")
    registry, whole, brief = Registry([tmp_path]), Report(), Report()
    review(registry.open(file), registry, whole)
    review(registry.open(file), registry, brief, suspicions=False)
    left_out = [each for each in whole.problems if each not in brief.problems]
    assert {each.severity for each in left_out} <= {"warning"}
    assert [each for each in whole.problems if each not in left_out] == brief.problems


def test_what_is_used_is_found_however_often_and_wherever_it_is_named(tmp_path: Path) -> None:
    for name, schema in {"a": {"$ref": "aug:b"}, "b": {"$ref": "aug:a"}, "c": {}}.items():
        (tmp_path / f"{name}.vibe.json").write_text(json.dumps(schema), encoding="utf-8")
    uris = ["aug:c", "https://elsewhere.example/a", "aug:nowhere", "aug:a", "aug:a#/properties", "aug:a"]
    assert [vibe.uri for vibe in used_vibes(uris, Registry([tmp_path]))] == ["aug:a", "aug:b", "aug:c"]
