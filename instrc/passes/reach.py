"""Look for what paths lead to in the composed schemas, and for what conditions and lists are about."""

from __future__ import annotations

from collections.abc import Sequence

from instrc import problems
from instrc.flattening.members import elements, member
from instrc.ir.graph import Each, FlatGraph, Path, Reached, Repeat
from instrc.jsonvalue import Json
from instrc.passes.outcomes import Outcomes
from instrc.passes.planned import RUN_PLAN, tools_of
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.source import Span


def check_reach(graphs: Sequence[FlatGraph], report: Report) -> None:
    """Report paths that lead nowhere, and blocks over what is no list; what several exports share is reported once."""
    mine = Report()
    for graph in graphs:
        _check(graph, mine)
    report.problems.extend(mine.once())


def _check(flat: FlatGraph, report: Report) -> None:
    graph = flat.graph
    if not graph.has_flow:
        return
    outcomes = Outcomes(graph, flat.schemas)
    for access in graph.accesses:
        _check_member(access, outcomes, report)
    for step in graph.steps.values():
        content = step.content
        if step.activity == RUN_PLAN and tools_of(graph, step) is None:
            report.add(problems.plans.NotAPlan(at=step.span))
        if isinstance(content, Each | Repeat) and isinstance(content.source, Path):
            _check_list(outcomes.find(content.source).schema, content.at, report)


def _check_member(access: Reached, outcomes: Outcomes, report: Report) -> None:
    path, span = access
    if outcomes.find(Path(path.origin, path.tail[:-1])).schema is None:
        return  # an earlier member has been reported
    found = outcomes.find(path)
    if found.schema is not None:
        return
    word = path.tail[-1]
    if found.is_list:
        report.add(problems.flow.PathIntoList(at=span, word=word))
    else:
        near = nearest(word, found.known)
        report.add(problems.flow.UnknownMember(at=span, word=word, known=found.known, nearest=near))


def _check_list(schema: Json | None, span: Span, report: Report) -> None:
    if schema is None or elements(schema) is not None:
        return
    found = {name: member(schema, name).schema for name in member(schema, "\0").known}
    lists = tuple(name for name, each in found.items() if each is not None and elements(each) is not None)
    report.add(problems.flow.NotAList(at=span, word=span.text, lists=lists))
