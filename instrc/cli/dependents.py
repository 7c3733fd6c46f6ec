"""Find the programs and vibes that may use some files, so that a change is seen where it breaks something."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable

from instrc.files import STDIN, read_bytes
from instrc.finding import find_files
from instrc.limits.incoming import DEPENDENT_BYTES
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key
from instrc.vibes.roots import ENDING, PROGRAM_ENDING, read_name


def with_dependents(files: list[str]) -> list[str]:
    """Return files with all below the working folder whose text names one of them, or one that is deleted, and so on.

    Names are compared as the language compares them, without case, `_` and `-`; a file that only mentions a name is taken too.
    """
    given = [file for file in files if file == STDIN or os.path.exists(file)]  # noqa: PTH110  -- as the user wrote them
    names = {name for file in (*files, *deleted()) if (name := _name(file))}
    texts = {file: comparison_key(_text(file)) for file in find_files(["."], Report()) if file not in given}
    chosen = dict.fromkeys(given)
    while names:
        using = [file for file, text in texts.items() if any(name in text for name in names)]
        chosen |= dict.fromkeys(using)
        names = {name for file in using if (name := _name(file))}
        for file in using:
            del texts[file]
    return list(chosen)


def deleted() -> Iterable[str]:
    """Return the programs and vibes that git sees deleted or renamed for the next commit; none without git."""
    git = shutil.which("git")
    if git is None:
        return []
    command = [git, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=D", "-z", "--relative"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)  # noqa: S603  -- no word of it is anybody's
    except (OSError, subprocess.SubprocessError):
        return []
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0") if done.returncode == 0 else []
    return [name for name in names if name.endswith((ENDING, PROGRAM_ENDING))]


def _name(file: str) -> str:
    """Return the name by which a file is used, as names are compared."""
    base = os.path.basename(file)  # noqa: PTH119  -- names with odd bytes stay as they are
    said = read_name(base) or read_name(base, PROGRAM_ENDING)
    return comparison_key(said[0]) if said else ""


def _text(file: str) -> str:
    data = read_bytes(file, DEPENDENT_BYTES, Report())
    return "" if data is None else data.decode("utf-8", "replace")
