"""A worker that shares a store with others: `sharing.py FOLDER URL` carries runs until it is killed, and notes what it does."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from dying import Life

from instrc.engines.dbos import carrying  # what is recorded is noted as well
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test


class Slow(Life):
    """Effects that take their time, so that a kill finds something under way."""

    def moment(self) -> None:
        time.sleep(0.01)

    async def serve(self, url: str) -> None:
        """Carry runs, and note what is recorded of them."""
        real = carrying._record

        async def record(entry: Any) -> None:
            await real(entry)
            for name, _ in entry.get("results", ()):
                self.note("recorded", f"{carrying.DBOS.workflow_id}/{name}")

        carrying._record = record
        engine = DurableEngine(url, self.equip)
        await engine.claim()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await engine.serve(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(Slow(Path(sys.argv[1]), None).serve(sys.argv[2]))
