"""Make adversarial schemas: odd names everywhere, large numbers, roots that are no object, contradictions."""

from __future__ import annotations

from random import Random
from typing import Any

from generate import KEYS, Instances, Schemas

DEFINITIONS = [
    "node", "Node", "Узел", "узел", "a/b", "x y", "~", "%41", "list[int]", 'quo"te', "properties", "$defs", "é", "1", "n" * 90
]  # fmt: skip
MORE_KEYS = [
    "Name", "NAME", "naMe", "default", "items", "anyOf", "$defs", "const", "additionalProperties", "description", "nullable",
    "propertyOrdering", "more", "entries", "name_2", "имя", "Имя", "ИМЯ", "imya", "a.b", "a-b", "a_b", "a b", " a", "a ",
    "__proto__", "null", "None", "0", "-1", "ключ" * 40, "k" * 64, "k" * 65, "\u200b", "e\u0301", "\u00e9", "item_2", "item_1_",
    "metric_", "option_1",
]  # fmt: skip
HUGE = [0, -0.0, 1e308, -1e308, 2**63, -(2**63) - 1, 2**70, 1e-300, 0.1, 10**25, 2**53 + 1]
PATTERNS = ["^(a|b)$", "^[а-я]+$", r"^(?!a)", "^$", ".", "()", r"\$", "a{1,3}", r"^\S+$", "^x-"]


class Adversarial(Schemas):
    """Make schemas of all that is known to have broken lowering, or might."""

    def document(self, leaves: int = 16) -> Any:
        """Return a whole schema; its root is an object, an array, a union, a reference or a boolean."""
        self.names = self.some(DEFINITIONS, 3) if self.often(0.4) else []
        self.left = leaves
        self.recursive = False
        which = self.random.random()
        if which < 0.02:
            return self.random.choice([True, False, {}])
        if which < 0.04:
            root: Any = self.large()
        elif which < 0.75:
            root = self.object(0)
        else:
            root = self.random.choice([self.array, self.combined, self.map, self.reference, self.contradiction, self.node])(0)
        if self.names and isinstance(root, dict):
            definitions = {}
            for name in self.names:
                self.left = 5
                definitions[name] = self.random.choice([self.object, self.object, self.node, self.combined])(2)
            root = {**root, self.random.choice(["$defs", "$defs", "$defs", "definitions"]): definitions}
            root = renamed(root, next(key for key in ("$defs", "definitions") if key in root))
        return root

    def leaf(self) -> Any:
        if self.names and self.often(0.25):
            return self.reference(0)
        return super().leaf()

    def node(self, depth: int) -> Any:
        if self.often(0.04):
            return self.contradiction(depth)
        if self.often(0.03):
            return self.conditional(depth)
        return super().node(depth)

    def reference(self, depth: int) -> Any:
        """Return a reference to a definition, or to the root, with something beside it now and then."""
        if not self.names:
            return {"type": "array", "items": {"$ref": "#"}} if self.often(0.2) else self.scalar()
        word = self.random.choice(self.names)
        node: dict[str, Any] = {"$ref": f"@{word}"}
        beside = self.random.random()
        if beside < 0.1:
            node["description"] = "Again."
        elif beside < 0.15:
            node.update(self.object(depth + 1))
        elif beside < 0.2:
            node["default"] = {"$ref": "#"}
        wrap = self.random.random()
        if wrap < 0.25:
            return {"type": "array", "items": node}
        if wrap < 0.45:
            return {"anyOf": [node, {"type": "null"}]}
        return {"type": "object", "properties": {self.random.choice(self.keys()): node}} if wrap < 0.7 else node

    def keys(self) -> list[str]:
        return KEYS if self.often(0.5) else MORE_KEYS

    def object(self, depth: int) -> dict[str, Any]:
        node = super().object(depth)
        for name in self.some(MORE_KEYS, 3) if self.often(0.4) else ():
            node["properties"][name] = self.node(depth + 1)
            if self.often(0.5):
                node.setdefault("required", []).append(name)
        if "required" in node:
            node["required"] = list(dict.fromkeys(node["required"]))
        if self.often(0.04) and node["properties"]:
            node["dependentRequired"] = {next(iter(node["properties"])): self.some(self.keys(), 2)}
        if self.often(0.04):
            node["propertyNames"] = self.random.choice([{"maxLength": 5}, {"enum": KEYS[:8]}, False, {"pattern": "^[a-z_]*$"}])
        if self.often(0.04):
            node["patternProperties"] = {pattern: self.node(depth + 1) for pattern in self.some(PATTERNS, 2)}
        if self.often(0.03):
            node["not"] = {"required": [self.random.choice(self.keys())]}
        return node

    def contradiction(self, depth: int) -> Any:
        """Return a schema that nothing, or next to nothing, satisfies."""
        return self.random.choice(
            [
                lambda: {"allOf": [self.scalar(), self.object(depth + 1)]},
                lambda: {"allOf": [self.literal(), self.literal()]},
                lambda: {"type": "string", "minLength": 3, "maxLength": 1},
                lambda: {"type": "integer", "minimum": 5, "exclusiveMaximum": 5},
                lambda: {"type": "array", "minItems": 2, "items": False},
                lambda: {"type": "object", "required": ["a"], "properties": {"a": False}},
                lambda: {"enum": [1, "a"], "type": "boolean"},
                lambda: {"not": {}},
                lambda: {**self.scalar(), "const": self.random.choice(["a", 1, None])},
                lambda: {"type": "object", "minProperties": 2, "maxProperties": 1},
            ]
        )()

    def conditional(self, depth: int) -> Any:
        """Return a schema whose conditions speak of its own properties."""
        node = self.object(depth + 1)
        name = self.random.choice([*node["properties"], "a"])
        node["if"] = {"properties": {name: self.literal()}, "required": [name]}
        node["then"] = self.random.choice([{"required": ["b"]}, self.object(depth + 1), False])
        if self.often(0.5):
            node["else"] = self.random.choice([{"required": ["name"]}, {"properties": {"b": self.leaf()}}, True])
        return node

    def literal(self) -> Any:
        if self.often(0.06):
            return {"enum": self.some(HUGE, 3, 1)}
        if self.often(0.05):
            return {"const": self.random.choice(["x" * 3000, {"$ref": "#"}, [[]], {"type": "object"}, "\ud7ff\n\t", "<null>"])}
        return super().literal()

    def scalar(self) -> Any:
        node = super().scalar()
        if self.often(0.06):
            node[self.random.choice(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])] = self.random.choice(HUGE)
        if self.often(0.03):
            node["multipleOf"] = self.random.choice([0.1, 1e-5, 2**60, 3])
        if self.often(0.05):
            node["pattern"] = self.random.choice(PATTERNS)
        if self.often(0.02):
            node[self.random.choice(["maxLength", "minLength", "maxItems"])] = self.random.choice([10**6, 2**70, 3.0])
        return node

    def large(self) -> Any:
        """Return a schema that exceeds a budget of some provider."""
        match self.random.randint(0, 5):
            case 0:
                return {"type": "object", "properties": {f"p{number}": self.leaf() for number in range(300)}}
            case 1:
                node: Any = self.scalar()
                for level in range(self.random.choice([9, 12, 70, 140])):
                    node = {"type": "object", "properties": {f"l{level}": node}, "required": [f"l{level}"]}
                return node
            case 2:
                return {"type": "object", "properties": {"e": {"enum": [f"v{number}" for number in range(1100)]}}}
            case 3:
                return {"type": "object", "properties": {"e": {"enum": ["w" * 70 + str(number) for number in range(260)]}}}
            case 4:
                return {"type": "object", "properties": {"u": {"anyOf": [self.object(3) for _ in range(25)]}}}
            case _:
                return {"type": "object", "description": "Word. " * 300, "properties": {f"тема {n}": {} for n in range(30)}}


def renamed(root: Any, holder: str) -> Any:
    """Write references to definitions as the pointers they are, escapes and all."""
    from urllib.parse import quote

    if isinstance(root, dict):
        return {
            key: f"#/{holder}/" + quote(value[1:].replace("~", "~0").replace("/", "~1"), safe="~$[]")
            if key == "$ref" and isinstance(value, str) and value.startswith("@")
            else renamed(value, holder)
            for key, value in root.items()
        }
    return [renamed(item, holder) for item in root] if isinstance(root, list) else root


def adversarial(seed: int) -> Any:
    """Return the schema that a number stands for."""
    return Adversarial(Random(seed)).document()  # noqa: S311  -- reproducible, not secret


def instances(schema: Any, seed: int, tries: int = 6) -> list[Any]:
    """Return a few valid instances of a schema, if they are found by trying."""
    return Instances(schema, Random(seed)).some(tries)  # noqa: S311  -- reproducible, not secret
