"""Which definitions a schema needs: what it refers to, what these refer to, in the order of the first reference."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.schema.walk import reached_definitions

DEFINITIONS: dict[str, Any] = {
    "": {"title": "no name"},
    "list": {"items": {"$ref": "#/$defs/node"}},
    "node": {"properties": {"next": {"$ref": "#/$defs/list"}, "text": {"$ref": "#/$defs/a~1b/items"}}},
    "a/b": {"items": {"type": "string"}},
    "a~b": {"type": "null"},
    "unused": {"$ref": "#/$defs/node"},
}


def to(*names: str) -> Any:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (True, []),
        ({"type": "string"}, []),
        ({"$ref": "#"}, []),
        ({"$ref": "#/$defs/unknown"}, []),
        ({"$ref": 3}, []),
        (to("a~0b"), ["a~b"]),
        (to("a~1b"), ["a/b"]),
        (to("a~1b/items"), ["a/b"]),
        (to(""), [""]),
        (to("node"), ["node", "list", "a/b"]),
        (to("list", "a~0b"), ["list", "node", "a/b", "a~b"]),
        ({"const": {"$ref": "#/$defs/node"}, "examples": [{"$ref": "#/$defs/list"}]}, []),
    ],
)
def test_definitions_are_reached_by_references_and_not_by_values(schema: Any, names: list[str]) -> None:
    found = reached_definitions(schema, DEFINITIONS)
    assert list(found) == names
    assert all(found[name] is DEFINITIONS[name] for name in names)
