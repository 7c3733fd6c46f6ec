"""A process that is killed between any two things it does: nothing recorded is done again, and each run has one outcome."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from postgres_server import Database

sys.path.insert(0, str(Path(__file__).parent))

from killing import held

PROGRAM = Path(__file__).with_name("dying.py")
SLOW = (pytest.mark.slow, pytest.mark.timeout(3600))


@pytest.mark.long
@pytest.mark.parametrize("kills", [8, pytest.param(220, marks=SLOW)])
def test_a_run_survives_kills_between_any_two_effects(kills: int, tmp_path: Path) -> None:
    held([PROGRAM], tmp_path, kills)


@pytest.mark.long
@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=SLOW)])
def test_a_run_that_is_retried_survives_kills_between_any_two_effects(kills: int, tmp_path: Path) -> None:
    """After the letter of a retry, the rewinding, its entry, the first effect, its record: nothing is lost or done twice."""
    held([PROGRAM, "mended"], tmp_path, kills)


def test_a_run_in_postgresql_survives_kills(tmp_path: Path, postgres_server: Database, prepared_database: str) -> None:
    held([PROGRAM], tmp_path, 8, {"DYING_STORE": postgres_server.fresh(prepared_database)})
