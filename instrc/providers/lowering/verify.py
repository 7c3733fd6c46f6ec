"""Check a payload against the rules of its target."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct

from instrc.problems.errors import CompileError
from instrc.problems.files import TooLarge
from instrc.problems.suggest import nearest
from instrc.providers import targets
from instrc.providers.dialect import DEFINITION_NAME, NUMBERS, SIZES, Dialect, fill_envelope, schema_in
from instrc.providers.lowering import build
from instrc.providers.lowering.lower import Lowering
from instrc.providers.lowering.spelling import spelt_type, standard
from instrc.providers.lowering.target_patterns import accepts_pattern
from instrc.schema.kinds import TYPES, mentioned_values
from instrc.schema.validation import json_fault
from instrc.schema.vocabulary import is_extension
from instrc.schema.walk import definition_named_by, subschemas
from instrc.schema.wellformed import problems_of
from instrc.text.arguments import excerpt, takes_plain_values
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Location, freeze, is_deeper, kind_of, listing, mapping, pointer


class Verification(Struct, frozen=True):
    """The rules of a target that a payload violates."""

    target: str
    breaches: tuple[Breach, ...]

    @property
    def accepted(self) -> bool:
        """Whether no rule is violated."""
        return not self.breaches

    def to_json(self) -> JsonObject:
        """Return the whole as plain JSON."""
        breaches: list[Json] = [breach._asdict() for breach in self.breaches]
        return {"target": self.target, "accepted": self.accepted, "breaches": breaches}


@takes_plain_values
def verify(payload: Lowering | Json, target: str | Dialect | None = None) -> Verification:
    """Check a payload, or a bare schema in the target's form, against the target's rules.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "anthropic-strict")
        assert not instrc.verify(lowered).breaches

    Without a `target`, a lowering is checked by its own target, and a payload by `openai`.
    """
    if isinstance(payload, Lowering):
        dialect = payload.dialect if target is None else targets.dialect(target)
        return _verified(payload.payload, dialect)
    return _verified(payload, targets.dialect("openai" if target is None else target))


LOWERED_LEVELS: Final = 2000
"""Maximum nesting of a payload that is verified, else `too-large`; no target accepts a tenth of that."""


def _verified(payload: Json, dialect: Dialect) -> Verification:
    if is_deeper(payload, LOWERED_LEVELS):
        raise CompileError([TooLarge(what="the payload", limit=LOWERED_LEVELS, unit="levels")])
    if json_fault(payload) is not None:
        raise TypeError(f"{excerpt(payload)} is not a payload: `verify` takes what `lower` returns, or its `payload`")
    try:
        schema, whole = schema_in(payload, dialect), payload
    except (LookupError, TypeError, ValueError):
        if not dialect.empty_schema and not breaches(payload, dialect):
            return Verification(dialect.name, ())  # a tool without parameters, whose schema is left out
        schema, whole = payload, _in_envelope(payload, dialect)
    plain = standard(schema, dialect.spelling)
    here = pointer(dialect.where)
    refused = [Breach("schema", f"{here}{problem.pointer}", problem.reason) for problem in problems_of(plain)]
    broken = refused or breaches(whole, dialect)  # the rules of the target apply only to schemas
    return Verification(dialect.name, tuple(broken))


def _in_envelope(schema: Json, dialect: Dialect) -> Json:
    """Put a bare schema into the envelope of a target."""
    words = {"@name": "tool", "@description": None, "@schema": schema, "@schema-text": dumps(schema, indent=False), "@map": None}
    return fill_envelope(dialect.envelope, words)


class Breach(NamedTuple):
    """A target's rule violated by a payload."""

    rule: str
    place: str
    """JSON Pointer into the payload."""
    message: str

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.message} [{self.rule}]"


_HEAD = frozenset({"description", "title", "default", "$defs", "propertyOrdering", "nullable"})


class NodeRules(Struct, frozen=True):
    """The rules of a target for the schemas of one payload, which is valid JSON Schema."""

    dialect: Dialect
    root: Json

    def node(self, place: str, node: Json, role: str) -> Iterator[Breach]:
        """Yield the violations by one schema of the payload; `role` is the enclosing keyword."""
        dialect = self.dialect
        if isinstance(node, bool):
            if dialect.structure == "rebuild" and not (
                role in {"additionalProperties", "patternProperties"} or (role == "items" and node is False)
            ):
                yield Breach("boolean", place, "a boolean is not a schema here")
            return
        if not isinstance(node, dict):
            return
        yield from self._names(place, node)
        if dialect.structure == "pass_through":
            return
        yield from self._sizes(place, node)
        for keyword in node.keys() - dialect.keywords:
            yield Breach("keyword", place, f"{_shown(keyword)} is not known")
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

    def _names(self, place: str, node: JsonObject) -> Iterator[Breach]:
        """Check the keys of an object, and comment keywords."""
        dialect = self.dialect
        if dialect.key is not None and not dialect.keys_at_root_only:
            for name in mapping(node.get("properties")):
                if not dialect.key.allows(name):
                    yield Breach("key", place, f"{_shown(name)} is not a key")
        if not dialect.comments:
            for keyword in node:
                if keyword == "$comment" or is_extension(keyword):
                    yield Breach("comment", place, f"{_shown(keyword)} is not for models")

    def _limits(self, place: str, node: JsonObject) -> Iterator[Breach]:
        """Check the keywords with restricted values."""
        dialect = self.dialect
        least = node.get("minItems", 0)
        if dialect.most_min_items is not None and not (isinstance(least, int | float) and least <= dialect.most_min_items):
            yield Breach("minItems", place, f"minItems is at most {dialect.most_min_items}")
        written, pattern = node.get("format"), node.get("pattern")
        if "format" in node and not (isinstance(written, str) and written in dialect.formats):
            yield Breach("format", place, f"{_shown(written)} is not a known format")
        most = dialect.most_repeated_at_once or dialect.most_repeated
        if "pattern" in node and not (isinstance(pattern, str) and accepts_pattern(pattern, dialect.patterns, most)):
            yield Breach("pattern", place, f"{_shown(pattern)} is not taken")
        if (
            not dialect.lengths_beside_patterns
            and node.keys() & {"minLength", "maxLength"}
            and node.keys() & {"pattern", "format"}
        ):
            yield Breach("pattern", place, "lengths are beside a pattern or format")

    def _sizes(self, place: str, node: JsonObject) -> Iterator[Breach]:
        for keywords, most in ((NUMBERS, self.dialect.most_bound), (SIZES, self.dialect.most_count)):
            for keyword in keywords & node.keys():
                number = node[keyword]
                if most is not None and isinstance(number, int | float) and abs(number) > most:
                    yield Breach("number", place, f"{_shown(keyword)} is at most {most}")
        step, types = node.get("multipleOf"), node.get("type")
        numeric = "number" in types if isinstance(types, list) else types == "number"
        if numeric and isinstance(step, int | float) and not self.dialect.takes_step(step):
            yield Breach("number", place, f"numbers are not multiples of {step}")

    def _types(self, place: str, node: JsonObject) -> Iterator[Breach]:
        dialect, types = self.dialect, node.get("type")
        known = [spelt_type(name, dialect.spelling) for name in TYPES if name != "null" or dialect.null_type]
        if types is None:
            if not node.keys() & {"anyOf", "$ref"} and (dialect.anything == "text" or node.keys() - _HEAD):
                yield Breach("type", place, "a type is missing")
            return
        if isinstance(types, list):
            several = len([name for name in types if name != "null"]) > 1
            if not dialect.type_lists and (not dialect.null_type or not dialect.null or several):
                yield Breach("type", place, "types in a list are not known")
        for name in types if isinstance(types, list) else [types]:
            if name not in known or (name == "null" and not dialect.null):
                yield Breach("type", place, f"{_shown(name)} is not a type")

    def _values(self, place: str, node: JsonObject) -> Iterator[Breach]:
        enum = listing(node.get("enum"))
        if "enum" in node and not enum:
            yield Breach("enum", place, "an enum lists at least one value")
        if len(set(map(freeze, enum))) < len(enum):
            yield Breach("enum", place, "values of an enum differ")
        named = node.get("type")
        types = [name.lower() for name in ([named] if isinstance(named, str) else listing(named)) if isinstance(name, str)]
        for value in mentioned_values(node):
            kind = kind_of(value)
            if value == "" and not self.dialect.empty_words:
                yield Breach("enum", place, "the empty string is not a value of an enum")
            if kind not in self.dialect.enums and not (kind == "null" and "null" in types and "null" in self.dialect.enums):
                yield Breach("enum", place, f"{_shown(value)} is of a type that no enum holds")
            if self.dialect.typed_enums and kind not in types and not (kind == "integer" and "number" in types):
                yield Breach("enum", place, f"{_shown(value)} is not of the type beside it")

    def _reference(self, place: str, node: JsonObject) -> Iterator[Breach]:
        ref = node.get("$ref")
        if "$ref" not in node:
            return
        if node.keys() - {"$ref"}:
            yield Breach("ref", place, "nothing may be beside $ref")
        name = definition_named_by(node)
        if not DEFINITION_NAME.allows(name) or name not in self._definitions():
            yield Breach("ref", place, f"{_shown(ref)} leads nowhere")
        if self.dialect.recursion != "keep":
            yield Breach("recursion", place, "only recursive references are left, and the target takes none")

    def _object(self, place: str, node: JsonObject) -> Iterator[Breach]:
        dialect = self.dialect
        declared, properties = node.get("properties"), mapping(node.get("properties"))
        required = listing(node.get("required"))
        names = {name for name in required if isinstance(name, str)}
        free = (dialect.maps == "keep" and node.get("additionalProperties", False) is not False) or "patternProperties" in node
        if not isinstance(declared, dict) and not (
            free or (dialect.maps == "keep" and node.get("additionalProperties") is False)
        ):
            yield Breach("object", place, "an object needs properties")
        if names - properties.keys() or len(names) < len(required):
            yield Breach("required", place, "required names something that is not a property, or a property twice")
        elif required != [name for name in properties if name in names]:
            yield Breach("order", place, "required does not follow properties")
        if dialect.every_required and ("required" not in node or len(required) < len(properties)):
            yield Breach("required", place, "each property must be required")
        if dialect.closed and dialect.maps == "pairs" and node.get("additionalProperties") is not False:
            yield Breach("closed", place, "additionalProperties must be false")
        if dialect.closed and dialect.maps == "keep" and "additionalProperties" not in node:
            yield Breach("closed", place, "additionalProperties must be given")
        if "propertyOrdering" in dialect.keywords and node.get("propertyOrdering") != list(properties):
            yield Breach("order", place, "propertyOrdering must list the properties in order")

    def _union(self, place: str, node: JsonObject) -> Iterator[Breach]:
        branches = listing(node["anyOf"])
        if node.keys() - _HEAD - {"anyOf"}:
            yield Breach("anyOf", place, "constraints are beside a union")
        if self.dialect.first_keys:
            yield from self._first_keys(place, branches)

    def _first_keys(self, place: str, branches: list[Json]) -> Iterator[Breach]:
        """Check the first keys of a union's objects: two that begin with the same key must differ in its value."""
        seen: dict[str, list[set[Hashable]]] = {}
        for branch in branches:
            shape = self._definitions().get(definition_named_by(branch)) if "$ref" in mapping(branch) else branch
            for first, schema in islice(mapping(mapping(shape).get("properties")).items(), 1):
                seen.setdefault(first, []).append(set(map(freeze, mentioned_values(mapping(schema)))))
        for first, groups in seen.items():
            union: set[Hashable] = set()
            for values in groups if len(groups) > 1 else []:
                if not values or values & union:
                    reason = f"objects of a union share the first key {_shown(first)}, which does not tell them apart"
                    yield Breach("first-key", place, reason)
                    break
                union |= values

    def _definitions(self) -> JsonObject:
        return mapping(mapping(self.root).get("$defs"))


def _shown(value: Json) -> str:
    """Return a value of a payload as text."""
    return dumps(value, indent=False)


def type_of(node: JsonObject) -> Json:
    """Return the type of a schema in lower case."""
    types = node.get("type")
    return types.lower() if isinstance(types, str) else types


def payload_schemas(schema: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str, Json, str]]:
    """Yield each schema of a payload with its place and the keyword above it."""
    stack: list[tuple[tuple[str | int, ...], Json, str]] = [(path, schema, "")]
    while stack:
        here, node, role = stack.pop()
        yield pointer(here), node, role
        stack.extend(((*here, *step), child, str(step[0])) for step, child in subschemas(node))


def breaches(payload: Json, target: str | Dialect) -> list[Breach]:
    """Return the target's rules that a payload violates; an empty list means that no violation is known."""
    rules = targets.dialect(target)
    strict = _is_strict(rules, payload)
    template = rules.envelope if strict else rules.plain
    return [*_of_envelope(rules, template, payload, ()), *_of_schema(rules, payload, strict=strict)]


def _is_strict(dialect: Dialect, payload: Json) -> bool:
    """Return whether a payload is checked as strict: unless it fits only the non-strict envelope."""
    if dialect.plain is None or not any(_of_envelope(dialect, dialect.envelope, payload, ())):
        return True
    return any(_of_envelope(dialect, dialect.plain, payload, ()))


def _of_envelope(dialect: Dialect, template: Json, value: Json, path: Location) -> Iterator[Breach]:
    """Yield the violations of a payload's part by the corresponding part of the envelope."""
    node = pointer(path)
    if template == "@name":
        if not isinstance(value, str) or not dialect.tool_name.allows(value):
            yield Breach("tool-name", node, f"{dumps(value, indent=False)} is not a name for a tool")
    elif template == "@description":
        most = dialect.limits.description
        if not isinstance(value, str) or (most is not None and len(value) > most):
            yield Breach("description", node, "the description is too long or not a text")
    elif template in ("@schema", "@schema-text", "@map", "@examples"):
        return
    elif isinstance(template, dict):
        if not isinstance(value, dict):
            yield Breach("envelope", node, "an object is expected")
            return
        optional = {key for key, item in template.items() if _may_be_left_out(item)}
        if not dialect.empty_schema:
            optional |= {key for key, item in template.items() if item == "@schema"}
        for key in template.keys() - value.keys() - optional:
            yield Breach("envelope", node, f"{dumps(key, indent=False)} is missing")
        for key in value.keys() - template.keys():
            if "@name" not in template.values() or nearest(key, template):  # another word may be an option of the provider
                yield Breach("envelope", node, f"{dumps(key, indent=False)} is not known")
        for key in template.keys() & value.keys():
            yield from _of_envelope(dialect, template[key], value[key], (*path, key))
    elif template != value:
        yield Breach("envelope", node, f"{dumps(template, indent=False)} is expected")


def _may_be_left_out(template: Json) -> bool:
    """Return whether a part of an envelope may be missing for some tools."""
    if isinstance(template, dict):
        return bool(template) and all(map(_may_be_left_out, template.values()))
    return template in ("@description", "@map", "@examples")


def _of_schema(dialect: Dialect, payload: Json, *, strict: bool) -> Iterator[Breach]:
    """Yield the errors of the schema in a payload."""
    here = pointer(dialect.where)
    try:
        schema = schema_in(payload, dialect)
    except LookupError:
        return
    except ValueError:
        yield Breach("schema", here, "the text is not JSON")
        return
    if not dialect.rooted:
        yield from _of_inputs(dialect, schema)
        return
    rules = NodeRules(dialect, schema)
    yield from _of_root(dialect, schema)
    for place, node, role in payload_schemas(schema, dialect.where):
        yield from rules.node(place, node, role)
    if strict and isinstance(schema, dict):
        for over in build.exceeded(standard(schema, dialect.spelling), dialect, "schema"):
            yield Breach("budget", here, over.message)


def _of_inputs(dialect: Dialect, inputs: Json) -> Iterator[Breach]:
    """Check the properties of a root, where they replace the schema."""
    rules = NodeRules(dialect, inputs)
    for name, child in mapping(inputs).items():
        here = pointer((*dialect.where, name))
        if dialect.key is not None and not dialect.key.allows(name):
            yield Breach("key", here, f"{dumps(name, indent=False)} is not an identifier")
        if not isinstance(child, dict) or not isinstance(child.get("description"), str) or not child["description"]:
            yield Breach("description", here, "an input needs a description")
            continue
        types = child.get("type")
        named: list[Json] = [types] if isinstance(types, str) else listing(types)
        if not named or not all(isinstance(item, str) and item in dialect.spelling.inputs for item in named):
            yield Breach("type", here, f"{dumps(types, indent=False)} is not a type of an input")
        if child.get("nullable", True) is not True:
            yield Breach("nullable", here, "nullable is true or absent")
        for place, node, role in payload_schemas(child, (*dialect.where, name)):
            if role or place != here:
                yield from rules.node(place, node, role)


def _of_root(dialect: Dialect, schema: Json) -> Iterator[Breach]:
    node = pointer(dialect.where)
    if dialect.root == "any":
        return
    if not isinstance(schema, dict) or type_of(schema) != "object":
        yield Breach("root", node, "the root must be an object")
    elif dialect.root == "plain" and schema.keys() & {"anyOf", "oneOf", "allOf"}:
        yield Breach("root", node, "no combinator may stand at the root")
