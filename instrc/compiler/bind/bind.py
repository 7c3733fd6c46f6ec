"""Surface to graph: look up every name, make every call a step, and collect the values that each step reads."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.blocks import depth_of, names_const, place_of_const, reading_of
from instrc.compiler.bind.bodies import carry_out
from instrc.compiler.bind.evaluate import evaluate
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.exports import Export, exports_of, is_work
from instrc.compiler.bind.identities import Identities
from instrc.compiler.bind.lookup import alias
from instrc.compiler.bind.scopes import RESERVED, Ends, LocalName, ProgramNames, Scope, define
from instrc.compiler.bind.scopes import goal as stated_goal
from instrc.compiler.bind.steps import NOTHING_FORESEEN, EvaluationContext, Foreseen
from instrc.compiler.bind.values import BoundValue, Cut, Data, Members, StepResult, nested_steps
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import Context, Graph, Lines, is_lone_instruction, regions_of
from instrc.compiler.partition.effects import kinds_of_steps
from instrc.language import surface
from instrc.language.definitions import wrong_definitions
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.process.flow import Constant
from instrc.text.limits import VALUE_LEVELS
from instrc.text.names import snake
from instrc.text.source import Span

EXPORTED_STEPS: Final = 200_000
"""Maximum steps in all exports of a file: shared steps count in each, so documents grow quadratically with the file."""


def bind(program: surface.Program, instructions: InstructionTable, report: Report, *, stem: str) -> tuple[Graph, ...]:
    """Return the graph of each export of a program, in order; `stem` names those without a name.

    Exports with a mistake are left out; the mistake is in the report.
    """
    mine = Report()
    names = define(program, mine, instructions)
    root = names.root
    read: set[str] = set()
    used = names.survey.mentioned | RESERVED
    unclear = {each.at.start for each in report.problems if each.at and each.name == "missing-separator"}
    exports = exports_of(names)
    tools = [export for export in exports if export.name]
    graphs: list[Graph] = []
    steps = 0
    for export in exports:
        evaluation, value = _evaluated(export, root, instructions, mine)
        graph = None if value is None else _graph_of(export, evaluation, value, names, mine, stem)
        if graph is not None:
            for number, first, again in evaluation.steps.log.repeated(evaluation.frames.values(), kinds_of_steps(graph)):
                word = graph.steps[number].activity or graph.steps[number].base_name
                mine.add(problems.steps.SameEffect(at=again, word=word, first=first))
            for one, other in evaluation.shared_names():
                again, first, word = one.name.span, other.name.span, one.name.text
                mine.add(problems.steps.SameStep(at=again, word=word, other=other.name.text, first=first))
            graphs.append(replace(graph, unread=frozenset()) if unclear else graph)
            steps += len(graph.steps)
        read |= evaluation.read
        if steps > EXPORTED_STEPS:
            at, unit = export.expression.span, "steps in all its exports"
            mine.add(problems.files.TooLarge(at=at, what="the program", limit=EXPORTED_STEPS, unit=unit))
            report.problems.extend(mine.once())
            return ()
    for each in program.statements:
        if tools and isinstance(each, surface.Anonymous) and each.span.start not in unclear:
            mine.add(problems.names.MisplacedLine(at=each.span, beside="tool"))
    known = exports[0].expression if exports and not tools else None
    idle = [
        each
        for each in program.statements
        if not isinstance(each, surface.Anonymous)
        and each.name.text not in used
        and (isinstance(each, surface.Input) or not (each.exported or each.value is known))
        and (tools or isinstance(each, surface.Input) or not is_work(each, Ends(), root))
    ]
    needed = {export.name for export in tools} | read
    bindings = [each for each in program.statements if isinstance(each, surface.Binding)]
    _read_alone([each for each in bindings if each.name.text not in needed and each.value is not known], root, mine)
    if exports and not any(isinstance(problem, problems.names.UnknownName) for problem in mine.problems):
        for each in idle:  # where a name is unknown, one of these may be meant
            left_out = isinstance(each, surface.Binding) and not isinstance(each.value, surface.Name | surface.Uri)
            mine.add(problems.names.UnusedBinding(at=each.name.span, word=each.name.text, left_out=left_out))
    if not exports and not mine.failed:
        mine.add(problems.names.NothingExported(at=program.source.whole()))
    if mine.failed:
        report_at_definitions(mine, names)
    elif not report.failed:  # otherwise these may follow from another mistake
        mine.problems += wrong_definitions(program)
    report.problems.extend(mine.once())
    return tuple(graphs)


EVALUATION_ROUNDS: Final = 200
"""Maximum evaluations of an export: each may show that equal steps and blocks belong further out than assumed."""


def _evaluated(
    export: Export, root: Scope, instructions: InstructionTable, report: Report
) -> tuple[Evaluation, BoundValue | None]:
    """Evaluate an export, and again if a step of a block turned out to belong to an enclosing block or the program."""
    identities = Identities()
    foreseen = NOTHING_FORESEEN
    for last in reversed(range(EVALUATION_ROUNDS)):
        mine = Report()
        evaluation = Evaluation(evaluate, instructions, mine, identities, foreseen)
        exported = EvaluationContext(root, placing=True, exported=True)
        carried = carry_out(evaluation, export.lines, root, EvaluationContext(root), exported)
        evaluation.frames[root.region] = carried.frames
        steps, blocks = foreseen.steps | evaluation.steps.late, {**foreseen.blocks, **evaluation.steps.places.moved}
        if not last or mine.failed or (steps == foreseen.steps and blocks == foreseen.blocks):
            break
        foreseen = Foreseen(steps, blocks)
    report.problems.extend(mine.problems)
    return evaluation, carried.value if carried.complete else None


def _graph_of(
    export: Export, evaluation: Evaluation, value: BoundValue, names: ProgramNames, report: Report, stem: str
) -> Graph | None:
    """Return the graph of the evaluated steps."""
    if isinstance(value, Data):
        report.add(problems.calls.MisplacedData(at=export.expression.span))
        return None
    steps = evaluation.steps
    contexts: tuple[Context, ...] | None = value.contexts if isinstance(value, Cut) else None
    units = steps.units() if contexts is None else tuple(unit for context in contexts for unit in context.units)
    if evaluation.accesses and isinstance(value, Members) and names_const(value):
        report.add(problems.names.ReservedName(at=place_of_const(export.expression), word="const"))
        return None
    request = isinstance(value, StepResult) and isinstance(value.path.origin, str) and not value.path.tail
    if not units or request:
        if not report.failed:  # a lone expression may be the rest of a reported mistake
            report.add(problems.steps.NothingToDo(at=export.expression.span))
        return None
    goal = _goal(export.expression, names)
    table = {step.number: step for step in steps.table if step.number not in steps.dissolved}
    compound = frozenset([number for number, step in table.items() if not is_lone_instruction(step.content)])
    blocks = [table[number] for number in sorted(compound) if table[number].executor == "block"]
    awaited = [number for number, step in table.items() if step.output or step.executor in {"server", "user"}]
    inside = [unit for step in blocks for region in regions_of(step.content) for unit in region.units]
    return Graph(
        name=export.name or snake(goal or "") or stem,
        goal=goal,
        tool=export.name,
        steps=table,
        units=units,
        inputs=names.schemas(),
        contexts=contexts,
        inner=nested_steps(table, [unit for unit in (*units, *inside) if not isinstance(unit, int) or unit in compound]),
        keyed=isinstance(value, Members),
        value=None if isinstance(value, Cut) or depth_of(value) > VALUE_LEVELS else reading_of(value),
        accesses=tuple(dict.fromkeys(each for each in evaluation.accesses if not steps.is_dropped(each.path))),
        compound=compound,
        block_numbers=tuple([step.number for step in blocks]),
        awaited_numbers=tuple(awaited),
        labels=evaluation.labels,
        calls=evaluation.calls,
        lines=_lines(evaluation),
        unread=frozenset(evaluation.unread),
        only_reading=frozenset(number for number in awaited if evaluation.only_reads(table[number])),
        passed=tuple(each for each in evaluation.passed if isinstance(each.value, Constant) or not steps.is_dropped(each.value)),
    )


def _lines(evaluation: Evaluation) -> dict[int, Lines]:
    """Return the lines of bodies in which effects can have an order."""
    log = evaluation.steps.log
    found = {region: log.lines(region, frames) for region, frames in evaluation.frames.items()}
    return {region: lines for region, lines in found.items() if len(lines) > 1 or any(line.bodies for line in lines)}


def _goal(expression: surface.Expression, names: ProgramNames) -> str | None:
    """Return the goal of an export: the string its pipe begins with, through local names."""
    seen: set[str] = set()
    while True:
        match expression:
            case surface.Annotated(value):
                expression = value
            case surface.Pipe(stages):
                goal = stated_goal(stages[0], names.root)
                if goal is not None:
                    return goal
                expression = stages[0]
            case surface.Name(text) if text in names.locals and text not in seen:
                seen.add(text)
                expression = names.locals[text].value
            case _:
                return None


def _read_alone(bindings: list[surface.Binding], root: Scope, report: Report) -> None:
    """Bind the statements that no export needs, to find mistakes in them."""
    evaluation = Evaluation(
        evaluate, root.program.instructions, report, Identities()
    )  # shared by all, so that nothing is read twice
    for binding in bindings:
        name = binding.name
        if name.text not in evaluation.read:
            if evaluation.ends.is_alias(LocalName(binding, root)):
                alias(evaluation, name, root)
            else:
                evaluation.value(name, EvaluationContext(root, placing=True, exported=True))


def report_at_definitions(report: Report, names: ProgramNames) -> None:
    """Report a misspelt definition once, instead of at each place that reads the correct name.

    This applies if nothing reads the name as defined.
    A single reading place may itself be misspelt, which matters if it is also the name of an argument or input.
    """
    reads: dict[str, list[problems.names.UnknownName | problems.steps.UnknownMember]] = {}
    for problem in report.problems:
        here = problem.at and problem.at.source is names.program.source
        if here and isinstance(problem, problems.names.UnknownName | problems.steps.UnknownMember):
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
            found.append(problems.names.MisspeltDefinition(at=at[0], word=written, read_as=word, places=places))
        elif isinstance(first, problems.names.UnknownName) and (written in names.inputs or _is_key(places[0], names.program)):
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


def _is_key(at: Span, program: surface.Program) -> bool:
    """Return whether a lone name in braces is both a key and its value."""
    pending: list[surface.Expression] = [each.value for each in program.statements if not isinstance(each, surface.Input)]
    while pending:
        node = pending.pop()
        if isinstance(node, surface.Object) and any(field.value is None and field.key_span == at for field in node.fields):
            return True
        pending += surface.children(node)
    return False
