"""Vibes that lie in no folder: schemas that a program of Python gives, by the names that instructions call them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.vibes.roots import ENDING, Listing, Root, VibeFile, read_name

NAME = "<vibes>"
"""The folder that problems show."""


class MemoryRoot(Root):
    """A root whose files are in memory; a name is a path without its ending, as `Draft`, `mail/Draft` or `Draft@2`."""

    def __init__(self, schemas: Mapping[str, Json]) -> None:
        super().__init__(Path(NAME), shared=False)
        self._data: dict[tuple[str, str], bytes] = {}
        self._folders: dict[str, Listing] = {"": Listing()}
        for name, schema in schemas.items():
            self._add(name, schema)

    def holds(self, real: str) -> bool:  # noqa: ARG002  -- no path of the file system lies in memory
        """Tell that no path lies here."""
        return False

    def each(self) -> Iterator[str]:
        """Yield the reference of every vibe, each version."""
        for listing in self._folders.values():
            yield from (self.uri(entry) for versions in listing.vibes.values() for entry in versions.values())

    def data(self, entry: VibeFile) -> bytes:
        """Return what a file would hold."""
        return self._data[entry.folder, entry.file]

    def _add(self, name: str, schema: Json) -> None:
        folder, _, last = name.rpartition("/")
        said = read_name(f"{last}{ENDING}")
        parts = folder.split("/") if "/" in name else []
        if said is None or any(not part or part in {".", ".."} for part in parts):
            from instrc.problems.settings import InvalidOption  # only where there is one

            wanted = "named like a vibe file without its ending, as `Draft`, `mail/Draft` or `Draft@2`"
            raise CompileError([InvalidOption(option="vibes", given=repr(name)[:60], wanted=wanted)])
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
