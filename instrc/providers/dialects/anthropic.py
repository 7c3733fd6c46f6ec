"""Anthropic and Amazon Bedrock: tools, plain and strict."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.dialect import FORMATS, NOT_ENFORCED, PLAIN_PATTERNS, STRICT, WORD, Dialect, Fact, Limits, NameRule
from instrc.text.jsonvalue import Json, JsonObject

_RESULT: Json = {"type": "tool_result", "tool_use_id": "@id", "content": "@text", "is_error": "@error"}
_PLAIN: JsonObject = {"name": "@name", "description": "@description", "input_schema": "@schema", "input_examples": "@examples"}
_DOCUMENTED = "Anthropic documentation, structured outputs"
SHOWN = Fact(NOT_ENFORCED, "anthropic 2.12.0, types/tool_param.py", "2026-11-23", ("structure", "order", "closed", "enforced"))
RULES = (
    Fact("one key outside [a-zA-Z0-9_.-]{1,64} fails the request", "anthropics/claude-code#4668, #79418", "2026-11-20", ("key",)),
    Fact(
        "names are of [a-zA-Z0-9_-]; 128 characters are reported today, 64 in 2025 and for references to tools: 64 are taken",
        "home-assistant#147760, claude-code#96152, #21492",
        "2026-11-20",
        ("tool_name",),
    ),
    Fact("no oneOf, allOf, anyOf at the top", "anthropics/claude-code#40075", "2026-11-20", ("root",)),
    Fact("the case of enum values may change in answers", _DOCUMENTED, "2026-11-20", ("fold",)),
    Fact(
        "whether keywords that begin with x- are taken is not known", "nothing published was found", "2026-11-20", ("comments",)
    ),
    Fact(
        "calls are blocks beside the text, tool_use; their results are blocks tool_result",
        "anthropic 2.12.0, types/tool_use_block.py, types/tool_result_block_param.py",
        "2026-11-23",
        ("extracts_calls", "result"),
    ),
)
"""Rules that apply with and without strictness."""


def anthropic() -> Dialect:
    """Return the dialect of Anthropic tools."""
    return Dialect(
        name="anthropic",
        title="Anthropic tool",
        result={"role": "user", "content": [_RESULT]},
        envelope=_PLAIN,
        example="@value",
        where=("input_schema",),
        tool_name=WORD,
        key=NameRule("a-zA-Z0-9_.-", "a-zA-Z0-9_.-", 64),
        structure="pass_through",
        order="free",
        closed=False,
        fold=True,
        shares=True,
        extracts_calls=True,
        comments=False,
        enforced=False,
        facts=(
            Fact(
                "a tool has name, description, input_schema and input_examples",
                "anthropic 2.12.0, types/tool_param.py",
                "2026-11-23",
                ("envelope", "where", "example"),
            ),
            Fact("references within the schema are followed", _DOCUMENTED, "2026-11-20", ("shares",)),
            SHOWN,
            *RULES,
        ),
    )


STRICT_RULES = (
    Fact(
        "each object is closed, no recursion, no bounds of numbers and lengths",
        _DOCUMENTED,
        "2026-11-20",
        ("closed", "recursion", "maps", "keywords"),
    ),
    Fact(
        "the formats of strings; patterns without look-around, back-references and \\b",
        _DOCUMENTED,
        "2026-11-20",
        ("formats", "patterns"),
    ),
    Fact("20 strict tools, 24 optional, 16 union-typed parameters a request", _DOCUMENTED, "2026-11-20", ("limits",)),
    Fact("required properties come first, then optional ones", _DOCUMENTED, "2026-11-20", ("order",)),
    Fact("minItems is 0 or 1", _DOCUMENTED, "2026-11-20", ("most_min_items",)),
    Fact(
        "the SDK puts tuples into words, empties maps, and refuses a place without a type",
        "anthropic 2.12.0, transform_schema, run",
        "2026-11-23",
        ("tuples", "maps", "anything"),
    ),
    Fact(
        "the limit of the compiled grammar may be reached below 20, 24 and 16: 7 simple strict tools failed once",
        "anthropics/anthropic-sdk-typescript#885, alphaXiv/agents#49",
        "2026-11-21",
    ),
    *RULES,
    *PLAIN_PATTERNS,
)


def anthropic_strict() -> Dialect:
    """Return the dialect of Anthropic strict tools."""
    return replace(
        anthropic(),
        name="anthropic-strict",
        title="Anthropic strict tool",
        envelope={**_PLAIN, "strict": True},
        plain=_PLAIN,
        structure="rebuild",
        keywords=STRICT | {"default", "minItems"},
        order="required-first",
        closed=True,
        maps="pairs",
        tuples="object",
        anything="text",
        recursion="unroll",
        shares=False,
        formats=FORMATS | {"uri"},
        patterns="plain",
        most_min_items=1,
        enforced=True,
        limits=Limits(strict_tools=20, optional=24, unions=16),
        facts=(
            Fact(
                "strict stands on the tool, beside name, description, input_schema and input_examples",
                "anthropic 2.12.0, types/tool_param.py",
                "2026-11-23",
                ("envelope", "plain", "where", "example"),
            ),
            *STRICT_RULES,
        ),
    )


def anthropic_output() -> Dialect:
    """Return the dialect of Anthropic structured outputs (output_config.format)."""
    return replace(
        anthropic_strict(),
        name="anthropic-output",
        title="Anthropic structured output (output_config.format)",
        tool=False,
        envelope={"type": "json_schema", "schema": "@schema"},
        plain=None,
        example=None,
        where=("schema",),
        limits=Limits(optional=24, unions=16),
        facts=(
            Fact(
                "a format is flat, without a name",
                "anthropic 2.12.0, types/json_output_format_param.py",
                "2026-11-23",
                ("tool", "envelope", "where"),
            ),
            *STRICT_RULES,
        ),
    )


_SPECIFICATION: JsonObject = {"name": "@name", "description": "@description", "inputSchema": {"json": "@schema"}}
_BEDROCK_RESULT: Json = {"toolUseId": "@id", "content": [{"text": "@words"}], "status": "@status"}
_SPECIFIED = "botocore 1.44.5, bedrock-runtime, ToolSpecification"
_FACTS = (
    Fact(
        "the result of a tool is a toolResult with toolUseId, content and status",
        "botocore 1.44.5, bedrock-runtime, ToolResultBlock",
        "2026-11-22",
        ("result",),
    ),
    Fact("names are 1 to 64 of [a-zA-Z0-9_-]", "botocore 1.44.5, bedrock-runtime, ToolName", "2026-11-22", ("tool_name",)),
)


def bedrock() -> Dialect:
    """Return the dialect of Amazon Bedrock Converse tools."""
    return replace(
        anthropic(),
        name="bedrock",
        title="Amazon Bedrock Converse tool",
        envelope={"toolSpec": _SPECIFICATION},
        example=None,
        where=("toolSpec", "inputSchema", "json"),
        shares=False,
        result={"role": "user", "content": [{"toolResult": _BEDROCK_RESULT}]},
        facts=(
            Fact("a tool is a toolSpec with its schema under json", _SPECIFIED, "2026-11-22", ("envelope", "where")),
            *_FACTS,
            SHOWN,
            *RULES,
        ),
    )


def bedrock_output() -> Dialect:
    """Return the dialect of Amazon Bedrock Converse structured outputs (outputConfig)."""
    asked: Json = {"name": "@name", "description": "@description", "schema": "@schema-text"}
    return replace(
        anthropic_output(),
        name="bedrock-output",
        title="Amazon Bedrock Converse structured output (outputConfig)",
        envelope={"textFormat": {"type": "json_schema", "structure": {"jsonSchema": asked}}},
        where=("textFormat", "structure", "jsonSchema", "schema"),
        result={"role": "user", "content": [{"toolResult": _BEDROCK_RESULT}]},
        facts=(
            Fact(
                "the schema of an output is a text",
                "botocore 1.44.5, bedrock-runtime, JsonSchemaDefinition",
                "2026-11-22",
                ("tool", "envelope", "where"),
            ),
            *_FACTS,
            *STRICT_RULES,
        ),
    )


def bedrock_strict() -> Dialect:
    """Return the dialect of Amazon Bedrock Converse strict tools."""
    return replace(
        anthropic_strict(),
        name="bedrock-strict",
        title="Amazon Bedrock Converse strict tool",
        envelope={"toolSpec": {**_SPECIFICATION, "strict": True}},
        plain={"toolSpec": _SPECIFICATION},
        example=None,
        where=("toolSpec", "inputSchema", "json"),
        result={"role": "user", "content": [{"toolResult": _BEDROCK_RESULT}]},
        facts=(
            Fact(
                "a tool is a toolSpec with its schema under json; strict enforces the schema",
                _SPECIFIED,
                "2026-11-22",
                ("envelope", "plain", "where", "enforced"),
            ),
            *_FACTS,
            *STRICT_RULES,
        ),
    )
