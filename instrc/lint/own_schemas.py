"""The schemas of one document, apart from those of other documents that it refers to."""

from __future__ import annotations

from collections.abc import Iterable

from instrc.jsonvalue import Json, Location
from instrc.lint.shapes import ScopedSchema
from instrc.schema.walk import walk


class OwnSchemas:
    """The schemas of a document with their paths; the document keeps them all, so none becomes another meanwhile."""

    def __init__(self, document: Json) -> None:
        self.schemas: tuple[tuple[Location, dict[str, Json]], ...] = tuple(
            (path, node) for path, node in walk(document) if node.__class__ is dict
        )
        """In written order."""
        self._paths = {id(node): path for path, node in self.schemas}

    def path(self, node: Json) -> Location | None:
        """Return the path of a schema, the last one of a schema that stands in several places; `None` if it is elsewhere."""
        return self._paths.get(id(node))

    def have(self, parts: Iterable[ScopedSchema]) -> bool:
        """Tell whether one of several schemas is of this document."""
        return any(id(part.node) in self._paths for part in parts)
