"""What references lead to: bases, anchors, pointers, dynamic scopes, documents; and what happens if they lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
import pytest
from every_case import every_case

from instrc import CompileError, Report, Source
from instrc.schema.flattening.definitions import Gathering  # names of definitions without a document
from instrc.schema.flattening.flatten import flatten
from instrc.schema.references import SchemaStore
from instrc.schema.walk import refers


def names(error: pytest.ExceptionInfo[CompileError]) -> list[str]:
    return [problem.name for problem in error.value.problems]


SAME: dict[str, tuple[Any, Any]] = {
    "a definition": ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, {"type": "string"}),
    "a definition of old": ({"$ref": "#/definitions/a", "definitions": {"a": {"minimum": 1}}}, {"minimum": 1}),
    "a boolean": ({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": False}}, {"properties": {"x": False}}),
    "escapes": ({"$ref": "#/$defs/a~1b~0c%25", "$defs": {"a/b~c%": {"minimum": 1}}}, {"minimum": 1}),
    "an escaped slash at the start": ({"$ref": "#%2F$defs%2Fa", "$defs": {"a": {"minimum": 1}}}, {"minimum": 1}),
    "an item of a list": ({"prefixItems": [{"minimum": 1}, {"$ref": "#/prefixItems/0"}]}, {"prefixItems": [{"minimum": 1}] * 2}),
    "a keyword that nobody knows": (
        {"properties": {"x": {"$ref": "#/x-more/deep/0"}}, "x-more": {"deep": [{"allOf": [{"minimum": 1}, {"maximum": 2}]}]}},
        {
            "properties": {"x": {"minimum": 1, "maximum": 2}},
            "x-more": {"deep": [{"allOf": [{"minimum": 1}, {"maximum": 2}]}]},
        },
    ),
    "an anchor": ({"$ref": "#here", "$defs": {"a": {"$anchor": "here", "minimum": 1}}}, {"minimum": 1}),
    "an escaped anchor": ({"$ref": "#h%65re", "$defs": {"a": {"$anchor": "here", "minimum": 1}}}, {"minimum": 1}),
    "an embedded resource": (
        {"$id": "https://e.com/root", "$ref": "b", "$defs": {"b": {"$id": "b", "minimum": 1}}},
        {"$id": "https://e.com/root", "minimum": 1},
    ),
    "a pointer into an embedded resource, from outside": (
        {
            "$id": "https://e.com/root",
            "$ref": "#/$defs/b/properties/x",
            "$defs": {"b": {"$id": "b", "$defs": {"y": {"minimum": 1}}, "properties": {"x": {"$ref": "#/$defs/y"}}}},
        },
        {"$id": "https://e.com/root", "minimum": 1},
    ),
    "an anchor of the resource, not of the one inside": (
        {
            "$ref": "#a",
            "$defs": {"in": {"$id": "https://e.com/in", "$defs": {"x": {"$anchor": "a", "minimum": 1}}}, "y": {"$anchor": "a"}},
        },
        True,
    ),
    "siblings count": ({"$ref": "#/$defs/a", "minLength": 3, "$defs": {"a": {"minLength": 5}}}, {"minLength": 5}),
    "a chain of references": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": {"minimum": 1}}},
        {"minimum": 1},
    ),
    "the same reference twice": (
        {"items": {"$ref": "#/$defs/a"}, "contains": {"$ref": "#/$defs/a"}, "$defs": {"a": {"allOf": [{"minimum": 1}]}}},
        {"items": {"minimum": 1}, "contains": {"minimum": 1}},
    ),
    "a dynamic reference with no outer anchor": (
        {"$dynamicRef": "#t", "$defs": {"a": {"$dynamicAnchor": "t", "minimum": 1}}},
        {"minimum": 1},
    ),
    "a dynamic reference to a plain anchor": (
        {"$dynamicRef": "#t", "$defs": {"a": {"$anchor": "t", "minimum": 1}}},
        {"minimum": 1},
    ),
    "a dynamic reference by pointer": (
        {"$dynamicRef": "#/$defs/a", "$defs": {"a": {"$dynamicAnchor": "t", "minimum": 1}}},
        {"minimum": 1},
    ),
    "a urn": (
        {"$id": "urn:x:root", "$ref": "urn:x:a", "$defs": {"a": {"$id": "urn:x:a", "minimum": 1}}},
        {"$id": "urn:x:root", "minimum": 1},
    ),
}


@every_case("what", SAME)
def test_a_reference_leads_to(what: str) -> None:
    schema, flat = SAME[what]
    assert flatten(schema) == flat


def test_data_that_looks_like_a_reference_is_data() -> None:
    schema = {
        "const": {"$ref": "#/nowhere"},
        "enum": [{"allOf": [{"$ref": "#/nowhere"}]}, {"$ref": "#/nowhere"}],
        "default": {"$ref": "#/nowhere"},
        "examples": [{"$ref": "#/nowhere"}],
        "x-other": {"$ref": "#/nowhere"},
    }
    assert flatten(schema) is schema
    folded = flatten({"allOf": [schema, {"type": "object"}]})
    assert folded["default"] == {"$ref": "#/nowhere"}


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"properties": {"$ref": {"type": "string"}, "allOf": {"type": "array"}, "$id": {}}, "required": ["$ref"]}
    assert flatten(schema) is schema


def test_recursion_stays_with_a_definition_by_name() -> None:
    flat = flatten(
        {
            "properties": {"tree": {"$ref": "#/$defs/Node"}},
            "$defs": {
                "Node": {"allOf": [{"$ref": "#/$defs/Leaf"}, {"properties": {"kids": {"items": {"$ref": "#/$defs/Node"}}}}]},
                "Leaf": {"required": ["name"]},
            },
        }
    )
    assert flat == {
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"required": ["name"], "properties": {"kids": {"items": {"$ref": "#/$defs/Node"}}}}},
    }
    assert flatten(flat) == flat


def test_a_recursive_root_refers_to_itself() -> None:
    schema = {"properties": {"kids": {"items": {"$ref": "#"}}}}
    assert flatten(schema) == schema


@every_case(
    ("schema", "name"),
    [
        (
            {"items": {"$ref": "#/$defs/Дерево"}, "$defs": {"Дерево": {"title": "A tree!", "items": {"$ref": "#/$defs/Дерево"}}}},
            "Derevo",
        ),
        ({"items": {"$ref": "#/$defs/d%C3%A9j%C3%A0"}, "$defs": {"déjà": {"items": {"$ref": "#/$defs/déjà"}}}}, "deja"),
        ({"items": {"$ref": "#node"}, "$defs": {"x": {"$anchor": "node", "items": {"$ref": "#node"}}}}, "node"),
        ({"items": {"allOf": [{"$ref": "#/$defs/a"}, {"title": "Of b"}]}, "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, "a"),
    ],
)
def test_names_of_definitions_are_ascii(schema: Any, name: str) -> None:
    definitions = flatten(schema)["$defs"]
    assert all(key.isascii() for key in definitions)
    assert name in definitions


def test_two_definitions_of_one_name_are_kept_apart() -> None:
    def tree(kind: str) -> Any:
        return {"$defs": {"T": {"type": kind, "items": {"$ref": "#/$defs/T"}}}, "$ref": "#/$defs/T"}

    flat = flatten(
        {
            "allOf": [{"minimum": 1}],
            "properties": {"a": {"$id": "https://e.com/a", **tree("array")}, "b": {"$id": "https://e.com/b", **tree("null")}},
        }
    )
    assert set(flat["$defs"]) == {"T", "T_2"}
    judge = jsonschema_rs.Draft202012Validator(flat)
    assert judge.is_valid({"a": [[]], "b": None})
    assert not judge.is_valid({"a": [None]})


def test_only_definitions_that_are_needed_are_left() -> None:
    schema = {"allOf": [{"type": "object"}], "$defs": {"unused": {"type": "string"}, "T": {"items": {"$ref": "#/$defs/T"}}}}
    assert flatten(schema) == {"type": "object"}


def test_documents_are_given_by_uri_and_their_own_references_go_from_there() -> None:
    documents = {
        "https://e.com/lib/a": {"$ref": "b#/$defs/x"},
        "https://e.com/lib/b": {"$defs": {"x": {"minimum": 1}}},
    }
    assert flatten({"items": {"$ref": "https://e.com/lib/a"}}, documents) == {"items": {"minimum": 1}}
    assert flatten({"items": {"$ref": "lib/a"}}, documents, base="https://e.com/main") == {"items": {"minimum": 1}}


def test_a_document_may_be_known_by_a_name_it_gives_itself() -> None:
    documents = {"https://store/1": {"$id": "https://e.com/real", "minimum": 1}, "https://store/2": {"maximum": 1}}
    assert flatten({"$ref": "https://e.com/real", "maximum": 3}, documents) == {"minimum": 1, "maximum": 3}


def test_a_document_may_be_given_with_an_empty_fragment() -> None:
    assert flatten({"$ref": "https://e.com/a#"}, {"https://e.com/a#": {"minimum": 1}}) == {"minimum": 1}


class Lazy(Mapping[str, Any]):
    """Documents that are read when they are asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getitem__(self, uri: str) -> Any:
        self.asked.append(uri)
        return {"aug:a": {"minimum": 1}}[uri]

    def __iter__(self) -> Iterator[str]:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


def test_documents_are_read_only_when_they_are_needed() -> None:
    lazy = Lazy()
    assert flatten({"allOf": [{"$ref": "aug:a"}, {"$ref": "aug:a"}], "$defs": {"x": {"$ref": "aug:b"}}}, lazy) == {"minimum": 1}
    assert lazy.asked == ["aug:a"]
    with pytest.raises(CompileError) as error:
        flatten({"$ref": "aug:b"}, lazy)
    assert names(error) == ["unresolved-reference"]


def test_documents_that_are_read_when_asked_for_are_not_all_read_to_find_an_identifier() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"$ref": "https://e.com/no"}, Lazy())
    assert names(error) == ["forbidden-reference"]


def test_meta_schemas_are_known() -> None:
    flat = flatten({"properties": {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}})
    judge = jsonschema_rs.Draft202012Validator(flat)
    assert judge.is_valid({"schema": {"properties": {"a": {"type": "string"}}}})
    assert not judge.is_valid({"schema": {"properties": {"a": {"type": "text"}}}})
    assert flatten(flat) == flat
    old = jsonschema_rs.Draft202012Validator(flatten({"$ref": "http://json-schema.org/draft-07/schema#"}))
    assert old.is_valid({"items": [{}]})
    assert not old.is_valid({"type": 3})


@every_case(
    ("schema", "name"),
    [
        ({"$ref": "#/$defs/none", "$defs": {"one": {}}}, "unresolved-reference"),
        ({"$ref": "#/prefixItems/2", "prefixItems": [{}]}, "unresolved-reference"),
        ({"$ref": "#/prefixItems/x", "prefixItems": [{}]}, "unresolved-reference"),
        ({"$ref": "#none"}, "unresolved-reference"),
        ({"$ref": "other.json"}, "unresolved-reference"),
        ({"$ref": "urn:x:y"}, "unresolved-reference"),
        ({"$ref": "aug:none"}, "unresolved-reference"),
        ({"$ref": "https://e.com/none"}, "forbidden-reference"),
        ({"$ref": "file:///etc/passwd"}, "forbidden-reference"),
        ({"$ref": "https://json-schema.org/none"}, "forbidden-reference"),
        ({"$ref": "#/title", "title": "a"}, "invalid-schema"),
        ({"allOf": [3]}, "invalid-schema"),
        ({"not": {"allOf": [{}, "x"]}}, "invalid-schema"),
        ("x", "invalid-schema"),
        (None, "invalid-schema"),
        ([], "invalid-schema"),
    ],
)
def test_what_leads_nowhere_is_a_problem(schema: Any, name: str) -> None:
    with pytest.raises(CompileError) as error:
        flatten(schema)
    assert names(error) == [name]
    assert all(problem.message for problem in error.value.problems)


def test_a_circle_that_is_come_to_twice_is_reported_once() -> None:
    report = Report()
    circle = {"$ref": "#/$defs/a", "type": "string"}
    flatten(
        {
            "properties": {"x": {"$ref": "#/$defs/a", "minimum": 1}, "y": {"$ref": "#/$defs/a", "minimum": 2}},
            "$defs": {"a": circle},
        },
        report=report,
    )
    assert [problem.name for problem in report.problems] == ["reference-cycle"]


def test_a_recursion_whose_reference_has_no_name_is_named_by_its_title() -> None:
    inner = {"$id": "https://e.com/", "properties": {"n": {"$ref": "#", "title": "A node"}}}
    flat = flatten({"properties": {"x": inner}})
    assert list(flat["$defs"]) == ["A_node"]


@every_case(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"allOf": [{"$dynamicRef": "#m"}], "$dynamicAnchor": "m"},
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a", "type": "string"}}},
    ],
)
def test_a_circle_with_nothing_in_between_adds_nothing_and_is_reported(schema: Any) -> None:
    report = Report()
    flat = flatten(schema, report=report)
    assert [problem.name for problem in report.problems] == ["reference-cycle"]
    assert report.failed
    assert flatten(schema) == flat
    for instance in (1, "x", [2], {"x": 1}, {"x": "y"}):
        assert jsonschema_rs.is_valid(flat, instance) == jsonschema_rs.is_valid(schema, instance)


def test_the_nearest_names_are_offered() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"$ref": "#/$defs/adress", "$defs": {"address": {}}})
    (problem,) = error.value.problems
    assert problem.hint is not None
    assert "address" in problem.hint


def test_problems_have_a_place_if_the_caller_knows_places() -> None:
    source = Source("a.json", "x" * 100)
    asked: list[tuple[str, str]] = []

    def locate(uri: str, pointer: str) -> Any:
        asked.append((uri, pointer))
        return source.span(1, 2)

    for schema in ({"items": [{"a": 1}, 2], "not": {"$ref": "#/no"}}, {"not": {"allOf": [2]}}, {"not": {"$dynamicRef": "#no"}}):
        with pytest.raises(CompileError) as error:
            flatten(schema, base="aug:x", locate=locate)
        assert error.value.problems[0].at == source.span(1, 2)
    assert asked == [("aug:x", "/not/$ref"), ("aug:x", "/not"), ("aug:x", "/not/$dynamicRef")]


LIBRARY = {
    "aug:/forms/letter:1": {
        "properties": {
            "sender": {"$anchor": "from", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
            "readers": {"items": {"anyOf": [{"properties": {"name": {"type": "null"}}}]}},
        },
        "default": {"properties": {"age": {}}},
    }
}


def test_a_fragment_names_an_anchor_a_pointer_or_the_only_property_of_that_name() -> None:
    def to(fragment: str) -> Any:
        return flatten({"$ref": f"aug:/forms/letter:1#{fragment}"}, LIBRARY)

    assert to("age") == {"type": "integer"}
    assert to("/properties/sender/properties/name") == {"type": "string"}
    assert set(to("from")) == {"properties"}
    with pytest.raises(CompileError) as error:
        to("name")
    (problem,) = error.value.problems
    assert problem.name == "ambiguous-fragment"
    assert problem.pointers == (  # type: ignore[attr-defined]
        "/properties/readers/items/anyOf/0/properties/name",
        "/properties/sender/properties/name",
    )
    assert problem.places == ()  # type: ignore[attr-defined]
    with pytest.raises(CompileError) as error:
        to("agee")
    assert "age" in str(error.value.problems[0].hint)


def test_the_properties_that_a_fragment_may_mean_are_shown_where_they_stand() -> None:
    source = Source("letter.json", "x" * 200)
    with pytest.raises(CompileError) as error:
        flatten({"$ref": "aug:/forms/letter:1#name"}, LIBRARY, locate=lambda _, pointer: source.span(len(pointer), 60))
    (problem,) = error.value.problems
    assert problem.places == tuple(source.span(len(each), 60) for each in problem.pointers)  # type: ignore[attr-defined]


def test_elsewhere_a_fragment_names_no_property() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"properties": {"a": {}, "b": {"$ref": "#a"}}})
    assert names(error) == ["unresolved-reference"]
    assert flatten({"properties": {"a": {"minimum": 1}, "b": {"$ref": "#a"}}}, base="aug:x")["properties"]["b"] == {"minimum": 1}


def test_uris_under_aug_are_never_joined() -> None:
    documents = {"aug:a/b": {"$ref": "c"}, "aug:a/c": {}}
    with pytest.raises(CompileError):
        flatten({"$ref": "aug:a/b"}, documents)
    assert flatten({"$id": "aug:a/b", "items": {"$ref": "aug:a/c"}}, documents) == {"$id": "aug:a/b", "items": {}}


@pytest.mark.parametrize(
    ("given", "name"),
    [("Узел", "Uzel"), ("naïve", "naive"), ("節", "Jie"), ("\u200b", "schema"), ("!", "schema")],
)
def test_definitions_in_other_scripts_get_readable_ascii_names(given: str, name: str) -> None:
    node = {"properties": {"next": {"$ref": f"#/$defs/{given}"}}}
    flat = flatten({"items": {"$ref": f"#/$defs/{given}"}, "$defs": {given: node}})
    assert flat["$defs"] == {name: {"properties": {"next": {"$ref": f"#/$defs/{name}"}}}}


def test_definitions_are_named_after_titles_where_references_say_nothing() -> None:
    flat = flatten({"items": {"allOf": [True, {"title": "Tree of life", "$id": "https://e.com/", "items": {"$ref": "#"}}]}})
    (name,) = flat["$defs"]
    assert name in {"Tree_of_life", "schema"}
    again = flatten(
        {
            "anyOf": [{"$ref": "#/$defs/a"}],
            "$defs": {
                "a": {"title": "A", "allOf": [True, {"$ref": "#/$defs/b"}]},
                "b": {"not": {"allOf": [{"$ref": "#/$defs/a"}, True]}},
            },
        }
    )
    assert set(again["$defs"]) == {"a"}


def test_a_closed_recursion_that_is_folded_again_keeps_its_definition() -> None:
    schema = {
        "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {
            "T": {
                "allOf": [
                    {"patternProperties": {"^b": {}}},
                    {
                        "properties": {"b1": {"$ref": "#/$defs/T"}},
                        "additionalProperties": {"allOf": [{"type": "null"}, {"type": "array"}]},
                    },
                ]
            }
        },
    }
    flat = flatten(schema)
    assert flat["$defs"]["T"] == {"properties": {"b1": {"$ref": "#/$defs/T"}}, "additionalProperties": False}


def test_a_dynamic_reference_that_begins_at_another_resource() -> None:
    schema = {
        "$id": "https://e.com/r",
        "$dynamicRef": "other#a",
        "$defs": {"o": {"$id": "other", "$defs": {"x": {"$dynamicAnchor": "a", "minimum": 1}}}},
    }
    assert flatten(schema) == {"$id": "https://e.com/r", "minimum": 1}


def test_names_are_looked_for_below_every_keyword() -> None:
    document = {
        "not": {"properties": {"deep": {"minimum": 1}}},
        "items": True,
        "anyOf": [True],
        "x-data": {"properties": {"deep": {}}},
    }
    assert flatten({"$ref": "aug:x#deep"}, {"aug:x": document}) == {"minimum": 1}


def test_whether_anything_refers() -> None:
    part = {"minimum": 1}
    assert not refers({"anyOf": [part, part, True]})
    assert refers({"anyOf": [part, {"not": {"$ref": "#"}}]})


class Refusing(dict[str, Any]):
    """Documents of which one is known to be wrong."""

    def __getitem__(self, uri: str) -> Any:
        with pytest.raises(CompileError) as error:
            flatten({"$ref": "#/nowhere"})
        raise error.value


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


def test_what_a_mapping_knows_of_a_document_is_told() -> None:
    with pytest.raises(CompileError) as error:
        flatten({"$ref": "https://e.com/a"}, Refusing())
    assert [problem.name for problem in error.value.problems] == ["unresolved-reference"]


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
