"""`instrc lsp`: the language server, for editors to start."""

from __future__ import annotations

import typer

from instrc import problems
from instrc.cli import begin_long_work
from instrc.cli.show import PROBLEMS, Format, show


def command() -> None:
    """Serve an editor by the Language Server Protocol.

    It reads the standard input and writes the standard output.
    """
    try:
        from instrc.lsp.features import make_server  # an extra
    except ImportError:
        show([problems.settings.MissingExtra(feature="the language server", extra="lsp", package="pygls")], Format.TEXT)
        raise typer.Exit(PROBLEMS) from None
    begin_long_work()
    make_server().serve()
