"""Find the settings of a project: those of the nearest `pyproject.toml`."""

from __future__ import annotations

import os
from pathlib import Path

from instrc.vibes.settings import Settings


def read_settings(folder: Path) -> Settings:
    """Return the settings that hold in a folder: those of the `pyproject.toml` in it or nearest above it."""
    here = Path(os.path.realpath(folder))
    for above in (here, *here.parents):
        file = above / "pyproject.toml"
        if os.path.lexists(file):  # no error where it may not be asked
            from instrc.vibes.settings_file import read_file  # small programs stand alone

            return read_file(file)
    return Settings()
