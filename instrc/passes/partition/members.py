"""Members that an export is to give although nothing can take them out of an answer."""

from __future__ import annotations

from instrc import problems
from instrc.ir.graph import Graph
from instrc.ir.paths import reading_paths
from instrc.problems.report import Report


def report_members(graph: Graph, report: Report) -> None:
    """Warn of members that an export that no engine runs is to give: only a process takes them out of an answer."""
    places = {reached.path: reached.span for reached in graph.accesses}
    for path in [] if graph.value is None else reading_paths(graph.value):
        if path.tail and isinstance(path.origin, int):
            step = graph.steps[path.origin]
            word, unwaited = step.key or step.base_name, step.executor == "server"
            at = places.get(path, step.span)
            report.add(problems.steps.MemberOfTool(at=at, word=word, member=path.tail, unwaited=unwaited))
