"""Check many files: on all cores, and only those about which nothing is known.

What is known to be sound is known by content: a digest of the file, of the settings that hold for it, of this package, and,
where a file can look at vibes or programs, of all that it can see.  Files with problems are never remembered, so all problems
are told each time.

What is known lies in `.instrc/cache`; see `known.py` and `contents.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from instrc.files import STDIN
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.workspace import Workspace

FOLDER = ".instrc/cache"
WORTH_KEEPING = 50
"""Files of one run from which on its results are kept."""
WORTH_SHARING = 400
"""Files to check from which on all cores are used: a process costs what a hundred files cost."""
PARTS = 32
"""Into which the files of each process are divided: the last ones are done by whichever process is ready for more."""


def check_files(
    files: Sequence[str],
    roots: Sequence[str],
    shared: Sequence[str],
    *,
    locked: bool = False,
    cached: bool = True,
    watch: Callable[[Sequence[str]], Iterable[str]] = iter,
    workers: int | None = None,
) -> list[Problem]:
    """Return what is wrong with programs and vibes; `watch` yields the files it is given and shows how far it is."""
    workspace = Workspace(roots, shared, locked=locked)
    count = workers if workers is not None else (os.cpu_count() or 1)

    def check(unknown: Sequence[str]) -> Iterable[tuple[str, list[Problem]]]:
        if _worth_sharing(unknown, count):
            return _side_by_side(unknown, (tuple(roots), tuple(shared), locked), count)
        return _one_by_one(unknown, workspace, watch)

    if not cached or locked or len(files) < WORTH_KEEPING:
        return [*_of_settings(files, workspace), *(problem for _, found in check(files) for problem in found)]
    from instrc.checking.contents import Contents  # few runs check so many files
    from instrc.checking.digests import Digests  # loads a library of cryptography
    from instrc.checking.known import SoundDigests

    known, contents = SoundDigests(Path(FOLDER) / "checked"), Contents(Path(FOLDER) / "contents")
    keys = dict(Digests(workspace, contents, roots, shared).keys(files))
    checked = list(check([file for file in files if keys.get(file) not in known.digests]))
    if clean := [file for file, found in checked if not found]:
        known.add(keys[file] for file in clean if file in keys)
    contents.keep()
    return [*_of_settings(files, workspace), *(problem for _, found in checked for problem in found)]


def _of_settings(files: Sequence[str], workspace: Workspace) -> list[Problem]:
    report = Report()
    workspace.check_settings(files, report)
    return report.problems


def _one_by_one(
    files: Sequence[str], workspace: Workspace, watch: Callable[[Sequence[str]], Iterable[str]]
) -> Iterator[tuple[str, list[Problem]]]:
    for file in watch(files):
        report = Report()
        workspace.check(file, report)
        yield file, report.problems


def _worth_sharing(files: Sequence[str], workers: int) -> bool:
    return len(files) >= WORTH_SHARING and workers > 1 and STDIN not in files


def _side_by_side(files: Sequence[str], settings: _Settings, workers: int) -> list[tuple[str, list[Problem]]]:
    """Check files in several processes, of which this one is the last; neighbours are likely to look at the same vibes."""
    import threading  # a pool of processes takes long to load, and few runs need one
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    forks = sys.platform == "linux" and threading.active_count() == 1
    size = -(-len(files) // (workers * PARTS))
    parts = [files[start : start + size] for start in range(0, len(files), size)]
    _workspaces.clear()  # files may have changed since an earlier check
    try:
        if forks:
            _check_part(files[:: len(files) // PARTS], settings)  # some from everywhere: what these load, each process has
        with ProcessPoolExecutor(workers - 1, get_context("fork" if forks else "spawn")) as pool:
            elsewhere = [pool.submit(_check_part, part, settings) for part in parts]
            here = {
                number: _check_part(parts[number], settings)
                for number in reversed(range(len(parts)))
                if elsewhere[number].cancel()
            }
            found = [here[number] if number in here else each.result() for number, each in enumerate(elsewhere)]
    finally:
        _workspaces.clear()
    return [
        (file, problems) for part, of_part in zip(parts, found, strict=True) for file, problems in zip(part, of_part, strict=True)
    ]


_Settings: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bool]
"""Roots, shared roots, and whether the lock decides."""
_workspaces: dict[_Settings, Workspace] = {}
"""Of this process, during one check: what it has read stays read."""


def _check_part(files: Sequence[str], settings: _Settings) -> list[list[Problem]]:
    if settings not in _workspaces:
        roots, shared, locked = settings
        _workspaces[settings] = Workspace(roots, shared, locked=locked)
    return [found for _, found in _one_by_one(files, _workspaces[settings], iter)]
