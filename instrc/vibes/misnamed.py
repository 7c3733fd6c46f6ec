"""Find files that were probably saved as vibes but are not found as such: by their ending, or because they are in no root."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from instrc.limits.incoming import LISTED_FILES, LISTED_LEVELS
from instrc.problems.suggest import comparison_key
from instrc.vibes.roots import ENDING, Root

_ENDINGS = (".json", ".jsonc", ".json5", ".yaml", ".yml", ".vibe", ".json.txt")
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})


class Misnamed(NamedTuple):
    """A file that no name finds, and the path under which it would be found."""

    found: str
    wanted: str


def misnamed(program: Path, roots: Sequence[Root]) -> dict[str, Misnamed]:
    """Return the files that are no vibes but called like ones, by comparable name: those of the roots, then those near a program.

    Nothing is read but the names in folders, and of those a bounded number.
    """
    folders = [root.path for root in roots if not root.shared and os.path.isdir(root.path)]  # noqa: PTH112  -- no error for a NUL
    real = [root.real for root in roots]
    first = folders[0] if folders else program.parent / "schemas"
    made: dict[str, Misnamed] = {}
    for start in (*folders, program.parent):
        for folder, file in _files(start):
            stem = _stem(file)
            within = any(_is_in(os.path.realpath(folder), each) for each in real)
            if stem is None or (within and file.endswith(ENDING)):
                continue
            wanted = (folder if within else first) / f"{stem}{ENDING}"
            made.setdefault(comparison_key(stem), Misnamed((folder / file).as_posix(), wanted.as_posix()))
    return made


def _stem(file: str) -> str | None:
    """Return the name that a file would have as a vibe; `None` if its ending is none of those that are confused."""
    ending = next((each for each in sorted(_ENDINGS, key=len, reverse=True) if file.endswith(each)), None)
    stem = None if ending is None or file.startswith(".") else file.removesuffix(ending).removesuffix(".vibe")
    return None if not stem or "." in stem else stem


def _files(start: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a folder and of those in it, each with its folder; links are not followed."""
    waiting = [(start, 0)]
    count = 0
    while waiting:
        folder, level = waiting.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # not there, or not ours to read
            continue
        for entry in entries:
            count += 1
            if count > LISTED_FILES:
                return
            if not entry.is_dir(follow_symlinks=False):
                yield folder, entry.name
            elif level < LISTED_LEVELS and not entry.name.startswith(".") and entry.name not in _SKIPPED:
                waiting.append((folder / entry.name, level + 1))


def _is_in(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)
