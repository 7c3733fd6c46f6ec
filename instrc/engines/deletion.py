"""Delete the data that a store keeps alongside a run."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from instrc.runtime.traces import trace_file


def forget_beside(run: str, folder: Path, place: str | os.PathLike[str]) -> None:
    """Delete the trace of a run in a folder, and the rows of a service at the place."""
    trace_file(folder, run).unlink(missing_ok=True)
    with suppress(ModuleNotFoundError):  # without SQLAlchemy there was no service
        from instrc.engines.dbos.store import close_engine, trouble  # imports SQLAlchemy, an extra
        from instrc.engines.run_table import RunTable
        from instrc.engines.service_tables import service_store

        store = service_store(place)
        if not store.exists():
            return
        with trouble(store):
            engine = store.open()
            try:
                RunTable(engine).forget_all([run])
            finally:
                close_engine(engine)
