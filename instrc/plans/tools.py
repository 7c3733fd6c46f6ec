"""The tools that a plan may call: `{NAME: {"activity" | "process", "arguments", "output", "bound"?}}`.

Tools as models are shown them will do, in a list or by name: each has the schema of what it takes.
So do annotated functions and types of Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import cast

from instrc.flattening.flatten import flatten
from instrc.ir.tool import Tool as ShownTool
from instrc.jsonvalue import Json, as_text
from instrc.plans.argument_validator import ArgumentValidator
from instrc.problems.plans import ToolsFault
from instrc.problems.problem import CompileError
from instrc.python.objects import model_as_json
from instrc.python.types import describes_values, schema_of_result, schema_of_type
from instrc.schema.kinds import own_kinds
from instrc.schema.name_patterns import matches
from instrc.schema.walk import TRIVIAL, walk

_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "propertyOrdering"}
)
_ARGUMENTS = (
    *("arguments", "parameters", "parametersJsonSchema", "parameters_json_schema"),
    *("input_schema", "inputSchema", "schema"),
)
"""How providers and protocols name the schema of what a tool takes."""
_OF_TOOLS = frozenset({"activity", "process", "bound", "name", "title", "description"})
"""What an entry of a map may say of a tool beside what it takes and gives."""
_OUTPUTS = ("output", "output_schema", "outputSchema")
_PER_ARGUMENT = frozenset({"type", "properties", "required", "additionalProperties", "patternProperties", "$defs", "$schema"})
"""Keywords of a tool's arguments that are looked at one argument at a time."""
_OF_SCHEMAS = (_PER_ARGUMENT - {"type"}) | {"$ref", "allOf", "anyOf", "oneOf"}
"""What only a schema says, whoever defines the tool."""


class PlanTool:
    """One tool as a plan sees it."""

    def __init__(self, name: str, entry: Json) -> None:
        self.name = name
        given = entry if entry.__class__ is dict else {}
        self._arguments: Json = given.get("arguments", {})
        self._output: Json = given.get("output", {})
        bound = given.get("bound")
        self.bound: frozenset[str] = frozenset(bound) if bound.__class__ is dict else frozenset()
        """Arguments that the program gives."""
        self._validators: dict[str, ArgumentValidator] = {}

    @cached_property
    def arguments(self) -> dict[str, Json]:
        """The schema of all arguments together, flat."""
        flat = _flat(self._arguments)
        return flat if flat.__class__ is dict else {}

    @cached_property
    def output(self) -> Json:
        """The schema of what it gives back, flat."""
        return _flat(self._output)

    @cached_property
    def properties(self) -> dict[str, Json]:
        """The schemas of the arguments by name."""
        properties = self.arguments.get("properties")
        return properties if properties.__class__ is dict else {}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The arguments that a plan has to give."""
        names = self.arguments.get("required")
        return tuple(as_text(name) for name in names if name not in self.bound) if isinstance(names, list) else ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The arguments that a plan may give and whose names are known."""
        return tuple(name for name in self.properties if name not in self.bound)

    @cached_property
    def whole(self) -> ArgumentValidator | None:
        """The verdict on all arguments together, where something is said that is not about one of them."""
        further = any(word not in _PER_ARGUMENT and word not in _ANNOTATIONS for word in self.arguments)
        return ArgumentValidator(self.arguments, {}) if further and not self.bound else None

    def schema(self, name: str) -> Json:
        """Return the schema of an argument; `None` if the tool takes none of that name.

        An object that says nothing of names it does not list takes no others, unless it lists none.
        """
        if name in self.bound:
            return None
        patterns = self.arguments.get("patternProperties")
        by_pattern = patterns if patterns.__class__ is dict else {}
        found = [schema for pattern, schema in by_pattern.items() if matches(pattern, name) is not False]
        if name in self.properties:
            return self.properties[name] if not found else {"allOf": [self.properties[name], *found]}
        if found:
            return {"allOf": found}
        rest = self.arguments.get("additionalProperties", not self.properties)
        return None if rest is False else rest

    def validator(self, name: str) -> ArgumentValidator:
        """Return the verdict on values of an argument that the tool takes."""
        found = self._validators.get(name)
        if found is None:
            definitions = self.arguments.get("$defs")
            found = ArgumentValidator(self.schema(name), definitions if definitions.__class__ is dict else {})
            if name in self.properties:
                self._validators[name] = found
        return found

    def takes_text(self, name: str) -> bool:
        """Tell whether an argument is a text whatever is in it, so that a text of digits is no number."""
        schema = self.schema(name)
        return schema.__class__ is dict and own_kinds(schema) == {"string"}

    def takes_itself(self, name: str, value: Json) -> bool:
        """Tell whether `{"from": …}` is a value of its own for an argument: its schema speaks of such objects."""
        schema = self.schema(name)
        if schema in TRIVIAL or schema is None or schema.__class__ is not dict or _ANNOTATIONS.issuperset(schema):
            return False
        return self.validator(name).accepts(value)


class ToolSet:
    """All tools of a plan; each is read when it is first asked for."""

    def __init__(self, tools: object) -> None:
        self._entries: Mapping[str, Json] = tools_by_name(tools)
        self._tools: dict[str, PlanTool] = {}
        self.fitting: dict[tuple[str, bool, str, tuple[str, ...], str, str], str | None] = {}
        """Why outputs do not fit arguments, as far as it was asked: it depends on the schemas of the two tools alone."""
        self.names: tuple[str, ...] = tuple(name for name in self._entries if name.__class__ is str)

    def get(self, name: str) -> PlanTool | None:
        """Return a tool; `None` if there is none of that name."""
        found = self._tools.get(name)
        if found is None and name in self._entries:
            found = self._tools[name] = PlanTool(name, self._entries[name])
        return found


def why_undescribed(tools: object) -> str | None:
    """Return why no schema can be made of a function or type of Python among tools; `None` if there is none such."""
    for tool in tools.values() if isinstance(tools, Mapping) else tools if isinstance(tools, list | tuple) else ():
        if tool.__class__ is dict or _entry_of(tool).__class__ is dict:
            continue
        try:
            described = schema_of_type(tool)
            if described is not None and not describes_values(tool):
                schema_of_result(tool)
        except (TypeError, CompileError) as error:
            return str(error)
    return None


def fault_of_tools(tools: object) -> tuple[str | None, ToolsFault] | None:
    """Return what is wrong with the tools of a plan, and the name of the tool that is none; `None` if they are sound.

    Tools are a map, or a list that is empty or holds at least one.
    A list as a provider takes it may hold tools of the provider itself, which no plan can call.
    """
    if not isinstance(tools, Mapping) and not (isinstance(tools, list | tuple) and (not tools or tools_by_name(tools))):
        return None, "no tools"
    for name, entry in tools_by_name(tools).items():
        fault = _fault_of_tool(entry, listed=not isinstance(tools, Mapping))
        if fault is not None:
            return str(name), fault
    return None


def _fault_of_tool(entry: Json, *, listed: bool) -> ToolsFault | None:
    if entry.__class__ is not dict:
        return "no object"
    if "arguments" in entry:
        return None if entry["arguments"].__class__ in {dict, bool, type(None)} else "no schema"
    unknown = _OF_SCHEMAS.intersection(entry) if listed else entry.keys() - _OF_TOOLS - {*_OUTPUTS}
    if not unknown:
        return None
    return "bare schema" if not _OF_SCHEMAS.isdisjoint(entry) or "type" in entry else "no arguments"


def tools_by_name(tools: object) -> dict[str, Json]:
    """Return tools by name, each as in a process; what is no tool is left out of a list."""
    if isinstance(tools, Mapping):
        return {name: _entry_of(tool) for name, tool in tools.items()}
    found: dict[str, Json] = {}
    for tool in tools if isinstance(tools, list | tuple) else ():
        entry = _entry_of(tool)
        name = entry.get("name") if entry.__class__ is dict else None
        if name.__class__ is str:
            found.setdefault(name, entry)
    return found


def _entry_of(tool: object) -> Json:
    """Return a tool as in a process: what it takes in `arguments`, what it gives in `output`; as it is if it is not one."""
    said = _of_shown(tool) if isinstance(tool, ShownTool) else _of_python(tool)
    if said.__class__ is dict and said.get("function").__class__ is dict:
        said = said["function"]
    if said.__class__ is not dict:
        return said
    found = {"arguments": _ARGUMENTS, "output": _OUTPUTS}
    return said | {key: said[word] for key, words in found.items() for word in words[::-1] if word in said}


def _of_shown(tool: ShownTool) -> Json:
    said = _of_python(tool.schema)
    if said is not tool.schema and isinstance(said, dict):  # a type or a function
        return {**said, "name": tool.name}
    return {"name": tool.name, "arguments": said}


def _of_python(tool: object) -> Json:
    """Return what a function or a type of Python takes and gives; any other value as it is."""
    if tool.__class__ in {dict, list, str, int, float, bool, type(None)}:
        return cast("Json", tool)
    try:
        described = schema_of_type(tool)
        output = {} if described is None or describes_values(tool) else schema_of_result(tool)
    except (TypeError, CompileError):  # pydantic cannot describe it, or is not installed
        described = None
    if described is None:
        return model_as_json(tool)  # of a library such as that of MCP
    if not _is_of_objects(described.schema):
        return cast("Json", tool)
    return {"name": described.name, "arguments": described.schema, "output": output}


def _is_of_objects(schema: Json) -> bool:
    """Tell whether pydantic describes an object: by its type, or by reference where it holds itself."""
    return schema.__class__ is dict and (schema.get("type") == "object" or "$ref" in schema)


def _flat(schema: Json) -> Json:
    """Return a schema without references and `allOf`; as it is if it cannot be read."""
    if not any(node.__class__ is dict and not node.keys().isdisjoint(("$ref", "allOf")) for _, node in walk(schema)):
        return schema
    try:
        flat: Json = flatten(schema)
    except CompileError:
        return schema
    return flat
