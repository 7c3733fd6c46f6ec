"""Read the tools of a plan: the schemas of their arguments and outputs.

`tools` is `{NAME: {"activity" | "process", "arguments", "output", "bound"?}}`; tools in the form for models, in a list
or by name, and annotated Python functions and types are supported too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, cast

from instrc.problems.errors import InstrcError
from instrc.problems.plans import ToolsFault
from instrc.schema.flattening.flatten import flatten
from instrc.schema.kinds import ALL, own_kinds
from instrc.schema.patterns import matches
from instrc.schema.relations import disjoint
from instrc.schema.validation import validate
from instrc.schema.walk import TRIVIAL, walk
from instrc.text.arguments import model_as_json
from instrc.text.jsonvalue import Json, JsonArray, as_object, as_text
from instrc.text.visible import shortened
from instrc.tools import definitions
from instrc.tools.python_types import describes_values, schema_of_result, schema_of_type
from instrc.tools.tasks import argument_text, argument_value
from instrc.tools.tool import Tool as ShownTool

RELATED_LEVELS: Final = 12
"""Maximum nesting at which two schemas are compared for a plan."""
RELATED_BRANCHES: Final = 64
"""Maximum branches of one schema that are examined; larger schemas are assumed to fit."""
SHOWN_VERDICT: Final = 300
"""Maximum characters of a validator's message."""
_SAYS_NOTHING = frozenset({"title", "description", "default", "examples", "contentMediaType", "contentEncoding", "$comment"})


class ArgumentValidator:
    """Validates the values of one argument; an unusable schema accepts everything."""

    def __init__(self, schema: Json, definitions: dict[str, Json]) -> None:
        self._schema = {**schema, "$defs": definitions} if definitions and schema.__class__ is dict else schema
        self._any_text = (
            isinstance(schema, dict) and schema.get("type") == "string" and _SAYS_NOTHING.issuperset(schema.keys() - {"type"})
        )

    def accepts(self, value: Json) -> bool:
        """Return whether a value satisfies the schema."""
        return self.fault(value) is None

    def fault(self, value: Json) -> str | None:
        """Return a short description of a value's fault, or `None` if it is valid."""
        if self._any_text and value.__class__ is str:  # the usual case
            return None
        for violation in validate(value, self._schema, most=1):
            if violation.keyword == "schema":  # the schema cannot be applied: that is not the plan's fault
                return None
            return shortened(violation.message, SHOWN_VERDICT)
        return None


_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "propertyOrdering"}
)
_OF_TOOLS = frozenset({"activity", "process", "bound", "name", "title", "description"})
"""Members of a map entry that describe a tool, apart from its inputs and outputs."""
_OUTPUTS = ("output", "output_schema", "outputSchema")
_PER_ARGUMENT = frozenset({"type", "properties", "required", "additionalProperties", "patternProperties", "$defs", "$schema"})
"""Keywords of a tool's arguments that are examined one argument at a time."""
_OF_SCHEMAS = (_PER_ARGUMENT - {"type"}) | {"$ref", "allOf", "anyOf", "oneOf"}
"""Keywords that only a schema has, whatever defines the tool."""


class PlanTool:
    """A tool as used by plans."""

    def __init__(self, name: str, entry: Json) -> None:
        self.name = name
        given = entry if entry.__class__ is dict else {}
        self._arguments: Json = given.get("arguments", {})
        self._output: Json = given.get("output", {})
        bound = given.get("bound")
        self.bound: frozenset[str] = frozenset(bound) if bound.__class__ is dict else frozenset()
        """Arguments that the program provides."""
        self._validators: dict[str, ArgumentValidator] = {}

    @cached_property
    def arguments(self) -> dict[str, Json]:
        """The flat schema of all arguments together."""
        flat = _flat(self._arguments)
        return flat if flat.__class__ is dict else {}

    @cached_property
    def output(self) -> Json:
        """The flat schema of its result."""
        return _flat(self._output)

    @cached_property
    def properties(self) -> dict[str, Json]:
        """The schemas of the arguments by name."""
        properties = self.arguments.get("properties")
        return properties if properties.__class__ is dict else {}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The arguments that a plan must provide."""
        names = self.arguments.get("required")
        return (
            tuple(as_text(name) for name in names if isinstance(name, str) and name not in self.bound)
            if isinstance(names, list)
            else ()
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The known names of the arguments that a plan may provide."""
        return tuple(name for name in self.properties if name not in self.bound)

    @cached_property
    def whole(self) -> ArgumentValidator | None:
        """The validator of all arguments together, if a schema has keywords that concern several of them."""
        further = any(word not in _PER_ARGUMENT and word not in _ANNOTATIONS for word in self.arguments)
        return ArgumentValidator(self.arguments, {}) if further and not self.bound else None

    def schema(self, name: str) -> Json:
        """Return the schema of an argument, or `None` if the tool has none of that name.

        An object schema without keywords for unlisted names allows no others, unless it lists none.
        """
        if name in self.bound:
            return None
        patterns = self.arguments.get("patternProperties")
        by_pattern = patterns if patterns.__class__ is dict else {}
        result = [schema for pattern, schema in by_pattern.items() if matches(pattern, name) is not False]
        if name in self.properties:
            return self.properties[name] if not result else {"allOf": [self.properties[name], *result]}
        if result:
            return {"allOf": result}
        rest = self.arguments.get("additionalProperties", not self.properties)
        return None if rest is False else rest

    def validator(self, name: str) -> ArgumentValidator:
        """Return the validator for an argument of the tool."""
        result = self._validators.get(name)
        if result is None:
            definitions = self.arguments.get("$defs")
            result = ArgumentValidator(self.schema(name), definitions if definitions.__class__ is dict else {})
            if name in self.properties:
                self._validators[name] = result
        return result

    def takes_text(self, name: str) -> bool:
        """Return whether an argument is always a text, so that a text of digits is not a number."""
        schema = self.schema(name)
        return schema.__class__ is dict and own_kinds(schema) == {"string"}

    def takes_itself(self, name: str, value: Json) -> bool:
        """Return whether `{"from": …}` is an ordinary value of an argument, because its schema describes such objects."""
        schema = self.schema(name)
        if schema in TRIVIAL or schema is None or schema.__class__ is not dict or _ANNOTATIONS.issuperset(schema):
            return False
        return self.validator(name).accepts(value)


def _flat(schema: Json) -> Json:
    """Return a schema without references and `allOf`, or unchanged if it cannot be read."""
    if not any(node.__class__ is dict and not node.keys().isdisjoint(("$ref", "allOf")) for _, node in walk(schema)):
        return schema
    try:
        flat: Json = flatten(schema)
    except InstrcError:
        return schema
    return flat


class ToolSet:
    """All tools of a plan; each is parsed on first access."""

    def __init__(self, tools: object) -> None:
        self._entries: Mapping[str, Json] = tools_by_name(tools)
        self._tools: dict[str, PlanTool] = {}
        self.names: tuple[str, ...] = tuple(name for name in self._entries if name.__class__ is str)

    def get(self, name: str) -> PlanTool | None:
        """Return a tool, or `None` for an unknown name."""
        result = self._tools.get(name)
        if result is None and name in self._entries:
            result = self._tools[name] = PlanTool(name, self._entries[name])
        return result


def why_undescribed(tools: object) -> str | None:
    """Return why a Python function or type among tools has no schema, or `None` if all have one."""
    for tool in tools.values() if isinstance(tools, Mapping) else tools if isinstance(tools, list | tuple) else ():
        if tool.__class__ is dict or _entry_of(tool).__class__ is dict:
            continue
        try:
            described = schema_of_type(tool)
            if described is not None and not describes_values(tool):
                schema_of_result(tool)
        except (TypeError, InstrcError) as error:
            return str(error)
    return None


def _entry_of(tool: object) -> Json:
    """Return a tool in process form, with its inputs in `arguments` and its result in `output`; any other value unchanged."""
    entry = _of_python(tool.schema if isinstance(tool, ShownTool) else tool)
    if isinstance(tool, ShownTool):  # its schema is a type or a function
        entry = {**(entry if isinstance(entry, dict) and entry is not tool.schema else {"arguments": entry}), "name": tool.name}
    while isinstance(entry, dict) and not definitions.is_definition(entry):
        held = next((inner for inner in definitions.inside(entry).values() if isinstance(inner, dict)), None)
        if held is None:
            break
        entry = held
    if not isinstance(entry, dict):
        return entry
    if "arguments" not in entry and not definitions.PARAMETER_WORDS.isdisjoint(entry):
        entry = {**entry, "arguments": definitions.definition(entry).schema}
    output = next((word for word in _OUTPUTS if word in entry), None)
    return entry if output is None else {**entry, "output": entry[output]}


def _of_python(tool: object) -> Json:
    """Return the inputs and the result of a Python function or type; any other value unchanged."""
    if tool.__class__ in {dict, list, str, int, float, bool, type(None)}:
        return cast("Json", tool)
    try:
        described = schema_of_type(tool)
        output = {} if described is None or describes_values(tool) else schema_of_result(tool)
    except (TypeError, InstrcError):  # pydantic cannot describe it, or is not installed
        described = None
    if described is None:
        return model_as_json(tool)  # of a library such as that of MCP
    if not _is_of_objects(described.schema):
        return cast("Json", tool)
    return {"name": described.name, "arguments": described.schema, "output": output}


def _is_of_objects(schema: Json) -> bool:
    """Return whether a pydantic schema describes an object: by its type, or by a reference if it contains itself."""
    return schema.__class__ is dict and (schema.get("type") == "object" or "$ref" in schema)


def fault_of_tools(tools: object) -> tuple[str | None, ToolsFault] | None:
    """Return what is wrong with the tools of a plan, and the name of the invalid one, or `None` if they are valid.

    Tools are a map, or a list that is empty or contains at least one.
    A list in a provider's format may contain the provider's own tools, which no plan can call.
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
    """Return tools by name in process form; list entries that are not tools are left out."""
    if isinstance(tools, Mapping):
        return {name: _entry_of(tool) for name, tool in tools.items()}
    result: dict[str, Json] = {}
    for tool in tools if isinstance(tools, list | tuple) else ():
        entry = _entry_of(tool)
        name = entry.get("name") if entry.__class__ is dict else None
        if name.__class__ is str:
            result.setdefault(name, entry)
    return result


def uniform_value(text: str, name: str, tool: PlanTool | None) -> Json:
    """Return the value of a text in the uniform spelling."""
    return argument_value(text, raw=tool is not None and tool.takes_text(name))


def uniform_text(value: Json, name: str, tool: PlanTool | None) -> str:
    """Return the text of a value in the uniform spelling."""
    return argument_text(value, raw=tool is not None and tool.takes_text(name))


NULL: Json = {"type": "null"}


def part_of_output(schema: Json, step: str) -> Json:
    """Return the schema of the value that a path step leads to, including `null` if it may be missing."""
    return _union([item for branch in alternatives(schema) for item in _parts(branch, step)])


def _union(schemas: list[Json]) -> Json:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas} if schemas else False


def _parts(schema: Json, step: str) -> Iterator[Json]:
    """Yield the schemas that a step leads to in one alternative."""
    if schema.__class__ is not dict:
        yield True
        return
    names = _types(schema)
    if names is None or "object" in names:
        yield from _member(schema, step)
    if (names is None or "array" in names) and step.isdecimal():
        yield from _element(schema, int(step[:9]))
    elif names is not None and "array" in names:
        yield NULL
    if names is not None and not {"object", "array"}.issuperset(names):
        yield NULL


def _types(schema: Json) -> frozenset[str] | None:
    kinds = own_kinds(schema) if schema.__class__ is dict else ALL
    return None if kinds == ALL else kinds


def _member(schema: dict[str, Json], name: str) -> Iterator[Json]:
    properties, patterns, required = (schema.get(word) for word in ("properties", "patternProperties", "required"))
    if patterns.__class__ is dict and any(matches(pattern, name) is not False for pattern in patterns):
        yield True
        return
    if properties.__class__ is dict and name in properties:
        yield properties[name]
    else:
        rest = schema.get("additionalProperties", True)
        if rest is not False:
            yield rest
    if required.__class__ is not list or name not in required:
        yield NULL


def _element(schema: dict[str, Json], index: int) -> Iterator[Json]:
    prefix, least = schema.get("prefixItems"), schema.get("minItems", 0)
    if prefix.__class__ is list and index < len(prefix):
        yield prefix[index]
    else:
        yield schema.get("items", True)
    if least.__class__ is not int or least <= index:
        yield NULL


def elements(schema: Json) -> Json:
    """Return the schema of the elements of a list, or `False` if there are none."""
    result: list[Json] = []
    for branch in alternatives(schema):
        names = _types(branch)
        if names is None or "array" in names:
            prefix = branch.get("prefixItems") if branch.__class__ is dict else None
            result += prefix if prefix.__class__ is list else []
            result.append(branch.get("items", True) if branch.__class__ is dict else branch)
    return _union([item for item in result if item is not False])


def is_no_list(schema: Json) -> bool:
    """Return whether a value of a schema is certainly not a list; `null` has no elements either."""
    types = [_types(branch) for branch in alternatives(schema)]
    return all(names is not None and "array" not in names for names in types)


def alternatives(schema: Json, depth: int = 0) -> Iterator[Json]:
    """Yield schemas one of which accepts each value of a schema; they may be wider than it, never narrower."""
    branches: JsonArray | None = None
    if isinstance(schema, dict) and depth < RELATED_LEVELS:
        branches = next((found for word in ("anyOf", "oneOf") if isinstance(found := schema.get(word), list)), None)
    if not isinstance(schema, dict) or branches is None or len(branches) > RELATED_BRANCHES:
        yield schema
        return
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    for branch in branches:
        if branch is True or branch == {}:
            yield rest
        elif branch.__class__ is dict and not disjoint(rest, branch):
            for inner in alternatives(branch, depth + 1):
                bare = "type" in rest and isinstance(inner, dict) and "type" not in inner
                yield {**as_object(inner), "type": rest["type"]} if bare else inner
