"""Programs as instructions: a call is replaced by the program's export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.exports import Export, exports_of
from instrc.compiler.bind.given import data_of, is_data
from instrc.compiler.bind.lookup import names_a_value
from instrc.compiler.bind.scopes import CalledProgram, ProgramNames, define
from instrc.compiler.bind.steps import EvaluationContext
from instrc.compiler.bind.values import BoundValue, Data, StepResult
from instrc.compiler.instructions import missing_arguments, unknown_argument
from instrc.compiler.ir import Graph, Path, TypedArgument, suffix_of
from instrc.language.habits import name_habits
from instrc.language.lexer import decode_source
from instrc.language.parser import parse
from instrc.language.program_places import place_of_value
from instrc.language.surface import Argument, Expression, Object
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import nearest
from instrc.schema.relations import literal_fault
from instrc.text.jsonvalue import Json
from instrc.text.source import Source, Span


def evaluate_arguments(
    ev: Evaluation, names: ProgramNames, callee: str, written: tuple[Argument, ...], span: Span, context: EvaluationContext
) -> dict[str, BoundValue] | None:
    """Evaluate the arguments of a call, by input name; return `None` after reporting a wrong or missing one."""
    inputs = tuple(names.inputs)
    found: dict[str, BoundValue] = {}
    places: dict[str, Span] = {}
    complete = True
    for given in _given(written):
        name = given.name
        if given.braced and not is_data(given.value) and not names_a_value(ev, given.value, context):
            ev.report.add(problems.calls.MisplacedCall(at=given.value.span, word=given.value.span.text, holder=callee))
            places.setdefault(name, given.at)
            complete = False
        elif name in places:
            _report_second(ev, given, callee, inputs, places[name])
            complete = False
        elif name not in inputs:
            places[name] = given.at
            ev.report.add(unknown_argument(name, given.at, callee, inputs))
            complete = False
        else:
            places[name] = given.at
            value: BoundValue | None = (
                Data(data_of(ev, given.value)) if is_data(given.value) else ev.value(given.value, context.inside())
            )
            if isinstance(value, Data):
                fits = admits_literal(ev, names.schemas()[name], name, value.value, given.at, callee)
                value = Data(value.value, name) if fits else None
            if value is None:
                complete = False
            else:
                found[name] = value
                if isinstance(value, StepResult):
                    at = given.value.span
                    ev.passed.append(TypedArgument(callee, name, value.path, names.schemas()[name], at, at))
    if "prompt" not in found:
        ev.reads_pipe(context)
        found["prompt"] = context.piped if context.piped is not None else StepResult(Path("prompt"))
    if not places.keys() >= set(inputs) - {"prompt"}:
        complete = False
        needed = tuple(name for name in inputs if name != "prompt")
        if (missing := missing_arguments(places, span, callee, inputs, needed)) is not None:
            ev.report.add(missing)
    return {name: found[name] for name in inputs} if complete else None


class _GivenInput(NamedTuple):
    """The value that a call passes for one input."""

    name: str
    """Its label or its name in braces; an unnamed input fills `prompt`."""
    plain: bool
    at: Span
    value: Expression
    braced: bool
    """Whether it is in braces."""


def _given(written: tuple[Argument, ...]) -> Iterator[_GivenInput]:
    """Yield the arguments of a call, with the names in its braces as labels."""
    for each in written:
        if each.label is None and isinstance(each.value, Object):
            for field in each.value.fields:
                yield _GivenInput(field.key or "prompt", plain=False, at=field.key_span, value=field.content, braced=True)
        else:
            at = each.label_span or each.value.span
            yield _GivenInput(each.label or "prompt", plain=each.label is None, at=at, value=each.value, braced=False)


def _report_second(ev: Evaluation, given: _GivenInput, callee: str, inputs: tuple[str, ...], first: Span) -> None:
    """Report an input that is passed twice; there can be only one unnamed argument."""
    if given.plain:
        ev.report.add(problems.calls.TooManyArguments(at=given.at, mixin=callee, first=first, inputs=inputs))
    else:
        ev.report.add(problems.names.RepeatedName(at=given.at, word=given.name, first=first))


def admits_literal(ev: Evaluation, schema: Json, name: str, literal: Json, at: Span, callee: str) -> bool:
    """Return whether the schema of an argument admits a literal; report if not."""
    fault = literal_fault(literal, schema)
    if fault is None:
        return True
    place = place_of_value(at, fault.instance)
    from instrc.compiler.instructions import fitting_literals  # imported only for a literal that does not fit

    instead = fitting_literals(literal, schema, fault.instance)
    ev.report.add(
        problems.plans.WrongArgument(at=place, pointer="", callee=callee, argument=name, reason=fault.message, instead=instead)
    )
    return False


def read_program(ev: Evaluation, program: CalledProgram, span: Span, context: EvaluationContext) -> ProgramNames | None:
    """Parse a program; its problems are shown in it, with the call that led there."""
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


def export_of(ev: Evaluation, program: CalledProgram, names: ProgramNames, span: Span) -> Export | None:
    """Return the export of a program; if there are several, the named one."""
    exports = exports_of(names)
    known = tuple(each.name for each in exports if each.name)
    if program.export is not None:
        if program.export in known:
            return exports[known.index(program.export)]
        near = nearest(program.export, known)
        ev.report.add(problems.calls.UnknownExport(at=span, word=program.export, known=known, nearest=near))
        return None
    if len(exports) != 1:
        ev.report.add(problems.calls.UnchosenExport(at=span, known=known))
        return None
    return exports[0]


def with_call(problem: Problem, span: Span) -> Problem:
    """Return a problem of another program with the call that led there."""
    return problem if problem.at is None or problem.at.source is span.source else replace(problem, calls=(*problem.calls, span))


def show_calls(graphs: Iterable[Graph], report: Report) -> None:
    """Add to problems in called programs the calls that led there."""
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


def input_schemas(ev: Evaluation, program: CalledProgram, span: Span, context: EvaluationContext) -> dict[str, Json] | None:
    """Return the schemas of a program's inputs, or `None` after reporting that it is unreadable."""
    names = read_program(ev, program, span, context)
    if names is None or export_of(ev, program, names, span) is None:
        return None
    schemas = names.schemas()
    found = {**schemas, "prompt": schemas["prompt"] or {"type": "string"}}
    found.pop("called", None)  # the engine sets the name under which it was called
    return found
