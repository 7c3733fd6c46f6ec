"""Sample new plans over the tools of a file."""

from __future__ import annotations

import random
from typing import Final

from instrc.problems.errors import SettingsError
from instrc.problems.settings import InvalidOption
from instrc.taskbench.convert import BenchLike, to_bench
from instrc.text.arguments import excerpt, known_word, takes_plain_values, whole_number
from instrc.text.jsonvalue import Json
from instrc.tools.taskbench import SHAPES, Bench, BenchTool, PlanShape
from instrc.tools.tasks import PlanTask, Reference

SAMPLED_PLANS: Final = 1_000_000
"""Maximum plans in one sample."""
SAMPLED_TASKS: Final = 1000
"""Maximum tasks of a sampled plan."""


@takes_plain_values
def sample_plans(
    tools: BenchLike, count: int, *, seed: int = 0, shape: PlanShape | None = None, largest: int = 8
) -> list[list[Json]]:
    """Return valid plans over the tools: single tasks, chains, and graphs that grow by tasks before and after existing ones.

        tools = {"nodes": [{"id": "find", "desc": "Find it.", "parameters": [{"name": "text", "type": "string", "desc": ""}]}]}
        [plan] = instrc.sample_plans(tools, 1)

    The same arguments give the same plans.  A file without tools gives none.
    """
    if shape is not None:
        known_word("shape", shape, SHAPES)
    for option, given, least, most in (("count", count, 0, SAMPLED_PLANS), ("largest", largest, 1, SAMPLED_TASKS)):
        if not least <= whole_number(option, given) <= most:
            wanted = f"a whole number from {least} to {most:,}"
            raise SettingsError([InvalidOption(option=option, given=excerpt(given), wanted=wanted)])
    whole_number("seed", seed)
    bench, draw = to_bench(tools), random.Random(seed)  # noqa: S311  -- not security-relevant: plans must be reproducible
    sampler = _Sampler(bench, draw, max(largest, 2))
    plans: list[list[Json]] = []
    for _ in range(count if bench.tools else 0):
        wanted_shape = draw.choice(SHAPES) if shape is None else shape
        size = 1 if wanted_shape == "single" else draw.randint(2, sampler.largest)
        plans.append(sampler.plan(size, wanted_shape))
    return plans


_TEXTS = ("the first of them", "Hello, world", "a boat in a harbour", "What is shown here?", "next Friday", "to French")
_EXAMPLES = {"image": "example.jpg", "audio": "example.wav", "video": "example.mp4", "url": "https://example.org/page"}


class _Sampler:
    """Draws plans over one graph of tools."""

    def __init__(self, bench: Bench, draw: random.Random, largest: int) -> None:
        self._tools = bench.tools
        self._draw = draw
        self.largest = largest
        edges = bench.edges()
        self._after = {tool.id: [other for other in bench.tools if (tool.id, other.id) in edges] for tool in bench.tools}
        self._before = {tool.id: [other for other in bench.tools if (other.id, tool.id) in edges] for tool in bench.tools}

    def plan(self, size: int, shape: PlanShape) -> list[Json]:
        """Return a plan with at most the given number of tasks: the graph may end earlier."""
        chosen: list[BenchTool] = [self._draw.choice(self._tools)]
        edges: list[tuple[int, int]] = []
        for _ in range(size - 1):
            if not self._grown(chosen, edges, chain=shape == "chain"):
                break
        if shape == "dag":
            self._join_tasks(chosen, edges)
        order = self._order(len(chosen), edges)
        position = {node: place for place, node in enumerate(order)}
        moved = [(position[source], position[target]) for source, target in edges]
        return [
            self._task(place, chosen[node], moved, [chosen[item] for item in order]).to_json() for place, node in enumerate(order)
        ]

    def _grown(self, chosen: list[BenchTool], edges: list[tuple[int, int]], *, chain: bool) -> bool:
        """Add a task before or after an existing one, if one fits."""
        used = {tool.id for tool in chosen}  # each tool once: names of tools stand for tasks in links
        forward = chain or self._draw.random() < 0.6
        nodes = [len(chosen) - 1] if chain else self._draw.sample(range(len(chosen)), len(chosen))
        for node in nodes:
            around = self._after if forward else self._before
            fitting = [tool for tool in around[chosen[node].id] if tool.id not in used]
            tool = chosen[node]
            taken = sum(target == node for _, target in edges)
            if not forward and tool.kind == "resource" and taken >= len(tool.slots):
                continue
            if fitting:
                chosen.append(self._draw.choice(fitting))
                edges.append((node, len(chosen) - 1) if forward else (len(chosen) - 1, node))
                if self._fits(edges[-1][1], chosen, edges):
                    return True
                chosen.pop()
                edges.pop()
        return False

    def _join_tasks(self, chosen: list[BenchTool], edges: list[tuple[int, int]]) -> None:
        """Make some tasks read an additional one."""
        for target in range(len(chosen)):
            sources = [node for node in range(len(chosen)) if chosen[target] in self._after[chosen[node].id]]
            self._draw.shuffle(sources)
            for source in sources[:1]:
                if (source, target) in edges or _reaches(target, source, edges):
                    continue
                edges.append((source, target))
                if not self._fits(target, chosen, edges):
                    edges.pop()

    def _fits(self, node: int, chosen: list[BenchTool], edges: list[tuple[int, int]]) -> bool:
        """Return whether every value that a task reads has its own input."""
        tool = chosen[node]
        return (
            tool.kind != "resource"
            or self._assigned(tool, [chosen[source] for source, target in edges if target == node]) is not None
        )

    @staticmethod
    def _assigned(tool: BenchTool, sources: list[BenchTool]) -> dict[str, int] | None:
        """Return the source for each input, by key, or `None` if one cannot be placed."""
        result: dict[str, int] = {}
        for number, source in enumerate(sources):
            slot = next((slot for slot in tool.slots if slot.key not in result and slot.type in source.outputs), None)
            if slot is None:
                return None
            result[slot.key] = number
        return result

    def _order(self, count: int, edges: list[tuple[int, int]]) -> list[int]:
        """Return the tasks in a random order in which each follows those it reads."""
        waiting = {node: {source for source, target in edges if target == node} for node in range(count)}
        order: list[int] = []
        while waiting:
            ready = sorted(node for node, needs in waiting.items() if needs <= set(order))
            order.append(self._draw.choice(ready))
            del waiting[order[-1]]
        return order

    def _task(self, place: int, tool: BenchTool, edges: list[tuple[int, int]], tools: list[BenchTool]) -> PlanTask:
        sources = [source for source, target in edges if target == place]
        if tool.kind != "resource":
            readers = dict(zip((slot.key for slot in tool.slots), sources, strict=False)) if self._draw.random() < 0.5 else {}
            arguments: dict[str, Json | Reference] = {slot.key: self._draw.choice(_TEXTS) for slot in tool.slots}
            arguments |= {key: Reference("from", f"n{source}") for key, source in readers.items()}
            after = tuple(f"n{source}" for source in sources if source not in readers.values())
            return PlanTask(tool.name, f"n{place}", arguments, after)
        result = self._assigned(tool, [tools[source] for source in sources]) or {}
        given: dict[str, Json | Reference] = {}
        for slot in tool.slots:
            if slot.key in result:
                source = sources[result[slot.key]]
                given[slot.key] = Reference("from", f"n{source}", (slot.type,) if len(tools[source].outputs) > 1 else ())
            else:
                given[slot.key] = _EXAMPLES.get(slot.type.lower()) or self._draw.choice(_TEXTS)
        return PlanTask(tool.name, f"n{place}", given)


def _reaches(start: int, end: int, edges: list[tuple[int, int]]) -> bool:
    seen, stack = {start}, [start]
    while stack:
        here = stack.pop()
        if here == end:
            return True
        following = [target for source, target in edges if source == here and target not in seen]
        seen.update(following)
        stack += following
    return False
