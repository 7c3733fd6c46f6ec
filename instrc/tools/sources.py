"""Read a source of tools: a value with the span of every part, its notes, and normalized schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NoReturn, Protocol
from urllib.parse import unquote

from msgspec import Struct, field, structs

from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.files import InvalidJson, TooLarge
from instrc.problems.importing import LeftOut, ReadOtherwise
from instrc.problems.problem import Problem
from instrc.problems.suggest import comparison_key
from instrc.problems.vibes import ForbiddenReference
from instrc.schema.drafts import dialect_of_uri
from instrc.schema.normalize import Note, Rules, describe_value, drop_invalid_keywords, normalize
from instrc.schema.references import SchemaStore
from instrc.schema.upgrade import expand_discriminators, upgrade
from instrc.schema.walk import subschemas, walk
from instrc.text.arguments import writes_over
from instrc.text.jsontext import JsonText, RepeatedMember, loads, parse_json, repeated_members
from instrc.text.jsonvalue import (
    Json,
    JsonSyntaxError,
    Location,
    as_object,
    as_texts,
    is_deeper,
    pointer,
)
from instrc.text.names import free_name, is_reserved, words
from instrc.text.source import Source, Span
from instrc.tools.tool import copied_json

GIVEN_PARTS: Final = 5_000_000
"""Maximum values in an input; larger or cyclic inputs are refused."""
_TOO_MANY_PARTS: Final = f"it has over {GIVEN_PARTS:,} parts, or contains itself"
GIVEN_LEVELS: Final = 4000
"""Maximum nesting of an input."""
TOOL_NAME: Final = 100
"""Maximum characters of a name; file systems allow 255 bytes, version and extension included."""
TOOL_NAME_BYTES: Final = 200
"""Maximum bytes of a name."""


class Given:
    """A value with spans: JSON text, JSON Lines, or a Python value, which has no spans."""

    neighbours: Neighbours | None = None
    """Reader of files next to the source; `None` if there are none."""

    def __init__(self, value: Json, source: Source | None = None, lines: Sequence[tuple[int, str]] | None = None) -> None:
        self.value = value
        self.problems: list[Problem] = []
        self._source = source
        self._lines = lines
        self._texts: dict[int, JsonText] = {}

    def locate(self, path: Location) -> Span | None:
        """Return the span of a part, or of its innermost existing ancestor."""
        if path and path[0].__class__ is File and self.neighbours is not None:
            return self.neighbours.given(str(path[0])).locate(path[1:])
        if self._source is None:
            return None
        if self._lines is None:
            return self._place(-1, 0, self._source.text, path)
        if not path or not isinstance(path[0], int) or path[0] >= len(self._lines):
            return self._source.whole()
        return self._place(path[0], *self._lines[path[0]], path[1:])

    def left_out(self, path: Location, what: object, reason: str) -> None:
        """Record that a part is dropped."""
        self.problems.append(LeftOut(at=self.locate(path), what=describe_value(what), reason=reason))

    def read_as(self, path: Location, what: object, meaning: str) -> None:
        """Record that a part is reinterpreted."""
        self.problems.append(ReadOtherwise(at=self.locate(path), what=describe_value(what), meaning=meaning))

    def _place(self, key: int, offset: int, text: str, path: Location) -> Span:
        if key not in self._texts:
            self._texts[key] = parse_json(text)
        member = self._texts[key].place(pointer(path))
        assert self._source is not None
        return self._source.span(offset + member.start, offset + member.end)


class Neighbours(Protocol):
    """The files next to a source."""

    def given(self, name: str) -> Given:
        """Return the content of a file; raise `CompileError` if it cannot be read."""
        ...


class File(str):
    """The first step of a path into another file: its name relative to the source's folder."""

    __slots__ = ()


def of_text(source: Source) -> Given:
    """Read a JSON text or JSON Lines; raise `CompileError` with the place if it is neither.

    Broken lines are noted, as long as there are valid ones.
    """
    try:
        given = Given(loads(source.text), source)
    except JsonSyntaxError as error:
        by_line = _lines(source)
        if by_line is not None and not is_deeper(by_line.value, GIVEN_LEVELS):
            return by_line
        raise CompileError([_broken(source, error.offset, error.reason)]) from None
    if repeated := repeated_members(source.text, given.value):
        raise CompileError(_repeated(source, item) for item in repeated)
    if is_deeper(given.value, GIVEN_LEVELS):
        raise CompileError([TooLarge(at=source.whole(), what="this file", limit=GIVEN_LEVELS, unit="levels")])
    return given


def _lines(source: Source) -> Given | None:
    """Return one value per line, or `None` if the first non-empty line is not JSON, or is the only one."""
    values: list[Json] = []
    lines: list[tuple[int, str]] = []
    problems: list[Problem] = []
    offset = 0
    for line in source.text.split("\n"):
        if line.strip():
            try:
                values.append(loads(line))
                problems += (_repeated(source, item, offset) for item in repeated_members(line, values[-1]))
                lines.append((offset, line))
            except JsonSyntaxError as error:
                if not values:
                    return None
                problems.append(_broken(source, offset + error.offset, error.reason))
        offset += len(line) + 1
    if len(values) < 2 or len(problems) > len(values):
        return None
    given = Given(values, source, lines)
    given.problems += problems
    return given


def _repeated(source: Source, member: RepeatedMember, offset: int = 0) -> InvalidJson:
    return InvalidJson(at=source.span(offset + member.start, offset + member.end), reason=member.reason)


def _broken(source: Source, offset: int, reason: str) -> InvalidJson:
    start = min(offset, max(len(source.text) - 1, 0))
    return InvalidJson(at=source.span(start, min(start + 1, len(source.text))), reason=reason)


def of_value(value: object) -> Given:
    """Read a Python value that is plain JSON; raise `CompileError` if it is not.

    It is copied without sharing.
    """
    if writes_over(value, GIVEN_PARTS):
        _refuse(_TOO_MANY_PARTS)
    try:
        copy = copied_json(value)
    except TypeError as error:
        _refuse(str(error))
    if is_deeper(copy, GIVEN_LEVELS):
        _refuse(f"it is nested deeper than {GIVEN_LEVELS:,} levels")
    return Given(copy)


def _refuse(reason: str) -> NoReturn:
    raise CompileError([InvalidJson(reason=reason)])


class ImportedTool(Struct, frozen=True, kw_only=True):
    """An imported tool: its schemas are normalized, everything else is as written."""

    name: str | None
    at: Location
    """Location in the input."""
    schema: Json
    """Schema of the tool's arguments."""
    schema_at: Location = ()
    description: str | None = None
    title: str | None = None
    """Display name, for kinds that have one besides the name."""
    result: Callable[[], Json] | None = None
    """Function that returns the schema of the result; `None` if the tool has none."""
    extras: dict[str, Json] = field(default_factory=dict)
    """Additional keywords for the root of the schema."""


_TAKEN_BY_THE_LANGUAGE = frozenset(
    comparison_key(name)
    for name in (
        *("Process", "StartProcess", "LaunchProcess", "LLM_Context", "Server_Context", "User_Context", "prompt"),
        *("Introspect_Mixin", "Loop_Mixin", "SelfEvaluate_Mixin", "Fail", "Plan", "OneOf", "RunPlan_Activity"),
    )
)


def kebab(name: str) -> str:
    """Return the name of a tool's vibe: `get-user` for `getUser`, `get.user` and `GET USER`; empty without any letter."""
    said = words(name)
    kept: list[str] = []
    for word in said:
        if len("-".join([*kept, word])) > TOOL_NAME or len("-".join([*kept, word]).encode()) > TOOL_NAME_BYTES:
            break
        kept.append(word)
    text = "-".join(kept) or "".join(said)[:TOOL_NAME].encode()[:TOOL_NAME_BYTES].decode("utf-8", "ignore")
    return f"tool-{text}" if text and not text[0].isalpha() else text


class FileNames:
    """Allocates valid and unique file names, compared without case and separators as the registry does.

    A name is free if it is so with each of the endings.
    """

    def __init__(self, endings: tuple[str, ...] = ("",)) -> None:
        self._endings = endings
        self._taken = set(_TAKEN_BY_THE_LANGUAGE)

    def free(self, name: str) -> str:
        """Reserve and return the name, or the name with a number."""
        is_reserved_name = comparison_key(name) in _TAKEN_BY_THE_LANGUAGE or is_reserved(name)
        free = f"{name}-tool" if is_reserved_name else name
        if self._is_taken(free):
            free = free_name(name, self._is_taken, joint="-")
        self._taken.update(self.keys(free))
        return free

    def keys(self, name: str) -> list[str]:
        """Return a name with each of the endings, in the form in which names are compared."""
        return [comparison_key(f"{name}{ending}") for ending in self._endings]

    def _is_taken(self, name: str) -> bool:
        return not self._taken.isdisjoint(self.keys(name)) or is_reserved(name)


_OF_THE_ENGINE = "a vibe keeps this word for the engine"
_UNWANTED: dict[str, str] = {
    **dict.fromkeys(("references", "arguments", "activity", "when", "each"), _OF_THE_ENGINE),
    "xml": "answers are JSON",
    "$vocabulary": "it belongs to a meta-schema",
}
"""Keywords that are not allowed in a vibe, with the reasons."""
DISCRIMINATOR = "JSON Schema tells alternatives apart by their properties"


def normalized(schema: Json, path: Location, given: Given, rules: Rules) -> Json:
    """Return a normalized copy of a schema at `path` of the source."""
    result = normalize(schema, structs.replace(rules, unwanted=_UNWANTED), path)
    _report_notes(result.notes, given, plain_words=rules.plain_words)
    return result.schema


def _report_notes(notes: Iterable[Note], given: Given, *, plain_words: bool = False) -> None:
    """Report notes as problems, except for usual spellings of a dialect or source."""
    for note in notes:
        if note.kind == "left-out":
            given.left_out(note.path, note.what, note.reason)
        elif note.kind == "repair" or (note.kind == "word" and not plain_words):
            given.read_as(note.path, note.what, note.reason)


def sound(schema: Json, path: Location, given: Given, rules: Rules) -> Json:
    """Return a normalized copy of a schema, without keywords that the meta-schema refuses."""
    result = drop_invalid_keywords(normalized(schema, path, given, rules), path)
    _report_notes(result.notes, given)
    return result.schema


_REFERENCES = ("$ref", "$dynamicRef")


def localize_references(schema: Json, path: Location, given: Given) -> None:
    """Make each reference of a schema point into it, or remove it, in place."""
    if schema.__class__ is not dict:
        return
    identity = schema.pop("$id", None)
    nodes = [(step, node) for step, node in walk(schema) if node.__class__ is dict]
    if not any(keyword in node for _, node in nodes for keyword in _REFERENCES):
        return
    if identity.__class__ is str and identity:
        for _, node in nodes:
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith(identity):
                node["$ref"] = reference.removeprefix(identity) or "#"
    store = SchemaStore(nullable=True)
    scope = store.add("aug:imported", schema)
    targets: dict[int, dict[str, Json]] = {}
    for step, node, within in store.walk(schema, scope):
        for keyword in _REFERENCES:
            if node.get(keyword).__class__ is not str:
                continue
            try:
                target = store.target(keyword, node, within).node
            except InstrcError as error:
                outside = any(isinstance(problem, ForbiddenReference) for problem in error.problems)
                reason = "nothing is fetched from elsewhere" if outside else "it leads nowhere"
                given.left_out((*path, *step, keyword), node.pop(keyword), reason)
            else:
                targets.setdefault(id(node), {})[keyword] = target
    _open_circles(nodes, targets, path, given)


def _open_circles(
    nodes: list[tuple[Location, dict[str, Json]]], targets: dict[int, dict[str, Json]], path: Location, given: Given
) -> None:
    """Remove references through which a schema would refer to itself without a property in between."""
    places = {id(node): step for step, node in nodes}
    done: set[int] = set()
    for _, start in nodes:
        on_way: list[dict[str, Json]] = []
        stack: list[tuple[dict[str, Json], bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                done.add(id(on_way.pop()))
                continue
            if id(node) in done:
                continue
            on_way.append(node)
            stack.append((node, True))
            for keyword, target in targets.get(id(node), {}).items():
                if any(target is before for before in on_way):
                    written = node.pop(keyword)
                    given.left_out((*path, *places.get(id(node), ()), keyword), written, "it leads back to itself")
                elif target.__class__ is dict:
                    stack.append((target, False))
            branches = node.get("allOf")
            stack += [(branch, False) for branch in branches if branch.__class__ is dict] if branches.__class__ is list else []


def embedded(schema: dict[str, Json], place: str, taken: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return a schema as a part of another, and its definitions under free names.

    `place` is its future JSON Pointer.  The schema must be fresh from `sound`, and is changed in place.
    """
    definitions = as_object(schema.pop("$defs", {}))
    names: dict[str, str] = {}
    for name in definitions:
        names[name] = free_name(name, lambda free: free in taken or free in names.values())
    stack: list[Json] = [schema, *definitions.values()]
    while stack:
        node = stack.pop()
        if node.__class__ is not dict or "$id" in node:
            continue  # references within an embedded document refer to that document
        written = node.get("$ref")
        if written.__class__ is str and (written == "#" or written.startswith("#/")):
            node["$ref"] = _redirect(written[1:], place, names)
        stack += [child for _, child in subschemas(node)]
    return schema, {names[name]: definition for name, definition in definitions.items()}


def _redirect(fragment: str, place: str, names: Mapping[str, str]) -> str:
    head, _, rest = fragment.removeprefix("/$defs/").partition("/") if fragment.startswith("/$defs/") else ("", "", "")
    name = unquote(head).replace("~1", "/").replace("~0", "~")
    if name in names:
        escaped = names[name].replace("~", "~0").replace("/", "~1")
        return f"#/$defs/{escaped}" + (f"/{rest}" if rest else "")
    return f"#{place}{fragment}"


def normalize_schema(raw: Json, path: Location, given: Given, rules: Rules) -> Json:
    """Return a valid schema in 2020-12 whose references resolve."""
    if raw.__class__ is dict and raw.get("$schema").__class__ is str:
        dialect = dialect_of_uri(raw["$schema"])
        if dialect is None:
            given.read_as((*path, "$schema"), raw["$schema"], "JSON Schema 2020-12")
        elif dialect.old:
            try:
                raw = upgrade(raw)
            except InstrcError as error:
                given.problems.extend(error.problems)
    schema = sound(raw, path, given, rules)
    definitions = schema.get("$defs") if schema.__class__ is dict else None
    schema = expand_discriminators(
        schema,
        definitions if definitions.__class__ is dict else {},
        {},
        lambda inner: given.left_out((*path, *inner), "discriminator", DISCRIMINATOR),
    )
    localize_references(schema, path, given)
    return schema


def description_text(value: Json, path: Location, given: Given) -> str | None:
    """Return a description as a text."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(as_texts(value)) or None
    given.left_out(path, "description", "it is not a text")
    return None
