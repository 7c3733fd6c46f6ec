"""The shared parts of an OpenAPI document, as the definitions of one tool."""

from __future__ import annotations

from urllib.parse import unquote

from instrc.importers.given import Given
from instrc.importers.mend import Rules, mend
from instrc.importers.references import settle_references
from instrc.importers.soundness import made_sound
from instrc.jsonvalue import Json, at, tokens
from instrc.schema.definitions import ascii_name
from instrc.schema.dialects import LATEST, OPENAPI_3_0, Dialect
from instrc.schema.walk import Path, is_schema

_HOPS = 50


class Components:
    """What the schemas of one operation refer to, gathered under `$defs`."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.definitions: dict[str, Json] = {}
        self._names: dict[str, str] = {}
        self._waiting: list[tuple[str, Json, Path]] = []
        self._rules = Rules(dialect=dialect_of(given.value), refer=self._refer, shorthand=False)

    def follow(self, value: Json, path: Path) -> tuple[Json, Path]:
        """Return what an object stands for that may be a reference, and its place; `None` if it leads nowhere."""
        for _ in range(_HOPS):
            reference = value.get("$ref") if value.__class__ is dict else None
            if reference.__class__ is not str:
                return value, path
            target, target_at = self._find(reference)
            if target is None:
                self._missing(reference, (*path, "$ref"))
                return None, path
            value, path = target, target_at
        self.given.left_out(path, "$ref", "it leads in a circle")
        return None, path

    def schema(self, raw: Json, path: Path) -> Json:
        """Return a mended schema; what it refers to becomes a definition."""
        schema = made_sound(mend(raw, path, self.given, self._rules), path, self.given)
        while self._waiting:
            name, definition, place = self._waiting.pop(0)
            self.definitions[name] = made_sound(mend(definition, place, self.given, self._rules), place, self.given)
        return schema

    def whole(self, raw: Json, path: Path) -> Json:
        """Return a mended schema with its definitions."""
        schema = self.schema(raw, path)
        if schema.__class__ is dict and self.definitions:
            schema = {**schema, "$defs": self.definitions}
        settle_references(schema, path, self.given)
        return schema

    def _refer(self, reference: str, path: Path) -> str | None:
        name = self._names.get(reference)
        if name is None:
            target, place = self._find(reference)
            if target is None or not is_schema(target):
                self._missing(reference, path)
                return None
            name = self._names[reference] = self._free(ascii_name(str(place[-1])) or "schema")
            self._waiting.append((name, target, place))
        return f"#/$defs/{name}"

    def _missing(self, reference: str, path: Path) -> None:
        reason = "it leads nowhere" if reference.startswith("#") else "nothing is fetched from elsewhere"
        self.given.left_out(path, reference, reason)

    def _find(self, reference: str) -> tuple[Json, Path]:
        """Return the part of the document that a reference leads to, and its path; `None` if there is none."""
        if not reference.startswith("#/"):
            return None, ()
        try:
            pointer = unquote(reference[1:])
            return at(self.given.value, pointer), tuple(tokens(pointer))
        except (LookupError, ValueError):
            return None, ()

    def _free(self, name: str) -> str:
        free, count = name, 2
        while free in self._names.values():
            free, count = f"{name}_{count}", count + 1
        return free


def dialect_of(document: Json) -> Dialect:
    """Return how the schemas of a document are to be read."""
    version = document.get("openapi") if document.__class__ is dict else None
    return OPENAPI_3_0 if version.__class__ is str and version.startswith("3.0") else LATEST
