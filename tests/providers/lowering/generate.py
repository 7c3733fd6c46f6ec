"""Make schemas of every shape, and instances of any schema, for the laws."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any
from urllib.parse import unquote

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

KEYS = [
    "a", "b", "name", "_thought", "$metric", "$ref", "enum", "title", "type", "properties", "required", "", "two words", 'quo"te',
    "back\\slash", "new\nline", "do.t", "da-sh", "тема", "Тема", "🙂", "key", "value", "item_1", "additional_properties",
    "choice", "option", "x" * 70 + "1", "x" * 70 + "2", "metric", "class", "1st", "tema", "$", "--", "ı",
]  # fmt: skip
PATTERNS = ["^a+$", "b", "^[a-z]{2,4}$", r"\d", r"^(?=x)x", "^[A-Za-z0-9_]+$"]
TEXTS = [
    "",
    "a",
    "aa",
    "b",
    "ab",
    "abcd",
    "x1",
    "42",
    "true",
    "null",
    "<null>",
    "<<null>>",
    "Approve",
    "approve",
    "тест",
    '{"a":1}',
    "[1]",
    "2026-01-01",
]
SCALARS: list[Any] = [*TEXTS, None, True, False, 0, 1, -1, 2, 3, 10, 1.5, 0.5, 100, 7]
LITERALS: list[Any] = [*SCALARS, {"a": 1}, {"$metric": "x"}, [], [1, "a"], {}]


class Schemas:
    """Make schemas at random: a seed is a schema, so a failure is told by its number."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, items: Sequence[Any], most: int, least: int = 0) -> list[Any]:
        return self.random.sample(items, min(len(items), self.random.randint(least, most)))

    def document(self, leaves: int = 14) -> Any:
        """Return a whole schema: mostly an object, sometimes anything; sometimes recursive."""
        self.left = leaves
        self.recursive = self.often(0.15)
        root = self.node(0) if self.often(0.2) else self.object(0)
        if isinstance(root, dict) and "#/$defs/node" in str(root):
            self.left = 4
            node = self.object(2)
            node.pop("required", None)
            node.pop("dependentSchemas", None)  # a node that asks for itself in its own place is not a schema
            if self.often(0.5):
                node["properties"]["children"] = {"type": "array", "items": {"$ref": "#/$defs/node"}}
            root = {**root, "$defs": {"node": node}}
        return root

    def node(self, depth: int) -> Any:
        self.left -= 1
        if depth > 5 or self.left < 0 or self.often(0.35):
            return self.leaf()
        return self.random.choice([self.object, self.object, self.map, self.array, self.combined])(depth)

    def leaf(self) -> Any:
        which = self.random.random()
        if which < 0.1:
            return self.random.choice([{}, True, False])
        if which < 0.2 and self.recursive:
            return {"$ref": "#/$defs/node", **({"description": "Again."} if self.often(0.3) else {})}
        return self.literal() if which < 0.45 else self.scalar()

    def object(self, depth: int) -> dict[str, Any]:
        names = self.some(KEYS, 4)
        node: dict[str, Any] = {"type": "object", "properties": {name: self.node(depth + 1) for name in names}}
        pool = names + (self.some(KEYS, 1) if self.often(0.15) else [])
        if pool and self.often(0.75):
            node["required"] = self.some(pool, len(pool))
        extra = self.random.random()
        if extra < 0.5:
            node["additionalProperties"] = False
        elif extra < 0.6:
            node["additionalProperties"] = self.node(depth + 1)
        elif extra < 0.7:
            node["additionalProperties"] = True
        if self.often(0.1):
            node["patternProperties"] = {self.random.choice(PATTERNS): self.node(depth + 1)}
        if self.often(0.07):
            node[self.random.choice(["minProperties", "maxProperties"])] = self.random.randint(0, 4)
        if self.often(0.07) and len(names) > 1:
            node["dependentRequired"] = {names[0]: [names[1]]}
        if self.often(0.07) and names:
            node["dependentSchemas"] = {names[0]: self.node(depth + 1)}
        if self.often(0.05):
            node["propertyNames"] = {"pattern": self.random.choice(PATTERNS)}
        if self.often(0.05):
            node["unevaluatedProperties"] = self.random.choice([False, {"type": "string"}])
        if self.often(0.03):
            del node["type"]
        return node

    def map(self, depth: int) -> Any:
        node: dict[str, Any] = {"type": "object"}
        if self.often(0.5):
            node["additionalProperties"] = self.node(depth + 1)
        if self.often(0.25):
            node["propertyNames"] = self.random.choice([{"pattern": "^a"}, {"enum": ["a", "b"]}, {"minLength": 1}])
        if self.often(0.25):
            node["patternProperties"] = {pattern: self.node(depth + 1) for pattern in self.some(PATTERNS, 2)}
        if self.often(0.2):
            node[self.random.choice(["minProperties", "maxProperties"])] = self.random.randint(0, 4)
        return node

    def array(self, depth: int) -> Any:
        node: dict[str, Any] = {"type": "array"}
        if self.often(0.3):
            node["prefixItems"] = [self.node(depth + 1) for _ in range(self.random.randint(1, 3))]
            if self.often(0.5):
                node["items"] = False if self.often(0.5) else self.node(depth + 1)
        elif self.often(0.8):
            node["items"] = self.node(depth + 1)
        for keyword in ("minItems", "maxItems"):
            if self.often(0.25):
                node[keyword] = self.random.randint(0, 4)
        if self.often(0.15):
            node["uniqueItems"] = True
        if self.often(0.1):
            node["contains"] = self.node(depth + 1)
            if self.often(0.5):
                node[self.random.choice(["minContains", "maxContains"])] = self.random.randint(0, 4)
        if self.often(0.03):
            node["unevaluatedItems"] = False
        return node

    def scalar(self) -> Any:
        random = self.random
        node: dict[str, Any] = {"type": random.choice(["string", "string", "integer", "number", "boolean", "null"])}
        if self.often(0.2):
            node["type"] = self.some(["string", "integer", "number", "boolean", "null"], 3, 1)
        if self.often(0.2):
            node["description"] = random.choice(["What it is.", "Что это.", "A\nB"])
        for keyword, share, values in (
            ("minLength", 0.2, [0, 1, 2, 4]),
            ("maxLength", 0.2, [0, 1, 4, 6]),
            ("pattern", 0.2, PATTERNS),
            ("format", 0.2, ["date", "uri", "byte", "uuid"]),
            ("minimum", 0.15, [-2, 0, 1, 1.5, 9]),
            ("maximum", 0.15, [-1, 0, 3, 9.5]),
            ("exclusiveMinimum", 0.1, [-2, 0, 1, 9]),
            ("exclusiveMaximum", 0.1, [0, 3, 9]),
            ("multipleOf", 0.1, [1, 2, 0.5]),
            ("default", 0.1, SCALARS),
            ("title", 0.1, ["Title"]),
            ("examples", 0.05, [["a"], [1]]),
            ("not", 0.04, [{"const": "a"}, {"type": "integer"}, {"minLength": 3}]),
        ):
            if self.often(share):
                node[keyword] = random.choice(values)
        if self.often(0.03):
            del node["type"]
        return node

    def literal(self) -> Any:
        which = self.random.randint(0, 4)
        if which == 0:
            return {"const": self.random.choice(LITERALS)}
        if which == 1:
            return {"enum": self.some(LITERALS, 4, 1)}
        if which == 2:
            return {"type": "string", "enum": self.some(TEXTS, 4, 1)}
        if which == 3:
            return {"type": ["string", "null"], "enum": [*self.some(TEXTS, 4), None]}
        return {"type": "integer", "enum": self.some([0, 1, 2, 3], 3, 1)}

    def combined(self, depth: int) -> Any:
        node: dict[str, Any] = dict(self.random.choice([dict, lambda: self.object(depth + 1), self.scalar])())
        which = self.random.choice(["anyOf", "anyOf", "oneOf", "oneOf", "allOf", "not", "if", "nullable", "nullable", "tagged"])
        if which in {"anyOf", "oneOf", "allOf"}:
            node[which] = [self.node(depth + 1) for _ in range(self.random.randint(1, 3))]
        elif which == "not":
            node["not"] = self.node(depth + 1)
        elif which == "if":
            node["if"], node["then"] = self.node(depth + 1), self.node(depth + 1)
            if self.often(0.5):
                node["else"] = self.node(depth + 1)
        elif which == "nullable":
            return {"anyOf": [self.node(depth + 1), {"type": "null"}]}
        else:
            branches = []
            for tag in self.some("pqr", 3, 2):
                properties = {
                    "_reasoning": {"type": "string"},
                    "kind": {"const": tag},
                    self.random.choice(KEYS): self.node(depth + 2),
                }
                required = ["_reasoning", "kind"] if self.often(0.7) else ["_reasoning"]
                branches.append({"type": "object", "properties": properties, "required": required, "additionalProperties": False})
            return {"oneOf": branches}
        return node


def schema_of(seed: int, leaves: int = 14) -> Any:
    """Return the schema that a number stands for."""
    return Schemas(Random(seed)).document(leaves)  # noqa: S311  -- reproducible, not secret


def schemas(leaves: int = 14) -> st.SearchStrategy[Any]:
    """Return a strategy of schemas of every shape."""
    return st.integers(0, 2**40).map(lambda seed: schema_of(seed, leaves))


class Instances:
    """Make instances of a schema at random; what is made is checked, so only valid ones come out."""

    def __init__(self, schema: Any, random: Random) -> None:
        self.schema = schema
        self.random = random
        self.judge = Draft202012Validator(schema)

    def some(self, tries: int = 6) -> list[Any]:
        """Return a few valid instances, equal ones possible."""
        found = []
        for _ in range(tries):
            value = self.make(self.schema, 0)
            try:
                if value is not MISS and self.judge.is_valid(value):
                    found.append(value)
            except RecursionError:
                break
        return found

    def make(self, node: Any, depth: int) -> Any:
        """Return a value that is likely to satisfy a schema."""
        random = self.random
        if node is False:
            return MISS
        if node is True or node == {}:
            return random.choice(LITERALS)
        if depth > 9:
            return MISS
        if "$ref" in node:
            value: Any = self.schema
            for token in node["$ref"].removeprefix("#").split("/")[1:]:
                value = value[unquote(token).replace("~1", "/").replace("~0", "~")]
            rest = {k: v for k, v in node.items() if k != "$ref"}
            return self.make({**value, **rest} if isinstance(value, dict) else value, depth + 1)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return random.choice(node["enum"]) if node["enum"] else MISS
        merged = {key: value for key, value in node.items() if key not in {"anyOf", "oneOf", "allOf"}}
        for keyword in ("anyOf", "oneOf"):
            if node.get(keyword):
                merged = blend(merged, random.choice(node[keyword]))
        for member in node.get("allOf", ()):
            merged = blend(merged, member)
        if isinstance(merged, bool):
            return self.make(merged, depth)
        if "if" in merged and random.random() < 0.7:
            branch = blend(merged["if"], merged.get("then", True)) if random.random() < 0.6 else merged.get("else", True)
            merged = blend({k: v for k, v in merged.items() if k not in {"if", "then", "else"}}, branch)
        if merged is False:
            return MISS
        if merged is True:
            return random.choice(LITERALS)
        if merged.keys() & {"$ref", "anyOf", "oneOf", "allOf", "const", "enum"}:
            return self.make(merged, depth + 1)
        types = merged.get("type")
        kind = random.choice(types) if isinstance(types, list) and types else types
        if kind is None or kind == []:
            kind = (
                "object"
                if "properties" in merged
                else "array"
                if merged.keys() & {"items", "prefixItems"}
                else random.choice(["string", "integer", "null", "boolean"])
            )
        return self._typed(merged, kind, depth)

    def _typed(self, node: Any, kind: str, depth: int) -> Any:
        random = self.random
        match kind:
            case "string":
                pattern = node.get("pattern")
                good = [
                    t
                    for t in TEXTS
                    if node.get("minLength", 0) <= len(t) <= node.get("maxLength", 99) and (not pattern or re.search(pattern, t))
                ]
                return random.choice(good) if good else MISS
            case "integer" | "number":
                step = node.get("multipleOf", 1 if kind == "integer" else 0.5)
                low = node.get("minimum", node.get("exclusiveMinimum", -3))
                return random.choice([low + step * n for n in range(8)] + [0, 1, 5, 100, 2.5 if kind == "number" else 2])
            case "boolean":
                return random.random() < 0.5
            case "null":
                return None
            case "array":
                prefix = node.get("prefixItems", [])
                least = int(node.get("minItems", 0))
                length = random.randint(least, max(least, min(node.get("maxItems", 4), max(len(prefix), 2) + 1)))
                items = []
                for index in range(length):
                    item = self.make(prefix[index] if index < len(prefix) else node.get("items", True), depth + 1)
                    if item is MISS:
                        break
                    items.append(item)
                return items
            case _:
                return self._object(node, depth)

    def _object(self, node: Any, depth: int) -> Any:
        random = self.random
        result = {}
        properties = node.get("properties", {})
        sparse = random.random() < 0.3
        for name, child in properties.items():
            if name not in node.get("required", ()) and random.random() < (0.8 if sparse else 0.4):
                continue
            value = self.make(child, depth + 1)
            if value is not MISS:
                result[name] = value
        for name in node.get("required", ()):
            if name not in result and name not in properties:
                result[name] = self.make(node.get("additionalProperties", True), depth + 1)
        rest = node.get("additionalProperties", True)
        wanted = node.get("minProperties", 0)
        pool = [*KEYS, *TEXTS]
        for pattern, child in node.get("patternProperties", {}).items():
            name = random.choice(pool)
            if re.search(pattern, name) and name not in properties:
                result[name] = self.make(child, depth + 1)
        for _ in range(3):
            name = random.choice(pool)
            if rest is not False and name not in properties and (len(result) < wanted or random.random() < 0.3):
                result[name] = self.make(rest, depth + 1)
        return {name: value for name, value in result.items() if value is not MISS}


MISS: Any = object()


def blend(left: Any, right: Any) -> Any:
    """Join two schemas loosely, for making values only."""
    if left is False or right is False:
        return False
    if left is True or not left:
        return right
    if right is True or not right:
        return left
    result = {**left, **right}
    if "properties" in left and "properties" in right:
        result["properties"] = {**left["properties"], **right["properties"]}
    if "required" in left and "required" in right:
        result["required"] = [*left["required"], *right["required"]]
    return result
