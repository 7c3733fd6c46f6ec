"""What a step costs on each engine, beside the same steps by hand: `python tests/benchmarks/engines.py [STEPS]`.

Bare DBOS has the settings of our store and does a step of its own for each of ours; the hand-written Temporal workflow calls the
same number of activities.  LangGraph and pydantic-graph are measured where they are installed, without a store.
Compare lines of one run: a machine under load shows larger figures.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from temporal_server import started
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from written_processes import DECISION, call, chunk, process, step

from instrc import Activities, Sample
from instrc.engines.dbos.durable_engine import DurableEngine  # the engine itself, with effects of the test
from instrc.engines.folder import FolderEngine  # the engine itself, with effects of the test
from instrc.engines.places import store_of  # the database without the engine
from instrc.engines.temporal.temporal_engine import TemporalEngine  # the engine itself, with effects of the test
from instrc.runtime.effects import Effects
from instrc.runtime.engine_protocol import Engine
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import Launch


def chain(steps: int) -> Any:
    """A chain of activities, each reading the one before."""
    keys = [f"step{number}_a" for number in range(steps + 1)]
    contexts = {
        f"serverContext{number}": chunk(**{keys[number]: call("Work", keys[number - 1] if number > 1 else "prompt")})
        for number in range(1, steps + 1)
    }
    return process(**contexts)


async def work(_given: Any) -> Any:
    return {"text": "x"}


def equip(run: str, _plan: Any, _how: Any, _sink: Any) -> Effects:
    return Effects(run, Sample(), Activities({"Work": work}), None)


async def ours(engine: Engine, steps: int) -> float:
    """Return the seconds that a run takes."""
    plan = plan_of(chain(steps))
    await engine.start(Launch("warm", "bench", plan_of(chain(2)), {"prompt": "go"}))
    began = perf_counter()
    report = await engine.start(Launch(f"r{steps}", "bench", plan, {"prompt": "go"}))
    assert report.status == "done", report
    return perf_counter() - began


def bare_dbos(steps: int) -> float:
    """Return the seconds that DBOS takes for a workflow of so many steps."""
    from dbos import DBOS, DBOSPortableJSONSerializer

    @DBOS.workflow(name="bare")
    async def bare(count: int) -> int:
        for _ in range(count):
            await DBOS.run_step_async({"name": "work"}, work, None)
        return count

    location = store_of(Path(tempfile.mkdtemp()))
    DBOS(
        config={
            "name": "bare",
            "system_database_url": location.address,
            "system_database_engine": location.open(),
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "CRITICAL",
        }
    )
    DBOS.launch()

    async def once(count: int) -> float:
        began = perf_counter()
        await (await DBOS.start_workflow_async(bare, count)).get_result()
        return perf_counter() - began

    asyncio.run(once(2))
    took = asyncio.run(once(steps))
    DBOS.destroy(destroy_registry=False)
    return took


@activity.defn(name="bare-work")
async def bare_work(_given: Any) -> Any:
    return {"text": "x"}


@workflow.defn(name="bare-flow")
class BareFlow:
    @workflow.run
    async def run(self, count: int) -> int:
        for _ in range(count):
            await workflow.execute_activity(bare_work, {"text": "x"}, start_to_close_timeout=timedelta(minutes=1))
        return count


async def bare_temporal(steps: int) -> float:
    """Return the seconds that a hand-written workflow takes for so many activities."""
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    async with Worker(
        client, task_queue="bare", workflows=[BareFlow], activities=[bare_work], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        await client.execute_workflow(BareFlow.run, 2, id="bare-warm", task_queue="bare")
        began = perf_counter()
        await client.execute_workflow(BareFlow.run, steps, id=f"bare-{steps}", task_queue="bare")
        return perf_counter() - began


def memory(steps: int) -> tuple[float, float]:
    """Return the seconds of the launch of a run without a store, and of the run."""
    began = perf_counter()
    plan = plan_of(chain(steps), activities=["Work"])
    ready = perf_counter()
    report = asyncio.run(FolderEngine(None, equip).start(Launch("r", "bench", plan, {"prompt": "go"})))
    assert report.status == "done", report
    return ready - began, perf_counter() - ready


def langgraph(steps: int) -> tuple[float, float]:
    from langgraph.graph import END, START, StateGraph

    launched = perf_counter()
    graph = StateGraph(dict)
    for number in range(steps):
        graph.add_node(f"n{number}", work)
        graph.add_edge(START if number == 0 else f"n{number - 1}", f"n{number}")
    graph.add_edge(f"n{steps - 1}", END)
    made = graph.compile()
    began = perf_counter()
    asyncio.run(made.ainvoke({"text": "go"}, {"recursion_limit": steps + 5}))
    return began - launched, perf_counter() - began


def pydantic_graph(steps: int) -> tuple[float, float]:
    from pydantic_graph import GraphBuilder, StepContext

    launched = perf_counter()
    builder = GraphBuilder(input_type=dict, output_type=dict, auto_instrument=False)

    async def one(context: StepContext[None, None, dict]) -> dict:
        return await work(context.inputs)  # type: ignore[no-any-return]

    nodes = [builder.step(one, node_id=f"n{number}") for number in range(steps)]
    ends = [builder.start_node, *nodes, builder.end_node]
    builder.add(*(builder.edge_from(before).to(after) for before, after in pairwise(ends)))
    graph = builder.build()
    began = perf_counter()
    asyncio.run(graph.run(inputs={"text": "go"}))
    return began - launched, perf_counter() - began


def without_store(steps: int) -> None:
    """Say what a chain costs without a store, ours beside others: the best of three, and the launch apart."""
    for name, other in {"memory": memory, "LangGraph": langgraph, "pydantic-graph": pydantic_graph}.items():
        try:
            tries = [other(steps) for _ in range(3)]
        except ImportError as error:
            print(f"{name}: {error.name} is not installed")
            continue
        launch, seconds = (min(times) for times in zip(*tries, strict=True))
        line(f"{name} (no store)", steps, seconds)
        line(f"{name}: its launch", steps, launch)


def line(name: str, steps: int, seconds: float, beside: float | None = None) -> None:
    ratio = "" if beside is None else f"  {seconds / beside:5.2f} times by hand"
    print(f"{name:<28}{steps:>7} steps {seconds / steps * 1e3:8.3f} ms a step{ratio}", flush=True)


def waiting(folder: Path) -> None:
    """Say what processor time runs cost that wait for people."""
    engine = DurableEngine(folder, equip)
    ask = plan_of(process(userContext1=chunk(step1_ask=step(DECISION, "prompt"))))
    for number in range(20):
        asyncio.run(engine.start(Launch(f"w{number}", "bench", ask, {"prompt": "go"})))
    began = process_time()
    sleep(5)
    print(f"20 runs that wait: {(process_time() - began) / 5:.2%} of a processor")
    engine.close()


def main(steps: int) -> None:
    folder = Path(tempfile.mkdtemp())
    line("memory (in a folder)", steps, asyncio.run(ours(FolderEngine(folder / "m", equip), steps)))
    without_store(steps)
    by_hand = bare_dbos(steps)
    line("DBOS by hand", steps, by_hand)
    for count in (steps, steps * 10):
        engine = DurableEngine(folder / f"d{count}", equip)
        line("durable", count, asyncio.run(ours(engine, count)), by_hand * count / steps)
        engine.close()
    waiting(folder / "w")
    with started(folder) as server:
        os.environ["TEMPORAL_ADDRESS"] = server.address
        by_hand = asyncio.run(bare_temporal(steps))
        line("Temporal by hand", steps, by_hand)
        line("temporal", steps, asyncio.run(ours(TemporalEngine(folder / "t", equip), steps)), by_hand)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
