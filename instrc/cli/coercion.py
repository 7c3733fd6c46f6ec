"""Turn words of a command line into values without pydantic.

Typer (0.29) loads it for that, which takes as long as a compilation.

Where a word is not what is expected, typer's own way is taken, so that its messages are the only ones.
Versions of typer that do not work so are left alone.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

HELP = ["-h", "--help"]
"""How the help of a command is asked for."""


def spare_pydantic(command: Any) -> None:
    """Give the parameters of a command, and of the commands below it, a quick way to their values.

    The class of a command is private to typer, as that of a context is.
    """
    context = typer.Context(command, help_option_names=HELP)  # the first context that is asked decides what the help is called
    for parameter in command.get_params(context):  # with `--help`, which is no parameter of ours
        if type(parameter) is TyperOption:
            parameter.__class__ = _QuickOption  # typer has no word for the class of a parameter
        elif type(parameter) is TyperArgument:
            parameter.__class__ = _QuickArgument
    for below in command.commands.values() if isinstance(command, TyperGroup) else ():
        spare_pydantic(below)


class _QuickOption(TyperOption):
    def process_value(self, ctx: Any, value: Any) -> Any:
        """Return the value, or what typer makes of it."""
        try:
            made = _quickly(self, value)
        except ValueError:
            return super().process_value(ctx, value)
        return made if self.callback is None else self.callback(ctx, self, made)


class _QuickArgument(TyperArgument):
    def process_value(self, ctx: Any, value: Any) -> Any:
        """Return the value, or what typer makes of it."""
        try:
            made = _quickly(self, value)
        except ValueError:
            return super().process_value(ctx, value)
        return made if self.callback is None else self.callback(ctx, self, made)


def _quickly(parameter: TyperOption | TyperArgument, value: Any) -> Any:
    """Return the value of a parameter; `ValueError` if that is not simple, or if it is missing."""
    descriptor = getattr(parameter, "type_descriptor", None)  # an older typer has none: then its own, slower way is taken
    kind = None if descriptor is None else _plain(descriptor.annotation)
    if kind is None or (parameter.required and parameter.value_is_missing(value)):
        raise ValueError
    several = parameter.multiple or parameter.nargs == -1
    if value is None:
        return () if several else None
    return [_coerce_item(kind, item) for item in value] if several else _coerce_item(kind, value)


def _coerce_item(kind: type, item: Any) -> Any:
    if isinstance(item, kind):
        return item
    if not isinstance(item, str) or kind in {bool, int}:  # typer knows the bounds of numbers
        raise ValueError
    return kind(item)


def _plain(annotation: Any) -> type | None:
    """Return the type of a parameter, of its items, or of what it is if it is given; `None` if it is not that simple."""
    if get_origin(annotation) in {Union, UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        return _plain(kinds[0]) if len(kinds) == 1 else None
    if get_origin(annotation) is list:
        return _plain(get_args(annotation)[0])
    simple = isinstance(annotation, type) and (annotation in {bool, str, int, Path} or issubclass(annotation, Enum))
    return annotation if simple else None
