"""Root folders and their files, and vibes in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import normalize

from msgspec import Struct, field

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.problems.suggest import comparison_key
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.vibes.uri import AugUri, Version, version_of

LISTED_FILES: Final = 2_000
"""Maximum files and folders near a program that are searched for a vibe saved under a wrong name."""
LISTED_LEVELS: Final = 3
"""Maximum depth of folders searched for it."""
ROOT_FOLDERS: Final = 10_000
"""Maximum folders of a root: one may be a link to the root of a disk."""
ENDING = ".vibe.json"
PROGRAM_ENDING = ".aug"


class VibeFile(Struct, frozen=True):
    """A vibe file: the path of its folder below the root, its file name, and the parts of the name."""

    folder: str
    file: str
    segment: str
    version: Version


class Listing(Struct):
    """The contents of one folder."""

    folders: dict[str, str] = field(default_factory=dict)
    """Names on disk by NFC name."""
    links: set[str] = field(default_factory=set)
    """NFC names of folders that are symbolic links to a folder in one of the roots."""
    outside: set[str] = field(default_factory=set)
    """NFC names of folders that are symbolic links to other places; they are never searched."""
    vibes: dict[str, dict[Version, VibeFile]] = field(default_factory=dict)
    """Files by segment and version."""


def read_name(file: str, ending: str = ENDING) -> tuple[str, Version] | None:
    """Return the segment and version in a file name, or `None` if it is not that of a vibe."""
    stem = file.removesuffix(ending)
    if stem == file or not stem or file.startswith("."):
        return None
    name, mark, written = stem.rpartition("@")
    version = version_of(written) if mark and name else None
    return (normalize("NFC", stem), ()) if version is None else (normalize("NFC", name), version)


def newest(versions: dict[Version, VibeFile]) -> VibeFile:
    """Return the file without a version, or else the one with the highest."""
    return versions[()] if () in versions else versions[max(versions)]


def choose(versions: dict[Version, VibeFile], uri: AugUri) -> VibeFile | None:
    """Return the file that a reference selects: the pinned version, the newest of a range, or the newest."""
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
    """A path passes through a symbolic link that leaves the roots."""


class Root:
    """A folder of vibes; listings are read on demand and cached."""

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
        """Return whether a resolved path is this folder or inside it."""
        return real.startswith(self._inside) or real == self.real

    def below(self, real: str) -> str:
        """Return the path from this folder to a resolved path inside it, with `/` between names."""
        return real[len(self._inside) :].replace(os.sep, "/")

    def versions(self, uri: AugUri) -> dict[Version, VibeFile]:
        """Return the files that a reference may select, by version; raise `LeadsOutsideError` if its path leaves the roots."""
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
        """Return the path of a vibe file, for display."""
        return self.path.joinpath(entry.folder, entry.file)

    def data(self, entry: VibeFile) -> bytes | None:  # noqa: ARG002  -- only roots in memory have it
        """Return the content of an entry that is not a file to be read, or `None`."""
        return None

    def uri(self, entry: VibeFile) -> str:
        """Return the canonical reference to a file, including its version if any."""
        return self._uri(entry.folder, entry.segment, ".".join(map(str, entry.version)) or None)

    def named(self, key: str) -> tuple[str, ...]:
        """Return the versionless references of the vibes whose normalized name is the key."""
        return tuple(sorted(self._uri(folder, segment) for folder, segment in self._index().get(key, ())))

    def segments(self) -> Iterator[str]:
        """Yield the name of every vibe, sorted by path."""
        for found in self._index().values():
            yield from (segment for _, segment in found)

    def uris(self) -> Iterator[str]:
        """Yield the versionless reference of every vibe, sorted by path."""
        for found in self._index().values():
            yield from (self._uri(folder, segment) for folder, segment in found)

    def files(self) -> Iterator[Path]:
        """Yield the path of every vibe file, for display."""
        for _, listing in self._walk():
            yield from (self.file(entry) for versions in listing.vibes.values() for entry in versions.values())

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
        """Yield the listing of every folder once, even if links lead to it by several paths or in a cycle."""
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
            if len(seen) > ROOT_FOLDERS:
                what = f"the root `{self.path.as_posix()}`"
                raise CompileError([problems.files.TooLarge(what=what, limit=ROOT_FOLDERS, unit="folders")])
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
        where = os.path.join(self.real, folder)  # noqa: PTH118  -- scandir distinguishes kinds without a stat
        try:
            with os.scandir(where) as entries:
                for entry in entries:
                    if entry.name.endswith(self.ending):
                        vibes.append(entry.name)
                    elif not entry.name.startswith(".") and _is_folder(entry):
                        folders.append((entry.name, entry.is_symlink()))
        except OSError:  # missing or unreadable: treated as empty
            return listing
        for file in sorted(vibes):
            if said := read_name(file, self.ending):
                segment, version = said
                listing.vibes.setdefault(segment, {}).setdefault(version, VibeFile(folder, file, segment, version))
        for file, is_link in sorted(folders):
            name = normalize("NFC", file)
            if is_link and not self.within(os.path.realpath(os.path.join(where, file))):  # noqa: PTH118  -- strings, for speed: this runs for each file
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


NAME = "<vibes>"
"""Name of the folder shown in problems."""


class MemoryRoot(Root):
    """A root in memory; a name is a path without extension, such as `Draft`, `mail/Draft` or `Draft@2`."""

    def __init__(self, schemas: Mapping[str, Json]) -> None:
        super().__init__(Path(NAME), shared=False)
        self._data: dict[tuple[str, str], bytes] = {}
        self._folders: dict[str, Listing] = {"": Listing()}
        for name, schema in schemas.items():
            self._add(name, schema)

    def holds(self, real: str) -> bool:  # noqa: ARG002  -- a file system path is never in memory
        """Return `False`: this root contains no files."""
        return False

    def each(self) -> Iterator[str]:
        """Yield the reference of every vibe, including each version."""
        for listing in self._folders.values():
            yield from (self.uri(entry) for versions in listing.vibes.values() for entry in versions.values())

    def data(self, entry: VibeFile) -> bytes:
        """Return the content of an entry in the form of a file."""
        return self._data[entry.folder, entry.file]

    def _add(self, name: str, schema: Json) -> None:
        folder, _, last = name.rpartition("/")
        said = read_name(f"{last}{ENDING}")
        parts = folder.split("/") if "/" in name else []
        if said is None or any(not part or part in {".", ".."} for part in parts):
            wanted = "named like a vibe file without its ending, such as `Draft`, `mail/Draft` or `Draft@2`"
            raise CompileError([problems.settings.InvalidOption(option="vibes", given=repr(name)[:60], wanted=wanted)])
        for size in range(len(parts)):
            above = self._folders.setdefault("/".join(parts[:size]), Listing())
            above.folders[parts[size]] = parts[size]
        segment, version = said
        entry = VibeFile(folder, f"{last}{ENDING}", segment, version)
        self._folders.setdefault(folder, Listing()).vibes.setdefault(segment, {})[version] = entry
        self._data[folder, entry.file] = dumps(schema).encode()

    def _walk(self) -> Iterator[tuple[str, Listing]]:
        yield from sorted(self._folders.items(), key=lambda item: item[0])

    def _listing(self, folder: str) -> Listing:
        return self._folders.get(folder) or Listing()


_ENDINGS = (".json", ".jsonc", ".json5", ".yaml", ".yml", ".vibe", ".json.txt")
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})


class Misnamed(NamedTuple):
    """A file that cannot be found by name, and the path under which it could."""

    found: str
    wanted: str


def misnamed(program: Path, roots: Sequence[Root]) -> dict[str, Misnamed]:
    """Return the files that resemble vibes, by normalized name: those of the roots, then those near a program.

    Only names in folders are read, up to a limit.
    """
    folders = [root.path for root in roots if not root.shared and os.path.isdir(root.path)]  # noqa: PTH112  -- no error for a NUL
    first = folders[0] if folders else program.parent / "schemas"
    by_path: dict[str, Misnamed] = {}
    for start in (*folders, program.parent):
        for folder, file in _files(start):
            stem = _stem(file)
            within = any(root.holds(os.path.realpath(folder)) for root in roots)
            if stem is None or (within and file.endswith(ENDING)):
                continue
            wanted = (folder if within else first) / f"{stem}{ENDING}"
            by_path.setdefault(comparison_key(stem), Misnamed((folder / file).as_posix(), wanted.as_posix()))
    return by_path


def _files(start: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files in a folder and its subfolders, each with its folder; links are not followed."""
    waiting = [(start, 0)]
    count = 0
    while waiting:
        folder, level = waiting.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # missing or unreadable
            continue
        for entry in entries:
            count += 1
            if count > LISTED_FILES:
                return
            if not entry.is_dir(follow_symlinks=False):
                yield folder, entry.name
            elif level < LISTED_LEVELS and not entry.name.startswith(".") and entry.name not in _SKIPPED:
                waiting.append((folder / entry.name, level + 1))


def _stem(file: str) -> str | None:
    """Return the vibe name of a file with a confusable extension, or `None`."""
    ending = next((each for each in sorted(_ENDINGS, key=len, reverse=True) if file.endswith(each)), None)
    stem = None if ending is None or file.startswith(".") else file.removesuffix(ending).removesuffix(".vibe")
    return None if not stem or "." in stem else stem
