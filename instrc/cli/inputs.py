"""JSON that a command is given: read once, with a place for every part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from instrc import problems
from instrc.files import read_text, readable
from instrc.jsonkeys import repeated_members
from instrc.jsonplaces import JsonPlaces
from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonSyntaxError
from instrc.problems.report import Report
from instrc.schema.wellformed import problems_of
from instrc.source import Source, Span
from instrc.vibes.registry import Registry


class JsonDocument:
    """A JSON text: `value` is what it says, `path` what the user called it."""

    def __init__(self, path: str, source: Source, value: Json) -> None:
        self.path = path
        self.source = source
        self.value = value
        self._places = JsonPlaces(source.text)

    def locate(self, pointer: str = "") -> Span:
        """Return the place of a part, or of the innermost part on the way that exists."""
        member = self._places.place(pointer)
        return self.source.span(member.start, member.end)


def read_json(path: str, report: Report) -> JsonDocument | None:
    """Read a file or the standard input (`-`); `None` with a problem if it is not JSON."""
    source = read_text(path, report)
    if source is None:
        return None
    text = source.text
    try:
        value = loads(text)
        for each in (repeated := repeated_members(text, value)):
            report.add(problems.files.InvalidJson(at=source.span(each.start, each.end), reason=each.reason))
        return None if repeated else JsonDocument(path, source, value)
    except JsonSyntaxError as error:
        start = min(error.offset, max(len(text) - 1, 0))
        report.add(problems.files.InvalidJson(at=source.span(start, min(start + 1, len(text))), reason=error.reason))
        return None


class SchemaInput:
    """A JSON Schema: `value`, and the reference it has as a vibe (`base`, else empty)."""

    def __init__(self, value: Json, base: str, place: Callable[[str], Span], registry: Registry) -> None:
        self.value = value
        self.base = base
        self._place = place
        self._registry = registry

    def locate(self, uri: str, pointer: str) -> Span | None:
        """Return the place of a part of this schema or of a vibe."""
        return self._place(pointer) if uri == self.base else self._registry.locate(uri, pointer)


def read_schema(path: str, registry: Registry, report: Report) -> SchemaInput | None:
    """Read a schema from a file, from a vibe file of either shape, or from the standard input (`-`).

    `None` with problems if it is not one.
    """
    given = _given_schema(path, registry, report)
    unsound = () if given is None else problems_of(given.value, lambda place: given.locate(given.base, place))
    for problem in unsound:
        report.add(problem)
    return None if unsound else given


def _given_schema(path: str, registry: Registry, report: Report) -> SchemaInput | None:
    if path.endswith(".vibe.json"):
        if not readable(path, report):
            return None
        vibe = registry.open(Path(path))
        return SchemaInput(vibe.schema, vibe.uri, vibe.span, registry)
    document = read_json(path, report)
    return None if document is None else SchemaInput(document.value, "", document.locate, registry)
