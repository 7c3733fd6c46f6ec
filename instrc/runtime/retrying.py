"""When and how often something is tried again: the engine's policy, never the language's."""

from __future__ import annotations

from dataclasses import dataclass

_TEMPORARY = frozenset({408, 409, 425, 429})


def is_temporary(status: int) -> bool:
    """Tell whether a request that got this HTTP status may succeed later: the server is busy or broken, or a time ran out."""
    return status in _TEMPORARY or status >= 500


@dataclass(frozen=True, slots=True)
class Retry:
    """So many attempts, with growing pauses between them: by default 1 second, then 2."""

    attempts: int = 3
    pause: float = 1.0
    """Seconds before the second attempt."""
    factor: float = 2.0
    """By what each pause is longer than the one before."""
    longest: float = 60.0
    """Seconds that no pause is longer than."""
    timeout: float | None = None
    """Seconds for one attempt."""
    heartbeat: float | None = None
    """Seconds within which a handler must show that it is alive."""
    codes: frozenset[str] | None = None
    """Errors with a code are tried again only if it is one of these; `None` for all."""

    def wait(self, attempt: int) -> float:
        """Return the pause in seconds after an attempt, of which the first is 1."""
        return min(self.pause * self.factor ** (attempt - 1), self.longest)

    def again(self, attempt: int, code: str | None) -> bool:
        """Tell whether to try again after an attempt, of which the first is 1, that failed with a code or without one."""
        return attempt < self.attempts and (self.codes is None or code is None or code in self.codes)


ONCE = Retry(attempts=1)
