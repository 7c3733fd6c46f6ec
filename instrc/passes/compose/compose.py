"""Graph to graph of flat schemas: fuse what fills slots, put mixins around, apply annotations, flatten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from msgspec import Struct, structs

from instrc import problems
from instrc.flattening.beside import closes, write_beside
from instrc.flattening.slots import splice
from instrc.ir.blocks import Content, regions_of
from instrc.ir.fusion import Application, Fusion, Instruction, Slot, StepObject, Unit
from instrc.ir.graph import FlatGraph, Graph, Placed
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json, as_object, mapping
from instrc.passes.compose.loops import bound_loops
from instrc.passes.compose.nulls import optional_arguments
from instrc.passes.compose.objects import admits_objects
from instrc.passes.compose.origins import Filled, Fillings, with_places
from instrc.passes.compose.outcomes import Outcomes
from instrc.passes.compose.planned import RUN_PLAN
from instrc.passes.compose.possible import impossible, made_impossible
from instrc.passes.compose.recipe import Recipe, recipe, recipe_of_mixin
from instrc.passes.compose.required import missing_names
from instrc.passes.instructions import InstructionTable, fatal_in_program
from instrc.passes.trampoline import Task, run_task
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.schema.vocabulary import SPEAKS_OF
from instrc.schema.walk import refers
from instrc.source import Span
from instrc.syntax.places import annotations_behind

ABOUT = ("title", "description")


def compose(graphs: Iterable[Graph], instructions: InstructionTable, report: Report) -> list[FlatGraph | None]:
    """Return each graph with the flat schema of every step and every mixin; `None` for one that cannot be composed.

    What several graphs compose alike is made once.
    """
    shared: dict[Recipe, _Composed] = {}
    return [_Composer(instructions, report, shared).graph(graph) for graph in graphs]


class _Composed(Struct, frozen=True):
    """A composed schema, the objects of steps in it, and whether references or definitions are."""

    schema: Json
    placed: tuple[Placed, ...]
    refers: bool


class _Composer:
    """The schemas of one graph; equal recipes are made once."""

    def __init__(self, instructions: InstructionTable, report: Report, shared: dict[Recipe, _Composed]) -> None:
        self.instructions = instructions
        self.report = report
        self.placed: list[Placed] = []
        self.plans = False
        """Whether a model may be asked for a plan."""
        self.failed = False
        self.known: dict[Recipe, _Composed] = {}
        """What was made without a word of complaint, by its recipe."""
        self.shared = shared
        """The part of that which holds no steps of a graph and no plans, so that it is the same in every graph."""

    def graph(self, graph: Graph) -> FlatGraph | None:
        self.plans = any(step.activity == RUN_PLAN for step in graph.steps.values())
        schemas: dict[int, Json] = {}
        placed: dict[int, tuple[Placed, ...]] = {}
        mixins: dict[int, Json] = {}
        referring: set[int] = set()
        for number, step in graph.steps.items():
            if step.executor == "block":
                continue
            made = self.made(recipe(step.content), step.span, partial(self.content, step.content, ()))
            if made.refers:
                referring.add(number)
            schemas[number] = {} if made.schema is True else made.schema
            if made.placed:
                placed[number] = made.placed
        around: dict[int, tuple[Placed, ...]] = {}
        regions = [region for step in graph.blocks() for region in regions_of(step.content)]
        waiting: list[Unit] = [*graph.units, *(unit for region in regions for unit in region.units)]
        waiting += [*(unit for each in placed.values() for place in each for unit in place.block.units)]
        while waiting:
            unit = waiting.pop()
            if not isinstance(unit, int):
                use = unit.application
                made = self.made(recipe_of_mixin(use), use.span, partial(self.mixin, use, ()))
                mixins[unit.number], around[unit.number] = made.schema, made.placed
                waiting.extend(unit.members)
                waiting.extend(member for place in around[unit.number] for member in place.block.units)
        for context in graph.contexts or ():
            self.fold({"type": "object"}, context.annotations, context.span)  # for its mistakes: its steps are not there yet
        self.demand_object(graph, schemas)
        for number, places in placed.items():
            for place in places:
                self.demand_room(graph, schemas, schemas[number], place)
        if self.failed:
            return None
        if not graph.has_flow:
            return FlatGraph(graph, schemas, placed, mixins, around, frozenset(referring))
        outcomes = Outcomes(graph, schemas)
        schemas |= outcomes.blocks
        return FlatGraph(graph, schemas, placed, mixins, around, frozenset(referring), optional_arguments(graph, outcomes))

    def demand_object(self, graph: Graph, schemas: dict[int, Json]) -> None:
        """Report a step that is to be a tool by itself but is no object."""
        number = graph.units[0]
        if len(graph.units) > 1 or graph.keyed or graph.contexts is not None or not isinstance(number, int):
            return
        step = graph.steps[number]
        own = step.executor == "model" and step.key is None and isinstance(step.content, Fusion)
        if own and not self.failed and not self.report.failed and not admits_objects(schemas[number]):
            self.failed = True
            self.report.add(problems.steps.OutputNotObject(at=step.span, word=step.base_name))

    def demand_room(self, graph: Graph, schemas: dict[int, Json], schema: Json, place: Placed) -> None:
        """Report steps with keys written by hand that the property they are put into does not admit."""
        for name in place.slots:
            properties = schema.get("properties") if isinstance(schema, dict) else None
            schema = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(schema, dict) or schema.keys() <= {"type", "title", "description"}:
            return
        steps = (graph.steps[unit] for unit in place.block.units if isinstance(unit, int))
        filled = {step.key: self.instructions.part(schemas[step.number]) for step in steps if step.key is not None}
        whole: Json = {"type": "object", "properties": filled, "required": list(filled)}
        closing = tuple(filter(closes, place.block.annotations))
        self.fold(schema, (self.annotated(whole, closing, place.block.span),), place.block.span)

    def made(self, recipe: Recipe, span: Span, make: Callable[[], Task[Json]]) -> _Composed:
        """Return the schema that a recipe makes, with the blocks in it; what is wrong with it is reported wherever it is used."""
        found = self.known.get(recipe) or (None if self.plans else self.shared.get(recipe))
        if found is None:
            self.placed = []
            before = len(self.report.problems)
            made = bound_loops(self.attempt(span, make))
            if self.plans:
                from instrc.passes.plan_schema import with_shared_references  # few programs have plans

                made = with_shared_references(made)
            holds_references = isinstance(made, dict) and ("$defs" in made or refers(made))
            found = _Composed(made, tuple(self.placed), holds_references)
            if len(self.report.problems) == before:
                own = self.plans or bool(found.placed)
                (self.known if own else self.shared)[recipe] = found
        return found

    def attempt(self, span: Span, make: Callable[[], Task[Json]]) -> Json:
        """Make a schema; report what stands in the way."""
        try:
            return run_task(make())
        except CompileError as error:
            self.failed = True
            for problem in error.problems:
                self.report.add(problem if problem.at is not None else replace(problem, at=span))
            return {}

    def content(self, content: Content, path: tuple[str, ...]) -> Task[Json]:
        """Compose what fills a step or a slot; `path` are the slots that lead to it."""
        match content:
            case Constant(value):
                return {"const": value}
            case StepObject(annotations=annotations):
                self.placed.append(Placed(path, content))
                return self.annotated({"type": "object"}, tuple(map(_without_closing, annotations)), content.span)
            case Fusion(instruction, slots, annotations, mixins, span):
                schema = self.instructions.schema(instruction, span)
                if self.lacks(content, schema):
                    return {}
                self.demand_possible(schema, span, instruction)
                if not slots and not annotations and not mixins:
                    return schema
                schema = yield self.filled(schema, slots, path, span, instruction)
                told_before = len(self.report.problems)
                schema = self.annotated(schema, annotations, span, instruction)
                inside = [instruction]
                for mixin in mixins:
                    if not admits_objects(schema):
                        known = len(self.report.problems) > told_before  # what left nothing
                        raise CompileError([] if known else [problems.steps.OutputNotObject(at=span, word=instruction.name)])
                    wrapped = yield self.mixin(structs.replace(mixin, annotations=()), path)
                    told = Report()
                    spliced = splice(wrapped, schema, report=told, applied=mixin.mixin.name, at=mixin.span)
                    for problem in map(fatal_in_program, told.problems):
                        self.report.add(problem if problem.at is not None else replace(problem, at=mixin.span))
                    inside.insert(0, mixin.mixin)
                    schema = self.annotated(spliced, mixin.annotations, mixin.span, *inside)
                return schema
            case _:
                return {}  # a block is no content of a step

    def lacks(self, content: Fusion, schema: Json) -> bool:
        """Report what is required in the program itself and described nowhere; tell whether there is any."""
        if content.instruction.uri is not None and not content.annotations and not content.mixins:
            return False
        lacking = list(missing_names(content, (schema, *(self.instructions.schema(each.mixin) for each in content.mixins))))
        for problem in lacking:
            self.report.add(problem)
        self.failed |= bool(lacking)
        return bool(lacking)

    def demand_possible(self, schema: Json, span: Span, instruction: Instruction) -> None:
        """Report an instruction that nothing satisfies, unless it is told already what leaves nothing."""
        registry, uri = self.instructions.registry_of(instruction), instruction.uri
        if not self.report.failed:
            self.report.problems.extend(impossible(schema, span, lambda place: registry.locate(uri, place) if uri else None))

    def mixin(self, application: Application, path: tuple[str, ...]) -> Task[Json]:
        """Compose a mixin with its named slots; it speaks about itself, so its own title and description stay behind."""
        schema = self.instructions.schema(application.mixin)
        if isinstance(schema, dict):
            schema = {keyword: value for keyword, value in schema.items() if keyword not in ABOUT}
        schema = yield self.filled(schema, application.slots, path, application.span, application.mixin)
        return self.annotated(schema, application.annotations, application.span, application.mixin)

    def filled(
        self, schema: Json, slots: tuple[Slot, ...], path: tuple[str, ...], at: Span, instruction: Instruction
    ) -> Task[Json]:
        """Compose slots into the properties of their names."""
        if not slots:
            return schema
        properties: dict[str, Json] = {}
        for slot in slots:
            made = yield self.content(slot.content, (*path, slot.name))
            properties[slot.name] = self.instructions.part(made)
        known = mapping(schema.get("properties")) if isinstance(schema, dict) else {}
        added = [name for name in properties if name not in known]
        filling: dict[str, Json] = {"properties": properties}
        if added:
            filling["required"] = [*added]
        told = len(self.report.problems)
        place = slots[0].span if len(slots) == 1 else at
        made = self.fold(schema, (filling,), place, instruction, fillings=self.fillings(slots, properties))
        if len(self.report.problems) == told:
            self.report.problems.extend(made_impossible(schema, made, filling, place, fatal=True))
        return made

    def annotated(self, schema: Json, annotations: tuple[Json, ...], at: Span, *instructions: Instruction) -> Json:
        """Write annotations beside a schema, one after the other; `instructions` are what it was made of."""
        places = annotations_behind(at) if annotations else ()
        for number, annotation in enumerate(annotations):
            self.warn_of_idle(schema, annotation, at)
            place = places[number] if number < len(places) else at
            if instructions:
                from instrc.passes.compose.similar import similar_properties  # few annotations name properties

                self.report.problems.extend(similar_properties(schema, annotation, place))
            told = len(self.report.problems)
            made = write_beside(schema, annotation, lambda left, right: self.fold(left, (right,), at, *instructions))
            if instructions and len(self.report.problems) == told:  # the steps of an object are not there yet
                self.report.problems.extend(made_impossible(schema, made, annotation, place))
            schema = made
        return schema

    def warn_of_idle(self, schema: Json, annotation: Json, at: Span) -> None:
        """Report keywords beside an object that speak of other values only, so that they do nothing there."""
        if not isinstance(schema, dict) or not isinstance(annotation, dict) or schema.get("type") != "object":
            return
        for keyword in annotation:
            if keyword in SPEAKS_OF and "object" not in SPEAKS_OF[keyword]:
                loop = "_iteration" in mapping(schema.get("properties"))
                self.report.add(problems.steps.IdleAnnotation(at=at, word=keyword, loop=loop))

    def fold(
        self, schema: Json, more: tuple[Json, ...], at: Span, *instructions: Instruction, fillings: Fillings | None = None
    ) -> Json:
        """Intersect a schema with others; problems tell `instructions` from an annotation behind them, or from `fillings`."""
        if not more:
            return schema

        def place(problem: Problem) -> Problem:
            written = [(each, self.instructions.registry_of(each)) for each in instructions]
            return with_places(problem, written, at, fillings) if written else problem

        return self.instructions.flatten({"allOf": [self.instructions.part(schema), *more]}, at=at, place=place)

    def fillings(self, slots: tuple[Slot, ...], parts: dict[str, Json]) -> Fillings:
        """Return where what fills slots is written, with the instruction of each that has one."""
        found: dict[str, Filled] = {}
        for slot in slots:
            content, part = slot.content, parts[slot.name]
            address = str(part["$ref"]) if isinstance(part, dict) and "$ref" in part else None
            if isinstance(content, Fusion):
                written = content.instruction, self.instructions.registry_of(content.instruction)
                found[slot.name] = Filled(content.span, written, address)
            else:
                found[slot.name] = Filled(slot.span, None, address)
        return found


def _without_closing(annotation: Json) -> Json:
    """Return an annotation of an object of steps without what closes it: that is about the steps, which are put in later."""
    return {word: value for word, value in as_object(annotation).items() if word != "additionalProperties"}
