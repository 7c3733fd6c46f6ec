"""Check files, apply safe fixes, and show the problems."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from instrc.cli.output import Format, show, unwritable, verdict, write_files
from instrc.cli.terminal import write_error
from instrc.compiler.workspace import check_files
from instrc.problems.errors import InstrcError
from instrc.problems.problem import Fix, Problem
from instrc.problems.report import Report
from instrc.problems.suggest import applied, comparison_key
from instrc.text.files import MOST_BYTES
from instrc.vibes.find_files import STDIN, find_files, read_bytes, run_git
from instrc.vibes.project import DEFAULT_PROJECT, Project
from instrc.vibes.roots import ENDING, PROGRAM_ENDING, read_name
from instrc.vibes.settings import read_settings

FIX_ROUNDS: Final = 20
"""Maximum rounds of fixing: a fix may reveal the next mistake."""


def with_dependents(files: list[str]) -> list[str]:
    """Return files with all files below the working folder that name one of them, or a deleted one, transitively.

    Names are compared as in the language, without case, `_` and `-`; files that merely mention a name are included.
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


def _name(file: str) -> str:
    """Return the name by which a file is used, normalized for comparison."""
    base = os.path.basename(file)  # noqa: PTH119  -- names with odd bytes stay as they are
    said = read_name(base) or read_name(base, PROGRAM_ENDING)
    return comparison_key(said[0]) if said else ""


def _text(file: str) -> str:
    data = read_bytes(file, MOST_BYTES, Report())
    return "" if data is None else data.decode("utf-8", "replace")


def deleted() -> Iterable[str]:
    """Return the programs and vibes that git sees deleted or renamed for the next commit; none without git."""
    try:
        done = run_git("diff-index", "--cached", "--name-only", "--diff-filter=D", "-z", "--relative", "HEAD", "--")
    except OSError:
        return []
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0") if done.returncode == 0 else []
    return [name for name in names if name.endswith((ENDING, PROGRAM_ENDING))]


def fix_files(files: Sequence[str], check: Callable[[], Sequence[Problem]]) -> dict[str, int]:
    """Apply the safe fixes to these files until none is left; return the number of fixes for each file.

    `check` returns the problems of the current files.  Raise `OSError` if a file cannot be written.
    """
    counts: dict[str, int] = {}
    for _ in range(FIX_ROUNDS):
        texts: dict[str, str] = {}
        by_file: dict[str, list[Fix]] = {}
        for problem in check():
            safe = next((fix for fix in problem.fixes if fix.safe), None)
            if safe and problem.at and all(edit.span.source.name in files for edit in safe.edits):
                by_file.setdefault(problem.at.source.name, []).append(safe)
                texts[problem.at.source.name] = problem.at.source.text
        changed: dict[Path, str] = {}
        for name, fixes in by_file.items():
            fixed, count = applied(texts[name], fixes)
            if count and fixed != texts[name] and _is_still(name, texts[name]):
                changed[Path(name)] = fixed
                counts[name] = counts.get(name, 0) + count
        if not changed:
            break
        write_files(changed)
    return counts


def _is_still(name: str, text: str) -> bool:
    """Return whether a file still has the text that the places refer to; line ends count, a byte order mark does not."""
    data = read_bytes(name, 4 * len(text) + 3, Report())
    return data is not None and data.removeprefix(b"\xef\xbb\xbf") == text.encode("utf-8", "surrogatepass")


def review_files(
    paths: list[str],
    *,
    shape: Format = Format.TEXT,
    project: Project = DEFAULT_PROJECT,
    strict: bool = False,
    fix: bool = False,
    dependents: bool = False,
) -> int:
    """Check programs and vibes, show the problems, and return the exit code."""
    found = Report()
    files = find_files(paths, found)
    if dependents:
        files = with_dependents(files)

    def check() -> tuple[Problem, ...]:
        report = Report()
        report.problems += found.problems
        try:
            report.problems += check_files(files, project)
            if any(read_settings(folder).activities for folder in {Path(file).parent for file in files}):
                from instrc.engines.prepare import wrong_activities  # loads the runtime, which most checks do not need

                report.problems += wrong_activities(files, project)
        except InstrcError as error:
            report.take(error)
        return report.once()

    if fix:
        _fix(files, check, found)
    left = check()
    show(left, shape, product=True)
    return verdict(left, strict=strict)


def _fix(files: list[str], check: Callable[[], tuple[Problem, ...]], report: Report) -> None:

    try:
        for path, count in fix_files(files, check).items():
            write_error(f"fixed {path}: {count} {'mistake' if count == 1 else 'mistakes'}\n")
    except OSError as error:
        report.add(unwritable(error, "a file"))
