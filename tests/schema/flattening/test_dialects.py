"""Older dialects are read as what they say today."""

from __future__ import annotations

from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from every_case import every_case

from instrc import CompileError
from instrc.schema.drafts import DRAFT_4, dialect_of_uri, modern  # one draft by itself
from instrc.schema.drafts import NULLABLE as TODAY_WITH_NULLABLE
from instrc.schema.flattening.flatten import flatten
from instrc.schema.upgrade import upgrade
from instrc.schema.wellformed import problems_of

LATEST = "https://json-schema.org/draft/2020-12/schema"
D4, D6, D7 = (f"http://json-schema.org/draft-0{year}/schema#" for year in (4, 6, 7))
D19 = "https://json-schema.org/draft/2019-09/schema"
OPENAPI = "https://spec.openapis.org/oas/3.0/schema/2021-09-28"
FOLD: dict[str, Any] = {"allOf": [{"title": "t"}]}

READ: dict[str, tuple[Any, Any]] = {
    "exclusive bounds of draft 4": (
        {"$schema": D4, "minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False},
        {"exclusiveMinimum": 1, "maximum": 5},
    ),
    "an exclusive bound without its bound": ({"$schema": D4, "exclusiveMinimum": True}, {}),
    "identifiers of draft 4": (
        {
            "$schema": D4,
            "id": "http://e.com/a",
            "properties": {"x": {"$ref": "#b"}},
            "definitions": {"b": {"id": "#b", "minimum": 1}},
        },
        {"properties": {"x": {"minimum": 1}}},
    ),
    "what draft 4 does not know": (
        {"$schema": D4, "const": 1, "if": {}, "then": False, "contains": {}, "type": "array"},
        {"type": "array"},
    ),
    "what draft 6 does not know": ({"$schema": D6, "const": 1, "if": {}, "then": False}, {"const": 1}),
    "what draft 7 does not know": (
        {"$schema": D7, "dependentRequired": {"a": ["b"]}, "if": {}, "then": {"minimum": 1}, "else": False},
        {"if": {}, "then": {"minimum": 1}, "else": False},
    ),
    "lists of items": (
        {"$schema": D7, "items": [{"minimum": 1}], "additionalItems": False},
        {"prefixItems": [{"minimum": 1}], "items": False},
    ),
    "additional items beside one schema": (
        {"$schema": D7, "items": {"minimum": 1}, "additionalItems": False},
        {"items": {"minimum": 1}},
    ),
    "dependencies": (
        {"$schema": D7, "dependencies": {"a": ["b"], "c": {"minProperties": 2}, "d": "e"}},
        {"dependentRequired": {"a": ["b"], "d": ["e"]}, "dependentSchemas": {"c": {"minProperties": 2}}},
    ),
    "references silence their neighbours": (
        {
            "$schema": D7,
            "properties": {"x": {"$ref": "#/definitions/a", "minimum": 9, "description": "d"}},
            "definitions": {"a": {"maximum": 1}},
        },
        {"properties": {"x": {"maximum": 1, "description": "d"}}},
    ),
    "an anchor of draft 7": (
        {"$schema": D7, "properties": {"x": {"$ref": "#a"}}, "definitions": {"b": {"$id": "#a", "minimum": 1}}},
        {"properties": {"x": {"minimum": 1}}},
    ),
    "an identifier with an anchor": (
        {
            "$schema": D7,
            "properties": {"x": {"$ref": "http://e.com/b#a"}},
            "definitions": {"b": {"$id": "http://e.com/b#a", "minimum": 1}},
        },
        {"properties": {"x": {"minimum": 1}}},
    ),
    "an identifier beside a reference does not count": (
        {
            "$schema": D7,
            "$id": "http://e.com/r",
            "properties": {"x": {"$id": "http://other/", "$ref": "b"}},
            "definitions": {"b": {"$id": "b", "minimum": 1}},
        },
        {"$id": "http://e.com/r", "properties": {"x": {"minimum": 1}}},
    ),
    "pointers into old keywords": (
        {"$schema": D7, "properties": {"x": {"$ref": "#/properties/y/items/0"}, "y": {"items": [{"minimum": 1}]}}},
        {"properties": {"x": {"minimum": 1}, "y": {"prefixItems": [{"minimum": 1}]}}},
    ),
    "prefixes that 2019-09 does not know": (
        {"$schema": D19, "prefixItems": [False], "items": [{"minimum": 1}]},
        {"prefixItems": [{"minimum": 1}]},
    ),
    "recursive references": (
        {"$schema": D19, "$recursiveAnchor": True, "properties": {"x": {"$recursiveRef": "#"}}},
        {"properties": {"x": {"$ref": "#"}}},
    ),
    "recursive references without an anchor": (
        {"$schema": D19, "properties": {"x": {"$recursiveRef": "#"}}},
        {"properties": {"x": {"$ref": "#"}}},
    ),
    "what 2019-09 leaves unevaluated": (
        {"$schema": D19, "items": [{"minimum": 1}], "unevaluatedItems": False},
        {"prefixItems": [{"minimum": 1}], "items": False},
    ),
    "nullable of OpenAPI": ({"$schema": OPENAPI, "type": "string", "nullable": True}, {"type": ["string", "null"]}),
}


@every_case("what", READ)
def test_when_something_is_folded_all_is_read_as_today(what: str) -> None:
    old, new = READ[what]
    flat = flatten({**old, **FOLD})
    assert flat.pop("$schema") == LATEST
    assert flat.pop("title") == "t"
    flat.pop("$id", None) if "$id" not in new else None
    assert flat == new


@every_case("what", READ)
def test_when_nothing_is_folded_nothing_changes(what: str) -> None:
    old, _ = READ[what]
    if "ecursive" not in what and "$ref" not in str(old):
        assert flatten(old) is old


SAME_VERDICTS: list[tuple[Any, list[Any]]] = [
    (
        {"$schema": D7, **FOLD, "items": [{"type": "string"}], "additionalItems": {"type": "null"}},
        [["a"], [1], ["a", None], ["a", 1]],
    ),
    ({"$schema": D4, **FOLD, "maximum": 3, "exclusiveMaximum": True, "type": "integer"}, [2, 3, "x"]),
    ({"$schema": D7, **FOLD, "dependencies": {"a": ["b"], "c": False}}, [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}]),
    (
        {"$schema": D19, **FOLD, "contains": {"minimum": 1}, "minContains": 2, "unevaluatedItems": {"maximum": 5}},
        [[1, 2], [1], [9, 9]],
    ),
    ({"$schema": D6, **FOLD, "propertyNames": {"maxLength": 1}, "contains": {"const": 1}}, [{"ab": 1}, {"a": 1}, [1], [2]]),
]


@every_case(("schema", "instances"), SAME_VERDICTS)
def test_verdicts_stay(schema: Any, instances: list[Any]) -> None:
    slow = jsonschema.validators.validator_for(schema)(schema)
    fast = jsonschema_rs.validator_for(schema)
    flat = jsonschema_rs.Draft202012Validator(flatten(schema))
    upgraded = jsonschema_rs.Draft202012Validator(upgrade(schema))
    for instance in instances:
        assert slow.is_valid(instance) == fast.is_valid(instance) == flat.is_valid(instance) == upgraded.is_valid(instance)


NULLABLE: list[tuple[Any, Any]] = [
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ({"type": "string", "nullable": False}, {"type": "string"}),
    ({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}),
    ({"nullable": True, "type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"nullable": True, "type": "string", "enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"nullable": True, "type": "string", "const": "a"}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"nullable": True, "minimum": 1}, {"minimum": 1}),
    ({"nullable": True, "type": 3}, {"type": 3}),
    ({"properties": {"a": {"nullable": True, "type": "null"}}}, {"properties": {"a": {"type": ["null"]}}}),
]


@every_case(("old", "new"), NULLABLE)
def test_nullable_is_read_if_asked_for(old: Any, new: Any) -> None:
    assert flatten(old) is old
    assert flatten(old, nullable=True) == new
    assert upgrade(old) is old
    assert upgrade(old, nullable=True) == new
    assert flatten({"allOf": [old]}, nullable=True) == new


@every_case(
    ("uri", "name"),
    [
        (LATEST, "2020-12"),
        (LATEST + "#", "2020-12"),
        (D4, "draft-04"),
        (D6, "draft-06"),
        (D7, "draft-07"),
        ("http://json-schema.org/draft-07/schema", "draft-07"),
        ("http://json-schema.org/draft-05/schema#", "draft-04"),
        (D19, "2019-09"),
        ("http://json-schema.org/schema#", "2020-12"),
        ("http://json-schema.org/draft-07/hyper-schema#", "draft-07"),
        (OPENAPI, "OpenAPI 3.0"),
        ("https://spec.openapis.org/oas/3.1/dialect/base", "2020-12"),
        ("http://json-schema.org/draft-03/schema#", None),
        ("https://e.com", None),
        (3, None),
    ],
)
def test_schema_decides_the_dialect(uri: Any, name: str | None) -> None:
    found = dialect_of_uri(uri)
    assert (found.name if found else None) == name


@every_case("uri", ["https://e.com/dialect", 3, "http://json-schema.org/draft-03/schema#"])
def test_an_unknown_dialect_is_a_problem(uri: Any) -> None:
    for schema in ({"$schema": uri}, {"allOf": [{"$id": "https://e.com/x", "$schema": uri}]}):
        with pytest.raises(CompileError) as error:
            flatten(schema)
        assert [problem.name for problem in error.value.problems] == ["unknown-dialect"]
        assert error.value.problems[0].hint


META = "https://e.com/meta"
CORE = "https://json-schema.org/draft/2020-12/vocab/"


def test_a_meta_schema_among_the_documents_may_leave_vocabularies_out() -> None:
    meta = {
        "$schema": LATEST,
        "$id": META,
        "$vocabulary": {CORE + "core": True, CORE + "applicator": True, "https://e.com/more": False},
    }
    schema = {"$schema": META, "allOf": [{"properties": {"a": {"minimum": 1}}, "unevaluatedProperties": False}]}
    assert flatten(schema, {META: meta}) == {"$schema": LATEST, "properties": {"a": True}}
    plain = {"$schema": META, "minimum": 1}
    assert flatten(plain, {META: meta}) is plain
    whole = {"$schema": LATEST}
    assert flatten({"$schema": META + "#", "allOf": [{"minimum": 1}]}, {META: whole})["minimum"] == 1
    old = {
        "$schema": D19,
        "$vocabulary": {
            "https://json-schema.org/draft/2019-09/vocab/applicator": True,
            "https://json-schema.org/draft/2019-09/vocab/validation": True,
        },
    }
    assert flatten({"$schema": META, "allOf": [{"minimum": 1}], "unevaluatedItems": False}, {META: old})["items"] is False


@every_case(
    "meta",
    [
        {"$schema": LATEST, "$vocabulary": {"https://e.com/needed": True}},
        {"$schema": META},
        {"$schema": "https://e.com/none"},
        {},
        True,
    ],
)
def test_a_meta_schema_that_asks_for_more_is_not_known(meta: Any) -> None:
    with pytest.raises(CompileError):
        flatten({"$schema": META, "allOf": [{}]}, {META: meta})


def test_an_embedded_resource_may_be_of_another_dialect() -> None:
    schema = {
        "allOf": [{"$id": "https://e.com/old", "$schema": D7, "items": [{"minimum": 1}], "prefixItems": False}],
        "properties": {
            "x": {"$id": "https://e.com/older", "$schema": D4, "minimum": 1, "exclusiveMinimum": True},
            "y": {"id": "https://e.com/oldest", "$schema": D4, "maximum": 1, "exclusiveMaximum": True},
        },
    }
    assert flatten(schema) == {
        "prefixItems": [{"minimum": 1}],
        "properties": {"x": {"exclusiveMinimum": 1}, "y": {"exclusiveMaximum": 1}},
    }


def test_a_document_without_a_dialect_speaks_that_of_its_referrer() -> None:
    documents = {"https://e.com/a": {"items": [{"minimum": 1}]}}
    assert flatten({"$schema": D7, "$ref": "https://e.com/a"}, documents)["prefixItems"] == [{"minimum": 1}]


def test_upgrading_moves_references() -> None:
    old = {
        "$schema": D7,
        "definitions": {
            "a": {"items": [{"minimum": 1}, {"$ref": "#/definitions/a/items/0"}]},
            "b": {"$id": "#b"},
            "c": {"$id": "http://e.com/c#d"},
        },
        "properties": {
            "x": {"$ref": "#/definitions/a", "minimum": 1},
            "y": {"$ref": "#b"},
            "z": {"$ref": "other#/definitions/q"},
            "r": {"$ref": "#"},
        },
        "dependencies": {"x": {"$ref": "#/definitions/none"}},
        "contains": True,
    }
    assert upgrade(old) == {
        "$schema": LATEST,
        "$defs": {
            "a": {"prefixItems": [{"minimum": 1}, {"$ref": "#/$defs/a/prefixItems/0"}]},
            "b": {"$anchor": "b"},
            "c": {"$id": "http://e.com/c", "$anchor": "d"},
        },
        "properties": {
            "x": {"$ref": "#/$defs/a"},
            "y": {"$ref": "#b"},
            "z": {"$ref": "other#/definitions/q"},
            "r": {"$ref": "#"},
        },
        "dependentSchemas": {"x": {"$ref": "#/definitions/none"}},
        "contains": True,
    }


def test_upgrading_identifiers_and_recursion() -> None:
    assert upgrade({"$schema": D4, "id": "http://e.com/a", "items": {"id": "#b"}}) == {
        "$schema": LATEST,
        "$id": "http://e.com/a",
        "items": {"$anchor": "b"},
    }
    assert upgrade({"$schema": D19, "$recursiveAnchor": True, "items": {"$recursiveRef": "#"}}) == {
        "$schema": LATEST,
        "items": {"$dynamicRef": "#recursive"},
        "$dynamicAnchor": "recursive",
    }
    assert upgrade({"$schema": D19, "items": {"$recursiveRef": "#"}}) == {"$schema": LATEST, "items": {"$ref": "#"}}
    embedded = {
        "items": {"$id": "https://e.com/x", "$schema": D7, "definitions": {"a": {}}, "items": [{"$ref": "#/definitions/a"}]}
    }
    assert upgrade(embedded)["items"] == {
        "$id": "https://e.com/x",
        "$schema": LATEST,
        "$defs": {"a": {}},
        "prefixItems": [{"$ref": "#/$defs/a"}],
    }
    both = {"$schema": D7, "definitions": {"a": {}}, "$defs": {"b": {}}}
    assert set(upgrade(both)) == {"$schema", "definitions", "$defs"}


def test_a_recursive_reference_says_nothing_today() -> None:
    """2019-09 has it, and 2020-12 another word for it."""
    inner = {"$recursiveRef": "#", "allOf": [{"minimum": 1}, {"maximum": 2}]}
    schema = {"multipleOf": 3, "properties": {"a": inner}}
    assert flatten(schema)["properties"]["a"] == {"minimum": 1, "maximum": 2}
    of_2019 = flatten({"$schema": D19, **schema})
    assert of_2019["properties"]["a"] == {"$ref": "#/$defs/schema"}
    assert of_2019["$defs"]["schema"]["multipleOf"] == 3


def test_what_is_of_today_stays_the_same_object() -> None:
    for schema in (True, {"allOf": [{"$ref": "#/x"}]}, {"$schema": LATEST, "items": {}}):
        assert upgrade(schema) is schema
    node = {"minimum": 1}
    assert modern(node, DRAFT_4) is node


def test_a_word_that_an_older_draft_does_not_know_stays_the_authors_own() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/a", "deprecated": "use b"}, "b": {"deprecated": True, "readOnly": False}},
        "definitions": {"a": {"type": "string", "deprecated": "long ago"}},
    }
    flat, origins = flatten(schema, trace=True)
    assert flat["properties"] == {
        "a": {"type": "string", "x-deprecated": "use b"},
        "b": {"deprecated": True, "readOnly": False},
    }
    assert [str(origin) for origin in origins["/properties/a/x-deprecated"]] == [
        "#/properties/a/deprecated",
        "#/definitions/a/deprecated",
    ]


@every_case(("draft", "known"), [("04", ()), ("06", ("examples",)), ("07", ("examples", "readOnly", "$comment"))])
def test_what_each_draft_lets_stand_for_anything(draft: str, known: tuple[str, ...]) -> None:
    words = {"examples": 1, "readOnly": "a", "$comment": 2}
    flat = flatten({"$schema": f"http://json-schema.org/draft-{draft}/schema#", "allOf": [{"minimum": 1}, words]})
    assert flat == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "minimum": 1,
        **{word if word in known else f"x-{word}": value for word, value in words.items()},
    }


DRAFT_4_URI = "http://json-schema.org/draft-04/schema#"
LEMON: dict[str, Any] = {
    "definitions": {
        "a": {"type": "integer"},
        "lemon": {
            "$schema": DRAFT_4_URI,
            "id": "schemata/lemon",
            "definitions": {"a": {"type": "string"}},
            "properties": {"x": {"$ref": "#/definitions/a"}},
        },
    },
    "properties": {"l": {"$ref": "#/definitions/lemon"}},
}


def test_the_id_of_an_older_draft_inside_a_newer_schema_begins_no_resource() -> None:
    assert flatten(LEMON) == {"properties": {"l": {"properties": {"x": {"type": "integer"}}}}}
    judge = jsonschema_rs.Draft202012Validator(LEMON)
    assert judge.is_valid({"l": {"x": 3}})
    assert not judge.is_valid({"l": {"x": "3"}})


def test_a_schema_that_names_an_older_draft_is_read_by_its_words_wherever_it_stands() -> None:
    old = {
        "$schema": DRAFT_4_URI,
        "const": 3,
        "minimum": 3,
        "exclusiveMinimum": True,
        "items": [{"type": "null"}],
        "properties": {"new": {"$ref": "#/$defs/new"}, "self": {"$ref": "#/properties/a/items/0"}},
    }
    schema = {"properties": {"a": old}, "$defs": {"new": {"const": 4, "prefixItems": [{}]}}}
    read = {"exclusiveMinimum": 3, "prefixItems": [{"type": "null"}]}
    new = {"const": 4, "prefixItems": [{}]}
    assert flatten(schema) == {"properties": {"a": {**read, "properties": {"new": new, "self": {"type": "null"}}}}}
    upgraded = upgrade(schema)
    assert upgraded["properties"]["a"]["properties"]["self"] == {"$ref": "#/properties/a/prefixItems/0"}
    assert flatten(upgraded) == flatten(schema)


def test_words_of_an_older_draft_are_read_where_there_is_nothing_to_fold() -> None:
    old = {"$schema": DRAFT_4_URI, "minimum": 3, "exclusiveMinimum": True, "items": [{"type": "null"}], "const": 4}
    read = {"exclusiveMinimum": 3, "prefixItems": [{"type": "null"}]}
    assert flatten({"properties": {"a": old}}) == {"properties": {"a": read}}
    assert flatten({"not": {"items": old}}) == {"not": {"items": read}}
    alone = {"properties": {"a": {"$schema": DRAFT_4_URI, "minimum": 3}}}
    assert flatten(alone) is alone


def test_a_schema_that_names_todays_draft_inside_an_older_one_is_read_by_todays_words() -> None:
    inner = {"$schema": "https://json-schema.org/draft/2020-12/schema", "const": 3}
    outer = {"$schema": DRAFT_4_URI, "properties": {"a": inner, "b": {"const": 3}}}
    assert flatten({"allOf": [{"$ref": "#/$defs/o"}], "$defs": {"o": {**outer, "$id": "o", "id": "o"}}})["properties"] == {
        "a": {"const": 3},
        "b": True,
    }


@every_case(
    ("written", "read"),
    [
        ({"enum": ["a"]}, {"enum": ["a", None]}),
        ({"const": "a"}, {"enum": ["a", None]}),
        ({"const": None}, {"const": None}),
        ({"anyOf": [{"type": "integer"}], "title": "t"}, {"title": "t", "anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"$ref": "#/$defs/a"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"allOf": [{"$ref": "#/$defs/a"}], "title": "t"}, {"title": "t", "anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"not": {"const": None}}, {"anyOf": [{"not": {"const": None}}, {"type": "null"}]}),
        ({"minLength": 3, "title": "t"}, {"minLength": 3, "title": "t"}),
    ],
)
def test_nullable_without_a_type_lets_null_in(written: Any, read: Any) -> None:
    both = {"p": {**written, "nullable": True}, "q": {**written, "nullable": False}}
    flat = flatten({"allOf": [{"properties": both}], "$defs": {"a": {"type": "string"}}}, nullable=True)
    assert flat["properties"]["p"] == read
    judge = jsonschema_rs.Draft202012Validator(flat)
    assert judge.is_valid({"p": None})
    assert judge.is_valid({"q": None}) is (written in ({"const": None}, {"minLength": 3, "title": "t"}))


@every_case(
    ("written", "read"),
    [
        ("string", ["string", "null"]),
        (["string", "null"], ["string", "null"]),
        ("strange", "strange"),
        (["string", "strange"], ["string", "strange"]),
        ([], []),
        (5, 5),
    ],
)
def test_nullable_beside_a_type_adds_null_to_types_that_there_are(written: Any, read: Any) -> None:
    assert modern({"type": written, "nullable": True}, TODAY_WITH_NULLABLE) == {"type": read}


@every_case(
    "inner",
    [{"$schema": LATEST, "$id": "inner"}, {"$schema": D4, "id": "inner"}, {"id": "inner"}],
    ids=["today", "named", "same"],
)
def test_a_resource_inside_one_of_draft_4_has_the_identifier_of_its_own_draft(inner: Any) -> None:
    outer = {"$schema": D4, "id": "https://a.example/", "properties": {"p": {"$ref": "inner"}}}
    made = flatten({**outer, "definitions": {"i": {**inner, "type": "string"}}})
    assert made["properties"] == {"p": {"type": "string"}}


def test_a_word_of_a_later_draft_is_no_identifier_in_draft_4() -> None:
    schema = {"$schema": D4, "properties": {"p": {"$ref": "inner"}}, "definitions": {"i": {"$id": "inner", "type": "string"}}}
    with pytest.raises(CompileError):
        flatten(schema)


def test_nullable_counts_in_documents_of_today_too() -> None:
    meta = {"$schema": LATEST}
    schema = {"$schema": "https://e.com/m", "type": "string", "nullable": True, "allOf": [{}]}
    assert flatten(schema, {"https://e.com/m": meta}, nullable=True)["type"] == ["string", "null"]


def test_identifiers_of_draft_4_in_a_schema_of_another_dialect() -> None:
    schema = {
        "$schema": D4,
        "id": "http://e.com/r",
        "allOf": [{}],
        "not": {"$id": "https://e.com/x", "$schema": D7, "minimum": 1},
    }
    assert flatten(schema)["not"] == {"minimum": 1}
    assert flatten({"$schema": D7, "allOf": [{}], "not": {"$id": "#", "minimum": 1}})["not"] == {"minimum": 1}


def test_the_fragment_of_an_identifier_is_an_anchor_in_older_drafts_only() -> None:
    schema = {
        "properties": {"a": {"$ref": "https://e.com/d#part"}},
        "$defs": {"d": {"$id": "https://e.com/d#part", "minimum": 1}},
    }
    assert flatten({"$schema": D7, **schema})["properties"] == {"a": {"minimum": 1}}
    with pytest.raises(CompileError, match="unresolved-reference"):
        flatten({"$schema": LATEST, **schema})


def test_upgrading_a_reference_to_data() -> None:
    old = {"$schema": D7, "x-data": {"a": {}}, "items": [{"$ref": "#/x-data/a"}]}
    assert upgrade(old)["prefixItems"] == [{"$ref": "#/x-data/a"}]


@every_case(("draft", "own"), [(D4, "id"), (D7, "$id"), (D19, "$id")])
def test_upgrading_pointers_into_a_definition_with_an_identifier(draft: str, own: str) -> None:
    user = {
        own: "User",
        "required": ["n"],
        "properties": {"n": {"$ref": "#/definitions/k"}},
        "definitions": {"k": {"minimum": 1}},
    }
    pointers = ["#/definitions/User", "#/definitions/User/definitions/k", "User#/definitions/k", "User"]
    schema = {"$schema": draft, "properties": {name: {"$ref": name} for name in pointers}, "definitions": {"User": user}}
    upgraded = upgrade(schema)
    moved = ["#/$defs/User", "#/$defs/User/$defs/k", "User#/$defs/k", "User"]
    assert [part["$ref"] for part in upgraded["properties"].values()] == moved
    assert upgraded["$defs"]["User"]["properties"]["n"] == {"$ref": "#/$defs/k"}
    assert flatten(upgraded) == flatten(schema)


def test_dependencies_on_names_alone_need_no_dependent_schemas() -> None:
    flat = flatten({"$schema": D7, "allOf": [{"dependencies": {"a": ["b"]}}, {"minimum": 1}]})
    assert flat == {"$schema": LATEST, "dependentRequired": {"a": ["b"]}, "minimum": 1}


def test_an_empty_fragment_of_an_old_identifier_names_no_anchor() -> None:
    assert upgrade({"$schema": D7, "$id": "https://e.com/a#"}) == {"$schema": LATEST, "$id": "https://e.com/a"}


def test_the_vocabularies_of_a_meta_schema_are_kept() -> None:
    words = {"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/core": True}}
    assert flatten({**words, "allOf": [{"minimum": 1}, {"maximum": 2}]}) == {**words, "minimum": 1, "maximum": 2}


def test_what_an_older_meta_schema_cannot_judge_remains_unsaid() -> None:
    schema: dict[str, object] = {"type": "text"}
    for _ in range(3000):
        schema = {"not": schema}
    assert problems_of({"$schema": D7, **schema}) == ()
