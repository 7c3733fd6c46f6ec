"""Regular expressions in schemas: which ones no dialect reads.

JSON Schema asks for ECMA 262, the judges here are written in Python, and the two differ in places.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

from instrc.jsonvalue import Json, Location
from instrc.limits.schemas import JUDGED_PATTERN

warnings.filterwarnings("ignore", category=FutureWarning, module=r"instrc\.schema\.patterns")
"""Python says that `[[` will mean something else one day; whoever checks a schema can do nothing about that."""
_BROKEN = ("missing ), unterminated subpattern", "unbalanced parenthesis", "nothing to repeat", "unterminated character set")
"""What Python says of patterns that ECMA 262 refuses as well; its other complaints may be about differences of the two."""


@lru_cache(maxsize=1024)
def broken(pattern: str) -> str | None:
    """Return why no dialect of regular expressions reads a pattern; `None` for all that one may read."""
    if len(pattern) > JUDGED_PATTERN or "[]" in pattern or "[^]" in pattern:
        return None
    try:
        re.compile(pattern)
    except re.error as error:
        return error.msg if error.msg in _BROKEN else None
    except (RecursionError, OverflowError, ValueError, FutureWarning, DeprecationWarning):  # a number may have 5,000 digits
        return None
    return None


def patterns_in(node: Json) -> Iterator[tuple[Location, str]]:
    """Yield the patterns of one schema with the path of each in it."""
    if node.__class__ is not dict:
        return
    if (pattern := node.get("pattern")).__class__ is str:
        yield ("pattern",), pattern
    if (named := node.get("patternProperties")).__class__ is dict:
        yield from ((("patternProperties", name), name) for name in named)
