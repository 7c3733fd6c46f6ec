"""Small SQLite files that several processes write at the same time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from instrc.problems.errors import unusable
from instrc.text.files import make_private, private_opener

MODELS_FILE: Final = ".instrc/models.sqlite"
"""File in a project's folder with the costs of models and the time of their next allowed request."""
WAIT: Final = 10.0
"""Seconds that one process waits for another that writes."""


@contextmanager
def transaction(file: str | Path, *tables: str) -> Iterator[sqlite3.Connection]:
    """Open a database for one exclusive transaction; `tables` are created if they do not exist."""
    database = sqlite3.connect(file, timeout=WAIT, isolation_level=None)
    try:
        for table in tables:
            database.execute(f"CREATE TABLE IF NOT EXISTS {table}")
        database.execute("BEGIN IMMEDIATE")
        yield database
        database.execute("COMMIT")
    finally:
        database.close()


def create_private(file: str | Path) -> None:
    """Create a file and its folder for the owner only; existing ones are left unchanged."""
    make_private(Path(file).parent)
    with open(file, "ab", opener=private_opener):
        pass


def require_file(file: str | Path, table: str, what: str) -> None:
    """Create a file with its table; raise `SettingsError` naming `what` is unusable."""
    if not str(file).strip():
        raise unusable(what, str(file), "it is empty")
    try:
        create_private(file)
        with transaction(file, table):
            pass
    except (sqlite3.Error, OSError, ValueError) as error:
        raise unusable(what, str(file), str(getattr(error, "strerror", None) or error)) from None
