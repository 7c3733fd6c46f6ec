"""What can be read of steps and blocks: the schema of each value, as far as the schemas of the steps say it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from instrc.flattening.definitions import as_part
from instrc.flattening.members import ANYTHING, MemberSchema, either, elements, member
from instrc.flattening.nullable import nullable
from instrc.flattening.strip import is_meta, strip
from instrc.ir.blocks import Block, Do, Each, Region, Repeat, Try, When, regions_of
from instrc.ir.fusion import StepObject
from instrc.ir.graph import Graph, Step
from instrc.ir.paths import Local, ObjectReading, Path, Reading
from instrc.ir.reads import Constant
from instrc.ir.rounds import Rounds, bodies_by_number
from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.limits.programs import OUTCOME_SCHEMAS
from instrc.passes.compose.planned import RUN_PLAN, plannable_tools
from instrc.schema.evaluation import satisfies

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
"""What `error` is."""
NULL: Json = {"type": "null"}


class Outcomes:
    """The schemas of all that a graph's paths lead to; steps are looked up in `schemas`, blocks are worked out here."""

    def __init__(self, graph: Graph, schemas: Mapping[int, Json], *, recorded: bool = False) -> None:
        self.graph = graph
        self._recorded = recorded
        """Whether thoughts and metrics are left out of what blocks give, as in the record of a run."""
        self.schemas = schemas
        self._blocks: dict[int, Json] = {}
        self._unmade = sorted([step.number for step in graph.blocks()])
        """Blocks whose schemas have not been asked for; what is in a block was met before it."""
        self._places = {step.content.body.number: step.content for step in graph.blocks() if type(step.content) is Each}
        self._rounds: dict[int, Repeat] = {}
        for step in graph.blocks():
            if type(step.content) is Repeat:
                self._rounds |= {region.number: step.content for region in regions_of(step.content)}
        self._found = Rounds(bodies_by_number(graph))
        self._open: set[tuple[int, str]] = set()
        self._items: dict[int, Json] = {}
        self._parts: dict[tuple[int, str], tuple[Json, Json]] = {}
        """What schemas are as parts of others, beside these, by their identity and a name: many blocks end in the same."""
        self._handed_on: dict[int, tuple[Json, Json]] = {}
        """What steps give without thoughts and metrics, beside what they give, by the identity of that."""
        self._members: dict[tuple[int, str], tuple[Json, MemberSchema]] = {}
        """What was found out about members, beside the schemas they were looked for in, by the identity of these."""
        self._eithers: dict[tuple[int, ...], tuple[list[Json], Json]] = {}
        """What one of some schemas admits, beside these, by their identities."""

    @property
    def blocks(self) -> dict[int, Json]:
        """The schemas of what blocks give."""
        self._make_blocks()
        return self._blocks

    def _make_blocks(self) -> None:
        """Work out what blocks give, when that or a path is asked for first: many programs have none that needs a look."""
        if not self._unmade:
            return
        unmade, self._unmade = self._unmade, []
        small: set[int] = set()
        """Schemas of blocks by identity, which are kept here: many blocks give the same."""
        for number in unmade:
            made = self._block(self.graph.steps[number].content)  # type: ignore[arg-type]  # it is among the blocks
            if id(made) not in small:
                if _size(made) > OUTCOME_SCHEMAS:
                    made = ANYTHING
                small.add(id(made))
            self._blocks[number] = made

    def origin(self, path: Path) -> Json:
        """Return the schema of what a path begins with."""
        match path.origin:
            case int(number):
                step = self.graph.steps[number]
                if type(step.content) is StepObject:
                    return ANYTHING
                if step.activity == RUN_PLAN:
                    return self._outcome_of_plan(step)
                return self._blocks.get(number, self.schemas.get(number, ANYTHING))
            case Local():
                return self._local(path.origin)
            case name:
                return self.graph.inputs.get(name, ANYTHING)

    def _outcome_of_plan(self, step: Step) -> Json:
        """Return the schema of what becomes of a plan, with the names of its tools."""
        schema = self.schemas.get(step.number, ANYTHING)
        tools = plannable_tools(self.graph, step)
        items = schema.get("items") if isinstance(schema, dict) else None
        if tools is None or not isinstance(schema, dict) or not isinstance(items, dict):
            return schema
        named: JsonObject = {**mapping(items.get("properties")), "tool": {"enum": [tool.name for tool in tools]}}
        return {**schema, "items": {**items, "properties": named}}

    def full(self, path: Path) -> tuple[str, ...]:
        """Return the members of a path, the `output` of a step that gives back nothing else included."""
        if isinstance(path.origin, int) and self.graph.steps[path.origin].output and not path.tail:
            return ("output",)
        return path.tail

    def find(self, path: Path) -> MemberSchema:
        """Return what a path leads to; where it leads nowhere, what there is instead of its last member."""
        self._make_blocks()
        found = MemberSchema(self.origin(path))
        for place, name in enumerate(self.full(path)):
            if found.schema is None:
                return found
            body = self._found.body_of(Path(path.origin, path.tail[:place])) if self._rounds else None
            if body is None:
                below = self._member(found.schema, name)
                if below.optional and place == 0 and self._is_answer(path, name):
                    below = replace(below, optional=False)
            elif name in (known := tuple(each for each, _ in self._rounds[body].names)):
                nothing = self._may_be_no_round(path, place, found.schema)
                made = self._previous(body, name)
                below = MemberSchema(nullable(made) if nothing else made)
            else:
                below = MemberSchema(None, known)
            found = replace(below, optional=True) if found.optional else below
        return found

    def _is_answer(self, path: Path, name: str) -> bool:
        """Tell whether a member is the `output` of a step: the server gives it, whatever the schema requires of arguments."""
        return name == "output" and isinstance(path.origin, int) and self.graph.steps[path.origin].output

    def _member(self, schema: Json, name: str) -> MemberSchema:
        known = self._members.get((id(schema), name))
        if known is None:
            known = self._members[id(schema), name] = schema, member(schema, name)
        return known[1]

    def _may_be_no_round(self, path: Path, place: int, schema: Json) -> bool:
        """Tell whether a round at some place of a path may not be there: `previous` of the first one, and what gives that."""
        first = isinstance(path.origin, Local) and path.origin.kind == "previous" and place == 0
        return first or satisfies(None, schema) is not False

    def may_be_null(self, path: Path) -> bool:
        """Tell whether a path may lead to `null`, or nowhere, as far as the schemas say so in words."""
        found = self.find(path)
        schema = found.schema
        return schema is not None and (found.optional or (schema not in (True, ANYTHING) and satisfies(None, schema) is True))

    def path(self, path: Path) -> Json:
        """Return the schema of what a path leads to; of one that leads nowhere nothing is said."""
        if not self.full(path):
            self._make_blocks()
            return self.origin(path)
        schema = self.find(path).schema
        return ANYTHING if schema is None else schema

    def reading(self, reading: Reading) -> Json:
        """Return the schema of what a block gives, as a part of another."""
        match reading:
            case Path(origin, tail):
                step = self.graph.steps[origin] if isinstance(origin, int) else None
                found = self._as_part(self.path(reading), "schema" if step is None else step.base_name)
                if not self._recorded or step is None or step.executor == "block" or any(map(is_meta, tail)):
                    return found
                return self._without_thoughts(found)  # a step passes on neither these nor metrics, unless a path names them
            case Constant(value):
                return {"const": value}
            case ObjectReading(members):
                properties = {name: self.reading(each) for name, each in members}
                return (
                    {"type": "object", "properties": properties, "required": list(properties)}
                    if properties
                    else {"type": "object"}
                )

    def _as_part(self, schema: Json, name: str) -> Json:
        known = self._parts.get((id(schema), name))
        if known is None:
            known = self._parts[id(schema), name] = schema, as_part(schema, name)
        return known[1]

    def _without_thoughts(self, schema: Json) -> Json:
        known = self._handed_on.get(id(schema))
        if known is None:
            known = self._handed_on[id(schema)] = schema, strip(schema, ("thoughts", "metrics"))
        return known[1]

    def fails(self, region: Region) -> bool:
        """Tell whether a body ends in a step that never gives anything."""
        path = region.value
        return isinstance(path, Path) and isinstance(path.origin, int) and self.graph.steps[path.origin].fail

    def _block(self, content: Block) -> Json:
        match content:
            case Do(body):
                return NULL if self.fails(body) else self._one_of([self.reading(body.value)])
            case Try():
                return self._either(regions_of(content))
            case When(branches):
                value = self._either(tuple(branch.body for branch in branches))
                return value if not branches[-1].condition else nullable(value) if value is not False else NULL
            case Each(_, source, _, body):
                bounds = {"minItems": source, "maxItems": source} if isinstance(source, int) else {}
                return {"type": "array", "items": self.reading(body.value), **bounds}
            case Repeat(source=None):
                return self._either(regions_of(content))
            case Repeat():
                whole: Json = {"type": "array", "items": self.reading(content.body.value)}
                return whole if content.otherwise is None else either([whole, self.reading(content.otherwise.value)])

    def _either(self, regions: tuple[Region, ...]) -> Json:
        values = [self.reading(region.value) for region in regions if not self.fails(region)]
        return self._one_of(values) if values else NULL

    def _one_of(self, values: list[Json]) -> Json:
        key = tuple(map(id, values))
        known = self._eithers.get(key)
        if known is None:
            known = self._eithers[key] = values, either(values)
        return known[1]

    def _local(self, origin: Local) -> Json:
        match origin.kind:
            case "error":
                return ERROR
            case "item":
                return self._item(origin.block)
            case "round":
                return {"type": "integer", "minimum": 1, "maximum": self._rounds[origin.block].most}
            case "previous":
                return {"type": ["object", "null"]}
            case "rounds":
                return {"type": "array", "items": {"type": "object"}}

    def _item(self, body: int) -> Json:
        """Return the schema of the element of a body; lists in lists are gone through from the outermost in."""
        chain: list[int] = []
        while body not in self._items and body not in chain:
            chain.append(body)
            source = self._over(body).source
            if not isinstance(source, Path) or not isinstance(source.origin, Local) or source.origin.kind != "item":
                break
            body = source.origin.block
        made: Json = self._items.get(body, ANYTHING)
        for each in reversed(chain):
            made = self._items[each] = self._element(self._over(each))
        if self._open:  # what is not known yet may come out otherwise later
            for each in chain:
                del self._items[each]
        return made

    def _over(self, body: int) -> Each | Repeat:
        return self._places.get(body) or self._rounds[body]

    def _element(self, block: Each | Repeat) -> Json:
        source = block.source
        assert source is not None  # rounds over no list have no element
        if isinstance(source, int):
            return {"type": "integer", "minimum": 1, "maximum": source}
        listed = elements(self.path(source))
        return ANYTHING if listed is None else listed

    def _previous(self, block: int, name: str) -> Json:
        """Return the schema of what a name of a block had in the round before: the least one that fits."""
        if (block, name) in self._open:
            return False
        self._open.add((block, name))
        reading = dict(self._rounds[block].names).get(name)
        made = ANYTHING if reading is None else self.reading(reading)
        self._open.discard((block, name))
        return made


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
