"""A worker that is killed and begun again: it notes each effect with the time.  `outliving.py FOLDER QUEUE NAME`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from time import time

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1] / "durable"))

from dying import Life

from instrc.engines.temporal.temporal_engine import TemporalEngine  # the engine itself, with effects of the test


class Worker(Life):
    """What a worker does; nothing in it counts to its death, that comes from outside."""

    def note(self, what: str, key: str) -> None:
        os.write(self.log, (json.dumps([what, key, time()]) + "\n").encode())


def engine_in(folder: Path, queue: str) -> TemporalEngine:
    """Return an engine whose workers are given up soon after they were killed."""
    return TemporalEngine(folder / "store", Worker(folder, None).equip, queue=queue, prefix=queue, heartbeat=2.0)


if __name__ == "__main__":
    asyncio.run(engine_in(Path(sys.argv[1]), sys.argv[2]).serve(asyncio.Event()))
