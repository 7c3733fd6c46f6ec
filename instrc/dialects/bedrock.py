"""Amazon Bedrock: tools of the Converse interface, under the rules of Anthropic's models there."""

from __future__ import annotations

from dataclasses import replace

from instrc.dialects.anthropic import RULES, SHOWN, STRICT_RULES, anthropic, anthropic_output, anthropic_strict
from instrc.ir.dialect import Dialect, Fact
from instrc.jsonvalue import Json, JsonObject

_SPECIFICATION: JsonObject = {"name": "@name", "description": "@description", "inputSchema": {"json": "@schema"}}
_RESULT: Json = {"toolUseId": "@id", "content": [{"text": "@text"}], "status": "@status"}
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
    """Return what is known of: Amazon Bedrock Converse tool."""
    return replace(
        anthropic(),
        name="bedrock",
        title="Amazon Bedrock Converse tool",
        envelope={"toolSpec": _SPECIFICATION},
        example=None,
        where=("toolSpec", "inputSchema", "json"),
        result={"role": "user", "content": [{"toolResult": _RESULT}]},
        facts=(
            Fact("a tool is a toolSpec with its schema under json", _SPECIFIED, "2026-11-22", ("envelope", "where")),
            *_FACTS,
            SHOWN,
            *RULES,
        ),
    )


def bedrock_output() -> Dialect:
    """Return what is known of: Amazon Bedrock Converse structured output (outputConfig)."""
    asked: Json = {"name": "@name", "description": "@description", "schema": "@schema-text"}
    return replace(
        anthropic_output(),
        name="bedrock-output",
        title="Amazon Bedrock Converse structured output (outputConfig)",
        envelope={"textFormat": {"type": "json_schema", "structure": {"jsonSchema": asked}}},
        where=("textFormat", "structure", "jsonSchema", "schema"),
        result={"role": "user", "content": [{"toolResult": _RESULT}]},
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
    """Return what is known of: Amazon Bedrock Converse strict tool."""
    return replace(
        anthropic_strict(),
        name="bedrock-strict",
        title="Amazon Bedrock Converse strict tool",
        envelope={"toolSpec": {**_SPECIFICATION, "strict": True}},
        plain={"toolSpec": _SPECIFICATION},
        example=None,
        where=("toolSpec", "inputSchema", "json"),
        result={"role": "user", "content": [{"toolResult": _RESULT}]},
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
