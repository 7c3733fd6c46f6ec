"""Write objects: keys, optional properties, undeclared properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from instrc.providers.codec import NULL_WORD, Member, More, ObjectCodec, TextCodec, ValuesCodec, wrapped
from instrc.providers.lowering import json_text, key_maps
from instrc.providers.lowering.context import Ledger, RewriteContext, Variant, null_variant, unique_name
from instrc.providers.lowering.key_maps import DEPENDENT, Undeclared, counted
from instrc.providers.lowering.unions import combine, described, scalar_type
from instrc.schema.kinds import mentioned_values
from instrc.schema.laws.numbers import bound
from instrc.schema.patterns import may_match
from instrc.schema.vocabulary import BY_TYPE
from instrc.schema.walk import reached, required_names
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, listing, mapping
from instrc.text.sentences import filled

_TYPED = frozenset({"properties", "items", "minLength", "pattern", "minimum", "maximum"})
"""Keywords that imply the type of a schema without `type`."""


class Property(Struct, frozen=True, gc=False):
    """A property in its sent form."""

    sent: str
    body: JsonObject
    required: bool
    member: Member | None = None
    """How its value is decoded; `None` if unchanged."""


class _Absence(Struct, frozen=True, eq=False, gc=False):
    """The representation of a missing property."""

    variants: Sequence[Variant]
    """Variants of its value, including the one that means absence."""
    asked: bool
    """Whether the key is required."""
    absent: bool | Literal["also"] = False
    word: str | None = None
    """String for a real null where null means absence."""
    missing: bool = False
    unsaid: bool = False
    notes: tuple[str, ...] = ()


class Holder(Struct, frozen=True, eq=False, gc=False):
    """The object that a property belongs to."""

    node: JsonObject
    context: RewriteContext
    inside: RewriteContext
    """Context of the object's contents."""
    leaky: bool
    """Whether an answer may hold undeclared properties."""
    optional: _Absence | None
    """How absence of a property of a plain type is expressed; `None` if null next to its type does not express it."""


_ALWAYS = _Absence((), asked=True)
_BY_NULL = _Absence((), asked=True, absent=True)
_BY_NULL_TOO = _Absence((), asked=False, absent="also")
_NEVER_SENT = _Absence((), asked=False)


def property_of(holder: Holder, name: str, schema: Json, *, required: bool) -> Property | None:
    """Return a property in its sent form, or `None` if it has no possible value."""
    context = holder.context
    dialect = context.dialect
    kind = scalar_type(schema, holder.inside)
    absence = None if kind is None else _ALWAYS if required else holder.optional
    if absence is not None:
        said: JsonObject = {"type": [kind, "null"] if absence is _BY_NULL else kind}
        body, codec = described(schema, said, None, (), context)
    else:
        result = holder.inside.variants(schema)
        if not result:
            _left_out(holder, name, schema, required=required)
            return None
        absence = _absence(schema, result, holder, required=required)
        body, codec = combine(schema, absence.variants, context, absence.notes)
    body = body or {}
    kept = name in context.keys.known or (dialect.keys_at_root_only and context.level > 1)
    sent = name if kept else context.keys.sent(name)
    if dialect.described and not body.get("description") and (dialect.described_inside or context.level == 1):
        body = {"description": name.replace("_", " ").strip() or context.sentences.the_value, **body}
    member: Member | None = None
    if sent != name or absence.absent or absence.missing or absence.unsaid or codec is not None or sent.endswith("_"):
        # an unknown key that ends with an underscore stands for another one
        key = None if sent == name else name
        member = Member(key, absence.absent, absence.word, absence.missing, absence.unsaid, codec)
    return Property(sent, body, absence.asked, member)


def _left_out(holder: Holder, name: str, schema: Json, *, required: bool) -> None:
    """Record that no value satisfies the schema of a property."""
    node, ledger, quoted = holder.node, holder.context.ledger, dumps(name, indent=False)
    if required:
        ledger.lose(node, "required", "annotation", f"asks for {quoted}, which has no value")
        return
    if not holder.leaky:
        ledger.contradict(node, name, schema)
        return
    ledger.lose(node, "properties", reason=f"forbids {quoted}, for which the target has no word")
    for demand in (schema, *_said_of(node, name)):
        ledger.lose_all(demand, "cannot be satisfied", "part", node, ("properties", name))


def _said_of(node: JsonObject, name: str) -> list[Json]:
    """Return the schemas that an object applies to a property whose name is forbidden."""
    declared = mapping(node.get("properties"))
    said = [declared[name]] if name in declared else []
    said += [schema for pattern, schema in mapping(node.get("patternProperties")).items() if may_match(pattern, name)]
    return said or [node[word] for word in ("additionalProperties", "unevaluatedProperties") if word in node]


def _absence(schema: Json, variants: Sequence[Variant], holder: Holder, *, required: bool) -> _Absence:
    """Return how to express null and the absence of an optional property."""
    context, dialect = holder.context, holder.context.dialect
    if required and dialect.null:
        return _Absence(variants, asked=True)
    nullable = any(admits_null(context, variant) for variant in variants)
    if not (required or nullable) and holder.optional is _BY_NULL:
        return _Absence([*variants, null_variant()], asked=True, absent=True)
    if not required and context.all_asked:
        return _or_left_out(context, schema, variants, nullable=nullable)
    others = [variant for variant in variants if variant.kind != "null"]
    if not dialect.null and nullable and others and len(others) < len(variants):
        if not required:
            _lose_null(schema, context.ledger)
        return _Absence(others, asked=False, missing=required, unsaid=not required)
    if dialect.null_leaves_out and context.level == 1 and not required and not nullable:
        return _Absence(variants, asked=required, absent="also")  # `nullable` there lets null through as well
    return _Absence(variants, asked=required)


def _or_left_out(context: RewriteContext, schema: Json, variants: Sequence[Variant], *, nullable: bool) -> _Absence:
    """Represent absence by null; if null is a value, a string represents it."""
    word: str | None = None
    written = any(isinstance(variant.codec, TextCodec) and "null" in (variant.codec.kinds or ("null",)) for variant in variants)
    if nullable and not written:
        if isinstance(schema, dict) and "default" in schema and schema["default"] is None:
            reason = "is null, which is then the same as leaving the property out; null counts as left out"
            context.ledger.lose(schema, "default", "convention", reason)
        else:
            word = _word_for_null(context, variants)
            if not any(variant.kind == "any" for variant in variants):
                spelled = Variant("string", {"type": "string", "enum": [word]})
                variants = [*(variant for variant in variants if variant.kind != "null"), spelled]
    if not any(variant.kind == "null" for variant in variants):
        variants = [*variants, null_variant()]
    notes = () if word is None else (filled(context.sentences.null_word, word=word),)
    return _Absence(variants, asked=True, absent=True, word=word, notes=notes)


def _word_for_null(context: RewriteContext, variants: Sequence[Variant]) -> str:
    """Return a string that is not a listed value, with as many brackets around it as that requires."""
    word = NULL_WORD
    known = [value for variant in variants for value in mentioned_values(variant.body)]
    for variant in variants:
        if variant.kind == "ref":
            known += _listed_behind(context, variant.node)
    while any(isinstance(value, str) and wrapped(value, word) is not None for value in known):
        word = f"<{word}>"
    return word


def _listed_behind(context: RewriteContext, reference: Json) -> list[Json]:
    """Return the values listed by a schema or its alternatives, following references."""

    def alternatives(node: JsonObject) -> list[Json]:
        branches = [branch for keyword in ("allOf", "anyOf", "oneOf") for branch in listing(node.get(keyword))]
        return [context.target(node["$ref"]), *branches] if "$ref" in node else branches

    return [value for node in reached([reference], alternatives) for value in mentioned_values(node)]


def _lose_null(schema: Json, ledger: Ledger) -> None:
    """Record that null and absence are indistinguishable, for a target without null."""
    if not isinstance(schema, dict):
        return
    same = "default" in schema and schema["default"] is None
    ledger.lose(schema, "type", "convention" if same else "narrowed", "null cannot be told from leaving out")


def holder_of(node: JsonObject, context: RewriteContext, *, leaky: bool) -> Holder:
    """Return an object as the holder of its properties."""
    dialect = context.dialect
    optional: _Absence | None = _BY_NULL_TOO if dialect.null_leaves_out and context.level == 1 else _NEVER_SENT
    if context.all_asked:
        optional = _BY_NULL if dialect.unions == "anyOf" and dialect.null else None
    return Holder(node, context, context.deeper(), leaky, optional)


def admits_null(context: RewriteContext, variant: Variant) -> bool:
    """Return whether null is a value of a variant."""
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
    """Return whether a schema allows null by its outer keywords."""
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


_MORE = "additional_properties"
_MARKING = frozenset({"if", "dependentSchemas", "allOf", "anyOf", "oneOf"})
"""Keywords whose schemas may mark properties of a matching instance as evaluated."""
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_BESIDE = frozenset(BY_TYPE["object"]) - {"properties", "required", "additionalProperties"}
"""Object keywords that a plain object does not have."""


def objects(node: JsonObject, context: RewriteContext) -> Variant | None:
    """Return the variant of an object, or `None` if there is no valid object."""
    dialect = context.dialect
    required = dict.fromkeys(required_names(node))
    least, most = max(len(required), bound(node, "minProperties") or 0), bound(node, "maxProperties")
    if most is not None and least > most:
        context.ledger.lose(node, "maxProperties", "annotation", "is less than the properties there must be")
        return None
    if (reason := context.too_deep) is not None:
        return json_text.container(context, node, "object", reason)
    rest = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if rest is not None and "additionalProperties" not in node and not _MARKING.isdisjoint(node):
        reason = "is taken for all that is not declared, whatever marks it"
        context.ledger.lose(node, "unevaluatedProperties", "narrowed", reason)
    declared = mapping(node.get("properties"))
    others = Undeclared(mapping(node.get("patternProperties")), rest)
    names = {**declared, **required}
    is_tool = node is context.root and dialect.tool and node.keys().isdisjoint({"propertyNames", "minProperties"})
    if not names and others.unsaid and is_tool:
        if dialect.closed:
            reason = "is not given at the root: a tool without parameters"
            context.ledger.lose(node, "additionalProperties", "convention", reason)
        return _whole(node, (), None, None, context)
    if not names and (others.patterns or rest is not False):
        return key_maps.maps(node, others, context)
    leaky = not dialect.closed or (dialect.maps == "keep" and bool(others.patterns or rest not in (None, False)))
    holder = holder_of(node, context, leaky=leaky)
    simple = _BESIDE.isdisjoint(node)
    properties: list[Property] = []
    accepts_name = _judge_of_names(node)
    for name in names:
        if simple and name in declared:
            schema = declared[name]
        else:
            schema = accepts_name(name) and _schema_of(node, name, declared, others, context.ledger)
        result = property_of(holder, name, schema, required=name in required)
        if result is None:
            if name in required:
                return None
        else:
            properties.append(result)
    return _closed(node, names, properties, others, context)


class _More(Struct, frozen=True, gc=False):
    """The list that holds undeclared properties."""

    sent: Property
    codec: More


def _whole(
    node: JsonObject,
    properties: Sequence[Property],
    keyword_map: key_maps.KeywordMap | None,
    more: _More | None,
    context: RewriteContext,
) -> Variant:
    """Return the finished object."""
    dialect = context.dialect
    every = properties if more is None else [*properties, more.sent]
    declared: JsonObject = {result.sent: result.body for result in every}
    body: JsonObject = {"type": "object", "properties": declared}
    if keyword_map is not None:
        body |= keyword_map.body
    required: list[Json] = [result.sent for result in every if result.required]
    if required or dialect.every_required:
        body["required"] = required
    if "patternProperties" in body:
        body.setdefault("additionalProperties", False)
    elif dialect.closed and "additionalProperties" not in body:
        body["additionalProperties"] = False
    if "propertyOrdering" in dialect.keywords:
        body["propertyOrdering"] = list(declared)
    notes: tuple[str, ...] = () if keyword_map is None else keyword_map.notes
    if not _BESIDE.isdisjoint(node):
        body, lost = counted(node, body, context, more=more is not None)
        notes += context.sentences_for(node, lost)
        reported = [word for word in DEPENDENT if any(item not in (True, {}, []) for item in mapping(node.get(word)).values())]
        undeclared = None if keyword_map is None else keyword_map.codec
        if "propertyNames" in node and (undeclared is None or undeclared.other is None) and not dialect.closed:
            reported.append("propertyNames")
        dependent = context.lose(node, reported)
        notes += dependent
    codec = _codec(properties, None if keyword_map is None else keyword_map.codec, None if more is None else more.codec)
    return Variant("object", body, codec, tuple([text for text in notes if text]) if notes else (), node=node)


def _codec(properties: Sequence[Property], undeclared: ObjectCodec | None, more: More | None) -> ObjectCodec | None:
    """Return the codec of an object, or `None` if it is an identity."""
    members: dict[str, Member] = {result.sent: result.member for result in properties if result.member is not None}
    if not members and more is None and undeclared is None:
        return None
    if undeclared is not None:
        declared = tuple(result.sent for result in properties)
        return structs.replace(undeclared, declared=declared, members=members)
    busy = more is not None or any(member.codec is not None or member.acts for member in members.values())
    return ObjectCodec(members, more=more) if busy else None


def _judge_of_names(node: JsonObject) -> Callable[[str], bool]:
    """Return a predicate for the property names that an object allows."""
    if "propertyNames" not in node:
        return lambda _: True
    from instrc.schema.validation import SchemaValidator

    return SchemaValidator(node["propertyNames"], formats=False).is_valid


def _schema_of(node: JsonObject, name: str, declared: Mapping[str, Json], others: Undeclared, ledger: Ledger) -> Json:
    """Return the schema that combines all constraints on one property."""
    demands = [declared[name]] if name in declared else []
    matched = [schema for pattern, schema in others.patterns.items() if may_match(pattern, name)]
    demands += matched
    if name not in declared and not matched and others.rest is not None:
        demands.append(others.rest)
    if not demands:
        return True
    if len(demands) == 1:
        return demands[0]
    together: JsonObject = {"allOf": demands}
    return ledger.derive(together, node)


def _closed(
    node: JsonObject,
    names: Mapping[str, Json],
    properties: Sequence[Property],
    others: Undeclared,
    context: RewriteContext,
) -> Variant | None:
    """Finish an object that declares the schema of undeclared properties."""
    dialect, rest = context.dialect, others.rest
    keyword_map: key_maps.KeywordMap | None = None
    more: _More | None = None
    if others.unsaid:
        if dialect.closed:
            reason = "is not given, so there are no undeclared properties"
            context.ledger.lose(node, "additionalProperties", "convention", reason)
    elif others.patterns or rest is not False:
        if dialect.maps == "keep":
            renamed = any(result.member is not None and result.member.key is not None for result in properties)
            keyword_map = key_maps.keep_map(node, others, context, renamed=renamed)
        else:
            more = _list_of_more(node, names, properties, others, context)
    elif not dialect.closed:
        reason = "has no keyword in the target; undeclared keys are found when the answer is lifted"
        context.ledger.lose_each(node, [keyword for keyword in _CLOSING if keyword in node], reason)
    shut = not others.patterns and (rest is False or (rest is None and dialect.closed))
    if "minProperties" in node and shut and (bound(node, "minProperties") or 0) > len(properties):
        context.ledger.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
        return None
    return _whole(node, properties, keyword_map, more, context)


def _list_of_more(
    node: JsonObject,
    names: Mapping[str, Json],
    properties: Sequence[Property],
    others: Undeclared,
    context: RewriteContext,
) -> _More | None:
    """Return the list of keys and values that holds undeclared properties."""
    dialect = context.dialect
    if not dialect.closed:
        reason = "has no keyword in the target; what is not in the list is found when the answer is lifted"
        lost = [word for word in (*_CLOSING, "patternProperties", "propertyNames") if word in node]
        context.ledger.lose_each(node, lost, reason)
    variant = key_maps.pairs(node, others, context.boxed())
    if variant is None:
        return None
    sent = unique_name(_MORE, {result.sent for result in properties}, 64)
    asked = context.all_asked
    text: JsonObject = {"description": context.sentences.more_keys}
    body, _ = combine(text, [variant], context)
    return _More(Property(sent, body or {}, asked), More(sent, variant.codec, tuple(names), asked))
