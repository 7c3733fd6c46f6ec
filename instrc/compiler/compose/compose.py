"""Graph to graph of flat schemas: make the schema of every step and every mixin."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.compose.contents import ContentSchema, admits_objects
from instrc.compiler.compose.outcomes import RUN_PLAN, Outcomes, optional_arguments
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.plan_schema import part_of
from instrc.compiler.trampoline import Task, run_task
from instrc.problems.errors import CompileError
from instrc.problems.report import Report
from instrc.process.flow import Constant
from instrc.schema.annotate import closes
from instrc.schema.walk import map_schemas, refers
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object
from instrc.text.limits import ROUNDS
from instrc.text.source import Span

Recipe: TypeAlias = tuple[Hashable, ...]


def compose(graphs: Iterable[ir.Graph], instructions: InstructionTable, report: Report) -> list[ir.FlatGraph | None]:
    """Return each graph with the flat schema of every step and every mixin; `None` for one that cannot be composed.

    What several graphs compose alike is made once.
    """
    shared: dict[Recipe, _Composed] = {}
    return [_Composer(instructions, report, shared).graph(graph) for graph in graphs]


class _Composed(Struct, frozen=True):
    """A composed schema, the objects of steps in it, and whether references or definitions are."""

    schema: Json
    placed: tuple[ir.Placed, ...]
    refers: bool


class _Composer:
    """The schemas of one graph; equal recipes are made once."""

    def __init__(self, instructions: InstructionTable, report: Report, shared: dict[Recipe, _Composed]) -> None:
        self.instructions = instructions
        self.report = report
        self.plans = False
        """Whether a model may be asked for a plan."""
        self.failed = False
        self.known: dict[Recipe, _Composed] = {}
        """What was made without a word of complaint, by its recipe."""
        self.alone: dict[int, _Composed] = {}
        """The part of that which is an instruction and nothing else, by the identity of the instruction: as most steps are."""
        self.shared = shared
        """The part of that which holds no steps of a graph and no plans, so that it is the same in every graph."""

    def graph(self, graph: ir.Graph) -> ir.FlatGraph | None:
        self.plans = any(step.activity == RUN_PLAN for step in graph.awaited())
        schemas: dict[int, Json] = {}
        placed: dict[int, tuple[ir.Placed, ...]] = {}
        referring: set[int] = set()
        for number, step in graph.steps.items():
            if step.executor == "block":
                continue
            content = step.content
            made = self.alone.get(id(content.instruction)) if type(content) is ir.Fusion and not content.annotations else None
            if made is None or number in graph.compound:
                made = self.of_step(content, step.span)
            schemas[number] = {} if made.schema is True else made.schema
            if made.refers:
                referring.add(number)
            if made.placed:
                placed[number] = made.placed
        mixins, around = self.mixins(graph, placed)
        for context in graph.contexts or ():  # for its mistakes: its steps are not there yet
            ContentSchema(self.instructions, self.report).fold({"type": "object"}, context.annotations, context.span)
        self.demand_object(graph, schemas)
        for number, places in placed.items():
            for place in places:
                self.demand_room(graph, schemas, schemas[number], place)
        if self.failed:
            return None
        optional: frozenset[tuple[int, str]] = frozenset()
        if graph.has_flow:
            outcomes = Outcomes(graph, schemas)
            schemas |= outcomes.blocks
            optional = optional_arguments(graph, outcomes)
        return ir.FlatGraph(graph, schemas, placed, mixins, around, graph.origins(), frozenset(referring), optional)

    def of_step(self, content: ir.Content, span: Span) -> _Composed:
        """Return the schema of a step's content."""
        row = recipe(content)
        made = self.made(row, span, partial(ContentSchema.of, content=content, path=()))
        if ir.is_bare_instruction(content) and row in self.known:
            self.alone[id(content.instruction)] = made
        return made

    def mixins(
        self, graph: ir.Graph, placed: Mapping[int, tuple[ir.Placed, ...]]
    ) -> tuple[dict[int, Json], dict[int, tuple[ir.Placed, ...]]]:
        """Return the schemas of the mixins around groups, and the objects of steps in them, by the numbers of the groups."""
        schemas: dict[int, Json] = {}
        inside: dict[int, tuple[ir.Placed, ...]] = {}
        rows = [graph.units, *(region.units for step in graph.blocks() for region in ir.regions_of(step.content))]
        rows += [place.block.units for each in placed.values() for place in each]
        waiting = [unit for units in rows for unit in units if not isinstance(unit, int)]
        while waiting:
            unit = waiting.pop()
            use = unit.application
            made = self.made(recipe_of_mixin(use), use.span, partial(ContentSchema.of_mixin, application=use, path=()))
            schemas[unit.number], inside[unit.number] = made.schema, made.placed
            members = (*unit.members, *(member for place in made.placed for member in place.block.units))
            waiting.extend(member for member in members if not isinstance(member, int))
        return schemas, inside

    def demand_object(self, graph: ir.Graph, schemas: dict[int, Json]) -> None:
        """Report a step that is to be a tool by itself but is no object."""
        number = graph.units[0]
        if len(graph.units) > 1 or graph.keyed or graph.contexts is not None or not isinstance(number, int):
            return
        step = graph.steps[number]
        own = step.executor == "model" and step.key is None and isinstance(step.content, ir.Fusion)
        if own and not self.failed and not self.report.failed and not admits_objects(schemas[number]):
            self.failed = True
            self.report.add(problems.steps.OutputNotObject(at=step.span, word=step.base_name))

    def demand_room(self, graph: ir.Graph, schemas: dict[int, Json], schema: Json, place: ir.Placed) -> None:
        """Report steps with keys written by hand that the property they are put into does not admit."""
        around = schema
        for name in place.slots:
            properties = schema.get("properties") if isinstance(schema, dict) else None
            schema = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(schema, dict) or schema.keys() <= {"type", "title", "description"}:
            return
        steps = (graph.steps[unit] for unit in place.block.units if isinstance(unit, int))
        filled = {step.key: self.instructions.part(schemas[step.number]) for step in steps if step.key is not None}
        whole: Json = {"type": "object", "properties": filled, "required": list(filled)}
        closing = tuple(filter(closes, place.block.annotations))
        content = ContentSchema(self.instructions, self.report)
        content.fold(part_of(as_object(around), schema), (content.annotated(whole, closing, place.block.span),), place.block.span)

    def made(self, recipe: Recipe, span: Span, make: Callable[[ContentSchema], Task[Json]]) -> _Composed:
        """Return the schema that a recipe makes, with the blocks in it; what is wrong with it is reported wherever it is used."""
        found = self.known.get(recipe)
        if found is None and not self.plans and (found := self.shared.get(recipe)) is not None:
            self.known[recipe] = found
        if found is not None:
            return found
        content = ContentSchema(self.instructions, self.report)
        before = len(self.report.problems)
        made = bound_loops(self.attempt(span, make(content)))
        if self.plans:
            from instrc.compiler.plan_schema import with_shared_references  # few programs have plans

            made = with_shared_references(made, self.instructions.sentences)
        holds_references = isinstance(made, dict) and ("$defs" in made or refers(made))
        found = _Composed(made, tuple(content.placed), holds_references)
        if len(self.report.problems) == before:
            self.known[recipe] = found
            if not self.plans and not found.placed:
                self.shared[recipe] = found
        return found

    def attempt(self, span: Span, task: Task[Json]) -> Json:
        """Make a schema; report what stands in the way."""
        try:
            return run_task(task)
        except CompileError as error:
            self.failed = True
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else replace(problem, at=span))
            return {}


def bound_loops(schema: Json) -> Json:
    """Return a schema in which each `_iteration` beside a `_continue` has a `maximum`; the same object if nothing lacks one."""
    if not isinstance(schema, dict):
        return schema
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    iteration = properties.get("_iteration")
    if "_continue" not in properties or not isinstance(iteration, dict):
        return schema
    if not {"maximum", "exclusiveMaximum", "const", "enum"}.isdisjoint(iteration):
        return schema
    return schema | {"properties": properties | {"_iteration": iteration | {"maximum": ROUNDS}}}


def bound_all_loops(schema: Json) -> Json:
    """Do the same at every depth, as hand-written compositions need it."""
    return map_schemas(schema, bound_loops)


def recipe(content: ir.Content) -> Recipe:
    """Return what a content is made of, in one row, so that nothing is compared deeply; steps and groups go by their numbers."""
    if ir.is_bare_instruction(content):
        instruction = content.instruction
        return ("fusion", instruction) if instruction.uri is not None else ("fusion", *_instruction(instruction))
    row: list[Hashable] = []
    waiting: list[ir.Content | str] = [content]
    while waiting:
        match waiting.pop():
            case str(name):
                row.append(name)
            case ir.Fusion(instruction, slots, annotations, mixins):
                row += ("fusion", *_instruction(instruction), len(slots), *_written_annotations(annotations), len(mixins))
                for use in reversed(mixins):
                    waiting.extend(_use(use, row))
                waiting.extend(_slots(slots))
            case Constant(value):
                row += ("constant", dumps(value, indent=False))
            case ir.StepObject(units, annotations):
                row += ("steps", *(unit if isinstance(unit, int) else ("group", unit.number) for unit in units))
                row += _written_annotations(annotations)
            case _:  # a block is no content of a step
                pass
    return tuple(row)


def _instruction(instruction: ir.Instruction) -> tuple[Hashable, ...]:
    if instruction.uri is not None:
        return instruction.name, instruction.uri, instruction.home
    return instruction.name, ("inline", dumps(instruction.schema, indent=False))


def _written_annotations(annotations: Iterable[Json]) -> tuple[Hashable, ...]:
    return tuple(("written", dumps(each, indent=False)) for each in annotations)


def _use(use: ir.Application, row: list[Hashable]) -> list[ir.Content | str]:
    row += (*_instruction(use.mixin), len(use.slots), *_written_annotations(use.annotations))
    return _slots(use.slots)


def _slots(slots: tuple[ir.Slot, ...]) -> list[ir.Content | str]:
    """Return names and contents of slots, the last first."""
    return [each for slot in reversed(slots) for each in (slot.content, slot.name)]


def recipe_of_mixin(use: ir.Application) -> Recipe:
    """Return what the schema of a mixin with its slots is made of."""
    row: list[Hashable] = ["mixin"]
    waiting = _use(use, row)
    return (*row, *(each if isinstance(each, str) else recipe(each) for each in reversed(waiting)))
