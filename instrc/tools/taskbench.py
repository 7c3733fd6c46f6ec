"""Tools and records of both releases of TaskBench."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field, structs

from instrc.problems.importing import NotATool
from instrc.problems.plans import InvalidPlan, OddArguments, PlanProblem, RepairedPlan
from instrc.problems.suggest import comparison_key, nearest
from instrc.text.arguments import excerpt
from instrc.text.jsontext import digits, dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, JsonSyntaxError, Location, as_texts, pointer
from instrc.text.names import free_name, pascal, snake
from instrc.tools.sources import Given, ImportedTool

SHOWN_REPAIR: Final = 80
"""Maximum characters of a repaired place that a problem shows, before and after the repair."""
BenchKind: TypeAlias = Literal["resource", "temporal", "open"]
"""`resource`: typed inputs by position; `temporal`: parameters by name; `open`: inputs not described."""


class BenchInput(Struct, frozen=True):
    """One input of a tool."""

    key: str
    """Argument name: the parameter's name, or the type, numbered if repeated."""
    type: str
    description: str = ""


class BenchTool(Struct, frozen=True):
    """One tool."""

    id: str
    """Id as spelled by TaskBench: `Image Search (by Image)`."""
    name: str
    """Name used in plans: `ImageSearchByImage`."""
    kind: BenchKind
    description: str
    slots: tuple[BenchInput, ...]
    outputs: tuple[str, ...]
    """Types of the outputs; empty for temporal tools, which do not declare them."""
    index: int
    """Index in the file."""


class Bench(Struct, frozen=True, eq=False, dict=True):
    """The tools of a file, in order, with unique ids and names."""

    tools: tuple[BenchTool, ...]

    @cached_property
    def by_id(self) -> dict[str, BenchTool]:
        """The tools by their ids in TaskBench."""
        return {tool.id: tool for tool in self.tools}

    @cached_property
    def by_name(self) -> dict[str, BenchTool]:
        """The tools by their names in plans."""
        return {tool.name: tool for tool in self.tools}

    @property
    def is_resource(self) -> bool:
        """Whether the arguments of a plan determine its dependencies."""
        return any(tool.kind == "resource" for tool in self.tools)

    def edges(self) -> frozenset[tuple[str, str]]:
        """Return the tools that may follow each, by id: after one whose output type the other takes, or any without types."""
        return frozenset(
            (one.id, other.id)
            for one in self.tools
            for other in self.tools
            if one.id != other.id
            and (other.kind != "resource" or not {slot.type for slot in other.slots}.isdisjoint(one.outputs))
        )


_TEXT_WORDS = frozenset({"string", "str", "text", "date", "time", "datetime", "email", "url", "path"})
_MEDIA = {"image": "image/*", "audio": "audio/*", "video": "video/*", "text": "text/plain"}
Refuse = Callable[[tuple[str | int, ...], str], None]


def is_bench(value: Json) -> bool:
    """Return whether a value looks like a TaskBench tool file."""
    return value.__class__ is dict and value.get("nodes").__class__ is list


def read_bench(value: Json, refuse: Refuse) -> Bench:
    """Return the tools of a file; `refuse` is called with the path of an invalid tool and the reason."""
    nodes = value.get("nodes", value.get("tools")) if value.__class__ is dict else value
    path: tuple[str | int, ...] = () if value.__class__ is not dict else ("nodes" if "nodes" in value else "tools",)
    if nodes.__class__ is not list:
        refuse((), "there is no list of tools")
        return Bench(())
    tools: list[BenchTool] = []
    ids: set[str] = set()
    names: set[str] = set()
    for number, node in enumerate(nodes):
        id_ = node.get("id") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(id_, str) or not id_:
            refuse((*path, number), "it has no id")
        elif id_ in ids:
            refuse((*path, number), f"another tool has the id `{id_[:60]}` too")
        else:
            ids.add(id_)
            name = _free(pascal(id_) or "Tool", names)
            tools.append(_tool(node, id_, name, number, _below(refuse, (*path, number))))
    return Bench(tuple(tools))


def _free(name: str, taken: set[str], joint: str = "") -> str:
    free = free_name(name, taken.__contains__, joint)
    taken.add(free)
    return free


def _tool(node: JsonObject, id_: str, name: str, index: int, refuse: Refuse) -> BenchTool:
    inputs, parameters = node.get("input-type"), node.get("parameters")
    said = node.get("desc", node.get("description"))
    description = said if said.__class__ is str else ""
    if inputs is not None:
        keys: set[str] = set()
        slots = tuple(BenchInput(_free(snake(kind) or "input", keys, "_"), kind) for kind in _words(inputs, "input-type", refuse))
        return BenchTool(id_, name, "resource", description, slots, _words(node.get("output-type"), "output-type", refuse), index)
    if parameters is not None:
        return BenchTool(id_, name, "temporal", description, _parameters(parameters, refuse), (), index)
    return BenchTool(id_, name, "open", description, (), (), index)


def _words(value: Json, key: str, refuse: Refuse) -> tuple[str, ...]:
    if value is None:
        return ()
    if value.__class__ is not list or not all(item.__class__ is str for item in value):
        refuse((key,), "it is not a list of types")
        return ()
    return tuple(as_texts(value))


def _parameters(value: Json, refuse: Refuse) -> tuple[BenchInput, ...]:
    if value.__class__ is not list:
        refuse(("parameters",), "it is not a list of parameters")
        return ()
    slots: dict[str, BenchInput] = {}
    for number, item in enumerate(value):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or name in slots:
            refuse(("parameters", number), "it has no name of its own")
            continue
        kind, said = item.get("type"), item.get("desc", item.get("description"))
        slots[name] = BenchInput(name, kind if kind.__class__ is str else "any", said if said.__class__ is str else "")
    return tuple(slots.values())


def _below(refuse: Refuse, at: tuple[str | int, ...]) -> Refuse:
    return lambda path, reason: refuse((*at, *path), reason)


def tools_map(bench: Bench) -> dict[str, Json]:
    """Return the tools in the form for `check_plan`."""
    return {
        tool.name: {"activity": f"{tool.name}_Activity", "arguments": arguments_schema(tool), "output": output_schema(tool)}
        for tool in bench.tools
    }


def arguments_schema(tool: BenchTool) -> dict[str, Json]:
    """Return the schema of a tool's arguments; inputs by type are required, parameters are not."""
    if tool.kind == "open":
        return {"type": "object"}
    properties = {slot.key: _schema(slot, tool.kind) for slot in tool.slots}
    result: dict[str, Json] = {"type": "object", "properties": properties}
    if tool.kind == "resource" and properties:
        result["required"] = list(properties)
    return {**result, "additionalProperties": False}


def _schema(slot: BenchInput, kind: BenchKind) -> Json:
    if kind == "resource":
        result = media(slot.type)
        return {"type": "string"} if "format" in result else result  # models write descriptions such as `the first link`
    result = {"type": "string"} if slot.type.lower() in _TEXT_WORDS else {}
    lines = [line for line in (slot.description, "" if slot.type == "string" else f"Type: {slot.type}.") if line]
    return {**result, "description": "\n".join(lines)} if lines else result


def output_schema(tool: BenchTool) -> Json:
    """Return the schema of a tool's output: a text of its media type, several by type, or nothing."""
    if tool.kind != "resource":
        return {}
    if len(tool.outputs) == 1:
        return media(tool.outputs[0])
    if not tool.outputs:
        return {"type": "null"}
    properties: JsonObject = {kind: media(kind) for kind in tool.outputs}
    return {"type": "object", "properties": properties, "required": list(properties)}


def media(kind: str) -> dict[str, Json]:
    """Return the schema of a text that is or names something of a type."""
    word = kind.lower()
    if word == "url":
        return {"type": "string", "format": "uri-reference"}
    return {"type": "string", "contentMediaType": _MEDIA[word]} if word in _MEDIA else {"type": "string", "description": kind}


PlanShape: TypeAlias = Literal["single", "chain", "dag"]
SHAPES: tuple[PlanShape, ...] = ("single", "chain", "dag")
_PREFIXES = ("task", "tool")


class TaskRecord(Struct, frozen=True):
    """One request with its plan."""

    nodes: Json
    links: Json
    """Links of the tasks; `None` if absent."""
    steps: Json
    holder: dict[str, Json]
    """Object that holds the plan's members."""
    id: str | None = None
    request: str | None = None
    shape: PlanShape | None = None
    """Plan shape as declared by the data set."""
    place: tuple[str, ...] = ()
    """Path of the plan in the input: answers of models have it under `result`."""
    prefix: str = "task"
    """Prefix of member names in the release: `task_nodes`, `tool_nodes`."""
    encoded: frozenset[str] = field(default_factory=frozenset)
    """Members that hold JSON as text."""
    within: bool = False
    """Whether the plan is embedded in a text with prose or code fences around it."""


def read_record(value: Json) -> TaskRecord | None:
    """Return the plan of a record or of a model's answer, or `None` if there is none."""
    place: tuple[str, ...] = ()
    holder = value
    if isinstance(value, dict) and _prefix(value) is None and "result" in value:
        holder, place = value["result"], ("result",)
    within = False
    if isinstance(holder, str):
        text = holder
        holder = _decoded(text)
        if not isinstance(holder, dict):
            holder, within = _inside(text), True
    prefix = _prefix(holder)
    if not isinstance(holder, dict) or prefix is None:
        return None
    said = value if isinstance(value, dict) else holder
    encoded: set[str] = set()

    def member(word: str) -> Json:
        written = holder.get(f"{prefix}_{word}")
        read = _decoded(written)
        if read is not written:
            encoded.add(word)
        return read

    nodes, links, steps = member("nodes"), member("links"), member("steps")
    shape = said.get("type")
    return TaskRecord(
        nodes=nodes,
        links=links,
        steps=steps,
        holder=holder,
        id=id_of(said),
        request=_text(said.get("user_request", said.get("instruction"))),
        shape=next((item for item in SHAPES if item == shape), None),
        place=place,
        prefix=prefix,
        encoded=frozenset(encoded),
        within=within,
    )


def _prefix(holder: Json) -> str | None:
    return next((prefix for prefix in _PREFIXES if isinstance(holder, dict) and f"{prefix}_nodes" in holder), None)


def _decoded(value: Json) -> Json:
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    read = _loaded(value)
    return value if read is None else read


def _loaded(text: str) -> Json:
    try:
        return loads(text)
    except JsonSyntaxError:
        return None


def _inside(text: str) -> Json:
    """Return the object in a text, from its first brace to its last one, also if the text is JSON encoded twice."""
    inner = _loaded(text)
    result = inner if isinstance(inner, str) else text
    return _loaded(result[result.find("{") : result.rfind("}") + 1])


def _text(value: Json) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return digits(value)
    return value if isinstance(value, str) else None


def id_of(value: Json) -> str | None:
    """Return the id of a record, a number as its digits, or `None` if it has none."""
    return _text(value.get("id")) if isinstance(value, dict) else None


def shape_of(size: int, edges: frozenset[tuple[int, int]]) -> PlanShape:
    """Return the shape of a graph with the given number of nodes: a chain visits all of them in sequence."""
    if size <= 1:
        return "single"
    sources, targets = [source for source, _ in edges], [target for _, target in edges]
    straight = len(edges) == size - 1 and len(set(sources)) == len(sources) and len(set(targets)) == len(targets)
    return "chain" if straight else "dag"


def ends_of(link: Json) -> tuple[str, str] | None:
    """Return the source and the target of a link, or `None` if they are not texts."""
    source, target = (link.get("source"), link.get("target")) if isinstance(link, dict) else (None, None)
    return (source, target) if isinstance(source, str) and isinstance(target, str) else None


class ToolNames:
    """The names of a file's tools, for the correction of misspelt ones."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.ids: tuple[str, ...] = tuple(tool.id for tool in bench.tools)
        self._known: dict[str, BenchTool | None] = {}

    def nearest(self, word: str) -> BenchTool | None:
        """Return the tool that a misspelt name most likely means."""
        if word not in self._known:
            same = [tool for tool in self.bench.tools if _letters(tool.id) == _letters(word)]
            near = [] if same else nearest(word, self.ids)
            self._known[word] = same[0] if len(same) == 1 else self.bench.by_id[near[0]] if near else None
        return self._known[word]


def _letters(name: str) -> str:
    return "".join(letter for letter in comparison_key(name) if letter.isalnum())


class NamedRecord(Struct, frozen=True):
    """A record with the tools that its tasks refer to."""

    names: ToolNames
    record: TaskRecord
    repair: bool
    """Whether to repair known mistakes."""
    words: tuple[str, ...] = ()
    """Name of the tool called by each task; empty if it has none."""
    tools: tuple[BenchTool | None, ...] = ()

    @property
    def bench(self) -> Bench:
        """The tools of the file."""
        return self.names.bench

    def place(self, *steps: str | int) -> str:
        """Return the place of a part of the tasks; the steps are this module's own names and numbers."""
        return "/".join((pointer((*self.record.place, f"{self.record.prefix}_nodes")), *map(str, steps)))

    def mistake(self, problem: PlanProblem, before: str, after: str) -> PlanProblem:
        """Return a problem, or its repair if known mistakes are repaired."""
        return repaired(problem.name, problem.pointer, before, after) if self.repair else problem

    def odd(self, reason: str, number: int, *rest: int) -> OddArguments:
        """Return the problem of malformed arguments."""
        return OddArguments(pointer=self.place(number, "arguments", *rest), reason=reason)


def name_tools(record: NamedRecord, nodes: list[Json]) -> tuple[NamedRecord, list[PlanProblem]]:
    """Return a record with the tools of its tasks, and the problems with their names."""
    problems: list[PlanProblem] = []
    words: list[str] = []
    for number, node in enumerate(nodes):
        word = node.get("task") if isinstance(node, dict) else None
        if not isinstance(word, str) or not word:
            reason = "a task is an object with a text as its `task`"
            problems.append(InvalidPlan(pointer=record.place(number), reason=reason))
            words.append("")
            continue
        spelling, repair = spelled(record, word, record.place(number, "task"))
        words.append(spelling)
        problems += [] if repair is None else [repair]
    return structs.replace(record, words=tuple(words), tools=tuple(map(record.bench.by_id.get, words))), problems


def spelled(record: NamedRecord, word: str, place: str) -> tuple[str, RepairedPlan | None]:
    """Return a tool's name in the spelling of the tool file, with the repair, if mistakes are repaired."""
    if word in record.bench.by_id or not record.repair:
        return word, None
    tool = record.names.nearest(word)
    if tool is None:
        return word, None
    return tool.id, repaired("unknown-tool", place, word, tool.id)


def repaired(mistake: str, place: str, before: str, after: str) -> RepairedPlan:
    """Return a repair with shortened texts."""
    return RepairedPlan(pointer=place, mistake=mistake, before=before[:SHOWN_REPAIR], after=after[:SHOWN_REPAIR])


def brief(value: Json) -> str:
    """Return a value shortened for a repair."""
    try:
        return (value if isinstance(value, str) else dumps(value, indent=False))[:60]
    except (TypeError, ValueError):  # no JSON
        return excerpt(value)


def taskbench_tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools; types become texts of their media type, and a tool's result becomes its output."""

    def refuse(path: Location, reason: str) -> None:
        given.problems.append(NotATool(at=given.locate(path), reason=reason))

    bench = read_bench(given.value, refuse)
    holder: Location = () if given.value.__class__ is not dict else ("nodes" if "nodes" in given.value else "tools",)
    for tool in bench.tools:
        place = (*holder, tool.index)
        schema: Json = {"properties": {}, **arguments_schema(tool)}
        yield ImportedTool(
            name=tool.id,
            at=place,
            schema=schema,
            schema_at=place,
            description=tool.description or None,
            result=partial(output_schema, tool),
        )
