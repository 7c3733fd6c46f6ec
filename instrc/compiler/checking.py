"""Check many files, but only those that have changed since the last check without problems."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from time import time_ns
from typing import Final, NamedTuple

import msgspec

from instrc.compiler.workspace import Workspace
from instrc.problems.errors import InstrcError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.files import MOST_BYTES, read_regular, store
from instrc.version import __version__
from instrc.vibes.find_files import STDIN
from instrc.vibes.project import DEFAULT_PROJECT, Project
from instrc.vibes.registry import Registry

REMEMBERED_FILES: Final = 100_000
"""Files whose contents the check of a tree remembers."""
KNOWN_FILES: Final = 100_000
"""Digests of sound files that the check of a tree keeps, the latest ones."""
SIZE = 20
"""Bytes of a digest."""
SETTLED = 3_000_000_000
"""Nanoseconds."""
_LOOKS_ELSEWHERE = (b"aug:", b"\\u")
"""What a vibe that refers to others has in it, escaped or not."""


class FileContent(NamedTuple):
    """The facts about a file, and the state of it on the disk for which they hold."""

    state: tuple[int, int, int, int, int]
    digest: bytes
    looks_elsewhere: bool
    """Whether it may refer to other files."""


_decoder = msgspec.msgpack.Decoder(dict[str, FileContent])


class Contents:
    """The files that have been looked at, by their resolved path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._remembered = _read(path)
        self._seen: dict[str, FileContent] = {}
        self._fresh = False

    def of(self, real: str) -> FileContent:
        """Return the content of a regular file; raise `OSError` for any other."""
        if real not in self._seen:
            self._seen[real] = self._look(real)
        return self._seen[real]

    def _look(self, real: str) -> FileContent:
        found = os.stat(real)  # noqa: PTH116  -- strings: this runs for each file
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = self._remembered.get(real)
        if known is not None and known.state == state and S_ISREG(found.st_mode):
            return known
        read_at = time_ns()
        data = read_regular(real, MOST_BYTES)
        content = FileContent(state, joint_digest(data), any(mark in data for mark in _LOOKS_ELSEWHERE))
        if max(state[3:]) + SETTLED < read_at and is_unicode(real):
            self._remembered[real] = content
            self._fresh = True
        return content

    def keep(self) -> None:
        """Write the digests; that they cannot be written is no reason to fail."""
        if not self._fresh:
            return
        rows = list(self._remembered.items())[-REMEMBERED_FILES:]
        store(self.path, msgspec.msgpack.encode(dict(rows)))


def _read(path: Path) -> dict[str, FileContent]:
    try:
        return _decoder.decode(read_regular(str(path), MOST_BYTES))
    except (OSError, ValueError):  # damaged, or there is none: nothing is known
        return {}


def is_unicode(text: str) -> bool:
    """Return whether a path is text: the bytes of others cannot be written down."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def joint_digest(*parts: bytes) -> bytes:
    """Return one digest of several byte strings; where one ends and the next begins counts."""
    from hashlib import blake2b  # a few files are checked without digests

    whole = blake2b(digest_size=SIZE)
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.digest()


PACKAGE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  -- a string: it is walked by strings
"""The folder of the whole package."""


class Digests:
    """Digests of each file and all that it can see."""

    def __init__(self, workspace: Workspace, contents: Contents, project: Project) -> None:
        self.workspace = workspace
        settings = repr((project.roots, project.shared, sys.version_info)).encode()
        self.base: bytes = joint_digest(__version__.encode(), _package(), settings)
        self.contents = contents
        self.worlds: dict[Registry, bytes] = {}
        """By the `id` of a registry, which is kept alive."""
        self.registries: dict[tuple[str, bool], tuple[Registry, bytes]] = {}
        self.folders: dict[str, str] = {}
        """Resolved, by folder as written."""
        self.settings: dict[str, bytes] = {}
        self.neighbours: dict[str, dict[str, list[str]]] = {}

    def keys(self, files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the digest for each readable file; others are checked each time."""
        elsewhere: dict[str, bool] = {}
        for file in files:
            with suppress(OSError, ValueError):
                if file != STDIN:
                    elsewhere[file] = not file.endswith(".json") or self.contents.of(self._real(file)).looks_elsewhere
        for file, looks in elsewhere.items():
            with suppress(OSError, ValueError, InstrcError):
                yield file, self._key(file, looks_elsewhere=looks)

    def _real(self, file: str) -> str:
        folder, name = os.path.split(file)
        if folder not in self.folders:
            self.folders[folder] = os.path.realpath(folder)
        return f"{self.folders[folder]}{os.sep}{name}"

    def _key(self, file: str, *, looks_elsewhere: bool) -> bytes:
        registry, places = self._registry(file)
        name = file.encode("utf-8", "surrogateescape")
        parts = [self.base, self.contents.of(self._real(file)).digest, name, places, self._settings(file)]
        if looks_elsewhere:
            parts.append(self._world(registry))
        else:
            parts.append(repr(self._versions(file)).encode("utf-8", "surrogateescape"))
        return joint_digest(*parts)

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
            self.settings[folder] = (
                b"" if place is None else joint_digest(str(place).encode(), self.contents.of(str(place)).digest)
            )
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
        if registry not in self.worlds:
            from hashlib import blake2b  # as above

            whole = blake2b(digest_size=SIZE)
            for real in registry.files():
                whole.update(real.encode("utf-8", "surrogateescape") + b"\0" + self.contents.of(real).digest)
            self.worlds[registry] = whole.digest()
        return self.worlds[registry]


def _package() -> bytes:
    """Return the identity of this state of the package, in a checkout as well."""
    facts: list[tuple[str, int, int]] = []
    folders = [PACKAGE]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    found = entry.stat()
                    facts.append((entry.path, found.st_size, found.st_mtime_ns))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return repr(sorted(facts)).encode()


class SoundDigests:
    """The digests of files without problems, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digests: set[bytes] = set(_divided(self._read()))

    def add(self, digests: Iterable[bytes]) -> None:
        """Remember more; that it cannot be written is no reason to fail."""
        data = self._read()  # what another run has added since stays, and is not added again
        known = set(_divided(data))
        fresh = b"".join(digest for digest in digests if digest not in known)
        store(self.path, (data + fresh)[-KNOWN_FILES * SIZE :])

    def _read(self) -> bytes:
        try:
            data = read_regular(str(self.path), KNOWN_FILES * SIZE + 1)
        except (OSError, ValueError):
            return b""
        return data if len(data) % SIZE == 0 else b""  # damaged: nothing is known


def _divided(data: bytes) -> Iterator[bytes]:
    """Yield the digests that some bytes consist of."""
    return (data[start : start + SIZE] for start in range(0, len(data), SIZE))


FOLDER = ".instrc/cache"
WORTH_KEEPING = 50
"""Files of one run from which on its results are kept."""


def check_files(
    files: Sequence[str],
    project: Project = DEFAULT_PROJECT,
    *,
    cached: bool = True,
    watch: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> list[Problem]:
    """Return the problems of programs and vibes; `watch` yields the files it is given and shows the progress."""
    workspace = Workspace(project)
    if not cached or project.locked or len(files) < WORTH_KEEPING:
        reported = _checked(files, workspace, watch)
        return [*_of_settings(files, workspace), *(problem for _, found in reported for problem in found)]

    known, contents = SoundDigests(Path(FOLDER) / "checked"), Contents(Path(FOLDER) / "contents")
    keys = dict(Digests(workspace, contents, project).keys(files))
    checked = list(_checked([file for file in files if keys.get(file) not in known.digests], workspace, watch))
    if clean := [file for file, found in checked if not found]:
        known.add(keys[file] for file in clean if file in keys)
    contents.keep()
    return [*_of_settings(files, workspace), *(problem for _, found in checked for problem in found)]


def _checked(
    files: Sequence[str], workspace: Workspace, watch: Callable[[Sequence[str]], Iterable[str]]
) -> Iterator[tuple[str, list[Problem]]]:
    for file in watch(files):
        report = Report()
        workspace.check(file, report)
        yield file, report.problems


def _of_settings(files: Sequence[str], workspace: Workspace) -> list[Problem]:
    report = Report()
    workspace.check_settings(files, report)
    return report.problems
