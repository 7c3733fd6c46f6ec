"""The way of a program from text to artefacts, one line a stage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.bind import SettledExports, bind
from instrc.compiler.compose.compose import bound_all_loops, compose
from instrc.compiler.compose.contents import admits_objects
from instrc.compiler.compose.reach import check_reach
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.ir import Artefact, CompileOptions, FlatGraph, Graph, Plan
from instrc.compiler.lint.programs import empty_slots, review_program, review_vibes
from instrc.compiler.lint.review import review
from instrc.compiler.partition.partition import may_cut_wrongly, partition
from instrc.language.habits import name_habits
from instrc.language.parser import parse
from instrc.language.surface import Program
from instrc.problems.report import Report
from instrc.text.jsonvalue import JsonObject
from instrc.text.source import Source
from instrc.vibes.registry import ProgramFile, Registry
from instrc.vibes.vibe import Vibe


def compile_source(
    source: Source,
    registry: Registry,
    options: CompileOptions,
    report: Report,
    *,
    stem: str,
    launching: frozenset[str] = frozenset(),
) -> tuple[Artefact, ...]:
    """Return the artefacts of a program, one an export; `CompileError` if a stage fails.

    `launching` are the programs that are being compiled because they are launched, by path.
    """
    graphs = _flat_graphs(source, registry, options, report, stem=stem, launching=launching)
    return tuple(_emitted(plan, options) for plan in _plans(graphs, options, report))


def _flat_graphs(
    source: Source,
    registry: Registry,
    options: CompileOptions,
    report: Report,
    *,
    stem: str,
    launching: frozenset[str] = frozenset(),
    settled: SettledExports | None = None,
    program: Program | None = None,
) -> list[FlatGraph]:
    """Return the graph of each export of a program, with the schemas of its steps."""
    if program is None:
        program = parse(source, report)
        name_habits(program, report)
        report.stop_if_failed()
    report.problems.extend(review_program(program, options))
    launch = partial(_launched, options, launching)
    sentences, limit = options.sentences, options.limit
    instructions = InstructionTable(registry, report, sketch=options.sketch, limit=limit, sentences=sentences, launch=launch)
    graphs = bind(program, instructions, report, stem=stem, settled=settled)
    review_vibes(instructions, report)
    report.stop_if_failed()
    report.problems.extend(problem for graph in graphs for problem in empty_slots(graph, instructions.schema))
    change = options.change or (lambda graph: graph)
    flat = [change(graph) for graph in compose(graphs, instructions, report) if graph]
    _stop_if_failed(graphs, report)
    check_reach(flat, report)
    _stop_if_failed(graphs, report)
    return flat


def _launched(
    options: CompileOptions, launching: frozenset[str], file: ProgramFile, export: str | None, registry: Registry
) -> JsonObject | None:
    """Return the entry of a program that is compiled by itself, whatever its shape; `None` if it launches itself."""
    if file.path in launching:
        return None
    source = Source(file.path, file.data.decode("utf-8-sig", "replace"))
    made = compile_source(
        source, registry, replace(options, batch=1, change=None), Report(), stem=file.segment, launching=launching | {file.path}
    )
    chosen = next(each for each in made if export in (None, each.name))
    entry = chosen.documents["tool"]
    if "process" not in chosen.documents and chosen.plan is not None:
        from instrc.compiler.emit.emit import process_of  # few programs are launched

        entry = process_of(chosen.plan, sentences=options.sentences if options.hints else None).entry
    return {key: value for key, value in entry.items() if key not in {"$schema", "title"}}


def _stop_if_failed(graphs: Sequence[Graph], report: Report) -> None:
    """Raise an error if there are problems that are errors; those in called programs show the calls."""
    if any(graph.calls for graph in graphs):
        from instrc.compiler.bind.called_programs import show_calls  # few programs call others

        show_calls(graphs, report)
    report.stop_if_failed()


def _emitted(plan: Plan, options: CompileOptions) -> Artefact:
    from instrc.compiler.emit.emit import emit  # few checks need it

    return replace(
        emit(plan, batch=options.batch, sentences=options.sentences if options.hints else None), sentences=options.sentences
    )


def _plans(graphs: list[FlatGraph], options: CompileOptions, report: Report) -> list[Plan]:
    """Return the plan of each graph."""
    plans = [partition(graph, report, naming=options.naming) for graph in graphs]
    _stop_if_failed([flat.graph for flat in graphs], report)
    return [plan for plan in plans if plan]


def check_source(
    source: Source,
    registry: Registry,
    options: CompileOptions,
    report: Report,
    *,
    stem: str,
    settled: SettledExports | None = None,
    program: Program | None = None,
) -> None:
    """Report what is wrong with a program; what it exports is cut and emitted only where that could fail.

    `settled` is what earlier checks of this program have learned, with this registry and these options; this one adds to it.
    `program` is what the source says, where it has been read already without a word of complaint.
    """
    graphs = _flat_graphs(source, registry, options, report, stem=stem, settled=settled, program=program)
    for plan in _plans([graph for graph in graphs if may_cut_wrongly(graph)], options, report):
        if plan.intersects:
            _emitted(plan, options)
    if settled is not None:
        settled.settle(report.problems)


def compile_vibe(vibe: Vibe, registry: Registry, options: CompileOptions, report: Report, *, stem: str) -> tuple[Artefact, ...]:
    """Return the artefact of a vibe file: its schema is the export."""
    from instrc.compiler.emit.vibes import emit_vibe  # programs do without it

    review(vibe, registry, report, options.keywords, templates=options.templates)
    report.stop_if_failed()
    schema = bound_all_loops(InstructionTable(registry, report, limit=options.limit).flatten(vibe.schema, vibe.uri))
    if not admits_objects(schema):
        report.add(problems.steps.OutputNotObject(at=vibe.span("/type"), word=vibe.segment))
    report.stop_if_failed()
    return (emit_vibe(schema, stem, batch=options.batch),)
