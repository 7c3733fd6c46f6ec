"""Steps as schemas: keys, paths, references, hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Final, Literal, TypeAlias

import msgspec

from instrc import problems
from instrc.compiler import ir
from instrc.compiler.bind.scopes import GIVEN
from instrc.compiler.bind.values import step_numbers
from instrc.compiler.compose.conditions import regions_around
from instrc.compiler.compose.outcomes import RUN_PLAN, choices_of, inputs_beside_output, plannable_tools
from instrc.compiler.emit.paths import Paths, suffixed
from instrc.problems.errors import CompileError
from instrc.process.chunk_json import add_words, beside, with_changed_part
from instrc.process.flow import NO_ENGINE, READS_ONLY, Constant, EngineProperties, Read, written_value
from instrc.schema.annotate import closes, nullable, write_beside
from instrc.schema.document_definitions import DocumentDefinitions
from instrc.schema.strip import is_meta
from instrc.schema.walk import of_other_members, without
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object, as_texts, mapping
from instrc.text.names import free_name
from instrc.text.sentences import Sentences, filled
from instrc.text.source import Span

Purpose: TypeAlias = Literal["tool", "process", "flat", "result"]
"""What a step is rendered for: the model, its chunk, the whole chain as one model view, or the result of a finished run."""


class Container(msgspec.Struct):
    """An object of steps while it grows."""

    properties: dict[str, Json]
    extra: list[Json]
    """Keywords besides the properties, from mixins around several steps."""
    definitions: DocumentDefinitions
    """Definitions of the document, which steps that contain themselves refer to."""
    optional: set[str] = msgspec.field(default_factory=set)
    """Properties that are not required; those of steps always are."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    """How often an already used key was requested."""

    def add(self, key: str, schemas: Iterable[Json], items: tuple[int | None, ...] = (None,), *, required: bool = True) -> None:
        """Take a property in, with a schema for each item; a key that is taken gets `_2`, `_3` before the item is named."""
        key = self.free(key, items)
        names = [suffixed(key, item) for item in items]
        self.properties.update(zip(names, schemas, strict=True))
        if not required:
            self.optional.update(names)

    def free(self, key: str, items: tuple[int | None, ...] = (None,)) -> str:
        """Return a key that is not taken for any of some items."""

        def is_taken(name: str) -> bool:
            return not self.properties.keys().isdisjoint([suffixed(name, item) for item in items])

        return free_name(key, is_taken, tried=self.counts)

    def schema(self, annotations: Sequence[Json] = (), at: Span | None = None) -> dict[str, Json]:
        """Return the object; `at` is where it is written."""
        made: dict[str, Json] = {"type": "object", "properties": self.properties}
        required: list[Json] = [name for name in self.properties if name not in self.optional]
        if required:
            made["required"] = required
        more = [*self.extra, *annotations]
        if not more:
            return made
        whole: Json = made
        if any(closes(each) for each in more):
            for each in more:
                whole = write_beside(whole, each, lambda left, right: self.definitions.intersect([left, right]))
        else:
            whole = self.definitions.intersect([made, *more])
        return self.definitions.fillable(whole, made, at)


_Field: TypeAlias = tuple[str, list[Json], bool]
"""A property: its name, its schema for each item, and whether it is required."""


_CONTEXT: Final = re.compile("[a-z]+Context[0-9]+")
"""Names of contexts, as the compiler writes them."""


class StepSchemas:
    """The schemas of one plan for one part."""

    def __init__(
        self,
        plan: ir.Plan,
        part: Purpose,
        paths: Paths,
        *,
        batch: int,
        sentences: Sentences | None,
        definitions: DocumentDefinitions,
        whole: bool = False,
    ) -> None:
        self.plan = plan
        self.graph: ir.Graph = plan.flat.graph
        self.part = part
        self.in_process = part == "process"
        self.items: tuple[int | None, ...] = (None,) if batch <= 1 else tuple(range(1, batch + 1))
        self.definitions = definitions
        self.whole = whole
        """The document is one step's schema, so that its references lead where they led."""
        self.paths = paths
        self.hints: Hints = Hints(plan, part, sentences, self.paths, self.items)
        self.engines: EngineWriter = EngineWriter(self.graph, self.paths)
        self._outermost = frozenset(unit.number for unit in self.graph.units if isinstance(unit, ir.MixinGroup))
        """Groups outside blocks."""
        self._inner = frozenset(number for inner in self.graph.inner.values() for number in inner)
        self._made: dict[tuple[int, int | None], Json] = {}
        """Steps that lie in slots, by number and item."""

    def container(
        self, units: Iterable[ir.Unit], answers: frozenset[int] = frozenset(), items: tuple[int | None, ...] | None = None
    ) -> Container:
        """Return the object of some units, every step once an item."""
        items = self.items if items is None else items
        made = Container({}, [], self.definitions)
        units = tuple(units)
        self._demand_free_names(units)
        for number in self._steps_in_slots(units):  # inner ones first, to avoid recursion
            for item in items:
                self._made[number, item] = self.step(number, item)
        self._fill(made, units, items, answers)
        return made

    @cached_property
    def _around_steps(self) -> dict[int, tuple[int, ...]]:
        return regions_around(self.graph)

    def _demand_free_names(self, units: tuple[ir.Unit, ...]) -> None:
        """Raise `CompileError` if a mixin places a property beside steps under a name with which paths begin."""
        taken = {*self.graph.inputs, *self.plan.keys.values()}
        groups = [unit for unit in units if isinstance(unit, ir.MixinGroup)]
        if any(group.number not in self._outermost for group in groups):  # in a block, keys are found before its element
            bodies = {region for group in groups for region in self._around_steps[group.numbers[0]]}
            taken.update(GIVEN, (self.plan.elements[region] for region in bodies & self.plan.elements.keys()))
        for group in groups:
            groups += [unit for unit in group.members if isinstance(unit, ir.MixinGroup)]
            for name in mapping(mapping(self.plan.flat.mixins[group.number]).get("properties")):
                if name.partition(".")[0] in taken or ir.NUMBER.match(name) or _CONTEXT.fullmatch(name):
                    raise CompileError([problems.names.ReservedName(at=group.application.span, word=name, of_mixin=True)])

    def _steps_in_slots(self, units: tuple[ir.Unit, ...]) -> list[int]:
        """Return the steps that lie in slots of some units, inner ones first."""
        return [inner for number in step_numbers(units) for inner in self.graph.inner.get(number, ())]

    def _fill(self, made: Container, units: Iterable[ir.Unit], items: tuple[int | None, ...], answers: frozenset[int]) -> None:
        waiting: list[ir.Unit | list[_Field]] = list(reversed(list(units)))
        while waiting:
            unit = waiting.pop()
            if isinstance(unit, int):
                self._add_step(made, unit, items, answers)
            elif isinstance(unit, ir.MixinGroup):
                before, after = self._around(made, unit, items)
                self._add_all(made, before, items)
                waiting.append(after)
                waiting.extend(reversed(unit.members))
            else:
                self._add_all(made, unit, items)

    def _add_step(self, made: Container, number: int, items: tuple[int | None, ...], answers: frozenset[int]) -> None:
        """Take a step into an object, once an item."""
        for item in items:
            schema = self._made.get((number, item))
            if schema is None:
                schema = self.step(number, item, answer=number in answers)
            made.add(suffixed(self.plan.keys[number], item), [schema])

    def _around(self, made: Container, group: ir.MixinGroup, items: tuple[int | None, ...]) -> tuple[list[_Field], list[_Field]]:
        """Return the properties of a mixin before and after its slot, and keep its other keywords."""
        mixin = self.plan.flat.mixins[group.number]
        if not isinstance(mixin, dict):
            return [], []
        around = self.plan.flat.around.get(group.number, ())
        mixin = self.definitions.hoist(mixin, "Mixin")
        filled = [as_object(self._fill_blocks(mixin, around, item)) for item in (items if around else items[:1])]
        mixin = filled[0]
        properties = as_object(mixin.get("properties", {}))
        required = frozenset(as_texts(mixin.get("required", [])))
        reads = {slot.name: slot.reads for slot in group.application.slots if slot.reads}
        by_item = filled if around else filled * len(items)
        listed: list[_Field] = []
        for name in properties:
            schemas = [mapping(each["properties"])[name] for each in by_item]
            if name in reads:
                pairs = zip(schemas, items, strict=True)
                schemas = [self._reading(schema, reads[name], group.numbers[0], item) for schema, item in pairs]
            listed.append((name, schemas, name in required))
        names = list(properties)
        cut = names.index("default") if "default" in names else len(names)
        rest = dict(without(mixin, "type", "properties", "required", "additionalProperties", "unevaluatedProperties", "$schema"))
        if others := [each["additionalProperties"] for each in map(as_object, group.application.annotations) if closes(each)]:
            rest["additionalProperties"] = False if False in others else others[-1]
        if rest:
            made.extra.append(rest)
        return listed[:cut], listed[cut + 1 :]

    def _add_all(self, made: Container, listed: list[_Field], items: tuple[int | None, ...]) -> None:
        for name, schemas, required in listed:
            made.add(name, schemas, items, required=required)

    def step(self, number: int, item: int | None, *, answer: bool = False) -> Json:
        """Return the schema of a step; in a process with its engine keywords."""
        step = self.graph.steps[number]
        if answer and self.in_process:
            return self._answer(step, item)
        if step.executor == "block":
            return self._as_local_part(self.plan.flat.schemas[number], self.plan.keys[number], refers=not self.whole)
        made = self._as_written(step, item)
        if not isinstance(made, dict) or isinstance(step.content, Constant):
            return made
        if step.executor == "model" and isinstance(step.content, ir.Fusion):  # steps in an object list what they read themselves
            made = self.hints.add(made, step.reads, number, item)
        if not self.in_process:
            return made
        if number in self.graph.compound:
            made = self.engines.with_choices(number, made, item)
        takes = inputs_beside_output(step, self.plan.flat.schemas[number])
        return self.engines.beside(dict(made), step, self.paths.references(step.reads, item), item, takes)

    def _answer(self, step: ir.Step, item: int | None) -> Json:
        """Return the schema for the place where the server writes the `output` of a step whose inputs already exist."""
        key = suffixed(self.plan.keys[step.number], item)
        made = answer_of(self.plan.flat.schemas[step.number])
        own = self._as_local_part(made, key, refers=step.number in self.plan.flat.referring)
        read = Read.parse(key)
        timing, after = step.timing, self.paths.after(step.number, item)
        return beside(own, EngineProperties((read,), read, step.activity, within=timing.within, delay=timing.delay, after=after))

    def place(self, units: Iterable[ir.Unit]) -> Span | None:
        """Return where the first of some units is written."""
        first = next(iter(units), None)
        if isinstance(first, int):
            return self.graph.steps[first].span
        return None if first is None else first.application.span

    def chunk(self, chunk: ir.Chunk, items: tuple[int | None, ...]) -> JsonObject:
        """Return the schema of a chunk of a process."""
        return context(self.graph, chunk, self.container(chunk.units, chunk.answers, items), self.place(chunk.units))

    def _as_written(self, step: ir.Step, item: int | None) -> Json:
        """Return the schema of a step without the paths it reads."""
        number, flat = step.number, self.plan.flat
        placed = flat.placed.get(number, ())
        refers = number in flat.referring and (not self.whole or bool(placed) or number in self._inner)
        schema = without(self._as_local_part(flat.schemas[number], self.plan.keys[number], refers=refers), READS_ONLY)
        if placed:
            schema = self._fill_blocks(schema, placed, item)
        if step.output:
            schema = self._with_output(step, schema)
        elif self.part == "flat" and step.executor != "model":
            schema = self.hints.of_null(with_null_output(schema) if has_output(schema) else nullable(schema))
        return schema

    def _with_output(self, step: ir.Step, schema: Json) -> Json:
        if self.part == "flat":
            return self.hints.of_null(with_null_output(schema))
        if step.executor == "server":
            return answer_of(schema)
        return schema if self.part == "result" else of_other_members(as_object(schema), "output")

    def _as_local_part(self, schema: Json, name: str, *, refers: bool = True) -> Json:
        """Return a schema as part of this document: its definitions at the root, no dialect of its own."""
        if refers:
            schema = self.definitions.hoist(schema, name)
        return without(schema, "$schema", "$id")

    def _fill_blocks(self, schema: Json, placed: tuple[ir.Placed, ...], item: int | None) -> Json:
        """Fill objects of steps into the properties that hold them."""
        for place in placed:
            schema = put_steps(schema, place.slots, self._block(place.block, item), self.definitions, place.block.span)
        return schema

    def _block(self, block: ir.StepObject, item: int | None) -> dict[str, Json]:
        """Return the steps of an object; annotations after it are in the slot already, except those that close it."""
        made = Container({}, [], self.definitions)
        self._fill(made, block.units, (item,), frozenset())
        return made.schema([each for each in block.annotations if closes(each)], block.span)

    def _reading(self, schema: Json, reads: tuple[ir.Path, ...], step: int, item: int | None) -> Json:
        """Return the schema of a slot next to several steps, with the paths it reads."""
        if not isinstance(schema, dict):
            return schema
        made = self.hints.add(schema, reads, step, item)
        if not self.in_process:
            return made
        references = self.paths.references(reads, item)
        return add_words(dict(made), NO_ENGINE, references, references[0] if len(references) == 1 else [*references])


def context(graph: ir.Graph, chunk: ir.Chunk, steps: Container, at: Span | None) -> dict[str, Json]:
    """Return the object of a chunk, whose first step is written at `at`; raise `CompileError` if a required property lacks."""
    if chunk.annotations:
        from instrc.compiler.compose.contents import missing_in_context  # few chunks have annotations

        written = next((each for each in graph.contexts or () if each.annotations is chunk.annotations), None)
        missing = () if written is None else tuple(missing_in_context(written, steps.schema()))
        if missing:
            raise CompileError(missing)
    return steps.schema(chunk.annotations, at)


_ABOUT_OBJECTS = {"type", "title", "description"}
_OUTPUT: Location = ("properties", "output")


def put_steps(schema: Json, slots: tuple[str, ...], block: JsonObject, definitions: DocumentDefinitions, at: Span) -> Json:
    """Put an object of steps, written at `at`, into the property that a way of names leads to."""
    inside: Json = schema
    for name in slots:
        outer = mapping(inside)
        properties = mapping(outer.get("properties"))
        if name not in properties or outer.keys() & {"allOf", "$defs"}:
            part: Json = block
            for each in reversed(slots):
                part = {"properties": {each: part}}
            return definitions.fillable(definitions.intersect([schema, part]), block, at)
        inside = properties[name]
    plain = isinstance(inside, dict) and inside.keys() <= _ABOUT_OBJECTS and inside.get("type", "object") == "object"
    made: Json
    if isinstance(inside, dict) and plain and inside.keys().isdisjoint(block.keys() - {"type"}):
        made = {**inside, **block}
    else:
        made = definitions.fillable(definitions.intersect([inside, block]), block, at)
    return with_changed_part(schema, _place_of(slots), lambda _: made)


def _place_of(names: Iterable[str]) -> Location:
    """Return the path of the property that names lead to."""
    return tuple(part for name in names for part in ("properties", name))


def _beside_part(part: Json, engine: EngineProperties) -> Json:
    """Write engine keywords next to the schema of a part of a step."""
    return beside(mapping(part), engine)


def has_output(schema: Json) -> bool:
    """Return whether a step returns a result under `output`."""
    return "output" in mapping(mapping(schema).get("properties"))


def with_null_output(schema: Json) -> Json:
    """Return a step as a model plans it: what others give is null for now."""
    return with_changed_part(schema, _OUTPUT, nullable)


def answer_of(schema: Json) -> Json:
    """Return the part of a schema that the server fills in."""
    output = as_object(as_object(schema)["properties"])["output"]
    return {"type": "object", "properties": {"output": output}, "required": ["output"]}


class EngineWriter:
    """Write the engine keywords in the steps of one graph."""

    def __init__(self, graph: ir.Graph, paths: Paths) -> None:
        self.graph = graph
        self.paths = paths

    def beside(
        self, schema: JsonObject, step: ir.Step, references: list[str], item: int | None, takes: JsonObject | None
    ) -> JsonObject:
        """Write the engine keywords next to the schema of a step, and return that; `references` are the paths it reads."""
        arguments = written_value(self.paths.arguments(step.arguments, item, step.number)) if step.arguments else None
        plan: JsonObject | None = None
        if step.activity == RUN_PLAN and step.executor != "model":
            tools = plannable_tools(self.graph, step) or ()
            plan = self._plan(tools, item)
            bound = [each.value for tool in tools for each in tool.bound if isinstance(each.value, ir.Path)]
            references = self.paths.references((*step.reads, *bound), item)
        if step.executor == "model":
            timing = ir.NO_TIMING if step.output else step.timing
            engine = EngineProperties(fail=step.fail, within=timing.within, delay=timing.delay)
        else:
            timing = step.timing
            after = self.paths.after(step.number, item)
            engine = EngineProperties((), None, step.activity, plan, None, step.fail, timing.within, timing.delay, after, takes)
        return add_words(schema, engine, references, arguments)

    def with_choices(self, number: int, schema: JsonObject, item: int | None) -> JsonObject:
        """Write the source of the choices next to each property that is filled by choice."""
        for names, engine in choices_of(self.graph.steps[number].content):
            if isinstance(engine, ir.Planned):
                said = EngineProperties(plan=self._plan(engine.tools, item))
            else:
                said = EngineProperties(among=self.paths.read(engine.choices, item))
            schema = as_object(with_changed_part(schema, _place_of(names), partial(_beside_part, engine=said)))
        return schema

    def _plan(self, tools: tuple[ir.PlannableTool, ...], item: int | None) -> JsonObject:
        """Return the tools of a plan by name."""
        made: JsonObject = {}
        for tool in tools:
            said: JsonObject = {tool.kind: tool.target, "arguments": tool.arguments, "output": tool.output}
            made[tool.name] = said
            if tool.bound:
                said["bound"] = written_value(self.paths.arguments(tool.bound, item))
        return made


class Hints:
    """The hints in one document, in the `sentences` of the project; `None` if there are no hints."""

    def __init__(
        self, plan: ir.Plan, part: Purpose, sentences: Sentences | None, paths: Paths, items: tuple[int | None, ...]
    ) -> None:
        self.graph = plan.flat.graph
        self.part = part
        self.sentences = sentences
        self._around_paths = ("" if sentences is None else sentences.hint).split("{paths}")
        self.paths = paths
        self._inputs: dict[str, Json] = {}
        """What the inputs say of themselves; a process lists its inputs, so that no hint repeats it."""
        if plan.shape != "process":
            self._inputs = {suffixed(name, item): each for name, each in self.graph.inputs.items() for item in items}
        self.written: dict[tuple[ir.HintedPath, ...], None] = {}
        """What is listed in each of the hints."""

    def add(self, schema: JsonObject, reads: Sequence[ir.Path], step: int, item: int | None) -> JsonObject:
        """Return a schema with a hint on the paths that a step reads and that exist in this document."""
        if self.sentences is None:
            return schema
        if self.part in {"flat", "result"}:
            reads = [path for path in reads if not self._is_absent(path, item)]
        labels = self._labels(step, item)
        told = tuple([self._told(path, step, item, labels) for path in self.paths.ordered(reads, item, labels)])
        if not told:
            return schema
        self.written[told] = None
        return as_object(with_sentence(schema, ir.hint_of(self._around_paths, told)[0]))

    def _labels(self, step: int, item: int | None) -> dict[tuple[str, ...], str]:
        """Return the names under which a step receives values, by path, where they differ from the ends of the paths."""
        found: dict[tuple[str, ...], list[str]] = {}
        for each in self.graph.steps[step].arguments:
            if each.label is not None and isinstance(each.value, ir.Path):
                last = self.paths.segments(each.value)[-1]
                if last != each.label and not last.endswith(f"_{each.label}"):
                    found.setdefault(self.paths.segments(each.value, item), []).append(each.label)
        assert self.sentences is not None
        join, sentence = self.sentences.join, self.sentences.labelled
        return {path: filled(sentence, labels=join.join(labels)) for path, labels in found.items()}

    def _is_absent(self, path: ir.Path, item: int | None) -> bool:
        """Return whether a path leads to a part that the result drops, or that another executor adds to the flat form."""
        if self.part == "result":
            return any(map(is_meta, self.paths.segments(path, item)))
        step = self.graph.steps.get(path.origin) if isinstance(path.origin, int) else None
        return step is not None and (step.executor in {"server", "user"} or step.output)

    def _told(self, path: ir.Path, step: int, item: int | None, labels: Mapping[tuple[str, ...], str]) -> ir.HintedPath:
        """Return a path with its description: `prompt (What the user wants)`, `step3_when_draft (may be null)`."""
        words = [self._words_of_input(self.paths.read(path, item))] if self._inputs else []
        words += [self.sentences.may_be_null] if self.sentences is not None and self.paths.may_be_null(path, step) else []
        label = labels.get(self.paths.segments(path, item), "")
        return ir.HintedPath(self.paths.text(path, item), "; ".join(filter(None, words)), label)

    def _words_of_input(self, read: Read) -> str:
        """Return the description of the input at the beginning of a path, or nothing if it is not an input."""
        schema = self._inputs.get(read.first)
        for segment in read.segments[1:]:
            schema = mapping(mapping(schema).get("properties")).get(segment.name)
        said = mapping(schema).get("description")
        return " ".join(said.split()).removesuffix(".") if isinstance(said, str) else ""

    def of_null(self, schema: Json) -> Json:
        """Tell the model to leave the parts of other executors, a whole step or its `output`, `null`."""
        if self.sentences is None or not isinstance(schema, dict):
            return schema
        told = partial(with_sentence, sentence=self.sentences.left_null)
        return with_changed_part(schema, _OUTPUT if has_output(schema) else (), told)


def with_sentence(schema: Json, sentence: str) -> Json:
    """Return a schema with a sentence at the end of its description; a new description comes first, after a title."""
    if not isinstance(schema, dict):
        return schema
    if "description" in schema:
        return {**schema, "description": f"{schema['description']}\n{sentence}"}
    if next(iter(schema), None) == "title":
        return {"title": schema["title"], "description": sentence, **schema}
    return {"description": sentence, **schema}
