"""JSON text: text in, text out.

The quick way is orjson's; what it cannot hold, the exact reader and a writer here do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from instrc.jsonvalue import Json, JsonLike, require_tree

_CHUNK = 10**4000
STRICTLY = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
"""Lets `orjson` take plain JSON only, no values of other classes that it would write as JSON."""
INDENTED = 1000
"""Levels with lines of their own: what is deeper stays on one line, since indentation grows with the square of the depth."""
_MAY_EXCEED_64_BITS = re.compile(rb"[0-9](?<![\d.eE].)\d{18}")  # a class first: texts are passed over four times as fast


def loads(text: str | bytes) -> Json:
    """Read a JSON text; a `JsonSyntaxError` says where it stops being one.

    Integers of any size and nesting of any depth are read exactly.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if not _MAY_EXCEED_64_BITS.search(data):
        try:
            value: Json = orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # the exact reader below accepts what orjson merely cannot hold, and places real mistakes
        else:
            return value
    from instrc.jsonreader import read_value  # needed for rare documents only

    return read_value(data.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text)


def dumps(value: JsonLike, *, indent: bool = True) -> str:
    """Write canonical JSON: two spaces a level, keys in their order, non-ASCII letters as they are, no final newline."""
    option = orjson.OPT_INDENT_2 if indent else 0
    try:
        return orjson.dumps(value, option=option).decode()
    except orjson.JSONEncodeError:
        return "".join(_write(value, indent=indent))


def _write(value: JsonLike, *, indent: bool) -> Iterator[str]:
    """Yield what orjson would write, for integers over 64 bits and nesting over 254 levels."""
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


def _line_break(level: int) -> str:
    return "\n" + "  " * level if level <= INDENTED else ""


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


def is_writable(text: str) -> bool:
    """Tell whether JSON can hold a text: one with half of a character, a lone surrogate, cannot be encoded."""
    return text.isascii() or text.encode("utf-8", "ignore").decode() == text


def digits(value: int) -> str:
    """Write an integer of any size; `str` refuses more than 4,300 digits."""
    parts: list[str] = []
    rest = abs(value)
    while rest >= _CHUNK:
        rest, part = divmod(rest, _CHUNK)
        parts.append(f"{part:04000d}")
    return ("-" if value < 0 else "") + str(rest) + "".join(reversed(parts))
