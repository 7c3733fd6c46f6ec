"""Write files whole or not at all.

Each file is written beside its place under another name and then renamed, which the file system does in one step.
If one of several cannot be put in its place, those before it are put back as they were.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copy2
from stat import S_IMODE

_HELD = ("SIGINT", "SIGTERM", "SIGHUP")


def write_files(files: Mapping[Path, str]) -> None:
    """Write texts as UTF-8, with the folders they need; after an `OSError` everything is as it was before."""
    with _signals_held(), ExitStack() as folders, ExitStack() as scratch, ExitStack() as undo:
        staged = []
        for path, text in files.items():
            if path.exists() and not path.is_file() and not path.is_dir():  # `/dev/null`, a pipe: nothing to replace
                path.write_text(text, encoding="utf-8")
                continue
            place = Path(os.path.realpath(path))  # through a link, to what it stands for
            _make_folder(place.parent, folders)
            staged.append((_stage(place, text.encode(), scratch), place))
        for temporary, place in staged:
            _put_in_place(temporary, place, scratch, undo)
        undo.pop_all()  # all is done: nothing is put back, and the folders stay
        folders.pop_all()


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
    """Return a free name in the same folder; it is short, as names of files may not exceed 255 bytes."""
    return place.with_name(f".instrc-{os.urandom(8).hex()}.tmp")


def _quietly(action: Callable[[], object]) -> None:
    with suppress(OSError):
        action()
