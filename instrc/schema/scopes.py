"""Documents that hold schemas, the resources in them, and the scopes of schemas."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from instrc.schema.drafts import Draft
from instrc.text.jsonvalue import Json


class SchemaDocument:
    """A JSON document with schemas, and its URI."""

    __slots__ = ("root", "uri")

    def __init__(self, uri: str, root: Json) -> None:
        self.uri: str = uri
        self.root: Json = root


class Resource:
    """A part of a document with a base URI: its root, or a schema with `$id`."""

    __slots__ = ("anchors", "dialect", "document", "dynamic", "holder", "root", "scopes", "uri")

    def __init__(self, uri: str, root: Json, document: SchemaDocument, dialect: Draft) -> None:
        self.uri: str = uri
        self.root: Json = root
        self.document: SchemaDocument = document
        self.dialect: Draft = dialect
        self.anchors: dict[str, Json] = {}
        self.dynamic: dict[str, Json] = {}
        self.scopes: dict[int, DynamicScope] = {}
        """The scopes that this resource has been entered in, by the dynamic scope they have."""
        self.holder: Resource | None = None
        """The resource whose base and anchors this part shares, if it differs from that in its dialect only."""

    def in_dialect(self, dialect: Draft) -> Resource:
        """Return a part of this resource in another dialect, without a base of its own."""
        part = Resource(self.uri, self.root, self.document, dialect)
        part.anchors, part.dynamic, part.holder = self.anchors, self.dynamic, self.holder or self
        return part


Anchors = dict[str, tuple[Json, Resource]]
"""Outermost schema of each dynamic anchor."""


class DynamicScope:
    """The context of a schema: its resource, and the dynamic anchors on the path to it.  Equal scopes are one object."""

    __slots__ = ("anchors", "resource")

    def __init__(self, resource: Resource, anchors: Anchors) -> None:
        self.resource: Resource = resource
        self.anchors: Anchors = anchors


Term: TypeAlias = tuple[Json, DynamicScope]
"""A schema with its scope."""


class Target(Struct, frozen=True):
    """The target of a reference: a schema and its scope."""

    node: Json
    scope: DynamicScope
