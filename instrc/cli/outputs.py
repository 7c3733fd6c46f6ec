"""Write files whole or not at all, and only in the place of regular files.

Each file is written beside its place under another name and then renamed, which the file system does in one step.
If one of several cannot be put in its place, those before it are put back as they were.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copy2
from stat import S_IMODE, S_ISLNK

from instrc.files import reason
from instrc.problems.files import UnwritableOutput
from instrc.problems.problem import Problem
from instrc.regular import is_inherited_stream, refuse_irregular
from instrc.source import Source

_HELD = ("SIGINT", "SIGTERM", "SIGHUP")
_SCRATCH = re.compile(r"\.instrc-(?:([0-9]+)-)?[0-9a-f]{16}\.tmp")
_HOUR = 3600


def write_files(files: Mapping[Path, str], sources: Collection[str] = ()) -> None:
    """Write texts as UTF-8, with the folders they need; after an `OSError` everything is as it was before.

    What is in the place of a file must be a regular file, or nothing: links, pipes and devices are refused,
    and so are the `sources` of this run.  Streams of the shell (`/dev/stdout`) are written to.
    """
    with _signals_held(), ExitStack() as folders, ExitStack() as scratch, ExitStack() as undo:
        staged, streams = [], []
        for place, text in files.items():
            if is_inherited_stream(str(place)):
                streams.append((place, text))
                continue
            refuse_place(place, sources)
            _make_folder(place.parent, folders)
            staged.append((_stage(place, text.encode("utf-8", "surrogatepass"), scratch), place))
        for folder in {place.parent for place in files}:
            _sweep(folder)
        for temporary, place in staged:
            _put_in_place(temporary, place, scratch, undo)
        for stream, text in streams:
            stream.write_text(text, encoding="utf-8")
        undo.pop_all()  # all is done: nothing is put back, and the folders stay
        folders.pop_all()


def try_to_write(files: Mapping[Path, str], sources: Collection[str] = ()) -> list[Problem]:
    """Write files as `write_files` does, and return what is wrong instead of raising it."""
    try:
        write_files(files, sources)
    except OSError as error:
        return [unwritable(error, next(iter(files), ""))]
    return []


def unwritable(error: OSError, otherwise: object) -> UnwritableOutput:
    """Return what an error of writing is to the user; it names the path that the error is about, if that is the user's."""
    path = str(error.filename2 or error.filename or "")
    if not path or _SCRATCH.fullmatch(Path(path).name):
        path = str(otherwise)
    return UnwritableOutput(at=Source(path, "").whole(), path=path, reason=reason(error))


def refuse_place(place: Path, sources: Collection[str]) -> None:
    """Raise an `OSError` if something stands there that must not be replaced."""
    try:
        mode = place.lstat().st_mode
    except FileNotFoundError:
        return
    except ValueError:
        raise OSError(0, "there is a NUL in its name", str(place)) from None
    if S_ISLNK(mode):
        raise OSError(0, "it is a link, and links are not written through", str(place))
    refuse_irregular(str(place), mode)
    if any(_is_same(source, place) for source in sources):
        raise OSError(0, "it is a source of this run", str(place))


def _is_same(source: str, place: Path) -> bool:
    try:
        return os.path.samefile(source, place)  # noqa: PTH121  -- as the user wrote it
    except (OSError, ValueError):
        return False


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let an interruption wait until the files are whole and the scratch files gone."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {getattr(signal, name) for name in _HELD})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _make_folder(folder: Path, undo: ExitStack) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        undo.callback(_quietly, each.rmdir)


def _stage(place: Path, data: bytes, scratch: ExitStack) -> Path:
    """Write the new content beside its place, with the rights that the file there has."""
    temporary = _beside(place)
    with open(temporary, "xb") as file:  # noqa: PTH123  -- "x" and bytes in one
        scratch.callback(_quietly, temporary.unlink)
        file.write(data)
    with suppress(FileNotFoundError):
        temporary.chmod(S_IMODE(place.stat().st_mode))
    return temporary


def _put_in_place(temporary: Path, place: Path, scratch: ExitStack, undo: ExitStack) -> None:
    if place.exists():
        kept = _beside(place)
        scratch.callback(_quietly, kept.unlink)
        try:
            kept.hardlink_to(place)
        except OSError:  # a file system without links
            copy2(place, kept)
        temporary.replace(place)
        undo.callback(kept.replace, place)
    else:
        temporary.replace(place)
        undo.callback(place.unlink)


def _beside(place: Path) -> Path:
    """Return a free name in the same folder; it is short, as names of files may not exceed 255 bytes, and says whose it is."""
    return place.with_name(f".instrc-{os.getpid()}-{os.urandom(8).hex()}.tmp")


def _sweep(folder: Path) -> None:
    """Remove what a run that was killed has left in a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _SCRATCH.fullmatch(entry.name)
            if found and entry.is_file(follow_symlinks=False) and _is_left_over(found[1], entry):
                _quietly(Path(entry.path).unlink)


def _is_left_over(owner: str | None, entry: os.DirEntry[str]) -> bool:
    if owner is None or not hasattr(os, "fork"):  # on Windows asking for a process would end it
        return entry.stat(follow_symlinks=False).st_ctime < time.time() - _HOUR
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _quietly(action: Callable[[], object]) -> None:
    with suppress(OSError):
        action()
