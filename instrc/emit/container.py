"""An object of steps while it grows: its keys stay apart, what is required is kept in order."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from instrc.emit.definitions import DocumentDefinitions
from instrc.emit.paths import suffixed
from instrc.flattening.beside import closes, write_beside
from instrc.jsonvalue import Json
from instrc.source import Span


class Container(msgspec.Struct):
    """An object of steps while it grows."""

    properties: dict[str, Json]
    extra: list[Json]
    """What mixins around several steps say beside their properties."""
    definitions: DocumentDefinitions
    """Those of the document, which steps that contain themselves refer to."""
    optional: set[str] = msgspec.field(default_factory=set)
    """The properties that are not required, as those of steps always are."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    """How often a key was wanted that was taken already."""

    def add(self, key: str, schema: Json, items: tuple[int | None, ...] = (None,), *, required: bool = True) -> None:
        """Take a property in, once an item; a key that is taken gets `_2`, `_3` before the item is named."""
        key = self.free(key, items)
        names = [suffixed(key, item) for item in items]
        self.properties.update(dict.fromkeys(names, schema))
        if not required:
            self.optional.update(names)

    def free(self, key: str, items: tuple[int | None, ...] = (None,)) -> str:
        """Return a key that is not taken for any of some items."""
        if items == (None,) and key not in self.properties:
            return key
        wanted = key
        while not self.properties.keys().isdisjoint([suffixed(key, item) for item in items]):
            self.counts[wanted] = self.counts.get(wanted, 1) + 1
            key = f"{wanted}_{self.counts[wanted]}"
        return key

    def schema(self, annotations: Sequence[Json] = (), at: Span | None = None) -> dict[str, Json]:
        """Return the object; `at` is where it is written."""
        made: dict[str, Json] = {"type": "object", "properties": self.properties}
        required: list[Json] = (
            [name for name in self.properties if name not in self.optional] if self.optional else [*self.properties]
        )
        if required:
            made["required"] = required
        more = [*self.extra, *annotations]
        if not more:
            return made
        whole: Json = made
        if any(closes(each) for each in more):
            for each in more:
                whole = write_beside(whole, each, lambda left, right: self.definitions.intersect([left, right]))
        else:
            whole = self.definitions.intersect([made, *more])
        return self.definitions.fillable(whole, made, at)
