"""What `instrc plan` does with records of TaskBench, as functions; `tools` is the JSON of a tool file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from instrc.arguments import excerpt, known_word, several, whole_number
from instrc.ir.bench import Bench
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json
from instrc.limits.runs import SAMPLED_PLANS, SAMPLED_TASKS
from instrc.plain_values import takes_plain_values
from instrc.plans.taskbench.export import export_record
from instrc.plans.taskbench.importing import ImportedPlan, PlanImporter
from instrc.plans.taskbench.records import SHAPES, PlanShape
from instrc.plans.taskbench.sample import sample
from instrc.plans.taskbench.score import Scores, score
from instrc.plans.taskbench.tools import read_bench
from instrc.problems.problem import CompileError
from instrc.problems.settings import InvalidOption

BenchLike = Bench | dict[str, Json] | list[Json]


@takes_plain_values
def import_plan(record: Json, tools: BenchLike, *, repair: bool = False) -> ImportedPlan:
    """Return the plan of a record of TaskBench with what is wrong in it; nothing is raised, whatever is given.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        node = {"task": "find", "arguments": [{"name": "text", "value": "a bank"}]}
        imported = instrc.import_plan({"task_steps": [], "task_nodes": [node], "task_links": []}, tools)

    With `repair` known mistakes are read as what they most likely mean, each listed among the problems.
    """
    return _importer(_bench(tools), bool(repair)).read(record)


@takes_plain_values
def export_plan(plan: Json, tools: BenchLike, record: Json = None) -> Json:
    """Return a plan as a record of TaskBench; `record` is the one it was made of, if there is one.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        record = instrc.export_plan([{"tool": "Find", "id": "n0", "arguments": {"text": "a bank"}}], tools)

    A `CompileError` says what is wrong with the plan, or cannot be said in that form.
    """
    return export_record(plan, _bench(tools), record)


@takes_plain_values
def score_plans(gold: Iterable[Json], predictions: Iterable[Json], tools: BenchLike) -> Scores:
    """Return how near predicted records come to the right ones.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        records = [instrc.export_plan(plan, tools) for plan in instrc.sample_plans(tools, 3)]
        scores = instrc.score_plans(records, records, tools)

    These are n-F1, e-F1, t-F1, v-F1 and NED: overall, by shape, by number of tasks.
    """
    return score(several("gold", gold), several("predictions", predictions), _bench(tools))


@takes_plain_values
def sample_plans(
    tools: BenchLike, count: int, *, seed: int = 0, shape: PlanShape | None = None, largest: int = 8
) -> list[list[Json]]:
    """Return sound plans over the tools.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        [plan] = instrc.sample_plans(tools, 1)

    The same arguments give the same plans.
    """
    if shape is not None:
        known_word("shape", shape, SHAPES)
    for option, given, least, most in (("count", count, 0, SAMPLED_PLANS), ("largest", largest, 1, SAMPLED_TASKS)):
        if not least <= whole_number(option, given) <= most:
            wanted = f"a whole number from {least} to {most:,}"
            raise CompileError([InvalidOption(option=option, given=excerpt(given), wanted=wanted)])
    whole_number("seed", seed)
    return list(sample(_bench(tools), count, seed, shape, largest))


def _bench(tools: BenchLike) -> Bench:
    if isinstance(tools, Bench):
        return tools
    try:
        return _remembered(dumps(tools, indent=False))
    except (TypeError, ValueError, RecursionError):
        return Bench(())


@lru_cache(maxsize=8)
def _remembered(text: str) -> Bench:
    return read_bench(loads(text), lambda _path, _reason: None)


@lru_cache(maxsize=16)
def _importer(bench: Bench, repair: bool) -> PlanImporter:  # noqa: FBT001  -- a key of the cache
    return PlanImporter(bench, repair=repair)
