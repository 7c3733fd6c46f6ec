"""Judge a payload by the rules of its target, for the many targets that have no public engine.

Written from the facts of a `Dialect`, apart from the code that rewrites schemas, so that it finds the mistakes of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from instrc.dialects.catalogue import dialect
from instrc.dialects.envelopes import schema_in
from instrc.dialects.words import DEFINITION_NAME
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import AnyJson as Json
from instrc.jsonvalue import freeze, kind_of, pointer
from instrc.lowering import budgets
from instrc.lowering.rewrites.patterns import taken
from instrc.lowering.spelling import standard

_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
_SMOLAGENTS_TYPES = frozenset({*_TYPES, "image", "audio", "any"})
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


class Breach(NamedTuple):
    """A rule of a target that a payload breaks."""

    rule: str
    place: str
    """Where, as a JSON Pointer into the payload."""
    message: str

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.message} [{self.rule}]"


def breaches(payload: Json, target: str | Dialect) -> list[Breach]:
    """Return the rules of a target that a payload breaks; an empty list says that none is known to be."""
    return list(_Judge(dialect(target), payload).breaches())


class _Judge:
    """One payload under judgement."""

    def __init__(self, aimed: Dialect, payload: Json) -> None:
        self.aimed = aimed
        self.payload = payload
        self.strict = True
        self.root: Json = None

    def breaches(self) -> Iterator[Breach]:
        """Yield what is wrong with the envelope, with the names, with the schema."""
        template = self.aimed.envelope
        if self.aimed.plain is not None and not self._fits(template, self.payload) and self._fits(self.aimed.plain, self.payload):
            self.strict = False
            template = self.aimed.plain
        yield from self._envelope(template, self.payload, ())
        try:
            schema = schema_in(self.payload, self.aimed)
        except LookupError:
            return
        except ValueError:
            yield Breach("schema", pointer(self.aimed.where), "the text is no JSON")
            return
        if self.aimed.spelling.inputs:
            yield from self._inputs(schema)
            return
        self.root = schema
        yield from self._root(schema)
        for place, node, role in _nodes(schema, self.aimed.where):
            yield from self._node(place, node, role)
        if self.strict and isinstance(schema, dict):
            for over in budgets.exceeded(standard(schema, self.aimed.spelling), self.aimed, "schema"):
                yield Breach("budget", pointer(self.aimed.where), over.message)

    def _fits(self, template: Json, value: Json) -> bool:
        return not any(True for _ in self._envelope(template, value, ()))

    def _envelope(self, template: Json, value: Json, path: tuple[str | int, ...]) -> Iterator[Breach]:
        here = pointer(path)
        if template == "@name":
            if not isinstance(value, str) or not self.aimed.tool_name.allows(value):
                yield Breach("tool-name", here, f"{value!r} is no name for a tool")
        elif template == "@description":
            most = self.aimed.limits.description
            if not isinstance(value, str) or (most is not None and len(value) > most):
                yield Breach("description", here, "the description is no text or too long")
        elif template in ("@schema", "@schema-text", "@map", "@examples"):
            return
        elif isinstance(template, dict):
            if not isinstance(value, dict):
                yield Breach("envelope", here, "an object is expected")
                return
            left_out = ("@description", "@map", "@examples", {"dev.instrc/map": "@map"})
            optional = {key for key, item in template.items() if item in left_out}
            if not self.aimed.empty_schema:
                optional |= {key for key, item in template.items() if item == "@schema"}
            for key in template.keys() - value.keys() - optional:
                yield Breach("envelope", here, f"{key!r} is missing")
            for key in value.keys() - template.keys():
                yield Breach("envelope", here, f"{key!r} is not known")
            for key in template.keys() & value.keys():
                yield from self._envelope(template[key], value[key], (*path, key))
        elif template != value:
            yield Breach("envelope", here, f"{template!r} is expected")

    def _root(self, schema: Json) -> Iterator[Breach]:
        here = pointer(self.aimed.where)
        if self.aimed.root == "any":
            return
        if not isinstance(schema, dict) or _type(schema) != "object":
            yield Breach("root", here, "the root must be an object")
        elif self.aimed.root == "plain" and schema.keys() & {"anyOf", "oneOf", "allOf"}:
            yield Breach("root", here, "no combinator may stand at the root")

    def _inputs(self, inputs: Json) -> Iterator[Breach]:
        """Judge the inputs of a smolagents tool."""
        for name, child in inputs.items():
            here = pointer((*self.aimed.where, name))
            if self.aimed.key is not None and not self.aimed.key.allows(name):
                yield Breach("key", here, f"{name!r} is no identifier")
            if not isinstance(child, dict) or not isinstance(child.get("description"), str) or not child["description"]:
                yield Breach("description", here, "an input needs a description")
                continue
            types = child.get("type")
            types = [types] if isinstance(types, str) else types
            if not isinstance(types, list) or not types or not set(types) <= _SMOLAGENTS_TYPES:
                yield Breach("type", here, f"{child.get('type')!r} is no type of an input")
            if child.get("nullable", True) is not True:
                yield Breach("nullable", here, "nullable is true or absent")
            for place, node, role in _nodes(child, (*self.aimed.where, name)):
                if role or place != here:
                    yield from self._node(place, node, role)

    def _node(self, place: str, node: Json, role: str) -> Iterator[Breach]:
        aimed = self.aimed
        if isinstance(node, bool):
            if aimed.structure == "fitted" and not (
                role in {"additionalProperties", "patternProperties"} or (role == "items" and node is False)
            ):
                yield Breach("boolean", place, "a boolean is no schema here")
            return
        if not isinstance(node, dict):
            yield Breach("schema", place, "a schema is expected")
            return
        yield from self._names(place, node)
        if aimed.structure == "kept":
            return
        yield from self._sizes(place, node)
        for keyword in node.keys() - aimed.keywords:
            yield Breach("keyword", place, f"{keyword!r} is not known")
        yield from self._type(place, node)
        yield from self._values(place, node)
        yield from self._reference(place, node)
        if _type(node) == "object" or "properties" in node:
            yield from self._object(place, node)
        if _type(node) == "array" and aimed.anything == "text" and "items" not in node and "prefixItems" not in node:
            yield Breach("items", place, "an array needs items")
        if isinstance(node.get("anyOf"), list):
            yield from self._union(place, node)
        if aimed.described and aimed.described_inside and role == "properties" and not node.get("description"):
            yield Breach("description", place, "a property needs a description")
        yield from self._limits(place, node)

    def _names(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        """Judge the keys of an object, and keywords that are comments."""
        aimed = self.aimed
        if aimed.key is not None and not aimed.keys_at_root_only:
            for name in node.get("properties", {}):
                if not aimed.key.allows(name):
                    yield Breach("key", place, f"{name!r} is no key")
        if not aimed.comments:
            for keyword in node:
                if keyword == "$comment" or keyword.startswith("x-"):
                    yield Breach("comment", place, f"{keyword!r} is not for models")

    def _limits(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        """Judge the keywords of which a provider takes only some values."""
        aimed = self.aimed
        if aimed.most_min_items is not None and node.get("minItems", 0) > aimed.most_min_items:
            yield Breach("minItems", place, f"minItems is at most {aimed.most_min_items}")
        if "format" in node and node["format"] not in aimed.formats:
            yield Breach("format", place, f"{node['format']!r} is no known format")
        if "pattern" in node and not taken(node["pattern"], aimed.patterns, aimed.most_repeated):
            yield Breach("pattern", place, f"{node['pattern']!r} is not taken")
        if not aimed.lengths_beside_patterns and node.keys() & {"minLength", "maxLength"} and node.keys() & {"pattern", "format"}:
            yield Breach("pattern", place, "lengths stand beside a pattern or format")

    def _sizes(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        for keywords, most in ((_OF_NUMBERS, self.aimed.most_bound), (_COUNTS, self.aimed.most_count)):
            for keyword in keywords & node.keys() if most is not None else ():
                if isinstance(node[keyword], int | float) and abs(node[keyword]) > most:
                    yield Breach("number", place, f"{keyword!r} is at most {most}")

    def _type(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        aimed, types = self.aimed, node.get("type")
        spelling = aimed.spelling
        known = [name.upper() if spelling.capitals else name for name in _TYPES if name != "null" or not spelling.nullable]
        if types is None:
            if not node.keys() & {"anyOf", "$ref"} and (aimed.anything == "text" or node.keys() - _HEAD):
                yield Breach("type", place, "a type is missing")
            return
        if isinstance(types, list):
            several = len([name for name in types if name != "null"]) > 1
            if not aimed.type_lists and (spelling.nullable or not aimed.null or several):
                yield Breach("type", place, "types in a list are not known")
            if len(set(types)) < len(types) or not types:
                yield Breach("type", place, "types in a list differ")
        for name in types if isinstance(types, list) else [types]:
            if name not in known or (name == "null" and not aimed.null):
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
            if value == "" and not self.aimed.empty_words:
                yield Breach("enum", place, "the empty string is no value of an enum")
            if kind not in self.aimed.enums and not (kind == "null" and "null" in types and "null" in self.aimed.enums):
                yield Breach("enum", place, f"{value!r} is of a type that no enum holds")
            if self.aimed.typed_enums and kind not in types and not (kind == "integer" and "number" in types):
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
        if self.aimed.recursion != "keep":
            yield Breach("recursion", place, "only recursive references are left, and the target takes none")

    def _object(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        aimed = self.aimed
        properties, required = node.get("properties"), node.get("required", [])
        free = (aimed.maps == "keep" and node.get("additionalProperties", False) is not False) or "patternProperties" in node
        if not isinstance(properties, dict):
            if not (free or (aimed.maps == "keep" and node.get("additionalProperties") is False)):
                yield Breach("object", place, "an object needs properties")
            properties = {}
        if set(required) - set(properties) or len(set(required)) < len(required):
            yield Breach("required", place, "required names what is no property, or twice")
        elif required != [name for name in properties if name in set(required)]:
            yield Breach("order", place, "required does not follow properties")
        if aimed.every_required and ("required" not in node or len(required) < len(properties)):
            yield Breach("required", place, "each property must be required")
        if aimed.closed and aimed.maps == "pairs" and node.get("additionalProperties") is not False:
            yield Breach("closed", place, "additionalProperties must be false")
        if aimed.closed and aimed.maps == "keep" and "additionalProperties" not in node:
            yield Breach("closed", place, "additionalProperties must be given")
        if "propertyOrdering" in aimed.keywords and node.get("propertyOrdering") != list(properties):
            yield Breach("order", place, "propertyOrdering must list the properties in order")

    def _union(self, place: str, node: dict[str, Any]) -> Iterator[Breach]:
        branches = node["anyOf"]
        if not branches:
            yield Breach("anyOf", place, "a union has at least one branch")
        if node.keys() - _HEAD - {"anyOf"}:
            yield Breach("anyOf", place, "constraints stand beside a union")
        if not self.aimed.first_keys:
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


def _type(node: dict[str, Any]) -> Json:
    types = node.get("type")
    return types.lower() if isinstance(types, str) else types


def _nodes(schema: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str, Json, str]]:
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
