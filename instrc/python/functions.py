"""Read a function: its docstring, its annotations, and whether a model can give it its arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from functools import partial

from instrc.python.objects import attribute


class UndescribedError(TypeError):
    """A type or a function that no schema can describe; the text says why."""


def function_of(value: object) -> Callable[..., object] | None:
    """Return a function or method, one with some arguments given (`functools.partial`), or the one that a wrapper is around."""
    if isinstance(value, type) or not callable(value):
        return None
    if not inspect.isfunction(value) and inspect.isroutine(inner := attribute(value, "__wrapped__")):
        return inner  # of `functools.cache` and decorators that are classes
    return value if isinstance(value, partial) or inspect.isroutine(value) else None


def docstring_of(function: object) -> str | None:
    """Return the docstring of a function; the one that `__call__` inherits is about no function."""
    inherited = getattr(function, "__name__", "") == "__call__" and not getattr(function, "__doc__", None)
    return None if inherited else inspect.getdoc(function)


def with_read_annotations(routine: Callable[..., object]) -> Callable[..., object]:
    """Return a method or a partial as a function whose annotations are no texts: pydantic finds no names of its module."""
    inner = routine.func if isinstance(routine, partial) else routine
    if inspect.isfunction(routine) or inspect.isbuiltin(inner):
        return routine
    try:
        signature, hints = inspect.signature(routine), typing.get_type_hints(inner, include_extras=True)
    except Exception:  # noqa: BLE001  -- a name in an annotation that means nothing: pydantic says so
        return routine

    def call() -> None:
        """Stand for the routine."""

    parameters = [each.replace(annotation=hints.get(name, each.annotation)) for name, each in signature.parameters.items()]
    vars(call).update(__signature__=signature.replace(parameters=parameters))
    call.__annotations__ = hints
    call.__name__, call.__module__ = getattr(inner, "__name__", "call"), getattr(inner, "__module__", __name__)
    return call


def refuse_unnamed(function: Callable[..., object]) -> None:
    """Raise an `UndescribedError` for a function with parameters that no caller can name: a model names all arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    name = getattr(function, "__qualname__", None) or str(function)
    for place, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            message = f"`{name}` takes `*{parameter.name}`, but a model gives each argument by its name: take a list instead"
            raise UndescribedError(message)
        if parameter.kind is parameter.POSITIONAL_ONLY and not inspect.isbuiltin(function):
            message = f"`{name}` takes `{parameter.name}` by its place only, but a model gives each argument by its name"
            raise UndescribedError(message)
        unbound = place == 0 and parameter.name in {"self", "cls"} and parameter.annotation is parameter.empty
        if unbound and inspect.isfunction(function):
            message = f"`{name}` is a method without its object: give that of an instance, as in `object.{function.__name__}`"
            raise UndescribedError(message)
