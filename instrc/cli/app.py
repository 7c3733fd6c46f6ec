"""Build the program of typer with its commands, and run a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from enum import Enum
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Annotated, Any, Final, TypeAlias, Union, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from instrc.cli.terminal import claimed_results, write, write_error
from instrc.version import __version__

HELP = ["-h", "--help"]
"""How the help of a command is asked for."""
COMMANDS = {
    "init": "projects",
    "new": "projects",
    "compile": "compile",
    "check": "compile",
    "lock": "projects",
    "diff": "diff",
    "preview": "compile",
    "test": "test",
    "eval": "eval",
    "doctor": "projects",
    "graph": "graph",
    "types": "schemas",
    "flatten": "schemas",
    "split": "schemas",
    "targets": "compile",
    "lift": "schemas",
    "verify": "compile",
    "import": "schemas",
    "plan": "plan",
    "fmt": "format",
    "lsp": "servers",
    "run": "run",
    "chat": "run",
    "runs": "runs",
    "show": "runs",
    "answer": "run",
    "trace": "runs",
    "cancel": "runs",
    "resume": "run",
    "retry": "mend",
    "fork": "mend",
    "delete": "mend",
    "mcp": "servers",
    "serve": "serve",
    "studio": "serve",
    "worker": "run",
    "schedule": "schedule",
    "explain": "format",
}
"""A command's name and the module of this folder that holds its function `NAME_command`, or its group, `NAME_group`."""
_FUNCTIONS = {"test": "cases"}
"""Commands whose function has another name: pytest takes `test_…` for its own."""


def _app(arguments: list[str]) -> typer.Typer:
    """Build the program; only the command that will run is loaded, all of them for the help page and completion."""
    app = typer.Typer(
        help="Compile compositions of LLM instructions into exact, ordered tool schemas and processes.",
        rich_markup_mode=None,  # plain help: rich takes longer to load than a small program to compile
        pretty_exceptions_enable=False,  # `instrc.cli.main` is the last net
        no_args_is_help=True,
    )
    app.callback(context_settings={"help_option_names": HELP})(_options)
    chosen = [name for name in arguments[:1] if name in COMMANDS and "_INSTRC_COMPLETE" not in os.environ]
    for name in chosen or COMMANDS:
        module = import_module(f"instrc.cli.{COMMANDS[name]}")
        if group := getattr(module, f"{name}_group", None):
            app.add_typer(group, name=name)
        else:
            app.command(name)(getattr(module, f"{_FUNCTIONS.get(name, name)}_command"))
    return app


def _options(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


SHOWN_WORD: Final = 60
"""Letters of a word of the command line that a refusal shows."""
_Private: TypeAlias = Any  # the classes of commands, contexts and parsers are private to typer


def spare_pydantic(command: _Private) -> None:
    """Give the parameters of a command, and of the commands below it, a quick way to their values."""
    context = typer.Context(command, help_option_names=HELP)  # the first context that is asked decides what the help is called
    for parameter in command.get_params(context):  # with `--help`, which is no parameter of ours
        if type(parameter) is TyperOption:
            parameter.__class__ = _QuickOption  # typer has no word for the class of a parameter
        elif type(parameter) is TyperArgument:
            parameter.__class__ = _QuickArgument
    for below in command.commands.values() if isinstance(command, TyperGroup) else ():
        spare_pydantic(below)


class _QuickOption(TyperOption):
    def add_to_parser(self, parser: _Private, ctx: _Private) -> None:
        """Have every value of the option noted, not the last one only."""
        if self.is_flag or self.multiple or self.nargs != 1:
            super().add_to_parser(parser, ctx)
            return
        self.multiple = True
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.multiple = False

    def handle_parse_result(self, ctx: _Private, opts: Mapping[str, object], args: list[str]) -> tuple[object, list[str]]:
        """Refuse a second value of an option that has one: it would replace the first in silence."""
        values = opts.get(self.name)
        if isinstance(values, list) and not (self.is_flag or self.multiple or self.nargs != 1):
            if len(values) > 1 and not ctx.resilient_parsing:
                message = f"{self.opts[0]} is given {_times(len(values))}, and takes one value: the others would be lost"
                raise typer.BadParameter(message, ctx=ctx)
            opts = {**opts, self.name: values[-1]}
        return super().handle_parse_result(ctx, opts, args)

    def process_value(self, ctx: _Private, value: object) -> object:
        """Return the value, or what typer makes of it."""
        return _process(self, ctx, value, super().process_value)


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _process(
    parameter: TyperOption | TyperArgument, ctx: _Private, value: object, slowly: Callable[[_Private, object], object]
) -> object:
    try:
        made = _quickly(parameter, value)
    except ValueError:
        return slowly(ctx, value)
    return made if parameter.callback is None else parameter.callback(ctx, parameter, made)


def _quickly(parameter: TyperOption | TyperArgument, value: object) -> object:
    """Return the value of a parameter; `ValueError` if that is not simple, or if it is missing."""
    descriptor = getattr(parameter, "type_descriptor", None)  # an older typer has none: then its own, slower way is taken
    kind = None if descriptor is None else _plain(descriptor.annotation)
    if kind is None or (parameter.required and parameter.value_is_missing(value)):
        raise ValueError
    several = parameter.multiple or parameter.nargs == -1
    if value is None:
        return () if several else None
    if not several:
        return _coerce_item(parameter, kind, value)
    if not isinstance(value, list | tuple):
        raise ValueError  # noqa: TRY004  -- typer's own way is taken
    return [_coerce_item(parameter, kind, item) for item in value]


def _plain(annotation: object) -> type | None:
    """Return the type of a parameter, of its items, or of what it is if it is given; `None` if it is not that simple."""
    if get_origin(annotation) in {Union, UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        return _plain(kinds[0]) if len(kinds) == 1 else None
    if get_origin(annotation) is list:
        return _plain(get_args(annotation)[0])
    if not isinstance(annotation, type):
        return None
    return annotation if annotation in {bool, str, int, Path} or issubclass(annotation, Enum) else None


def _coerce_item(parameter: TyperOption | TyperArgument, kind: type, item: object) -> object:
    """Return one value; a word that is none of the choices, and a number out of bounds, are refused in our own words."""
    if isinstance(item, kind):
        return item
    if not isinstance(item, str) or kind is bool:
        raise ValueError
    make: Callable[[str], object] = kind
    if issubclass(kind, Enum):
        return _choice(kind, item)
    return _number(item, getattr(parameter, "min", None), getattr(parameter, "max", None)) if kind is int else make(item)


def _choice(kind: type[Enum], word: str) -> Enum:
    choices = tuple(str(each.value) for each in kind)
    if word in choices:
        return kind(word)
    from instrc.problems.suggest import did_you_mean, nearest  # only where something is wrong

    close = did_you_mean(nearest(word, choices))
    shown = ", ".join(f"`{choice}`" for choice in choices)
    message = f"`{word[:SHOWN_WORD]}` is none of {shown}" + (f": {close}" if close else "")
    raise typer.BadParameter(message)


def _number(word: str, least: float | None, most: float | None) -> int:
    number = int(word) if re.fullmatch(r"[+-]?[0-9]{1,18}", word) else None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        low = "" if least is None else f" from {least:,}"
        high = "" if most is None else f" to {most:,}"
        message = f"`{word[:SHOWN_WORD]}` is not a whole number{low}{high}"
        raise typer.BadParameter(message)
    return number


class _QuickArgument(TyperArgument):
    def process_value(self, ctx: _Private, value: object) -> object:
        """Return the value, or what typer makes of it."""
        return _process(self, ctx, value, super().process_value)


_OF_RUNS = frozenset({"run", "runs", "mend", "serve", "test", "eval"})
"""Modules whose commands call activities, which may print something."""


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code."""
    if arguments and arguments[0].endswith((".aug", ".vibe.json")):
        write_error(f"error: a command is missing before the file: for instance `instrc compile {arguments[0]}`\n")
        return 2
    arguments = _as_options(arguments)
    program = typer.main.get_command(_app(arguments))
    spare_pydantic(program)
    runs_code = COMMANDS.get((arguments or [""])[0]) in _OF_RUNS or arguments[:1] == ["mcp"]
    with claimed_results() if runs_code else nullcontext(), _own_output(arguments):
        try:
            code = program.main(args=arguments, prog_name="instrc", standalone_mode=False)
        except SystemExit as exit_:
            code = exit_.code
        except Exception as error:
            shown = getattr(error, "show", None)  # the class of its errors is private to typer
            if shown is None:
                raise
            _tell_what(shown)
            code = getattr(error, "exit_code", 2)
    return code if isinstance(code, int) else 0


def _as_options(arguments: list[str]) -> list[str]:
    """Return a command line in which `help`, `help compile` and `version` are written as options."""
    match arguments:
        case ["help", name] if name in COMMANDS:
            return [name, "--help"]
        case ["help"]:
            return ["--help"]
        case ["version" | "-v"]:
            return ["--version"]
        case _:
            return arguments


@contextmanager
def _own_output(arguments: list[str]) -> Iterator[None]:
    """Write help in our own way, which answers for streams that are closed or full; typer's own does not."""
    if not ({*HELP, "--version", "-V"} & {*arguments} or "_INSTRC_COMPLETE" in os.environ):
        yield
        return
    said = StringIO()
    with redirect_stdout(said):
        yield
    write(said.getvalue())


def _tell_what(show: Callable[[IO[str]], object]) -> None:
    said = StringIO()
    show(said)
    write_error(said.getvalue())


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"instrc {__version__}")
        raise typer.Exit
