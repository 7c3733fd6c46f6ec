"""Judge the schemas of a payload, each by itself, by the rules of its target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instrc.dialects.words import DEFINITION_NAME
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze, kind_of, pointer
from instrc.lowering.breach import Breach
from instrc.lowering.rewrites.patterns import accepts_pattern

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
_HEAD = frozenset({"description", "title", "default", "$defs", "propertyOrdering", "nullable"})
_ONE = (
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_OF_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_COUNTS = {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
_MANY = ("anyOf", "allOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas", "definitions")


class NodeRules:
    """The rules of a target for the schemas of one payload."""

    def __init__(self, dialect: Dialect, root: Json) -> None:
        self.dialect = dialect
        self.root = root

    def node(self, place: str, node: Json, role: str) -> Iterator[Breach]:
        """Yield the rules that one schema of the payload breaks; `role` is the keyword that it stands under."""
        dialect = self.dialect
        if isinstance(node, bool):
            if dialect.structure == "fitted" and not (
                role in {"additionalProperties", "patternProperties"} or (role == "items" and node is False)
            ):
                yield Breach("boolean", place, "a boolean is no schema here")
            return
        if not isinstance(node, dict):
            yield Breach("schema", place, "a schema is expected")
            return
        yield from self._names(place, node)
        if dialect.structure == "kept":
            return
        yield from self._sizes(place, node)
        for keyword in node.keys() - dialect.keywords:
            yield Breach("keyword", place, f"{keyword!r} is not known")
        yield from self._types(place, node)
        yield from self._values(place, node)
        yield from self._reference(place, node)
        if type_of(node) == "object" or "properties" in node:
            yield from self._object(place, node)
        if type_of(node) == "array" and dialect.anything == "text" and "items" not in node and "prefixItems" not in node:
            yield Breach("items", place, "an array needs items")
        if isinstance(node.get("anyOf"), list):
            yield from self._union(place, node)
        if dialect.described and dialect.described_inside and role == "properties" and not node.get("description"):
            yield Breach("description", place, "a property needs a description")
        yield from self._limits(place, node)

    def _names(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        """Judge the keys of an object, and keywords that are comments."""
        dialect = self.dialect
        if dialect.key is not None and not dialect.keys_at_root_only:
            for name in node.get("properties", {}):
                if not dialect.key.allows(name):
                    yield Breach("key", place, f"{name!r} is no key")
        if not dialect.comments:
            for keyword in node:
                if keyword == "$comment" or keyword.startswith("x-"):
                    yield Breach("comment", place, f"{keyword!r} is not for models")

    def _limits(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        """Judge the keywords of which a provider takes only some values."""
        dialect = self.dialect
        if dialect.most_min_items is not None and node.get("minItems", 0) > dialect.most_min_items:
            yield Breach("minItems", place, f"minItems is at most {dialect.most_min_items}")
        if "format" in node and node["format"] not in dialect.formats:
            yield Breach("format", place, f"{node['format']!r} is no known format")
        if "pattern" in node and not accepts_pattern(node["pattern"], dialect.patterns, dialect.most_repeated):
            yield Breach("pattern", place, f"{node['pattern']!r} is not taken")
        if (
            not dialect.lengths_beside_patterns
            and node.keys() & {"minLength", "maxLength"}
            and node.keys() & {"pattern", "format"}
        ):
            yield Breach("pattern", place, "lengths stand beside a pattern or format")

    def _sizes(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        for keywords, most in ((_OF_NUMBERS, self.dialect.most_bound), (_COUNTS, self.dialect.most_count)):
            for keyword in keywords & node.keys() if most is not None else ():
                if isinstance(node[keyword], int | float) and abs(node[keyword]) > most:
                    yield Breach("number", place, f"{keyword!r} is at most {most}")

    def _types(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        dialect, types = self.dialect, node.get("type")
        spelling = dialect.spelling
        known = [name.upper() if spelling.capitals else name for name in TYPES if name != "null" or not spelling.nullable]
        if types is None:
            if not node.keys() & {"anyOf", "$ref"} and (dialect.anything == "text" or node.keys() - _HEAD):
                yield Breach("type", place, "a type is missing")
            return
        if isinstance(types, list):
            several = len([name for name in types if name != "null"]) > 1
            if not dialect.type_lists and (spelling.nullable or not dialect.null or several):
                yield Breach("type", place, "types in a list are not known")
            if len(set(types)) < len(types) or not types:
                yield Breach("type", place, "types in a list differ")
        for name in types if isinstance(types, list) else [types]:
            if name not in known or (name == "null" and not dialect.null):
                yield Breach("type", place, f"{name!r} is no type")

    def _values(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        listed = [*node.get("enum", ()), *([node["const"]] if "const" in node else [])]
        if "enum" in node and not node["enum"]:
            yield Breach("enum", place, "an enum lists at least one value")
        if len({freeze(value) for value in node.get("enum", ())}) < len(node.get("enum", ())):
            yield Breach("enum", place, "values of an enum differ")
        types = node.get("type")
        types = [name.lower() for name in ([types] if isinstance(types, str) else types or [])]
        for value in listed:
            kind = kind_of(value)
            if value == "" and not self.dialect.empty_words:
                yield Breach("enum", place, "the empty string is no value of an enum")
            if kind not in self.dialect.enums and not (kind == "null" and "null" in types and "null" in self.dialect.enums):
                yield Breach("enum", place, f"{value!r} is of a type that no enum holds")
            if self.dialect.typed_enums and kind not in types and not (kind == "integer" and "number" in types):
                yield Breach("enum", place, f"{value!r} is not of the type beside it")

    def _reference(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        ref = node.get("$ref")
        if ref is None:
            return
        if node.keys() - {"$ref"}:
            yield Breach("ref", place, "nothing may stand beside $ref")
        name = ref.removeprefix("#/$defs/")
        if not ref.startswith("#/$defs/") or not DEFINITION_NAME.allows(name) or name not in self.root.get("$defs", {}):
            yield Breach("ref", place, f"{ref!r} leads nowhere")
        if self.dialect.recursion != "keep":
            yield Breach("recursion", place, "only recursive references are left, and the target takes none")

    def _object(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        dialect = self.dialect
        properties, required = node.get("properties"), node.get("required", [])
        free = (dialect.maps == "keep" and node.get("additionalProperties", False) is not False) or "patternProperties" in node
        if not isinstance(properties, dict):
            if not (free or (dialect.maps == "keep" and node.get("additionalProperties") is False)):
                yield Breach("object", place, "an object needs properties")
            properties = {}
        if set(required) - set(properties) or len(set(required)) < len(required):
            yield Breach("required", place, "required names what is no property, or twice")
        elif required != [name for name in properties if name in set(required)]:
            yield Breach("order", place, "required does not follow properties")
        if dialect.every_required and ("required" not in node or len(required) < len(properties)):
            yield Breach("required", place, "each property must be required")
        if dialect.closed and dialect.maps == "pairs" and node.get("additionalProperties") is not False:
            yield Breach("closed", place, "additionalProperties must be false")
        if dialect.closed and dialect.maps == "keep" and "additionalProperties" not in node:
            yield Breach("closed", place, "additionalProperties must be given")
        if "propertyOrdering" in dialect.keywords and node.get("propertyOrdering") != list(properties):
            yield Breach("order", place, "propertyOrdering must list the properties in order")

    def _union(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        branches = node["anyOf"]
        if not branches:
            yield Breach("anyOf", place, "a union has at least one branch")
        if node.keys() - _HEAD - {"anyOf"}:
            yield Breach("anyOf", place, "constraints stand beside a union")
        if not self.dialect.first_keys:
            return
        seen: dict[str, list[set[Any] | None]] = {}
        for branch in branches:
            shape = branch
            if "$ref" in branch:
                shape = self.root.get("$defs", {}).get(branch["$ref"].rsplit("/", 1)[-1], {})
            if not isinstance(shape, dict) or not shape.get("properties"):
                continue
            first, schema = next(iter(shape["properties"].items()))
            values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
            seen.setdefault(first, []).append({freeze(value) for value in values} or None)
        for first, groups in seen.items():
            union: set[Any] = set()
            for values_of in groups if len(groups) > 1 else []:
                if values_of is None or values_of & union:
                    yield Breach(
                        "first-key", place, f"objects of a union share the first key {first!r}, which does not tell them apart"
                    )
                    break
                union |= values_of


def type_of(node: dict[str, Any]) -> Json:
    """Return the type of a schema in small letters, whatever the spelling."""
    types = node.get("type")
    return types.lower() if isinstance(types, str) else types


def nodes(schema: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str, Json, str]]:
    """Yield each schema of a payload with its place and the keyword it stands under."""
    stack: list[tuple[tuple[str | int, ...], Json, str]] = [(path, schema, "")]
    while stack:
        here, node, role = stack.pop()
        yield pointer(here), node, role
        if not isinstance(node, dict):
            continue
        stack.extend(((*here, keyword), node[keyword], keyword) for keyword in _ONE if keyword in node)
        for keyword in _MANY:
            stack += [((*here, keyword, index), child, keyword) for index, child in enumerate(node.get(keyword) or ())]
        for keyword in _NAMED:
            if isinstance(node.get(keyword), dict):
                stack += [((*here, keyword, name), child, keyword) for name, child in node[keyword].items()]
