"""Arguments of public functions: a value of a type that a function cannot take is a `TypeError` with words, before any work.

Each function takes the name of a parameter and its value, and returns the value; `is_on` reads a variable of the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NoReturn, TypeVar

T = TypeVar("T")
K = TypeVar("K")
EXCERPT = 60
"""The most characters of a value that a sentence shows."""


def text(name: str, value: object) -> str:
    """Return a text."""
    return value if isinstance(value, str) else _refuse(name, "a text", value)


def text_or_none(name: str, value: object) -> str | None:
    """Return a text or nothing."""
    return value if value is None or isinstance(value, str) else _refuse(name, "a text", value)


def path(name: str, value: object) -> str:
    """Return a path as a text."""
    if isinstance(value, str):
        return value
    found = os.fspath(value) if isinstance(value, os.PathLike) else None
    return found if isinstance(found, str) else _refuse(name, "a path", value)


def paths(name: str, value: object) -> list[str]:
    """Return several paths as texts; one path alone is refused, since its letters would be taken for paths."""
    return [path(name, each) for each in _several(name, "a list of paths", value)]


def texts(name: str, value: object) -> list[str]:
    """Return several texts."""
    return [text(name, each) for each in _several(name, "a list of texts", value)]


def several(name: str, value: Iterable[T]) -> list[T]:
    """Return several values of any kind."""
    _several(name, "a list", value)
    return list(value)


def mapping(name: str, value: Mapping[K, T]) -> Mapping[K, T]:
    """Return a mapping."""
    return value if isinstance(value, Mapping) else _refuse(name, "a mapping", value)


def whole_number(name: str, value: object) -> int:
    """Return a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else _refuse(name, "a whole number", value)


def whole_or_none(name: str, value: object) -> int | None:
    """Return a whole number or nothing."""
    return None if value is None else whole_number(name, value)


def natural_number(name: str, value: object) -> int:
    """Return a whole number from zero on."""
    return found if (found := whole_number(name, value)) >= 0 else _refuse(name, "a whole number from 0", value)


def truth(name: str, value: object) -> bool:
    """Return what is true or false; a text is neither, since `"no"` would be true."""
    return value if isinstance(value, bool) else _refuse(name, "`True` or `False`", value)


def is_on(variable: str) -> bool:
    """Say whether a variable of the environment turns something on: `0`, `no`, `false`, `off` and nothing do not."""
    return os.environ.get(variable, "").strip().lower() not in {"", "0", "no", "false", "off"}


def known_word(name: str, value: object, known: tuple[T, ...]) -> T:
    """Return a word that is known."""
    if not isinstance(value, str) or value not in known:
        _refuse(name, "one of " + ", ".join(f"`{word}`" for word in known), value)
    return known[known.index(value)]


def instance(name: str, value: object, kind: type[T] | tuple[type[T], ...], what: str) -> T:
    """Return a value of one of our own types; `what` says in words what is needed."""
    return value if isinstance(value, kind) else _refuse(name, what, value)


def excerpt(value: object) -> str:
    """Return the beginning of a value for a sentence, whatever kind of value it is."""
    try:
        import json  # only where something is refused

        said = json.dumps(value[: EXCERPT + 1], ensure_ascii=False) if isinstance(value, str) else _beginning(value)
        return said if len(said) <= EXCERPT else f"{said[: EXCERPT - 1]}…"
    except Exception:  # noqa: BLE001  -- a value that has no words, or is too deep for them
        return f"a value of the type {type(value).__name__}"


def _beginning(value: object) -> str:
    """Return the first words of Python for a value: of one with shared parts, or that holds itself, they may have no end."""
    said = ""
    for piece in _pieces(value):
        said += piece
        if len(said) > EXCERPT:
            break
    return said


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


def _several(name: str, wanted: str, value: object) -> Iterable[object]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        _refuse(name, wanted, value)
    return value


def _refuse(name: str, wanted: str, value: object) -> NoReturn:
    message = f"`{name}` takes {wanted}, not {excerpt(value)}"
    raise TypeError(message)
