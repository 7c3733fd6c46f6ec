"""The boundary to foreign code: values cross it as copies, and errors of that code become errors of its step.

Foreign code includes activity handlers, checks, models, callbacks for people, and watchers.
It can neither change what a run has recorded nor end the process that carries out the run.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final, TypeVar, cast

import orjson

from instrc.schema.validation import json_fault
from instrc.text.arguments import WRITTEN_VALUES, writes_over
from instrc.text.jsontext import dumps, exact_copy, loads
from instrc.text.jsonvalue import Json, is_deeper
from instrc.text.limits import INTEGER_DIGITS
from instrc.tools.python_values import json_of

_T = TypeVar("_T")
LEVELS: Final = 254
"""Maximum nesting of a value: the limit of `orjson`, and close to that of every store."""
_DEEP = f"it is nested deeper than {LEVELS} levels, or contains itself"
_TOO_LONG: Final = 10**INTEGER_DIGITS  # computing it anew for each integer of a value takes most of the time
_LONG = f"an integer in it has over {INTEGER_DIGITS:,} digits"
_ENDLESS = f"it contains itself, or has over {WRITTEN_VALUES:,} values when it is written"


class NotJsonError(ValueError):
    """A value is not JSON: `pointer` is the place in it, `reason` a short clause."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"at `{pointer or '/'}`: {reason}")
        self.pointer = pointer
        self.reason = reason


def copy_of(value: _T) -> _T:
    """Return a deep copy of a JSON value for foreign code."""
    try:
        return cast("_T", orjson.loads(orjson.dumps(value)))
    except (TypeError, ValueError):  # it holds integers over 64 bits, or is deep
        return cast("_T", loads(dumps(cast("Json", value), indent=False)))


def received(value: object) -> Json:
    """Return a copy of a value from foreign code, read back from canonical JSON; raise `NotJsonError` if it is not JSON.

    Instances of typed classes (models, dataclasses, dates) become JSON, tuples become lists.
    Nesting is limited to `LEVELS`.
    JSON has no `NaN` or infinity, no bytes or sets, only texts as keys, and no lone surrogates.
    Integers have at most `INTEGER_DIGITS` digits, as in programs: no store writes longer ones.
    """
    if writes_over(value, WRITTEN_VALUES, endless=True):
        raise NotJsonError(_ENDLESS)
    try:
        return exact_copy(value)
    except (TypeError, ValueError):  # integers over 64 bits, instances, tuples: whatever is readable is read slowly
        return _received_slowly(value)


def _received_slowly(value: object) -> Json:
    try:
        written = cast("Json", json_of(value))
        fault = ("", _DEEP) if is_deeper(written, LEVELS) else json_fault(written)
        copy = None if fault is not None else loads(dumps(written, indent=False))
    except Exception as error:
        raise NotJsonError(f"it cannot be read: {said_by(error)}") from error
    if fault is not None:
        place, why = fault
        raise NotJsonError(why, place)
    if _has_long_integer(copy):
        raise NotJsonError(_LONG)
    return copy


def _has_long_integer(value: Json) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_long_integer, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and abs(value) >= _TOO_LONG


class ForeignError(Exception):
    """Foreign code raised an error that would end more than itself, such as `SystemExit`; it is stored in `error`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(said_by(error))
        self.error = error


class guarded:  # noqa: N801  -- named after what it does
    """Context that converts errors of foreign code that `except Exception` misses, or that futures refuse, to `ForeignError`.

    Two errors pass through: the cancellation of the task, and an interrupt by the user.
    """

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None) -> None:
        if error is None or (isinstance(error, Exception) and not isinstance(error, StopIteration)):
            return
        if _is_cancellation(error):
            return
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            return
        raise ForeignError(error) from error


def _is_cancellation(error: BaseException) -> bool:
    """Return whether an error is the cancellation of the current task; code in a thread is not cancelled."""
    import asyncio  # only where something was raised: commands that run nothing do without it

    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0


def said_by(error: BaseException) -> str:
    """Return the class and text of an exception, even if its `__str__` fails."""
    return f"{type(error).__name__}: {words_of(error)}"


def words_of(error: BaseException) -> str:
    """Return the text of an exception in a form that JSON can hold."""
    try:
        return writable(str(error))
    except BaseException:  # noqa: BLE001  -- its own `__str__` raises
        return "it does not say what is wrong"


def writable(text: str) -> str:
    """Return a text that JSON can hold, with lone surrogates replaced by `?`."""
    return text.encode("utf-8", "replace").decode()
