"""Where schemas are in a schema."""

# ruff: noqa: FBT003  -- booleans are schemas and instances here

from __future__ import annotations

from typing import Any

from instrc.schema.patterns import MATCHED_NAME, matches  # one expression without a schema
from instrc.schema.vocabulary import IN_PLACE
from instrc.schema.walk import map_schemas, subschemas, walk

SCHEMA: dict[str, Any] = {
    "properties": {"a": {"not": True}, "b": 3},
    "items": [{"minimum": 1}],
    "anyOf": [True, "x", {"if": {}}],
    "additionalProperties": False,
    "then": 3,
    "dependencies": {"a": ["b"], "c": {}},
    "const": {"properties": {"a": {}}},
    "prefixItems": {"a": {}},
}


def test_the_schemas_directly_below() -> None:
    assert [path for path, _ in subschemas(SCHEMA)] == [
        ("properties", "a"),
        ("items", 0),
        ("anyOf", 0),
        ("anyOf", 2),
        ("additionalProperties",),
        ("dependencies", "c"),
    ]
    assert list(subschemas(True)) == []
    assert [path for path, _ in subschemas(SCHEMA, IN_PLACE)] == [("anyOf", 0), ("anyOf", 2), ("dependencies", "c")]


def test_all_schemas_below_each_before_its_own() -> None:
    assert [path for path, _ in walk(SCHEMA)] == [
        (),
        ("properties", "a"),
        ("properties", "a", "not"),
        ("items", 0),
        ("anyOf", 0),
        ("anyOf", 2),
        ("anyOf", 2, "if"),
        ("additionalProperties",),
        ("dependencies", "c"),
    ]


def test_rebuilding_changes_only_what_changes() -> None:
    def louder(node: Any) -> Any:
        return {**node, "minimum": 2} if isinstance(node, dict) and "minimum" in node else node

    new = map_schemas(SCHEMA, louder)
    assert new["items"] == [{"minimum": 2}]
    assert SCHEMA["items"] == [{"minimum": 1}]
    assert new["properties"] is SCHEMA["properties"]
    assert map_schemas(SCHEMA, lambda node: node) is SCHEMA
    shared = {"minimum": 1}
    both = map_schemas({"anyOf": [shared, shared], "not": shared}, louder)
    assert both["anyOf"][0] is both["anyOf"][1] is both["not"]
    assert map_schemas(SCHEMA, louder, IN_PLACE) is SCHEMA
    assert map_schemas(True, lambda _: False) is False


def test_patterns_are_matched_only_where_all_judges_agree() -> None:
    assert matches("^a", "ab") is True
    assert matches("^a$", "ab") is False
    assert matches("^x-[a-z]+$", "x-foo") is True
    assert matches("^(?:foo|bar){1,2}\\.\\d$", "foobar.1") is True
    assert matches("\\p{L}", "a") is None
    assert matches("a$", "a" * MATCHED_NAME) is True
    assert matches("a$", "a" * (MATCHED_NAME + 1)) is None
    assert matches("^a", "á") is None
    assert matches("[[:alpha:]]", "a") is None
    assert matches("[a--b]", "a") is None
    assert matches("(", "a") is None
    assert matches("a{2,1}", "a") is None
    assert matches("(a+)+$", "a" * 60) is True  # in linear time
    assert matches("(a+)+$", "aaa") is True
    assert matches("a*a*a*a*a*a*b", "a" * 100) is False
    assert matches("a" * 500, "a") is None
