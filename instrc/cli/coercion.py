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

HELP = ["-h", "--help"]
"""How the help of a command is asked for."""


def spare_pydantic(command: Any) -> None:
    """Give the parameters of a command, and of the commands below it, a quick way to their values."""
    context = typer.Context(command, help_option_names=HELP)  # the first context that is asked decides what the help is called
    for parameter in command.get_params(context):  # with `--help`, which is no parameter of ours
        if getattr(parameter, "_runtime_param", parameter) is None:  # typer would build its own when it is first needed
            kind = _plain(parameter.type_descriptor.annotation)
            if kind is not None:
                parameter._runtime_param = _Quick(kind)  # noqa: SLF001  -- there is no public way
    for below in getattr(command, "commands", {}).values():
        spare_pydantic(below)


class _Quick:
    """Stands for a parameter's coercion as typer calls it."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value, or what typer makes of it."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            return [self._one(item) for item in value] if several else self._one(value)
        except ValueError:
            return self._slowly(value, param, ctx)

    def _one(self, item: Any) -> Any:
        if isinstance(item, self.kind):
            return item
        if not isinstance(item, str) or self.kind in {bool, int}:  # typer knows the bounds of numbers
            raise ValueError
        return self.kind(item)

    @staticmethod
    def _slowly(value: Any, param: Any, ctx: Any) -> Any:
        param._runtime_param = None  # noqa: SLF001  -- as above: typer builds its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _plain(annotation: Any) -> type | None:
    """Return the type of a parameter, of its items, or of what it is if it is given; `None` if it is not that simple."""
    if get_origin(annotation) in {Union, UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        return _plain(kinds[0]) if len(kinds) == 1 else None
    if get_origin(annotation) is list:
        return _plain(get_args(annotation)[0])
    simple = isinstance(annotation, type) and (annotation in {bool, str, int, Path} or issubclass(annotation, Enum))
    return annotation if simple else None
