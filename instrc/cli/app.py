"""The commands and the program around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import IO, Annotated

import typer

from instrc.cli.coercion import HELP, spare_pydantic
from instrc.cli.terminal import write, write_error
from instrc.version import __version__

COMMANDS = {
    "init": "init",
    "new": "new",
    "compile": "compile",
    "check": "check",
    "lock": "lock",
    "diff": "diff",
    "preview": "preview",
    "test": "test",
    "doctor": "doctor",
    "graph": "graph",
    "types": "types",
    "flatten": "flatten",
    "split": "split",
    "targets": "targets",
    "lift": "lift",
    "verify": "verify",
    "import": "import_",
    "plan": "plan",
    "fmt": "fmt",
    "lsp": "lsp",
    "run": "run",
    "chat": "chat",
    "runs": "runs",
    "show": "show_run",
    "answer": "answer",
    "trace": "trace",
    "cancel": "cancel",
    "resume": "resume",
    "mcp": "mcp",
    "worker": "worker",
    "explain": "explain",
}
"""A command's name and the module of this folder whose function `command` it is, or whose `group` of commands."""


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code."""
    if arguments and arguments[0].endswith((".aug", ".vibe.json")):
        write_error(f"error: a command is missing before the file: for instance `instrc compile {arguments[0]}`\n")
        return 2
    arguments = _as_options(arguments)
    program = typer.main.get_command(_app(arguments))
    spare_pydantic(program)
    with _own_output(arguments):
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
        if hasattr(module, "group"):
            app.add_typer(module.group, name=name)
        else:
            app.command(name)(module.command)
    return app


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"instrc {__version__}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass
