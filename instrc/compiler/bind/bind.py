"""Surface to graph: look up every name, make every call a step, find out who reads what."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.blocks import depth_of, names_const, place_of_const, reading_of
from instrc.compiler.bind.evaluate import evaluate
from instrc.compiler.bind.evaluation import Evaluation
from instrc.compiler.bind.lookup import alias
from instrc.compiler.bind.scopes import RESERVED, LocalName, ProgramNames, Scope, define
from instrc.compiler.bind.scopes import goal as stated_goal
from instrc.compiler.bind.steps import NOTHING_FORESEEN, EvaluationContext, Foreseen, Identities
from instrc.compiler.bind.values import BoundValue, Cut, Data, Members, nested_steps
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import Context, Graph, is_lone_instruction, regions_of
from instrc.compiler.trampoline import run_task
from instrc.language import surface
from instrc.language.lexer import normal
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.process.flow import Constant
from instrc.text.limits import VALUE_LEVELS
from instrc.text.names import free_name, snake
from instrc.text.source import Span

_Slice: TypeAlias = tuple[str, ...]
"""What decides all that is told of an export: the texts of its statements in their order, after what all exports depend on."""


class BoundExport(Struct, frozen=True):
    """What the rest of a program has to know of an export that was bound."""

    read: frozenset[str]
    """Local names and inputs of the program that were looked up for it."""
    steps: int


_ASCII_WORDS = r"(?a)[A-Za-z_]\w*"  # patterns are compiled when they are needed
_WORDS = r"[^\s!-/:-@\[-^`{-~]+"
"""Every name in a text and more: other words, and beyond ASCII signs that no name has."""


class ExportSlices:
    """The exports of a program as it is now: the statements that each is made of, and what is known of it."""

    def __init__(self, names: ProgramNames, known: dict[_Slice, BoundExport], words: dict[str, frozenset[str]]) -> None:
        self._names = names
        self._known = known
        self._known_words = words
        self.words: dict[str, frozenset[str]] = {}
        """What may be a name in the statements that exports need, by their texts."""
        self._around = (*(each.span.text for each in names.declared), *sorted(names.survey.refused))
        """What all exports depend on."""
        self._needed: dict[int, list[surface.Binding]] = {}
        """The statements whose names stand in a statement, by its place."""
        self._found: dict[_Slice, BoundExport] = {}
        self._bound: list[tuple[_Slice, list[Span], BoundExport]] = []

    def find(self, export: surface.Statement) -> BoundExport | None:
        """Return what is known of an export; `None` if something may have to be told of it."""
        key = self._key(self._spans(export))
        found = self._known.get(key)
        if found is not None:
            self._found[key] = found
        return found

    def note(self, export: surface.Statement, bound: BoundExport) -> None:
        """Note an export that was bound without a problem."""
        spans = self._spans(export)
        self._bound.append((self._key(spans), spans, bound))

    def settled(self, told: Iterable[Problem]) -> dict[_Slice, BoundExport]:
        """Return what is known of these exports now.

        A problem may be one of any export that has a statement around its place; one that lies in a vibe, of any at all.
        """
        places = [(problem.at.source, problem.at.start) if problem.at else (None, 0) for problem in told]
        source = self._names.program.source
        if any(place[0] is not source for place in places):
            return self._found
        starts = sorted(start for _, start in places)
        right = {
            key: bound
            for key, spans, bound in self._bound
            if all(bisect_left(starts, span.start) == bisect_left(starts, span.end) for span in spans)
        }
        return self._found | right

    def _spans(self, export: surface.Statement) -> list[Span]:
        """Return the places of the statements that an export is made of, in order."""
        found: dict[int, Span] = {}
        waiting = [export]
        while waiting:
            statement = waiting.pop()
            if statement.span.start not in found:
                found[statement.span.start] = statement.span
                waiting += self._needs(statement.span)
        return [found[start] for start in sorted(found)]

    def _needs(self, span: Span) -> list[surface.Binding]:
        """Return the statements whose names stand in a statement."""
        needed = self._needed.get(span.start)
        if needed is None:
            words = self._words(span.text)
            needed = self._needed[span.start] = [self._names.locals[word] for word in words if word in self._names.locals]
        return needed

    def _words(self, text: str) -> frozenset[str]:
        found = self._known_words.get(text)
        if found is None:
            found = frozenset(re.findall(_ASCII_WORDS, text) if text.isascii() else map(normal, re.findall(_WORDS, text)))
        self.words[text] = found
        return found

    def _key(self, spans: list[Span]) -> _Slice:
        return (*self._around, *(span.text for span in spans))


class SettledExports:
    """The exports of one program about which nothing was told, from one check to the next."""

    def __init__(self) -> None:
        self._settled: dict[_Slice, BoundExport] = {}
        self._words: dict[str, frozenset[str]] = {}
        """What may be a name in a statement, by its text."""
        self._slices: ExportSlices | None = None

    def slices(self, names: ProgramNames) -> ExportSlices:
        """Return the exports of a program as it is now, which is about to be bound."""
        self._slices = ExportSlices(names, self._settled, self._words)
        return self._slices

    def settle(self, told: Iterable[Problem]) -> None:
        """Keep the exports about which nothing was told by any stage; what the program no longer has is forgotten."""
        if self._slices is not None:
            self._settled, self._words = self._slices.settled(told), self._slices.words
            self._slices = None


EXPORTED_STEPS: Final = 200_000
"""Steps of all exports of a file: what they share is a step of each, so that the documents grow with the square of the file."""


def bind(
    program: surface.Program, instructions: InstructionTable, report: Report, *, stem: str, settled: SettledExports | None = None
) -> tuple[Graph, ...]:
    """Return the graph of each export of a program, in order; `stem` names those that nothing else names.

    Exports that hold a mistake are left out: it is in the report.  So are those that are `settled`.
    """
    mine = Report()
    names = define(program, mine, instructions)
    root = names.root
    read: set[str] = set()
    used = names.survey.mentioned | RESERVED
    bindings = [each for each in program.statements if isinstance(each, surface.Binding)]
    idle = [each for each in bindings if not each.exported and each.name.text not in used]
    explicit = _exports(program)
    exports = explicit or [Export(None, binding.value, binding) for binding in idle]
    graphs: list[Graph] = []
    steps = 0
    earlier: set[str] = set()
    values = {each.name.text for each in bindings if not isinstance(each.value, surface.Name | surface.Uri)}
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
    inputs = [each for each in program.statements if isinstance(each, surface.Input) and each.name.text not in used]
    unused = (*(inputs if exports else ()), *(idle if explicit else ()))
    needed = {binding.name.text for binding in ([each for each in bindings if each.exported] if explicit else idle)}
    needed |= read
    _read_alone([each for each in bindings if each.name.text not in needed], root, mine)
    if not any(isinstance(problem, problems.names.UnknownName) for problem in mine.problems):
        for each in unused:  # where a name is unknown, one of these may be meant
            left_out = isinstance(each, surface.Binding) and each.name.text in values
            mine.add(problems.names.UnusedBinding(at=each.name.span, word=each.name.text, left_out=left_out))
    if not exports and not mine.failed:
        mine.add(problems.names.NothingExported(at=program.source.whole()))
    if mine.failed:
        report_at_definitions(mine, names)
    report.problems.extend(mine.once())
    return _name_graphs(graphs, stem)


class Export(msgspec.Struct, frozen=True):
    """An expression that becomes an artefact, and the name that `tool` gives it."""

    name: str | None
    expression: surface.Expression
    statement: surface.Binding | surface.Anonymous


def _exports(program: surface.Program) -> list[Export]:
    """Return what is exported explicitly: each `tool` and each expression that stands alone."""
    found: list[Export] = []
    for statement in program.statements:
        if isinstance(statement, surface.Anonymous):
            found.append(Export(None, statement.value, statement))
        elif isinstance(statement, surface.Binding) and statement.exported:
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


EVALUATION_ROUNDS: Final = 200
"""How often an export is evaluated: each time, equal steps and blocks may turn out to lie further out than before."""


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


def _goal(expression: surface.Expression, names: ProgramNames) -> str | None:
    """Return the goal that an export states: the string its pipe begins with, through local names."""
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


def _name_graphs(graphs: list[Graph], stem: str) -> tuple[Graph, ...]:
    """Give each graph its name: of its tool, of its goal, or of its file; equal ones are counted."""
    taken: set[str] = set()
    named: list[Graph] = []
    for graph in graphs:
        name = free_name(graph.tool or snake(graph.goal or "") or stem, taken.__contains__)
        taken.add(name)
        named.append(replace(graph, name=name))
    return tuple(named)


def report_at_definitions(report: Report, names: ProgramNames) -> None:
    """Report a misspelt definition once, instead of each place that reads it by the correct name.

    This is done if nothing reads the name as the definition spells it.
    One place alone may be the misspelt one: that matters where the name is also that of an argument or an input.
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
    """Tell whether a name stands alone in braces, as a key and its value."""
    pending: list[surface.Expression] = [each.value for each in program.statements if not isinstance(each, surface.Input)]
    while pending:
        node = pending.pop()
        if isinstance(node, surface.Object) and any(field.value is None and field.key_span == at for field in node.fields):
            return True
        pending += surface.children(node)
    return False
