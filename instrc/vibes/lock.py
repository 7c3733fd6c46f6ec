"""The lock file: the vibe that each reference resolved to, and the comparison of two locks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from instrc import problems
from instrc.problems.errors import CompileError, InstrcError
from instrc.text import files
from instrc.text.arguments import excerpt
from instrc.text.files import TomlError, read_toml, read_whole
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.source import CONFLICT_MARK, Source, Span
from instrc.vibes.packages import package_roots
from instrc.vibes.uri import evergreen_of, short
from instrc.vibes.vibe import Vibe


class Locked(Struct, frozen=True, order=True):
    """A reference without fragment, and the vibe that it resolved to."""

    reference: str
    version: str
    """Version; empty for a file without one."""
    file: str
    """Path below the lock's folder, `built-in/…`, or `installed/…` in a package."""
    sha256: str

    @property
    def address(self) -> str:
        """The reference pinned to this version."""
        evergreen = evergreen_of(self.reference.partition("?")[0])
        return f"{evergreen}:{self.version}" if self.version else evergreen


_FIELDS = ("reference", "version", "file", "sha256")
"""Names of the fields; a line with others was written by git into a file that it could not merge."""
_HEAD = "# Written by `instrc lock`. `--locked` takes exactly these vibes; `instrc lock --check` says what has changed.\n"
FORMAT = 1


class Lock(Struct, frozen=True):
    """A whole lock: its path, and its entries in order."""

    path: Path
    entries: tuple[Locked, ...]

    def entries_for(self, reference: str) -> tuple[Locked, ...]:
        """Return the entries for a reference as written, or as the target address of another one."""
        return tuple(entry for entry in self.entries if reference in (entry.reference, entry.address))

    def find(self, reference: str, file: str) -> Locked | None:
        """Return the entry for a reference that leads to a file."""
        return next((entry for entry in self.entries if (entry.reference, entry.file) == (reference, file)), None)

    def text(self) -> str:
        """Return the text of the lock."""
        tables = [
            "\n[[vibe]]\n" + "".join(f"{name} = {toml_of(getattr(entry, name))}\n" for name in _FIELDS) for entry in self.entries
        ]
        return f"{_HEAD}version = {FORMAT}\n{''.join(tables)}"


def toml_of(value: Json) -> str:
    """Return a text, a number or a list of texts in TOML, which writes them as JSON does."""
    return dumps(value, indent=False).replace("\x7f", "\\u007f")


NAME = "aug.lock"
_DIGITS = 64


def locked(reference: str, vibe: Vibe, folder: Path) -> Locked:
    """Return the entry for the current target of a reference; `folder` is that of the lock."""
    return Locked(reference, vibe.uri[len(evergreen_of(vibe.uri)) + 1 :], vibe_place(vibe, folder), vibe_digest(vibe))


def locked_vibe(lock: Lock, reference: str, find: Callable[[str], Vibe], at: Span | None) -> Vibe:
    """Return the locked vibe of a reference without fragment; raise `CompileError` if it is missing or has changed.

    `find` returns the current target of a reference, and raises a `CompileError` without one; `at` is the place of the reference.
    """
    entries = lock.entries_for(reference)
    if not entries:
        raise CompileError([problems.settings.NotLocked(at=at, reference=short(reference), lock=lock.path.as_posix())])
    reason = "its vibe is not there"
    for entry in entries:
        try:
            vibe = find(entry.address)
        except InstrcError:
            continue
        place = vibe_place(vibe, lock.path.parent)
        if place == entry.file:
            if vibe_digest(vibe) == entry.sha256:
                return vibe
            reason = f"`{entry.file}` has changed"
        elif reason == "its vibe is not there":
            reason = f"it leads to `{place}`"
    raise CompileError([problems.settings.StaleLock(at=at, reference=short(reference), reason=reason)])


def vibe_digest(vibe: Vibe) -> str:
    """Return the digest of the content of a vibe file."""
    from hashlib import sha256  # only needed for a lock

    return sha256(dumps(vibe.document, indent=False).encode()).hexdigest()


def vibe_place(vibe: Vibe, folder: Path) -> str:
    """Return the place of a vibe as a lock records it: the same on every machine."""
    real = os.path.realpath(vibe.source.name)
    built_in = os.path.realpath(files.folder("schemas"))
    if real.startswith(built_in + os.sep):
        return "built-in/" + os.path.relpath(real, built_in).replace(os.sep, "/")
    for root in map(os.path.realpath, package_roots()):
        if real.startswith(root + os.sep):
            return "installed/" + os.path.relpath(real, root).replace(os.sep, "/")
    return os.path.relpath(real, os.path.realpath(folder)).replace(os.sep, "/")


def lock_of(path: Path, resolved: Iterable[tuple[str, Vibe]]) -> Lock:
    """Return the lock of references and their current targets; a vibe's own address is left out if another leads to it."""
    entries = {locked(reference, vibe, path.parent): vibe.uri for reference, vibe in resolved}
    others = {entry.address for entry, uri in entries.items() if entry.reference != uri}
    return Lock(path, tuple(sorted(entry for entry, uri in entries.items() if entry.reference != uri or uri not in others)))


def read_lock(path: Path, text: str) -> Lock:
    """Read a lock; raise `CompileError` if it is invalid."""
    try:
        document = read_toml(text)
    except TomlError as error:
        from instrc.vibes.settings_places import error_place  # a valid lock needs none

        if (mark := CONFLICT_MARK.search(text)) is not None:
            reason = "it contains merge conflict markers"
            raise _invalid(path, text, reason, at=mark.span()) from None
        place = error_place(Source(path.as_posix(), text), error)
        raise _invalid(path, text, error.reason, at=(place.start, place.end)) from None
    version, tables = document.get("version"), document.get("vibe", [])
    if version is None:
        raise _invalid(path, text, f"it does not say its version: `version = {FORMAT}`" if text.strip() else "it is empty")
    if isinstance(version, bool) or not isinstance(version, int) or version != FORMAT:
        raise _invalid(path, text, f"its version is {excerpt(version)}, not {FORMAT}")
    if not isinstance(tables, list):
        raise _invalid(path, text, "`vibe` is a list of tables")
    return Lock(path, tuple(sorted(_entry(path, text, table, number) for number, table in enumerate(tables))))


def _invalid(path: Path, text: str, reason: str, value: str = "", at: tuple[int, int] | None = None) -> CompileError:
    """Return the error of a lock, at a range of characters or at the invalid value, if one is given and found."""
    source = Source(path.as_posix(), text)
    start = text.find(toml_of(value)) if value else -1
    if start >= 0:
        at = (start, start + len(toml_of(value)))
    return CompileError([problems.settings.InvalidLock(at=source.whole() if at is None else source.span(*at), reason=reason)])


def _entry(path: Path, text: str, table: object, number: int) -> Locked:
    """Return the entry in a table of a lock; `number` is the index of the table."""
    fields = table if isinstance(table, dict) else {}
    for name in _FIELDS:
        if not isinstance(fields.get(name), str):
            unknown = next((field for field in fields if field not in _FIELDS), None)
            instead = "" if unknown is None or name in fields else f", and `{unknown}` is not known"
            reason = f"`{name}` of an entry is {'not a text' if name in fields else 'missing'}{instead}"
            raise _invalid(path, text, reason, at=_line_of(text, number, name if name in fields else unknown))
    if not re.fullmatch(rf"[0-9a-f]{{{_DIGITS}}}", fields["sha256"]):
        reason = f"`sha256` of {excerpt(fields['reference'])} is not a digest: that has {_DIGITS} characters, 0 to 9 and a to f"
        raise _invalid(path, text, reason, fields["sha256"])
    return Locked(*(fields[name] for name in _FIELDS))


def _line_of(text: str, number: int, field: str | None) -> tuple[int, int] | None:
    """Return the range of a field of a lock's table, or of the table's header; `None` for a handwritten layout."""
    heads = [found.span() for found in re.finditer(r"^\[\[vibe\]\]$", text, re.MULTILINE)]
    if number >= len(heads):
        return None
    end = heads[number + 1][0] if number + 1 < len(heads) else len(text)
    line = None if field is None else re.compile(rf"^{re.escape(field)} =", re.MULTILINE).search(text, heads[number][1], end)
    return heads[number] if line is None else (line.start(), line.end() - 2)


def place_in_lock(source: Source, reference: str, file: str) -> Span:
    """Return the place of a reference's target in a lock: the line of the reference in the entry with this file.

    Return the whole lock if it has no such entry or a handwritten layout.
    """
    wanted = (f"reference = {toml_of(reference)}\n", f"file = {toml_of(file)}\n")
    start = 0
    for table in source.text.split("[[vibe]]\n"):
        if all(line in table for line in wanted):
            at = start + table.index(wanted[0])
            return source.span(at, at + len(wanted[0]) - 1)
        start += len(table) + len("[[vibe]]\n")
    return Source(source.name, "").whole()


def open_lock(path: Path) -> Lock:
    """Return the lock at a path; raise `CompileError` if there is none."""
    text = lock_text(path)
    if text is None:
        raise CompileError([problems.settings.NotLocked(at=Source(path.as_posix(), "").whole(), lock=path.as_posix())])
    return read_lock(path, text)


def lock_text(path: Path) -> str | None:
    """Return the text of the lock at a path, or `None` if there is none; raise `CompileError` if it is unreadable."""
    try:
        data = read_whole(str(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _invalid(path, "", (getattr(error, "strerror", None) or str(error)).lower()) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _invalid(path, data.decode("utf-8", "replace"), "it is not UTF-8") from None
