"""Recognise tools as providers, protocols, libraries and data sets write them, and the parts of each.

Only this module knows these names.  Values are read as written: a tool for a model must be valid
(`given`), an imported one is repaired with a note (`function_lists`), and plans read only the schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from instrc.schema.vocabulary import JSON_SCHEMA
from instrc.text.arguments import excerpt
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, JsonSyntaxError, Location, as_object, mapping

LEVELS: Final = 100
"""Maximum nesting of wrappers around a tool."""
LISTS: Final = (
    *("tools", "functions", "functionDeclarations", "function_declarations", "result", "available_tools", "toolConfig"),
    *("specifications", "params"),
)
"""Members of requests, server responses and data sets that hold tools or lead to them."""
ONE: Final = ("function", "json_schema", "response_format", "format", "text", "tool", "toolSpec", "custom")
"""Members that hold one tool, or in data sets a list."""
NAMES: Final = ("name", "api_call", "api_name", "function_name")
SCHEMA_WORDS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "schema")
"""Names that providers and protocols use for the schema of a tool's arguments."""
_OF_DATA_SETS = ("args", "arguments")
"""Further names for that schema in data sets; elsewhere they hold the arguments of a call."""
TWO_LISTS: Final = ("required_parameters", "optional_parameters")
AS_SENT: Final = frozenset({*SCHEMA_WORDS, "function", "toolSpec", "functionDeclarations", "function_declarations"} - {"schema"})
"""Members that are nearly specific to a provider's tool."""
PARAMETER_WORDS: Final = frozenset({*SCHEMA_WORDS, *_OF_DATA_SETS, *TWO_LISTS, "inputs"})
"""All members that describe a tool's parameters."""
RESULTS: Final = ("outputSchema", "output_schema", "response", "responseJsonSchema", "returns")
_OF_A_FUNCTION = frozenset({*NAMES, *RESULTS, "title", "description", "strict", "type", "required", "annotations", "_meta"})
"""Members that mark a named object as a function even without parameters."""
_NOT_BESIDE_A_SCHEMA = JSON_SCHEMA - {"title", "description", "type", "examples", "deprecated"}
"""Keywords that never occur next to the schema of a tool."""
CARRIED_OUT_BY_THE_CALLER: Final = frozenset({"function", "custom", "object", "json_schema"})
"""Values of a tool's `type` for which the caller, not the provider, carries it out."""
OBJECTS_BESIDE_THE_SCHEMA: Final = frozenset(
    {"annotations", "_meta", "outputSchema", "response", "responseJsonSchema", "return_parameters", "cache_control"}
)
"""Members of a tool that hold an object other than the schema of its arguments."""
EXAMPLES: Final = ("input_examples", "few_shot_examples")
OPTIONS: Final = "x-tool"
"""Keyword of a vibe that holds provider options for its tool, by target or the first word of several targets."""
_OPTIONS: Final = {
    "anthropic": ("input_schema", ("allowed_callers", "cache_control", "defer_loading", "eager_input_streaming")),
    "openai": ("parameters", ("allowed_callers", "defer_loading")),
}
"""Member with the schema, and the options; from anthropic 2.14.0 and openai 3.57.0, parameters of tools, 2026-11-28."""


class ToolWords(NamedTuple):
    """The attribute names of a tool's parts in the objects of a library."""

    schema: str
    name: str = "name"
    description: str = "description"


OBJECTS: Final = (
    ToolWords("args_schema"),  # LangChain
    ToolWords("parameters_json_schema"),  # pydantic-ai
    ToolWords("params_json_schema"),  # OpenAI Agents SDK
    ToolWords("input_schema"),  # functions that Anthropic's library turns into tools
    ToolWords("inputs"),  # smolagents
)


class ToolDefinition(NamedTuple):
    """The parts of a tool as written, by member; the schema may be any JSON value."""

    name: str | None
    """Name of the member that holds the tool's name."""
    schema: Json
    """Schema of the arguments; `None` if the definition has none."""
    schema_at: Location
    """Location of the schema in the definition; `()` if several members form it together."""
    result: str | None
    """Name of the member that holds the schema of the result."""
    read: frozenset[str]
    """All members that these fields were read from."""


def inside(value: JsonObject) -> dict[str, Json]:
    """Return the members of a wrapper that hold tools or lead to them, lists first; a member may be JSON text."""
    return {key: value[key] for key in (*LISTS, *ONE) if key in value and _leads_on(value[key])}


def _leads_on(item: Json) -> bool:
    return item.__class__ in {list, dict} or (item.__class__ is str and unpacked(item) is not None)


def unpacked(text: Json) -> Json:
    """Return the list or object in a JSON text, as data sets write their tools, or `None`."""
    if not isinstance(text, str) or not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return loads(text)
    except (JsonSyntaxError, ValueError):
        return None


def is_definition(value: JsonObject) -> bool:
    """Return whether an object is a tool itself, and neither a wrapper nor a tool that its provider runs."""
    has_schema = not PARAMETER_WORDS.isdisjoint(value)
    named = any(value.get(key).__class__ is str for key in NAMES)
    wraps = any(value.get(key).__class__ in {dict, list} for key in ("function", "tools", "functions", "json_schema"))
    provider = value.get("type").__class__ is str and value["type"] not in {"function", "custom", "object"} and not has_schema
    marked = "description" in value or value.get("type") in ("function", "custom") or value.get("format").__class__ is dict
    bare = named and (marked or value.keys() <= _OF_A_FUNCTION)
    return (has_schema or bare) and not (wraps or provider)


def of_provider(document: JsonObject) -> tuple[str, str] | None:
    """Return the display name of a tool or list of tools and the kind of import for it, or `None` for anything else."""
    is_named, is_no_schema = isinstance(document.get("name"), str), document.keys().isdisjoint(_NOT_BESIDE_A_SCHEMA)
    holds = {word for word, value in document.items() if isinstance(value, dict)}
    version, tools = document.get("openapi", document.get("swagger")), document.get("tools")
    if document.get("type") == "function":
        is_openai = "function" in holds or {"name", "parameters"} <= document.keys()
    else:
        is_openai = "parameters" in holds and is_named and is_no_schema
    if is_no_schema:
        declared = document.get("functionDeclarations", document.get("function_declarations"))
        typed = str(mapping(document.get("parameters")).get("type", "")).isupper()
        whole = document.get("parametersJsonSchema", document.get("parameters_json_schema"))
        if isinstance(declared, list) or (is_named and (typed or isinstance(whole, dict))):
            return "a Gemini tool", "mcp"
        if isinstance(document.get("toolSpec", document.get("toolConfig")), dict):
            return "a Bedrock tool", "mcp"
    if is_openai:
        return "an OpenAI tool", "openai"
    if is_no_schema and is_named and "input_schema" in holds:
        return "an Anthropic tool", "anthropic"
    if is_no_schema and is_named and "inputSchema" in holds:
        return "an MCP tool", "mcp"
    if isinstance(version, str) and "paths" in holds:
        return "an OpenAPI document", "openapi"
    if is_no_schema and isinstance(tools, list) and tools and all(isinstance(tool, dict) for tool in tools):
        return "a list of tools", "mcp"
    return None


def definition(value: JsonObject, *, of_data_sets: bool = False) -> ToolDefinition:
    """Read the parts of a tool; data sets may also name its schema `arguments`, and write it as JSON text."""
    read: set[str] = set()

    def first(words: tuple[str, ...]) -> str | None:
        found = next((word for word in words if value.get(word) is not None), None)
        read.update(word for word in words if word in value and (word == found or value[word] is None))
        return found

    name, result = first(NAMES), first(RESULTS)
    member = first((*SCHEMA_WORDS, *(_OF_DATA_SETS if of_data_sets else ())))
    schema: Json = None if member is None else value[member]
    at: Location = () if member is None else (member,)
    if of_data_sets and (held := unpacked(schema)) is not None:
        schema = held
    if member == "inputSchema" and isinstance(schema, dict) and schema.keys() == {"json"} and not _is_parameter(schema["json"]):
        schema, at = schema["json"], (*at, "json")  # as Bedrock Converse writes it
    if member is None and isinstance(inputs := value.get("inputs"), dict):
        schema, at = inputs_schema(inputs), ("inputs",)
        read.add("inputs")
    elif member is None and (lists := {key: value[key] for key in TWO_LISTS if _is_list_of_parameters(value.get(key))}):
        schema = _of_two_lists(lists)
        read.update(lists)
    if isinstance(required := value.get("required"), list) and isinstance(schema, dict) and "properties" in schema:
        schema = {"required": required, **schema}  # misplaced next to the parameters
    return ToolDefinition(name, schema, at, result, frozenset(read | {"required"}))


def options(value: JsonObject) -> JsonObject:
    """Return a tool's options for its provider, as a vibe has them in `x-tool`."""
    result: JsonObject = {}
    for family, (member, names) in _OPTIONS.items():
        if member in value and (own := {name: value[name] for name in names if value.get(name) is not None}):
            result[family] = own
    return result


def _is_parameter(schema: Json) -> bool:
    """Return whether a schema belongs to one argument rather than all."""
    return isinstance(schema, dict) and "type" in schema and schema["type"] != "object" and "properties" not in schema


def _is_list_of_parameters(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in value)


def _of_two_lists(lists: Mapping[str, Json]) -> JsonObject:
    """Return one schema for parameters in two lists, required and optional ones."""
    named = {key: [as_object(item) for item in listed] for key, listed in lists.items() if isinstance(listed, list)}
    properties: JsonObject = {
        str(item["name"]): {word: part for word, part in item.items() if word != "name"}
        for listed in named.values()
        for item in listed
    }
    required: JsonObject = {"required": [item["name"] for item in named[TWO_LISTS[0]]]} if TWO_LISTS[0] in named else {}
    return {"type": "object", "properties": properties, **required}


def inputs_schema(inputs: JsonObject) -> JsonObject:
    """Return the schema of the inputs of a smolagents tool: optional ones are `nullable`."""
    required: list[Json] = [name for name, schema in inputs.items() if not isinstance(schema, dict) or _is_required(schema)]
    return {"type": "object", "properties": inputs, "required": required}


def _is_required(schema: JsonObject) -> bool:
    return schema.get("nullable") is not True and schema.get("required") is not False and schema.get("optional") is not True


def free_text_schema(tool: Mapping[str, object]) -> Json:
    """Return the schema of an OpenAI custom tool, which takes a text: one property for it, with its grammar in the description.

    The format is `{"type": "grammar", "grammar": {"syntax", "definition"}}` in Chat Completions, and flat in Responses.
    """
    given = tool.get("format")
    held = given.get("grammar", given) if isinstance(given, Mapping) else {}
    grammar = held if isinstance(held, Mapping) else {}
    kind = given.get("type") if isinstance(given, Mapping) else "text"
    known = kind == "text" or (kind == "grammar" and isinstance(grammar.get("definition"), str))
    if not known:
        raise TypeError(f"the format {excerpt(given)} of a custom tool is neither a text nor a grammar")
    words = f"A text of this grammar ({grammar.get('syntax')}):\n{grammar['definition']}" if kind == "grammar" else "A free text."
    text: Json = {"type": "string", "description": words}
    return {"type": "object", "properties": {"input": text}, "required": ["input"], "additionalProperties": False}
