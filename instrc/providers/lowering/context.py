"""The types that rewrites share: variants, the ledger, the context, and names for keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from string import ascii_letters
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from msgspec import Struct, field, structs

from instrc.problems.targets import BudgetExceeded
from instrc.providers.codec import BoxCodec, Codec, ObjectCodec, RefCodec, Tag, TextCodec, TupleCodec, ValuesCodec
from instrc.providers.dialect import DEFINITION_NAME, Dialect, NameRule
from instrc.schema.flattening.parts import intersection
from instrc.schema.kinds import EqualityKeys
from instrc.schema.vocabulary import COUNTS, NO_ASSERTIONS
from instrc.schema.walk import local_target, map_schemas, subschemas, walk
from instrc.text import arguments
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Location, as_array, as_integer, as_object, as_texts, freeze, pointer
from instrc.text.limits import UNROLL
from instrc.text.sentences import EN, Sentences, filled

COPIED_SCHEMAS: Final = 30
"""Maximum schema objects of definitions copied into unions before the copies become definitions themselves."""
DESCRIBED_VALUE: Final = 400
"""Maximum characters of a value repeated in a description; the loss report has the whole value."""
WHOLE = "schema"
"""Stand-in for a keyword where a whole schema is lost."""
LossKind = Literal["unenforced", "part", "narrowed", "convention", "annotation", "repaired", "order", "contradiction"]
"""`unenforced`: the target allows what the schema forbids; the description mentions it and `lift` checks it.
`part`: a constraint inside an unenforced keyword or schema.
`narrowed`: some allowed values cannot be written.  `convention`: likewise, for values that are not intended:
undeclared properties that the object does not mention, null next to a default of null.
`annotation`: a keyword without force moved into the description or omitted, or a name sent in another spelling.
`repaired`: a mistake read as its most likely meaning, which differs from the written one.
`order`: the order of answers is not preserved.
`contradiction`: a property that no value satisfies is omitted."""


class Loss(Struct, frozen=True, gc=False):
    """A part of a schema that the payload does not express as written."""

    pointer: str
    """JSON Pointer to the keyword in the flat schema (`map["schema"]`)."""
    keyword: str
    value: Json
    kind: LossKind
    reason: str
    """Clause that says what happened to the keyword."""
    tool: str | None = None
    """Name of the tool, if several are lowered together."""

    @property
    def grave(self) -> bool:
        """Whether `strict` makes the loss an error: it changes the set of answers beyond conventions."""
        return self.kind in {"unenforced", "narrowed", "order", "contradiction"}

    def to_json(self) -> JsonObject:
        """Return the loss as plain JSON, for reports; `tool` is present if several tools were lowered."""
        said: JsonObject = structs.asdict(self)
        tool = said.pop("tool")
        return said if tool is None else {"tool": tool, **said}

    @staticmethod
    def of_name(own: str, sent: str) -> tuple[Loss, ...]:
        """Return the loss of a tool that is sent under another name, or nothing."""
        return () if own == sent else (Loss("", "name", own, "annotation", f"is sent as `{sent}`"),)

    def __str__(self) -> str:
        tool = "" if self.tool is None else f"`{self.tool}`: "
        return f"{tool}{self.pointer or '/'}: {self.keyword}: {self.reason}"


def constraints(schema: Json, *, falsity: bool = False) -> Iterator[tuple[str, str, Json]]:
    """Yield the constraints of a schema and their places; with `falsity`, `false` schemas too, under that word."""
    for path, node in walk(schema):
        if falsity and node is False:
            yield pointer(path), "false", False
        if node.__class__ is dict:
            place = pointer(path)
            yield from ((place, keyword, value) for keyword, value in node.items() if keyword not in NO_ASSERTIONS)


def mentions(schema: Json, keyword: str) -> bool:
    """Return whether a keyword occurs anywhere in a schema."""
    return any(node.__class__ is dict and keyword in node for _, node in walk(schema))


Recursion: TypeAlias = Literal["keep", "unroll", "refuse"]


class LoweringOptions(Struct, frozen=True, gc=False):
    """Options of a lowering."""

    ordered: bool = True
    unroll: int = UNROLL
    recursion: Recursion | None = None
    uniform: str = ""
    """Budgets that plans exceed in the typed form, which is why they are sent in the uniform one; empty otherwise."""
    sentences: Sentences = EN
    """Texts for descriptions where the target has no keyword."""

    def __post_init__(self) -> None:
        """Raise for invalid options."""
        arguments.truth("ordered", self.ordered)
        arguments.natural_number("unroll", self.unroll)
        if self.recursion is not None:
            arguments.known_word("recursion", self.recursion, get_args(Recursion))


_FALLBACK = "field"
_TRIED_IN_TURN = 20
"""Maximum numeric suffixes tried one by one; beyond it a free name is found by bisection."""


@lru_cache(maxsize=4096)
def legal(name: str, rule: NameRule, fallback: str = _FALLBACK) -> str:
    """Return the nearest legal spelling of a name: `$metric` is `metric`, `Имя` is `Imya`; it may not be unique."""
    if rule.allows(name):
        return name
    text = _legal_spelling(name, rule)
    if re.sub(r"[_\W]", "", text) != re.sub(r"[_\W]", "", name) or not text.isascii():
        from anyascii import anyascii  # a table of a megabyte that most schemas never need

        latin = re.sub("[\"']", "", anyascii(name))  # it writes `ь` and `ъ` as quotation marks, which end no word
        text = _legal_spelling(re.sub(r"[^a-zA-Z0-9_.-]+", "_", latin), rule)
    if not text.startswith("_") or not name.startswith("_"):
        text = text.lstrip("_.-:") or fallback
    if not name.endswith("_"):
        text = text.rstrip("_.-:") or fallback
    text = text[: rule.most]
    candidates = (text, f"_{text}", f"{text}_", f"{fallback}_{text}", _legal_spelling(fallback, rule), *ascii_letters)
    return next((shorter for item in candidates if rule.allows(shorter := item[: rule.most])), fallback)


def _legal_spelling(name: str, rule: NameRule) -> str:
    """Write a name with the characters that a rule allows after the first, changing case where only the other is allowed."""

    def sign(refused: re.Match[str]) -> str:
        other = refused.group().swapcase()
        return rule.joint if rule.refused.match(other) or len(other) > 1 else other

    return rule.refused.sub(sign, name)


def unique_name(name: str, taken: Iterable[str], most: int, joint: str = "_") -> str:
    """Return the name, or the name followed by a free number (a low one), no longer than `most` characters."""
    if name not in taken:
        return name

    def numbered(number: int) -> str:
        suffix = f"{joint}{number}"
        return name[: most - len(suffix)] + suffix

    for number in range(2, _TRIED_IN_TURN):
        if numbered(number) not in taken:
            return numbered(number)
    below, free = _TRIED_IN_TURN - 1, _TRIED_IN_TURN
    while numbered(free) in taken:
        below, free = free, 2 * free
    while free - below > 1:
        middle = (below + free) // 2
        below, free = (middle, free) if numbered(middle) in taken else (below, middle)
    return numbered(free)


class KeyNames(Struct, frozen=True, eq=False, gc=False):
    """The keys of one document under one rule; the same key has the same name everywhere, so combinators stay right."""

    rule: NameRule | None
    known: Collection[str]
    """Property names of the document that are sent unchanged."""
    changed: Mapping[str, str]
    """Sent names by the original names that change."""
    taken: Collection[str]
    """All names sent for names of the document."""

    def sent(self, name: str) -> str:
        """Return the name under which a key is sent."""
        if self.rule is None or name in self.known:
            return name
        if name in self.changed:
            return self.changed[name]
        return unique_name(legal(name, self.rule), self.taken, self.rule.most, self.rule.joint)  # a name that a rewrite has made

    def renamed(self) -> dict[str, str]:
        """Return the keys that are sent under another name, by that name."""
        return {sent: name for name, sent in self.changed.items()} if self.changed else {}


def key_names(rule: NameRule | None, names: Mapping[str, None]) -> KeyNames:
    """Return the names under which the keys of a document are sent; `names` are all of them, in order of appearance."""
    if rule is None or all(map(rule.allows, names)):
        return KeyNames(rule, names.keys(), {}, names.keys())
    legal_ones = frozenset(name for name in names if rule.allows(name))
    changed: dict[str, str] = {}
    taken = set(legal_ones)
    for name in names:
        if name not in legal_ones:
            changed[name] = unique_name(legal(name, rule), taken, rule.most, rule.joint)
            taken.add(changed[name])
    return KeyNames(rule, legal_ones, changed, taken)


_BARE = {"pattern", "format", "contentEncoding", "contentMediaType"}


def note(keyword: str, value: Json, sentences: Sentences = EN) -> str:
    """Return a keyword as a sentence, or an empty string where a model needs none."""
    phrase = (sentences.notes.get(f"no {keyword}") if value is False else None) or sentences.notes.get(keyword)
    if phrase is None:
        return ""
    if keyword in COUNTS and isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if keyword in _BARE and isinstance(value, str) else dumps(value, indent=False)
    if len(text) > DESCRIBED_VALUE:
        text = text[:DESCRIBED_VALUE] + "…"
    return filled(phrase, value=text)


def join_notes(*parts: str | None) -> str | None:
    """Join descriptions and notes with a line break, equal ones once, or return `None` if there are none."""
    seen = dict.fromkeys([part for part in parts if part])
    return "\n".join(seen) or None


class Variant(Struct, frozen=True, eq=False, gc=False):
    """A schema of one JSON type in the keywords of the target, with the codec of its values."""

    kind: str
    """JSON type of the sent value; `ref` for a reference, `any` for the empty schema."""
    body: JsonObject
    codec: Codec = None
    notes: tuple[str, ...] = ()
    """Sentences for the description about constraints that the body does not express."""
    text: str | None = None
    """Own description of this alternative, if any."""
    title: str | None = None
    definition: str | None = None
    """Definition of the payload that the body copies."""
    node: Json = None
    """Source schema, for losses that are found later."""
    too_many: bool = False
    """Whether it represents more alternatives than are kept separate."""

    @property
    def anything(self) -> bool:
        """Whether every JSON value can be written so."""
        return self.kind == "any" or (self.codec.__class__ is TextCodec and self.codec.kinds is None)

    @property
    def written(self) -> bool:
        """Whether the value is JSON written into a string."""
        return self.codec.__class__ is TextCodec

    @property
    def bare(self) -> bool:
        """Whether the variant has only a type."""
        return len(self.body) == 1 and "type" in self.body and self.codec is None and not self.notes and not self.text

    def after(self, notes: Iterable[str]) -> Variant:
        """Return the variant with sentences before its own."""
        before = tuple(text for text in notes if text)
        return structs.replace(self, notes=(*before, *self.notes)) if before else self

    def of(self, node: Json) -> Variant:
        """Return the variant with another source schema."""
        return self if self.node is node else structs.replace(self, node=node)


def taking_anything(variants: Iterable[Variant]) -> Variant | None:
    """Return the first variant that can express every JSON value, or `None`."""
    return next((variant for variant in variants if variant.anything), None)


def without_needless(variants: Sequence[Variant]) -> list[Variant]:
    """Remove integers next to unrestricted numbers, and strings next to unrestricted strings."""
    result = list(variants)
    bare = {variant.kind for variant in result if variant.bare}
    if "number" in bare:
        result = [variant for variant in result if not (variant.bare and variant.kind == "integer")]
    if "string" in bare:
        result = [
            variant
            for variant in result
            if variant.kind != "string" or variant.codec is not None or variant.bare or variant.text or variant.notes
        ]
    return result


def distinct(variants: Sequence[Variant]) -> list[Variant]:
    """Return variants without duplicates."""
    if len({variant.kind for variant in variants}) == len(variants):
        return list(variants)
    kept: list[Variant] = []
    alike: dict[tuple[str, str | None, object], list[Codec]] = {}
    key_of = EqualityKeys()
    for variant in variants:
        codecs = alike.setdefault((variant.kind, variant.text, key_of(variant.body)), [])
        if variant.codec not in codecs:
            codecs.append(variant.codec)
            kept.append(variant)
    return kept


def null_variant(node: Json = None) -> Variant:
    """Return the variant of null."""
    return Variant("null", {"type": "null"}, node=node)


def listed_values(schema: JsonObject) -> list[Json]:
    """Return the values that `const` or `enum` lists."""
    return [schema["const"]] if "const" in schema else list(as_array(schema.get("enum", [])))


def sent_values(variant: Variant) -> list[Json]:
    """Return the values sent for listed values."""
    return list(as_array(variant.body["enum"])) if "enum" in variant.body else [variant.body["const"]]


def pairs_by_sent(variant: Variant) -> dict[Hashable, tuple[Json, Json]]:
    """Return pairs of sent and intended value, by sent value."""
    values = (
        variant.codec.values if isinstance(variant.codec, ValuesCodec) else [(value, value) for value in sent_values(variant)]
    )
    return {freeze(sent): (sent, value) for sent, value in values}


_SAID = frozenset({"title", "description", "default", "propertyOrdering"})


def without_annotations(schema: Json) -> Json:
    """Return a schema without titles, descriptions and other annotations."""
    return map_schemas(schema, _plain)


def _plain(node: Json) -> Json:
    if not isinstance(node, dict) or _SAID.isdisjoint(node):
        return node
    plain: JsonObject = {keyword: value for keyword, value in node.items() if keyword not in _SAID}
    return plain


def with_tag(body: JsonObject, codec: Codec, tag: str, label: str, *, constant: bool) -> tuple[JsonObject, Codec]:
    """Return an object that begins with an identifying key, and the codec for it."""
    body = leading(body, tag, {"type": "string", **({"const": label} if constant else {"enum": [label]})})
    for keyword in ("minProperties", "maxProperties"):
        if keyword in body:
            body[keyword] = as_integer(body[keyword]) + 1
    if isinstance(codec, TupleCodec):  # the tag belongs to the object it is written as
        return body, structs.replace(codec, item=_with_tag(codec.item, Tag(tag, label)))
    return body, _with_tag(codec, Tag(tag, label))


def _with_tag(codec: Codec, tag: Tag) -> Codec:
    return structs.replace(codec, tag=tag) if isinstance(codec, ObjectCodec | BoxCodec) else ObjectCodec({}, tag=tag)


def leading(body: JsonObject, name: str, schema: Json) -> JsonObject:
    """Return a new object schema with a property before the others."""
    properties: JsonObject = {name: schema}
    properties |= {key: value for key, value in as_object(body["properties"]).items() if key != name}
    result: JsonObject = {**body, "properties": properties}
    result["required"] = [name, *(key for key in as_texts(body.get("required", [])) if key != name)]
    if "propertyOrdering" in result:
        result["propertyOrdering"] = list(properties)
    return result


_PREFIX = "#/$defs/"


class Later(NamedTuple):
    """A definition derived from an unfinished one by prepending an identifying key."""

    name: str
    tag: str
    label: str


class PayloadDefinitions(Struct, eq=False):
    """The definitions of the payload so far."""

    names: dict[Hashable, str] = {}
    """Definition names by the target of the reference."""
    bodies: dict[str, JsonObject | None] = {}
    """Schemas by name; `None` while unfinished."""
    codecs: dict[str, Codec] = {}
    options: dict[str, str] = {}
    """Names of copies, by the definition and the properties of the copy."""
    copied: int = 0
    """Number of schema objects in copies of definitions."""
    later: dict[Later, str] = {}
    labels: dict[tuple[str, str], tuple[str, ...]] = {}
    """Labels that the copies of a definition begin with, by its name and the leading key."""

    def under_way(self, variant: Variant) -> bool:
        """Return whether a reference leads to an unfinished definition."""
        return isinstance(variant.codec, RefCodec) and self.bodies.get(variant.codec.name) is None

    def label(self, variant: Variant, tag: str, label: str) -> None:
        """Record the label of a definition or its copy, so that the next copy can be the same."""
        key = (definition_name(variant), tag)
        if key[0]:
            self.labels[key] = tuple(dict.fromkeys([*self.labels.get(key, ()), label]))

    def begin(self, key: Hashable, name: str) -> None:
        """Add an unfinished definition."""
        self.names[key] = name
        self.define(name, None, None)

    def define(self, name: str, body: JsonObject | None, codec: Codec) -> None:
        """Set the schema and the codec of a definition."""
        self.bodies[name], self.codecs[name] = body, codec

    def copy(self) -> PayloadDefinitions:
        """Return an independent copy."""
        return PayloadDefinitions(*map(copy, structs.astuple(self)))


def definition_name(variant: Variant) -> str:
    """Return the name of the definition that a variant refers to or copies, or the empty string."""
    return variant.codec.name if variant.kind == "ref" and isinstance(variant.codec, RefCodec) else variant.definition or ""


def referring(name: str) -> JsonObject:
    """Return a reference to a definition."""
    return {"$ref": f"{_PREFIX}{name}"}


def shared_copy(variant: Variant, definitions: PayloadDefinitions) -> Variant:
    """Return a reference in place of the copy of a definition, once the copies are too large.

    Unions of objects that refer to each other are copies of copies: expanded, they double at each step.
    """
    if variant.definition is None:
        return variant
    definitions.copied += _size(variant.body)
    if definitions.copied <= COPIED_SCHEMAS:
        return variant
    key = f"{variant.definition} {dumps(variant.body.get('properties', {}), indent=False)}"
    name = definitions.options.get(key)
    if name is None:
        name = unique_name(f"{variant.definition}_option"[: DEFINITION_NAME.most], definitions.bodies, DEFINITION_NAME.most)
        definitions.define(name, variant.body, variant.codec)
        definitions.options[key] = name
    return structs.replace(variant, kind="ref", body=referring(name), codec=RefCodec(name))


def _size(body: Json) -> int:
    """Return the number of schema objects in a schema of the payload."""
    sizes: dict[int, int] = {}

    def size(node: Json) -> int:
        if not isinstance(node, dict):
            return 0
        if id(node) not in sizes:
            sizes[id(node)] = 1 + sum(size(child) for _, child in subschemas(node))
        return sizes[id(node)]

    return size(body)


def tagged_later(variant: Variant, tag: str, label: str, definitions: PayloadDefinitions) -> Variant:
    """Return a reference to a definition that will extend an unfinished one by an identifying key."""
    if not isinstance(variant.codec, RefCodec):
        return variant
    key = Later(variant.codec.name, tag, label)
    name = definitions.later.get(key)
    if name is None:
        name = unique_name(f"{key.name}_{label}"[: DEFINITION_NAME.most], definitions.bodies, DEFINITION_NAME.most)
        definitions.define(name, None, None)
        definitions.later[key] = name
    return structs.replace(variant, body=referring(name), codec=RefCodec(name))


def finish(definitions: PayloadDefinitions, *, constant: bool) -> None:
    """Build the definitions that were referenced before the ones that they extend were finished."""
    for key, name in definitions.later.items():
        body, codec = definitions.bodies[key.name], definitions.codecs[key.name]
        if body is not None and body.get("type") == "object" and isinstance(body.get("properties"), dict):
            body, codec = with_tag(body, codec, key.tag, key.label, constant=constant)
        definitions.define(name, body, codec)


CHECKED = "is said in the description and checked when the answer is lifted"
"""Reason of most losses."""


class Lost(Struct, frozen=True, eq=False, gc=False):
    """Entry: a keyword of a schema is lost; with `parts`, its contents too."""

    node: Json
    keyword: str
    kind: LossKind
    reason: str
    parts: bool = True


class LostAll(Struct, frozen=True, eq=False, gc=False):
    """Entry: every constraint of a schema is lost.  `below` is the path to it from another schema, for one that is `false`."""

    node: Json
    reason: str
    kind: LossKind
    of: Json = None
    below: Location = ()


class Contradicted(Struct, frozen=True, eq=False, gc=False):
    """Entry: a property is left out because no value satisfies its schema."""

    node: Json
    name: str
    schema: Json


class Derived(Struct, frozen=True, eq=False, gc=False):
    """Entry: a schema is derived from others, where its losses were written."""

    new: Json
    sources: tuple[Json, ...]
    invented: bool = False
    """Whether a rewrite created it to express another schema, so that its being closed was not written by the author."""


LedgerEntry: TypeAlias = Lost | LostAll | Contradicted | Derived
Mark: TypeAlias = "tuple[int, PayloadDefinitions, int, int, int, int]"
SchemaT = TypeVar("SchemaT", bound=Json)


class Ledger(Struct, eq=False):
    """The record of a lowering: losses, derived schemas, the payload's definitions."""

    entries: list[LedgerEntry] = []
    definitions: PayloadDefinitions = field(default_factory=PayloadDefinitions)
    enum_values: int = 0
    """Number of enum values in the payload."""
    items: int = 0
    """Sum of `maxItems` in the payload."""
    unrolled: int = 0
    """Number of schema objects rebuilt below recursive references."""
    copied: int = 0
    """Number of schema objects rebuilt once for each branch of a union."""

    def lose(self, node: Json, keyword: str, kind: LossKind = "unenforced", reason: str = CHECKED, *, parts: bool = True) -> None:
        """Record the loss of a keyword."""
        self.entries.append(Lost(node, keyword, kind, reason, parts))

    def lose_each(self, node: Json, keywords: Iterable[str], reason: str = CHECKED) -> None:
        """Record the loss of several keywords."""
        self.entries += [Lost(node, keyword, "unenforced", reason) for keyword in keywords]

    def lose_all(self, node: Json, reason: str, kind: LossKind = "unenforced", of: Json = None, below: Location = ()) -> None:
        """Record the loss of every constraint of a schema; a `false` one is below the schema `of`."""
        self.entries.append(LostAll(node, reason, kind, of, below))

    def contradict(self, node: Json, name: str, schema: Json) -> None:
        """Record that a property is left out because no value satisfies its schema."""
        self.entries.append(Contradicted(node, name, schema))

    def derive(self, new: SchemaT, *sources: Json) -> SchemaT:
        """Record the source schemas of a derived one, so that its losses are shown at their origin; return it."""
        if isinstance(new, dict) and not any(new is source for source in sources):
            self.entries.append(Derived(new, sources))
        return new

    def invent(self, new: SchemaT, node: Json) -> SchemaT:
        """Record that a rewrite created a schema to express another one; return it."""
        self.entries.append(Derived(new, (node,), invented=True))
        return new

    def mark(self) -> Mark:
        """Return the state of the ledger, for `reset`."""
        return len(self.entries), self.definitions.copy(), self.enum_values, self.items, self.unrolled, self.copied

    def reset(self, mark: Mark) -> None:
        """Drop everything recorded after a mark."""
        count, self.definitions, self.enum_values, self.items, self.unrolled, self.copied = mark
        del self.entries[count:]


class RewriteContext(Struct, frozen=True, eq=False, gc=False):
    """The target, the lowered schema, and the current place in it."""

    dialect: Dialect
    root: Json
    keys: KeyNames
    all_asked: bool
    """Whether each property is required in the payload, so that optional ones are nullable."""
    deepest: int
    """Level of the innermost object or array."""
    unroll: int
    recursion: str
    list_variants: Callable[[Json, RewriteContext], list[Variant]]
    """Walker that rewrites call for nested schemas."""
    ledger: Ledger
    uniform: str = ""
    """Why plans are sent in the uniform form; empty if they are not."""
    sentences: Sentences = EN
    """Texts for descriptions."""
    level: int = 1
    """Nesting of objects and arrays."""
    nested: int = 0
    """Number of enclosing schemas, combinators included."""
    copying: bool = False
    """Whether each branch of an enclosing union has its own copy of this place."""
    active: tuple[Hashable, ...] = ()
    """References that are being expanded."""

    def variants(self, node: Json) -> list[Variant]:
        """Return the encodings of a schema's values here, or none if it has no values."""
        return self.list_variants(node, self)

    def deeper(self) -> RewriteContext:
        """Return the context of the schemas inside an object or array."""
        return structs.replace(self, level=self.level + 1, nested=self.nested + 1)

    def beside(self) -> RewriteContext:
        """Return the context of another schema for the same value."""
        return structs.replace(self, nested=self.nested + 1)

    def boxed(self) -> RewriteContext:
        """Return the context of a schema that is wrapped in a generated object or array."""
        return structs.replace(self, level=self.level + 1)

    @property
    def too_deep(self) -> str | None:
        """The reason why an object or array is nested too deeply here, or `None`."""
        if self.level <= self.deepest:
            return None
        return f"is nested too deeply: this is level {self.level}, and the target takes {self.deepest}"

    def said(self, node: Json, keyword: str) -> str:
        """Return the sentence for a lost keyword."""
        return note(keyword, node.get(keyword) if isinstance(node, dict) else node, self.sentences)

    def sentences_for(self, node: Json, keywords: Iterable[str]) -> tuple[str, ...]:
        """Return the sentences for lost keywords."""
        return tuple([self.said(node, keyword) for keyword in keywords])

    def lose(self, node: Json, keywords: Sequence[str]) -> tuple[str, ...]:
        """Record the loss of keywords, and return their sentences for the description."""
        self.ledger.lose_each(node, keywords)
        return self.sentences_for(node, keywords)

    def target(self, reference: Json) -> Json:
        """Return the target of a reference; a flat schema has local pointers only."""
        return target_of(self.root, reference)


def target_of(root: Json, reference: Json) -> Json:
    """Return the target of a local reference, or `True` if it is unresolvable."""
    target = local_target(root, reference)
    return True if target is None else target


def intersected(schemas: list[Json], ledger: Ledger) -> Json:
    """Return the intersection of several schemas; parts that no keyword can express stay in its `allOf`."""
    result = intersection(schemas)
    for new, sources in result.sources:
        ledger.derive(new, *sources)
    return result.schema


SAYING_NOTHING = frozenset({"$schema", "$id", "$comment", "title", "description", "$defs", "definitions"})
"""Keywords without assertions."""


class Built(Struct, frozen=True, eq=False, gc=False):
    """A schema in the keywords of a target, its part of the reverse map, and its losses."""

    schema: Json
    record: dict[str, Json]
    losses: Sequence[Loss] = ()
    entries: Sequence[LedgerEntry] = ()
    """Ledger of further losses."""
    back: Mapping[str, str] = MappingProxyType({})
    """Original property names by sent name, where they differ."""
    given_up: tuple[Loss, ...] = ()
    """What is dropped to stay within the budgets of the target."""
    strict: bool = True
    """Whether it uses the strict envelope of the target."""
    problems: tuple[BudgetExceeded, ...] = ()
    """Exceeded budgets, with the consequences."""
