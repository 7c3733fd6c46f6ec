"""Compose the schema of a step or slot: fill its slots, add its annotations, apply mixins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field, structs

from instrc import problems
from instrc.compiler.instructions import PART, InstructionTable, fatal_in_program
from instrc.compiler.ir import Application, Content, Context, Fusion, Instruction, Placed, Slot, StepObject
from instrc.language.program_places import annotations_behind, place_in
from instrc.problems.errors import CompileError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key, is_a_slip_of, nearest
from instrc.process.flow import Constant
from instrc.schema.annotate import write_beside
from instrc.schema.flattening.flatten import flatten
from instrc.schema.flattening.parts import splice
from instrc.schema.impossible import Impossible, impossible_parts, is_written_false, may_hold_impossible
from instrc.schema.kinds import own_kinds
from instrc.schema.relations import disjoint
from instrc.schema.vocabulary import IN_PLACE, SPEAKS_OF
from instrc.schema.walk import definition_named_by, required_names, subschemas, walk, without
from instrc.text.jsonvalue import Json, JsonObject, Location, at_or, listing, mapping, pointer
from instrc.text.source import Span
from instrc.vibes.registry import Registry

OBJECT_SCHEMAS: Final = 1_000
"""Maximum schemas examined; beyond it a schema is assumed to fit."""


def admits_objects(schema: Json) -> bool:
    """Return whether some object may satisfy a flat schema, by its `type`, `const` and `enum`."""
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    waiting: list[Json] = [schema]  # each must admit objects
    seen: set[int] = set()
    while waiting and len(seen) < OBJECT_SCHEMAS:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not _says_object(node):
            return False
        if not isinstance(node, dict):
            continue
        waiting.extend(listing(node.get("allOf")))
        for keyword in ("anyOf", "oneOf"):
            choices = listing(node.get(keyword))
            if len(choices) == 1:
                waiting.extend(choices)
            elif choices and not any(map(_says_object, choices)):
                return False
        if name := definition_named_by(node):
            waiting.append(mapping(definitions).get(name, True))
    return True


def _says_object(schema: Json) -> bool:
    """Return whether a schema by itself lets objects pass."""
    return "object" in own_kinds(schema) if isinstance(schema, dict) else schema is not False


FoundInstruction: TypeAlias = tuple[Instruction, Registry]
"""An instruction, and the registry that contains its vibe."""
_VIBE = "/allOf/0"
_ANNOTATION = "/allOf/1"


class Filled(Struct, frozen=True):
    """The content of a slot: its place, its instruction if any, and its address if inserted by reference."""

    at: Span
    written: FoundInstruction | None
    part: str | None


Fillings: TypeAlias = Mapping[str, Filled]
"""Contents of slots by name."""


def with_places(problem: Problem, written: Sequence[FoundInstruction], at: Span, fillings: Fillings | None = None) -> Problem:
    """Return a contradiction between an instruction and an added schema with both places; any other problem unchanged.

    The added schema is an annotation, or `fillings` of slots.  `written` are the instruction and its mixins.
    """
    if not isinstance(problem, problems.schemas.Contradiction) or problem.at is not None:
        return problem
    spans = () if fillings is not None else annotations_behind(at)
    left, right = (_place_origin(each, written, at, spans, fillings or {}) for each in (problem.left, problem.right))
    shown = next((each.at for each in (right, left) if each.at is not None and each.at.source is at.source), at)
    sign = next((each for each in spans if each.start <= shown.start < each.end), None)
    caret = shown if sign is None else Span(sign.source, sign.start, sign.start + 1)
    return structs.replace(problem, left=left, right=right, at=caret)


def _place_origin(
    origin: problems.schemas.Origin, written: Sequence[FoundInstruction], at: Span, spans: tuple[Span, ...], fillings: Fillings
) -> problems.schemas.Origin:
    part = origin.uri.startswith(PART)
    for name, filled in fillings.items():
        slot = _ANNOTATION + pointer(("properties", name))
        if part and origin.uri.partition("#")[0] == filled.part:
            return _in_filling(origin, origin.pointer, filled)
        if not part and not origin.uri and (origin.pointer == slot or origin.pointer.startswith(f"{slot}/")):
            return _in_filling(origin, origin.pointer.removeprefix(slot), filled)
    if origin.uri and not part:
        return origin
    if (part or origin.pointer.startswith(_VIBE)) and any(instruction.uri is not None for instruction, _ in written):
        way = origin.pointer.removeprefix(_VIBE)
        found = [_in_vibe(origin, instruction.uri, way, registry) for instruction, registry in written if instruction.uri]
        earlier = next((each for each in _places_in(spans, way) if _says(each, origin.value)), None)
        otherwise = structs.replace(origin, uri=at.source.name if earlier else written[0][0].name, pointer=way, at=earlier)
        return next((each for each in found if each is not None), otherwise)
    if origin.pointer.startswith(_ANNOTATION):
        way = origin.pointer.removeprefix(_ANNOTATION)
        places = _places_in(spans, way)
        said = next((each for each in places if _says(each, origin.value)), places[0] if places else None)
        return structs.replace(origin, uri=at.source.name, pointer=way, at=said)
    return structs.replace(origin, uri=written[0][0].name)


def _in_filling(origin: problems.schemas.Origin, pointer: str, filled: Filled) -> problems.schemas.Origin:
    """Return the place of a keyword in the content of a slot: in its vibe, or else in the program."""
    found = None
    if filled.written is not None and filled.written[0].uri is not None:
        found = _in_vibe(origin, filled.written[0].uri, pointer, filled.written[1])
    return found or structs.replace(origin, uri=filled.at.source.name, pointer=pointer, at=filled.at)


def _in_vibe(origin: problems.schemas.Origin, uri: str, pointer: str, registry: Registry) -> problems.schemas.Origin | None:
    """Return where a keyword of a flat instruction was written, in its vibe or one it refers to, or `None`."""
    base, _, fragment = uri.partition("#")
    try:
        schema: Json = {"$ref": uri} if fragment else registry.load(base).schema
        flat = flatten(schema, registry.documents, base="" if fragment else base, nullable=True, trace=True)
    except CompileError:
        return None
    found = [
        structs.replace(origin, uri=each.uri, pointer=each.pointer, at=registry.locate(each.uri, each.pointer))
        for each in flat.origins.get(pointer, ())
        if each.uri
    ]
    saying = (each for each in found if each.at is not None and _says(each.at, origin.value))
    return next(saying, found[0] if found else None)


def _says(place: Span, value: str) -> bool:
    return "".join(place.text.split()) == "".join(value.split())


def _places_in(annotations: tuple[Span, ...], pointer: str) -> list[Span]:
    return [place_in(each, pointer) for each in annotations if "{" in each.text]


Locate: TypeAlias = Callable[[str], Span | None]
"""Returns the span of a part of a vibe from its JSON Pointer."""


def impossible(schema: Json, place: Span, locate: Locate) -> Iterator[Problem]:
    """Yield the reasons why a step with a flat schema, used at a place, is unsatisfiable.

    `locate` finds a part of it in its vibe; `None` for a schema written at the place itself.
    """
    for part in _parts(schema):
        if disjoint(schema, schema):
            written = tuple(locate(pointer((*part.path, word))) for word in part.words)
            others = tuple(dict.fromkeys(each for each in written if each is not None))
            inline = not others and "{" in place.text  # the whole part is shown: warnings inside say the same
            yield _problem(part, place_in(place, pointer(part.path)) if inline else place, fatal=True, others=others)


def _parts(schema: Json) -> list[Impossible]:
    """Return the innermost unsatisfiable parts of a schema."""
    nodes = list(walk(schema))
    if not may_hold_impossible(node for _, node in nodes):
        return []
    return list(impossible_parts(schema, nodes))


def _problem(part: Impossible, at: Span, *, fatal: bool, others: tuple[Span, ...] = ()) -> Problem:
    return problems.schemas.ImpossibleSchema(
        at=at, words=part.words, names=part.names, inside=pointer(part.path), fatal=fatal, others=others
    )


def newly_impossible(before: Json, schema: Json, added: Json, place: Span, *, fatal: bool = False) -> Iterator[Problem]:
    """Yield the parts of a flat schema that an addition, written at a place, made unsatisfiable.

    They are `fatal` anywhere, or if the whole is unsatisfiable.
    Parts that were impossible before, or optional ones that are impossible in the addition itself, are reported there.
    """
    if schema is False and before is not False:
        yield _nothing_left(before, added, place)
        return
    found = _parts(schema)
    if not found:
        return
    known = {part.path for part in _parts(before)}
    alone = {part.path for part in _parts(added)}
    for part in found:
        needed = _is_needed(schema, part.path)
        if part.path not in known and (needed or part.path not in alone):
            # if an addition alone allows nothing, it is shown as a whole: warnings inside say the same
            at = place_in(place, pointer(part.path)) if part.path in alone and "{" in place.text else _place(part, added, place)
            yield _problem(part, at, fatal=fatal or needed or disjoint(schema, schema))


def _nothing_left(before: Json, added: Json, place: Span) -> Problem:
    """Return why an addition made a schema impossible: it excludes a required property, or everything."""
    own = mapping(mapping(added).get("properties"))
    needed = [name for each in (before, added) if isinstance(each, dict) for name in required_names(each)]
    if not (gone := tuple(name for name in own if name in needed and is_written_false(own[name]))):
        return problems.steps.Unsatisfiable(at=place)
    at = place_in(place, pointer(("properties", gone[0]))) if "{" in place.text else place
    words = ("properties", "required")
    return problems.schemas.ImpossibleSchema(at=at, words=words, names=gone, inside="", fatal=True)


def _is_needed(schema: Json, path: Location) -> bool:
    """Return whether every valid object has a value at a part of a schema: each property on the path is required."""
    names = iter(path)
    for word in names:
        if word == "properties" and isinstance(schema, dict):
            name = next(names, None)
            if name not in listing(schema.get("required")) or schema.get("type", "object") != "object":
                return False
            schema = mapping(schema["properties"]).get(str(name), True)
        elif word == "allOf" and isinstance(schema, dict):
            index = next(names, None)
            schema = listing(schema["allOf"])[index] if isinstance(index, int) else True
        else:
            return False
    return True


def _place(part: Impossible, added: Json, place: Span) -> Span:
    """Return where one of the contradictory keywords is written, or its innermost enclosing part."""
    if "{" not in place.text:
        return place
    written = mapping(at_or(added, pointer(part.path)))
    word = next((word for word in part.words if word in written), None)
    return place_in(place, pointer(part.path)) if word is None else place_in(place, pointer((*part.path, word)), key=True)


_OPEN = frozenset({"$ref", "$dynamicRef", "patternProperties", "propertyNames", "dependentSchemas"})
"""Keywords that may describe properties not examined here."""
_ON_THE_SAME_OBJECT = IN_PLACE - _OPEN - {"not"}


def missing_names(content: Fusion, schemas: Iterable[Json]) -> Iterator[Problem]:
    """Yield the names required by the annotations or inline schema of a step without any description.

    `schemas` are those that the step is composed of, without its annotations.
    """
    beside = [*content.annotations, *(each for use in content.mixins for each in use.annotations)]
    own = content.instruction.schema if content.instruction.uri is None else None
    written = [each for each in (own, *beside) if isinstance(each, dict)]
    if not any("required" in each or "properties" in each for each in written):
        return
    slots: JsonObject = {slot.name: {"additionalProperties": True} for slot in content.slots}
    whole: list[Json] = [*schemas, *written, {"properties": slots}]
    for part in written:
        places = (content.span,) if part is own else annotations_behind(content.span)
        yield from _lacking(part, whole, places, content.span)


def _lacking(part: Json, whole: list[Json], spans: tuple[Span, ...], around: Span) -> Iterator[Problem]:
    """Yield the required names that the complete object does not describe; `spans` are where the schema may be written."""
    for path, index, name, close in _missing(part, whole, ()):
        places = _places_in(spans, pointer((*path, "required", index)))
        at = next((each for each in places if each.text[1:-1] == name), around)
        yield problems.vibes.MissingFromProperties(at=at, word=name, nearest=close)


def _missing(part: Json, whole: list[Json], path: Location) -> Iterator[tuple[Location, int, str, tuple[str, ...]]]:
    """Yield the path of a schema, the index in its list, the name, and similar names; `whole` is the complete object."""
    described = _described(whole)
    names, required = described.names, mapping(part).get("required")
    if names and not described.open and isinstance(required, list):
        for index, name in enumerate(required):
            if isinstance(name, str) and name not in names:
                yield path, index, name, nearest(name, names)
    for name, below in mapping(mapping(part).get("properties")).items():
        yield from _missing(below, names[name], (*path, "properties", name))


class _Described(Struct):
    """The properties that the schemas of one object describe."""

    names: dict[str, list[Json]] = field(default_factory=dict)
    open: bool = False
    """Whether other schemas may describe further properties, or the schema explicitly allows them."""


def _described(schemas: list[Json]) -> _Described:
    found = _Described()
    stack = list(schemas)
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        found.open |= not _OPEN.isdisjoint(node)
        found.open |= any(node.get(word, False) is not False for word in ("additionalProperties", "unevaluatedProperties"))
        if isinstance(properties := node.get("properties"), dict):
            for name, below in properties.items():
                found.names.setdefault(name, []).append(below)
        stack.extend(below for _, below in subschemas(node, _ON_THE_SAME_OBJECT))
    return found


def missing_in_context(context: Context, schema: Json) -> Iterator[Problem]:
    """Yield the names required by the annotations of a context without any description; `schema` is that of its steps."""
    whole: list[Json] = [schema, *context.annotations]
    for part in context.annotations:
        yield from _lacking(part, whole, annotations_behind(context.span), context.span)


def similar_properties(schema: Json, annotation: Json, at: Span) -> Iterator[Problem]:
    """Yield new properties of an annotation whose names equal one of a schema except for case, `_` and `-`.

    A name that begins with `_` has a special meaning, so a single wrong letter in it is reported as well.
    """
    there = mapping(mapping(schema).get("properties"))
    for name in mapping(mapping(annotation).get("properties")):
        if name in there:
            continue
        close = tuple(each for each in there if _is_meant(name, each))
        if close:
            place = place_in(at, pointer(("properties", name)), key=True) if "{" in at.text else at
            yield problems.schemas.SimilarProperty(at=place, word=name, nearest=close)


def _is_meant(word: str, name: str) -> bool:
    return comparison_key(word) == comparison_key(name) or (
        name.startswith("_") and is_a_slip_of(comparison_key(word), comparison_key(name))
    )


_ABOUT = ("title", "description")


class ContentSchema:
    """Composes one schema."""

    def __init__(self, instructions: InstructionTable, report: Report) -> None:
        self.instructions = instructions
        self.report = report
        self.placed: list[Placed] = []
        """Objects of the steps in it."""

    def of(self, content: Content, path: tuple[str, ...]) -> Json:
        """Compose the content of a step or slot; `path` are the slots that lead to it."""
        match content:
            case Constant(value):
                return {"const": value}
            case StepObject(annotations=annotations):
                self.placed.append(Placed(path, content))
                still_open = tuple(without(each, "additionalProperties") for each in annotations)  # the steps are inserted later
                return self.annotated({"type": "object"}, still_open, content.span)
            case Fusion(instruction, slots, annotations, mixins, span):
                schema = self.instructions.schema(instruction, span)
                if self.lacks(content, schema):
                    return {}
                self.demand_possible(schema, span, instruction)
                if not slots and not annotations and not mixins:
                    return schema
                schema = self.filled(schema, slots, path, span, instruction)
                told_before = len(self.report.problems)
                schema = self.annotated(schema, annotations, span, instruction)
                inside = [instruction]
                for mixin in mixins:
                    if not admits_objects(schema):
                        known = len(self.report.problems) > told_before  # the cause of the contradiction
                        raise CompileError([] if known else [problems.steps.OutputNotObject(at=span, word=instruction.name)])
                    wrapped = self.of_mixin(structs.replace(mixin, annotations=()), path)
                    told = Report()
                    spliced = splice(wrapped, schema, report=told, applied=mixin.mixin.name, at=mixin.span)
                    for problem in map(fatal_in_program, told.problems):
                        self.report.add(problem if problem.at is not None else structs.replace(problem, at=mixin.span))
                    inside.insert(0, mixin.mixin)
                    schema = self.annotated(spliced, mixin.annotations, mixin.span, *inside)
                return schema
            case _:
                return {}  # a block is not part of a step

    def lacks(self, content: Fusion, schema: Json) -> bool:
        """Report required but undescribed names of the program; return whether there are any."""
        if content.instruction.uri is not None and not content.annotations and not content.mixins:
            return False
        lacking = list(missing_names(content, (schema, *(self.instructions.schema(each.mixin) for each in content.mixins))))
        for problem in lacking:
            self.report.add(problem)
        return bool(lacking)

    def demand_possible(self, schema: Json, span: Span, instruction: Instruction) -> None:
        """Report an unsatisfiable instruction, unless an error has already been reported."""
        registry, uri = self.instructions.registry_of(instruction), instruction.uri
        if not self.report.failed:
            self.report.problems.extend(impossible(schema, span, lambda place: registry.locate(uri, place) if uri else None))

    def of_mixin(self, application: Application, path: tuple[str, ...]) -> Json:
        """Compose a mixin with its named slots, without its own title and description."""
        schema = without(self.instructions.schema(application.mixin), *_ABOUT)
        schema = self.filled(schema, application.slots, path, application.span, application.mixin)
        return self.annotated(schema, application.annotations, application.span, application.mixin)

    def filled(self, schema: Json, slots: tuple[Slot, ...], path: tuple[str, ...], at: Span, instruction: Instruction) -> Json:
        """Compose slots into the properties of the same names."""
        if not slots:
            return schema
        properties: dict[str, Json] = {}
        for slot in slots:
            made = self.of(slot.content, (*path, slot.name))
            properties[slot.name] = self.instructions.part(made)
        known = mapping(mapping(schema).get("properties"))
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
        """Add annotations to a schema in order; `instructions` are its origin."""
        places = annotations_behind(at) if annotations else ()
        for number, annotation in enumerate(annotations):
            self.warn_of_idle(schema, annotation, at)
            place = places[number] if number < len(places) else at
            if instructions:
                self.report.problems.extend(similar_properties(schema, annotation, place))
            told = len(self.report.problems)
            made = write_beside(schema, annotation, lambda left, right: self.fold(left, (right,), at, *instructions))
            if instructions and len(self.report.problems) == told:  # the steps of an object do not exist yet
                self.report.problems.extend(newly_impossible(schema, made, annotation, place))
            schema = made
        return schema

    def warn_of_idle(self, schema: Json, annotation: Json, at: Span) -> None:
        """Report keywords for other types next to an object, which have no effect."""
        if not isinstance(schema, dict) or not isinstance(annotation, dict) or schema.get("type") != "object":
            return
        for keyword in annotation:
            if keyword in SPEAKS_OF and "object" not in SPEAKS_OF[keyword]:
                loop = "_iteration" in mapping(schema.get("properties"))
                self.report.add(problems.steps.IdleAnnotation(at=at, word=keyword, loop=loop))

    def fold(
        self, schema: Json, more: tuple[Json, ...], at: Span, *instructions: Instruction, fillings: Fillings | None = None
    ) -> Json:
        """Intersect a schema with others; problems distinguish `instructions` from added annotations and `fillings`."""
        if not more:
            return schema

        def place(problem: Problem) -> Problem:
            written = [(each, self.instructions.registry_of(each)) for each in instructions]
            return with_places(problem, written, at, fillings) if written else problem

        return self.instructions.flatten({"allOf": [self.instructions.part(schema), *more]}, at=at, place=place)

    def fillings(self, slots: tuple[Slot, ...], parts: dict[str, Json]) -> Fillings:
        """Return the places of slot contents, with their instructions if any."""
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
