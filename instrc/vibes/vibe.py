"""Vibes: the two shapes of a vibe file, and the place of every part of one.

A vibe file is a bare JSON Schema, or a record: an object with a `schema`, and optionally `input` and `solution`.
The siblings of `schema` distinguish the two: in a record none of them is a JSON Schema keyword that constrains instances
(`type`, `properties`, `$ref`, …).
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Final

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.process.process import Process
from instrc.text.jsontext import loads, repeated_members
from instrc.text.jsonvalue import Json, JsonSyntaxError, as_integer
from instrc.text.limits import VIBE_BYTES
from instrc.text.source import CONFLICT_MARK, Source, Span
from instrc.tools.definitions import AS_SENT
from instrc.vibes.uri import file_too_large, invalid_vibe

if TYPE_CHECKING:
    from instrc.text.jsontext import JsonText


class Vibe:
    """A parsed vibe file.

    `schema` is the bare JSON Schema, `document` the whole file, `pointer` the path between them (`""` or `/schema`).
    `input` and `solution` are `None` if absent; `has_solution` distinguishes an absent solution from null.
    """

    __slots__ = ("_lock", "_text", "document", "input", "pointer", "schema", "segment", "solution", "source", "uri")

    def __init__(self, uri: str, segment: str, source: Source, document: dict[str, Json], pointer: str) -> None:
        self.uri: str = uri
        self.segment: str = segment
        self.source: Source = source
        self.document: dict[str, Json] = document
        self.pointer: str = pointer
        self.schema: Json = document["schema"] if pointer else document
        self.input: Json = document.get("input") if pointer else None
        self.solution: Json = document.get("solution") if pointer else None
        self._text: JsonText | None = None
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Vibe({self.uri!r})"

    @property
    def has_solution(self) -> bool:
        """Whether the file has a solution."""
        return bool(self.pointer) and "solution" in self.document

    def span(self, pointer: str = "", *, key: bool = False) -> Span:
        """Return the span of a part of the schema, or of its innermost existing ancestor."""
        return self.place(self.pointer + pointer, key=key)

    def place(self, pointer: str, *, key: bool = False) -> Span:
        """Return the span of a part of the whole file: its value, or its key."""
        with self._lock:
            if self._text is None:
                self._text = _read_with_places(self.source)
        member = self._text.place(pointer)
        if key and member.key_end > member.key_start >= 0:
            return Span(self.source, member.key_start, member.key_end)
        return Span(self.source, member.start, member.end)


def _read_with_places(source: Source) -> JsonText:
    from instrc.text.jsontext import parse_json  # few vibes have anything to report

    return parse_json(source.text)


VIBE_VERSION: Final = 1
"""Newest supported version of vibe files."""
_ONLY_IN_SCHEMAS = frozenset(
    [
        *("type", "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "items", "prefixItems"),
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$defs", "definitions", "enum", "const"),
    ],
)


def parse_vibe(
    data: bytes,
    *,
    name: str,
    uri: str,
    segment: str,
    max_bytes: int = VIBE_BYTES,
    referrer: Span | None = None,
) -> Vibe:
    """Parse the bytes of a vibe file with the display name `name`; raise `CompileError` with the reason if it is invalid.

    For a file over the limit, `max_bytes` plus one byte is enough.
    """
    if len(data) > max_bytes:
        raise file_too_large(name, data, max_bytes)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        source = Source(name, data.decode("utf-8-sig", "replace"))
        raise _invalid(source, len(before), "a byte here is not UTF-8", referrer) from None
    source = Source(name, text)
    if not text.strip(" \t\r\n"):
        raise _invalid(source, 0, "the file is empty", referrer)
    document = _value(source, referrer)
    if not isinstance(document, dict):
        place = len(text) - len(text.lstrip(" \t\r\n"))
        if _are_tools(document):
            reason, way_out = "it holds a list of tools", f"`instrc import mcp {name} -o schemas/` makes a vibe of each"
            raise invalid_vibe([(source.span(place, min(place + 1, len(text))), reason)], referrer, way_out)
        raise _invalid(source, place, f"it holds {_kind(document)}, not an object", referrer)
    place_of_schema = _pointer(source, document, referrer)
    _refuse_newer(source, document, place_of_schema, referrer)
    return Vibe(uri, segment, source, document, place_of_schema)


def _invalid(source: Source, offset: int, reason: str, referrer: Span | None) -> CompileError:
    start = min(offset, max(len(source.text) - 1, 0))
    return invalid_vibe([(source.span(start, min(start + 1, len(source.text))), reason)], referrer)


def _value(source: Source, referrer: Span | None) -> Json:
    try:
        value = loads(source.text)
        repeated = repeated_members(source.text, value)
    except JsonSyntaxError as error:
        if (mark := CONFLICT_MARK.search(source.text)) is not None:
            raise invalid_vibe([(source.span(*mark.span()), "it contains merge conflict markers")], referrer) from None
        raise _invalid(source, error.offset, error.reason, referrer) from None
    if repeated:
        raise invalid_vibe(((source.span(each.start, each.end), each.reason) for each in repeated), referrer)
    return value


def _are_tools(document: Json) -> bool:
    """Return whether a document is an array of tools for a provider."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(each, dict) and each.keys() & AS_SENT for each in document)
    )


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    return "an array" if isinstance(value, list) else "a text" if isinstance(value, str) else "a number"


def _pointer(source: Source, document: dict[str, Json], referrer: Span | None) -> str:
    """Return `/schema` for a record and the empty pointer for a bare schema."""
    if "schema" not in document:
        return ""
    inner = document["schema"]
    beside = sorted(_ONLY_IN_SCHEMAS & document.keys())
    if not isinstance(inner, dict):
        if beside:
            return ""  # a schema with a custom keyword
        offset = _read_with_places(source).place("/schema").start
        raise _invalid(source, offset, f"the `schema` of a record is an object, not {_kind(inner)}", referrer)
    if beside:
        offset = _read_with_places(source).place("/schema").key_start
        reason = f"`schema` beside `{beside[0]}` could be a record or a schema; keep one of them"
        raise _invalid(source, offset, reason, referrer)
    return "/schema"


def _refuse_newer(source: Source, document: dict[str, Json], place_of_schema: str, referrer: Span | None) -> None:
    """Raise for a file of a newer version, which could be misread. Processes have their own version."""
    version = document.get("instrc", 1)
    known = version.__class__ is int and version == VIBE_VERSION
    newer = version.__class__ is int and as_integer(version) > VIBE_VERSION
    if known or (not place_of_schema and (not newer or Process.describes(document))):
        return
    member = _read_with_places(source).place("/instrc")
    if not newer:
        raise _invalid(
            source, member.start, "the `instrc` of a record is the version of its form, a whole number from 1", referrer
        )
    raise CompileError(
        [problems.vibes.NewerVibe(at=source.span(member.start, member.end), version=as_integer(version), known=VIBE_VERSION)]
    )
