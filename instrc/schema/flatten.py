"""Flatten a JSON Schema: resolve references and fold `allOf`, so that exactly the same instances are accepted."""

from __future__ import annotations

from collections.abc import Mapping

from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.problems.schemas import InvalidSchema
from instrc.schema.dialects import LATEST_URI
from instrc.schema.fold import Folder, Options, too_large
from instrc.schema.pieces import Frame
from instrc.schema.refs import Library, Locate, kind_of


def flatten(
    schema: Json,
    documents: Mapping[str, Json] | None = None,
    *,
    base: str = "",
    trace: bool = False,
    distribute: int = 0,
    limit: int = 1_000_000,
    report: Report | None = None,
    locate: Locate | None = None,
    nullable: bool = False,
) -> Json:
    """Return a schema in 2020-12 that accepts exactly the same instances, without references and, where possible, `allOf`.

    `documents` holds schemas by absolute URI without fragment; it may read them on demand.  `base` is the URI of `schema`.
    `distribute` multiplies `anyOf` with `anyOf` out up to that many branches.  `limit` is the number of schemas that the
    result may have.  Warnings go to `report`; `locate` finds the places of problems.  `nullable` reads that keyword of OpenAPI.
    With `trace` the result is a `Flat`: the schema and where each of its keywords came from.

    A schema that has nothing to resolve and nothing to fold is returned as it is, the same object.
    Raise a `CompileError` for references that lead nowhere or in a circle, unknown dialects and results over the limit.
    """
    if schema.__class__ is not dict:
        if schema.__class__ is bool:
            return schema
        raise CompileError([InvalidSchema(pointer="", reason=f"{kind_of(schema)} is no schema")])
    library = Library(documents, nullable=nullable, locate=locate)
    scope = library.add(base, schema)
    if not library.to_fold and not (nullable and id(schema) in library.dirty):
        return schema
    folder = Folder(library, Options(distribute=distribute, limit=limit, report=report, trace=trace))
    result = folder.run([(schema, scope)])
    result = _with_head(schema, result, folder, modern=not scope.resource.dialect.old)
    if size(result, limit) > limit:
        raise too_large(limit)
    return result


_HEAD = ("$schema", "$id", "$vocabulary")


def _with_head(schema: dict[str, Json], result: Json, folder: Folder, *, modern: bool) -> Json:
    """Return a result with the identity of the root, and its definitions."""
    if result.__class__ is not dict:
        return result
    words: dict[str, Json] = {}
    for keyword in schema:
        if keyword == "$schema":
            words[keyword] = schema[keyword] if modern else LATEST_URI
        elif keyword == "$id" or (keyword == "$vocabulary" and modern):
            words[keyword] = schema[keyword]
    definitions = folder.definitions.schemas
    if not words and not definitions:
        return result
    front = {}
    for keyword in schema:
        if keyword not in words:
            break
        front[keyword] = words.pop(keyword)
    out = {**front, **result, **words}
    if definitions:
        out["$defs"] = definitions
    return out


def size(schema: Json, limit: int) -> int:
    """Return how many schemas a result has when it is written out, shared ones counted each time."""
    from instrc.schema.walk import subschemas

    sizes: dict[int, int] = {}
    stack: list[tuple[Json, bool]] = [(schema, False)]
    while stack:
        node, ready = stack.pop()
        if node.__class__ is not dict:
            continue
        if ready:
            sizes[id(node)] = 1 + sum(sizes.get(id(child), 1) for _, child in subschemas(node))
        elif id(node) not in sizes:
            sizes[id(node)] = 1
            stack.append((node, True))
            stack.extend((child, False) for _, child in subschemas(node))
    return sizes.get(id(schema), 1)


__all__ = ["Frame", "flatten"]
