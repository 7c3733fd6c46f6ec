"""Surface to graph: look up every name, make every call a step, find out who reads what."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from instrc import problems
from instrc.ir.blocks import regions_of
from instrc.ir.fusion import is_lone_instruction
from instrc.ir.graph import Context, Graph
from instrc.ir.reads import Constant
from instrc.ir.surface import (
    Annotated,
    Anonymous,
    Binding,
    Expression,
    Input,
    Name,
    Pipe,
    Program,
    Uri,
)
from instrc.limits.programs import EVALUATION_ROUNDS, EXPORTED_STEPS, VALUE_LEVELS
from instrc.naming import snake
from instrc.passes.bind.block_places import NOTHING_FORESEEN, Foreseen
from instrc.passes.bind.bodies import depth_of, names_const, place_of_const, reading_of
from instrc.passes.bind.context import EvaluationContext
from instrc.passes.bind.evaluate import evaluate
from instrc.passes.bind.evaluation import Evaluation
from instrc.passes.bind.holding import nested_steps
from instrc.passes.bind.identity import Identities
from instrc.passes.bind.lookup import alias
from instrc.passes.bind.names import RESERVED, define
from instrc.passes.bind.scopes import LocalName, ProgramNames, Scope
from instrc.passes.bind.scopes import goal as stated_goal
from instrc.passes.bind.settled import BoundExport, ExportSlices, SettledExports
from instrc.passes.bind.values import BoundValue, Cut, Data, Members
from instrc.passes.instructions import InstructionTable
from instrc.passes.trampoline import run_task
from instrc.problems.report import Report


class Export(msgspec.Struct, frozen=True):
    """An expression that becomes an artefact, and the name that `tool` gives it."""

    name: str | None
    expression: Expression
    statement: Binding | Anonymous


def bind(
    program: Program, instructions: InstructionTable, report: Report, *, stem: str, settled: SettledExports | None = None
) -> tuple[Graph, ...]:
    """Return the graph of each export of a program, in order; `stem` names those that nothing else names.

    Exports that hold a mistake are left out: it is in the report.  So are those that are `settled`.
    """
    mine = Report()
    names = define(program, mine, instructions)
    root = names.root
    read: set[str] = set()
    used = names.survey.mentioned | RESERVED
    bindings = [each for each in program.statements if isinstance(each, Binding)]
    idle = [each for each in bindings if not each.exported and each.name.text not in used]
    explicit = _exports(program)
    exports = explicit or [Export(None, binding.value, binding) for binding in idle]
    graphs: list[Graph] = []
    steps = 0
    earlier: set[str] = set()
    values = {each.name.text for each in bindings if not isinstance(each.value, Name | Uri)}
    slices = None if settled is None else settled.slices(names)
    unclear = {each.at.start for each in report.problems if each.at and each.name == "missing-separator"}
    for export in exports:
        bound = None if slices is None else slices.find(export.statement)
        if bound is None:
            graph, bound = _graph(export, root, instructions, mine, slices)
            if graph is not None:
                graphs.append(graph)
        read |= bound.read
        steps += bound.steps
        if steps > EXPORTED_STEPS:
            at, unit = export.expression.span, "steps in all its exports"
            mine.add(problems.files.TooLarge(at=at, what="the program", limit=EXPORTED_STEPS, unit=unit))
            report.problems.extend(mine.once())
            return ()
        if explicit and export.name is None:
            at = export.expression.span
            if (shared := earlier & bound.read & values) and at.start not in unclear:
                mine.add(problems.names.SeparatePrograms(at=at, shared=min(shared)))
            earlier |= bound.read
    inputs = [each for each in program.statements if isinstance(each, Input) and each.name.text not in used]
    unused = (*(inputs if exports else ()), *(idle if explicit else ()))
    needed = {binding.name.text for binding in ([each for each in bindings if each.exported] if explicit else idle)}
    needed |= read
    _read_alone([each for each in bindings if each.name.text not in needed], root, mine)
    if not any(isinstance(problem, problems.names.UnknownName) for problem in mine.problems):
        for each in unused:  # where a name is unknown, one of these may be meant
            left_out = isinstance(each, Binding) and each.name.text in values
            mine.add(problems.names.UnusedBinding(at=each.name.span, word=each.name.text, left_out=left_out))
    if not exports and not mine.failed:
        mine.add(problems.names.NothingExported(at=program.source.whole()))
    if mine.failed:
        from instrc.passes.bind.misspelt import report_at_definitions  # for mistakes

        report_at_definitions(mine, names)
    report.problems.extend(mine.once())
    return _name_graphs(graphs, stem)


def _read_alone(bindings: list[Binding], root: Scope, report: Report) -> None:
    """Read what no export needs, for the mistakes in it."""
    evaluation = Evaluation(
        evaluate, root.program.instructions, report, Identities()
    )  # one for all, so that nothing is read twice
    for binding in bindings:
        name = binding.name
        if name.text not in evaluation.read:
            if evaluation.ends.is_alias(LocalName(binding, root)):
                alias(evaluation, name, root)
            else:
                run_task(evaluation.value(name, EvaluationContext(root, placing=True, exported=True)))


def _exports(program: Program) -> list[Export]:
    """Return what is exported explicitly: each `tool` and each expression that stands alone."""
    found: list[Export] = []
    for statement in program.statements:
        if isinstance(statement, Anonymous):
            found.append(Export(None, statement.value, statement))
        elif isinstance(statement, Binding) and statement.exported:
            found.append(Export(statement.name.text, statement.value, statement))
    return found


def _graph(
    export: Export, root: Scope, instructions: InstructionTable, report: Report, slices: ExportSlices | None
) -> tuple[Graph | None, BoundExport]:
    """Return the graph of one export, and what the rest of the program has to know of it."""
    told, called = len(report.problems), instructions.called_programs
    evaluation, value = _evaluated(export, root, instructions, report)
    graph = None if value is None else _graph_of(export, evaluation, value, root.program, report)
    bound = BoundExport(frozenset(evaluation.read), 0 if graph is None else len(graph.steps))
    if slices is not None and graph is not None and (told, called) == (len(report.problems), instructions.called_programs):
        slices.note(export.statement, bound)
    return graph, bound


def _graph_of(export: Export, evaluation: Evaluation, value: BoundValue, names: ProgramNames, report: Report) -> Graph | None:
    """Return the graph of what was evaluated."""
    if isinstance(value, Data):
        report.add(problems.calls.MisplacedData(at=export.expression.span))
        return None
    steps = evaluation.steps
    contexts: tuple[Context, ...] | None = value.contexts if isinstance(value, Cut) else None
    units = steps.units() if contexts is None else tuple(unit for context in contexts for unit in context.units)
    if evaluation.accesses and isinstance(value, Members) and names_const(value):
        report.add(problems.names.ReservedName(at=place_of_const(export.expression), word="const"))
        return None
    if not units:
        if not report.failed:  # what stands alone may be the rest of what is told already
            report.add(problems.steps.NothingToDo(at=export.expression.span))
        return None
    table = {step.number: step for step in steps.table if step.number not in steps.dissolved}
    compound = frozenset([number for number, step in table.items() if not is_lone_instruction(step.content)])
    blocks = [table[number] for number in sorted(compound) if table[number].executor == "block"]
    awaited = [number for number, step in table.items() if step.output or step.executor in {"server", "user"}]
    inside = [unit for step in blocks for region in regions_of(step.content) for unit in region.units]
    return Graph(
        name=export.name or "",
        goal=_goal(export.expression, names),
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
        passed=tuple(each for each in evaluation.passed if isinstance(each.value, Constant) or not steps.is_dropped(each.value)),
    )


def _evaluated(
    export: Export, root: Scope, instructions: InstructionTable, report: Report
) -> tuple[Evaluation, BoundValue | None]:
    """Evaluate an export; once more if a step of a block turned out to be one of a block around it, or of the program."""
    identities = Identities()
    foreseen = NOTHING_FORESEEN
    for last in reversed(range(EVALUATION_ROUNDS)):
        mine = Report()
        evaluation = Evaluation(evaluate, instructions, mine, identities, foreseen)
        value = run_task(evaluation.value(export.expression, EvaluationContext(root, placing=True, exported=True)))
        steps, blocks = foreseen.steps | evaluation.steps.late, {**foreseen.blocks, **evaluation.steps.places.moved}
        if not last or (steps == foreseen.steps and blocks == foreseen.blocks):
            break
        foreseen = Foreseen(steps, blocks)
    report.problems.extend(mine.problems)
    return evaluation, value


def _goal(expression: Expression, names: ProgramNames) -> str | None:
    """Return the goal that an export states: the string its pipe begins with, through local names."""
    seen: set[str] = set()
    while True:
        match expression:
            case Annotated(value):
                expression = value
            case Pipe(stages):
                goal = stated_goal(stages[0], names.root)
                if goal is not None:
                    return goal
                expression = stages[0]
            case Name(text) if text in names.locals and text not in seen:
                seen.add(text)
                expression = names.locals[text].value
            case _:
                return None


def _name_graphs(graphs: list[Graph], stem: str) -> tuple[Graph, ...]:
    """Give each graph its name: of its tool, of its goal, or of its file; equal ones are counted."""
    taken: set[str] = set()
    named: list[Graph] = []
    for graph in graphs:
        wanted = graph.tool or snake(graph.goal or "") or stem
        name, count = wanted, 1
        while name in taken:
            count += 1
            name = f"{wanted}_{count}"
        taken.add(name)
        named.append(replace(graph, name=name))
    return tuple(named)
