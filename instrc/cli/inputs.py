"""Read the inputs of commands: JSON with places, schemas, plans, records and tool files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from instrc import problems
from instrc.problems.errors import InstrcError
from instrc.problems.report import Report
from instrc.schema.wellformed import problems_of
from instrc.text.jsontext import JsonText, loads, parse_json, repeated_members
from instrc.text.jsonvalue import Json, JsonSyntaxError, Location, listing
from instrc.text.source import Source, Span
from instrc.vibes.find_files import read_text, readable
from instrc.vibes.registry import Registry

if TYPE_CHECKING:
    from instrc.tools.sources import Given


class JsonDocument:
    """A JSON text: `value` is the parsed value, `path` its name as given by the user."""

    def __init__(self, path: str, source: Source, value: Json) -> None:
        self.path = path
        self.source = source
        self.value = value

    @cached_property
    def _read(self) -> JsonText:
        return parse_json(self.source.text)

    def locate(self, pointer: str = "") -> Span:
        """Return the span of a part, or of its innermost existing ancestor."""
        member = self._read.place(pointer)
        return self.source.span(member.start, member.end)


def read_json(path: str, report: Report) -> JsonDocument | None:
    """Read a file or standard input (`-`); return `None` with a problem if it is not JSON."""
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
    """A JSON Schema: `value`, and its reference as a vibe (`base`, otherwise empty)."""

    def __init__(self, value: Json, base: str, place: Callable[[str], Span], registry: Registry) -> None:
        self.value = value
        self.base = base
        self._place = place
        self._registry = registry

    def locate(self, uri: str, pointer: str) -> Span | None:
        """Return the span of a part of this schema or of a vibe."""
        return self._place(pointer) if uri == self.base else self._registry.locate(uri, pointer)


def read_schema(path: str, registry: Registry, report: Report) -> SchemaInput | None:
    """Read a schema from a file, a vibe file of either shape, or standard input (`-`).

    Return `None` with problems if it is not one.
    """
    given = _given_schema(path, registry, report)
    unsound = [] if given is None else [*problems_of(given.value, lambda place: given.locate(given.base, place))]
    report.problems += unsound
    return None if unsound else given


def _given_schema(path: str, registry: Registry, report: Report) -> SchemaInput | None:
    if path.endswith(".vibe.json"):
        if not readable(path, report):
            return None
        vibe = registry.open(Path(path))
        return SchemaInput(vibe.schema, vibe.uri, vibe.span, registry)
    document = read_json(path, report)
    return None if document is None else SchemaInput(document.value, "", document.locate, registry)


def read_records(path: str, report: Report) -> Given | None:
    """Read JSON or JSON Lines from a file or standard input; return `None` and a problem on failure."""
    source = read_text(path, report)
    if source is None:
        return None
    from instrc.tools.sources import of_text  # it records positions in both

    try:
        given = of_text(source)
    except InstrcError as error:
        report.take(error)
        return None
    report.problems += given.problems  # only some lines are invalid
    return given


def are_records(value: Json) -> bool:
    """Return whether a value consists of TaskBench records rather than tasks."""
    first = value[0] if value.__class__ is list and value else value
    return first.__class__ is dict and "tool" not in first


def each_record(value: Json) -> Iterator[tuple[Location, Json]]:
    """Yield the records in a file with their places: one, or a list."""
    if value.__class__ is list:
        yield from (((number,), record) for number, record in enumerate(value))
    else:
        yield (), value


def plans_in(value: Json) -> tuple[bool, list[tuple[Location, Json, Json]]]:
    """Return whether a file contains several plans, and each with its place and id: bare ones, or `{id, plan}`."""
    if value.__class__ is dict and "plan" in value:
        return False, [(("plan",), value.get("id"), value["plan"])]
    if value.__class__ is list and value and all(each.__class__ is list for each in value):
        return True, [((number,), None, plan) for number, plan in enumerate(value)]
    named = [each for each in listing(value) if isinstance(each, dict) and "plan" in each]
    if named and len(named) == len(listing(value)):
        return True, [((number, "plan"), each.get("id"), each["plan"]) for number, each in enumerate(named)]
    return False, [((), None, value)]
