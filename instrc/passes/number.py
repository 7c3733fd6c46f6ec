"""Give every step its key, in the order in which the steps run."""

from __future__ import annotations

from instrc.ir.graph import Graph
from instrc.ir.plan import Chunk
from instrc.naming import camel, snake
from instrc.passes.holding import numbers


def number_steps(graph: Graph, chunks: tuple[Chunk, ...], *, naming: str, bare: bool) -> dict[int, str]:
    """Return the key of each step: `step3_find_slot`, or `findSlot` where `naming` is `camel`.

    Keys written by hand stay and use up a number; a key that would be taken, by a step or an input, gets `_2`, `_3`.
    A single step without a key around it uses up none.
    """
    order: list[int] = []
    for chunk in chunks:
        for number in numbers(chunk.units):
            order.extend(graph.inner.get(number, ()))
            order.append(number)
    order = list(dict.fromkeys(order))
    taken = {step.key for step in graph.steps.values() if step.key is not None}
    keys: dict[int, str] = {}
    used: set[str] = set(graph.inputs)
    count = 0
    for number in order:
        step = graph.steps[number]
        if bare and number == order[-1]:
            keys[number] = _key(step.stem, 1, naming)
            continue
        count += 1
        wanted = step.key if step.key is not None else _key(step.stem, count, naming)
        key, again = wanted, 1
        while key in used or (step.key is None and key in taken):
            again += 1
            key = f"{wanted}_{again}"
        used.add(key)
        keys[number] = key
    return keys


def _key(stem: str, count: int, naming: str) -> str:
    if naming == "camel":
        return camel(stem) or "step"
    return f"step{count}_{snake(stem)}".rstrip("_")
