"""A folder with the usual vibes and two programs; files with vibes of their own make their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from usual_vibes import VIBES

from instrc.text.jsontext import dumps


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the usual vibes, `pair.aug` and `team.aug`."""
    for name, schema in VIBES.items():
        (tmp_path / f"{name}.vibe.json").write_text(dumps(schema), encoding="utf-8")
    (tmp_path / "pair.aug").write_text("input of;\n{ a: A(of), b: B(of) }", encoding="utf-8")
    (tmp_path / "team.aug").write_text("input of;\nB(of)", encoding="utf-8")
    return tmp_path
