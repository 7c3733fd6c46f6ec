"""Read and write JSON text: fast by `orjson`, exact with the place of every value where `orjson` cannot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from json import decoder
from typing import Any, NamedTuple, TypeAlias

import orjson
from msgspec import Struct, field

from instrc.text.jsonvalue import (
    LITERALS,
    Json,
    JsonArray,
    JsonLike,
    JsonObject,
    JsonSyntaxError,
    as_object,
    require_tree,
    tokens,
)


class ValueOffsets(Struct, frozen=True):
    """The place of a value: character offsets of its key (empty for an element of an array) and of itself."""

    key_start: int
    key_end: int
    start: int
    end: int


class RepeatedMember(NamedTuple):
    """A key that a JSON text repeats in one object, and its place."""

    key: str
    start: int
    end: int

    @property
    def reason(self) -> str:
        """Return what is wrong with the text."""
        return f"the key `{self.key}` is written twice in one object"


class JsonText(Struct):
    """A JSON value with the places of its parts, and its duplicate keys with their places."""

    value: Json
    whole: ValueOffsets
    places: dict[tuple[int, str | int], ValueOffsets]
    """Offsets of each value, by the offset of its container and its key or index, so that lookup does not depend on depth."""
    repeated: list[RepeatedMember] = field(default_factory=list)

    def place(self, pointer: str) -> ValueOffsets:
        """Return the place of a JSON Pointer, or of the innermost existing part on its way."""
        value, member = self.value, self.whole
        for token in tokens(pointer):
            key: str | int = int(token) if isinstance(value, list) and token.isdecimal() else token
            found = self.places.get((member.start, key))
            if found is None:
                break
            member = found
            value = value[key] if isinstance(value, list) and isinstance(key, int) else as_object(value)[str(key)]
        return member


_scanstring: Callable[[str, int, bool], tuple[str, int]] = decoder.scanstring  # type: ignore[attr-defined]  # undocumented, stable
_SURROGATE_ESCAPE = r"\\u[dD][89abAB]"
_LONG = 100_000
"""Text length in characters above which places (about 400 bytes per value) are recorded only on demand."""
_DEEPEST = 200_000
"""Maximum nesting of brackets; more would exhaust memory."""
_DIGITS = 10_000
"""Maximum digits of an integer: reading one takes quadratic time."""


def parse_json(text: str) -> JsonText:
    """Read a text; raise `JsonSyntaxError` if it is not JSON."""
    return _TextReader(text).document()


_Open: TypeAlias = "tuple[JsonArray | JsonObject, str | int, int, int, int]"
"""An open container: the container, its key in the enclosing one, and the offsets of both."""


class _TextReader:
    """One pass over a text with an explicit stack of open containers."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.space = re.compile(r"[ \t\n\r]*").match  # compiled on first use
        self.number = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII).match
        self.stack: list[_Open] = []
        self.places: dict[tuple[int, str | int], ValueOffsets] = {}
        self.repeated: list[RepeatedMember] = []

    def document(self) -> JsonText:
        key: str | int = ""
        key_start = key_end = -1
        while True:
            start = self._skip()
            opened = self._opened()
            value: Json = self._scalar() if opened is None else opened
            if opened is not None:
                if len(self.stack) >= _DEEPEST:
                    raise JsonSyntaxError(start, f"brackets are nested more than {_DEEPEST:,} levels deep")
                self.stack.append((opened, key, key_start, key_end, start))
                closing = "}" if isinstance(opened, dict) else "]"
                if self._peek(self._skip()) != closing:
                    key, key_start, key_end = self._key()
                    continue
                self.position += 1
                value, key, key_start, key_end, start = self.stack.pop()
            while True:  # a value is complete, and perhaps the containers around it
                if not self.stack:
                    return self._finish(value, ValueOffsets(start, self.position, start, self.position))
                self._attach(key, value, ValueOffsets(key_start, key_end, start, self.position))
                if self._more():
                    key, key_start, key_end = self._key()
                    break
                value, key, key_start, key_end, start = self.stack.pop()

    def _finish(self, value: Json, place: ValueOffsets) -> JsonText:
        if self._skip() < len(self.text):
            raise JsonSyntaxError(self.position, "text goes on after the value")
        return JsonText(value, place, self.places, self.repeated)

    def _attach(self, key: str | int, value: Json, place: ValueOffsets) -> None:
        container, *_, start = self.stack[-1]
        self.places[start, key] = place
        if isinstance(container, dict):
            container[str(key)] = value
        else:
            container.append(value)

    def _key(self) -> tuple[str | int, int, int]:
        """Read a key and its colon, or count an element; return the key or index with its place."""
        container = self.stack[-1][0]
        start = self._skip()
        if isinstance(container, list):
            return len(container), start, start
        if self._peek(start) != '"':
            raise JsonSyntaxError(start, "a key in double quotes is expected")
        key = self._string()
        end = self.position
        if self._peek(self._skip()) != ":":
            raise JsonSyntaxError(self.position, "a ':' is expected after a key")
        self.position += 1
        if key in container:
            self.repeated.append(RepeatedMember(key, start, end))
        return key, start, end

    def _more(self) -> bool:
        """Skip a comma (more follows) or the closing bracket (no more)."""
        character = self._peek(self._skip())
        closing = "}" if isinstance(self.stack[-1][0], dict) else "]"
        if character not in {",", closing}:
            raise JsonSyntaxError(self.position, f"a ',' or '{closing}' is expected")
        self.position += 1
        return character == ","

    def _opened(self) -> JsonArray | JsonObject | None:
        """Skip the opening bracket of a container, and return that container."""
        character = self._peek(self.position)
        if character not in {"{", "["}:
            return None
        self.position += 1
        return {} if character == "{" else []

    def _scalar(self) -> Json:
        if self._peek(self.position) == '"':
            return self._string()
        if number := self.number(self.text, self.position):
            return self._number(number)
        for word, value in LITERALS.items():
            if self.text.startswith(word, self.position):
                self.position += len(word)
                return value
        ended = self.position >= len(self.text)
        raise JsonSyntaxError(self.position, "the text ends before its value does" if ended else "a value is expected")

    def _number(self, number: re.Match[str]) -> Json:
        self.position = number.end()
        if number.group(1) is None and number.group(2) is None:
            sign = -1 if number.group().startswith("-") else 1
            digits = number.group().removeprefix("-")
            if len(digits) > _DIGITS:
                raise JsonSyntaxError(number.start(), f"the number has more than {_DIGITS:,} digits")
            value = 0
            for start in range(0, len(digits), 4000):  # int() refuses more digits at once
                part = digits[start : start + 4000]
                value = value * 10 ** len(part) + int(part)
            return sign * value
        result = float(number.group())
        if result in {float("inf"), float("-inf")}:
            raise JsonSyntaxError(number.start(), "the number is too large")
        return result

    def _string(self) -> str:
        start = self.position
        try:
            value, self.position = _scanstring(self.text, start + 1, True)  # noqa: FBT003  -- positional in the stdlib
        except ValueError as error:
            raise JsonSyntaxError(getattr(error, "pos", start), "a string is not closed or has a bad escape") from None
        if not value.isascii() and re.search("[\ud800-\udfff]", value):
            raise JsonSyntaxError(start, "a string holds half of a surrogate pair")
        return value

    def _skip(self) -> int:
        space = self.space(self.text, self.position)
        if space:
            self.position = space.end()
        return self.position

    def _peek(self, position: int) -> str:
        return self.text[position : position + 1]


def read_value(text: str) -> Json:
    """Read a text without its places; raise `JsonSyntaxError` if it is not JSON."""
    if len(text) > _LONG and not re.search(_SURROGATE_ESCAPE, text):
        try:
            value: Json = decoder.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode(text)
        except decoder.JSONDecodeError as error:
            raise JsonSyntaxError(error.pos, _reason(error.msg, ended=error.pos >= len(text))) from None
        except (RecursionError, ValueError):
            pass  # beyond the limits of this parser, or an error without a position
        else:
            return value
    return parse_json(text).value


def _refuse(word: str) -> Json:
    raise ValueError(word)  # NaN and Infinity are not JSON


def _finite(digits: str) -> float:
    value = float(digits)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(digits)
    return value


def _reason(message: str, *, ended: bool) -> str:
    """Translate a message of the standard library's parser."""
    if message.startswith("Extra data"):
        return "text goes on after the value"
    if "string" in message or "control character" in message or "escape" in message:
        return "a string is not closed or has a bad escape"
    if ended:
        return "the text ends before its value does"
    if message.startswith("Expecting property name"):
        return "a key in double quotes is expected"
    if message.startswith("Expecting ':'"):
        return "a ':' is expected after a key"
    return "a ',' or a closing bracket is expected" if message.startswith("Expecting ','") else "a value is expected"


_CHUNK = 10**4000
STRICTLY = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
"""Options that make `orjson` refuse instances of other classes instead of writing them as JSON."""
INDENTED = 1000
"""Maximum indented levels; deeper values stay on one line, since indentation grows with the square of the depth."""
_MAY_EXCEED_64_BITS = re.compile(rb"[0-9](?<![\d.eE].)\d{18}")  # starting with a class is four times as fast


def loads(text: str | bytes) -> Json:
    """Parse a JSON text; raise `JsonSyntaxError` with the place of the first error.

    Integers of up to 10,000 digits, and nesting of up to 200,000 levels, are read exactly.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if not _MAY_EXCEED_64_BITS.search(data):
        try:
            value: Json = orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # the exact parser below accepts what orjson cannot represent, and locates real errors
        else:
            return value

    return read_value(data.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text)


def value_in(text: str | bytes) -> Json:
    """Return the value of a JSON text, or `None` if it is not JSON."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def exact_copy(value: object) -> Json:
    """Return a copy of plain JSON; raise `TypeError` or `ValueError` for values that `orjson` cannot copy exactly.

    Callers that accept heavily shared parts check `writes_over` first.
    """
    copy: Json = orjson.loads(orjson.dumps(value, option=STRICTLY))
    if copy != value:
        raise ValueError("it contains a value that JSON cannot represent exactly, such as `NaN` or a tuple")
    return copy


def dumps(value: JsonLike, *, indent: bool = True) -> str:
    """Return canonical JSON: two spaces a level, keys in their order, non-ASCII letters unescaped, no final newline."""
    option = orjson.OPT_INDENT_2 if indent else 0
    try:
        return orjson.dumps(value, option=option).decode()
    except orjson.JSONEncodeError:
        try:
            return orjson.dumps(_with_fragments(value), option=option).decode()
        except (orjson.JSONEncodeError, RecursionError):  # it is nested deeper than 254 levels, or no JSON
            return "".join(_write(value, indent=indent))


def _with_fragments(value: object) -> object:
    """Return a value with its integers over 64 bits as text: `orjson` refuses them, and writes all else many times faster."""
    if isinstance(value, dict):
        return {key: _with_fragments(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_fragments(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return orjson.Fragment(digits(value))
    return value


def _write(value: JsonLike, *, indent: bool) -> Iterator[str]:
    """Yield the text in the format of `orjson`, for nesting over 254 levels."""
    require_tree(value)
    stack: list[tuple[bool, Iterator[tuple[str, object]]]] = []  # elements of an array have the empty key
    pending: object = value
    while True:
        first_of_container = False
        if isinstance(pending, dict) and pending:
            yield "{"
            stack.append((True, iter(pending.items())))
            first_of_container = True
        elif isinstance(pending, list | tuple) and pending:
            yield "["
            stack.append((False, (("", item) for item in pending)))
            first_of_container = True
        else:
            yield _scalar(pending)
        while stack:
            is_object, rest = stack[-1]
            item = next(rest, None)
            if item is not None:
                break
            stack.pop()
            if indent:
                yield _line_break(len(stack))
            yield "}" if is_object else "]"
        else:
            return
        if not first_of_container:
            yield ","
        if indent:
            yield _line_break(len(stack))
        key, pending = item
        if is_object:
            yield _scalar(key) + (": " if indent else ":")


def _scalar(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return digits(value)
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        message = "JSON has no lone surrogates"
        if not isinstance(value, str):
            message = f"JSON has no values of the type {type(value).__name__}"
        raise TypeError(message) from None


def _line_break(level: int) -> str:
    return "\n" + "  " * level if level <= INDENTED else ""


def is_writable(text: str) -> bool:
    """Return whether a text can be stored as JSON: one with a lone surrogate cannot be encoded."""
    return text.isascii() or text.encode("utf-8", "ignore").decode() == text


def digits(value: int) -> str:
    """Write an integer of any size; `str` refuses more than 4,300 digits."""
    parts: list[str] = []
    rest = abs(value)
    while rest >= _CHUNK:
        rest, part = divmod(rest, _CHUNK)
        parts.append(f"{part:04000d}")
    return ("-" if value < 0 else "") + str(rest) + "".join(reversed(parts))


def repeated_keys(text: str, value: Json) -> tuple[str, ...]:
    """Return the keys that a JSON text, parsed as `value`, repeats within one object."""
    with suppress(orjson.JSONEncodeError):  # it contains values that the writer does not support
        if r"\u0022" not in text and orjson.dumps(value).count(b'"') == text.count('"'):
            return ()
    repeated: list[str] = []

    def note(members: list[tuple[str, object]]) -> None:
        if len(dict(members)) < len(members):
            repeated.extend(key for key, times in Counter(key for key, _ in members).items() if times > 1)

    try:
        decoder.JSONDecoder(object_pairs_hook=note, parse_int=str, parse_float=str).decode(text)
    except (RecursionError, ValueError):  # beyond the limits of this parser
        repeated = [member.key for member in parse_json(text).repeated]
    return tuple(dict.fromkeys(repeated))


def repeated_members(text: str, value: Json) -> tuple[RepeatedMember, ...]:
    """Return the repeated members of a JSON text, parsed as `value`, with their places."""
    return tuple(parse_json(text).repeated) if repeated_keys(text, value) else ()


def digest_of(value: Json) -> str:
    """Return a digest of a value: equal for equal values, whatever the order of their keys."""
    from hashlib import sha256  # a program without a digest starts without it

    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # as in `dumps`
        text = dumps(_sorted(value), indent=False).encode()
    return sha256(text).hexdigest()


def _sorted(value: Json) -> Json:
    """Return a copy with sorted keys, whatever its depth."""
    root: list[Json] = [value]
    waiting: list[tuple[Any, Any]] = [(root, 0)]  # an object or array, and the place of a value in it
    while waiting:
        box, place = waiting.pop()
        if isinstance(inner := box[place], dict):
            box[place] = inner = {key: inner[key] for key in sorted(inner)}
            waiting += [(inner, key) for key in inner]
        elif isinstance(inner, list):
            box[place] = inner = [*inner]
            waiting += [(inner, index) for index in range(len(inner))]
    return root[0]
