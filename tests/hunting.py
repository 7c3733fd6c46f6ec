"""How many examples a law is tried on: its own number in the long tests, a tenth of it by default, ten times it in a hunt."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, settings


def examples(count: int, *, without: Sequence[HealthCheck] = (HealthCheck.too_slow,)) -> settings:
    """Return the settings of a law that is tried on `count` examples with all of them, leaving health checks out."""
    full = settings.get_profile("full").max_examples
    return settings(max_examples=max(1, count * settings().max_examples // full), suppress_health_check=list(without))
