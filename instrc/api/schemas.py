"""Public functions for schemas, which also accept Python types and functions."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack, cast, overload

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.schema import inclusion
from instrc.schema import strip as stripping
from instrc.schema.flattening import flatten as flattening
from instrc.schema.flattening.run import FlattenKeywords
from instrc.schema.inclusion import Subsumption
from instrc.schema.strip import Split
from instrc.schema.wellformed import is_sound, problems_of
from instrc.text.arguments import as_plain, takes_plain_values, takes_shared_parts
from instrc.text.jsonvalue import Json, kind_in_words, require_tree
from instrc.tools.python_types import PythonType, schema_of_python

if TYPE_CHECKING:
    from instrc.schema.flattening.provenance import Flat

SchemaLike: TypeAlias = Mapping[str, object] | bool | PythonType

"""A schema, or a type whose schema pydantic can generate: a model, a typed dict, a dataclass, an annotated function."""


@overload
def flatten(
    schema: SchemaLike,
    documents: Mapping[str, Json] | None = None,
    *,
    trace: Literal[False] = False,
    **options: Unpack[FlattenKeywords],
) -> Json: ...


@overload
def flatten(
    schema: SchemaLike, documents: Mapping[str, Json] | None = None, *, trace: Literal[True], **options: Unpack[FlattenKeywords]
) -> Flat: ...


@overload
def flatten(
    schema: SchemaLike, documents: Mapping[str, Json] | None = None, *, trace: bool, **options: Unpack[FlattenKeywords]
) -> Json | Flat: ...


@takes_shared_parts
def flatten(
    schema: SchemaLike,
    documents: Mapping[str, Json] | None = None,
    *,
    trace: bool = False,
    **options: Unpack[FlattenKeywords],
) -> Json | Flat:
    """Return a schema in 2020-12 that accepts exactly the same instances, without references and, where possible, `allOf`.

        flat = instrc.flatten({"allOf": [{"type": "integer"}, {"minimum": 1}]})

    `schema` may be a pydantic model, a dataclass, a `TypedDict` or an annotated function, whose schema is used.
    `documents` maps absolute URIs without fragment to schemas, possibly on demand.  `base` is the URI of `schema`.
    `limit` is the maximum number of schemas
    in the result.  Warnings go to `report`; `locate` returns the places of problems.  `nullable` reads that keyword of OpenAPI.
    A result that would exceed eight times its input and 2,000 schemas keeps repeated parts
    under `$defs`, even if they differ in annotations, unless `share` is false.
    With `trace` the result is a `Flat`: the schema and the origin of each of its keywords.

    A schema with nothing to resolve or fold is returned as the same object, in its own draft.
    A direct cycle of references adds nothing, and is an error in the `report`, if there is one.
    Raise a `CompileError` for a value that is not a schema, unresolvable references, unknown dialects and results over the limit.
    """
    return flattening.flatten(_checked(schema), documents, trace=trace, **options)


_parameters = {**inspect.signature(flattening.flatten).parameters, "schema": inspect.signature(flatten).parameters["schema"]}
flatten.__dict__["__signature__"] = inspect.signature(flatten).replace(parameters=[*_parameters.values()])  # each option by name


@takes_plain_values
def split(answer: Json, schema: SchemaLike | None = None) -> Split:
    """Return an answer's `output`, and its `thoughts` and `metrics` by path, in the order of the answer.

        parts = instrc.split({"text": "Dear Ann", "_note": "short", "$score": 9})

    Keys that begin with `_` are thoughts, with `$` metrics.  With a `schema` (or a model, a dataclass, a `TypedDict`) only those
    that it declares at their place count: a `_key` in a free-form map is data.  Without one, the names decide.

    A path uses dots, `step1_page.items.0._note`; in a key that contains a dot or backslash
    these are escaped by a backslash (the empty key is a lone backslash).
    The contents of a thought or metric are not divided further.
    A cyclic answer, or one with a key that is not a text, raises `TypeError`.
    """
    return stripping.split(answer, None if schema is None else _checked(schema))


@takes_shared_parts
def strip(schema: SchemaLike, which: Collection[str]) -> Json:
    """Return a schema without the named kinds, at every depth, or the same object if it has none of them.

        result = instrc.strip({"type": "object", "properties": {"text": {}, "_note": {}}}, {"thoughts"})

    `schema` may be a pydantic model, a dataclass, a `TypedDict` or an annotated function, whose schema is used.
    `which` contains `thoughts` (properties that begin with `_`), `metrics` (with `$`), `engine` (engine keywords), or `all`.
    A property is removed together with its name in `required`, `dependentRequired` and `dependentSchemas`.  Engine keywords are
    removed where they are keywords of a schema; a property named `references` is like any other.
    Values of `const`, `enum`, `default` and `examples` are unchanged.  An unknown kind raises `SettingsError`.
    """
    checked = _checked(schema)
    require_tree(checked)
    return stripping.strip(checked, which)


@takes_plain_values
def subsumes(a: SchemaLike, b: SchemaLike, documents: Mapping[str, Json] | None = None) -> Subsumption:
    """Return whether `a` accepts every instance that `b` accepts.

        assert instrc.subsumes({"type": "number"}, {"type": "integer"}).verdict == "yes"

    Each may be a pydantic model, a dataclass, a `TypedDict` or an annotated function, whose schema is used.
    `yes` is proven; `no` has a witness that was tested with both; everything else is `unknown`.
    Both schemas are flattened first, with `documents` for their references.
    Raise a `CompileError` for an unreadable schema.
    """
    return inclusion.subsumes(_checked(a), _checked(b), documents)


def _checked(value: object) -> Json:
    """Return a schema as plain JSON; raise `TypeError` for an invalid cyclic one."""
    plain = cast("Json", as_plain(dict(value)) if isinstance(value, Mapping) and not isinstance(value, dict) else value)
    if not isinstance(plain, dict | bool):
        described = schema_of_python(value)
        if described is None:
            raise CompileError([problems.schemas.InvalidSchema(pointer="", reason=f"{kind_in_words(plain)} is not a schema")])
        plain = described.schema
    if not is_sound(plain):
        require_tree(plain)
        if reasons := problems_of(plain):
            raise CompileError(reasons)
    return plain
