"""GigaChat: functions."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.dialect import CORE, IDENTIFIER, Dialect, Fact, NameRule

_RULES = (
    Fact(
        "the result of a function is a message of the role function with its name; a call is beside the text",
        "gigachat 0.2.3, models/chat.py",
        "2026-11-23",
        ("result", "extracts_calls"),
    ),
    Fact(
        "no combinators, no type lists, no null, no references; enums of strings; objects need properties, each described; "
        "the formats of strings",
        "gpt2giga, langchain-gigachat",
        "2026-11-20",
        ("keywords", "unions", "type_lists", "null", "enums", "maps", "tuples", "anything", "recursion", "described", "formats"),
    ),
    Fact(
        "required below the top is dropped by the v1 SDK, and additionalProperties everywhere",
        "gigachat 0.2.3, run",
        "2026-11-20",
        ("closed",),
    ),
    Fact("web_search and other built-in names are taken", "gpt2giga", "2026-11-20", ("tool_name",)),
    Fact(
        "no alphabet of names is published, so ASCII identifiers are taken; nor whether decoding is constrained, nor an order",
        "nothing published was found",
        "2026-11-20",
        ("tool_name", "key", "enforced", "order"),
    ),
)


def gigachat() -> Dialect:
    """Return the dialect of GigaChat functions."""
    return Dialect(
        name="gigachat",
        title="GigaChat function",
        result={"role": "function", "name": "@name", "content": "@json"},
        envelope={"name": "@name", "description": "@description", "parameters": "@schema", "few_shot_examples": "@examples"},
        example={"request": "@request", "params": "@value"},
        where=("parameters",),
        tool_name=NameRule(
            "a-zA-Z_",
            "a-zA-Z0-9_",
            64,
            frozenset({"web_search", "url_content_extraction", "code_interpreter", "image_generate", "model_3d_generate"}),
        ),
        key=IDENTIFIER,
        keywords=CORE - {"anyOf"} | {"format"},
        order="free",
        closed=False,
        maps="pairs",
        tuples="object",
        anything="text",
        recursion="unroll",
        unions="choice",
        null=False,
        type_lists=False,
        enums=frozenset({"string"}),
        formats=frozenset({"date", "date-time", "time"}),
        described=True,
        extracts_calls=True,
        enforced=False,
        facts=(
            Fact(
                "a function has name, description, parameters and few_shot_examples of request and params",
                "gigachat 0.2.3, models/chat.py",
                "2026-11-20",
                ("envelope", "where", "example"),
            ),
            *_RULES,
        ),
    )


def gigachat_output() -> Dialect:
    """Return the dialect of GigaChat structured outputs (response_format)."""
    return replace(
        gigachat(),
        name="gigachat-output",
        title="GigaChat structured output (response_format)",
        tool=False,
        envelope={"type": "json_schema", "schema": "@schema", "strict": True},
        example=None,
        where=("schema",),
        facts=(
            Fact(
                "the format is flat and in trial use",
                "gigachat 0.2.3, models/chat.py",
                "2026-11-20",
                ("tool", "envelope", "where"),
            ),
            *_RULES,
        ),
    )
