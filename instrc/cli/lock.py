"""`instrc lock`: what every reference means, written down, so that it still means it tomorrow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from instrc import problems
from instrc.cli.options import ProblemFormat, Roots, Shared
from instrc.cli.outputs import try_to_write
from instrc.cli.show import Format, report_written, show, verdict
from instrc.finding import find_files
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.source import Source
from instrc.vibes.lock import Lock, Locked, lock_text, place_in_lock, read_lock
from instrc.workspace import Workspace


def command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Programs, vibes and folders; by default the current folder.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if the lock is out of date.")] = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Write aug.lock: version and digest of each vibe in use.

    In use is what programs and vibes refer to.

    The file is next to the pyproject.toml of the project; each project in a folder has its own. `instrc compile --locked` uses
    exactly these vibes.
    """
    report = Report()
    try:
        locks = _locks_of(Workspace(root or (), shared or ()), paths or ["."], root or [], shared or [], report)
        found = [problem for problem in report.once() if problem.severity == "error"]
        if not found:
            found = [problem for lock in locks for problem in (_stale(lock) if check else _write(lock, shape))]
    except CompileError as error:
        found = list(error.problems)
    show(found, shape)
    raise typer.Exit(verdict(found))


def _locks_of(workspace: Workspace, paths: list[str], root: list[str], shared: list[str], report: Report) -> list[Lock]:
    """Return the lock of each project that files belong to; of several only those in which something is locked."""
    projects: dict[Path, list[str]] = {}
    for path in find_files(paths, report):
        projects.setdefault(workspace.lock_place(path), []).append(path)
    locks: list[Lock] = []
    for place, files in projects.items():
        own = Workspace(root, shared)  # it knows what these files refer to, and nothing else
        for path in files:
            own.check(path, report)
        locks.append(own.lock(place))
    kept = [lock for lock in locks if lock.entries or lock.path.exists()]
    return kept or locks[:1] or [workspace.lock(workspace.lock_place("-"))]


def _write(lock: Lock, shape: Format) -> list[Problem]:
    found = try_to_write({lock.path: lock.text()})
    if not found:
        report_written([lock.path], shape)
    return found


def _stale(lock: Lock) -> list[Problem]:
    """Return what the lock on disk says otherwise than it would be written now."""
    name = lock.path.as_posix()
    text = lock_text(lock.path)
    if text is None:
        return [
            problems.files.UnreadableFile(
                at=Source(name, "").whole(), path=name, reason="there is no such file: `instrc lock` writes it"
            )
        ]
    before = read_lock(lock.path, text)
    source = Source(name, text)
    old, new = _by_reference(before), _by_reference(lock)
    found: list[Problem] = []
    for reference in sorted({*old, *new}):
        was, now = old.get(reference, {}), new.get(reference, {})
        gone, come = sorted({*was} - {*now}), sorted({*now} - {*was})
        reasons = [(file, f"`{file}` has changed") for file in sorted({*was} & {*now}) if was[file] != now[file]]
        if len(gone) == len(come) == 1:
            reasons.append((gone[0], f"it now finds `{come[0]}`, not `{gone[0]}`"))
        else:
            reasons += [(file, f"nothing refers to `{file}` by it any more") for file in gone]
            reasons += [(next(iter(was), ""), f"`{file}` is not in it") for file in come]
        for file, said in reasons:
            at = place_in_lock(source, reference, file)
            found.append(problems.settings.StaleLock(at=at, reference=reference, reason=said))
    return found


def _by_reference(lock: Lock) -> dict[str, dict[str, Locked]]:
    """Return the entries of a lock by reference, then by file."""
    found: dict[str, dict[str, Locked]] = {}
    for entry in lock.entries:
        found.setdefault(entry.reference, {})[entry.file] = entry
    return found
