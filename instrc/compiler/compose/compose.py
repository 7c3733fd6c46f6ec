"""Graph to graph of flat schemas: make the schema of every step and every mixin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from msgspec import Struct, structs

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.compose.contents import ContentSchema, admits_objects
from instrc.compiler.compose.outcomes import RUN_PLAN, Outcomes, optional_arguments
from instrc.compiler.instructions import InstructionTable
from instrc.compiler.plan_schema import part_of
from instrc.problems.errors import CompileError
from instrc.problems.report import Report
from instrc.process.chunk_json import WORDS
from instrc.schema.annotate import closes
from instrc.schema.walk import map_schemas, refers, without
from instrc.text.jsonvalue import Json, as_object, mapping
from instrc.text.limits import ROUNDS
from instrc.text.source import Span


def compose(graphs: Iterable[ir.Graph], instructions: InstructionTable, report: Report) -> list[ir.FlatGraph | None]:
    """Return each graph with the flat schema of every step and every mixin, or `None` for one that cannot be composed."""
    return [_Composer(instructions, report).graph(graph) for graph in graphs]


class _Composed(Struct, frozen=True):
    """A composed schema, the objects of steps in it, and whether it holds references or definitions."""

    schema: Json
    placed: tuple[ir.Placed, ...]
    refers: bool


class _Composer:
    """The schemas of one graph."""

    def __init__(self, instructions: InstructionTable, report: Report) -> None:
        self.instructions = instructions
        self.report = report
        self.plans = False
        """Whether a model may be asked for a plan."""
        self.failed = False

    def graph(self, graph: ir.Graph) -> ir.FlatGraph | None:
        self.plans = any(step.activity == RUN_PLAN for step in graph.awaited())
        schemas: dict[int, Json] = {}
        placed: dict[int, tuple[ir.Placed, ...]] = {}
        referring: set[int] = set()
        for number, step in graph.steps.items():
            if step.executor == "block":
                continue
            composed = self.composed(step.span, partial(ContentSchema.of, content=step.content, path=()))
            schemas[number] = {} if composed.schema is True else composed.schema
            if composed.refers:
                referring.add(number)
            if composed.placed:
                placed[number] = composed.placed
        mixins, around = self.mixins(graph, placed)
        for context in graph.contexts or ():  # only for its mistakes, as its steps do not exist yet
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

    def composed(self, span: Span, compose: Callable[[ContentSchema], Json]) -> _Composed:
        """Return a schema with the objects of steps in it, and report its problems."""
        content = ContentSchema(self.instructions, self.report)
        try:
            schema = bound_loops(map_schemas(compose(content), lambda node: without(node, *WORDS)))
        except CompileError as error:
            self.failed = True
            schema = {}
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else structs.replace(problem, at=span))
        if self.plans:
            from instrc.compiler.plan_schema import with_shared_references  # few programs have plans

            schema = with_shared_references(schema, self.instructions.sentences)
        holds_references = isinstance(schema, dict) and ("$defs" in schema or refers(schema))
        return _Composed(schema, tuple(content.placed), holds_references)

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
            composed = self.composed(use.span, partial(ContentSchema.of_mixin, application=use, path=()))
            schemas[unit.number], inside[unit.number] = composed.schema, composed.placed
            members = (*unit.members, *(member for place in composed.placed for member in place.block.units))
            waiting.extend(member for member in members if not isinstance(member, int))
        return schemas, inside

    def demand_object(self, graph: ir.Graph, schemas: dict[int, Json]) -> None:
        """Report a step that is to be a tool by itself but is not an object."""
        number = graph.units[0]
        if len(graph.units) > 1 or graph.keyed or graph.contexts is not None or not isinstance(number, int):
            return
        step = graph.steps[number]
        own = step.executor == "model" and step.key is None and isinstance(step.content, ir.Fusion)
        if own and not self.failed and not admits_objects(schemas[number]) and not self.report.failed:
            self.failed = True
            self.report.add(problems.steps.OutputNotObject(at=step.span, word=step.base_name))

    def demand_room(self, graph: ir.Graph, schemas: dict[int, Json], schema: Json, place: ir.Placed) -> None:
        """Report steps with keys written by hand that the property they are put into does not admit."""
        around = schema
        for name in place.slots:
            schema = mapping(mapping(schema).get("properties")).get(name)
        if not isinstance(schema, dict) or schema.keys() <= {"type", "title", "description"}:
            return
        steps = (graph.steps[unit] for unit in place.block.units if isinstance(unit, int))
        filled = {step.key: self.instructions.part(schemas[step.number]) for step in steps if step.key is not None}
        whole: Json = {"type": "object", "properties": filled, "required": list(filled)}
        closing = tuple(filter(closes, place.block.annotations))
        content = ContentSchema(self.instructions, self.report)
        content.fold(part_of(as_object(around), schema), (content.annotated(whole, closing, place.block.span),), place.block.span)


def bound_loops(schema: Json) -> Json:
    """Return a schema in which each `_iteration` next to a `_continue` has a `maximum`, or the same object if none lacks one."""
    properties = mapping(mapping(schema).get("properties"))
    iteration = properties.get("_iteration")
    bounds = {"maximum", "exclusiveMaximum", "const", "enum"}
    if "_continue" not in properties or not isinstance(iteration, dict) or not bounds.isdisjoint(iteration):
        return schema
    return mapping(schema) | {"properties": properties | {"_iteration": iteration | {"maximum": ROUNDS}}}


def bound_all_loops(schema: Json) -> Json:
    """Do the same at every depth, as hand-written compositions need it."""
    return map_schemas(schema, bound_loops)
