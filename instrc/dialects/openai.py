"""OpenAI: tools of both interfaces, and structured output."""

from __future__ import annotations

from dataclasses import replace

from instrc.dialects.words import FORMATS, NUMBERS, PRINTABLE, STRICT, WORD
from instrc.ir.dialect import Dialect, Fact, Limits

_OPENAI_LIMITS = Limits(
    properties=5000, depth=10, enum_values=1000, long_enum=(250, 15_000), characters=120_000, description=1024, tools=128
)

_OPENAI_FACTS = (
    Fact("a strict root is an object without anyOf", "OpenAI guide, structured outputs", "2026-11-20"),
    Fact("each property is required, each object closed", "400 answers quoted in vercel/ai#6484", "2026-11-20"),
    Fact("default, oneOf, uniqueItems, propertyNames are not permitted", "400 answers quoted in issue trackers", "2026-11-20"),
    Fact("5,000 properties, depth 10, 1,000 enum values, 120,000 characters", "OpenAI guide, structured outputs", "2026-11-20"),
    Fact("an enum of more than 250 texts has at most 15,000 characters", "OpenAI guide, structured outputs", "2026-11-22"),
    Fact("a request has at most 128 functions", "OpenAI API reference, Chat Completions, tools", "2026-11-22"),
    Fact("objects of one anyOf must not share their first key", "400 answers quoted in issue trackers", "2026-11-20"),
    Fact("minLength and maxLength are enforced, save by fine-tuned models", "reported live by users of the API", "2026-08"),
    Fact("descriptions end at 1,024 characters; not confirmed for today", "getsentry/sentry-mcp#106", "2025-04"),
)


def openai() -> Dialect:
    """Return what is known of: OpenAI Chat Completions, strict tool."""
    function = {"name": "@name", "description": "@description", "parameters": "@schema"}
    return Dialect(
        name="openai",
        title="OpenAI Chat Completions, strict tool",
        envelope={"type": "function", "function": {**function, "strict": True}},
        plain={"type": "function", "function": {**function, "strict": False}},
        where=("function", "parameters"),
        tool_name=WORD,
        key=PRINTABLE,
        keywords=STRICT | NUMBERS | {"minItems", "maxItems", "minLength", "maxLength"},
        every_required=True,
        maps="pairs",
        tuples="object",
        anything="text",
        first_keys=True,
        extracts_calls=True,
        formats=FORMATS,
        patterns="plain",
        limits=_OPENAI_LIMITS,
        facts=_OPENAI_FACTS,
    )


def openai_responses() -> Dialect:
    """Return what is known of: OpenAI Responses, strict tool."""
    flat = {"type": "function", "name": "@name", "description": "@description", "parameters": "@schema"}
    return replace(
        openai(),
        name="openai-responses",
        title="OpenAI Responses, strict tool",
        envelope={**flat, "strict": True},
        result={"type": "function_call_output", "call_id": "@id", "output": "@text"},
        plain={**flat, "strict": False},
        where=("parameters",),
    )


def openai_responses_output() -> Dialect:
    """Return what is known of: OpenAI structured output of Responses (text.format)."""
    flat = {"type": "json_schema", "name": "@name", "description": "@description", "schema": "@schema"}
    return replace(
        openai_output(),
        name="openai-responses-output",
        title="OpenAI Responses, structured output (text.format)",
        envelope={**flat, "strict": True},
        plain={**flat, "strict": False},
        where=("schema",),
    )


def openai_output() -> Dialect:
    """Return what is known of: OpenAI structured output (response_format)."""
    inner = {"name": "@name", "description": "@description", "schema": "@schema"}
    return replace(
        openai(),
        name="openai-output",
        title="OpenAI structured output (response_format)",
        tool=False,
        envelope={"type": "json_schema", "json_schema": {**inner, "strict": True}},
        plain={"type": "json_schema", "json_schema": {**inner, "strict": False}},
        where=("json_schema", "schema"),
    )
