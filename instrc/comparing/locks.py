"""Compare two locks: which vibes are used now, and which of them say something else."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from instrc.vibes.lock import Lock, Locked


class LockChange(Struct, frozen=True):
    """What has changed in a lock for one reference."""

    reference: str
    what: str
    detail: str = ""


def compare_locks(old: Lock, new: Lock) -> tuple[LockChange, ...]:
    """Return what has changed, reference by reference; of a vibe a lock has only the digest, so not what changed in it."""
    return tuple(_changes(_by_reference(old), _by_reference(new)))


def _by_reference(lock: Lock) -> dict[tuple[str, int], Locked]:
    """Return the entries by reference; folders with vibes of their own may give one reference several entries."""
    found: dict[tuple[str, int], Locked] = {}
    for entry in lock.entries:
        found[entry.reference, sum(1 for reference, _ in found if reference == entry.reference)] = entry
    return found


def _changes(was: dict[tuple[str, int], Locked], now: dict[tuple[str, int], Locked]) -> Iterator[LockChange]:
    for key in sorted({*was, *now}):
        before, after = was.get(key), now.get(key)
        if before is None or after is None:
            entry = before or after
            version = f"version {entry.version}" if entry is not None and entry.version else ""
            yield LockChange(key[0], "added" if before is None else "removed", version)
            continue
        if before.version != after.version:
            yield LockChange(key[0], "version", f"{before.version or 'none'} → {after.version or 'none'}")
        elif before.file != after.file:
            yield LockChange(key[0], "moved", f"{before.file} → {after.file}")
        if before.version == after.version and before.sha256 != after.sha256:
            yield LockChange(key[0], "changed", after.file)
