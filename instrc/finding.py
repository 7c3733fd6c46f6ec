"""Find the programs and vibes that a command is given: files, and what lies in and below folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from instrc import problems
from instrc.files import STDIN, is_folder, reason, unreadable
from instrc.problems.report import Report
from instrc.source import Source

_ENDINGS = (".aug", ".vibe.json")
"""Of the files that are looked for in folders."""


def find_files(paths: Sequence[str], report: Report) -> list[str]:
    """Return the files to check: each one given, and the programs and vibes in and below each folder, in order of name."""
    found: dict[str, None] = {}
    for path in paths:
        if path != STDIN and is_folder(path):
            below = list(_below(path, report))
            if not below:
                report.add(problems.files.NothingToCheck(at=Source(path, "").whole()))
            found |= dict.fromkeys(below)
        else:
            found[path] = None
    return list(found)


def _below(folder: str, report: Report) -> Iterator[str]:
    """Yield what is to check below a folder: nothing in hidden folders, and no link that leads to a folder or out of this one."""
    real = os.path.realpath(folder)

    def closed(error: OSError) -> None:
        report.add(unreadable(str(error.filename), reason(error)))

    for where, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.endswith(_ENDINGS):
                continue
            file = os.path.normpath(os.path.join(where, name))  # noqa: PTH118  -- names with odd bytes stay as they are
            if os.path.islink(file) and not _lies_in(real, os.path.realpath(file)):  # noqa: PTH114  -- as above
                report.add(unreadable(file, "it is a link that leads out of the folder"))
            else:
                yield file


def _lies_in(folder: str, path: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)
