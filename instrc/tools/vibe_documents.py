"""Write imported tools as vibes, one document each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from instrc.problems.errors import CompileError
from instrc.problems.importing import NamelessTool, PropertyWithMeaning, RepeatedTool, ResultsLeftOut
from instrc.problems.report import Report
from instrc.problems.schemas import Contradiction
from instrc.process.flow import READS_ONLY
from instrc.schema.flattening.flatten import flatten
from instrc.schema.walk import map_schemas, walk
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, Location, as_object, as_texts, mapping
from instrc.text.source import Span
from instrc.tools.sources import FileNames, Given, ImportedTool, embedded, kebab

Results: TypeAlias = Literal["leave", "output", "activity"]
"""Whether to drop the schema of a tool's result, keep it as a property `output`, or write a vibe for the call of a server."""
ENDING = ".vibe.json"
ACTIVITY = "_Activity"


class ImportedVibe(Struct, frozen=True):
    """A vibe built from a tool."""

    name: str
    """Name of the vibe: the last segment of its reference."""
    path: str
    """File path, relative to the target folder."""
    document: dict[str, Json]
    """The schema, whose `title` is the exact name of the tool."""
    at: Span | None = None
    """Span of the tool in the source."""


def vibes(tools: Iterable[ImportedTool], given: Given, results: Results) -> Iterator[ImportedVibe]:
    """Yield a vibe for each tool, or two if a server call is requested, under unique names."""
    names = FileNames(("", ACTIVITY) if results == "activity" else ("",))
    told: dict[str, dict[str, Location]] = {}
    """Texts of tools with their places, by the names that they have or would have."""
    left: list[ImportedTool] = []
    for tool in tools:
        document = _document(tool, given)
        if results == "output":
            document = _with_output(document, tool, given)
        else:
            document.pop(READS_ONLY, None)  # a model fills it in; it is the call that only reads
        base = kebab(tool.name or "") or "tool"
        text = dumps(document, indent=False)
        others = next((told[key] for key in names.keys(base) if key in told), {})
        if text in others and tool.name:
            continue  # the same tool again
        if tool.result is not None and results == "leave":
            left.append(tool)
        name = names.free(base)
        place = given.locate(tool.at)
        if not kebab(tool.name or ""):
            given.problems.append(NamelessTool(at=place, given=name))
        elif others:
            first = given.locate(next(iter(others.values())))
            given.problems.append(RepeatedTool(at=place, word=tool.name or "", given=name, first=first))
        for key in (*names.keys(base), *names.keys(name)):
            told.setdefault(key, {}).setdefault(text, tool.at)
        _note_meanings(document, tool, given, filled=results == "output")
        yield ImportedVibe(name, name + ENDING, document, place)
        if results == "activity":
            activity = f"{name}{ACTIVITY}"
            yield ImportedVibe(activity, activity + ENDING, _activity(tool), place)
    if left:
        given.problems.append(ResultsLeftOut(at=given.locate(left[0].at), count=len(left)))


def _document(tool: ImportedTool, given: Given) -> dict[str, Json]:
    """Return the schema of a tool under its name."""
    schema: JsonObject = tool.schema if isinstance(tool.schema, dict) else {"type": "object", "properties": {}}
    if tool.schema is False:
        given.left_out(tool.schema_at, "false", "such a tool could not be called")
    rest = {key: value for key, value in schema.items() if key not in {"title", "description"}}
    if "schema" in rest:  # it would be mistaken for a record
        given.left_out((*tool.schema_at, "schema"), "schema", "it is not a keyword")
        del rest["schema"]
    own = schema.get("description")
    lines = [line for line in dict.fromkeys((tool.description, own)) if line.__class__ is str and line]
    document: dict[str, Json] = {}
    if tool.name or tool.title:
        document["title"] = tool.name or tool.title
    if tool.name and tool.title and kebab(tool.title) != kebab(tool.name):
        if lines:
            document["x-title"] = tool.title
        else:
            lines = [tool.title]
    if lines:
        document["description"] = "\n".join(map(str, lines))
    document |= {key: value for key, value in tool.extras.items() if key not in rest}
    document |= rest
    return document


def _with_output(document: dict[str, Json], tool: ImportedTool, given: Given) -> dict[str, Json]:
    """Return a tool with a property `output` for the server's result."""
    properties = as_object(document.get("properties", {}))
    if document.get("type") != "object" or "output" in properties:
        reason = "a parameter has the name `output`" if "output" in properties else "the arguments are not a plain object"
        given.left_out(tool.at, "output", reason)
        return document
    taken = as_object(document.get("$defs", {}))
    output, definitions = _output(tool, "/properties/output", taken)
    result: JsonObject = {**document, "properties": {**properties, "output": output}}
    result["required"] = [*dict.fromkeys([*as_texts(document.get("required", [])), "output"])]
    if definitions:
        result["$defs"] = {**taken, **definitions}
    return result


def _output(tool: ImportedTool, place: str, taken: dict[str, Json]) -> tuple[Json, dict[str, Json]]:
    result = {} if tool.result is None else tool.result()
    return embedded(result, place, taken) if result.__class__ is dict else (result, {})


def _note_meanings(document: dict[str, Json], tool: ImportedTool, given: Given, *, filled: bool) -> None:
    """Report properties whose names have a special meaning; `output` has one if it is `filled`."""
    for path in with_meaning(document):
        key = str(path[-1])
        if key != "output" or not filled:
            given.problems.append(PropertyWithMeaning(at=given.locate((*tool.schema_at, *path)), key=key))


def _activity(tool: ImportedTool) -> dict[str, Json]:
    """Return the server call that belongs to a tool."""
    output, definitions = _output(tool, "/properties/output", {})
    result: dict[str, Json] = {"title": tool.name or "tool"}
    if tool.description:
        result["description"] = tool.description
    result |= {READS_ONLY: True} if READS_ONLY in tool.extras else {}
    result |= {"type": "object", "properties": {"output": output}, "required": ["output"]}
    return {**result, "$defs": definitions} if definitions else result


def boxed(vibe: ImportedVibe) -> ImportedVibe:
    """Return a vibe for a tool with a non-object schema: an object whose only property, `value`, has that schema."""
    kept = ("title", "description", "x-title")
    inner = {key: part for key, part in vibe.document.items() if key not in kept}
    value, definitions = embedded(inner, "/properties/value", {})
    document = {key: vibe.document[key] for key in kept if key in vibe.document}
    document |= {"type": "object", "properties": {"value": value}, "required": ["value"], "additionalProperties": False}
    return structs.replace(vibe, document={**document, "$defs": definitions} if definitions else document)


def with_property(vibe: ImportedVibe, word: str) -> ImportedVibe:
    """Return a vibe in which each schema that requires an undescribed name describes it as any value."""

    def change(node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        required, properties = node.get("required"), node.get("properties", {})
        if required.__class__ is not list or word not in required or properties.__class__ is not dict or word in properties:
            return node
        return {**node, "properties": {**properties, word: {}}}

    return structs.replace(vibe, document=as_object(map_schemas(vibe.document, change)))


CONTRADICTIONS_TRIED: Final = 500
"""Maximum optional properties of a tool that are checked for contradictions."""


def without_contradictions(vibe: ImportedVibe) -> tuple[ImportedVibe, list[str]]:
    """Return a vibe without unsatisfiable optional properties, and their names."""
    nodes = [node for _, node in walk(vibe.document) if isinstance(node, dict)]
    foreign = {
        name for node in nodes for name in as_texts(node.get("required", [])) if name not in mapping(node.get("properties"))
    }
    removed: list[str] = []
    tried = 0

    def optional(node: Json) -> list[str]:
        required = {*foreign, *as_texts(mapping(node).get("required", []))}
        return [name for name in mapping(mapping(node).get("properties")) if name not in required]

    def without(node: Json, names: list[str]) -> Json:
        kept = {name: item for name, item in mapping(mapping(node).get("properties")).items() if name not in names}
        return {**node, "properties": kept} if isinstance(node, dict) and names else node

    def required_only(schema: Json) -> Json:
        return map_schemas(schema, lambda node: without(node, optional(node)))

    definitions = {name: required_only(item) for name, item in mapping(vibe.document.get("$defs")).items()}

    def change(node: Json) -> Json:
        nonlocal tried
        names = optional(node)[: max(CONTRADICTIONS_TRIED - tried, 0)]
        tried += len(names)
        names = [
            name for name in names if _contradicts_itself(required_only(mapping(mapping(node)["properties"])[name]), definitions)
        ]
        removed.extend(names)
        return without(node, names)

    return structs.replace(vibe, document=as_object(map_schemas(vibe.document, change))), removed


def _contradicts_itself(schema: Json, definitions: JsonObject) -> bool:
    report = Report()
    try:
        flatten({**mapping(schema), "$defs": definitions}, report=report)
    except CompileError:  # it refers to another part of the vibe
        return False
    return any(isinstance(problem, Contradiction) for problem in report.problems)


def with_meaning(schema: Json) -> Iterator[Location]:
    """Yield the paths of properties that are thoughts or metrics by their names, without duplicates, and of `output`."""
    told: set[str] = set()
    for path, node in walk(schema):
        properties = node.get("properties") if isinstance(node, dict) else None
        for key in properties if isinstance(properties, dict) else ():
            if key not in told and (key.startswith(("_", "$")) or (key == "output" and not path)):
                told.add(key)
                yield (*path, "properties", key)
