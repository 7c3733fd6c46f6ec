"""Say objects: keys, optional properties, maps, properties that are not declared.

* **Keys** outside a target's alphabet are renamed (Anthropic, Gemini, GigaChat, Ollama, the top of smolagents).
* **Optional** properties become required and nullable where a target asks for all (OpenAI), or moves optional ones out of their
  place (Anthropic strict, Gemini, Ollama) and order matters.  Null then means "left out";
  where null is a value too, the word `<null>` says it.  GigaChat has no null: there a missing key says it.
* **Maps** become arrays of `{key, value}` where each object must be closed (OpenAI, Anthropic strict) or
  maps come back empty (Gemini); undeclared properties beside declared ones go into one such array.
* **Open objects** that do not speak of other properties are closed; that nobody means them is a convention, and it is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from instrc.ir.codec import Member, More, ObjectCodec
from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.lowering.context import ListVariants, Progress, RewriteContext, sentences_for
from instrc.lowering.names import unique_name
from instrc.lowering.rewrites import anything, maps
from instrc.lowering.rewrites.combine import combine
from instrc.lowering.rewrites.counts import counted
from instrc.lowering.rewrites.maps import DEPENDENT, Undeclared
from instrc.lowering.rewrites.properties import Property, holder_of, property_of
from instrc.lowering.variants import Variant
from instrc.schema.expressions import may_match
from instrc.schema.laws.bounds import bound
from instrc.schema.members import required_names
from instrc.schema.vocabulary import BY_TYPE

_MORE = "additional_properties"
_MARKING = frozenset({"if", "dependentSchemas", "allOf", "anyOf", "oneOf"})
"""Keywords whose schemas may mark properties as evaluated, in an instance that satisfies them."""
_CLOSING = ("additionalProperties", "unevaluatedProperties")
_BESIDE = frozenset(BY_TYPE["object"]) - {"properties", "required", "additionalProperties"}
"""Keywords of objects that a plain one does not have."""


def objects(
    node: JsonObject, context: RewriteContext, progress: Progress, list_variants: ListVariants
) -> tuple[Variant | None, Progress]:
    """Return the variant of an object; `None` if there is no such object."""
    dialect = context.dialect
    required = dict.fromkeys(required_names(node))
    if "maxProperties" in node and max(len(required), bound(node, "minProperties") or 0) > _most(node):
        return None, progress.lose(node, "maxProperties", "annotation", "is less than the properties there must be")
    if (reason := context.too_deep) is not None:
        typed: JsonObject = {**node, "type": "object"}
        return anything.anything_variant(context, typed, reason, progress.derive(typed, node))
    rest = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if rest is not None and "additionalProperties" not in node and not _MARKING.isdisjoint(node):
        reason = "is taken for all that is not declared, whatever marks it"
        progress = progress.lose(node, "unevaluatedProperties", "narrowed", reason)
    declared = mapping(node.get("properties"))
    others = Undeclared(mapping(node.get("patternProperties")), rest)
    names = {**declared, **required}
    if not names and others.unsaid and _no_arguments(node, context):
        if dialect.closed:
            reason = "is not given at the root: a tool without parameters"
            progress = progress.lose(node, "additionalProperties", "convention", reason)
        return _whole(node, (), None, None, context, progress)
    if not names and (others.patterns or rest is not False):
        return maps.maps(node, others, context, progress, list_variants)
    leaky = not dialect.closed or (dialect.maps == "keep" and bool(others.patterns or rest not in (None, False)))
    holder = holder_of(node, context, leaky=leaky)
    simple = _BESIDE.isdisjoint(node)
    properties: list[Property] = []
    accepts_name = _judge_of_names(node)
    for name in names:
        if simple and name in declared:
            schema = declared[name]
        else:
            schema, progress = _schema_of(node, name, declared, others, progress) if accepts_name(name) else (False, progress)
        found, progress = property_of(holder, name, schema, progress, list_variants, required=name in required)
        if found is None:
            if name in required:
                return None, progress
        else:
            properties.append(found)
    return _closed(node, names, properties, others, context, progress, list_variants)


def _most(node: JsonObject) -> float:
    most = bound(node, "maxProperties")
    return float("inf") if most is None else most


def _no_arguments(node: JsonObject, context: RewriteContext) -> bool:
    """Say whether an object is the root of a tool and says nothing of properties."""
    return node is context.root and context.dialect.tool and node.keys().isdisjoint({"propertyNames", "minProperties"})


def _judge_of_names(node: JsonObject) -> Callable[[str], bool]:
    """Return what tells whether an object may have a name."""
    if "propertyNames" not in node:
        return lambda _: True
    from instrc.schema.validation import SchemaValidator

    return SchemaValidator(node["propertyNames"], formats=False).is_valid


def _schema_of(
    node: JsonObject, name: str, declared: Mapping[str, Json], others: Undeclared, progress: Progress
) -> tuple[Json, Progress]:
    """Return all that is demanded of one property."""
    demands = [declared[name]] if name in declared else []
    matched = [schema for pattern, schema in others.patterns.items() if may_match(pattern, name)]
    demands += matched
    if name not in declared and not matched and others.rest is not None:
        demands.append(others.rest)
    if not demands:
        return True, progress
    if len(demands) == 1:
        return demands[0], progress
    together: JsonObject = {"allOf": demands}
    return together, progress.derive(together, node)


def _closed(
    node: JsonObject,
    names: Mapping[str, Json],
    properties: Sequence[Property],
    others: Undeclared,
    context: RewriteContext,
    progress: Progress,
    list_variants: ListVariants,
) -> tuple[Variant | None, Progress]:
    """Add what is said of the properties that are not declared."""
    dialect, rest = context.dialect, others.rest
    keyword_map: maps.KeywordMap | None = None
    more: _More | None = None
    if others.unsaid:
        if dialect.closed:
            reason = "is not given, so there are no undeclared properties"
            progress = progress.lose(node, "additionalProperties", "convention", reason)
    elif others.patterns or rest is not False:
        if dialect.maps == "keep":
            renamed = any(found.member is not None and found.member.key is not None for found in properties)
            keyword_map, progress = maps.keep_map(node, others, context, progress, list_variants, renamed=renamed)
        else:
            more, progress = _list_of_more(node, names, properties, others, context, progress, list_variants)
    elif not dialect.closed:
        reason = "has no word in the target; undeclared keys are found when the answer is lifted"
        progress = progress.lose_each(node, [keyword for keyword in _CLOSING if keyword in node], reason)
    shut = not others.patterns and (rest is False or (rest is None and dialect.closed))
    if "minProperties" in node and shut and (bound(node, "minProperties") or 0) > len(properties):
        return None, progress.lose(node, "minProperties", "annotation", "asks for more properties than there can be")
    return _whole(node, properties, keyword_map, more, context, progress)


class _More(Struct, frozen=True, gc=False):
    """The list that holds undeclared properties."""

    sent: Property
    codec: More


def _list_of_more(
    node: JsonObject,
    names: Mapping[str, Json],
    properties: Sequence[Property],
    others: Undeclared,
    context: RewriteContext,
    progress: Progress,
    list_variants: ListVariants,
) -> tuple[_More | None, Progress]:
    """Let properties in that are not declared, as a list of keys and values."""
    dialect = context.dialect
    if not dialect.closed:
        reason = "has no word in the target; what is not in the list is found when the answer is lifted"
        lost = [word for word in (*_CLOSING, "patternProperties", "propertyNames") if word in node]
        progress = progress.lose_each(node, lost, reason)
    variant, progress = maps.pairs(node, others, context.boxed(), progress, list_variants)
    if variant is None:
        return None, progress
    sent = unique_name(_MORE, {found.sent for found in properties}, 64)
    asked = context.all_asked
    text: JsonObject = {"description": "Further properties, each a key with its value."}
    body, _, progress = combine(text, [variant], context, progress)
    return _More(Property(sent, body or {}, asked), More(sent, variant.codec, tuple(names), asked)), progress


def _whole(
    node: JsonObject,
    properties: Sequence[Property],
    keyword_map: maps.KeywordMap | None,
    more: _More | None,
    context: RewriteContext,
    progress: Progress,
) -> tuple[Variant, Progress]:
    """Return the finished object."""
    dialect = context.dialect
    every = properties if more is None else [*properties, more.sent]
    declared: JsonObject = {found.sent: found.body for found in every}
    body: JsonObject = {"type": "object", "properties": declared}
    if keyword_map is not None:
        body |= keyword_map.body
    required: list[Json] = [found.sent for found in every if found.required]
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
        body, lost, progress = counted(node, body, context, progress, more=more is not None)
        notes += sentences_for(node, lost)
        told = [word for word in DEPENDENT if any(each not in (True, {}, []) for each in mapping(node.get(word)).values())]
        undeclared = None if keyword_map is None else keyword_map.codec
        if "propertyNames" in node and (undeclared is None or undeclared.other is None) and not dialect.closed:
            told.append("propertyNames")
        dependent, progress = progress.lose_with_sentences(node, told)
        notes += dependent
    codec = _codec(properties, None if keyword_map is None else keyword_map.codec, None if more is None else more.codec)
    return Variant("object", body, codec, tuple([text for text in notes if text]) if notes else (), node=node), progress


def _codec(properties: Sequence[Property], undeclared: ObjectCodec | None, more: More | None) -> ObjectCodec | None:
    """Return what is undone in an object; `None` if nothing is."""
    members: dict[str, Member] = {found.sent: found.member for found in properties if found.member is not None}
    if not members and more is None and undeclared is None:
        return None
    if undeclared is not None:
        declared = tuple(found.sent for found in properties)
        return replace(undeclared, declared=declared, members=members)
    busy = more is not None or any(member.codec is not None or member.acts for member in members.values())
    return ObjectCodec(members, more) if busy else None
