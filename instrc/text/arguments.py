"""Check the arguments that callers pass to public functions, and convert them to plain JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import wraps
from types import CodeType
from typing import Final, NoReturn, ParamSpec, TypeAlias, TypeVar, cast

from instrc.text.jsonvalue import Json
from instrc.text.source import Source
from instrc.text.visible import shortened

T = TypeVar("T")
K = TypeVar("K")
EXCERPT = 60
"""Maximum characters of a value shown in a message."""


def text(name: str, value: object) -> str:
    """Return a string, or raise `TypeError`."""
    return value if isinstance(value, str) else _refuse(name, "a text", value)


def _refuse(name: str, wanted: str, value: object) -> NoReturn:
    raise TypeError(f"`{name}` takes {wanted}, not {excerpt(value)}")


def text_or_none(name: str, value: object) -> str | None:
    """Return a string or `None`."""
    return value if value is None or isinstance(value, str) else _refuse(name, "a text", value)


def path(name: str, value: object) -> str:
    """Return a path as a string."""
    if isinstance(value, str):
        return value
    result = os.fspath(value) if isinstance(value, os.PathLike) else None
    return result if isinstance(result, str) else _refuse(name, "a path", value)


def paths(name: str, value: object) -> list[str]:
    """Return paths as strings; a single string is refused, since its characters would be taken for paths."""
    return [path(name, item) for item in _several(name, "a list of paths", value)]


def _several(name: str, wanted: str, value: object) -> Iterable[object]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        _refuse(name, wanted, value)
    return value


def texts(name: str, value: object) -> list[str]:
    """Return a list of strings."""
    return [text(name, item) for item in _several(name, "a list of texts", value)]


def several(name: str, value: Iterable[T]) -> list[T]:
    """Return an iterable of any values as a list."""
    _several(name, "a list", value)
    return list(value)


def mapping(name: str, value: Mapping[K, T]) -> Mapping[K, T]:
    """Return a mapping."""
    return value if isinstance(value, Mapping) else _refuse(name, "a mapping", value)


def whole_number(name: str, value: object) -> int:
    """Return a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else _refuse(name, "a whole number", value)


def whole_or_none(name: str, value: object) -> int | None:
    """Return a whole number or `None`."""
    return None if value is None else whole_number(name, value)


def natural_or_none(name: str, value: object) -> int | None:
    """Return a whole number from 0, or `None`."""
    return None if value is None else natural_number(name, value)


def natural_number(name: str, value: object) -> int:
    """Return a whole number from 0."""
    return result if (result := whole_number(name, value)) >= 0 else _refuse(name, "a whole number from 0", value)


def positive_number(name: str, value: object) -> int:
    """Return a whole number from 1."""
    return result if (result := whole_number(name, value)) >= 1 else _refuse(name, "a whole number from 1", value)


def truth(name: str, value: object) -> bool:
    """Return a boolean; a string is refused, since `"no"` would be true."""
    return value if isinstance(value, bool) else _refuse(name, "`True` or `False`", value)


def is_on(variable: str) -> bool:
    """Return whether an environment variable is set to anything but `0`, `no`, `false`, `off` or the empty string."""
    return os.environ.get(variable, "").strip().lower() not in {"", "0", "no", "false", "off"}


def known_word(name: str, value: object, known: tuple[T, ...]) -> T:
    """Return a string that is one of the known ones."""
    if not isinstance(value, str) or value not in known:
        _refuse(name, "one of " + ", ".join(f"`{word}`" for word in known), value)
    return known[known.index(value)]


def instance(name: str, value: object, kind: type[T] | tuple[type[T], ...], what: str) -> T:
    """Return an instance of one of this package's types; `what` describes the expected value in the message."""
    return value if isinstance(value, kind) else _refuse(name, what, value)


def excerpt(value: object) -> str:
    """Return the beginning of a value as text, for messages."""
    try:
        import json  # only needed to reject something

        said = json.dumps(value[: EXCERPT + 1], ensure_ascii=False) if isinstance(value, str) else _beginning(value)
        return shortened(said, EXCERPT)
    except Exception:  # noqa: BLE001  -- a value whose `repr` raises, or that nests too deeply
        return f"a value of the type {type(value).__name__}"


def _beginning(value: object) -> str:
    """Return the beginning of the `repr` of a value, which may be endless where parts are shared or cyclic."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > EXCERPT:
            break
    return text


def _pieces(value: object) -> Iterator[str]:
    if type(value) is dict and value:
        mark = "{"
        for key, item in value.items():
            yield f"{mark}{key!r}: "
            yield from _pieces(item)
            mark = ", "
        yield "}"
    elif (type(value) is list and value) or (type(value) is tuple and len(value) > 1):
        first, last = "[]" if isinstance(value, list) else "()"
        for item in value:
            yield first
            yield from _pieces(item)
            first = ", "
        yield last
    else:
        yield repr(value)


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
_LEAVES = frozenset({str, int, float, bool, type(None)})
_ON_DEMAND = "documents"
"""Name of a parameter whose members may be produced on access; they are converted at that point."""
_ARE_TEXTS = frozenset({str})
_CONTAINERS = frozenset({dict, list, tuple})
WRITTEN_VALUES: Final = 5_000_000
"""Maximum values in an argument, counting shared parts once per occurrence."""
TOO_MANY_VALUES = f"this holds the same parts so often that it has over {WRITTEN_VALUES:,} values when it is written"


def takes_plain_values(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Convert the arguments of a public function by `as_written`."""
    return _taking(as_written, function)


def _taking(read: Callable[[object], object], function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    work = cast("Callable[..., _Result]", function)
    code: CodeType = getattr(function, "__code__")  # noqa: B009  -- functions have one, other callables may not
    names = code.co_varnames[: code.co_argcount]
    kept = names.index(_ON_DEMAND) if _ON_DEMAND in names else -1

    @wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        if len(given) == 1 and not named and kept != 0:
            return work(read(given[0]))  # the usual case
        plain = [value if index == kept else read(value) for index, value in enumerate(given)]
        return work(*plain, **{name: value if name == _ON_DEMAND else read(value) for name, value in named.items()})

    return call


def takes_shared_parts(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Convert the arguments of a public function by `as_plain`: shared parts stay shared."""
    return _taking(as_plain, function)


def takes_plain_values_async(
    function: Callable[_Given, Coroutine[object, object, _Result]],
) -> Callable[_Given, Coroutine[object, object, _Result]]:
    """Convert the arguments of a coroutine function by `as_written`."""
    work = cast("Callable[..., Coroutine[object, object, _Result]]", function)

    @wraps(function)
    async def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        return await work(*map(as_written, given), **{name: as_written(value) for name, value in named.items()})

    return call


def as_written(value: _Value) -> _Value:
    """Return a value as plain JSON; raise `TypeError` if its shared parts are too many to be written out."""
    if type(value) in _LEAVES:
        return value
    plain = as_plain(value)
    if writes_over(plain, WRITTEN_VALUES):
        raise TypeError(TOO_MANY_VALUES)
    return plain


def as_plain(value: _Value) -> _Value:
    """Return a value whose texts, numbers, lists and objects are instances of the built-in classes; itself if they are already.

    `TypeError` if a part cannot be read.  Shared and cyclic parts stay so.
    """
    if type(value) in _LEAVES or not _holds_derived(value):
        return value
    try:
        return cast("_Value", _copied(value, {}))
    except Exception as error:
        message = f"a value of the type {type(value).__name__} is given that cannot be read: {type(error).__name__}"
        raise TypeError(message) from error


def _holds_derived(value: object) -> bool:
    known: dict[int, object] = {}
    waiting = [value]
    for node in waiting:  # grows during iteration
        place = id(node)
        if place in known:
            continue
        known[place] = node
        if type(node) is dict:
            if not _ARE_TEXTS.issuperset(map(type, node)) and any(map(_is_derived, node)):
                return True
            waiting += [part for part in node.values() if type(part) not in _LEAVES]
        elif type(node) is list or type(node) is tuple:
            waiting += [part for part in node if type(part) not in _LEAVES]
        elif _is_derived(node):
            return True
    return False


def _is_derived(value: object) -> bool:
    """Return whether a value is an instance of a subclass of a JSON class."""
    try:
        return type(value) not in _LEAVES and isinstance(value, dict | list | str | int | float)
    except Exception:  # noqa: BLE001  -- a proxy without a target: reported when the value is used
        return False


def _copied(value: object, known: dict[int, tuple[object, object]]) -> object:
    """Return a copy in built-in classes; `known` has the copies of lists and objects by `id`, with the originals kept alive."""
    if type(value) is tuple:
        return tuple(_copied(item, known) for item in value)
    if not isinstance(value, dict | list):
        return _leaf(value) if _is_derived(value) else value
    if id(value) not in known:
        copy: dict[object, object] | list[object] = {} if isinstance(value, dict) else []
        known[id(value)] = value, copy
        if isinstance(value, dict) and isinstance(copy, dict):
            copy.update([(_copied(key, known), _copied(item, known)) for key, item in value.items()])
        elif isinstance(copy, list):
            copy += [_copied(item, known) for item in value]
    return known[id(value)][1]


def _leaf(value: object) -> object:
    """Return a text or number converted by its built-in base class, whatever its own methods do."""
    if isinstance(value, str):
        return str.__str__(value)
    return int.__int__(value) if isinstance(value, int) else float.__float__(cast("float", value))


def writes_over(value: object, limit: int, *, endless: bool = False) -> bool:
    """Return whether a value has more than `limit` parts when written out, shared parts counted each time.

    Each part is visited once; `endless` is the result for a cyclic value.
    """
    sizes: dict[int, int] = {}
    opened: set[int] = set()
    stack: list[object] = [value]
    while stack:
        node = stack[-1]
        if id(node) in sizes:
            stack.pop()
            continue
        parts = [part for part in _parts(node) if type(part) in _CONTAINERS]
        waiting = [part for part in parts if id(part) not in sizes]
        if not waiting:
            sizes[id(node)] = size = len(_parts(node)) + 1 - len(parts) + sum(sizes[id(part)] for part in parts)
            if size > limit:
                return True
        elif id(node) in opened:
            return endless
        else:
            opened.add(id(node))
            stack += waiting
    return False


def _parts(value: object) -> list[object]:
    if type(value) is dict:
        return list(value.values())
    return list(value) if type(value) is list or type(value) is tuple else []


def attribute(value: object, name: str) -> object:
    """Return an attribute, or `None` if it is missing or foreign code raises."""
    try:
        result: object = getattr(value, name, None)
    except Exception:  # noqa: BLE001  -- foreign code may raise on reading the attribute
        return None
    return result


def model_as_json(value: object) -> Json:
    """Return an instance of a pydantic model as JSON; any other value unchanged."""
    dump = attribute(value, "model_dump")
    if callable(dump) and not isinstance(value, type):
        try:
            dumped: Json = dump(mode="json", by_alias=True, exclude_none=True)
        except Exception as error:
            message = f"{excerpt(value)} cannot be read: its `model_dump` raises {type(error).__name__}: {error}"
            raise TypeError(message) from error
        return dumped
    return cast("Json", value)  # callers that need JSON validate it


ProgramInput: TypeAlias = str | os.PathLike[str] | Source
"""Path of a program (`.aug`) or vibe (`.json`), the text of a program, or a `Source`."""
TEXT_NAME: Final = "program.aug"
"""File name given to a program that is passed as text."""
_PATH_ENDINGS: Final = (".aug", ".json")


def source_or_path(program: ProgramInput) -> str | Source:
    """Return a program as a path or a `Source`; raise `TypeError` for any other value."""
    if isinstance(program, Source):
        return program
    if isinstance(program, str) and ("\n" in program or not program.endswith(_PATH_ENDINGS)):
        return Source(TEXT_NAME, program)
    return path("program", program)
