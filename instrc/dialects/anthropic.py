"""Anthropic: tools, plain and strict."""

from __future__ import annotations

from dataclasses import replace

from instrc.dialects.words import FORMATS, STRICT, WORD
from instrc.ir.dialect import Dialect, Fact, Limits, NameRule
from instrc.jsonvalue import Json, JsonObject

_PLAIN: JsonObject = {"name": "@name", "description": "@description", "input_schema": "@schema", "input_examples": "@examples"}


_RESULT: Json = {"type": "tool_result", "tool_use_id": "@id", "content": "@text", "is_error": "@error"}


def anthropic() -> Dialect:
    """Return what is known of: Anthropic tool."""
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
        extracts_calls=True,
        comments=False,
        enforced=False,
        facts=(
            Fact("one key outside [a-zA-Z0-9_.-]{1,64} fails the request", "anthropics/claude-code#4668, #79418", "2026-11-20"),
            Fact("no oneOf, allOf, anyOf at the top", "anthropics/claude-code#40075", "2026-11-20"),
            Fact("the case of enum values may change in answers", "Anthropic documentation, structured outputs", "2026-11-20"),
        ),
    )


def anthropic_strict() -> Dialect:
    """Return what is known of: Anthropic strict tool."""
    return replace(
        anthropic(),
        name="anthropic-strict",
        title="Anthropic strict tool",
        result={"role": "user", "content": [_RESULT]},
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
        formats=FORMATS | {"uri"},
        patterns="plain",
        most_min_items=1,
        enforced=True,
        limits=Limits(tools=20, optional=24, unions=16),
        facts=(
            Fact(
                "each object is closed, no recursion, no bounds of numbers and lengths",
                "Anthropic documentation, structured outputs",
                "2026-11-20",
            ),
            Fact(
                "20 strict tools, 24 optional, 16 union-typed parameters a request",
                "Anthropic documentation, structured outputs",
                "2026-11-20",
            ),
            Fact(
                "required properties come first, then optional ones", "Anthropic documentation, structured outputs", "2026-11-20"
            ),
            Fact("minItems is 0 or 1", "Anthropic documentation, structured outputs", "2026-11-20"),
            Fact(
                "the limit of the compiled grammar may be reached below 20, 24 and 16: 7 simple strict tools failed once",
                "anthropics/anthropic-sdk-typescript#885, alphaXiv/agents#49",
                "2026-11-21",
            ),
        ),
    )


def anthropic_output() -> Dialect:
    """Return what is known of: Anthropic structured output (output_config.format)."""
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
    )
