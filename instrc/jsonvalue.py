"""JSON values: text in, text out, equality, pointers.

JSON is held as plain Python values.  Objects are dicts and keep the order of their text.
JSON knows one kind of number and keeps booleans apart from it: `1` equals `1.0`, but `true` is not `1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

import orjson

Json: TypeAlias = Any
"""`None | bool | int | float | str | list[Json] | dict[str, Json]`; mypy has no useful recursive alias for it."""

_CHUNK = 10**4000
_MAY_EXCEED_64_BITS = re.compile(rb"(?<![\d.eE])\d{19}")


def loads(text: str | bytes) -> Json:
    """Read a JSON text; a `JsonSyntaxError` says where it stops being one.

    Integers of any size and nesting of any depth are read exactly.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if not _MAY_EXCEED_64_BITS.search(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # the exact reader below accepts what orjson merely cannot hold, and places real mistakes
    from instrc.jsontext import read_value  # needed for rare documents only

    return read_value(data.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text)


def dumps(value: Json, *, indent: bool = True) -> str:
    """Write canonical JSON: two spaces a level, keys in their order, non-ASCII letters as they are, no final newline."""
    option = orjson.OPT_INDENT_2 if indent else 0
    try:
        return orjson.dumps(value, option=option).decode()
    except orjson.JSONEncodeError:
        return "".join(_write(value, indent=indent))


def require_tree(value: Json) -> None:
    """Raise `TypeError` if a value holds itself, which has no end, or has a key that is no text: no JSON says either."""
    around: set[int] = set()
    done: set[int] = set()
    stack: list[tuple[Json, bool]] = [(value, True)]
    while stack:
        here, entering = stack.pop()
        if not entering:
            around.discard(id(here))
            done.add(id(here))
            continue
        if not isinstance(here, dict | list | tuple) or id(here) in done:
            continue
        if id(here) in around:
            message = "this holds itself"
            raise TypeError(message)
        around.add(id(here))
        stack.append((here, False))
        if isinstance(here, dict):
            for key in here:
                if not isinstance(key, str):
                    message = f"a key of JSON is a text, not {type(key).__name__}"
                    raise TypeError(message)
        stack.extend((part, True) for part in (here.values() if isinstance(here, dict) else here))


def _write(value: Json, *, indent: bool) -> Iterator[str]:
    """Yield what orjson would write, for integers over 64 bits and nesting over 254 levels."""
    require_tree(value)
    stack: list[tuple[bool, Iterator[Any]]] = []
    pending: Json = value
    while True:
        first_of_container = False
        if isinstance(pending, dict) and pending:
            yield "{"
            stack.append((True, iter(pending.items())))
            first_of_container = True
        elif isinstance(pending, list | tuple) and pending:
            yield "["
            stack.append((False, iter(pending)))
            first_of_container = True
        else:
            yield _scalar(pending)
        while stack:
            is_object, rest = stack[-1]
            item = next(rest, rest)
            if item is not rest:
                break
            stack.pop()
            if indent:
                yield "\n" + "  " * len(stack)
            yield "}" if is_object else "]"
        else:
            return
        if not first_of_container:
            yield ","
        if indent:
            yield "\n" + "  " * len(stack)
        if is_object:
            key, pending = cast("tuple[str, Json]", item)
            yield _scalar(key) + (": " if indent else ":")
        else:
            pending = item


def _scalar(value: Json) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return digits(value)
    return orjson.dumps(value).decode()


def digits(value: int) -> str:
    """Write an integer of any size; `str` refuses more than 4,300 digits."""
    parts: list[str] = []
    rest = abs(value)
    while rest >= _CHUNK:
        rest, part = divmod(rest, _CHUNK)
        parts.append(f"{part:04000d}")
    return ("-" if value < 0 else "") + str(rest) + "".join(reversed(parts))


def freeze(value: Json) -> Any:
    """Return a hashable key: two values have equal keys exactly if they are equal as JSON."""
    kind = value.__class__
    if kind is str or value is None:
        return value
    if kind is bool:
        return (bool, value)
    if kind is dict:
        return (dict, frozenset((key, freeze(item)) for key, item in value.items()))
    if kind is list:
        return (list, tuple(map(freeze, value)))
    return value


def equal(left: Json, right: Json) -> bool:
    """Compare as JSON does: numbers by value, booleans only with booleans, objects without order."""
    pairs = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, (dict, list)):
            if a is b or (id(a), id(b)) in seen:
                continue  # parts may be shared, many times over
            seen.add((id(a), id(b)))
        if isinstance(a, bool) or isinstance(b, bool):
            if a is not b:
                return False
        elif isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs.extend((item, b[key]) for key, item in a.items())
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif a != b:
            return False
    return True


def pointer(tokens: Iterable[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) of a path of keys and indexes; the empty path is the whole document."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def tokens(pointer: str) -> list[str]:
    """Return the unescaped reference tokens of a JSON Pointer; `ValueError` if it is not one."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        message = f"a JSON Pointer begins with '/': {pointer!r}"
        raise ValueError(message)
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def at(document: Json, pointer: str) -> Json:
    """Return the value a JSON Pointer leads to; `LookupError` if it leads nowhere."""
    value = document
    for token in tokens(pointer):
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and (token == "0" or token[0] != "0"):
            value = value[int(token)]
        else:
            raise KeyError(token)
    return value


def kind_of(value: Json) -> str:
    """Return the JSON type of a value; a float without a fraction is an integer."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
