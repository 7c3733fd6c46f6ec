"""A worker of its own process, and what it does: every attempt is a line of a file.  `working.py FOLDER QUEUE PREFIX NAME`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from written_processes import DECISION, TEXT, call, chunk, each, process, repeat, step

from instrc import Activities, Reply, Request, Retry, current_call
from instrc.engines.temporal.temporal_engine import TemporalEngine  # the engine itself, with effects of the test
from instrc.runtime.effects import Effects

SENDING = process(serverContext1=chunk(step4_send=call("Send", "x", TEXT, "step3_confirm")))
MEETING = process(
    llmContext1=chunk(step1_people=step(TEXT, "prompt")),
    serverContext1=chunk(step2_fetch=call("Fetch", "step1_people.text")),
    userContext1=chunk(step3_confirm=step(DECISION, "step2_fetch")),
    eachContext1=each(
        "x",
        "prompt",
        SENDING,
        value="step4_send.text",
        key="step5",
    ),
)
ROUNDS = process(
    repeatContext1=repeat(
        process(serverContext1=chunk(step1_turn=call("Fetch", "round"))),
        until={"path": "round", "schema": {"const": 30}},
        most=30,
        value="step1_turn",
        key="step2",
    ),
    userContext1=chunk(step3_ask=step(DECISION, "prompt")),
    userContext2=chunk(step4_ask=step(DECISION, "prompt", within="PT1H")),
)


def equipped(folder: Path, name: str) -> Any:
    """Return what makes effects that note every attempt."""

    def note(what: str, key: str) -> None:
        with (folder / "log").open("a") as log:
            log.write(f"{what} {name} {key}\n")

    def work(given: Any) -> Any:
        note("began", current_call().key)
        while (folder / "hold").exists() and name != "free":
            time.sleep(0.05)
        note("did", current_call().key)
        return {"text": str(given)}

    class Model:
        async def answer(self, request: Request) -> Reply:
            note("did", request.key)
            while request.partial is not None and (folder / "hold").exists():
                request.partial({"step1_people": {"text": "half"}}, [])
                await asyncio.sleep(0.05)
            return Reply({"step1_people": {"text": "t"}})

    def equip(run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        for each_ in ("Fetch", "Send"):
            activities.add(each_, work, retry=Retry(attempts=3, pause=0.1))
        return Effects(run, Model(), activities, sink)

    return equip


def main(folder: Path, queue: str, prefix: str, name: str, traces: str | None = None) -> None:
    told = None if traces is None else lambda _: None  # as `instrc worker` does, for those who follow a run elsewhere
    engine = TemporalEngine(folder / name, equipped(folder, name), queue=queue, prefix=prefix, traces=traces, parts=told)
    (folder / f"{name}.pid").write_text(str(os.getpid()))
    asyncio.run(engine.serve(asyncio.Event()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
