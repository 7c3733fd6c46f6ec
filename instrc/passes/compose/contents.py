"""The schema of what fills a step or a slot: slots in, annotations beside, mixins around it."""

from __future__ import annotations

from msgspec import structs
from msgspec.structs import replace

from instrc import problems
from instrc.flattening.beside import write_beside
from instrc.flattening.slots import splice
from instrc.ir.blocks import Content
from instrc.ir.fusion import Application, Fusion, Instruction, Slot, StepObject
from instrc.ir.graph import Placed
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json, as_object, mapping
from instrc.passes.compose.objects import admits_objects
from instrc.passes.compose.origins import Filled, Fillings, with_places
from instrc.passes.compose.possible import impossible, newly_impossible
from instrc.passes.compose.required import missing_names
from instrc.passes.instructions import InstructionTable, fatal_in_program
from instrc.passes.trampoline import Task
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.schema.vocabulary import SPEAKS_OF
from instrc.source import Span
from instrc.syntax.places import annotations_behind

_ABOUT = ("title", "description")


class ContentSchema:
    """One schema while it is made."""

    def __init__(self, instructions: InstructionTable, report: Report) -> None:
        self.instructions = instructions
        self.report = report
        self.placed: list[Placed] = []
        """The objects of steps that stand in it."""

    def of(self, content: Content, path: tuple[str, ...]) -> Task[Json]:
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
                    wrapped = yield self.of_mixin(structs.replace(mixin, annotations=()), path)
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
        return bool(lacking)

    def demand_possible(self, schema: Json, span: Span, instruction: Instruction) -> None:
        """Report an instruction that nothing satisfies, unless it is told already what leaves nothing."""
        registry, uri = self.instructions.registry_of(instruction), instruction.uri
        if not self.report.failed:
            self.report.problems.extend(impossible(schema, span, lambda place: registry.locate(uri, place) if uri else None))

    def of_mixin(self, application: Application, path: tuple[str, ...]) -> Task[Json]:
        """Compose a mixin with its named slots; it speaks about itself, so its own title and description stay behind."""
        schema = self.instructions.schema(application.mixin)
        if isinstance(schema, dict):
            schema = {keyword: value for keyword, value in schema.items() if keyword not in _ABOUT}
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
            made = yield self.of(slot.content, (*path, slot.name))
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
            self.report.problems.extend(newly_impossible(schema, made, filling, place, fatal=True))
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
                self.report.problems.extend(newly_impossible(schema, made, annotation, place))
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
