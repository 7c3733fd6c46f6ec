"""What we ship has the layout that we ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from instrc.cli import main

ROOT = Path(__file__).parents[3]
FILES = sorted(
    path
    for folder in (ROOT / "examples", ROOT / "schemas")
    for path in folder.rglob("*")
    if path.name.endswith((".aug", ".vibe.json")) and "mistakes" not in path.parts and "expected" not in path.parts
)


def test_examples_and_the_library_are_formatted(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(FILES) > 60
    assert main(["fmt", "--check", *map(str, FILES)]) == 0, capsys.readouterr().err
