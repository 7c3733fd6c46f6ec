"""The problems of the registry as errors to raise.

Their classes are imported when there is a problem: defining them takes longer than reading a small registry.
"""

from __future__ import annotations

from collections.abc import Iterable

from instrc.limits.incoming import SHOWN_REFERENCE
from instrc.problems.problem import CompileError
from instrc.source import Source, Span


def short(text: str) -> str:
    """Return a text cut to what fits a message."""
    return text if len(text) <= SHOWN_REFERENCE else text[: SHOWN_REFERENCE - 1] + "…"


def forbidden(reference: str, reason: str, at: Span | None) -> CompileError:
    """Refuse a reference that could lead out of the registry."""
    from instrc.problems.vibes import ForbiddenReference

    return CompileError([ForbiddenReference(at=at, reference=short(reference), reason=reason)])


def leads_outside(reference: str, at: Span | None) -> CompileError:
    """Refuse a reference whose path runs through a link that leaves the roots."""
    return forbidden(reference, "a link on its path leads out of the roots", at)


def malformed(reference: str, reason: str, at: Span | None) -> CompileError:
    """Refuse a reference that is not written as one."""
    from instrc.problems.vibes import MalformedReference

    return CompileError([MalformedReference(at=at, reference=short(reference), reason=reason)])


def unresolved(reference: str, nearest: tuple[str, ...], at: Span | None) -> CompileError:
    """Refuse a reference that leads nowhere."""
    from instrc.problems.vibes import UnresolvedReference

    return CompileError([UnresolvedReference(at=at, reference=short(reference), nearest=nearest)])


def unknown_version(reference: str, versions: tuple[str, ...], at: Span | None) -> CompileError:
    """Refuse a version that does not exist; `versions` are those that do, oldest first."""
    from instrc.problems.vibes import UnknownVersion

    return CompileError([UnknownVersion(at=at, reference=short(reference), versions=versions)])


def invalid_vibe(places: Iterable[tuple[Span, str]], referrer: Span | None, way_out: str = "") -> CompileError:
    """Refuse a file as a vibe, for a reason at each place; `referrer` is the reference that led to it."""
    from instrc.problems.vibes import InvalidVibe

    return CompileError(InvalidVibe(at=at, reason=reason, referrer=referrer, way_out=way_out) for at, reason in places)


def unreadable_file(name: str, error: OSError | ValueError, at: Span | None) -> CompileError:
    """Refuse a file that cannot be read; a `ValueError` is about its path."""
    reason = getattr(error, "strerror", None) or "its path is not one"
    return invalid_vibe([(Source(name, "").whole(), reason.lower())], at)


def file_too_large(name: str, start: bytes, limit: int) -> CompileError:
    """Refuse a file that is larger than `limit` bytes; `start` is how it begins."""
    from instrc.problems.files import TooLarge

    at = Source(name, start[:200].decode("utf-8", "replace")).whole()
    return CompileError([TooLarge(at=at, what="the vibe", limit=limit, unit="bytes", setting="vibe")])
