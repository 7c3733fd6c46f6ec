"""Flatten a JSON Schema: resolve references and fold `allOf`, so that exactly the same instances are accepted."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, Unpack, overload

from instrc import arguments, problems
from instrc.flattening.flattener import Flattener
from instrc.flattening.run import FlattenKeywords, FlattenOptions, too_large
from instrc.jsonvalue import LATEST_DRAFT, Json, equal
from instrc.limits.schemas import FLAT_SCHEMAS, FLATTEN_PASSES, ONE_PASS, SHARED_FROM, SHARED_FROM_TIMES
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.schema.drafts import dialect_of_uri
from instrc.schema.located import Locate, kind_in_words
from instrc.schema.resources import DynamicScope
from instrc.schema.store import SchemaStore

if TYPE_CHECKING:
    from instrc.flattening.provenance import Flat

_HEAD = frozenset({"$schema", "$id", "$vocabulary"})
"""Keywords of the root that its result keeps."""


@overload
def flatten(
    schema: Json,
    documents: Mapping[str, Json] | None = None,
    *,
    trace: Literal[False] = False,
    **options: Unpack[FlattenKeywords],
) -> Json: ...


@overload
def flatten(
    schema: Json, documents: Mapping[str, Json] | None = None, *, trace: Literal[True], **options: Unpack[FlattenKeywords]
) -> Flat: ...


@overload
def flatten(
    schema: Json, documents: Mapping[str, Json] | None = None, *, trace: bool, **options: Unpack[FlattenKeywords]
) -> Json | Flat: ...


def flatten(
    schema: Json,
    documents: Mapping[str, Json] | None = None,
    *,
    base: str = "",
    trace: bool = False,
    distribute: int = 0,
    limit: int = FLAT_SCHEMAS,
    report: Report | None = None,
    locate: Locate | None = None,
    nullable: bool = False,
    share: bool = True,
) -> Json | Flat:
    """Return a schema that accepts exactly the same instances; `instrc.flatten` in `public.py` describes the arguments."""
    if documents is not None:
        arguments.mapping("documents", documents)
    texts_and_numbers = (base.__class__, limit.__class__, distribute.__class__) == (str, int, int) and distribute >= 0
    if not (texts_and_numbers and trace.__class__ is nullable.__class__ is share.__class__ is bool):
        _check(base, limit, distribute, trace=trace, nullable=nullable, share=share)
    if not isinstance(schema, dict):
        if isinstance(schema, bool):
            return _traced(schema, schema, Flattener(SchemaStore(), FlattenOptions())) if trace else schema
        raise CompileError([problems.schemas.InvalidSchema(pointer="", reason=f"{kind_in_words(schema)} is not a schema")])
    store = SchemaStore(documents, nullable=nullable, locate=locate)
    scope = store.add(base, schema)
    if not store.to_fold and not (nullable and id(schema) in store.needs_flattening):
        return _traced(schema, schema, Flattener(store, FlattenOptions())) if trace else schema
    flattener = Flattener(store, FlattenOptions(distribute=distribute, limit=limit, report=report, trace=trace, share=share))
    count = store.count
    result = _folded(schema, flattener, scope, count)
    flat = _traced(result, schema, flattener) if trace else None
    for _ in range(FLATTEN_PASSES if flattener.may_simplify and store.count + flattener.frames < ONE_PASS else 0):
        # what was kept apart, or unrolled, may have turned out to need it no longer: nothing may be left to do a second time
        store = SchemaStore()
        scope = store.add("", result)
        if not store.to_fold or not isinstance(result, dict):
            break
        flattener = Flattener(store, FlattenOptions(distribute=distribute, limit=limit, trace=trace, share=share))
        again = _folded(result, flattener, scope, count)
        if equal(again, result):
            break
        if flat is not None:
            flat = flat.then(_traced(again, result, flattener))
        result = again
    return result if flat is None else flat


def _check(base: object, limit: object, distribute: object, **truths: object) -> None:
    """Refuse options of a type that they cannot have."""
    arguments.text("base", base)
    arguments.whole_number("limit", limit)
    arguments.natural_number("distribute", distribute)
    for name, value in truths.items():
        arguments.truth(name, value)


def _folded(schema: dict[str, Json], flattener: Flattener, scope: DynamicScope, count: int) -> Json:
    """Return the result of one pass; `count` is the number of schemas that were given at first."""
    result = flattener.run([(schema, scope)])
    modern = not scope.resource.dialect.old and ("$schema" not in schema or dialect_of_uri(schema["$schema"]) is not None)
    result = _with_head(schema, result, flattener, modern=modern)
    limit = flattener.options.limit
    if result.__class__ is not dict or not (
        flattener.shared or flattener.store.aliased or flattener.store.count + flattener.frames > limit
    ):
        return result  # each part is there once
    from instrc.flattening.sharing import share, sizes  # few schemas repeat parts

    written = sizes(result)[id(result)]
    if written > max(SHARED_FROM, SHARED_FROM_TIMES * count) and flattener.options.share:
        result = share(result, flattener.note_copy)
        written = sizes(result)[id(result)]
    if written > limit:
        raise too_large(limit)
    return result


def _traced(result: Json, schema: Json, flattener: Flattener) -> Flat:
    from instrc.flattening.provenance import Flat, origins  # needed to trace only

    return Flat(result, origins(result, schema, flattener.store, flattener.origins))


def _with_head(schema: dict[str, Json], result: Json, flattener: Flattener, *, modern: bool) -> Json:
    """Return a result with the identity of the root, and its definitions."""
    if result.__class__ is not dict or (_HEAD.isdisjoint(schema) and not flattener.definitions.schemas):
        return result
    words: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword == "$schema":
            words[keyword] = value if modern else LATEST_DRAFT
        elif keyword == "$id" and value.__class__ is str:
            base = value.partition("#")[0]  # before 2019-09 it may hold an anchor
            if base:
                words[keyword] = base
        elif keyword == "$vocabulary" and modern:
            words[keyword] = value
    definitions = flattener.definitions.used(result)
    if not words and not definitions:
        return result
    first = list(takewhile(words.__contains__, schema))
    front = {keyword: words.pop(keyword) for keyword in first}
    out = {**front, **result, **words}
    if id(result) in flattener.origins:
        flattener.origins[id(out)] = (out, flattener.origins[id(result)][1])
    if definitions:
        out["$defs"] = definitions
    return out
