"""One misspelt definition is one problem, however many places read the name."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from msgspec.structs import replace

from instrc.ir.children import children
from instrc.ir.surface import Expression, Input, Object, Program
from instrc.passes.bind.scopes import ProgramNames
from instrc.problems.names import MisspeltDefinition, UnknownName
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.steps import UnknownMember
from instrc.source import Span


def report_at_definitions(report: Report, names: ProgramNames) -> None:
    """Report a misspelt definition once, instead of each place that reads it by the correct name.

    This is done if nothing reads the name as the definition spells it.
    One place alone may be the misspelt one: that matters where the name is also that of an argument or an input.
    """
    reads: dict[str, list[UnknownName | UnknownMember]] = {}
    for problem in report.problems:
        if isinstance(problem, UnknownName | UnknownMember) and problem.at and problem.at.source is names.program.source:
            reads.setdefault(problem.word, []).append(problem)
    replaced: set[int] = set()
    found: list[Problem] = []
    for word, group in reads.items():
        places = tuple(sorted({problem.at for problem in group if problem.at}, key=attrgetter("start")))
        offered = {problem.nearest[0] for problem in group if problem.nearest}
        if len(offered) != 1:
            continue
        written = offered.pop()
        at = [] if written in names.survey.mentioned else list(_definitions(written, names))
        if len(at) != 1:
            continue
        first = group[0]
        if len(places) > 1:
            found.append(MisspeltDefinition(at=at[0], word=written, read_as=word, places=places))
        elif isinstance(first, UnknownName) and (written in names.inputs or _is_key(places[0], names.program)):
            found.append(replace(first, unread=at[0]))
        else:
            continue
        replaced |= {id(problem) for problem in group}
    if found:
        report.problems[:] = [*(problem for problem in report.problems if id(problem) not in replaced), *found]


def _definitions(word: str, names: ProgramNames) -> Iterator[Span]:
    """Yield where a name is defined: by the program, as an input, in the bodies of blocks."""
    if word in names.locals:
        yield names.locals[word].name.span
    if declared := names.inputs.get(word):
        yield declared
    if word in names.survey.elements:
        yield names.survey.elements[word]
    for bodies in names.survey.locals.values():
        if word in bodies:
            yield bodies[word].name.span


def _is_key(at: Span, program: Program) -> bool:
    """Tell whether a name stands alone in braces, as a key and its value."""
    pending: list[Expression] = [each.value for each in program.statements if not isinstance(each, Input)]
    while pending:
        node = pending.pop()
        if isinstance(node, Object) and any(field.value is None and field.key_span == at for field in node.fields):
            return True
        pending += children(node)
    return False
