"""`python -m instrc` and the command `instrc`."""

from __future__ import annotations

import atexit
import os
import sys
import warnings


def main() -> int:
    """Run the command line; Ctrl-C ends it without a traceback, even while modules are loading."""
    try:
        from instrc.cli import main as run

        warnings.showwarning = _show_warning
        ended: list[int] = []
        atexit.register(_end_beside_threads, ended)
        code = run()
        ended.append(code)
        if not _something_waits_for_the_end():
            os._exit(code)  # skips freeing every object, which would take 5 % of a small compilation
        return code  # noqa: TRY300  -- in an `else`, Ctrl-C would print a traceback
    except KeyboardInterrupt:
        return 130  # as a shell reports a program that was stopped by Ctrl-C


def _show_warning(message: Warning | str, *_place: object, **_more: object) -> None:
    """Show a warning without the line of this package from which it comes."""
    from instrc.cli.terminal import write_foreign

    write_foreign(f"warning: {message}\n")


def _end_beside_threads(ended: list[int]) -> None:
    """Run the exit handlers, then exit at once: threads of some libraries crash an interpreter that shuts down.

    Temporal's threads do so occasionally (temporalio/sdk-python#300): the command would exit with 134 after its work.
    """
    if ended and "temporalio.bridge.temporal_sdk_bridge" in sys.modules:
        os._exit(ended[0])


def _something_waits_for_the_end() -> bool:
    """Return whether the interpreter must shut down normally: for threads, exit handlers or a coverage run."""
    threading = sys.modules.get("threading")
    return (
        (threading is not None and threading.active_count() > 1)
        or atexit._ncallbacks() > 1  # noqa: SLF001  -- there is no public way to find out
        or sys.gettrace() is not None
        or sys.getprofile() is not None
    )


if __name__ == "__main__":
    sys.exit(main())
