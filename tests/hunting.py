"""How many examples a law is tried on: its own number at the gate, a multiple of it in a hunt, a tenth of it in a quick loop."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, settings

_OF_THE_GATE = 100


def examples(count: int, *, without: Sequence[HealthCheck] = (HealthCheck.too_slow,)) -> settings:
    """Return the settings of a law that is tried on `count` examples at the gate, leaving health checks out."""
    return settings(max_examples=max(1, count * settings().max_examples // _OF_THE_GATE), suppress_health_check=list(without))
