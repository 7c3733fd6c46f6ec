"""Rebuild a schema in the keywords of a target: the walker that calls the rewrites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, Generic, TypeVar

from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.problems.targets import RecursiveForTarget
from instrc.providers.codec import (
    BoxCodec,
    ChoiceCodec,
    Codec,
    RefCodec,
    SomeCodec,
    UnionCodec,
    changed,
    each,
    parts,
    prune,
    to_json,
    with_codecs,
)
from instrc.providers.dialect import DEFINITION_NAME, Dialect
from instrc.providers.lowering import arrays, json_text, properties, scalars, uniform_plans, unions
from instrc.providers.lowering.context import (
    SAYING_NOTHING,
    Built,
    Ledger,
    LoweringOptions,
    PayloadDefinitions,
    RewriteContext,
    Variant,
    finish,
    intersected,
    key_names,
    legal,
    note,
    null_variant,
    referring,
    unique_name,
    without_annotations,
)
from instrc.providers.lowering.intake import Survey
from instrc.providers.lowering.losses import place_of
from instrc.providers.lowering.unions import SILENT, combine, fit
from instrc.schema.impossible import forbids_everything
from instrc.schema.vocabulary import BY_TYPE, HOLDERS, NO_ASSERTIONS
from instrc.schema.walk import objects_below, reached_definitions, subschemas, with_parts, without
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_array, as_text, as_texts, freeze, optional_text
from instrc.text.limits import REBUILT_LEVELS

PAYLOAD_LEVELS: Final = 60
"""Maximum nesting of objects and arrays, for targets without their own limit."""


def rebuild(seen: Survey, dialect: Dialect, options: LoweringOptions) -> Built:
    """Rebuild a schema in the keywords of a target, with an object at its root."""
    flat, keys = seen.schema, key_names(dialect.key, seen.names)
    all_asked = dialect.every_required or (options.ordered and dialect.reorders)
    deepest, recursion = dialect.limits.depth or PAYLOAD_LEVELS, options.recursion or dialect.recursion
    root = _rooted(flat, dialect)
    ledger = _begun(flat, root)
    context = RewriteContext(
        dialect,
        flat,
        keys,
        all_asked,
        deepest,
        options.unroll,
        recursion,
        list_variants,
        ledger,
        options.uniform,
        options.sentences,
    )
    schema, codec = fit(root, context)
    result = _as_object(schema, codec, ledger.definitions, dialect)
    if schema is not None and result is None:  # the box adds a level
        ledger = _begun(flat, root)
        schema, codec = fit(root, replace(context.boxed(), ledger=ledger))
        result = _as_object(schema, codec, ledger.definitions, dialect)
    if schema is None:
        reason = "nothing satisfies the schema; the answer is found wrong when it is lifted"
        ledger.lose(flat, "false", reason=reason)
        ledger.lose_all(flat, "cannot be satisfied", "part")
        result = _empty_object(dialect), None
    body, codec = result or (_boxed(schema or {}, context), BoxCodec("value", codec))
    definitions = ledger.definitions
    if not definitions.bodies:
        record = shared_members(codec, {}, {})
    else:
        pruned, codecs = prune(codec, definitions.codecs)
        asked = {name: without_annotations(item) for name, item in definitions.bodies.items()}
        record = shared_members(pruned, codecs, asked)
        body = {**body, "$defs": {**definitions.bodies}}
    return Built(body, record, entries=ledger.entries, back=keys.renamed())


def _rooted(flat: Json, dialect: Dialect) -> Json:
    """Return a tool's schema, with one without assertions converted to that of a tool without parameters."""
    if not dialect.tool or not (flat is True or (isinstance(flat, dict) and SAYING_NOTHING.issuperset(flat))):
        return flat
    empty: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}
    return {**flat, **empty} if isinstance(flat, dict) else empty


def _begun(flat: Json, root: Json) -> Ledger:
    """Return a new ledger that records whether the root was converted to a tool without parameters."""
    ledger = Ledger()
    if root is not flat:
        ledger.lose(flat, "type", "convention", "is not given: a tool without parameters")
    return ledger


def _as_object(
    schema: JsonObject | None, codec: Codec, definitions: PayloadDefinitions, dialect: Dialect
) -> tuple[JsonObject, Codec] | None:
    """Finish the definitions; return a schema that is or refers to an object, with its codec, or `None`."""
    finish(definitions, constant="const" in dialect.keywords)
    if schema is not None and schema.get("type") == "object":
        return schema, codec
    if schema is not None and "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        inner = definitions.bodies[name]
        if inner is not None and inner.get("type") == "object":
            return inner, definitions.codecs[name]
    return None


def _empty_object(dialect: Dialect) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": {}}
    if dialect.every_required:
        schema["required"] = []
    if dialect.closed:
        schema["additionalProperties"] = False
    if "propertyOrdering" in dialect.keywords:
        schema["propertyOrdering"] = []
    return schema


def _boxed(schema: JsonObject, context: RewriteContext) -> JsonObject:
    """Wrap a non-object schema in an object, because a tool's arguments are one."""
    if context.dialect.described and "description" not in schema:
        schema = {"description": context.sentences.the_value, **schema}
    box = _empty_object(context.dialect)
    box["properties"] = {"value": schema}
    box["required"] = ["value"]
    if "propertyOrdering" in box:
        box["propertyOrdering"] = ["value"]
    return box


ACTIVE_REFERENCES: Final = 40
"""Maximum nested references that are expanded; deeper ones become JSON text."""
SHARED_PART_OF_MAP: Final = 120
"""Minimum characters (as JSON) of a repeated part of a map that gets a name."""
UNROLLED_SCHEMAS: Final = 1000
"""Maximum schema objects rebuilt below recursive references before unrolling stops."""
BRANCH_COPIES: Final = 5_000
"""Maximum schema objects rebuilt for the branches of unions; the rest becomes JSON text."""
PAYLOAD_DEFINITIONS: Final = 500
"""Maximum definitions in a payload; further references become JSON text."""


def references(node: JsonObject, context: RewriteContext) -> list[Variant]:
    """Return the variants of a reference's target and of the keywords next to it."""
    ref = as_text(node["$ref"])
    target = context.target(ref)
    siblings = without(node, "$ref", *NO_ASSERTIONS)
    if target is False or (not siblings and (not isinstance(target, dict) or not target)):
        return list_variants(target, context)
    target = target if isinstance(target, dict) else {}
    key: Hashable = (ref, freeze(siblings)) if siblings else ref
    if siblings:
        asserted: JsonObject = {name: value for name, value in target.items() if name not in SILENT}
        context.ledger.derive(siblings, node)
        context.ledger.derive(asserted, target)
        intersection = intersected([asserted, siblings], context.ledger)
        if not isinstance(intersection, dict):
            return list_variants(intersection, context)
        target = intersection
    if context.recursion == "refuse":
        place = place_of(context.root, context.ledger.entries, node, "$ref")
        raise CompileError([RecursiveForTarget(target=context.dialect.name, pointer=place, reference=ref)])
    if context.recursion == "keep":
        return [_definition(key, ref, target, context)]
    return _unrolled(key, target, context)


def _definition(key: Hashable, ref: str, target: JsonObject, context: RewriteContext) -> Variant:
    """Return a reference to a definition of the payload, which is built on first use."""
    definitions = context.ledger.definitions
    name = definitions.names.get(key)
    if name is None:
        if len(definitions.names) >= PAYLOAD_DEFINITIONS:
            return json_text.anything_variant(context, target, "needs more definitions than can be kept apart")
        word = ref.rsplit("/", 1)[-1].replace("~1", "_").replace("~0", "_") if ref != "#" else "root"
        name = unique_name(legal(word, DEFINITION_NAME, "part"), set(definitions.names.values()), DEFINITION_NAME.most)
        definitions.begin(key, name)
        body, codec = fit(target, replace(context, level=1))
        if body is None:  # too late to declare it impossible: the reference may be in use
            variant = json_text.anything_variant(context, target, "cannot be satisfied")
            body, codec = combine(target, [variant], context)
        definitions.define(name, body, codec)
    return Variant("ref", referring(name), RefCodec(name), node=target)


def _unrolled(key: Hashable, target: JsonObject, context: RewriteContext) -> list[Variant]:
    """Expand a reference, up to a limited number of times."""
    often = context.active.count(key) >= context.unroll
    if often or context.ledger.unrolled > UNROLLED_SCHEMAS or len(context.active) > ACTIVE_REFERENCES:
        reason = f"is unrolled {context.unroll} times and written as JSON text below that"
        return [json_text.anything_variant(context, target, reason)]
    result = list_variants(target, replace(context, active=(*context.active, key)))
    text = optional_text(target.get("description"))
    return [replace(variant, text=variant.text or text) for variant in result]


_APPLICATORS = ("not", "if", "then", "else")
_SPLIT = frozenset({"allOf", "$ref", *_APPLICATORS})
"""Keywords of a schema that has more than types or literals."""


def list_variants(node: Json, context: RewriteContext) -> list[Variant]:
    """Return the encodings of a schema's values, or none if it has no values."""
    if not isinstance(node, dict) or not node:
        return [] if node is False else [json_text.anything(context, node)]
    if "not" in node and forbids_everything(node):
        return []
    if context.nested >= REBUILT_LEVELS:
        return [json_text.anything_variant(context, node, "is nested too deeply")]
    if context.active:
        context.ledger.unrolled += 1
    if context.copying:
        context.ledger.copied += 1
        if context.ledger.copied > BRANCH_COPIES:
            return [json_text.anything_variant(context, node, "is in too many branches of unions")]
    if _SPLIT.isdisjoint(node):
        return _plain(node, context)
    if "allOf" in node:
        rest: JsonObject = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
        context.ledger.derive(rest, node)
        folded = intersected([rest, *as_array(node["allOf"])], context.ledger)  # conflicting members stay in an `allOf`
        if not isinstance(folded, dict) or not folded:
            return list_variants(folded, context.beside())
        node = folded
    if "$ref" in node:
        return references(node, context.beside())
    notes: list[str] = []
    for keyword in _APPLICATORS:
        if keyword in node and not is_vacuous(node, keyword):
            notes.append(context.said(node, keyword))
            context.ledger.lose(node, keyword)
    result = _plain(node, context)
    for member in as_array(node.get("allOf", [])) if "anyOf" not in node and "oneOf" not in node else ():
        context.ledger.lose_all(member, "cannot be folded with the keywords beside it")
        notes.append(note("allOf", [member], context.sentences))
    return [variant.after(notes) for variant in result]


def _plain(node: JsonObject, context: RewriteContext) -> list[Variant]:
    """Return the variants of a schema from its union, its literals or its types."""
    if "anyOf" in node or "oneOf" in node:
        result = unions.branches(node, context.beside())
        return [variant if variant.node is not None else variant.of(node) for variant in result]
    if "enum" in node or "const" in node:
        return scalars.literals(node, context)
    types = node.get("type")
    if isinstance(types, str):
        kinds = [types]
    elif types is not None:
        kinds = as_texts(types)
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
    else:
        kinds = [kind for kind, keywords in BY_TYPE.items() if not keywords.isdisjoint(node)]
        if not kinds:
            return [json_text.anything(context, node)]
        reason = f"is not given, so what speaks of {' and '.join(kinds)} is taken for it"
        context.ledger.lose(node, "type", "narrowed", reason)
    result = []
    for kind in kinds:
        variant = _of_type(kind, node, context)
        if variant is not None:
            result.append(variant if variant.node is node else variant.of(node))
    return result


def _of_type(kind: str, node: JsonObject, context: RewriteContext) -> Variant | None:
    """Return the variant of a schema for one of its types, or `None` if it has no such value."""
    match kind:
        case "string":
            return scalars.strings(node, context)
        case "object":
            return properties.objects(node, context)
        case "integer" | "number":
            return scalars.numbers(node, kind, context)
        case "array":
            reason = uniform_plans.reason_for_uniform(node, context)
            if reason and (branches := uniform_plans.branches_of(node)) is not None:
                return uniform_plans.uniform(node, branches, reason, context)
            return arrays.arrays(node, context)
        case "boolean":
            return Variant("boolean", {"type": "boolean"}, node=node)
        case "null":
            return null_variant(node)
        case _:
            return json_text.anything(context, node)


def is_vacuous(node: JsonObject, keyword: str) -> bool:
    """Return whether a keyword has no effect at its place."""
    value = node[keyword]
    if keyword == "not":
        return value is False
    if keyword == "if":
        return node.get("then", True) in (True, {}) and node.get("else", True) in (True, {})
    return "if" not in node or value in (True, {})


PartT = TypeVar("PartT")
_BELOW = "#/$defs/"


def shared_members(codec: Codec, codecs: Mapping[str, Codec], definitions: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members `codec`, `codecs` and `definitions` of a map.

    `definitions` are those of the payload, of which unused ones are left out.
    """
    if codec is None and not codecs:
        return {"codec": None}
    short, schemas = _schemas_shared([codec, *codecs.values()], definitions)
    pool: dict[str, Codec] = {}
    result, *others = changed(short, lambda _, new: pool.setdefault(_key(new), new))
    known: dict[str, Codec] = dict(zip(codecs, others, strict=True))
    names = _Names[SomeCodec]([result, *others], known, parts, "part", RefCodec, to_json)
    result, *others = changed([result, *others], names)
    record: dict[str, Json] = {"codec": to_json(result)}
    named = {**dict(zip(codecs, others, strict=True)), **names.said}
    if named:
        record["codecs"] = {name: to_json(item) for name, item in named.items()}
    if schemas:
        record["definitions"] = schemas
    return record


def _choice_schemas(codecs: Iterable[Codec]) -> Iterator[Json]:
    """Yield the schemas by which alternatives are selected."""
    for codec in each(codecs):
        if isinstance(codec, UnionCodec):
            yield from (alternative.when for alternative in codec.of)
        elif isinstance(codec, ChoiceCodec):
            yield from (choice.when for choice in codec.of.values() if choice.key is not None)


def _schemas_shared(codecs: list[Codec], definitions: Mapping[str, Json]) -> tuple[list[Codec], dict[str, Json]]:
    """Shorten the schemas by which codecs distinguish alternatives; return the codecs and the definitions."""
    asked = list(_choice_schemas(codecs))
    needed = reached_definitions({"anyOf": asked}, definitions)
    known = {name: schema for name, schema in definitions.items() if name in needed}
    pool: dict[object, Json] = {}

    def one_of_each(_: Json, schema: Json) -> Json:
        if not isinstance(schema, dict):
            return schema
        own = {keyword: None if keyword in HOLDERS else value for keyword, value in schema.items()}
        below = tuple((path, id(child) if isinstance(child, dict) else child) for path, child in subschemas(schema))
        return pool.setdefault((dumps(own, indent=False), below), schema)

    roots = _all_mapped([*known.values(), *asked], one_of_each)
    bodies = dict(zip(known, roots, strict=False))
    names = _Names[Json](roots, bodies, objects_below, "when", lambda name: {"$ref": f"{_BELOW}{name}"}, lambda part: part)
    short = _all_mapped(roots, names)
    for_each = {id(when): new for when, new in zip(asked, short[len(known) :], strict=True)}
    result = changed(codecs, lambda _, codec: _asking(codec, for_each))
    return result, {**dict(zip(known, short, strict=False)), **names.said}


def _all_mapped(schemas: list[Json], change: Callable[[Json, Json], Json]) -> list[Json]:
    """Return schemas with each nested one changed, from the inside out; shared objects stay shared.

    `change` is called with the original schema, and with the one whose subschemas are changed already.
    """
    done: dict[int, Json] = {}
    stack: list[tuple[Json, bool]] = [(schema, False) for schema in schemas]
    while stack:
        node, entered = stack.pop()
        if not isinstance(node, dict) or id(node) in done:
            continue
        if entered:
            done[id(node)] = change(node, with_parts(node, done))
        else:
            stack.append((node, True))
            stack.extend((child, False) for _, child in subschemas(node))
    return [done.get(id(schema), schema) for schema in schemas]


class _Names(Generic[PartT]):
    """Assigns names to shared parts; equal parts must be one object."""

    def __init__(
        self,
        roots: Iterable[PartT | None],
        definitions: Mapping[str, PartT | None],
        below: Callable[[PartT], Iterable[PartT | None]],
        word: str,
        reference: Callable[[str], PartT],
        written: Callable[[PartT], Json],
    ) -> None:
        """`definitions` already have names, `below` yields the subparts of a part, and new names begin with `word`."""
        self.said: dict[str, PartT] = {}
        """Named parts that are referred to."""
        self._word = word
        self._reference = reference
        self._written = written
        self._taken = set(definitions)
        self._own = {id(part): name for name, part in reversed(list(definitions.items()))}
        self._places: Counter[int] = Counter()
        stack = list(roots)
        while stack:
            part = stack.pop()
            if part is not None and not isinstance(part, bool):
                self._places[id(part)] += 1
                if self._places[id(part)] == 1:
                    stack.extend(below(part))

    def __call__(self, before: PartT, part: PartT) -> PartT:
        """Return a part, or a reference to it if it has a name; the subparts of `part` are finished."""
        if self._places[id(before)] < 2 or len(dumps(self._written(part), indent=False)) < SHARED_PART_OF_MAP:
            return part
        name = self._own.get(id(before))
        if name is None:
            name = unique_name(f"{self._word}_{len(self.said) + 1}", self._taken, 60)
            self._taken.add(name)
        self.said[name] = part
        return self._reference(name)


def _asking(codec: SomeCodec, whens: Mapping[int, Json]) -> SomeCodec:
    """Return a codec that selects by other schemas."""
    if isinstance(codec, UnionCodec):
        return UnionCodec(tuple(replace(one, when=whens[id(one.when)]) for one in codec.of))
    if isinstance(codec, ChoiceCodec):
        of = {label: one if one.key is None else replace(one, when=whens[id(one.when)]) for label, one in codec.of.items()}
        return ChoiceCodec(of)
    return codec


def _key(codec: SomeCodec) -> str:
    """Return a key shared by equal codecs, if equal nested codecs are one object."""
    return dumps(to_json(with_codecs(codec, lambda inner: RefCodec(f"#{id(inner)}"))), indent=False)
