"""Convert arguments of callers to plain JSON: values of subclasses become values of `dict`, `list`, `str` and so on.

A class derived from `dict`, `list`, `str`, `int` or `float` may read in another way than its base does, or raise.
Public functions copy such values when they are given, once, so that no other place has to think of them.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Coroutine
from functools import wraps
from types import CodeType
from typing import Final, ParamSpec, TypeVar, cast

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
_LEAVES = frozenset({str, int, float, bool, type(None)})
_ON_DEMAND = "documents"
"""A parameter whose value may make what it holds when it is asked for it: what it gives then is plain or made so there."""
_ARE_TEXTS = frozenset({str})
_CONTAINERS = frozenset({dict, list, tuple})
_marshalled = cast("Callable[[object], bytes]", marshal.dumps)
"""Whether a value is one of those that it takes is the question."""
_SHARED = (b"\xfb", b"\xdb", b"\xa8", b"\xa9")
"""How `marshal` begins a dict, a list and a tuple that something else holds as well: without these bytes no part is shared."""
WRITTEN_VALUES: Final = 5_000_000
"""Values of what a caller gives, with shared parts written out."""
TOO_MANY_VALUES = f"this holds the same parts so often that it has over {WRITTEN_VALUES:,} values when it is written"


def takes_plain_values(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Give a public function its arguments as `as_written` returns them."""
    return _taking(as_written, function)


def takes_shared_parts(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Give a public function its arguments as `as_plain` returns them: it looks at a part once, however often that is held."""
    return _taking(as_plain, function)


def _taking(read: Callable[[object], object], function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    work = cast("Callable[..., _Result]", function)
    code: CodeType = getattr(function, "__code__")  # noqa: B009  -- that of a function, which not all that is called has
    names = code.co_varnames[: code.co_argcount]
    kept = names.index(_ON_DEMAND) if _ON_DEMAND in names else -1

    @wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        if len(given) == 1 and not named and kept != 0:
            return work(read(given[0]))  # most calls are such
        plain = [value if index == kept else read(value) for index, value in enumerate(given)]
        return work(*plain, **{name: value if name == _ON_DEMAND else read(value) for name, value in named.items()})

    return call


def takes_plain_values_async(
    function: Callable[_Given, Coroutine[object, object, _Result]],
) -> Callable[_Given, Coroutine[object, object, _Result]]:
    """Do the same for an asynchronous function, which stays one."""
    work = cast("Callable[..., Coroutine[object, object, _Result]]", function)

    @wraps(function)
    async def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        return await work(*map(as_written, given), **{name: as_written(value) for name, value in named.items()})

    return call


def as_written(value: _Value) -> _Value:
    """Return a value as `as_plain` does; a `TypeError` if it shares parts so often that nothing could write the whole."""
    if type(value) in _LEAVES:
        return value
    told = _as_marshalled(value)
    if told and not any(told.find(mark, 1) > 0 for mark in _SHARED):
        return value
    plain = value if told else as_plain(value)
    if writes_over(plain, WRITTEN_VALUES):
        raise TypeError(TOO_MANY_VALUES)
    return plain


def as_plain(value: _Value) -> _Value:
    """Return a value in which all texts, numbers, lists and objects are of Python's own classes; itself if it is so already.

    A `TypeError` if one of another class cannot be read.  Parts that are shared, or hold themselves, stay so.
    """
    if type(value) in _LEAVES or _as_marshalled(value) or not _holds_derived(value):
        return value
    try:
        return cast("_Value", _Copy().of(value))
    except Exception as error:
        message = f"a value of the type {type(value).__name__} is given that cannot be read: {type(error).__name__}"
        raise TypeError(message) from error


def _as_marshalled(value: object) -> bytes:
    """Return an ordinary value as `marshal` writes it; nothing for one that is not of Python's own classes, or too deep."""
    try:
        return _marshalled(value)
    except Exception:  # noqa: BLE001  -- whatever it raises
        return b""


def writes_over(value: object, limit: int) -> bool:
    """Tell whether a value has over `limit` values when it is written, each shared part as often as it is held.

    What holds itself is left to whoever reads it.
    """
    sizes: dict[int, int] = {}
    opened: set[int] = set()
    stack: list[object] = [value]
    while stack:
        here = stack[-1]
        if id(here) in sizes:
            stack.pop()
            continue
        parts = [part for part in _parts(here) if type(part) in _CONTAINERS]
        waiting = [part for part in parts if id(part) not in sizes]
        if not waiting:
            sizes[id(here)] = size = len(_parts(here)) + 1 - len(parts) + sum(sizes[id(part)] for part in parts)
            if size > limit:
                return True
        elif id(here) in opened:
            return False  # a circle
        else:
            opened.add(id(here))
            stack += waiting
    return False


def _parts(value: object) -> list[object]:
    if type(value) is dict:
        return list(value.values())
    return list(value) if type(value) is list or type(value) is tuple else []


def _holds_derived(value: object) -> bool:
    known: dict[int, object] = {}
    waiting = [value]
    for here in waiting:  # it grows meanwhile
        place = id(here)
        if place in known:
            continue
        known[place] = here
        if type(here) is dict:
            if not _ARE_TEXTS.issuperset(map(type, here)) and any(map(_is_derived, here)):
                return True
            waiting += [part for part in here.values() if type(part) not in _LEAVES]
        elif type(here) is list or type(here) is tuple:
            waiting += [part for part in here if type(part) not in _LEAVES]
        elif _is_derived(here):
            return True
    return False


def _is_derived(value: object) -> bool:
    """Tell whether a value passes for one of JSON without being of one of its classes."""
    try:
        return type(value) not in _LEAVES and isinstance(value, dict | list | str | int | float)
    except Exception:  # noqa: BLE001  -- a proxy of nothing: whoever needs the value says so
        return False


class _Copy:
    """One copy of a value; its containers are filled one after the other, so that depth costs no stack."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[object, object]] = {}
        self._objects: list[tuple[dict[object, object], dict[object, object]]] = []
        self._lists: list[tuple[list[object], list[object]]] = []

    def of(self, value: object) -> object:
        whole = self._part(value)
        while self._objects or self._lists:
            if self._objects:
                members, object_ = self._objects.pop()
                object_.update([(self._part(key), self._part(item)) for key, item in members.items()])
            else:
                items, list_ = self._lists.pop()
                list_ += map(self._part, items)
        return whole

    def _part(self, value: object) -> object:
        """Return a copy of a part; what it holds is still to be copied."""
        if type(value) in _LEAVES:
            return value
        if type(value) is tuple:
            return tuple(map(self._part, value))
        if id(value) in self._made:
            return self._made[id(value)][1]
        if isinstance(value, dict):
            object_: dict[object, object] = {}
            self._made[id(value)] = value, object_
            self._objects.append((value, object_))
            return object_
        if isinstance(value, list):
            list_: list[object] = []
            self._made[id(value)] = value, list_
            self._lists.append((value, list_))
            return list_
        return _leaf(value) if _is_derived(value) else value


def _leaf(value: object) -> object:
    """Return a text or a number as its base reads it, whatever its own methods do."""
    if isinstance(value, str):
        return str.__str__(value)
    return int.__int__(value) if isinstance(value, int) else float.__float__(cast("float", value))
