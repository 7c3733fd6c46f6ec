"""The passes of the compiler in order, with the checks of each, launched programs and vibe files."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from instrc import problems
from instrc.compiler.bind.bind import bind
from instrc.compiler.compose.compose import bound_all_loops, compose
from instrc.compiler.compose.contents import admits_objects
from instrc.compiler.compose.reach import check_reach
from instrc.compiler.instructions import InstructionTable, documents_of
from instrc.compiler.ir import Artefact, CompileOptions, FlatGraph, Graph, Plan
from instrc.compiler.lint.programs import empty_slots, review_program, review_vibes
from instrc.compiler.lint.review import review
from instrc.compiler.partition.partition import may_cut_wrongly, partition
from instrc.compiler.recursion import deep_calls
from instrc.language.habits import name_habits
from instrc.language.parser import parse
from instrc.language.surface import Program
from instrc.problems.report import Report
from instrc.text.jsonvalue import JsonObject
from instrc.text.source import Source
from instrc.vibes.registry import ProgramFile, Registry
from instrc.vibes.vibe import Vibe


@deep_calls()
def compile_source(
    source: Source,
    registry: Registry,
    options: CompileOptions,
    report: Report,
    *,
    stem: str,
    launching: frozenset[str] = frozenset(),
) -> tuple[Artefact, ...]:
    """Return the artefacts of a program, one per export; raise `CompileError` if a pass fails.

    `launching` are the paths of programs that are being compiled because they are launched.
    """
    passes = _Passes(registry, options, report, stem, launching)
    program = passes.parse(source)
    graphs = passes.bind(program)
    flat = passes.compose(graphs)
    plans = passes.partition(flat)
    return passes.emit(plans)


@deep_calls()
def check_source(source: Source, registry: Registry, options: CompileOptions, report: Report, *, stem: str) -> None:
    """Report the problems of a program; only exports that can fail in partition and emit go through these."""
    passes = _Passes(registry, options, report, stem)
    flat = passes.compose(passes.bind(passes.parse(source)))
    plans = passes.partition(filter(may_cut_wrongly, flat))
    passes.emit(plan for plan in plans if plan.intersects)


class _Passes:
    """The passes over one program, each followed by checks of its result; raise `CompileError` for errors."""

    def __init__(
        self, registry: Registry, options: CompileOptions, report: Report, stem: str, launching: frozenset[str] = frozenset()
    ) -> None:
        self.options = options
        self.report = report
        self.stem = stem
        self.launching = launching
        self.instructions = InstructionTable(
            registry, report, sketch=options.sketch, limit=options.limit, sentences=options.sentences, launch=self.launched
        )

    def parse(self, source: Source) -> Program:
        program = parse(source, self.report)
        name_habits(program, self.report)
        self.report.stop_if_failed()
        self.report.problems.extend(review_program(program, self.options))
        return program

    def bind(self, program: Program) -> tuple[Graph, ...]:
        graphs = bind(program, self.instructions, self.report, stem=self.stem)
        review_vibes(self.instructions, self.report)
        self.report.stop_if_failed()
        self.report.problems.extend(problem for graph in graphs for problem in empty_slots(graph, self.instructions.schema))
        return graphs

    def compose(self, graphs: Iterable[Graph]) -> list[FlatGraph]:
        change = self.options.change or (lambda graph: graph)
        flat = [change(graph) for graph in compose(graphs, self.instructions, self.report) if graph]
        self.stop_if_failed(graphs)
        check_reach(flat, self.report)
        self.stop_if_failed(graphs)
        return flat

    def partition(self, graphs: Iterable[FlatGraph]) -> list[Plan]:
        graphs = tuple(graphs)
        plans = [partition(graph, self.report, naming=self.options.naming) for graph in graphs]
        self.stop_if_failed(flat.graph for flat in graphs)
        return [plan for plan in plans if plan]

    def emit(self, plans: Iterable[Plan]) -> tuple[Artefact, ...]:
        plans = tuple(plans)
        if not plans:
            return ()
        from instrc.compiler.emit.emit import emit  # rarely needed

        batch, sentences = self.options.batch, self.options.sentences
        hints = sentences if self.options.hints else None
        return tuple(replace(emit(plan, batch=batch, sentences=hints), sentences=sentences) for plan in plans)

    def stop_if_failed(self, graphs: Iterable[Graph]) -> None:
        """Raise the errors reported so far; those in called programs include the calls."""
        graphs = tuple(graphs)
        if any(graph.calls for graph in graphs):
            from instrc.compiler.bind.called_programs import show_calls  # few programs call others

            show_calls(graphs, self.report)
        self.report.stop_if_failed()

    def launched(self, file: ProgramFile, export: str | None, registry: Registry) -> JsonObject | None:
        """Return the entry of a separately compiled program, or `None` if it launches itself."""
        return None if file.path in self.launching else _entry(file, export, registry, self.options, self.launching)


def _entry(
    file: ProgramFile, export: str | None, registry: Registry, options: CompileOptions, launching: frozenset[str]
) -> JsonObject:
    source = Source(file.path, file.data.decode("utf-8-sig", "replace"))
    alone = replace(options, batch=1, change=None)
    artefacts = compile_source(source, registry, alone, Report(), stem=file.segment, launching=launching | {file.path})
    chosen = next(artefact for artefact in artefacts if export in (None, artefact.name))
    entry = chosen.documents["tool"]
    if "process" not in chosen.documents and chosen.plan is not None:
        from instrc.compiler.emit.emit import process_of  # few programs are launched

        entry = process_of(chosen.plan, sentences=options.sentences if options.hints else None).entry
    return {key: value for key, value in entry.items() if key not in {"$schema", "title"}}


def compile_vibe(vibe: Vibe, registry: Registry, options: CompileOptions, report: Report, *, stem: str) -> tuple[Artefact, ...]:
    """Return the artefact of a vibe file, whose schema is the export."""
    from instrc.compiler.emit.vibes import emit_vibe  # not needed for programs

    review(vibe, registry, report, options.keywords, templates=options.templates)
    report.stop_if_failed()
    table = InstructionTable(registry, report, limit=options.limit, documents=documents_of(vibe.schema, registry))
    schema = bound_all_loops(table.flatten(vibe.schema, vibe.uri))
    if not admits_objects(schema):
        report.add(problems.steps.OutputNotObject(at=vibe.span("/type"), word=vibe.segment))
    report.stop_if_failed()
    return (emit_vibe(schema, stem, batch=options.batch),)
