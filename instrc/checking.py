"""Check many files: on all cores, and only those about which nothing is known.

What is known to be sound is known by content: a digest of the file, of the settings that hold for it, of this package, and,
where a file can look at vibes or programs, of all that it can see.  Files with problems are never remembered, so all problems
are told each time.

The store is one file in `.instrc/cache`, replaced in one step: runs side by side never read half of it, and lose at most what
another has learned.  It keeps the most recent `MOST_KNOWN` digests.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from instrc.files import STDIN
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.regular import read_regular
from instrc.version import __version__
from instrc.vibes.registry import Registry
from instrc.workspace import Workspace

FOLDER = ".instrc/cache"
MOST_KNOWN = 100_000
WORTH_KEEPING = 50
"""Files of one run from which on its results are kept."""
WORTH_SHARING = 400
"""Files to check from which on all cores are used: a process costs what a hundred files cost."""
_SIZE = 20
"""Bytes of a digest."""
_MOST_BYTES = 64 * 1024 * 1024
_LOOKS_ELSEWHERE = (b"aug:", b"\\u")
"""What a vibe that refers to others has in it, escaped or not."""


def check_files(
    files: Sequence[str],
    roots: Sequence[str],
    shared: Sequence[str],
    *,
    locked: bool = False,
    cached: bool = True,
    watch: Callable[[Sequence[str]], Iterable[str]] = iter,
    workers: int | None = None,
) -> list[Problem]:
    """Return what is wrong with programs and vibes; `watch` yields the files it is given and shows how far it is."""
    workspace = Workspace(roots, shared, locked=locked)
    keep = cached and not locked and len(files) >= WORTH_KEEPING
    known = Known(Path(FOLDER) / "checked") if keep else None
    keys = dict(_Digests(workspace, roots, shared).keys(files)) if known is not None else {}
    unknown = [file for file in files if known is None or keys.get(file) not in known.digests]
    count = workers if workers is not None else (os.cpu_count() or 1)
    problems: list[Problem] = []
    clean: list[str] = []
    results = (
        _side_by_side(unknown, (tuple(roots), tuple(shared), locked), count)
        if _worth_sharing(unknown, count)
        else _one_by_one(unknown, workspace, watch)
    )
    for file, found in results:
        problems += found
        if not found:
            clean.append(file)
    if known is not None and clean:
        known.add(keys[file] for file in clean if file in keys)
    return problems


def _one_by_one(
    files: Sequence[str], workspace: Workspace, watch: Callable[[Sequence[str]], Iterable[str]]
) -> Iterator[tuple[str, list[Problem]]]:
    for file in watch(files):
        report = Report()
        workspace.check(file, report)
        yield file, report.problems


def _worth_sharing(files: Sequence[str], workers: int) -> bool:
    return len(files) >= WORTH_SHARING and workers > 1 and STDIN not in files


def _side_by_side(files: Sequence[str], settings: _Settings, workers: int) -> Iterator[tuple[str, list[Problem]]]:
    """Check files in several processes; neighbours stay together, since they are likely to look at the same vibes."""
    import threading  # a pool of processes takes long to load, and few runs need one
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    forks = sys.platform == "linux" and threading.active_count() == 1
    size = -(-len(files) // (workers * 4))
    parts = [list(files[start : start + size]) for start in range(0, len(files), size)]
    with ProcessPoolExecutor(workers, get_context("fork" if forks else "spawn")) as pool:
        for done in pool.map(_check_part, parts, [settings] * len(parts)):
            yield from done


_Settings: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], bool]
"""Roots, shared roots, and whether the lock decides."""
_workspaces: dict[_Settings, Workspace] = {}
"""Of this worker process: what it has read stays read."""


def _check_part(files: list[str], settings: _Settings) -> list[tuple[str, list[Problem]]]:
    if settings not in _workspaces:
        roots, shared, locked = settings
        _workspaces[settings] = Workspace(roots, shared, locked=locked)
    return list(_one_by_one(files, _workspaces[settings], iter))


class Known:
    """The digests of what is sound, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = self._read()
        self.digests = {self._data[start : start + _SIZE] for start in range(0, len(self._data), _SIZE)}

    def add(self, digests: Iterable[bytes]) -> None:
        """Remember more; that it cannot be written is no reason to fail."""
        fresh = b"".join(digest for digest in digests if digest not in self.digests)
        data = (self._read() + fresh)[-MOST_KNOWN * _SIZE :]  # what another run has added since stays
        temporary = self.path.with_name(f".{self.path.name}-{os.urandom(6).hex()}.tmp")
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ignored = self.path.parent / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n", encoding="utf-8")
            try:
                temporary.write_bytes(data)
                temporary.replace(self.path)
            finally:
                temporary.unlink(missing_ok=True)

    def _read(self) -> bytes:
        try:
            data = read_regular(str(self.path), MOST_KNOWN * _SIZE + 1)
        except (OSError, ValueError):
            return b""
        return data if len(data) % _SIZE == 0 else b""  # damaged: nothing is known


class _Digests:
    """What each file and all that it can see say."""

    def __init__(self, workspace: Workspace, roots: Sequence[str], shared: Sequence[str]) -> None:
        self.workspace = workspace
        self.base = _digest(__version__.encode(), _package(), repr((tuple(roots), tuple(shared), sys.version_info)).encode())
        self.contents: dict[str, bytes] = {}
        self.worlds: dict[int, tuple[Registry, bytes]] = {}
        """By the `id` of a registry, which is kept alive."""
        self.registries: dict[tuple[str, bool], tuple[Registry, bytes]] = {}
        self.folders: dict[str, str] = {}
        """Resolved, by folder as written."""
        self.settings: dict[str, bytes] = {}
        self.neighbours: dict[str, dict[str, list[str]]] = {}

    def keys(self, files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the digest for each file that can be read; what cannot is checked each time."""
        elsewhere: dict[str, bool] = {}
        for file in files:  # all are read first, so that what can be seen is not read again
            try:
                data = b"" if file == STDIN else read_regular(file, _MOST_BYTES)
            except (OSError, ValueError):
                continue
            elsewhere[file] = not file.endswith(".json") or any(mark in data for mark in _LOOKS_ELSEWHERE)
            self.contents[self._real(file)] = _digest(data)
        for file, looks in elsewhere.items():
            try:
                if file != STDIN:
                    yield file, self._key(file, looks_elsewhere=looks)
            except (OSError, ValueError, CompileError):
                continue

    def _real(self, file: str) -> str:
        folder, name = os.path.split(file)
        if folder not in self.folders:
            self.folders[folder] = os.path.realpath(folder)
        return f"{self.folders[folder]}{os.sep}{name}"

    def _key(self, file: str, *, looks_elsewhere: bool) -> bytes:
        registry, places = self._registry(file)
        name = file.encode("utf-8", "surrogateescape")
        parts = [self.base, self.contents[self._real(file)], name, places, self._settings(file)]
        if looks_elsewhere:
            parts.append(self._world(registry))
        else:
            parts.append(repr(self._versions(file)).encode("utf-8", "surrogateescape"))
        return _digest(*parts)

    def _registry(self, file: str) -> tuple[Registry, bytes]:
        """Return the registry that a file sees and where its roots are: the same for all of one ending in a folder."""
        key = os.path.dirname(file), file.endswith(".json")  # noqa: PTH120  -- strings: this runs for each file
        if key not in self.registries:
            registry = self.workspace.registry(file)
            places = repr([(root.path.as_posix(), root.shared) for root in registry.roots])
            self.registries[key] = registry, places.encode("utf-8", "surrogateescape")
        return self.registries[key]

    def _settings(self, file: str) -> bytes:
        folder = os.path.dirname(file)  # noqa: PTH120  -- strings: this runs for each file
        if folder not in self.settings:
            place = self.workspace.settings_file(file)
            self.settings[folder] = b"" if place is None else _digest(str(place).encode(), read_regular(str(place), _MOST_BYTES))
        return self.settings[folder]

    def _versions(self, file: str) -> list[str]:
        """Return the names of the files beside a vibe that may be other versions of it."""
        folder, name = os.path.split(file)
        if folder not in self.neighbours:
            found: dict[str, list[str]] = {}
            for each in sorted(os.listdir(folder or ".")):  # noqa: PTH208  -- as above
                found.setdefault(each.partition(".")[0].partition("@")[0], []).append(each)
            self.neighbours[folder] = found
        return self.neighbours[folder].get(name.partition(".")[0].partition("@")[0], [])

    def _world(self, registry: Registry) -> bytes:
        """Return the digest of all that a registry holds."""
        if id(registry) not in self.worlds:
            whole = blake2b(digest_size=_SIZE)
            for real in registry.files():
                if real not in self.contents:
                    self.contents[real] = _digest(read_regular(real, _MOST_BYTES))
                whole.update(real.encode("utf-8", "surrogateescape") + b"\0" + self.contents[real])
            self.worlds[id(registry)] = (registry, whole.digest())
        return self.worlds[id(registry)][1]


def _digest(*parts: bytes) -> bytes:
    whole = blake2b(digest_size=_SIZE)
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.digest()


def _package() -> bytes:
    """Return what tells this state of the package from another, in a checkout as well."""
    here = Path(__file__).parent
    facts = sorted((str(path.relative_to(here)), path.stat().st_size, path.stat().st_mtime_ns) for path in here.rglob("*.py"))
    return repr(facts).encode()
