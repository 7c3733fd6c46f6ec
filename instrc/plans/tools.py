"""The tools that a plan may call: `{NAME: {"activity" | "process", "arguments", "output", "bound"?}}`.

A list of tools as models are shown them will do: each has its name, and the schema of what it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from instrc.flattening.flatten import flatten
from instrc.ir.tool import Tool as ShownTool
from instrc.jsonvalue import Json, as_text
from instrc.plans.argument_validator import ArgumentValidator
from instrc.problems.problem import CompileError
from instrc.schema.kinds import own_kinds
from instrc.schema.name_patterns import matches
from instrc.schema.walk import TRIVIAL, walk

_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"})
_ARGUMENTS = ("arguments", "parameters", "input_schema", "inputSchema", "schema")
"""How providers and protocols name the schema of what a tool takes."""
_OF_TOOLS = frozenset({"activity", "process", "arguments", "output", "bound"})
"""What an entry of a map may say of a tool."""
_OUTPUTS = ("output", "output_schema", "outputSchema")
_PER_ARGUMENT = frozenset({"type", "properties", "required", "additionalProperties", "patternProperties", "$defs", "$schema"})
"""Keywords of a tool's arguments that are looked at one argument at a time."""


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

    def __init__(self, tools: Json) -> None:
        self._entries: Mapping[str, Json] = tools if tools.__class__ is dict else _entries_of(tools)
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


def are_tools(tools: object) -> bool:
    """Tell whether a value can be the tools of a plan: a map, or a list that is empty or holds at least one.

    A list as a provider takes it may hold tools of the provider itself, which no plan can call.
    """
    return isinstance(tools, Mapping) or (isinstance(tools, list | tuple) and (not tools or bool(_entries_of(tools))))


def bare_schema(tools: object) -> str | None:
    """Return the name of a tool in a map that is the schema of its arguments, not an object with that schema in `arguments`."""
    for name, entry in tools.items() if isinstance(tools, Mapping) else ():
        if entry.__class__ is dict and _OF_TOOLS.isdisjoint(entry) and not _PER_ARGUMENT.isdisjoint(entry):
            return str(name)
    return None


def _entries_of(tools: object) -> dict[str, Json]:
    """Return the map of tools in a list; what is no tool is left out."""
    found: dict[str, Json] = {}
    for tool in tools if isinstance(tools, list | tuple) else ():
        said = {"name": tool.name, "arguments": tool.schema} if isinstance(tool, ShownTool) else tool
        if said.__class__ is dict and said.get("function").__class__ is dict:
            said = said["function"]
        name = said.get("name") if said.__class__ is dict else None
        if name.__class__ is str:
            arguments: Json = next((said[word] for word in _ARGUMENTS if word in said), {})
            output: Json = next((said[word] for word in _OUTPUTS if word in said), {})
            found.setdefault(name, {**said, "arguments": arguments, "output": output})
    return found


def _flat(schema: Json) -> Json:
    """Return a schema without references and `allOf`; as it is if it cannot be read."""
    if not any(node.__class__ is dict and not node.keys().isdisjoint(("$ref", "allOf")) for _, node in walk(schema)):
        return schema
    try:
        flat: Json = flatten(schema)
    except CompileError:
        return schema
    return flat
