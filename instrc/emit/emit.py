"""Plan to artefact: the documents of one export."""

from __future__ import annotations

from instrc.emit.blocks import definition_name
from instrc.emit.contexts import context
from instrc.emit.definitions import DocumentDefinitions
from instrc.emit.hints import Purpose
from instrc.emit.paths import Paths
from instrc.emit.process import process_document
from instrc.emit.step_schemas import StepSchemas
from instrc.flattening.strip import strip
from instrc.ir.artefact import Artefact, Emit
from instrc.ir.fusion import Argument, Unit
from instrc.ir.plan import Plan
from instrc.ir.process import NOTHING, Process
from instrc.ir.reads import written_value
from instrc.jsonvalue import LATEST_DRAFT, Json, JsonObject, as_object


def emit(plan: Plan, *, batch: int, hint: str | None) -> Artefact:
    """Return the documents of a plan; `hint` is the sentence for descriptions, `None` for none, `batch` the number of items."""
    title = _title(plan)
    shape = "process" if plan.shape == "call" and batch > 1 else plan.shape
    bare = plan.bare and batch <= 1
    documents: dict[Emit, JsonObject] = {}
    paths = Paths(plan)

    def schemas_for(part: Purpose) -> StepSchemas:
        items = (None,) if batch <= 1 else tuple(range(1, batch + 1))
        names = (definition_name(chunk, item) for chunk in plan.walk() for item in {None, *items})
        definitions = DocumentDefinitions(names if part == "process" else ())
        return StepSchemas(plan, part, paths, batch=batch, hint=hint, definitions=definitions, whole=bare)

    schemas = schemas_for("tool")
    tool = _entry(plan, schemas, title, bare=bare, stripped="engine")
    documents["tool"] = tool
    if shape == "process":
        documents["result"] = _all_steps(plan, schemas_for("result"), title, {"all"})
        documents["flat"] = _all_steps(plan, schemas_for("flat"), title, {"engine"})
        documents["process"] = process_document(plan, schemas_for("process"), title)
    elif plan.flat.graph.has_flow:  # a path may lead to a thought, and the result has none to speak of
        documents["result"] = _entry(plan, schemas_for("result"), title, bare=bare, stripped="all")
    else:
        documents["result"] = as_object(strip(tool, {"all"}))
    if shape == "call":
        documents["call"] = _call(plan, schemas, tool)
    return Artefact(plan.flat.graph.name, title, documents, plan)


def _entry(plan: Plan, schemas: StepSchemas, title: str | None, *, bare: bool, stripped: str) -> JsonObject:
    """Return what the model is asked for first: one step or the first chunk; nothing if that is not the model's."""
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


def process_of(plan: Plan, *, hint: str | None) -> Process:
    """Return the process of a plan whatever its shape: a tool by itself is a process of one chunk."""
    definitions = DocumentDefinitions(definition_name(chunk) for chunk in plan.walk())
    schemas = StepSchemas(plan, "process", Paths(plan), batch=1, hint=hint, definitions=definitions, whole=False)
    return Process.from_json(process_document(plan, schemas, _title(plan)))


def _title(plan: Plan) -> str | None:
    """Return the goal, else a single step's own title, else the name that `tool` gives."""
    graph = plan.flat.graph
    if graph.goal is not None:
        return graph.goal
    if len(graph.units) == 1 and isinstance(graph.units[0], int):
        schema = plan.flat.schemas[graph.units[0]]
        if isinstance(schema, dict) and isinstance(schema.get("title"), str):
            return str(schema["title"])
    return graph.tool


def document(schema: Json, title: str | None, definitions: DocumentDefinitions, *, keep_title: bool = False) -> JsonObject:
    """Return a schema as a whole document: dialect and title first, definitions last."""
    document: JsonObject = {"$schema": LATEST_DRAFT}
    if isinstance(schema, bool):  # as an object, which has room for what a document says of itself
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


def _all_steps(plan: Plan, schemas: StepSchemas, title: str | None, stripped: set[str]) -> JsonObject:
    """Return all steps as one object, without chunks."""
    seen: set[int] = set()
    units: list[Unit] = []
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


def _call(plan: Plan, schemas: StepSchemas, tool: JsonObject) -> JsonObject:
    """Return a direct call: what to call with what, once the tool is filled in."""
    unit = plan.chunks[1].units[0]
    step = plan.flat.graph.steps[unit] if isinstance(unit, int) else None
    arguments: tuple[Argument, ...] = step.arguments if step else ()
    return {
        "activity": step.activity if step else None,
        "arguments": written_value(schemas.paths.arguments(arguments, None)),
        "tool": tool,
    }
