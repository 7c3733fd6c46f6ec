"""Check files and show what is wrong: what `instrc check` does, whoever reads its options."""

from __future__ import annotations

from collections.abc import Callable

from instrc.checking.many import check_files
from instrc.cli.progress import with_progress
from instrc.cli.show import Format, show, verdict
from instrc.cli.terminal import write_error
from instrc.finding import find_files
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report


def review_files(
    paths: list[str],
    *,
    shape: Format = Format.TEXT,
    locked: bool = False,
    root: list[str] | None = None,
    shared: list[str] | None = None,
    strict: bool = False,
    fix: bool = False,
    dependents: bool = False,
    cached: bool = True,
) -> int:
    """Check programs and vibes, show the problems, and return the exit code."""
    found = Report()
    files = find_files(paths, found)
    if dependents:
        from instrc.cli.dependents import with_dependents  # few ask for it

        files = with_dependents(files)

    def check() -> tuple[Problem, ...]:
        report = Report()
        report.problems += found.problems
        try:
            report.problems += check_files(
                files,
                root or (),
                shared or (),
                locked=locked,
                cached=cached and not fix,
                watch=lambda paths: with_progress(paths, "Checking"),
            )
        except CompileError as error:
            report.take(error)
        return report.once()

    if fix:
        _fix(files, check, found)
    left = check()
    show(left, shape, product=True)
    return verdict(left, strict=strict)


def _fix(files: list[str], check: Callable[[], tuple[Problem, ...]], report: Report) -> None:
    from instrc.cli.fixing import fix_files  # only if asked for

    try:
        for path, count in fix_files(files, check).items():
            write_error(f"fixed {path}: {count} {'mistake' if count == 1 else 'mistakes'}\n")
    except OSError as error:
        from instrc.cli.outputs import unwritable  # as above

        report.add(unwritable(error, "a file"))
