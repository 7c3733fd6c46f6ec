"""The one file that knows where `grammar/` and `schemas/` are.

An installed wheel carries both folders inside the package; in a checkout they lie beside it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """Return the folder that holds `grammar/` and `schemas/`."""
    package = Path(__file__).resolve().parent
    return package if (package / "grammar").is_dir() else package.parent


def folder(name: str) -> Path:
    """Return the path of a data folder: `grammar` or `schemas`."""
    return root() / name


def read(name: str, path: str) -> str:
    """Return the text of a file in a data folder."""
    return (folder(name) / path).read_text(encoding="utf-8")
