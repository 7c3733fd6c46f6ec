"""The registry of vibes and programs, by name and by reference."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, TypeVar, overload
from unicodedata import normalize

from msgspec import Struct

from instrc.problems.errors import InstrcError
from instrc.problems.suggest import comparison_key, nearest
from instrc.text import files
from instrc.text.files import read_regular
from instrc.text.jsonvalue import Json
from instrc.text.limits import VIBE_BYTES
from instrc.text.source import Span
from instrc.vibes.packages import package_roots
from instrc.vibes.roots import PROGRAM_ENDING, LeadsOutsideError, Root, VibeFile, choose, read_name
from instrc.vibes.uri import (
    SCHEME,
    AugUri,
    Version,
    evergreen_of,
    leads_outside,
    parse,
    unknown_version,
    unreadable_file,
    unresolved,
)
from instrc.vibes.vibe import Vibe, parse_vibe

if TYPE_CHECKING:
    from instrc.vibes.lock import Lock


class ProgramFile(Struct, frozen=True):
    """A program in a root."""

    uri: str
    """Canonical reference."""
    segment: str
    path: str
    """Path as displayed."""
    data: bytes
    root: Path
    """Root that contains the file."""


class Registry:
    """Vibes by name, by reference and by path; files are read on first access and cached.

    `workspace` and `shared` are root folders in order of precedence, followed by the library and installed packages.
    `memory` has schemas by name, which take precedence over all folders.
    A registry may be used by several threads.  It does not notice changes to files.
    """

    def __init__(
        self,
        workspace: Sequence[Path] = (),
        shared: Sequence[Path] = (),
        *,
        library: Path | None = None,
        max_bytes: int = VIBE_BYTES,
        lock: Lock | None = None,
        memory: Mapping[str, Json] | None = None,
        unsaved: Mapping[str, str] | None = None,
        around: Callable[[Path, Path, Lock | None], Registry] | None = None,
    ) -> None:
        built_in = files.folder("schemas") if library is None else library
        self.roots: tuple[Root, ...] = tuple(_distinct(workspace, [*shared, built_in, *package_roots()]))
        if memory:
            from instrc.vibes.roots import MemoryRoot  # files have none

            self.roots = (MemoryRoot(memory), *self.roots)
        for root in self.roots:
            root.within = self._holds
        self.max_bytes = max_bytes
        self.lock = lock
        """What references have to mean; `None` for whatever they mean now."""
        self._around = around
        """Gives the registry that a file in a root sees."""
        self._unsaved = {} if unsaved is None else unsaved
        """Texts that an editor holds, by real path: they stand for the files."""
        self.documents: Mapping[str, Json] = Documents(self.load, self.uris)
        """Bare schemas by reference without fragment, in any spelling; the same object for the same vibe."""
        self._by_uri: dict[str, Vibe] = {}
        self._by_file: dict[str, Vibe] = {}
        self._opened: dict[str, Vibe] = {}
        """Vibes passed by path, by reference: one outside the roots has a place, but is not found by name."""
        self._folders: dict[str, str] = {}
        """Resolved, by folder as written, each up to the names of files in it."""
        self._names: tuple[str, ...] | None = None
        self._lock = RLock()

    def lookup(self, name: str) -> tuple[str, ...]:
        """Return versionless references of the vibes with a name, compared without case, `_` and `-`.

        All come from the first root that has any: none if the name is unknown, several if it is ambiguous.
        """
        return _named(self.roots, name)

    @cached_property
    def _programs(self) -> tuple[Root, ...]:
        """The same roots, restricted to programs."""
        found = tuple(Root(root.path, shared=root.shared, ending=PROGRAM_ENDING) for root in self.roots)
        for root in found:
            root.within = self._holds
        return found

    def lookup_program(self, name: str) -> tuple[str, ...]:
        """Return versionless references of the programs with a name, from the first root that has any."""
        return _named(self._programs, name)

    def has(self, uri: str) -> bool:
        """Return whether a reference leads to a vibe, or to an entry of a folder that should be one."""
        try:
            written = parse(uri)
            return any(root.versions(written) for root in self.roots if root.shared or not written.shared)
        except (InstrcError, LeadsOutsideError):
            return True  # its errors are reported when it is loaded

    def load_program(self, uri: str, at: Span | None = None) -> ProgramFile | None:
        """Return the program of a reference, or `None`; raise `CompileError` if it is unreadable."""
        root, entry, _ = _chosen(self._programs, parse(uri, at), uri, at)
        if root is None or entry is None:
            return None
        path = root.file(entry)
        real = os.path.realpath(path)
        if not self._holds(real):
            raise leads_outside(uri, at)
        return ProgramFile(root.uri(entry), entry.segment, path.as_posix(), self._data(path, real, at), root.path)

    def of(self, file: ProgramFile) -> Registry:
        """Return the registry for a program in a root: this one, if it has the same roots."""
        found = self if self._around is None else self._around(Path(file.path), file.root, self.lock)
        return self if _seen(found) == _seen(self) else found

    def names(self) -> tuple[str, ...]:
        """Return the original spelling of every vibe's name, in order of roots."""
        if self._names is None:
            self._names = tuple(dict.fromkeys(name for root in self.roots for name in root.segments()))
        return self._names

    def searched(self) -> tuple[str, ...]:
        """Return the places where names are looked up, in order, as displayed: folders, then the built-in library."""
        built_in = os.path.realpath(files.folder("schemas"))
        found = ("the built-in library" if root.real == built_in else f"`{root.path.as_posix()}`" for root in self.roots)
        return tuple(dict.fromkeys(found))

    def uris(self) -> Iterator[str]:
        """Yield the versionless reference of every vibe, in order of roots."""
        for root in self.roots:
            yield from root.uris()

    def program_names(self) -> Iterator[str]:
        """Yield the original spelling of every program's name, in order of roots."""
        return (name for root in self._programs for name in root.segments())

    def program_uris(self) -> Iterator[str]:
        """Yield the versionless reference of every program, in order of roots."""
        return (uri for root in self._programs for uri in root.uris())

    def load(self, uri: str, at: Span | None = None) -> Vibe:
        """Return the vibe of a reference, without its fragment; raise `CompileError`, placed at `at`, if there is none."""
        known = self._by_uri.get(uri)
        if known is None:
            with self._lock:
                known = self.peek(uri, at) if self.lock is None else self._when_locked(self.lock, uri, at)
                self._by_uri[uri] = known
        return known

    def peek(self, uri: str, at: Span | None = None) -> Vibe:
        """Return the current vibe of a reference, without recording the lookup."""
        root, entry = self._find(parse(uri, at), uri, at)
        data = root.data(entry)
        if data is not None:
            name, address = root.file(entry).as_posix(), root.uri(entry)
            made = parse_vibe(data, name=name, uri=address, segment=entry.segment, max_bytes=self.max_bytes, referrer=at)
            return self._by_file.setdefault(f"{name}\0{address}", made)
        path = root.file(entry)
        real = self._resolved(path)
        if not self._holds(real):
            raise leads_outside(uri, at)
        return self._read(path, real, root.uri(entry), entry.segment, at)

    def resolved(self) -> tuple[tuple[str, Vibe], ...]:
        """Return every reference looked up so far, without fragment, with its target."""
        return tuple((uri.partition("#")[0], vibe) for uri, vibe in self._by_uri.items())

    def _when_locked(self, lock: Lock, uri: str, at: Span | None) -> Vibe:
        from instrc.vibes.lock import locked_vibe  # only needed with a lock

        return locked_vibe(lock, uri.partition("#")[0], lambda address: self.peek(address, at), at)

    def open(self, path: Path) -> Vibe:
        """Return the vibe at a file path, inside or outside the roots; raise `CompileError` if it is invalid."""
        real = self._resolved(path)
        uri, segment = self._uri_of(real)
        with self._lock:
            vibe = self._read(path, real, uri, segment, None)
            self._opened[uri] = vibe
            return vibe

    def locate(self, uri: str, pointer: str) -> Span | None:
        """Return the place of a part of a vibe's schema, or `None` if the reference leads to no vibe."""
        try:
            return (self._opened.get(uri) or self.load(uri)).span(pointer)
        except InstrcError:
            return None

    def suggest(self, reference: str) -> tuple[str, ...]:
        """Return the references most similar to an unresolvable one: similar names in any folder, then similar folders."""
        path = reference.partition("#")[0].rpartition("?")[0] or reference.partition("#")[0]
        by_name: dict[str, list[str]] = {}
        for uri in self.uris():
            by_name.setdefault(uri.rpartition("/")[2].removeprefix("aug:"), []).append(uri)
        wanted = path.rpartition("/")[2].removeprefix("aug:").partition(":")[0]
        found = [uri for name in nearest(wanted, tuple(by_name)) for uri in nearest(path, by_name[name]) or by_name[name]]
        return tuple(found[:3])

    def versions_beside(self, vibe: Vibe) -> tuple[str, ...]:
        """Return the versions that a vibe's reference may resolve to, oldest first; `""` is the file without a version."""
        evergreen = evergreen_of(vibe.uri)
        try:
            uri = parse(evergreen)
            there = next((found for root in self.roots if root.shared == uri.shared and (found := root.versions(uri))), {})
        except (InstrcError, LeadsOutsideError):  # a file outside the roots whose name is not a reference
            return ()
        return tuple(".".join(map(str, version)) for version in sorted(there))

    def _find(self, uri: AugUri, written: str, at: Span | None) -> tuple[Root, VibeFile]:
        root, entry, there = _chosen(self.roots, uri, written, at)
        if root is not None and entry is not None:
            return root, entry
        if there:
            raise unknown_version(written, tuple(".".join(map(str, version)) for version in sorted(there)), at)
        raise unresolved(written, self.suggest(written), at)

    def _read(self, path: Path, real: str, uri: str, segment: str, at: Span | None) -> Vibe:
        """Return the vibe in a file, given by its path and resolved path."""
        if known := self._by_file.get(real + "\0" + uri):
            return known
        data = self._data(path, real, at)
        vibe = parse_vibe(data, name=path.as_posix(), uri=uri, segment=segment, max_bytes=self.max_bytes, referrer=at)
        return self._by_file.setdefault(real + "\0" + uri, vibe)

    def _data(self, path: Path, real: str, at: Span | None) -> bytes:
        try:
            text = self._unsaved.get(real)
            return read_regular(real, self.max_bytes + 1) if text is None else text.encode("utf-8", "surrogatepass")
        except (OSError, ValueError) as error:  # ValueError: a NUL in a path from the command line
            raise unreadable_file(path.as_posix(), error, at) from None

    def _resolved(self, path: Path) -> str:
        """Return the path of a file with links resolved; its folder, shared by many files, is resolved once."""
        folder, name = os.path.split(path)
        if name in {"", ".", ".."}:
            return os.path.realpath(path)
        real = self._folders.get(folder)
        if real is None:
            real = self._folders[folder] = os.path.realpath(folder).rstrip(os.sep) + os.sep
        file = real + name
        return os.path.realpath(file) if os.path.islink(file) else file  # noqa: PTH114  -- strings, for speed: this runs for each file

    def _uri_of(self, real: str) -> tuple[str, str]:
        """Return the canonical reference and segment of a file; outside the roots, derived from its name alone."""
        file = os.path.basename(real)  # noqa: PTH119  -- as above
        segment, version = read_name(file) or (normalize("NFC", file.partition(".")[0]) or "vibe", ())
        for root in self.roots:
            if root.holds(real):
                return root.uri(VibeFile(root.below(real).rpartition("/")[0], file, segment, version)), segment
        return str(AugUri((segment,), version=".".join(map(str, version)) or None)), segment

    def _holds(self, real: str) -> bool:
        return any(root.holds(real) for root in self.roots)


def _distinct(workspace: Sequence[Path], shared: Sequence[Path]) -> Iterator[Root]:
    """Yield the roots without duplicates, each at its first occurrence; a shared one stays reachable as shared."""
    seen: set[tuple[str, bool]] = set()
    for paths, is_shared in ((workspace, False), (shared, True)):
        for path in paths:
            root = Root(path, shared=is_shared)
            if (root.real, is_shared) not in seen:
                seen.add((root.real, is_shared))
                yield root


def _named(roots: Iterable[Root], name: str) -> tuple[str, ...]:
    """Return the references of the vibes or programs with a name, from the first root that has any."""
    key = comparison_key(name)
    return next((found for root in roots if (found := root.named(key))), ())


def _chosen(
    roots: Iterable[Root], uri: AugUri, written: str, at: Span | None
) -> tuple[Root | None, VibeFile | None, dict[Version, VibeFile]]:
    """Return the first file that matches a reference, and its root; otherwise the files of other versions."""
    there: dict[Version, VibeFile] = {}
    for root in roots:
        if uri.shared and not root.shared:
            continue
        try:
            versions = root.versions(uri)
        except LeadsOutsideError:
            raise leads_outside(written, at) from None
        if entry := choose(versions, uri):
            return root, entry, there
        there |= versions
    return None, None, there


def _seen(registry: Registry) -> list[tuple[str, bool]]:
    return [(os.path.realpath(root.path), root.shared) for root in registry.roots]


_T = TypeVar("_T")


class Documents(Mapping[str, Json]):
    """Bare schemas by reference.

    An unresolvable `aug:` reference raises the `CompileError` with the reason rather than a bare `KeyError`:
    the reason (a version, a link, the file) would be lost in other mappings.
    """

    def __init__(self, load: Callable[[str], Vibe], uris: Callable[[], Iterable[str]]) -> None:
        self._load = load
        self._uris = uris

    def __getitem__(self, uri: str) -> Json:
        if uri[: len(SCHEME)].lower() != SCHEME:
            raise KeyError(uri)
        return self._load(uri).schema

    def __contains__(self, uri: object) -> bool:
        return isinstance(uri, str) and self._find(uri) is not None

    @overload
    def get(self, uri: str, /) -> Json: ...
    @overload
    def get(self, uri: str, default: Json | _T, /) -> Json | _T: ...
    def get(self, uri: str, default: Json | _T | None = None, /) -> Json | _T:
        """Return a schema, or the default for an unresolvable reference."""
        vibe = self._find(uri)
        return default if vibe is None else vibe.schema

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._uris()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _find(self, uri: str) -> Vibe | None:
        try:
            return self._load(uri)
        except InstrcError:
            return None
