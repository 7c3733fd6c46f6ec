"""Build the typer application with its commands, and run a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Annotated

import typer

from instrc.cli.options import expanded
from instrc.cli.terminal import claimed_results, write, write_error
from instrc.version import __version__

HELP = ["-h", "--help"]
"""Options that show the help of a command."""
_MODULES = {
    "projects": ["init", "new", "lock", "models", "doctor"],
    "compile": ["compile", "check", "verify", "preview", "targets"],
    "format": ["fmt", "explain"],
    "diff": ["diff"],
    "graph": ["graph"],
    "test": ["test"],
    "eval": ["eval"],
    "tune": ["tune"],
    "schemas": ["types", "flatten", "split", "lift", "import"],
    "plan": ["plan"],
    "run": ["run", "answer", "resume", "worker"],
    "runs": ["runs", "show", "trace", "cancel", "workers", "audit", "costs", "deliveries"],
    "mend": ["retry", "fork", "delete"],
    "schedule": ["schedule"],
    "serve": ["serve", "studio"],
    "servers": ["lsp", "mcp"],
}
"""Modules with their commands and groups, each a `NAME_command` or `NAME_group`, in the order of the help page."""
COMMANDS = {command: module for module, commands in _MODULES.items() for command in commands}
"""The module of each command."""
_FUNCTIONS = {"test": "cases"}
"""Commands whose function has another name: pytest collects `test_…`."""


def _app(arguments: list[str]) -> typer.Typer:
    """Build the application; only the requested command is loaded, or all of them for the help page and completion."""
    app = typer.Typer(
        help="Compile compositions of LLM instructions into exact, ordered tool schemas and processes.",
        rich_markup_mode=None,  # plain help: loading rich takes longer than compiling a small program
        pretty_exceptions_enable=False,  # `instrc.cli.main` handles whatever is raised
        no_args_is_help=True,
    )
    app.callback(context_settings={"help_option_names": HELP})(_options)
    chosen = [name for name in arguments[:1] if name in COMMANDS and "_INSTRC_COMPLETE" not in os.environ]
    for name in chosen or COMMANDS:
        module = import_module(f"instrc.cli.{COMMANDS[name]}")
        if group := getattr(module, f"{name}_group", None):
            app.add_typer(group, name=name)
        else:
            app.command(name)(expanded(getattr(module, f"{_FUNCTIONS.get(name, name)}_command")))
    return app


def _options(
    _version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


_OF_RUNS = frozenset({"run", "runs", "mend", "serve", "test", "eval"})
"""Modules whose commands call activities, which may print."""


_LIKE_OPTIONS = re.compile(r"-[^-].*\.(aug|json)")
"""Names of files that are read as options."""


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
            shown = getattr(error, "show", None)  # the class of its errors is private in typer
            if shown is None:
                raise
            shown(said := StringIO())
            write_error(said.getvalue())
            if hasattr(error, "option_name") and (file := next(filter(_LIKE_OPTIONS.fullmatch, arguments), None)) is not None:
                write_error(f"for a file of this name write `-- {file}`\n")
            known = getattr(getattr(getattr(error, "ctx", None), "command", None), "params", [])
            if "unexpected extra argument" in said.getvalue() and any("--input" in each.opts for each in known):
                write_error("inputs are given with `--input`, for instance `-i 'a text'` or `-i NAME=VALUE`\n")
            code = getattr(error, "exit_code", 2)
    return code if isinstance(code, int) else 0


def _as_options(arguments: list[str]) -> list[str]:
    """Return a command line with `help`, `help compile` and `version` converted to options."""
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
    """Write help through the program's own output, which handles closed and full streams, unlike typer's."""
    if not ({*HELP, "--version", "-V"} & {*arguments} or "_INSTRC_COMPLETE" in os.environ):
        yield
        return
    said = StringIO()
    with redirect_stdout(said):
        yield
    write(said.getvalue())


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"instrc {__version__}")
        raise typer.Exit
