"""The functions of this part as users call them: what is no schema is refused, as the commands of the same names refuse it.

Inside the compiler the functions themselves are called, for schemas that have been checked before or were made here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from instrc import problems
from instrc.flattening import flatten as flattening
from instrc.flattening import split as splitting
from instrc.flattening import strip as stripping
from instrc.flattening import subsumes as comparing
from instrc.jsonvalue import Json, require_tree
from instrc.plain_values import as_plain
from instrc.problems.problem import CompileError
from instrc.schema.doubts import is_sound
from instrc.schema.located import kind_in_words
from instrc.schema.wellformed import problems_of

_Function = TypeVar("_Function", bound=Callable[..., object])


def _refusing(*, optional: bool = False, **places: int) -> Callable[[_Function], _Function]:
    """Return what has a function refuse schemas that are none: its parameters for schemas, each with its place."""

    def with_checks(function: _Function) -> _Function:
        @wraps(function)
        def call(*given: object, **named: object) -> object:
            values = list(given)
            for name, place in places.items():
                if place < len(values):
                    values[place] = _checked(values[place], optional=optional)
                elif name in named:
                    named[name] = _checked(named[name], optional=optional)
            return function(*values, **named)

        call.__module__ = __name__  # this one is found here
        return cast("_Function", call)

    return with_checks


def _checked(value: object, *, optional: bool) -> Json:
    """Return a schema as plain JSON; `TypeError` for one that holds itself and is wrong somewhere."""
    plain = cast("Json", as_plain(value))
    if plain is None and optional:
        return None
    if not isinstance(plain, dict | bool):
        raise CompileError([problems.schemas.InvalidSchema(pointer="", reason=_reason(plain))])
    if not is_sound(plain):
        require_tree(plain)
        if found := problems_of(plain):
            raise CompileError(found)
    return plain


def _reason(value: object) -> str:
    """Say why a value is no schema; a class or a function of Python has one, and what gives it."""
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        return f'`{name}` is not a schema but has one: give `instrc.lower({name}, target="jsonschema").schema`'
    return f"{kind_in_words(cast('Json', value))} is no schema"


flatten = _refusing(schema=0)(flattening.flatten)
split = _refusing(schema=1, optional=True)(splitting.split)
strip = _refusing(schema=0)(stripping.strip)
subsumes = _refusing(a=0, b=1)(comparing.subsumes)
