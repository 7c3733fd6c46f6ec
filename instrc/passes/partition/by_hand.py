"""Chunks that are cut by hand: the contexts of `Process(…)`, checked against the data flow."""

from __future__ import annotations

from instrc import problems
from instrc.ir.fusion import Unit
from instrc.ir.graph import Graph, Step
from instrc.passes.bind.holding import step_numbers
from instrc.passes.partition.nodes import ORDER, CutChunk, PartitionNode, chunk_of
from instrc.problems.report import Report
from instrc.source import Span


def divided_by_hand(graph: Graph, nodes: list[PartitionNode], report: Report) -> tuple[CutChunk, ...] | None:
    """Return the chunks that the contexts make; `None`, once it is reported, if they contradict the data flow."""
    contexts = graph.contexts or ()
    executors = [ORDER.index(context.executor) for context in contexts]
    chosen = {step_numbers((unit,))[0]: i for i, context in enumerate(contexts) for unit in context.units}
    where: list[int] = []
    for node in nodes:
        if node.answer:
            after = where[node.reads[0]]
            later = next((i for i in range(after + 1, len(contexts)) if executors[i] == node.executor), None)
            if later is None:
                reason = "waits for the server, and no `Server_Context` follows"
                report.add(_against_data_flow(_step(graph, node.unit), reason))
                return None
            where.append(later)
        else:
            where.append(chosen[step_numbers((node.unit,))[0]])
    for node, chunk in zip(nodes, where, strict=True):
        for need in node.reads:
            if where[need] > chunk:
                later_step = _step(graph, nodes[need].unit)
                reason = "reads what comes in a later context"
                report.add(_against_data_flow(_step(graph, node.unit), reason, later_step.span))
                return None
    inside: list[list[PartitionNode]] = [[] for _ in executors]
    for node, chunk in zip(nodes, where, strict=True):
        inside[chunk].append(node)
    for context, each in zip(contexts, inside, strict=True):
        if not each:
            report.add(problems.steps.NothingToDo(at=context.span))
            return None
    return tuple(
        chunk_of(executor, each, context.annotations) for executor, each, context in zip(executors, inside, contexts, strict=True)
    )


def _step(graph: Graph, unit: Unit) -> Step:
    return graph.steps[step_numbers((unit,))[0]]


def _against_data_flow(step: Step, reason: str, other: Span | None = None) -> problems.steps.CutAgainstDataFlow:
    """Return the problem of a step whose context contradicts the data flow; `other` is the step that it reads."""
    return problems.steps.CutAgainstDataFlow(at=step.span, word=step.key or step.base_name, reason=reason, other=other)
