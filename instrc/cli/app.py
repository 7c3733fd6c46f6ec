"""Build the program of typer with its commands, and run a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from enum import Enum
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Annotated, Any, Final, TypeAlias, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperOption

from instrc.cli.terminal import claimed_results, write, write_error
from instrc.version import __version__

HELP = ["-h", "--help"]
"""Options that show the help of a command."""
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
    "tune": "tune",
    "doctor": "projects",
    "models": "projects",
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
    "runs": "runs",
    "show": "runs",
    "answer": "run",
    "trace": "runs",
    "cancel": "runs",
    "audit": "operate",
    "costs": "operate",
    "resume": "run",
    "retry": "mend",
    "fork": "mend",
    "delete": "mend",
    "mcp": "servers",
    "serve": "serve",
    "studio": "serve",
    "worker": "run",
    "workers": "runs",
    "schedule": "schedule",
    "explain": "format",
}
"""Commands and groups with the module that defines `NAME_command` or `NAME_group`."""
_FUNCTIONS = {"test": "cases"}
"""Commands whose function has another name: pytest collects `test_…`."""


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
            for command in group.registered_commands:
                command.cls = CheckedCommand
            app.add_typer(group, name=name)
        else:
            app.command(name, cls=CheckedCommand)(getattr(module, f"{_FUNCTIONS.get(name, name)}_command"))
    return app


def _options(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


_Context: TypeAlias = Any  # private to typer


class CheckedCommand(TyperCommand):
    """A command that explains wrong values and refuses an option whose earlier value would be lost."""

    def parse_args(self, ctx: _Context, args: list[str]) -> list[str]:
        """Check the values of a command line, then parse it."""
        try:
            values, _, order = self.make_parser(ctx).parse_args([*args])
        except typer.BadParameter:
            raise
        except Exception as error:
            file = next((word for word in args if re.fullmatch(r"-[^-].*\.(aug|json)", word)), None)
            if file is None or not hasattr(error, "option_name"):
                raise
            message = f"`{file[:SHOWN_LENGTH]}` is read as options: for a file of this name write `-- {file[:SHOWN_LENGTH]}`"
            raise typer.BadParameter(message, ctx=ctx) from None
        for option in () if ctx.resilient_parsing or "help" in values else dict.fromkeys(order):
            if not isinstance(option, TyperOption) or option.is_flag:
                continue
            count = 1 if option.multiple or option.nargs != 1 else order.count(option)
            if count > 1:
                times = "twice" if count == 2 else f"{count} times"
                message = f"{option.opts[0]} is given {times}, and takes one value: the others would be lost"
                raise typer.BadParameter(message, ctx=ctx)
            given = values[option.name]
            for value in given if isinstance(given, list | tuple) else (given,):
                if isinstance(value, str) and (fault := _fault_of(option, value)) is not None:
                    raise typer.BadParameter(fault, ctx=ctx, param=option)
        return super().parse_args(ctx, args)


SHOWN_LENGTH: Final = 60
"""Maximum characters of a value shown in a message."""


def _fault_of(option: TyperOption, value: str) -> str | None:
    """Return what is wrong with the value of a choice, a number or a path, or `None` if it is valid."""
    kind = _plain(getattr(getattr(option, "type_descriptor", None), "annotation", None))  # an older typer has no descriptor
    if kind is int:
        least, most = getattr(option, "min", None), getattr(option, "max", None)
        number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else None
        if number is not None and (least is None or number >= least) and (most is None or number <= most):
            return None
        low, high = "" if least is None else f" from {least:,}", "" if most is None else f" to {most:,}"
        return f"`{value[:SHOWN_LENGTH]}` is not a whole number{low}{high}"
    if kind is Path and "\0" in value:
        return "there is a NUL in its name"
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        return None
    choices = tuple(str(choice.value) for choice in kind)
    if value in choices:
        return None
    from instrc.problems.problem import did_you_mean  # only for a message
    from instrc.problems.suggest import nearest  # only for a message

    close = did_you_mean(nearest(value, choices))
    shown = ", ".join(f"`{choice}`" for choice in choices)
    return f"`{value[:SHOWN_LENGTH]}` is none of {shown}" + (f": {close}" if close else "")


def _plain(annotation: object) -> object:
    """Return the type of an option without `| None`, or that of its items."""
    if get_origin(annotation) in {Union, UnionType, list}:
        return next((_plain(kind) for kind in get_args(annotation) if kind is not NoneType), None)
    return annotation


_OF_RUNS = frozenset({"run", "runs", "mend", "serve", "test", "eval"})
"""Modules whose commands call activities, which may print."""


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code."""
    if arguments and arguments[0].endswith((".aug", ".vibe.json")):
        write_error(f"error: a command is missing before the file: for instance `instrc compile {arguments[0]}`\n")
        return 2
    arguments = _as_options(arguments)
    program = typer.main.get_command(_app(arguments))
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
