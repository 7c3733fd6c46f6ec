"""Steps as schemas: keys, paths, references; containers of steps, alone or for every item of a batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from instrc.emit.container import Container
from instrc.emit.contexts import context
from instrc.emit.definitions import DocumentDefinitions
from instrc.emit.engine_properties import EngineWriter
from instrc.emit.forms import Form, Frame
from instrc.emit.hints import DescribedSchema, Hints, Purpose
from instrc.emit.parts import answer_of, has_output, input_part, put_steps, with_null_output
from instrc.emit.paths import Paths, suffixed
from instrc.flattening.beside import closes
from instrc.flattening.nullable import nullable
from instrc.ir.chunk_json import add_words, beside
from instrc.ir.fusion import Fusion, MixinGroup, StepObject, Unit
from instrc.ir.graph import NO_TIMING, Graph, Placed, Step
from instrc.ir.paths import Path
from instrc.ir.plan import Chunk, Plan
from instrc.ir.reads import Constant, Read
from instrc.ir.steps import NO_ENGINE, EngineProperties
from instrc.jsonvalue import Json, JsonObject, as_object, as_texts
from instrc.passes.compose.planned import RUN_PLAN
from instrc.source import Span

_OWN_WORDS = frozenset({"activity", "references", "arguments"})
"""Keywords that the compiler writes itself."""
_Field: TypeAlias = tuple[str, Json, bool]
"""A property: its name, its schema, and whether it is required."""


class StepSchemas:
    """The schemas of one plan for one part."""

    def __init__(
        self,
        plan: Plan,
        part: Purpose,
        paths: Paths,
        *,
        batch: int,
        hint: str | None,
        definitions: DocumentDefinitions,
        whole: bool = False,
    ) -> None:
        self.plan = plan
        self.graph: Graph = plan.flat.graph
        self.part = part
        self.in_process = part == "process"
        self.items: tuple[int | None, ...] = (None,) if batch <= 1 else tuple(range(1, batch + 1))
        self.definitions = definitions
        self.whole = whole
        """The document is one step's schema, so that its references lead where they led."""
        self.paths = paths
        self.hints: Hints = Hints(plan, part, hint, self.paths, self.items)
        self.engines: EngineWriter = EngineWriter(self.graph, self.paths)
        self._inner = frozenset(number for inner in self.graph.inner.values() for number in inner)
        self._single = self.graph.compound | plan.flat.referring
        """Steps whose schemas are made for each of them."""
        self._made: dict[tuple[int, int | None], Json] = {}
        """Steps that lie in slots, by number and item."""
        self._alike: dict[tuple[int, str, bool, str | None], Form] = {}
        """What the flat schemas of instructions alone become in this document, by the identity of the one that steps share."""

    def container(
        self, units: Iterable[Unit], answers: frozenset[int] = frozenset(), items: tuple[int | None, ...] | None = None
    ) -> Container:
        """Return the object of some units, every step once an item."""
        items = self.items if items is None else items
        made = Container({}, [], self.definitions)
        units = tuple(units)
        self._make_inner(units, items)
        self._fill(made, units, items, answers)
        return made

    def _make_inner(self, units: tuple[Unit, ...], items: tuple[int | None, ...]) -> None:
        """Make the steps that lie in slots, inner ones first, so that nothing waits on the stack."""
        for number in self._inside(units) if self._inner else ():
            for item in items:
                self._made[number, item] = self.step(number, item)

    def _inside(self, units: Iterable[Unit]) -> list[int]:
        """Return the steps that lie in slots of some units, inner ones first."""
        found: list[int] = []
        waiting = list(reversed(tuple(units)))
        while waiting:
            unit = waiting.pop()
            if isinstance(unit, int):
                found.extend(self.graph.inner.get(unit, ()))
            else:
                waiting.extend(reversed(unit.members))
        return found

    def _fill(self, made: Container, units: Iterable[Unit], items: tuple[int | None, ...], answers: frozenset[int]) -> None:
        if not self.plan.flat.mixins:
            self._add_steps(made, units, items, answers)  # type: ignore[arg-type]  # without mixins there are no groups
            return
        waiting: list[Unit | list[_Field]] = list(reversed(list(units)))
        while waiting:
            unit = waiting.pop()
            if isinstance(unit, int):
                self._add_steps(made, (unit,), items, answers)
            elif isinstance(unit, MixinGroup):
                before, after = self._around(made, unit, items)
                self._add_all(made, before, items)
                waiting.append(after)
                waiting.extend(reversed(unit.members))
            else:
                self._add_all(made, unit, items)

    def _add_steps(self, made: Container, numbers: Iterable[int], items: tuple[int | None, ...], answers: frozenset[int]) -> None:
        """Take steps into an object, each once an item."""
        properties, keys, ready = made.properties, self.plan.keys, self._made
        for number in numbers:
            for item in items:
                key = keys[number] if item is None else suffixed(keys[number], item)
                schema = ready.get((number, item)) if ready else None
                if schema is None:
                    schema = self.step(number, item, answer=number in answers)
                properties[made.free(key) if key in properties else key] = schema

    def _around(self, made: Container, group: MixinGroup, items: tuple[int | None, ...]) -> tuple[list[_Field], list[_Field]]:
        """Return the properties of a mixin before and after its slot, and keep what else it says."""
        mixin = self.plan.flat.mixins[group.number]
        if not isinstance(mixin, dict):
            return [], []
        filled = self._fill_blocks(mixin, self.plan.flat.around.get(group.number, ()), items[0])
        mixin = as_object(self.definitions.hoist(filled, "Mixin"))
        properties = as_object(mixin.get("properties", {}))
        required = frozenset(as_texts(mixin.get("required", [])))
        reads = {slot.name: slot.reads for slot in group.application.slots if slot.reads}
        listed = [
            (name, self._reading(schema, reads[name]) if name in reads else schema, name in required)
            for name, schema in properties.items()
        ]
        names = list(properties)
        cut = names.index("default") if "default" in names else len(names)
        rest = {
            keyword: value
            for keyword, value in mixin.items()
            if keyword not in {"type", "properties", "required", "additionalProperties", "unevaluatedProperties", "$schema"}
        }
        if others := [each["additionalProperties"] for each in map(as_object, group.application.annotations) if closes(each)]:
            rest["additionalProperties"] = False if False in others else others[-1]
        if rest:
            made.extra.append(rest)
        return listed[:cut], listed[cut + 1 :]

    def _add_all(self, made: Container, listed: list[_Field], items: tuple[int | None, ...]) -> None:
        for name, schema, required in listed:
            made.add(name, schema, items, required=required)

    def step(self, number: int, item: int | None, *, answer: bool = False) -> Json:
        """Return the schema of a step; in a process with what is for the engine beside it."""
        step = self.graph.steps[number]
        if answer and self.in_process:
            return self._answer(step, item)
        if step.executor == "block":
            return self._as_local_part(self.plan.flat.schemas[number], self.plan.keys[number], refers=not self.whole)
        form, given, reads = self._form(step, item), step.arguments, step.reads
        if (
            form.frame is not None
            and len(given) == len(reads) == 1
            and given[0].value is reads[0]
            and given[0].label is None
            and step.timing is NO_TIMING
            and not step.fail
        ):
            return form.frame.given(self.paths.text(reads[0], item))
        schema = form.schema
        if not isinstance(schema, dict) or isinstance(step.content, Constant):
            return schema
        references = self.paths.references(reads, item) if self.in_process else []
        made = schema
        if form.room is not None:
            told = references if self.hints.tells_references else self.hints.told(reads, item)
            if told:
                made = form.room.saying(self.hints.said(told))
        if not self.in_process:
            return made
        if number in self.graph.compound:
            made = self.engines.with_choices(number, made, item)
        return self.engines.beside(dict(made) if made is schema else made, step, references, item)

    def _answer(self, step: Step, item: int | None) -> Json:
        """Return what stands where the server gives the `output` of a step whose inputs are there already."""
        key = suffixed(self.plan.keys[step.number], item)
        made = answer_of(self.plan.flat.schemas[step.number])
        own = self._as_local_part(made, key, refers=step.number in self.plan.flat.referring)
        read = Read.parse(key)
        return beside(own, EngineProperties((read,), read, step.activity, within=step.timing.within, delay=step.timing.delay))

    def place(self, units: Iterable[Unit]) -> Span | None:
        """Return where the first of some units is written."""
        first = next(iter(units), None)
        if isinstance(first, int):
            return self.graph.steps[first].span
        return None if first is None else first.application.span

    def chunk(self, chunk: Chunk, items: tuple[int | None, ...]) -> JsonObject:
        """Return the schema of a chunk of a process."""
        return context(self.graph, chunk, self.container(chunk.units, chunk.answers, items), self.place(chunk.units))

    def _form(self, step: Step, item: int | None) -> Form:
        """Return the schema of a step but for what it reads: of an instruction alone it is made once for all its steps."""
        number = step.number
        if number in self._single:
            return self._new_form(step, item)
        alike = id(self.plan.flat.schemas[number]), step.executor, step.output, step.activity
        form = self._alike.get(alike)
        if form is None:
            form = self._new_form(step, item)
            if self.hints.tells_references and isinstance(form.schema, dict) and step.activity != RUN_PLAN:
                form = Form(form.schema, form.room, self._frame(step, form.schema, form.room))
            self._alike[alike] = form
        return form

    def _frame(self, step: Step, schema: JsonObject, room: DescribedSchema | None) -> Frame:
        engine = EngineProperties(activity=None if step.executor == "model" else step.activity)
        whole = add_words(dict(schema if room is None else room.schema), engine, [], None)
        places: JsonObject = {"references": [], "arguments": None}
        return Frame({**whole, **places}, None if room is None else self.hints.around(room))

    def _new_form(self, step: Step, item: int | None) -> Form:
        schema = self._as_written(step, item)
        hinted = step.executor == "model" and isinstance(
            step.content, Fusion
        )  # steps in an object say for themselves what they read
        return Form(schema, self.hints.room(schema) if hinted and isinstance(schema, dict) else None)

    def _as_written(self, step: Step, item: int | None) -> Json:
        number, flat = step.number, self.plan.flat
        placed = flat.placed.get(number, ())
        alone = self.whole and not placed and number not in self._inner
        refers = number in flat.referring and not alone
        schema = self._as_local_part(flat.schemas[number], self.plan.keys[number], refers=refers)
        if placed:
            schema = self._fill_blocks(schema, placed, item)
        if step.output:
            schema = self._with_output(step, schema)
        elif self.part == "flat" and step.executor != "model":
            schema = self.hints.of_null(with_null_output(schema) if has_output(schema) else nullable(schema))
        if not isinstance(schema, dict) or isinstance(step.content, Constant) or _OWN_WORDS.isdisjoint(schema):
            return schema
        return {keyword: value for keyword, value in schema.items() if keyword not in _OWN_WORDS}

    def _with_output(self, step: Step, schema: Json) -> Json:
        if self.part == "flat":
            return self.hints.of_null(with_null_output(schema))
        if step.executor == "server":
            return answer_of(schema)
        return schema if self.part == "result" else input_part(schema)

    def _as_local_part(self, schema: Json, name: str, *, refers: bool = True) -> Json:
        """Return a schema as part of this document: its definitions at the root, no dialect of its own."""
        if refers:
            schema = self.definitions.hoist(schema, name)
        if isinstance(schema, dict) and ("$schema" in schema or "$id" in schema):
            return {keyword: value for keyword, value in schema.items() if keyword not in {"$schema", "$id"}}
        return schema

    def _fill_blocks(self, schema: Json, placed: tuple[Placed, ...], item: int | None) -> Json:
        """Fill objects of steps into the properties that hold them."""
        for place in placed:
            schema = put_steps(schema, place.slots, self._block(place.block, item), self.definitions, place.block.span)
        return schema

    def _block(self, block: StepObject, item: int | None) -> dict[str, Json]:
        """Return the steps of an object; what is written behind it stands in the slot already, but for what closes it."""
        made = Container({}, [], self.definitions)
        self._fill(made, block.units, (item,), frozenset())
        return made.schema([each for each in block.annotations if closes(each)], block.span)

    def _reading(self, schema: Json, reads: tuple[Path, ...]) -> Json:
        """Return the schema of a slot beside several steps, which has nothing around it that could say what it reads."""
        if not isinstance(schema, dict):
            return schema
        told, room = self.hints.told(reads, None), self.hints.room(schema)
        made = room.saying(self.hints.said(told)) if room is not None and told else dict(schema)
        if not self.in_process:
            return made
        references = self.paths.references(reads, None)
        return add_words(made, NO_ENGINE, references, references[0] if len(references) == 1 else [*references])
