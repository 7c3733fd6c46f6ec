"""`instrc lock`: what every reference means, written down, so that it still means it tomorrow."""

from __future__ import annotations

from typing import Annotated

import typer

from instrc import problems
from instrc.cli.options import ProblemFormat, Roots, Shared
from instrc.cli.outputs import write_files
from instrc.cli.show import Format, say_written, show, verdict
from instrc.files import reason
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.source import Source
from instrc.vibes.lock import Lock, lock_text, read_lock
from instrc.workspace import Workspace, find


def command(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Programs, vibes and folders; by default here.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if the lock is out of date.")] = False,
    root: Roots = None,
    shared: Shared = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Write aug.lock: version and digest of each vibe that programs and vibes refer to.

    The file is next to the pyproject.toml of the project. `instrc compile --locked` uses exactly these vibes.
    """
    report = Report()
    try:
        workspace = Workspace(root or (), shared or ())
        files = find(paths or ["."], report)
        for path in files:
            workspace.check(path, report)
        place = workspace.lock_place(files[0] if files else "-")
        found = [problem for problem in report.once() if problem.severity == "error"]
        if not found:
            lock = workspace.lock(place)
            found = _stale(lock) if check else _write(lock, shape)
    except CompileError as error:
        found = list(error.problems)
    show(found, shape)
    raise typer.Exit(verdict(found))


def _write(lock: Lock, shape: Format) -> list[Problem]:
    try:
        write_files({lock.path: lock.text()})
    except OSError as error:
        place = lock.path.as_posix()
        return [problems.rim.UnwritableOutput(at=Source(place, "").whole(), path=place, reason=reason(error))]
    say_written([lock.path], shape)
    return []


def _stale(lock: Lock) -> list[Problem]:
    """Return what the lock on disk says otherwise than it would be written now."""
    name = lock.path.as_posix()
    text = lock_text(lock.path)
    if text is None:
        return [
            problems.rim.UnreadableFile(
                at=Source(name, "").whole(), path=name, reason="there is no such file: `instrc lock` writes it"
            )
        ]
    before = read_lock(lock.path, text)
    at = Source(name, text).whole()
    found: list[Problem] = []
    for entry in lock.entries:
        known = before.find(entry.reference, entry.file)
        if known is None:
            found.append(problems.locks.StaleLock(at=at, reference=entry.reference, reason=f"`{entry.file}` is not in it"))
        elif known != entry:
            said = f"`{entry.file}` has changed"
            found.append(problems.locks.StaleLock(at=at, reference=entry.reference, reason=said))
    now = {(entry.reference, entry.file) for entry in lock.entries}
    for entry in before.entries:
        if (entry.reference, entry.file) not in now:
            said = f"nothing refers to `{entry.file}` by it any more"
            found.append(problems.locks.StaleLock(at=at, reference=entry.reference, reason=said))
    return found
