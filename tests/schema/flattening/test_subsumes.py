"""Whether one schema accepts all that another does."""

# ruff: noqa: FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from typing import Any

import jsonschema_rs
from every_case import every_case
from making import Maker

from instrc.schema.flattening.flatten import flatten
from instrc.schema.inclusion import comparable, subsumes  # the verdict inside, which answers on any keyword
from instrc.schema.samples import instances  # many values near the bounds
from instrc.text.jsonvalue import Json

WIDER: list[tuple[Any, Any]] = [
    ({"type": "number"}, {"type": "integer"}),
    (True, {"type": "string"}),
    ({"type": "string"}, False),
    ({"properties": {"a": {}}}, {"properties": {"a": {"type": "string"}}, "required": ["a"]}),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"minLength": 1}}}, {"allOf": [{"minLength": 2}, {"maxLength": 5}]}),
    ({"type": "object"}, {"type": "object", "additionalProperties": False}),
]
NARROWER: list[tuple[Any, Any]] = [
    ({"type": "integer"}, {"type": "number"}),
    ({"type": "string"}, {"type": ["string", "null"]}),
    ({"enum": ["a"]}, {"enum": ["a", "b"]}),
    ({"const": 1}, {"enum": [1, 2]}),
    ({"type": "object", "required": ["a"]}, {"type": "object"}),
    ({"type": "object", "required": ["a", "b"]}, {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"]}),
    ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, {"type": "object", "properties": {"b": {}}}),
    ({"type": "object", "properties": {"a": {"maxLength": 3}}}, {"type": "object", "properties": {"a": {"maxLength": 4}}}),
    ({"items": {"minimum": 3}}, {"items": {"minimum": 2}}),
    ({"type": "array", "maxItems": 2}, {"type": "array", "minItems": 2}),
    ({"type": "array", "uniqueItems": True}, {"type": "array"}),
    ({"prefixItems": [{"type": "string"}, {"type": "null"}]}, {"type": "array", "prefixItems": [{"type": "string"}]}),
    ({"minimum": 3}, {"exclusiveMinimum": 2}),
    ({"multipleOf": 4}, {"multipleOf": 2}),
    ({"anyOf": [{"type": "null"}, {"minLength": 3}]}, {"oneOf": [{"type": "null"}, {"type": "string", "minLength": 2}]}),
    (
        {"properties": {"kids": {"items": {"$ref": "#"}}, "n": {"type": "integer"}}},
        {"properties": {"kids": {"items": {"$ref": "#"}}, "n": {"type": "number"}}},
    ),
    ({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"maximum": 1, "items": {"$ref": "#/$defs/a"}}}}, {"items": {"maximum": 2}}),
    (False, {"const": {"a": 1}}),
    ({"additionalProperties": {"dependentRequired": {"b": ["a"]}}}, {"exclusiveMaximum": 3}),
    ({"patternProperties": {"b$": {"const": "a"}, "^a": False}, "multipleOf": 0.1}, {"not": {"maximum": 2}}),
    ({"items": {"pattern": "b$"}}, {"additionalProperties": False, "contains": {}}),
    ({"prefixItems": [{"dependentRequired": {"a": ["ab"]}}]}, {"format": "date"}),
    ({"properties": {"ab": {"maxProperties": 2}}}, {"properties": {"ab": {"multipleOf": 0.1}}}),
    ({"dependentSchemas": {"a": {"required": ["q"]}}}, {"type": "object"}),
    ({"items": {"maxItems": 3}}, {"type": "array"}),
    ({"type": "object", "required": ["x"]}, {"allOf": [{"pattern": "a"}, {"pattern": "b"}], "type": ["string", "object"]}),
]


@every_case(("wide", "narrow"), WIDER)
def test_yes_is_proven(wide: Any, narrow: Any) -> None:
    assert subsumes(wide, narrow).verdict == "yes"
    assert subsumes(wide, wide).verdict == "yes"


@every_case(("narrow", "wide"), NARROWER)
def test_no_has_a_witness(narrow: Any, wide: Any) -> None:
    found = subsumes(narrow, wide)
    assert found.verdict == "no"
    assert jsonschema_rs.is_valid(flatten(wide), found.witness)
    assert not jsonschema_rs.is_valid(flatten(narrow), found.witness)


def test_what_cannot_be_told_is_unknown() -> None:
    found = subsumes({"pattern": "^(?:aab|ccd)+$"}, {"pattern": "^(?:aab|ccd){7}x?$"})
    assert (found.verdict, found.witness) == ("unknown", None)
    assert subsumes({"type": "text"}, {"type": "string"}).verdict == "unknown"


def test_dialects_count() -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
    assert subsumes(old, {"type": "array"}).verdict == "no"
    assert (
        subsumes({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "number"}, {"type": "integer"}).verdict
        == "yes"
    )


def test_references_lead_to_the_documents_given() -> None:
    assert subsumes({"$ref": "aug:a"}, {"type": "integer"}, {"aug:a": {"type": "number"}}).verdict == "yes"


def test_instances_are_bounded_and_all_different() -> None:
    deep: Any = {"type": "string"}
    for _ in range(30):
        deep = {"properties": {"a": deep, "b": deep}, "items": deep, "anyOf": [deep], "minItems": 2}
    found = list(instances(deep))
    assert 10 < len(found) <= 4000
    assert len({repr(value) for value in found}) >= len(found) * 0.9
    assert list(instances(False)) == []
    odd = {
        "$ref": "https://e.com",
        "minLength": "x",
        "required": 3,
        "properties": [],
        "enum": 3,
        "maxLength": 10**9,
        "minItems": "a",
    }
    assert list(instances(odd))
    assert list(instances({"$ref": "#/no"}))
    assert list(instances({"$ref": "#/$defs/no", "$defs": {"no": False}}))


def test_instances_have_sizes_that_just_fit_and_the_next_above() -> None:
    lists = [value for value in instances({"type": "array", "items": {"const": 1}, "maxItems": 7}) if isinstance(value, list)]
    texts = [value for value in instances({"type": "string", "maxLength": 7}) if isinstance(value, str)]
    assert {len(value) for value in lists} >= {7, 8}
    assert {len(value) for value in texts} >= {7, 8}


def test_nearly_all_that_is_refuted_has_a_witness() -> None:
    found = {"no": 0, "unknown": 0}
    for seed in range(600):
        maker = Maker(seed)
        wide, narrow = maker.schema(1), maker.schema(1)
        try:
            refuted = jsonschema_rs.canonicalize(wide).covers(jsonschema_rs.canonicalize(narrow))
        except ValueError:
            continue
        if refuted == jsonschema_rs.canonical.Containment.NO:
            found[subsumes(wide, narrow).verdict] += 1
    assert found["no"] > 150
    assert found["unknown"] <= 0.02 * found["no"]


@every_case("keyword", ["minimum", "maximum", "exclusiveMaximum", "multipleOf"])
def test_a_bound_that_no_float_holds_is_compared(keyword: str) -> None:
    bound = 10**400
    assert subsumes({"type": "integer", keyword: bound}, {"type": "string"}).verdict == "no"
    assert subsumes({"type": "integer"}, {"type": "integer", keyword: bound}).verdict == "yes"


def recursive(*first: Json) -> Json:
    """Return a schema that refers to a definition which refers to itself."""
    again = {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/f"}}, "additionalProperties": False}
    return {"type": "object", "properties": {"f": {"$ref": "#/$defs/f"}}, "$defs": {"f": {"anyOf": [*first, again]}}}


def test_references_of_the_same_name_to_different_definitions_prove_nothing() -> None:
    found = subsumes(recursive(), recursive({"type": "string"}))
    assert found.verdict == "no"
    assert isinstance(found.witness, dict)
    assert isinstance(found.witness["f"], str)
    assert subsumes(recursive({"type": "string"}), recursive({"type": "string"})).verdict == "yes"


def test_parts_that_are_shared_many_times_over_are_looked_at_once() -> None:
    part: Any = {"$ref": "#/$defs/a"}
    for _ in range(60):
        part = {"properties": {"a": part, "b": part}}
    shared = {**part, "$defs": {"a": {"minimum": 1}}}
    assert comparable(shared, shared)
    assert not comparable(shared, {**part, "$defs": {"a": {"minimum": 2}}})


def test_roots_that_refer_to_themselves_are_compared_unless_something_turns_them_around() -> None:
    def tree(*kinds: str, **more: Json) -> Json:
        return {"type": "object", "properties": {"c": {"$ref": "#"}, "v": {"type": [*kinds]}, **more}}

    assert subsumes(tree("integer", "string"), tree("string")).verdict == "yes"
    assert subsumes(tree("string"), tree("integer", "string")).verdict == "no"
    turned: Json = {"not": {"$ref": "#"}}
    assert subsumes(tree("integer", "string", n=turned), tree("string", n=turned)).verdict != "yes"


@every_case("draft", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"])
def test_a_format_asserts_nothing_in_any_draft(draft: str) -> None:
    date: dict[str, Json] = {"$schema": draft, "type": "string", "format": "date-time"}
    assert subsumes({**date, "minLength": 5}, date).verdict == "no"


DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@every_case(
    ("wide", "narrow", "verdict"),
    [
        ({"contains": {}, "minContains": 2}, {"$schema": DRAFT_7, "contains": {}, "minContains": 2}, "no"),
        ({"$schema": DRAFT_7, "contains": {}, "minContains": 0}, {}, "no"),
        ({"prefixItems": [{"type": "string"}]}, {"$schema": DRAFT_7, "prefixItems": [{"type": "string"}]}, "no"),
        ({"prefixItems": [{"type": "string"}]}, {"$schema": DRAFT_7, "items": [{"type": "string"}]}, "yes"),
        ({"$schema": DRAFT_7, "dependentRequired": {"a": ["b"]}}, {"type": "object"}, "yes"),
        ({"const": 1}, {"$schema": DRAFT_4, "const": 1}, "no"),
        ({"$schema": DRAFT_4, "const": 1}, {"type": "string"}, "yes"),
        ({"exclusiveMaximum": 5}, {"$schema": DRAFT_4, "maximum": 5, "exclusiveMaximum": True}, "yes"),
    ],
)
def test_each_schema_is_read_in_its_own_draft(wide: Json, narrow: Json, verdict: str) -> None:
    assert subsumes(wide, narrow).verdict == verdict


def test_witnesses_that_lack_something_required() -> None:
    wide = {"type": "object", "required": ["a"]}
    assert subsumes(wide, {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}).verdict in {"no", "unknown"}
    assert subsumes({"type": "object", "required": ["zz"]}, {"type": "object", "required": ["a", "b"]}).witness is not None
