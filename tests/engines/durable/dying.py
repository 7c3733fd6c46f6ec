"""A program that runs a process again and again and is killed (SIGKILL) between any two things it does; it prints what it saw.

`dying.py [mended] FOLDER KILLS`: each life is a fork that dies at its n-th moment, before or after an effect or a record.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from written_processes import DECISION, TEXT, attempt, call, chunk, each, is_, process, repeat, step, when

from instrc import PENDING, Activities, ActivityError, Reply, Request, current_call
from instrc.engines.dbos import carrying, store  # processes are stopped between two steps of it
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.runtime.activities import ONCE
from instrc.runtime.effects import Effects
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import RetryOptions
from instrc.runtime.run_config import Launch

CHILD = process(
    serverContext1=chunk(step1_inner=call("Inner", "prompt")), llmContext1=chunk(step2_said=step(TEXT, "step1_inner"))
)
DOCUMENT = process(
    llmContext1=chunk(step1_plan=step(TEXT, "prompt")),
    serverContext1=chunk(step2_fetch=call("Fetch", "step1_plan.text"), step3_log=call("Log", "step1_plan")),
    eachContext1=each(
        "x", "prompt", process(serverContext1=chunk(step4_send=call("Send", "x"))), value="step4_send.text", key="step5_each"
    ),
    tryContext1=attempt(
        process(serverContext1=chunk(step6_bad=call("Bad", "step2_fetch"))),
        process(serverContext2=chunk(step7_note=call("Note", "error"))),
        (None, "step7_note"),
        key="step8_try",
    ),
    repeatContext1=repeat(
        process(serverContext1=chunk(step9_turn=call("Turn", "round", delay="PT0.01S"))),
        until=is_("step9_turn.text", "3"),
        most=4,
        value="step9_turn",
        key="step10_repeat",
    ),
    userContext1=chunk(step11_confirm=step(DECISION, "step10_repeat")),
    whenContext1=when(
        (
            is_("step11_confirm.decision", "Approve"),
            process(serverContext1=chunk(step12_later=call("Later", "prompt"), step13_child=call("Child", "prompt"))),
            "step12_later",
        ),
        key="step14_when",
    ),
)
INPUTS = {"prompt": [1, 2, 3]}
STORE = "DYING_STORE"
"""Of the environment: the URL of a database, instead of a file in the folder."""
STRIDE = 31
"""Between the moments at which two runs die first: a prime, so that after as many runs as there are moments each was visited."""


class Life:
    """What one process does until it dies; of another program in a class of its own."""

    document = DOCUMENT
    inputs: Any = INPUTS
    fires: tuple[str, ...] = ("Plan",)
    pace = (4, 24)
    """A life that is not the first of a run ends after so many moments, at least and at most."""

    goes_on: tuple[str, ...] = ("waiting",)

    def counts(self, _result: Any) -> bool:
        """Tell whether what is recorded is never to be done again."""
        return True

    async def mend(self, engine: DurableEngine, run: str) -> Any:
        """Make a run go on that has failed or is held."""
        raise NotImplementedError

    def __init__(self, folder: Path, dies_at: int | None) -> None:
        self.folder = folder
        self.left = dies_at
        self.moments = 0
        self.log = os.open(folder / "log.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, what: str, key: str) -> None:
        os.write(self.log, (json.dumps([what, key]) + "\n").encode())

    def moment(self) -> None:
        self.moments += 1
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.note("killed", "")
                os.kill(os.getpid(), signal.SIGKILL)

    def handler(self, name: str) -> Any:
        def answer(given: Any) -> Any:
            self.moment()
            self.note("effect", current_call().key)
            self.moment()
            if name == "Bad":
                message = "down"
                raise ActivityError(message, code="7", retry=False)
            if name == "Later":
                return PENDING
            return {"text": str(given)}

        return answer

    async def answer(self, request: Request) -> Reply:
        self.moment()
        self.note("effect", request.key)
        self.moment()
        name = request.schema["required"][0]
        return Reply({name: {"text": "t"}})

    def equip(self, run: str, _plan: Any, _how: Any, sink: Any) -> Effects:
        activities = Activities()
        for name in ("Plan", "Fetch", "Log", "Send", "Bad", "Note", "Turn", "Later", "Inner"):
            activities.add(name, self.handler(name), retry=ONCE)
        activities.add("Child", CHILD)
        return Effects(run, self, activities, sink)

    async def live(self, run: str) -> Any:
        real = carrying._record

        async def record(entry: Any) -> None:
            self.moment()
            await real(entry)
            prefix = carrying.DBOS.workflow_id
            for name, result in entry.get("results", ()):
                if self.counts(result):
                    self.note("recorded", f"{prefix}/{name}")
            self.moment()

        carrying._record = record
        engine = DurableEngine(os.environ.get(STORE) or self.folder / "store", self.equip)
        plan = plan_of(self.document, activities=self.fires)
        report = await engine.start(Launch(run, "dying", plan, self.inputs))
        while report.status in self.goes_on:
            if report.status != "waiting":
                report = await self.mend(engine, run)
                continue
            asked = report.questions[0]
            data = {"decision": "Approve"} if asked.by == "person" else {"text": "late"}
            self.moment()
            report = await engine.answer(run, asked.id, data)
        engine.close()
        return report


FLAWED = process(
    serverContext1=chunk(step1_inner=call("Inner", "prompt"), step2_flaw=call("Flaw2", "step1_inner.text")),
    llmContext1=chunk(step3_said=step(TEXT, "step2_flaw")),
)


class Mended(Life):
    """Fails, is held, and fails in a child, each until it is mended; a retry goes on."""

    document = process(
        serverContext1=chunk(step1_fetch=call("Fetch", "prompt"), step2_flaw=call("Flaw0", "step1_fetch.text")),
        eachContext1=each(
            "x", "prompt", process(serverContext1=chunk(step3_send=call("Send", "x"))), value="step3_send.text", key="step4_each"
        ),
        serverContext2=chunk(step5_down=call("Flaw1", "step2_flaw.text")),
        serverContext3=chunk(step6_child=call("Child", "step5_down.text")),
        serverContext4=chunk(step7_turn=call("Turn", "step6_child.text")),
    )
    fires = ()
    pace = (10, 40)
    goes_on = ("waiting", "held", "failed")

    def counts(self, result: Any) -> bool:
        return "ok" in result

    @property
    def mends(self) -> Path:
        return self.folder / f"mends-{self.run}"

    def handler(self, name: str) -> Any:
        usual = super().handler(name)

        def answer(given: Any) -> Any:
            if name.startswith("Flaw") and len(self.mends.read_text() if self.mends.exists() else "") <= int(name[-1]):
                self.moment()
                message = "it has a flaw"
                raise ActivityError(message, code="unavailable" if name == "Flaw1" else "7", retry=False)
            return usual(given)

        return answer

    def equip(self, run: str, plan: Any, how: Any, sink: Any) -> Effects:
        made = super().equip(run, plan, how, sink)
        for number in range(3):
            made.activities.add(f"Flaw{number}", self.handler(f"Flaw{number}"), retry=ONCE)
        made.activities.add("Child", FLAWED)
        return made

    async def mend(self, engine: DurableEngine, run: str) -> Any:
        with self.mends.open("a") as file:
            file.write("x")
        self.moment()
        return await engine.retry(run, RetryOptions())

    async def live(self, run: str) -> Any:
        self.run, real = run, store.send

        def send(*letter: Any) -> None:
            self.moment()
            real(*letter)
            self.moment()

        store.send = send
        return await super().live(run)


def lived(folder: Path, run: str, dies_at: int | None, kind: type[Life] = Life) -> bool:
    """Return whether a life came to the end of the run."""
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            life = kind(folder, dies_at)
            report = asyncio.run(asyncio.wait_for(life.live(run), 60))
            ended = {"outcome": report.outcome, "record": report.record}
            (folder / f"{run}.json").write_text(json.dumps(ended | ({} if dies_at else {"moments": life.moments})))
            code = 0
        except BaseException:  # noqa: BLE001  -- a fork must not go on as its parent
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0, "a life ended otherwise than by a kill"
    return True


def main(folder: Path, kills: int, kind: type[Life] = Life) -> None:
    random = Random(kills)  # noqa: S311  -- the same kills each time
    assert lived(folder, "calm", None, kind)
    moments = json.loads((folder / "calm.json").read_text())["moments"]
    done, number = 0, 0
    firsts: set[int] = set()
    while done < kills:
        run = f"r{number}"
        dies_at = 1 + number * STRIDE % moments
        firsts.add(dies_at)
        while not lived(folder, run, dies_at, kind):
            done += 1
            dies_at = random.randint(*kind.pace)
        number += 1
    sys.stdout.write(json.dumps({"kills": done, "runs": number, "moments": moments, "visited": len(firsts)}) + "\n")


if __name__ == "__main__":
    kind = Mended if sys.argv[1] == "mended" else Life
    main(Path(sys.argv[-2]), int(sys.argv[-1]), kind)
