"""Pause Python's garbage collector while something is made that lasts.

What a compilation makes is needed until its end.  The collector looks through all of it again and again, and finds nothing:
with 10,000 steps this takes an eighth of the time.  Objects without circles are freed as always.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Disable the garbage collector, and enable it again in any case; one that is disabled already stays so.

    A process has only one: where several threads do this at once, the first that ends enables it,
    which is earlier than needed, but never too late.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
