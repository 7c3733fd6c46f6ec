"""Ways through the algebra that ordinary schemas seldom take, each a rule of its own."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from instrc.flattening.definitions import Gathering
from instrc.flattening.flatten import flatten
from instrc.problems.problem import CompileError
from instrc.schema.patterns import broken
from instrc.schema.store import SchemaStore
from instrc.schema.upgrade import upgrade
from instrc.schema.wellformed import problems_of

LATEST = "https://json-schema.org/draft/2020-12/schema"
D7 = "http://json-schema.org/draft-07/schema#"


def test_dependencies_on_names_alone_need_no_dependent_schemas() -> None:
    flat = flatten({"$schema": D7, "allOf": [{"dependencies": {"a": ["b"]}}, {"minimum": 1}]})
    assert flat == {"$schema": LATEST, "dependentRequired": {"a": ["b"]}, "minimum": 1}


def test_an_empty_fragment_of_an_old_identifier_names_no_anchor() -> None:
    assert upgrade({"$schema": D7, "$id": "https://e.com/a#"}) == {"$schema": LATEST, "$id": "https://e.com/a"}


def test_the_vocabularies_of_a_meta_schema_are_kept() -> None:
    words = {"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": True}}
    assert flatten({**words, "allOf": [{"minimum": 1}, {"maximum": 2}]}) == {**words, "minimum": 1, "maximum": 2}


def test_a_reference_to_a_schema_that_is_flat_already_is_that_schema() -> None:
    folded = {"minimum": 1, "maximum": 2}
    flat = flatten({"properties": {"x": {"allOf": [{"minimum": 1}, {"maximum": 2}]}, "y": {"$ref": "#/properties/x"}}})
    assert flat == {"properties": {"x": folded, "y": folded}}
    back = flatten({"properties": {"x": {"$ref": "#/properties/y"}, "y": {"allOf": [{"minimum": 1}, {"maximum": 2}]}}})
    assert back == flat


def test_a_reference_to_an_object_that_stands_at_two_places_is_what_that_has_become() -> None:
    shared = {"allOf": [{"minimum": 1}, {"maximum": 2}]}
    flat = flatten({"properties": {"x": shared, "y": shared, "z": {"$ref": "#/properties/x"}}})
    assert flat == {"properties": {key: {"minimum": 1, "maximum": 2} for key in ("x", "y", "z")}}


def test_bounds_of_which_one_is_malformed_both_stay() -> None:
    assert flatten({"allOf": [{"minimum": "a"}, {"exclusiveMinimum": 1}]}) == {"minimum": "a", "exclusiveMinimum": 1}


def test_a_repetition_beyond_all_counting_is_not_called_broken() -> None:
    assert broken("a{99999999999999999999}") is None


def test_an_object_that_stands_at_two_places_comes_from_the_first() -> None:
    shared = {"minimum": 1}
    schema = {"allOf": [{"properties": {"a": shared, "b": shared}}, {"maxProperties": 3}]}
    flat = flatten(schema, trace=True)
    assert flat.schema == {"properties": {"a": shared, "b": shared}, "maxProperties": 3}
    assert {str(place.pointer) for place in flat.origins["/properties/b/minimum"]} == {"/allOf/0/properties/a/minimum"}


def test_two_names_of_one_document_are_one_document() -> None:
    document = {"$defs": {"deep": {"properties": {"wanted": {"minimum": 1}}}}}
    documents = {"aug:a/b": document, "aug:a/b:1": document}
    assert flatten({"properties": {"x": {"$ref": "aug:a/b#wanted"}, "y": {"$ref": "aug:a/b:1#wanted"}}}, documents) == {
        "properties": {"x": {"minimum": 1}, "y": {"minimum": 1}}
    }


def test_definitions_of_one_name_that_differ_are_gathered_under_two() -> None:
    gathering = Gathering()
    for kind in ("string", "number"):
        node: Any = {"type": kind, "items": {"$ref": "#/$defs/T"}}
        gathering.take({"items": {"$ref": "#/$defs/T"}, "$defs": {"T": node}})
    assert gathering.schemas == {
        "T": {"type": "string", "items": {"$ref": "#/$defs/T"}},
        "T_2": {"type": "number", "items": {"$ref": "#/$defs/T_2"}},
    }


class Refusing(dict[str, Any]):
    """Documents of which one is known to be wrong."""

    def __getitem__(self, uri: str) -> Any:
        with pytest.raises(CompileError) as error:
            flatten({"$ref": "#/nowhere"})
        raise error.value


def test_what_a_mapping_knows_of_a_document_is_told() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"$ref": "https://e.com/a"}, Refusing())
    assert [problem.name for problem in error.value.problems] == ["unresolved-reference"]


def test_one_place_that_is_wrong_twice_is_told_once() -> None:
    assert [problem.pointer for problem in problems_of({"patternProperties": {"(": 3}})] == ["/patternProperties/("]


def test_a_reference_is_found_in_whichever_document_holds_it() -> None:
    asked: list[tuple[str, str]] = []
    library = SchemaStore(locate=lambda uri, at: asked.append((uri, at)))
    holder = {"$ref": "#/nowhere"}
    library.add(uri="https://e.com/a", root=True)
    library.add("https://e.com/b", {"items": holder})
    assert library.at({"$ref": "#/made/on/the/way"}) is None
    assert asked == []
    library.at(holder)
    assert asked == [("https://e.com/b", "/items/$ref")]


def test_what_an_older_meta_schema_cannot_judge_remains_unsaid() -> None:
    schema: dict[str, object] = {"type": "text"}
    for _ in range(3000):
        schema = {"not": schema}
    assert problems_of({"$schema": D7, **schema}) == ()


def test_patterns_that_a_closed_schema_forbids_keep_nothing_apart() -> None:
    closed = {"properties": {"a": {}, "x-a": {}}, "patternProperties": {"^x-": False}, "additionalProperties": False}
    other = {"properties": {"a": {"type": "string"}, "x-b": {}}, "additionalProperties": False}
    flat = flatten({"allOf": [closed, other]})
    assert flat == {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    allowed = {"patternProperties": {"^a": {}, "^[ab]+$": False}, "additionalProperties": False}
    assert flatten({"allOf": [allowed, {"minProperties": 1}]}) == {**allowed, "minProperties": 1}  # `ab` has both
    unsure = {"properties": {"a": {}}, "patternProperties": {"(?<=x)a": {"minimum": 1}}, "additionalProperties": False}
    assert "allOf" in flatten({"allOf": [unsure, other]})


@pytest.mark.parametrize(("count", "apart"), [(100, 1), (150, 2)])
def test_groups_with_too_many_names_to_hold_against_patterns_stay_apart(count: int, apart: int) -> None:
    """The first joins neither of the others, as validators differ over its pattern; these two are joined if they are small."""
    first = {"patternProperties": {"(?<=m)a": {}}, "additionalProperties": {"type": "integer"}}
    patterns = {"patternProperties": {f"^a{number}b": {} for number in range(count)}, "additionalProperties": {"minimum": 1}}
    names = {"properties": {f"n{number}": {"maximum": 3} for number in range(count)}}
    flat = flatten({"allOf": [first, patterns, names]})
    assert isinstance(flat, dict)
    assert len(flat["allOf"]) == apart
    judge = jsonschema_rs.Draft202012Validator(flat)
    assert [judge.is_valid({"n1": value}) for value in (0, 2, 2.5, 4)] == [False, True, False, False]
