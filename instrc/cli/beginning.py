"""Write first files; what is there is never overwritten."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from instrc import problems
from instrc.cli.outputs import try_to_write
from instrc.cli.show import FINE, PROBLEMS, Format, report_written, show
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.source import Source


def formatted_files(files: Mapping[Path, str]) -> dict[Path, str]:
    """Return files with programs and vibes in the layout of `instrc fmt`."""
    from instrc.format.formatter import format_source  # for the few commands that write such files

    found = dict(files)
    for path, text in files.items():
        if path.name.endswith((".aug", ".vibe.json")):
            found[path] = format_source(Source(path.as_posix(), text), Report()) or text
    return found


def write_new(files: Mapping[Path, str], shape: Format, *, replacing: Collection[Path] = (), way_out: str = "") -> int:
    """Write all files or none, say so, and return the exit code; one that is there already is a problem.

    `way_out` says what to do then.
    """
    found: list[Problem] = [
        problems.files.FileExists(at=Source(path.as_posix(), "").whole(), path=path.as_posix(), way_out=way_out)
        for path in files
        if path not in replacing and os.path.lexists(path)
    ]
    if not found:
        found += try_to_write(formatted_files(files))
    if not found:
        report_written(files, shape)
    show(found, shape)
    return PROBLEMS if found else FINE
