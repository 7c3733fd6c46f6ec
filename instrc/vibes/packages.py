"""Folders of vibes in installed packages, from their entry points `instrc.vibes`; no package is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

GROUP: Final = "[instrc.vibes]"
"""Section of `entry_points.txt`: `acme = acme_vibes.data` registers the folder `data` of the package `acme_vibes`, which
contains a folder `acme` with the vibes `aug:acme/…`."""


def package_roots() -> tuple[Path, ...]:
    """Return the vibe folders of all installed packages, in the order of their entry point names."""
    folders = (folder for _, (_, folder) in sorted(_registered(tuple(sys.path)).items()) if folder is not None)
    return tuple(dict.fromkeys(folders))


def unusable_entry_points() -> list[str]:
    """Return the entry points that name no folder of vibes, such as `acme = acme_vibes.data`."""
    return [f"{name} = {value}" for name, (value, folder) in _registered(tuple(sys.path)).items() if folder is None]


@cache
def _registered(places: tuple[str, ...]) -> dict[str, tuple[str, Path | None]]:
    """Return the value of each entry point, and the folder that it names; the first usable one of a name wins."""
    named: dict[str, tuple[str, Path | None]] = {}
    for place in places:
        for name, value in _entry_points(place):
            folder = _folder_of(place, value.split("."))
            if named.get(name, ("", None))[1] is None:
                named[name] = value, folder if folder is not None and (folder / name).is_dir() else None
    return named


def _entry_points(place: str) -> Iterator[tuple[str, str]]:
    """Yield the entry points of the packages in a folder; `importlib.metadata` takes longer to load than a program to compile."""
    with suppress(OSError):
        for entry in sorted(os.scandir(place or "."), key=lambda entry: entry.name):
            if entry.name.endswith(".dist-info"):
                with suppress(OSError, UnicodeDecodeError):
                    text = Path(entry.path, "entry_points.txt").read_text(encoding="utf-8")
                    lines = text.partition(f"{GROUP}\n")[2].partition("\n[")[0].splitlines()
                    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
                    yield from ((name.strip(), value.strip()) for name, _, value in pairs)


def _folder_of(place: str, parts: list[str]) -> Path | None:
    """Return the folder of a dotted name, in the package's install location or source tree."""
    if not all(part.isidentifier() for part in parts):
        return None
    folder = Path(place, *parts)
    if folder.is_dir():
        return folder
    spec = find_spec(parts[0])  # a name without dots imports nothing
    found = () if spec is None else spec.submodule_search_locations or ()
    return next((folder for base in found if (folder := Path(base, *parts[1:])).is_dir()), None)
