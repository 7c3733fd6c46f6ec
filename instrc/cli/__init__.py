"""The command line: each command is a function in a module of this folder.

This module handles `--version` itself, so that it costs no more than starting Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from instrc.version import __version__

PROBLEMS = 1
INTERRUPTED = 130
"""Shell exit code of a program stopped by Ctrl-C: 128 plus the signal number."""
READER_GONE = 141
"""Shell exit code of a program that wrote to a closed pipe."""
INTERNAL_ERROR = 70
"""Exit code for an internal error (`EX_SOFTWARE` in BSD's sysexits.h)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (by default that of the process) and return its exit code: 0 success, 1 problems, 2 wrong use."""
    return _run(sys.argv[1:] if arguments is None else list(arguments))


def _run(given: list[str]) -> int:
    from instrc.cli.terminal import OutputFailedError, ReaderGoneError, write, write_error

    try:
        if given in (["--version"], ["-V"]):
            write(f"instrc {__version__}\n")
            return 0
        code = run_plain(given)
        if code is None:
            from instrc.cli.app import run  # brings typer

            code = run(given)
        return code  # noqa: TRY300  -- an `else` would run outside the handlers below
    except KeyboardInterrupt:
        return INTERRUPTED
    except ReaderGoneError:
        return READER_GONE
    except OutputFailedError as error:
        from instrc.cli.output import refuse  # imports what frames need

        return refuse("standard output", error.reason)
    except Exception as error:  # noqa: BLE001  -- last resort: a traceback does not help a user
        from instrc.problems.errors import InstrcError, codes_of

        if isinstance(error, InstrcError):  # files may change after they were checked
            from instrc.cli.output import Format, show

            show(error.problems, Format.TEXT)
            return codes_of(type(error)).exit
        if isinstance(error, OSError | MemoryError):  # a full disk, no more files, a folder that is gone
            write_error(f"error: the system refuses what this needs: {error or 'memory'}\n")
            return PROBLEMS
        return _own_mistake(error)


def _own_mistake(error: Exception) -> int:
    """Report an internal error on one line; show the traceback on request."""
    from instrc.cli.terminal import write_error, write_foreign
    from instrc.runtime.secrets import redacted
    from instrc.text.arguments import is_on

    notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    write_foreign(f"instrc: internal error: {type(error).__name__}: {redacted(str(error))[:300]!r}{notes}\n")
    write_error(
        "This is a mistake in instrc, not in your files: please report it; with INSTRC_DEBUG=1 it shows where it happened.\n"
    )
    if is_on("INSTRC_DEBUG"):
        import traceback

        write_foreign("".join(traceback.format_exception(error)))
    return INTERNAL_ERROR


def run_plain(arguments: list[str]) -> int | None:
    """Run a command line that only names files, and return its exit code, or `None` if it needs the whole program.

    This is the fast path of `compile` and `check`, which avoids importing typer.
    """
    from instrc.vibes.find_files import STDIN

    name, *paths = arguments or [""]
    named = all(path and (path == STDIN or not path.startswith("-")) for path in paths)
    if not paths or not named or paths.count(STDIN) > 1 or "_INSTRC_COMPLETE" in os.environ:
        return None
    if name == "compile":
        from instrc.cli.compile_files import compile_files
        from instrc.compiler.workspace import OptionOverrides

        return compile_files(paths, OptionOverrides())
    if name == "check":
        from instrc.cli.review_files import review_files

        return review_files(paths)
    return None
