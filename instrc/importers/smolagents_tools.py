"""smolagents: `Tool` objects and classes, what `@tool` makes, collections of them, or the same written as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from instrc.importers.functions import description_text, normalize_schema
from instrc.importers.given import Given, of_value
from instrc.importers.tools import ImportedTool
from instrc.jsonvalue import Json, JsonObject, Location, as_object
from instrc.problems.importing import NotATool
from instrc.problems.problem import CompileError, Problem
from instrc.schema.normalize import Rules
from instrc.schema.notes import describe_value

RULES = Rules(plain_words=True, shorthand=False)
_MEMBERS = ("name", "description", "inputs", "output_type", "output_schema")


def read_objects(values: Iterable[object]) -> Given:
    """Return what tools say about themselves."""
    found: list[Json] = []
    problems: list[Problem] = []
    for value in values:
        members = {name: getattr(value, name, None) for name in _MEMBERS}
        try:
            found.append(of_value({name: part for name, part in members.items() if part is not None}).value)
        except CompileError as error:
            problems.extend(error.problems)
    made = Given(found)
    made.problems += problems
    return made


def objects(value: object) -> list[object]:
    """Return the tools that an object of a program is or holds; none if it is something else."""
    if isinstance(getattr(value, "inputs", None), dict) and isinstance(getattr(value, "name", None), str):
        return [value]
    listed = getattr(value, "tools", value)
    listed = list(listed.values()) if isinstance(listed, dict) else listed
    if isinstance(listed, list | tuple):
        return [tool for item in listed if item is not value for tool in objects(item)]
    return []


def tools(given: Given) -> Iterator[ImportedTool]:
    """Yield the tools; an input that may be left out is `nullable`, its other words are JSON Schema."""
    value = given.value
    entries: list[tuple[Json, Location]] = [(value, ())]
    if isinstance(value, dict) and "inputs" not in value and isinstance(listed := value.get("tools"), list):
        entries = [(item, ("tools", index)) for index, item in enumerate(listed)]
    elif value.__class__ is list:
        entries = [(item, (index,)) for index, item in enumerate(value)]
    for entry, path in entries:
        if entry.__class__ is dict and entry.get("inputs", {}).__class__ is dict and entry.keys() & {"name", "inputs"}:
            yield _tool(entry, path, given)
        elif entry.__class__ is dict and entry.get("code").__class__ is str:
            given.problems.append(
                NotATool(at=given.locate(path), reason="it is a program; name the tool in it as `file.py:Name`")
            )
        else:
            given.problems.append(NotATool(at=given.locate(path), reason=f"{describe_value(entry)} has no inputs"))


def _tool(entry: dict[str, Json], path: Location, given: Given) -> ImportedTool:
    inputs, own = as_object(entry.get("inputs", {})), entry.get("name")
    required: list[Json] = [name for name, value in inputs.items() if value.__class__ is not dict or _required(value)]
    schema: JsonObject = {"type": "object", "properties": inputs, "required": required, "additionalProperties": False}
    at = (*path, "inputs")
    output = entry.get("output_type")
    result = entry.get("output_schema")
    if result.__class__ is not dict and output.__class__ is str:
        result = {} if output == "any" else {"type": output}
    for key, part in entry.items():
        if key not in _MEMBERS and part is not None:
            given.left_out((*path, key), key, "a vibe has no place for it")
    return ImportedTool(
        name=own if isinstance(own, str) else None,
        at=path,
        schema=_described(schema, at, given),
        schema_at=path,
        description=description_text(entry.get("description"), (*path, "description"), given),
        result=partial(normalize_schema, result, (*path, "output_type"), given, RULES) if result.__class__ is dict else None,
    )


def _required(value: dict[str, Json]) -> bool:
    return value.get("nullable") is not True and value.get("required") is not False and value.get("optional") is not True


def _described(schema: dict[str, Json], at: Location, given: Given) -> Json:
    """Mend the inputs, each in its own place."""
    inputs = as_object(schema["properties"])
    properties: JsonObject = {name: normalize_schema(value, (*at, name), given, RULES) for name, value in inputs.items()}
    return {**schema, "properties": properties}
