from __future__ import annotations

import asyncio
from pathlib import Path

from sessions import play, project


def test_a_session_of_chance_raises_nothing_and_gets_no_stale_answer(tmp_path: Path) -> None:
    project(tmp_path)
    count, wrong = asyncio.run(asyncio.wait_for(play(tmp_path, 4, 3), 120))
    assert not wrong
    assert count["edits"]
    assert count["questions"]
