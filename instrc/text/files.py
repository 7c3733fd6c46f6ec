"""Regular files, the data files of the package, TOML text, and streams as their bytes arrive."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISDIR, S_ISFIFO, S_ISLNK, S_ISREG, S_ISSOCK
from typing import Final

MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of a file that is read whole, in bytes."""
_BLOCK = 1024 * 1024
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_HANDED_OVER = r"/dev/(?:stdin|stdout|stderr|null|fd/[0-9]+)|/proc/self/fd/[0-9]+"


def is_inherited_stream(path: str) -> bool:
    """Return whether a path is a stream inherited from the shell (`/dev/stdin`, `<(…)`), or the null device."""
    return path.startswith(("/dev/", "/proc/")) and re.fullmatch(_HANDED_OVER, path) is not None


def read_regular(path: str, most: int, start: int = 0) -> bytes:
    """Read at most `most` bytes of a regular file from `start`; any other file is an `OSError` with a readable `strerror`.

    The first bytes are read, or those from `start` on.

    A stream passed with the command is read too.
    """
    if is_inherited_stream(path):
        with open(path, "rb") as file:  # noqa: PTH123  -- a string, as a `Path` would normalize the user's spelling
            return file.read(most)
    refuse_irregular(path, os.stat(path).st_mode)  # noqa: PTH116  -- as above
    opened = os.open(path, _READING)
    try:
        result = os.fstat(opened)
        refuse_irregular(path, result.st_mode)  # it may have been replaced meanwhile
        if start:
            os.lseek(opened, start, os.SEEK_SET)
        return _read(opened, most, max(result.st_size - start, 0))
    finally:
        os.close(opened)


def _read(opened: int, most: int, size: int) -> bytes:
    """Read at most `most` bytes in blocks: one buffer of that size would cost more than most files."""
    data = os.read(opened, min(most, size + 1))
    if size and len(data) == size:  # one byte more was requested, so this is the end
        return data
    parts = [data]  # it has changed, has no size (as in `/proc`), or is larger than `most`
    most -= len(data)
    while most > 0 and (part := os.read(opened, min(most, _BLOCK))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def reason(error: OSError | ValueError) -> str:
    """Return the reason of an operating system error as a clause."""
    said = getattr(error, "strerror", None) or str(error)
    return said[:1].lower() + said[1:]


def read_whole(path: str, most: int = MOST_BYTES) -> bytes:
    """Return the contents of a regular file; raise `OSError` as in `read_regular`, also for more than `most` bytes."""
    data = read_regular(path, most + 1)
    if len(data) > most:
        raise OSError(0, f"it has over {most:,} bytes", path)
    return data


is_regular: Final = os.path.isfile
"""Return whether a path is a regular file, or `False` if that cannot be determined."""


def refuse_irregular(path: str, mode: int) -> None:
    """Raise an `OSError` that names the kind of a file that is not regular."""
    if not S_ISREG(mode):
        raise OSError(0, f"it is {file_kind(mode)}", path)


def refuse_planted(path: str | os.PathLike[str]) -> None:
    """Raise an `OSError` for what another user may have put here: it or a folder above is theirs, in a folder of everybody.

    Where each link on the way leads is asked too, as the system follows it: any of them may have been replaced.
    """
    place = Path(path).absolute()
    places = [*reversed(place.parents), place] if os.name == "posix" else []
    with suppress(FileNotFoundError):
        os.stat(place)  # noqa: PTH116  -- it raises for a ring of links, which would have no end here
    for each in places:
        state = os.lstat(each)
        if each.name != ".." and each.parent.stat().st_mode & 0o002 and state.st_uid not in {0, os.geteuid()}:
            what = "it" if each == place else f"`{each}`"
            raise OSError(0, f"{what} belongs to another user, in a folder that everybody may write to: `chmod o-w` that folder")
        if S_ISLNK(state.st_mode):
            target = each.parent / os.readlink(each)  # noqa: PTH115  -- as `lstat`
            places += [above for above in (*reversed(target.parents), target) if above not in places]


def file_kind(mode: int) -> str:
    """Return the kind of a file by its mode, as a noun with its article."""
    kinds = {S_ISDIR: "a folder", S_ISFIFO: "a pipe", S_ISSOCK: "a socket", S_ISCHR: "a device", S_ISBLK: "a device"}
    return next((name for test, name in kinds.items() if test(mode)), "not a regular file")


@cache
def root() -> Path:
    """Return the folder that holds `grammar/` and `schemas/`."""
    package = Path(__file__).resolve().parent.parent
    return package if (package / "grammar").is_dir() else package.parent


def folder(name: str) -> Path:
    """Return the path of a data folder: `grammar` or `schemas`."""
    return root() / name


def read(name: str, path: str) -> str:
    """Return the text of a file in a data folder."""
    return (folder(name) / path).read_text(encoding="utf-8")


_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART}){{9,}}"
_MOST_STEPS = 10_000_000
"""Maximum sum of squared part counts of dotted keys, about a third of a second: `tomllib` is quadratic in them."""


class TomlError(ValueError):
    """A text that cannot be read as TOML: `reason` is a clause, `line` and `column` count from 1 where the place is known."""

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column


def read_toml(text: str) -> dict[str, object]:
    """Parse a TOML text; raise `TomlError` if it is not TOML, or would take too long."""
    import tomllib  # rarely needed

    dotted = "\n".join(line for line in text.split("\n") if line.count(".") >= 9)
    if dotted and sum((found[0].count(".") + 1) ** 2 for found in re.finditer(_DOTTED, dotted)) > _MOST_STEPS:
        raise TomlError("it has keys of too many parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _placed(text, str(error)) from None
    except (RecursionError, ValueError) as error:
        reason = "it nests too deeply" if isinstance(error, RecursionError) else "it holds a number that is too long"
        raise TomlError(reason) from None


def _placed(text: str, message: str) -> TomlError:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    reason = message[: place.start()] if place else message
    reason = reason[:1].lower() + reason[1:]
    if place is None:
        return TomlError(reason)
    if place[1]:
        return TomlError(reason, int(place[1]), int(place[2]))
    lines = text.split("\n")
    return TomlError(reason, len(lines), len(lines[-1]) + 1)


def make_unversioned(folder: Path) -> None:
    """Create a folder for machine-specific files, such as runs, with a `.gitignore` that excludes it; only its owner may enter.

    An existing folder that is not hidden may have other contents and gets no `.gitignore`.
    """
    ours = folder.name.startswith(".") or not folder.exists()
    make_private(folder)
    if ours and not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def store(path: Path, data: bytes) -> None:
    """Replace a file of a cache, two levels below a folder for this machine, atomically; errors are ignored."""
    temporary = path.with_name(f".{path.name}-{os.urandom(6).hex()}.tmp")
    with suppress(OSError):
        make_unversioned(path.parent.parent)
        path.parent.mkdir(exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """Create a folder that only its owner may enter; an existing one is left unchanged, or refused as in `refuse_planted`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    refuse_planted(folder)


def private_opener(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=…)`; a new file is accessible to its owner only, and a link is not overwritten."""
    return os.open(path, flags | (getattr(os, "O_NOFOLLOW", 0) if flags & os.O_TRUNC else 0), 0o600)


def is_open_to_others(path: Path) -> bool:
    """Return whether other users of this machine can access a file or folder; false where permissions do not apply."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & 0o077)
    except OSError:
        return False
