"""Match regular expressions of schemas."""

from __future__ import annotations

from collections.abc import Sequence

from instrc.ir.codec import ByPattern
from instrc.schema.expressions import may_match
from instrc.schema.pattern_sets import candidates


def entry_for(name: str, entries: Sequence[ByPattern]) -> ByPattern | None:
    """Return the first entry for a name: one with a pattern that it matches, or with none."""
    likely = set(candidates([entry.pattern for entry in entries if entry.pattern is not None], name))
    return next(
        (each for each in entries if each.pattern is None or (each.pattern in likely and may_match(each.pattern, name))), None
    )
