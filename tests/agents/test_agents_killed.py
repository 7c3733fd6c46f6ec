"""Agents survive `kill -9` between any two things they do: no recorded effect is done again, and each run has one outcome."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engines" / "durable"))

from killing import held

PROGRAM = Path(__file__).with_name("dying_agents.py")
SLOW = (pytest.mark.slow, pytest.mark.timeout(3600))


@pytest.mark.long
@pytest.mark.parametrize(
    ("agent", "kills"),
    [
        ("hugging-gpt", 3),
        ("code-agent", 3),
        pytest.param("hugging-gpt", 200, marks=SLOW),
        pytest.param("code-agent", 150, marks=SLOW),
        pytest.param("managed-agents", 100, marks=SLOW),
    ],
)
def test_an_agent_survives_kills_between_any_two_effects(agent: str, kills: int, tmp_path: Path) -> None:
    if agent == "code-agent":
        pytest.importorskip("pydantic_monty")
    held([PROGRAM, agent], tmp_path, kills)
