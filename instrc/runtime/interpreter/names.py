"""How names of steps and of activities are compared."""

from __future__ import annotations

import re

_STEP = re.compile(r"^step\d+_|_item\d+$")


def bare_name(key: str) -> str:
    """Return a key without number and item, in the form in which names are compared: without case, `_` and `-`."""
    return _STEP.sub("", key).replace("_", "").replace("-", "").casefold()


def is_numbered(key: str) -> bool:
    """Tell whether a key names one step exactly, so that it must not stand for another of the same name."""
    return re.match(r"step\d+_", key) is not None
