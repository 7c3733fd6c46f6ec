"""Return a program as a path or a `Source`; raise `TypeError` for any other value."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from typing import Final

_BETWEEN: Final = (
    __file__.removesuffix(f"text{os.sep}callers.py"),
    f"{os.__file__.removesuffix('os.py')}asyncio{os.sep}",
    str(contextlib.__file__),
)
"""Paths of this package and of the standard library frames between its own."""


def warn_caller(message: Warning | str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the innermost line outside of this package; without one, at the direct caller."""
    frame, level = sys._getframe(1), 2  # noqa: SLF001  -- its public name
    found, at = frame.f_back, level + 1
    while found is not None and found.f_code.co_filename.startswith(_BETWEEN):
        found, at = found.f_back, at + 1
    warnings.warn(message, category, stacklevel=level if found is None else at)
