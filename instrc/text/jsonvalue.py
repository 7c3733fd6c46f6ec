"""JSON values: their types, equality and pointers.

JSON is held as plain Python values.  Objects are dicts in the order of their text.
JSON has one kind of number, distinct from booleans: `1` equals `1.0`, but `true` is not `1`.

The type of a value is tested by `isinstance`, which every type checker follows, or by `as_object`, `mapping` and the like below.
`x.__class__ is dict` is equivalent for plain JSON and twice as fast when false: it is for the walks of the schema kernel and the
checks that every schema of a large document goes through, and for telling integers from booleans.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from sys import float_info
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeGuard, cast

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | JsonArray | JsonObject | None"
    """A JSON value."""
    JsonArray: TypeAlias = "list[Json]"
    JsonObject: TypeAlias = "dict[str, Json]"
    JsonLike: TypeAlias = "Json | Sequence[JsonLike] | Mapping[str, object]"
    """Read-only JSON, also as a `TypedDict` or a list of strings."""
else:  # for readers of annotations, many of which never finish with a recursive type
    Json = JsonLike = object
    JsonArray = list[object]
    JsonObject = dict[str, object]

Location: TypeAlias = tuple[str | int, ...]
"""Path of a value inside another: the keys and indexes that lead to it."""
LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None}
"""Literal names of JSON with their values."""
LATEST_DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""URI of the JSON Schema dialect in which all schemas are written."""
Payload: TypeAlias = Any  # type checkers do not accept plain JSON as the libraries' types
"""JSON passed to a provider's library: a tool or a message.

Each library has its own types for it: `ChatCompletionToolParam`, `ToolParam`, …"""


class JsonSyntaxError(ValueError):
    """A text that is not JSON: `offset` is the character of the error, `reason` a short clause."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"{reason} at character {offset}")
        self.offset = offset
        self.reason = reason


def as_object(value: Json) -> JsonObject:
    """Return a value that must be an object here; `TypeError` otherwise.

    Values from outside are checked at intake; this narrows the type of checked values: `as_object(schema["properties"])`.
    """
    return value if isinstance(value, dict) else _unexpected("an object", value)


def _unexpected(what: str, value: Json) -> NoReturn:
    raise TypeError(f"{what} is expected here, not {kind_of(value)}")


def as_array(value: Json) -> JsonArray:
    """Return a value that must be an array here; `TypeError` otherwise."""
    return value if isinstance(value, list) else _unexpected("an array", value)


def as_text(value: Json) -> str:
    """Return a value that must be a string here; `TypeError` otherwise."""
    return value if isinstance(value, str) else _unexpected("a string", value)


def as_number(value: Json) -> int | float:
    """Return a value that must be a number here; `TypeError` otherwise."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else _unexpected("a number", value)


def as_integer(value: Json) -> int:
    """Return a value that must be a Python integer here; `TypeError` otherwise."""
    return value if isinstance(value, int) and not isinstance(value, bool) else _unexpected("an integer", value)


def as_texts(value: Json) -> list[str]:
    """Return a value that must be an array of strings here; `TypeError` otherwise."""
    return [as_text(item) for item in as_array(value)]


def mapping(value: Json) -> JsonObject:
    """Return an object; an empty one for any other value."""
    return value if value.__class__ is dict else {}


def listing(value: Json) -> JsonArray:
    """Return an array; an empty one for any other value."""
    return value if value.__class__ is list else []


def text_or_empty(value: Json) -> str:
    """Return a string; an empty one for any other value."""
    return value if value.__class__ is str else ""


def optional_text(value: Json) -> str | None:
    """Return a string, or `None` for any other value."""
    return value if value.__class__ is str else None


def without_type(value: Mapping[str, object]) -> JsonObject:
    """Cast a `TypedDict` of JSON to a plain object: type checkers keep the two apart."""
    return cast("JsonObject", value)


def put(container: JsonArray | JsonObject, key: str | int, value: Json) -> None:
    """Put a value into an object by its key, or into an array by its index."""
    if isinstance(container, dict):
        container[key if isinstance(key, str) else as_text(key)] = value
    else:
        container[key if isinstance(key, int) else as_integer(key)] = value


def require_tree(value: JsonLike) -> None:
    """Raise `TypeError` if a value is cyclic or has a key that is not a text."""
    around: set[int] = set()
    done: set[int] = set()
    stack: list[tuple[object, bool]] = [(value, True)]
    while stack:
        here, entering = stack.pop()
        if not entering:
            around.discard(id(here))
            done.add(id(here))
            continue
        if not isinstance(here, dict | list | tuple) or id(here) in done:
            continue
        if id(here) in around:
            raise TypeError("a JSON value cannot contain itself")
        around.add(id(here))
        stack.append((here, False))
        if isinstance(here, dict):
            for key in here:
                if not isinstance(key, str):
                    raise TypeError(f"a key of JSON is a text, not {type(key).__name__}")
        stack.extend((part, True) for part in (here.values() if isinstance(here, dict) else here))


def is_amount(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite non-negative number that a float can hold, and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= float_info.max


def is_deeper(value: JsonLike, levels: int) -> bool:
    """Return whether lists and objects nest deeper than `levels`; cyclic values do."""
    parts: list[object] = [value]
    for _ in range(levels + 1):
        level = {id(part): part for part in parts if isinstance(part, dict | list)}
        if not level:
            return False
        parts = [part for item in level.values() for part in (item.values() if isinstance(item, dict) else item)]
    return True


CHARACTERS_OF_A_PART: Final = 25
"""How many characters the size of a value counts for each part, besides its text: parts cost time and memory."""


def size_of(value: Json) -> int:
    """Return about how many characters a value has, up to a hundred million."""
    size, stack = 0, [value]
    while stack and size < 10**8:
        part = stack.pop()
        stack += [*part, *part.values()] if isinstance(part, dict) else part if isinstance(part, list) else ()
        size += CHARACTERS_OF_A_PART + (len(part) if isinstance(part, str) else 0)
    return size


def freeze(value: Json) -> Hashable:
    """Return a hashable key: two values have equal keys exactly if they are equal as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, dict):
        return (dict, frozenset((key, freeze(item)) for key, item in value.items()))
    if isinstance(value, list):
        return (list, tuple(map(freeze, value)))
    return value


def equal(left: Json, right: Json, *, ordered: bool = False) -> bool:
    """Compare as JSON does: numbers by value, booleans only with booleans, objects without order unless `ordered`."""
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
            if a.keys() != b.keys() or (ordered and list(a) != list(b)):
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
    names = ["", *map(str, tokens)]
    text = "/".join(names)
    if "~" in text or text.count("/") >= len(names):
        return "/".join([name.replace("~", "~0").replace("/", "~1") for name in names])
    return text


def tokens(pointer: str) -> list[str]:
    """Return the unescaped reference tokens of a JSON Pointer; raise `ValueError` if it is not one."""
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"a JSON Pointer begins with `/`: `{pointer}`")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def at(document: Json, pointer: str) -> Json:
    """Return the value a JSON Pointer leads to; raise `LookupError` if it leads nowhere."""
    value = document
    for token in tokens(pointer):
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and (token == "0" or token[0] != "0"):
            value = value[int(token)]
        else:
            raise KeyError(token)
    return value


def at_or(document: Json, pointer: str, otherwise: Json = None) -> Json:
    """Return the value a JSON Pointer leads to, or `otherwise` if it leads nowhere."""
    try:
        return at(document, pointer)
    except (LookupError, ValueError):
        return otherwise


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


def kind_in_words(value: Json) -> str:
    """Describe the type of a JSON value."""
    if value is None:
        return "null"
    names: dict[type, str] = {
        str: "a string",
        int: "a number",
        float: "a number",
        bool: "a boolean",
        list: "a list",
        dict: "an object",
    }
    return names.get(value.__class__, f"an object of Python ({type(value).__name__})")
