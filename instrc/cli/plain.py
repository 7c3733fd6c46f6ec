"""The fast path of `compile` and `check` without options: typer, which takes long to load, is not needed for them."""

from __future__ import annotations

import os

from instrc.vibes.find_files import STDIN


def run_plain(arguments: list[str]) -> int | None:
    """Run a command line that names files only, and return its exit code; `None` if it takes the whole program."""
    name, *paths = arguments or [""]
    named = all(path and (path == STDIN or not path.startswith("-")) for path in paths)
    if not paths or not named or paths.count(STDIN) > 1 or "_INSTRC_COMPLETE" in os.environ:
        return None
    if name == "compile":
        from instrc.cli.compiling import compile_files
        from instrc.compiler.workspace import OptionOverrides

        return compile_files(paths, OptionOverrides())
    if name == "check":
        from instrc.cli.reviewing import review_files

        return review_files(paths)
    return None
