"""Let Python's collector of garbage rest while something is made that lasts.

What a compilation makes is needed until its end.  The collector looks through all of it again and again, and finds nothing:
with 10,000 steps this takes an eighth of the time.  Objects without circles are freed as always.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def resting_collector() -> Iterator[None]:
    """Switch the collector off, and on again in any case; one that is off already is left alone.

    It is one for the whole process: where several threads do this at once, the first that ends switches it on,
    which is sooner than need be, and never too late.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
