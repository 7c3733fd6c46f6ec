"""Plan to artefact: the documents of one export."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from instrc.compiler import ir
from instrc.compiler.bind.values import step_numbers
from instrc.compiler.emit.paths import Paths, suffixed
from instrc.compiler.emit.step_schemas import Purpose, StepSchemas, context
from instrc.process import flow
from instrc.process.flow import Chunk as ProcessChunk
from instrc.process.flow import Constant, Executor, written_value
from instrc.process.process import NOTHING, Process
from instrc.process.process_json import CHUNK, CONTEXT, references_to, write_block
from instrc.schema.document_definitions import DocumentDefinitions
from instrc.schema.strip import is_meta, strip
from instrc.text.jsonvalue import LATEST_DRAFT, Json, JsonObject, as_object
from instrc.text.sentences import Sentences
from instrc.text.source import Span


def emit(plan: ir.Plan, *, batch: int, sentences: Sentences | None) -> ir.Artefact:
    """Return the documents of a plan; `hint` is the sentence for descriptions or `None`, `batch` the number of items."""
    title = _title(plan)
    shape = "process" if plan.shape == "call" and batch > 1 else plan.shape
    bare = plan.bare and batch <= 1
    documents: dict[ir.Emit, JsonObject] = {}
    paths = Paths(plan)
    told: dict[tuple[ir.HintedPath, ...], None] = {}

    def schemas_for(part: Purpose) -> StepSchemas:
        items = (None,) if batch <= 1 else tuple(range(1, batch + 1))
        names = (definition_name(chunk, item) for chunk in plan.walk() for item in {None, *items})
        definitions = DocumentDefinitions(names if part == "process" else ())
        made = StepSchemas(plan, part, paths, batch=batch, sentences=sentences, definitions=definitions, whole=bare)
        made.hints.written = told
        return made

    schemas = schemas_for("tool")
    tool = _entry(plan, schemas, title, bare=bare, stripped="engine")
    documents["tool"] = tool
    if shape == "process":
        documents["result"] = _all_steps(plan, schemas_for("result"), title, {"all"})
        documents["flat"] = _all_steps(plan, schemas_for("flat"), title, {"engine"})
        documents["process"] = process_document(plan, schemas_for("process"), title)
    elif plan.flat.graph.has_flow or any(map(is_meta, plan.keys.values())):  # hints may name a thought
        documents["result"] = _entry(plan, schemas_for("result"), title, bare=bare, stripped="all")
    else:
        documents["result"] = as_object(strip(tool, {"all"}))
    if shape == "call":
        documents["call"] = _call(plan, schemas, tool)
    return ir.Artefact(
        plan.flat.graph.name,
        title,
        documents,
        plan,
        ir.Hinted(tuple(("" if sentences is None else sentences.hint).split("{paths}")), tuple(told)),
    )


def _title(plan: ir.Plan) -> str | None:
    """Return the goal, or else the title of a single step, or else the name in `tool`."""
    graph = plan.flat.graph
    if graph.goal is not None:
        return graph.goal
    if len(graph.units) == 1 and isinstance(graph.units[0], int):
        schema = plan.flat.schemas[graph.units[0]]
        if isinstance(schema, dict) and isinstance(schema.get("title"), str):
            return str(schema["title"])
    return graph.tool


def _entry(plan: ir.Plan, schemas: StepSchemas, title: str | None, *, bare: bool, stripped: str) -> JsonObject:
    """Return the model's first call: one step or the first chunk, or an empty schema if that is not the model's."""
    first = plan.chunks[0]
    if bare:
        unit = first.units[0]
        entry = schemas.step(unit, None) if isinstance(unit, int) else {}
    elif first.executor == "model":
        entry = context(plan.flat.graph, first, schemas.container(first.units), schemas.place(first.units))
    else:
        entry = NOTHING
    whole = document(entry, title, schemas.definitions, keep_title=bare and plan.flat.graph.goal is None)
    return as_object(strip(whole, {stripped}))


def _all_steps(plan: ir.Plan, schemas: StepSchemas, title: str | None, stripped: set[str]) -> JsonObject:
    """Return all steps as one object, without chunks."""
    seen: set[int] = set()
    units: list[ir.Unit] = []
    for chunk in plan.chunks:
        if chunk.executor == "else":
            continue
        for unit in chunk.units:
            if chunk.block is not None and unit not in plan.keys:
                continue
            if not isinstance(unit, int) or unit not in seen:
                units.append(unit)
            if isinstance(unit, int):
                seen.add(unit)
    return as_object(
        strip(document(schemas.container(units).schema(at=schemas.place(units)), title, schemas.definitions), stripped)
    )


def _call(plan: ir.Plan, schemas: StepSchemas, tool: JsonObject) -> JsonObject:
    """Return a direct call: the callee and its arguments, once the tool is completed."""
    unit = plan.chunks[1].units[0]
    step = plan.flat.graph.steps[unit] if isinstance(unit, int) else None
    arguments: tuple[ir.Argument, ...] = step.arguments if step else ()
    return {
        "activity": step.activity if step else None,
        "arguments": written_value(schemas.paths.arguments(arguments, None)),
        "tool": tool,
    }


_CONTEXTS = {str(each): name for each, name in CONTEXT.items()} | {word: f"{word}Context" for word in flow.FORMS}
_CHUNKS = {str(each): name for each, name in CHUNK.items()} | {word: word.upper() for word in flow.FORMS}


def context_name(chunk: ir.Chunk, item: int | None = None) -> str:
    """Return the name of a chunk among the properties of a process."""
    return suffixed(f"{_CONTEXTS[chunk.executor]}{chunk.index}", item)


def definition_name(chunk: ir.Chunk, item: int | None = None) -> str:
    """Return the name of a chunk among the definitions."""
    return suffixed(f"{_CHUNKS[chunk.executor]}_{chunk.index}", item)


class Blocks:
    """Converts the blocks of a plan to those of a process."""

    def __init__(self, plan: ir.Plan, paths: Paths) -> None:
        self.plan = plan
        self.paths = paths

    @cached_property
    def _of(self) -> dict[tuple[int | None, bool], ir.Chunk]:
        """The chunks of each `repeat`: of its rounds, and of its `else`."""
        return {
            (chunk.block, chunk.executor == "else"): chunk for chunk in self.plan.walk() if chunk.executor in {"repeat", "else"}
        }

    def context(
        self, chunk: ir.Chunk, name: str, definition: str, item: int | None, inside: Mapping[str, flow.Context]
    ) -> flow.Block:
        """Return a block, or the `else` of a `repeat`; `inside` are its contexts by name."""
        step = self.plan.flat.graph.steps[chunk.units[0]]  # type: ignore[index]  # a block is a single step
        about: JsonObject | None = None if step.about is None else {"description": step.about}
        key = suffixed(self.plan.keys[step.number], item) if step.number in self.plan.keys else None
        timing = step.timing
        after = self.paths.after(step.number, item)
        common = flow.Common(key=key, within=timing.within, delay=timing.delay, after=after, about=about, definition=definition)

        def body(region: ir.Region) -> flow.Body:
            contexts = tuple([inside[context_name(each, item)] for each in self.plan.inside[region.number]])
            return flow.Body(contexts, self.paths.value(region.value, item), None, self.paths.shown(region, item))

        match step.content:
            case ir.Each() as each:
                return self._each(name, each, body(each.body), common, item)
            case ir.Repeat(otherwise=ir.Region() as otherwise) if chunk.executor == "else":
                return flow.Else(name, context_name(self._of[step.number, False], item), body(otherwise), None, definition)
            case ir.Repeat() as repeat:
                other = self._of.get((step.number, True))
                return self._repeat(
                    name, repeat, body(repeat.body), common, item, None if other is None else context_name(other, item)
                )
            case content:
                parts = ir.parts_of(content)
                branches = [flow.Branch(self.paths.condition(each.condition, item), body(each.region)) for each in parts]
                return flow.branched(ir.word_of(content), name, tuple(branches), common)  # type: ignore[arg-type]  # a block

    def _each(self, name: str, content: ir.Each, body: flow.Body, common: flow.Common, item: int | None) -> flow.Each:
        selection = self._selection(content.selection, item)
        counted = content.source if isinstance(content.source, int) and selection is None else None
        source = self.paths.read(content.source, item) if not isinstance(content.source, int) else Constant(content.source)
        most = content.most if counted is None else counted
        until = self.paths.condition(content.until, item)
        element = self.plan.elements[content.body.number]
        return flow.Each(name, element, source, body, most, least=counted, until=until, selection=selection, **common)

    def _selection(self, chosen: ir.Selection, item: int | None) -> flow.Selection | None:
        if chosen == ir.Selection():
            return None
        first = self._source(chosen.first, item)
        most = None if chosen.most is None else self.paths.read(chosen.most, item)
        return flow.Selection(self.paths.condition(chosen.tests, item), most, first)

    def _repeat(
        self, name: str, content: ir.Repeat, body: flow.Body, common: flow.Common, item: int | None, otherwise: str | None
    ) -> flow.Repeat:
        return flow.Repeat(
            name,
            body,
            self.paths.condition(content.until, item),
            None if content.source is None else self.plan.elements[content.body.number],
            self._source(content.source, item),
            content.most,
            content.keep,
            self.paths.hands(content, item) if content.handed else None,
            otherwise,
            least=_least(content),
            first=self.paths.first(content, item) if content.handed else None,
            selection=self._selection(content.selection, item),
            **common,
        )

    def _source(self, source: ir.Path | int | None, item: int | None) -> flow.Value | None:
        return self.paths.read(source, item) if isinstance(source, ir.Path) else None if source is None else Constant(source)


def _least(content: ir.Repeat) -> int:
    """Return the minimum number of rounds."""
    if content.selection != ir.Selection():
        return 0
    if isinstance(content.source, int):
        return 1 if content.until else content.source
    return 1 if content.source is None else 0


def process_document(plan: ir.Plan, schemas: StepSchemas, title: str | None) -> JsonObject:
    """Return the JSON of the process of a plan, from its rendered steps."""
    blocks = Blocks(plan, schemas.paths)
    graph = plan.flat.graph
    definitions: JsonObject = {}
    known: dict[str, flow.Context] = {}
    """By name; chunks as the bodies around them need them, without their steps: these are written at once."""
    waiting: list[tuple[ir.Chunk, int | None, str, str]] = []
    """Blocks with their names, each before what is in it."""
    names: list[str] = []
    for chunk in plan.chunks:
        # a block is repeated an item, steps are multiplied inside theirs
        once = (None,) if chunk.block is None else schemas.items
        for item in once:
            for each in ir.all_chunks(graph, (chunk,), plan.inside):
                name, definition = context_name(each, item), definition_name(each, item)
                if each is chunk:
                    names.append(name)
                if each.block is not None:
                    definitions[definition] = None  # it keeps its place
                    waiting.append((each, item, name, definition))
                    continue
                executor: Executor = each.executor  # type: ignore[assignment]  # a chunk of one executor
                known[name] = ProcessChunk(name, executor, (), None, definition)
                definitions[definition] = schemas.chunk(each, schemas.items if chunk.block is None else (item,))
    for block, item, name, definition in reversed(waiting):
        made = known[name] = blocks.context(block, name, definition, item, known)
        definitions[definition] = write_block(made)
    value = None
    if graph.value is not None and len(schemas.items) == 1 and not _is_last(graph.value, plan):
        value = schemas.paths.value(graph.value)
    inputs = None
    if schemas.paths.quoted or any(graph.inputs.values()):
        inputs = {suffixed(name, item): each for name, each in graph.inputs.items() for item in schemas.items}
    body = flow.Body(tuple([known[name] for name in names]), value)
    return Process(body, title, inputs, schemas.definitions.schemas).with_contexts(
        references_to(body.contexts), definitions, ordered=bool(plan.after)
    )


def _is_last(value: ir.Reading, plan: ir.Plan) -> bool:
    """Return whether a value is that of the record's last key, the default result of a run."""
    return isinstance(value, ir.Path) and not value.tail and value.origin == step_numbers(plan.chunks[-1].units)[-1]


def process_of(plan: ir.Plan, *, sentences: Sentences | None) -> Process:
    """Return the process of a plan of any shape: a lone tool is a process of one chunk."""
    definitions = DocumentDefinitions(definition_name(chunk) for chunk in plan.walk())
    schemas = StepSchemas(plan, "process", Paths(plan), batch=1, sentences=sentences, definitions=definitions, whole=False)
    return Process.from_json(process_document(plan, schemas, _title(plan)))


def document(schema: Json, title: str | None, definitions: DocumentDefinitions, *, keep_title: bool = False) -> JsonObject:
    """Return a schema as a complete document: dialect and title first, definitions last."""
    document: JsonObject = {"$schema": LATEST_DRAFT}
    if isinstance(schema, bool):  # as an object, which can hold a document's own members
        schema = {} if schema else {"not": {}}
    schema = as_object(schema)
    if keep_title and "title" in schema:
        document.update(schema)
    else:
        if title is not None:
            document["title"] = title
        document.update((keyword, value) for keyword, value in schema.items() if keyword != "title")
    if definitions.schemas:
        document["$defs"] = definitions.schemas
    return document


def located_process(artefact: ir.Artefact) -> tuple[Process, dict[str, Span]]:
    """Return an artefact as a process, and the program's place of each step, by key."""
    plan = artefact.plan
    if plan is None:
        return Process.from_json(artefact.documents.get("process") or _as_process(artefact)), {}
    places = {key: plan.flat.graph.steps[number].span for number, key in plan.keys.items() if number in plan.flat.graph.steps}
    written = artefact.documents.get("process")
    return process_of(plan, sentences=None) if written is None else Process.from_json(written), places


def _as_process(artefact: ir.Artefact) -> Json:
    """Return the tool of a vibe file as a process of one chunk with one step."""
    tool = artefact.documents["tool"]
    definitions = tool.get("$defs", {}) if isinstance(tool, dict) else {}
    chunk: JsonObject = {"type": "object", "properties": {artefact.name: tool}, "required": [artefact.name]}
    title: JsonObject = {"title": artefact.title} if artefact.title else {}
    contexts: JsonObject = {"llmContext1": chunk}
    return {**title, "type": "object", "properties": contexts, "required": ["llmContext1"], "$defs": definitions}
