"""Programs as instructions: what a program exports stands in place of the call, and its inputs are the arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from instrc import problems
from instrc.ir.fusion import suffix_of
from instrc.ir.graph import Graph
from instrc.ir.surface import Anonymous, Argument, Binding, Expression
from instrc.jsonvalue import Json
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.names import CalledProgram, define
from instrc.passes.bind.program_arguments import evaluate_arguments
from instrc.passes.bind.scopes import ProgramNames, Scope
from instrc.passes.bind.values import BoundValue
from instrc.passes.trampoline import Task
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.source import Source, Span
from instrc.syntax.habits import name_habits
from instrc.syntax.lexer import decode_source
from instrc.syntax.parser import parse


def call_program(
    ev: Evaluation, program: CalledProgram, written: tuple[Argument, ...], span: Span, context: EvaluationContext
) -> Task[BoundValue | None]:
    """Evaluate a call of a program: its value is that of what it exports, with its inputs given."""
    calls = [each.path for each in context.scope.program.calls]
    if program.file.path in calls:
        circle = context.scope.program.calls[calls.index(program.file.path) :]
        uris = (*(each.uri for each in circle), program.file.uri)
        ev.report.add(problems.calls.CircularProgram(at=span, uris=uris))
        return None
    names = _names(ev, program, span, context)
    if names is None:
        return None
    ev.calls[names.program.source] = span
    expression = _export(ev, program, names, span)
    given = yield evaluate_arguments(ev, names, program.file.segment, written, span, context)
    if given is None or expression is None:
        return None
    scope = Scope(
        ev.next_scope(),
        names.locals,
        {},
        names,
        given=given,
        region=context.region,
        level=context.scope.level,
        piped=given["prompt"],
    )
    inside = msgspec.structs.replace(context, scope=scope, piped=given["prompt"], own=False, keys=None, placing=context.placing)
    before = len(ev.report.problems)
    value = yield ev.value(expression, inside)
    ev.report.change(before, lambda each: _with_call(each, span))
    return value


def show_calls(graphs: Iterable[Graph], report: Report) -> None:
    """Give the problems that later stages found in called programs the calls that led there."""
    calls = {source: call for graph in graphs for source, call in graph.calls.items()}
    if calls:
        report.change(0, lambda problem: _with_calls(problem, calls))


def _with_calls(problem: Problem, calls: Mapping[Source, Span]) -> Problem:
    if problem.calls or problem.at is None or problem.at.source not in calls:
        return problem
    found: list[Span] = []
    source = problem.at.source
    while source in calls:
        found.append(calls[source])
        source = calls[source].source
    return replace(problem, calls=tuple(found))


def _with_call(problem: Problem, span: Span) -> Problem:
    """Return a problem of another program with the call that led there."""
    return problem if problem.at is None or problem.at.source is span.source else replace(problem, calls=(*problem.calls, span))


def input_schemas(ev: Evaluation, program: CalledProgram, span: Span, context: EvaluationContext) -> dict[str, Json] | None:
    """Return the schemas of a program's inputs; `None`, once it is reported, if it cannot be read."""
    names = _names(ev, program, span, context)
    if names is None or _export(ev, program, names, span) is None:
        return None
    schemas = names.schemas()
    found = {**schemas, "prompt": schemas["prompt"] or {"type": "string"}}
    found.pop("called", None)  # the name that it was called by is the engine's to give
    return found


def _names(ev: Evaluation, program: CalledProgram, span: Span, context: EvaluationContext) -> ProgramNames | None:
    """Read a program; what is wrong with it is shown in it, with the call that led there."""
    file = program.file
    if suffix_of(file.segment):
        ev.report.add(problems.calls.ProgramWithSuffix(at=span, word=file.segment, path=file.path))
        return None
    mine = Report()
    source = decode_source(file.path, file.data, mine)
    parsed = None if source is None else parse(source, mine)
    if parsed is not None:
        name_habits(parsed, mine)
    names = (
        None
        if parsed is None or mine.failed
        else define(parsed, mine, program.instructions, (*context.scope.program.calls, file))
    )
    ev.report.problems.extend(each if each.at is None else replace(each, calls=(span,)) for each in mine.once())
    return None if mine.failed else names


def _export(ev: Evaluation, program: CalledProgram, names: ProgramNames, span: Span) -> Expression | None:
    """Return what a program exports; of several, the one that is named."""
    exports = _exports_of(names)
    if program.export is not None:
        if program.export in exports:
            return exports[program.export]
        near = nearest(program.export, tuple(exports))
        ev.report.add(problems.calls.UnknownExport(at=span, word=program.export, known=tuple(exports), nearest=near))
        return None
    if len(exports) != 1:
        ev.report.add(problems.calls.UnchosenExport(at=span, known=tuple(exports)))
        return None
    return next(iter(exports.values()))


def _exports_of(names: ProgramNames) -> dict[str, Expression]:
    """Return what a program exports, by name; an expression that stands alone goes by its place."""
    found: dict[str, Expression] = {}
    for number, statement in enumerate(names.program.statements, start=1):
        if isinstance(statement, Anonymous):
            found[f"({number})"] = statement.value
        elif isinstance(statement, Binding) and statement.exported:
            found[statement.name.text] = statement.value
    if not found:
        bindings = (each for each in names.program.statements if isinstance(each, Binding))
        found = {each.name.text: each.value for each in bindings if each.name.text not in names.survey.mentioned}
    return found
