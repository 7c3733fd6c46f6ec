"""Registries on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Files = Callable[[str, dict[str, str]], Path]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Write files, below a folder of the temporary one; return that folder."""

    def write(folder: str, texts: dict[str, str]) -> Path:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            file = tmp_path / folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        return tmp_path / folder

    return write
