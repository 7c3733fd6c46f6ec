"""Raise Python's recursion limit during compilation, because expressions are evaluated recursively."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

EVALUATED_LEVELS: Final = 25_000
"""Maximum nesting of evaluated expressions: brackets, definitions that need definitions, programs that call programs."""
_CALLS: Final = EVALUATED_LEVELS * 12
"""Python calls for that many expressions.  They use no C stack: each goes from one Python function to the next."""
_lock = Lock()
_limits: list[int] = []
"""Recursion limits to restore, one for each compilation in progress."""


@contextmanager
def deep_calls() -> Iterator[None]:
    """Raise the limit; the last of several threads that compile at the same time restores it."""
    with _lock:
        _limits.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_CALLS, _limits[0]))
    try:
        yield
    finally:
        with _lock:
            before = _limits[0]
            _limits.pop()
            if not _limits:
                sys.setrecursionlimit(before)
