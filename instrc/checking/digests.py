"""One digest for a file and all that its problems may depend on: vibes, programs, settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b

from instrc.checking.contents import SIZE, Contents, joint_digest
from instrc.files import STDIN
from instrc.problems.problem import CompileError
from instrc.version import __version__
from instrc.vibes.registry import Registry
from instrc.workspace import Workspace

PACKAGE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  -- a string: it is walked by strings
"""The folder of the whole package."""


class Digests:
    """What each file and all that it can see say."""

    def __init__(self, workspace: Workspace, contents: Contents, roots: Sequence[str], shared: Sequence[str]) -> None:
        self.workspace = workspace
        settings = repr((tuple(roots), tuple(shared), sys.version_info)).encode()
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
        """Yield the digest for each file that can be read; what cannot is checked each time."""
        elsewhere: dict[str, bool] = {}
        for file in files:
            with suppress(OSError, ValueError):
                if file != STDIN:
                    elsewhere[file] = not file.endswith(".json") or self.contents.of(self._real(file)).looks_elsewhere
        for file, looks in elsewhere.items():
            with suppress(OSError, ValueError, CompileError):
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
            whole = blake2b(digest_size=SIZE)
            for real in registry.files():
                whole.update(real.encode("utf-8", "surrogateescape") + b"\0" + self.contents.of(real).digest)
            self.worlds[registry] = whole.digest()
        return self.worlds[registry]


def _package() -> bytes:
    """Return what tells this state of the package from another, in a checkout as well."""
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
