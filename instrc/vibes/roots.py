"""Root folders and what lies in them, read from folder entries alone: no file is opened here.

A path is walked by the names that folders list, never handed to the file system as it is written.
So `..`, other cases of a letter and absolute paths find nothing, on every platform.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from unicodedata import normalize

from msgspec import Struct, field

from instrc.problems.suggest import comparison_key
from instrc.vibes.uri import AugUri, Version, version_of

ENDING = ".vibe.json"
PROGRAM_ENDING = ".aug"


class VibeFile(Struct, frozen=True):
    """One vibe file: the path of its folder below the root, its name there, and what that name says."""

    folder: str
    file: str
    segment: str
    version: Version


class Listing(Struct):
    """What one folder holds."""

    folders: dict[str, str] = field(default_factory=dict)
    """By NFC name: the name on disk."""
    links: set[str] = field(default_factory=set)
    """NFC names of the folders that are symbolic links to a folder in one of the roots."""
    outside: set[str] = field(default_factory=set)
    """NFC names of the folders that are symbolic links to somewhere else: they are never looked into."""
    vibes: dict[str, dict[Version, VibeFile]] = field(default_factory=dict)
    """By segment, then by version."""


def read_name(file: str, ending: str = ENDING) -> tuple[str, Version] | None:
    """Return the segment and the version that a file's name says, or `None` if it is no vibe's."""
    stem = file.removesuffix(ending)
    if stem == file or not stem or file.startswith("."):
        return None
    name, mark, written = stem.rpartition("@")
    version = version_of(written) if mark and name else None
    return (normalize("NFC", stem), ()) if version is None else (normalize("NFC", name), version)


def newest(versions: dict[Version, VibeFile]) -> VibeFile:
    """Return the file without a version, else the one with the highest."""
    return versions[()] if () in versions else versions[max(versions)]


def choose(versions: dict[Version, VibeFile], uri: AugUri) -> VibeFile | None:
    """Pick what a reference means: the pinned version, the newest of a range, the newest of all."""
    if not versions:
        return None
    if uri.version is not None:
        return versions.get(version_of(uri.version) or ())
    if uri.range is not None:
        start = version_of(uri.range) or ()
        fitting = {version: entry for version, entry in versions.items() if version and version[: len(start)] == start}
        return newest(fitting) if fitting else None
    return newest(versions)


class LeadsOutsideError(Exception):
    """A path runs through a symbolic link that leaves the roots."""


class Root:
    """A folder of vibes; listings are made when they are first needed and kept."""

    def __init__(self, path: Path, *, shared: bool, ending: str = ENDING) -> None:
        self.path = path
        self.ending = ending
        self.shared = shared
        self.real: str = os.path.realpath(path)
        self._inside = self.real.rstrip(os.sep) + os.sep
        """How the paths of all that is below it begin."""
        self.within: Callable[[str], bool] = self.holds
        """Whether a resolved path is in one of the roots; a registry widens it from this root to all of its own."""
        self._listings: dict[str, Listing] = {}
        self._names: dict[str, list[tuple[str, str]]] | None = None
        """By plain name: the folders and segments of the vibes that have it."""

    def holds(self, real: str) -> bool:
        """Tell whether a resolved path is this folder or below it."""
        return real.startswith(self._inside) or real == self.real

    def below(self, real: str) -> str:
        """Return the way from this folder to a resolved path that it holds, with `/` between names."""
        return real[len(self._inside) :].replace(os.sep, "/")

    def versions(self, uri: AugUri) -> dict[Version, VibeFile]:
        """Return the files that a reference may mean, by version; `LeadsOutsideError` if its path leaves the roots."""
        folder = ""
        for name in uri.segments[:-1]:
            listing = self._listing(folder)
            if name in listing.outside:
                raise LeadsOutsideError
            on_disk = listing.folders.get(name)
            if on_disk is None:
                return {}
            folder = f"{folder}/{on_disk}" if folder else on_disk
        return self._listing(folder).vibes.get(uri.segment, {})

    def file(self, entry: VibeFile) -> Path:
        """Return the path of a vibe file, as it is shown."""
        return self.path.joinpath(entry.folder, entry.file)

    def data(self, entry: VibeFile) -> bytes | None:  # noqa: ARG002  -- roots in memory have it
        """Return what a file holds, where that is no matter of reading it."""
        return None

    def uri(self, entry: VibeFile) -> str:
        """Return the canonical reference to a file, with its version if it has one."""
        return self._uri(entry.folder, entry.segment, ".".join(map(str, entry.version)) or None)

    def named(self, key: str) -> tuple[str, ...]:
        """Return the evergreen references of the vibes whose name, made `plain`, is the key."""
        return tuple(sorted(self._uri(folder, segment) for folder, segment in self._index().get(key, ())))

    def segments(self) -> Iterator[str]:
        """Yield the name of every vibe, in order of their paths."""
        for found in self._index().values():
            yield from (segment for _, segment in found)

    def uris(self) -> Iterator[str]:
        """Yield the evergreen reference of every vibe, in order of their paths."""
        for found in self._index().values():
            yield from (self._uri(folder, segment) for folder, segment in found)

    def files(self) -> Iterator[str]:
        """Yield the resolved path of every file, folder by folder."""
        for folder, listing in self._walk():
            where = os.path.join(self.real, folder) if folder else self.real  # noqa: PTH118  -- strings: this runs for each file
            for versions in listing.vibes.values():
                yield from (f"{where}{os.sep}{entry.file}" for entry in versions.values())

    def _uri(self, folder: str, segment: str, version: str | None = None) -> str:
        folders = (normalize("NFC", name) for name in folder.split("/") if name)
        return str(AugUri((*folders, segment), shared=self.shared, version=version))

    def _index(self) -> dict[str, list[tuple[str, str]]]:
        if self._names is None:
            found: dict[str, list[tuple[str, str]]] = {}
            for folder, listing in self._walk():
                for segment in listing.vibes:
                    found.setdefault(comparison_key(segment), []).append((folder, segment))
            self._names = found
        return self._names

    def _walk(self) -> Iterator[tuple[str, Listing]]:
        """Yield the listing of every folder once, though links may lead to it by several paths or round in a circle."""
        real, linked = [""], list[str]()
        seen: set[tuple[int, int]] = set()
        while real or linked:
            folder = real.pop() if real else linked.pop(0)
            try:
                status = os.stat(os.path.join(self.real, folder))  # noqa: PTH116, PTH118  -- strings: this runs for each folder
            except OSError:
                continue
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            listing = self._listing(folder)
            yield folder, listing
            for name, on_disk in sorted(listing.folders.items(), reverse=True):
                below = f"{folder}/{on_disk}" if folder else on_disk
                (linked if name in listing.links else real).append(below)

    def _listing(self, folder: str) -> Listing:
        listing = self._listings.get(folder)
        if listing is None:
            listing = self._listings.setdefault(folder, self._scan(folder))
        return listing

    def _scan(self, folder: str) -> Listing:
        listing = Listing()
        vibes: list[str] = []
        folders: list[tuple[str, bool]] = []
        where = os.path.join(self.real, folder)  # noqa: PTH118  -- scandir tells kinds without a stat
        try:
            with os.scandir(where) as entries:
                for entry in entries:
                    if entry.name.endswith(self.ending):
                        vibes.append(entry.name)
                    elif not entry.name.startswith(".") and _is_folder(entry):
                        folders.append((entry.name, entry.is_symlink()))
        except OSError:  # not there, or not ours to read: it holds nothing
            return listing
        for file in sorted(vibes):
            if said := read_name(file, self.ending):
                segment, version = said
                listing.vibes.setdefault(segment, {}).setdefault(version, VibeFile(folder, file, segment, version))
        for file, is_link in sorted(folders):
            name = normalize("NFC", file)
            if is_link and not self.within(os.path.realpath(os.path.join(where, file))):  # noqa: PTH118  -- strings: this runs for each file
                listing.outside.add(name)
            elif name not in listing.folders:
                listing.folders[name] = file
                if is_link:
                    listing.links.add(name)
        return listing


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
