"""Deadlines and delays in an export that no engine runs."""

from __future__ import annotations

from instrc import problems
from instrc.ir.graph import Graph
from instrc.problems.report import Report


def report_deadlines(graph: Graph, report: Report) -> None:
    """Warn of deadlines and delays on the steps of a tool or a direct call: only a process keeps them."""
    for step in graph.steps.values():
        if step.timing.words:
            report.add(problems.blocks.IdleDeadline(at=step.span, words=step.timing.words))
