"""Programs that lie in the roots of a registry: found by name and by reference, as vibes are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from instrc.problems.suggest import comparison_key
from instrc.regular import read_regular
from instrc.source import Span
from instrc.vibes.errors import leads_outside, unreadable_file
from instrc.vibes.roots import PROGRAM_ENDING, LeadsOutsideError, Root, choose
from instrc.vibes.uri import parse


class ProgramFile(Struct, frozen=True):
    """A program that lies in a root."""

    uri: str
    """The canonical reference to it."""
    segment: str
    path: str
    """As it is shown."""
    data: bytes
    root: Path
    """The root that it lies in."""


class Programs:
    """The roots of a registry with the programs in them."""

    def __init__(self, roots: Iterable[Root], holds: Callable[[str], bool], max_bytes: int, unsaved: Mapping[str, str]) -> None:
        self.roots: tuple[Root, ...] = tuple(Root(root.path, shared=root.shared, ending=PROGRAM_ENDING) for root in roots)
        for root in self.roots:
            root.within = holds
        self.holds = holds
        """Whether a resolved path is in one of the roots."""
        self.max_bytes = max_bytes
        self.unsaved = unsaved
        """The texts that an editor holds, by resolved path; they stand for the files."""

    def lookup(self, name: str) -> tuple[str, ...]:
        """Return evergreen references of the programs with a name, of the earliest root that has any."""
        key = comparison_key(name)
        return next((found for root in self.roots if (found := root.named(key))), ())

    def load(self, uri: str, at: Span | None = None) -> ProgramFile | None:
        """Return the program that a reference means; `None` if there is none, a `CompileError` if it cannot be read."""
        written = parse(uri, at)
        for root in self.roots:
            if written.shared and not root.shared:
                continue
            try:
                entry = choose(root.versions(written), written)
            except LeadsOutsideError:
                raise leads_outside(uri, at) from None
            if entry is None:
                continue
            path = root.file(entry)
            real = os.path.realpath(path)
            if not self.holds(real):
                raise leads_outside(uri, at)
            try:
                text = self.unsaved.get(real)
                data = read_regular(real, self.max_bytes + 1) if text is None else text.encode("utf-8", "surrogatepass")
            except (OSError, ValueError) as error:
                raise unreadable_file(path.as_posix(), error, at) from None
            return ProgramFile(root.uri(entry), entry.segment, path.as_posix(), data, root.path)
        return None

    def uris(self) -> Iterator[str]:
        """Yield the evergreen reference of every program, earlier roots first."""
        for root in self.roots:
            yield from root.uris()

    def names(self) -> Iterator[str]:
        """Yield the name of every program, as spelled, earlier roots first."""
        for root in self.roots:
            yield from root.segments()

    def files(self) -> Iterator[str]:
        """Yield the resolved path of every program, earlier roots first."""
        for root in self.roots:
            yield from root.files()
