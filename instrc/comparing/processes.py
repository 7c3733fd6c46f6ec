"""What has changed from one process to another, and for whom it breaks."""

from __future__ import annotations

from dataclasses import dataclass

from instrc.comparing.changes import CutChange, cut_changes
from instrc.comparing.claims import Claim, serve_claim, start_claim
from instrc.comparing.facts import needs
from instrc.comparing.pairs import pair
from instrc.ir.process import Process


@dataclass(frozen=True, slots=True)
class CutComparison:
    """All differences between two processes, what is needed anew, and for whom it breaks."""

    changes: tuple[CutChange, ...]
    needed: tuple[str, ...]
    """Activities, and `person: STEP`, that the new process needs and the old one did not."""
    spared: tuple[str, ...]
    """Those that nobody needs any more."""
    start: Claim
    """Whether all that started the old process starts the new one."""
    serve: Claim
    """Whether all that served the old process serves the new one."""


def compare_processes(old: Process, new: Process) -> CutComparison:
    """Return what has changed from one process to another."""
    pairs = pair(old, new)
    found = cut_changes(old, new, pairs)
    before, after = needs(pairs.old), needs(pairs.new)
    needed = tuple(name for name in after if name not in before)
    start = start_claim(old, new, pairs)
    return CutComparison(
        changes=found.changes,
        needed=needed,
        spared=tuple(name for name in before if name not in after),
        start=start,
        serve=serve_claim(old, new, needed, found, start),
    )
