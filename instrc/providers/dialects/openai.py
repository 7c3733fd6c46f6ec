"""OpenAI: tools of both interfaces, and structured output."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.dialect import (
    FORMATS,
    NUMBERS,
    PLAIN_PATTERNS,
    PRINTABLE,
    PRINTABLE_KEYS,
    STRICT,
    WORD,
    Dialect,
    Fact,
    Limits,
    function_tool,
)

_LIMITS = Limits(properties=5000, depth=10, enum_values=1000, long_enum=(250, 15_000), characters=120_000, description=1024)
_MOST_TOOLS = Fact(
    "a request has at most 128 functions", "OpenAI API reference, Chat Completions, tools", "2026-11-22", ("limits",)
)
_CHAT = (
    Fact(
        "calls come beside the text, in tool_calls; their results are messages of the role tool with tool_call_id",
        "openai 3.54.0, types/chat",
        "2026-11-23",
        ("extracts_calls", "result"),
    ),
)
_GUIDE = "OpenAI guide, structured outputs"
_RULES = (
    Fact("a strict root is an object without anyOf", _GUIDE, "2026-11-20", ("root",)),
    Fact(
        "each property is required, each object closed, so that there are no maps",
        "400 answers quoted in vercel/ai#6484",
        "2026-11-20",
        ("every_required", "closed", "maps"),
    ),
    Fact(
        "the keywords and the formats of strings; patterns without look-around; answers keep the order of keys",
        _GUIDE,
        "2026-11-20",
        ("keywords", "formats", "patterns", "order"),
    ),
    Fact(
        "each place has a type, each array typed items: there are no tuples",
        "pydantic-ai-slim 2.68.0 and litellm 1.83.0, what they rewrite",
        "2026-11-20",
        ("tuples", "anything"),
    ),
    Fact(
        "default, oneOf, uniqueItems, propertyNames are not permitted",
        "400 answers quoted in issue trackers",
        "2026-11-20",
        ("keywords",),
    ),
    Fact("references to definitions are followed, with nothing beside them", _GUIDE, "2026-11-20", ("shares",)),
    Fact("5,000 properties, depth 10, 1,000 enum values, 120,000 characters", _GUIDE, "2026-11-20", ("limits",)),
    Fact("an enum of more than 250 texts has at most 15,000 characters", _GUIDE, "2026-11-22", ("limits",)),
    Fact(
        "objects of one anyOf must not share their first key",
        "400 answers quoted in issue trackers",
        "2026-11-20",
        ("first_keys",),
    ),
    Fact("minLength and maxLength are enforced", "reported live by users of the API", "2026-08", ("keywords",)),
    Fact("fine-tuned models do not enforce minLength and maxLength", "reported live by users of the API", "2026-08"),
    Fact("descriptions end at 1,024 characters; not confirmed for today", "getsentry/sentry-mcp#106", "2025-04", ("limits",)),
    PRINTABLE_KEYS,
    *PLAIN_PATTERNS,
)


def openai() -> Dialect:
    """Return the dialect of OpenAI Chat Completions, strict tools."""
    return Dialect(
        name="openai",
        title="OpenAI Chat Completions, strict tool",
        envelope=function_tool(strict=True),
        plain=function_tool(strict=False),
        where=("function", "parameters"),
        tool_name=WORD,
        key=PRINTABLE,
        keywords=STRICT | NUMBERS | {"minItems", "maxItems", "minLength", "maxLength"},
        every_required=True,
        shares=True,
        maps="pairs",
        tuples="object",
        anything="text",
        first_keys=True,
        extracts_calls=True,
        formats=FORMATS,
        patterns="plain",
        limits=replace(_LIMITS, tools=128),
        facts=(
            Fact(
                "a tool is a function with name, description, parameters and strict; names are 1 to 64 of [a-zA-Z0-9_-]",
                "openai 3.54.0, types/shared_params/function_definition.py",
                "2026-11-23",
                ("envelope", "plain", "where", "tool_name"),
            ),
            _MOST_TOOLS,
            *_CHAT,
            *_RULES,
        ),
    )


_RESPONSES = (
    Fact(
        "calls are items beside the text, function_call; their results are items function_call_output with call_id",
        "openai 3.54.0, types/responses",
        "2026-11-23",
        ("extracts_calls", "result"),
    ),
)


def openai_responses() -> Dialect:
    """Return the dialect of OpenAI Responses, strict tools."""
    flat = {"type": "function", "name": "@name", "description": "@description", "parameters": "@schema"}
    return replace(
        openai(),
        name="openai-responses",
        title="OpenAI Responses, strict tool",
        envelope={**flat, "strict": True},
        result={"type": "function_call_output", "call_id": "@id", "output": "@text"},
        plain={**flat, "strict": False},
        where=("parameters",),
        facts=(
            Fact(
                "a tool is flat; no length of names is stated, so that of Chat Completions is taken",
                "openai 3.54.0, types/responses/function_tool_param.py",
                "2026-11-23",
                ("envelope", "plain", "where", "tool_name"),
            ),
            _MOST_TOOLS,
            *_RESPONSES,
            *_RULES,
        ),
    )


def openai_responses_output() -> Dialect:
    """Return the dialect of structured outputs in OpenAI Responses (text.format)."""
    flat = {"type": "json_schema", "name": "@name", "description": "@description", "schema": "@schema"}
    return replace(
        openai_output(),
        name="openai-responses-output",
        title="OpenAI Responses, structured output (text.format)",
        envelope={**flat, "strict": True},
        plain={**flat, "strict": False},
        result=openai_responses().result,
        where=("schema",),
        facts=(
            Fact(
                "a format is flat; names are 1 to 64 of [a-zA-Z0-9_-]",
                "openai 3.54.0, types/responses/response_format_text_json_schema_config_param.py",
                "2026-11-23",
                ("tool", "envelope", "plain", "where", "tool_name"),
            ),
            *_RESPONSES,
            *_RULES,
        ),
    )


def openai_output() -> Dialect:
    """Return the dialect of OpenAI structured outputs (response_format)."""
    inner = {"name": "@name", "description": "@description", "schema": "@schema"}
    return replace(
        openai(),
        name="openai-output",
        title="OpenAI structured output (response_format)",
        tool=False,
        limits=_LIMITS,
        envelope={"type": "json_schema", "json_schema": {**inner, "strict": True}},
        plain={"type": "json_schema", "json_schema": {**inner, "strict": False}},
        where=("json_schema", "schema"),
        facts=(
            Fact(
                "a format has name, description, schema and strict; names are 1 to 64 of [a-zA-Z0-9_-]",
                "openai 3.54.0, types/shared_params/response_format_json_schema.py",
                "2026-11-23",
                ("tool", "envelope", "plain", "where", "tool_name"),
            ),
            *_CHAT,
            *_RULES,
        ),
    )
