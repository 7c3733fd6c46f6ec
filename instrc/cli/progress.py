"""Show how far a long run is: only to a person, only after a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from instrc.cli.terminal import is_terminal

PATIENCE = 1.0
"""Seconds without a sign of life."""


def with_progress(paths: Sequence[str], doing: str, patience: float = PATIENCE) -> Iterator[str]:
    """Yield each path; a bar appears on a terminal when the patience is over and goes when all is done."""
    quiet = len(paths) < 2 or not is_terminal(sys.stderr)
    start = monotonic()
    for done, path in enumerate(paths):
        if not quiet and monotonic() - start > patience:
            yield from _with_bar(paths, done, doing)
            return
        yield path


def _with_bar(paths: Sequence[str], done: int, doing: str) -> Iterator[str]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(doing, total=len(paths), completed=done)
        for path in paths[done:]:
            yield path
            progress.advance(task)


@contextmanager
def item_counter(doing: str) -> Iterator[Callable[[], None]]:
    """Give a function to call after each item, where their number is not known; a terminal shows how many are done."""
    if not is_terminal(sys.stderr):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda: progress.advance(task)
