"""Make schemas and instances at random: every keyword, from so small an alphabet that they meet all the time."""

from __future__ import annotations

from random import Random
from typing import Any

NAMES = ("a", "b", "c", "ab", "1")
PATTERNS = ("^a", "b$", "^[a-b]+$", "\\d")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, 1.0, 2, 3, 1.5, -1, "", "a", "ab", "abc", "1")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
ANCHORS = ("x", "y")


class Maker:
    """Makes schemas of bounded size from a source of randomness."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311  -- tests want repeatable chance
        self.references: list[str] = []

    def document(self) -> Any:
        """Make a schema of up to three branches under `allOf`, with definitions that it may refer to."""
        r = self.random
        self.references = ["#/$defs/d", "#/$defs/e"] if r.random() < 0.4 else []
        if self.references and r.random() < 0.3:
            self.references.append("#x")
        schema: dict[str, Any] = self.schema(2, empty=0.3) if r.random() < 0.5 else {}
        if not isinstance(schema, dict):
            schema = {}
        branches = [self.schema(2) for _ in range(r.choice((2, 2, 2, 3)))]
        items = [*schema.items()]
        items.insert(r.randint(0, len(items)), ("allOf", branches))
        schema = dict(items) | ({"allOf": branches})
        if self.references:
            if r.random() < 0.3 and "$ref" not in schema:
                schema["$ref"] = r.choice(self.references)
            recursive = r.random() < 0.4
            kept, self.references = self.references, self.references if recursive else []
            first = self.schema(1)
            if recursive:
                first = {"properties": {"a": {"$ref": "#/$defs/d"}}, "items": first}
            second = self.schema(1)
            if "#x" in kept:
                second = {**(second if isinstance(second, dict) else {}), "$anchor": "x"}
            schema["$defs"] = {"d": guarded(first), "e": guarded(second)}
        return schema

    def schema(self, depth: int, *, empty: float = 0.05) -> Any:
        """Make a schema with up to `depth` levels below it."""
        r = self.random
        if r.random() < 0.06:
            return r.random() < 0.6
        if r.random() < empty:
            return {}
        out: dict[str, Any] = {}
        for _ in range(r.choice((1, 1, 2, 2, 3, 4))):
            r.choice(KEYWORDS)(self, out, depth)
        if self.references and r.random() < 0.12:
            out["$ref"] = r.choice(self.references)
        return out

    def number(self) -> Any:
        return self.random.choice((0, 1, 2, 3, 1.5, 1.0, -1, 0.5))

    def count(self) -> int:
        return self.random.choice((0, 1, 1, 2, 3))

    def few(self, depth: int) -> list[Any]:
        return [self.schema(depth - 1) for _ in range(self.random.choice((1, 2, 2, 3)))]

    def named(self, depth: int, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
        chosen = self.random.sample(names, self.random.choice((1, 1, 2, 3)))
        return {name: self.schema(depth - 1) for name in chosen}

    def value(self, depth: int = 2) -> Any:
        """Make an instance."""
        r = self.random
        kind = r.random()
        if depth and kind < 0.35:
            return {name: self.value(depth - 1) for name in r.sample(NAMES, r.choice((0, 1, 1, 2, 3)))}
        if depth and kind < 0.6:
            return [self.value(depth - 1) for _ in range(r.choice((0, 1, 1, 2, 3)))]
        return r.choice(SCALARS)


def guarded(schema: Any) -> Any:
    """Take references that would lead in a circle with nothing in between out of a definition."""
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key == "$ref":
            continue
        if key in {"allOf", "anyOf", "oneOf"}:
            out[key] = [guarded(branch) for branch in value]
        elif key in {"not", "if", "then", "else"}:
            out[key] = guarded(value)
        elif key == "dependentSchemas":
            out[key] = {name: guarded(branch) for name, branch in value.items()}
        else:
            out[key] = value
    return out


def _type(m: Maker, s: dict[str, Any], _: int) -> None:
    s["type"] = m.random.choice(TYPES) if m.random.random() < 0.6 else m.random.sample(TYPES, 2)


def _enum(m: Maker, s: dict[str, Any], _: int) -> None:
    s["enum"] = [m.value(1) for _ in range(m.random.choice((1, 2, 3, 5)))]


def _const(m: Maker, s: dict[str, Any], _: int) -> None:
    s["const"] = m.value(1)


def _bound(m: Maker, s: dict[str, Any], _: int) -> None:
    s[m.random.choice(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))] = m.number()


def _multiple(m: Maker, s: dict[str, Any], _: int) -> None:
    s["multipleOf"] = m.random.choice((1, 2, 3, 0.5, 1.5, 0.75, 0.1, 6))


def _size(m: Maker, s: dict[str, Any], _: int) -> None:
    keyword = m.random.choice(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"))
    s[keyword] = m.count()


def _pattern(m: Maker, s: dict[str, Any], _: int) -> None:
    s["pattern"] = m.random.choice(PATTERNS)


def _format(m: Maker, s: dict[str, Any], _: int) -> None:
    s["format"] = m.random.choice(("date", "email"))


def _unique(m: Maker, s: dict[str, Any], _: int) -> None:
    s["uniqueItems"] = m.random.random() < 0.7


def _required(m: Maker, s: dict[str, Any], _: int) -> None:
    s["required"] = m.random.sample(NAMES, m.random.choice((1, 1, 2)))


def _properties(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["properties"] = m.named(depth)


def _patterns(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["patternProperties"] = m.named(depth, PATTERNS)


def _additional(m: Maker, s: dict[str, Any], depth: int) -> None:
    s["additionalProperties"] = False if m.random.random() < 0.5 or not depth else m.schema(depth - 1)


def _unevaluated(m: Maker, s: dict[str, Any], depth: int) -> None:
    keyword = m.random.choice(("unevaluatedProperties", "unevaluatedItems"))
    s[keyword] = False if m.random.random() < 0.6 or not depth else m.schema(depth - 1)


def _names(m: Maker, s: dict[str, Any], _: int) -> None:
    s["propertyNames"] = m.random.choice(({"pattern": "^a"}, {"maxLength": 1}, {"enum": ["a", "b"]}, {"minLength": 1}))


def _items(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["items"] = m.schema(depth - 1)


def _prefix(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["prefixItems"] = m.few(depth)


def _contains(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["contains"] = m.schema(depth - 1)
    for keyword in ("minContains", "maxContains"):
        if m.random.random() < 0.4:
            s[keyword] = m.count()


def _dependent_required(m: Maker, s: dict[str, Any], _: int) -> None:
    s["dependentRequired"] = {m.random.choice(NAMES): m.random.sample(NAMES, 1)}


def _dependent_schemas(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["dependentSchemas"] = m.named(depth)


def _alternatives(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s[m.random.choice(("anyOf", "oneOf", "allOf"))] = m.few(depth)


def _not(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        s["not"] = m.schema(depth - 1)


def _if(m: Maker, s: dict[str, Any], depth: int) -> None:
    if depth:
        for keyword in ("if", "then", "else"):
            if m.random.random() < 0.75:
                s[keyword] = m.schema(depth - 1)


def _words(m: Maker, s: dict[str, Any], _: int) -> None:
    keyword = m.random.choice(("description", "title", "$comment", "x-note"))
    s[keyword] = m.random.choice(("one", "two"))


KEYWORDS = (
    *(_type, _type, _enum, _const, _bound, _multiple, _size, _pattern, _format, _unique, _required, _properties, _properties),
    *(_properties, _patterns, _additional, _additional, _unevaluated, _names, _items, _prefix, _contains, _dependent_required),
    *(_dependent_schemas, _alternatives, _alternatives, _not, _if, _words),
)
