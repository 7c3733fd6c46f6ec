"""Say one property of an object: under which key, whether it may be left out, and how null is told from that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from instrc.ir.codec import NULL_WORD, Member, TextCodec, ValuesCodec, wrapped
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, as_array, listing, mapping
from instrc.lowering.context import ListVariants, Progress, RewriteContext
from instrc.lowering.rewrites.combine import combine, described, scalar_type
from instrc.lowering.variants import Variant, null_variant
from instrc.schema.expressions import may_match

_TYPED = frozenset({"properties", "items", "minLength", "pattern", "minimum", "maximum"})
"""Keywords by which a schema without types is read as of the type that they speak of."""


class Property(Struct, frozen=True, gc=False):
    """A property as it is sent."""

    sent: str
    body: JsonObject
    required: bool
    member: Member | None = None
    """What is undone; `None` if nothing is."""


class _Absence(Struct, frozen=True, eq=False, gc=False):
    """How it is said that a property is left out."""

    variants: Sequence[Variant]
    """The variants of its value, with what says so among them."""
    asked: bool
    """Whether the key must be there."""
    absent: bool | Literal["also"] = False
    word: str | None = None
    """The word for null where null itself says it."""
    missing: bool = False
    unsaid: bool = False
    notes: tuple[str, ...] = ()


class Holder(Struct, frozen=True, eq=False, gc=False):
    """The object that a property belongs to."""

    node: JsonObject
    context: RewriteContext
    inside: RewriteContext
    """The context of what stands in the object."""
    leaky: bool
    """Whether a property that is not told of may come all the same."""
    optional: _Absence | None
    """How it is said that a property of a plain type is left out; `None` if a type with null beside it does not say it."""


_ALWAYS = _Absence((), asked=True)
_BY_NULL = _Absence((), asked=True, absent=True)
_BY_NULL_TOO = _Absence((), asked=False, absent="also")
_NEVER_SENT = _Absence((), asked=False)


def property_of(
    holder: Holder, name: str, schema: Json, progress: Progress, list_variants: ListVariants, *, required: bool
) -> tuple[Property | None, Progress]:
    """Return a property as it is sent; `None` if it has no value."""
    context = holder.context
    dialect = context.dialect
    kind = scalar_type(schema, holder.inside)
    absence = None if kind is None else _ALWAYS if required else holder.optional
    if absence is not None:
        said: JsonObject = {"type": [kind, "null"] if absence is _BY_NULL else kind}
        body, codec, progress = described(schema, said, None, (), dialect, progress)
    else:
        found, progress = list_variants(schema, holder.inside, progress)
        if not found:
            return None, _left_out(holder, name, schema, progress, required=required)
        absence, progress = _absence(schema, found, holder, progress, required=required)
        body, codec, progress = combine(schema, absence.variants, context, progress, absence.notes)
    body = body or {}
    kept = name in context.keys.known or (dialect.keys_at_root_only and context.level > 1)
    sent = name if kept else context.keys.sent(name)
    if dialect.described and not body.get("description") and (dialect.described_inside or context.level == 1):
        body = {"description": name.replace("_", " ").strip() or "The value.", **body}
    member: Member | None = None
    if sent != name or absence.absent or absence.missing or absence.unsaid or codec is not None or sent.endswith("_"):
        # what ends with an underscore and is unknown stands for another key
        key = None if sent == name else name
        member = Member(key, absence.absent, absence.word, absence.missing, absence.unsaid, codec)
    return Property(sent, body, absence.asked, member), progress


def holder_of(node: JsonObject, context: RewriteContext, *, leaky: bool) -> Holder:
    """Return an object as the holder of its properties."""
    dialect = context.dialect
    optional: _Absence | None = _BY_NULL_TOO if dialect.null_leaves_out and context.level == 1 else _NEVER_SENT
    if context.all_asked:
        optional = _BY_NULL if dialect.unions == "anyOf" and dialect.null else None
    return Holder(node, context, context.deeper(), leaky, optional)


def _left_out(holder: Holder, name: str, schema: Json, progress: Progress, *, required: bool) -> Progress:
    """Note that a property has no value."""
    node = holder.node
    if required:
        return progress.lose(node, "required", "annotation", f"asks for {dumps(name, indent=False)}, which has no value")
    if not holder.leaky:
        return progress.contradict(node, name, schema)
    progress = progress.lose(node, "properties", reason=f"forbids {dumps(name, indent=False)}, for which the target has no word")
    for demand in (schema, *_said_of(node, name)):
        progress = progress.lose_all(demand, "cannot be satisfied", "part", node, ("properties", name))
    return progress


def _said_of(node: JsonObject, name: str) -> list[Json]:
    """Return the schemas that an object has for a property that its name forbids."""
    declared = mapping(node.get("properties"))
    said = [declared[name]] if name in declared else []
    said += [schema for pattern, schema in mapping(node.get("patternProperties")).items() if may_match(pattern, name)]
    return said or [node[word] for word in ("additionalProperties", "unevaluatedProperties") if word in node]


def _absence(
    schema: Json, variants: Sequence[Variant], holder: Holder, progress: Progress, *, required: bool
) -> tuple[_Absence, Progress]:
    """Return how it is said that a property is left out, if it may be, and that it is null."""
    context, dialect = holder.context, holder.context.dialect
    if required and dialect.null:
        return _Absence(variants, asked=True), progress
    nullable = any(admits_null(context, variant) for variant in variants)
    if not (required or nullable) and holder.optional is _BY_NULL:
        return _Absence([*variants, null_variant()], asked=True, absent=True), progress
    if not required and context.all_asked:
        return _or_left_out(context, schema, variants, progress, nullable=nullable)
    others = [variant for variant in variants if variant.kind != "null"]
    if not dialect.null and nullable and others and len(others) < len(variants):
        if not required:
            progress = _lose_null(schema, progress)
        return _Absence(others, asked=False, missing=required, unsaid=not required), progress
    if dialect.null_leaves_out and context.level == 1 and not required and not nullable:
        return _Absence(variants, asked=required, absent="also"), progress  # `nullable` there lets null through as well
    return _Absence(variants, asked=required), progress


def _or_left_out(
    context: RewriteContext, schema: Json, variants: Sequence[Variant], progress: Progress, *, nullable: bool
) -> tuple[_Absence, Progress]:
    """Let null say that a property is left out; where null is a value a word says it."""
    word: str | None = None
    written = any(isinstance(variant.codec, TextCodec) and "null" in (variant.codec.kinds or ("null",)) for variant in variants)
    if nullable and not written:
        if isinstance(schema, dict) and "default" in schema and schema["default"] is None:
            reason = "is null, so null and leaving out mean the same; null is taken for left out"
            progress = progress.lose(schema, "default", "convention", reason)
        else:
            word = _word_for_null(context, variants)
            if not any(variant.kind == "any" for variant in variants):
                spelled = Variant("string", {"type": "string", "enum": [word]})
                variants = [*(variant for variant in variants if variant.kind != "null"), spelled]
    if not any(variant.kind == "null" for variant in variants):
        variants = [*variants, null_variant()]
    notes = () if word is None else (f'null leaves it out, "{word}" sets it to null.',)
    return _Absence(variants, asked=True, absent=True, word=word, notes=notes), progress


def _word_for_null(context: RewriteContext, variants: Sequence[Variant]) -> str:
    """Return a word that none of the listed values is, however many brackets stand around it."""
    word = NULL_WORD
    known = [value for variant in variants for value in _listed(variant.body)]
    for variant in variants:
        if variant.kind == "ref":
            known += _listed_behind(context, variant.node)
    while any(isinstance(value, str) and wrapped(value, word) is not None for value in known):
        word = f"<{word}>"
    return word


def _listed(schema: JsonObject) -> list[Json]:
    return [*listing(schema.get("enum")), schema.get("const")]


def _listed_behind(context: RewriteContext, reference: Json) -> list[Json]:
    """Return the values that a schema lists, itself or in its alternatives, through references."""
    found: list[Json] = []
    stack, seen = [reference], set[int]()
    while stack:
        node = stack.pop()
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        found += _listed(node)
        if "$ref" in node:
            stack.append(context.target(node["$ref"]))
        for keyword in ("allOf", "anyOf", "oneOf"):
            stack += listing(node.get(keyword))
    return found


def _lose_null(schema: Json, progress: Progress) -> Progress:
    """Note that null cannot be said of a property that may be left out, for a target without null."""
    if not isinstance(schema, dict):
        return progress
    same = "default" in schema and schema["default"] is None
    return progress.lose(schema, "type", "convention" if same else "narrowed", "null cannot be told from leaving out")


def admits_null(context: RewriteContext, variant: Variant) -> bool:
    """Say whether null is among the values of a variant."""
    if variant.kind in {"null", "any"}:
        return True
    if variant.codec is None:
        return variant.kind == "ref" and _nullish(context, variant.node, set())
    if isinstance(variant.codec, TextCodec):
        return "null" in (variant.codec.kinds or ("null",))
    if isinstance(variant.codec, ValuesCodec):
        return any(value is None for _, value in variant.codec.values)
    return variant.kind == "ref" and _nullish(context, variant.node, set())


def _nullish(context: RewriteContext, node: Json, seen: set[int]) -> bool:
    """Say whether a schema allows null, as far as its outer keywords tell."""
    if not isinstance(node, dict):
        return node is True
    if id(node) in seen:
        return True
    seen.add(id(node))
    types = node.get("type")
    if types is not None and types != "null" and (isinstance(types, str) or "null" not in as_array(types)):
        return False
    if ("enum" in node and None not in as_array(node["enum"])) or ("const" in node and node["const"] is not None):
        return False
    if "$ref" in node and not _nullish(context, context.target(node["$ref"]), seen):
        return False
    if any(not _nullish(context, member, seen) for member in listing(node.get("allOf"))):
        return False
    if types is None and not _TYPED.isdisjoint(node):
        return False  # read as that type
    unions = [listing(node[keyword]) for keyword in ("anyOf", "oneOf") if keyword in node]
    return all(any(_nullish(context, member, seen) for member in members) for members in unions)
