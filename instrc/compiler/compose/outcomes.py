"""The declared schemas of the values of steps and blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from instrc.compiler import ir
from instrc.compiler.bind.values import step_numbers
from instrc.compiler.rounds import Rounds, bodies_by_number
from instrc.process.flow import Constant
from instrc.schema.annotate import nullable
from instrc.schema.flattening.definitions import as_part
from instrc.schema.flattening.parts import ANYTHING, MemberSchema, either, elements, member
from instrc.schema.relations import satisfies
from instrc.schema.strip import is_meta, strip
from instrc.schema.walk import of_other_members, required_names, without
from instrc.text.jsonvalue import Json, JsonObject, as_object, listing, mapping

OUTCOME_SCHEMAS: Final = 5_000
"""Maximum schemas that a block's value may combine; nothing is derived for a larger one."""
RUN_PLAN = "RunPlan_Activity"
NULL: Json = {"type": "null"}
ERROR: Json = {
    "type": "object",
    "properties": {
        "step": {"type": "string"},
        "kind": {"enum": ["failed", "timeout", "invalid", "plan", "limit"]},
        "code": {"type": ["string", "null"]},
        "message": {"type": "string"},
    },
    "required": ["step", "kind", "code", "message"],
}
"""Schema of `error`."""


class Outcomes:
    """The schemas of all paths in a graph; those of steps come from `schemas`, those of blocks are computed here."""

    def __init__(self, graph: ir.Graph, schemas: Mapping[int, Json], *, recorded: bool = False) -> None:
        self.graph = graph
        self._recorded = recorded
        """Whether thoughts and metrics are left out of what blocks give, as in the record of a run."""
        self.schemas = schemas
        self._blocks: dict[int, Json] = {}
        self._unmade = sorted([step.number for step in graph.blocks()])
        """Blocks whose schemas have not been asked for; what is in a block was met before it."""
        self._places = {step.content.body.number: step.content for step in graph.blocks() if type(step.content) is ir.Each}
        self._rounds: dict[int, ir.Repeat] = {}
        for step in graph.blocks():
            if type(step.content) is ir.Repeat:
                self._rounds |= {region.number: step.content for region in ir.regions_of(step.content)}
        self._found = Rounds(bodies_by_number(graph))
        self._open: set[tuple[int, str]] = set()
        self._items: dict[int, Json] = {}

    @property
    def blocks(self) -> dict[int, Json]:
        """The schemas of the values of blocks."""
        self._make_blocks()
        return self._blocks

    def _make_blocks(self) -> None:
        """Compute the values of blocks on first access, as many programs need none."""
        if not self._unmade:
            return
        unmade, self._unmade = self._unmade, []
        for number in unmade:
            schema = self._block(self.graph.steps[number].content)  # type: ignore[arg-type]  # it is among the blocks
            self._blocks[number] = ANYTHING if _size(schema) > OUTCOME_SCHEMAS else schema

    def origin(self, path: ir.Path) -> Json:
        """Return the schema of the head of a path."""
        match path.origin:
            case int(number):
                step = self.graph.steps[number]
                if type(step.content) is ir.StepObject:
                    return ANYTHING
                if step.activity == RUN_PLAN:
                    return self._outcome_of_plan(step)
                if step.executor == "block":
                    self._make_blocks()
                return self._blocks.get(number, self.schemas.get(number, ANYTHING))
            case ir.Local():
                self._make_blocks()
                return self._local(path.origin)
            case name:
                return self.graph.inputs.get(name, ANYTHING)

    def _outcome_of_plan(self, step: ir.Step) -> Json:
        """Return the schema of the outcome of a plan, with the names of its tools."""
        schema = self.schemas.get(step.number, ANYTHING)
        tools = plannable_tools(self.graph, step)
        items = schema.get("items") if isinstance(schema, dict) else None
        if tools is None or not isinstance(schema, dict) or not isinstance(items, dict):
            return schema
        named: JsonObject = {**mapping(items.get("properties")), "tool": {"enum": [tool.name for tool in tools]}}
        return {**schema, "items": {**items, "properties": named}}

    def full(self, path: ir.Path) -> tuple[str, ...]:
        """Return the members of a path, including the `output` of a step without other results."""
        if isinstance(path.origin, int) and self.graph.steps[path.origin].output and not path.tail:
            return ("output",)
        return path.tail

    def find(self, path: ir.Path, there: Collection[ir.Path] = ()) -> MemberSchema:
        """Return the schema at the end of a path; if it is unresolvable, the members available instead of the last one.

        The places `there` on the path are known not to be `null`.
        """
        found = MemberSchema(self.origin(path))
        for place, name in enumerate(self.full(path)):
            if found.schema is None:
                return found
            if there and ir.Path(path.origin, path.tail[:place]) in there:
                found = MemberSchema(without_null(found.schema))
            body = self._found.body_of(ir.Path(path.origin, path.tail[:place])) if self._rounds else None
            if body is None:
                below = member(found.schema, name)
                if below.optional and place == 0 and self._is_answer(path, name):
                    below = replace(below, optional=False)
            elif name in (known := tuple(each for each, _ in self._rounds[body].names)):
                nothing = self._may_be_no_round(path, place, found.schema)
                made = self._previous(body, name)
                given = self._first_values(path, place).get(name)
                made = made if given is None else either([made, self.reading(given)])
                below = MemberSchema(nullable(made) if nothing and given is None else made)
            else:
                below = MemberSchema(None, known)
            found = replace(below, optional=True) if found.optional else below
        return found

    def _is_answer(self, path: ir.Path, name: str) -> bool:
        """Return whether a member is the `output` of a step, which the server provides whatever the schema requires."""
        return name == "output" and isinstance(path.origin, int) and self.graph.steps[path.origin].output

    def _may_be_no_round(self, path: ir.Path, place: int, schema: Json) -> bool:
        """Return whether a round on a path may be missing: `previous` of the first one, and what depends on it."""
        first = isinstance(path.origin, ir.Local) and path.origin.kind == "previous" and place == 0
        return first or satisfies(None, schema) is not False

    def _first_values(self, path: ir.Path, place: int) -> dict[str, ir.Reading]:
        """Return the values of names in the first round, if a place of a path is the preceding round."""
        origin = path.origin
        if place or not isinstance(origin, ir.Local) or origin.kind != "previous":
            return {}
        return {each.name: each.value for each in self._rounds[origin.block].first or ()}

    def may_be_null(self, path: ir.Path, there: Collection[ir.Path] = ()) -> bool:
        """Return whether a path may be `null` or unresolvable by the schemas; undescribed parts count as in `find`."""
        found = self.find(path, there)
        schema = found.schema
        return schema is not None and (found.optional or (schema not in (True, ANYTHING) and satisfies(None, schema) is True))

    def path(self, path: ir.Path) -> Json:
        """Return the schema at the end of a path, or an open one if it is unresolvable."""
        schema = self.find(path).schema
        return ANYTHING if schema is None else schema

    def reading(self, reading: ir.Reading) -> Json:
        """Return the schema of the value of a block, as a part of another."""
        match reading:
            case ir.Path(origin, tail):
                step = self.graph.steps[origin] if isinstance(origin, int) else None
                found = as_part(self.path(reading), "schema" if step is None else step.base_name)
                if not self._recorded or step is None or step.executor == "block" or any(map(is_meta, tail)):
                    return found
                return strip(found, ("thoughts", "metrics"))  # a step passes these and metrics on only if a path names them
            case Constant(value):
                return {"const": value}
            case ir.ObjectReading(members):
                properties = {name: self.reading(each) for name, each in members}
                return (
                    {"type": "object", "properties": properties, "required": list(properties)}
                    if properties
                    else {"type": "object"}
                )

    def fails(self, region: ir.Region) -> bool:
        """Return whether a body ends in a step that never has a result."""
        path = region.value
        return isinstance(path, ir.Path) and isinstance(path.origin, int) and self.graph.steps[path.origin].fail

    def _block(self, content: ir.Block) -> Json:
        given = ir.gives(content)
        values = [self.reading(region.value) for region in given.ones if not self.fails(region)]
        if given.listed is not None:
            bounds = {} if given.count is None else {"minItems": given.count, "maxItems": given.count}
            items = self.reading(given.listed.value)
            whole: Json = {"type": "array", "items": nullable(items) if given.null else items, **bounds}
            return either([whole, *values]) if values else whole
        value = either(values) if values else NULL
        return value if not given.null else nullable(value) if value is not False else NULL

    def _local(self, origin: ir.Local) -> Json:
        match origin.kind:
            case "error":
                return ERROR
            case "item":
                return self._item(origin.block)
            case "round":
                return {"type": "integer", "minimum": 1, "maximum": self._rounds[origin.block].most}
            case "previous":
                return {"type": "object" if self._rounds[origin.block].first is not None else ["object", "null"]}
            case "rounds":
                return {"type": "array", "items": {"type": "object"}}

    def _item(self, body: int) -> Json:
        """Return the schema of the element of a body."""
        if body in self._items:
            return self._items[body]
        source = (self._places.get(body) or self._rounds[body]).source
        assert source is not None  # a `repeat` without a list has no element
        if isinstance(source, int):
            return {"type": "integer", "minimum": 1, "maximum": source}
        whole = self.path(source)
        listed = elements(whole)
        schema: Json = COUNTED if is_count_schema(whole) else ANYTHING if listed is None else listed
        if not self._open:  # otherwise it may depend on a name whose schema is still being computed
            self._items[body] = schema
        return schema

    def _previous(self, block: int, name: str) -> Json:
        """Return the narrowest suitable schema of the value of a block's name in the previous round."""
        if (block, name) in self._open:
            return False
        self._open.add((block, name))
        reading = dict(self._rounds[block].names).get(name)
        made = ANYTHING if reading is None else self.reading(reading)
        self._open.discard((block, name))
        return made


COUNTED: Json = {"type": "integer", "minimum": 1}
"""Schema of the element in a block that counts to a number from data."""


def is_count_schema(schema: Json) -> bool:
    """Return whether a schema requires an integer, so that a block counts to it."""
    return isinstance(schema, dict) and schema.get("type") == "integer"


def _size(schema: Json) -> int:
    count = 0
    waiting: list[Json] = [schema]
    while waiting and count <= OUTCOME_SCHEMAS:
        node = waiting.pop()
        count += 1
        if isinstance(node, dict):
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return count


PLANNED_PLACES: Final = 10_000
"""Maximum places of a schema searched for plans."""


def choices_of(content: ir.Content) -> list[tuple[tuple[str, ...], ir.Planned | ir.Among]]:
    """Return the choices that fill a step's properties, each with the names that lead to it."""
    found: list[tuple[tuple[str, ...], ir.Planned | ir.Among]] = []
    waiting: list[tuple[tuple[str, ...], ir.Content]] = [((), content)]
    while waiting:
        way, each = waiting.pop()
        if isinstance(each, ir.Fusion):
            for slot in each.all_slots:
                if slot.engine is not None:
                    found.append(((*way, slot.name), slot.engine))
                waiting.append(((*way, slot.name), slot.content))
    return found


def files_of_processes(graph: ir.Graph) -> list[tuple[str, str]]:
    """Return the address and file of each process that plans of a program may call."""
    engines = [engine for step in graph.compounds() for _, engine in choices_of(step.content)]
    tools = [tool for engine in engines if isinstance(engine, ir.Planned) for tool in engine.tools]
    return list(dict.fromkeys((tool.target, tool.file) for tool in tools if tool.file is not None))


def plannable_tools(graph: ir.Graph, step: ir.Step) -> tuple[ir.PlannableTool, ...] | None:
    """Return the tools of the plan executed by a `RunPlan_Activity` step, or `None` if its input is not a single plan."""
    plans = plans_of(graph, step)
    return None if plans is None else tuple({tool.name: tool for planned in plans for tool in planned.tools}.values())


def plans_of(graph: ir.Graph, step: ir.Step, earlier: set[int] | None = None) -> tuple[ir.Planned, ...] | None:
    """Return each `Plan(…)` that may be the input of a `RunPlan_Activity` step, or `None` if it is not a single plan.

    With a label or another value, the engine would receive an object or list that contains the plan.
    `earlier` collects the numbers of the bodies from whose previous round a plan may come.
    """
    given = [argument.value for argument in step.arguments if argument.label is None and isinstance(argument.value, ir.Path)]
    if len(given) != len(step.arguments) or len(given) != 1:
        return None
    found: list[ir.Planned] = []
    waiting: list[tuple[ir.Reading, tuple[str, ...]]] = [(path, ()) for path in given]
    for _ in range(PLANNED_PLACES):
        if not waiting:
            break
        reading, tail = waiting.pop()
        match reading:
            case ir.ObjectReading(members):
                if tail:
                    waiting.extend((member, tail[1:]) for name, member in members if name == tail[0])
            case ir.Path(origin, own):
                if earlier is not None and isinstance(origin, ir.Local) and origin.kind == "previous":
                    earlier.add(origin.block)
                planned, below = _behind(graph, origin, (*own, *tail))
                waiting.extend(below)
                if planned is not None:
                    found.append(planned)
            case Constant():
                pass
    return tuple(found) or None


def _behind(
    graph: ir.Graph, origin: str | int | ir.Local, tail: tuple[str, ...]
) -> tuple[ir.Planned | None, list[tuple[ir.Reading, tuple[str, ...]]]]:
    """Return the plan at the end of a path, or the other values there."""
    if isinstance(origin, ir.Local):
        for step in graph.steps.values():
            content = step.content
            if isinstance(content, ir.Each | ir.Repeat) and content.body.number == origin.block:
                if origin.kind == "item" and isinstance(content.source, ir.Path):
                    return None, [(content.source, tail)]
                if origin.kind == "previous" and isinstance(content, ir.Repeat) and tail:
                    return None, [(reading, tail[1:]) for name, reading in content.names if name == tail[0]]
        return None, []
    if isinstance(origin, str):
        return None, []
    content = graph.steps[origin].content
    regions = ir.regions_of(content)
    if regions:
        return None, [(region.value, tail) for region in regions]
    fits = (engine for way, engine in choices_of(content) if way == tail and isinstance(engine, ir.Planned))
    return next(fits, None), []


def without_null(schema: Json) -> Json:
    """Return the schema of a value that is not `null`."""
    if not isinstance(schema, dict):
        return schema
    if schema.keys() == {"anyOf"}:
        return either([without_null(each) for each in listing(schema["anyOf"]) if each not in (NULL, {"const": None})])
    types = schema.get("type")
    return {**schema, "type": [each for each in types if each != "null"]} if isinstance(types, list) else schema


def optional_arguments(graph: ir.Graph, outcomes: Outcomes) -> frozenset[tuple[int, str]]:
    """Return the named arguments that are omitted if `null`, by step."""
    found = (each for each in excluding(graph, outcomes) if not each[2])
    return frozenset((step.number, label) for step, label, _ in found)


def excluding(graph: ir.Graph, outcomes: Outcomes) -> Iterator[tuple[ir.Step, str, bool]]:
    """Yield the arguments that may be `null` although their schema excludes it, and whether they are required."""
    for step in graph.awaited():
        if step.executor != "server" or not step.output:
            continue
        properties, required = inputs_of(step, outcomes.schemas.get(step.number))
        for argument in step.arguments:
            label, value = argument.label, argument.value
            schema = properties.get(label) if label is not None else None
            if label is None or schema is None or not isinstance(value, ir.Path):
                continue
            if satisfies(None, schema) is False and outcomes.may_be_null(value):
                yield step, label, label in required


def non_null_paths(graph: ir.Graph) -> dict[int, set[ir.Path]]:
    """Return the paths that cannot be `null` where a step runs, by the conditions of an enclosing `when`, and those to them."""
    found: dict[int, set[ir.Path]] = {}
    for block in graph.blocks():
        nulls: list[ir.Path] = []
        """What was `null` in an earlier branch."""
        for branch in block.content.branches if isinstance(block.content, ir.When) else ():
            cases = ir.alternatives(branch.condition)
            asked = [{test.path for test in case if test.compared or satisfies(None, test.schema) is False} for case in cases]
            sure = [*nulls, *(set.intersection(*asked) if asked else ())]
            there = {ir.Path(path.origin, path.tail[:size]) for path in sure for size in range(len(path.tail) + 1)}
            for number in _steps_in(graph, branch.body) if sure else ():
                found.setdefault(number, set()).update(there)
            alone = [case[0] for case in cases if len(case) == 1]
            nulls += [test.path for test in alone if satisfies(None, test.schema) is True]
    return found


def _steps_in(graph: ir.Graph, body: ir.Region) -> Iterator[int]:
    """Yield the steps of a body and its nested blocks."""
    waiting = [body]
    while waiting:
        for number in step_numbers(waiting.pop().units):
            yield number
            waiting += ir.regions_of(graph.steps[number].content)


def inputs_of(step: ir.Step, schema: Json | None) -> tuple[dict[str, Json], list[str]]:
    """Return the inputs of a directly called activity: its properties other than `output`."""
    if not isinstance(step.content, ir.Fusion) or not isinstance(schema, dict):
        return {}, []
    properties = {name: each for name, each in mapping(schema.get("properties")).items() if name != "output"}
    return properties, required_names(schema)


def inputs_beside_output(step: ir.Step, schema: Json) -> JsonObject | None:
    """Return what a directly called activity may be given, beside any `output`, or `None` if its vibe does not say so."""
    if step.executor != "server" or not step.output or not inputs_of(step, schema)[0]:
        return None
    return of_other_members(without(as_object(schema), "title", "description"), "output")
