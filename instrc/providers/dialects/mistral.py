"""Mistral: strict tools."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.dialect import (
    FORMATS,
    NUMBERS,
    PLAIN_PATTERNS,
    PRINTABLE,
    PRINTABLE_KEYS,
    SIZES,
    STRICT,
    WORD,
    Dialect,
    Fact,
    function_tool,
)

LLGUIDANCE = (
    Fact(
        "numbers of properties are taken only where each declared property is required",
        "llguidance 1.9.1, run",
        "2026-11-23",
        ("counts_optional",),
    ),
    Fact("items: false closes a tuple", "llguidance 1.9.1, run", "2026-11-23", ("false_items",)),
    Fact("references to definitions are followed", "llguidance 1.9.1, run", "2026-11-20", ("shares",)),
)
_RULES = (
    Fact(
        "the result of a call is a message of the role tool with tool_call_id and name",
        "mistralai 3.7.0, client/models/toolmessage.py",
        "2026-11-23",
        ("result",),
    ),
    Fact(
        "names are 1 to 64 of [a-zA-Z0-9_-]",
        "mistral-common 1.13.1, protocol/instruct/validator.py",
        "2026-11-20",
        ("tool_name",),
    ),
    Fact("strict tools are rendered as an llguidance grammar", "mistral-common, protocol/instruct", "2026-11-20", ("order",)),
    Fact(
        "not, if, dependent*, uniqueItems, contains, propertyNames, unevaluated* do not compile",
        "llguidance 1.9.1, run",
        "2026-11-20",
        ("keywords",),
    ),
    Fact(
        "unknown formats do not compile, nor look-around, back-references and \\b in patterns",
        "llguidance 1.9.1, run",
        "2026-11-23",
        ("formats", "patterns"),
    ),
    Fact(
        "bounds of 2^63 and more, lengths of 2^32 and more do not compile",
        "llguidance 1.9.1, run",
        "2026-11-21",
        ("most_bound", "most_count"),
    ),
    Fact(
        "of multipleOf: 0.25 neither 0.5 nor, beside exclusiveMinimum: 0, 0.50 is taken, likewise of each step of several digits "
        "and decimals; of 0.07 nothing compiles",
        "llguidance 1.9.1, run",
        "2026-11-26",
        ("fine_steps",),
    ),
    *LLGUIDANCE,
    Fact("$id and $schema are refused", "BerriAI/litellm#13389", "2026-11-20", ("keywords",)),
    PRINTABLE_KEYS,
    *PLAIN_PATTERNS,
)


def mistral() -> Dialect:
    """Return the dialect of Mistral strict tools."""
    return Dialect(
        name="mistral",
        title="Mistral strict tool",
        result={"role": "tool", "tool_call_id": "@id", "name": "@name", "content": "@text"},
        envelope=function_tool(strict=True),
        plain=function_tool(strict=False),
        where=("function", "parameters"),
        tool_name=WORD,
        key=PRINTABLE,
        keywords=STRICT | NUMBERS | SIZES | {"prefixItems", "patternProperties"},
        formats=FORMATS | {"uri"},
        patterns="plain",
        most_bound=2**62,
        most_count=2**31,
        fine_steps=False,
        shares=True,
        counts_optional=False,
        false_items=True,
        facts=(
            Fact(
                "a tool is a function with name, description, parameters and strict",
                "mistralai 3.7.0, client/models/function.py",
                "2026-11-23",
                ("envelope", "plain", "where"),
            ),
            *_RULES,
        ),
    )


def mistral_output() -> Dialect:
    """Return the dialect of Mistral structured outputs (response_format)."""
    inner = {"name": "@name", "description": "@description", "schema": "@schema"}
    return replace(
        mistral(),
        name="mistral-output",
        title="Mistral structured output (response_format)",
        tool=False,
        envelope={"type": "json_schema", "json_schema": {**inner, "strict": True}},
        plain={"type": "json_schema", "json_schema": {**inner, "strict": False}},
        where=("json_schema", "schema"),
        facts=(
            Fact(
                "a format has name, description, schema and strict",
                "mistralai 3.7.0, client/models/jsonschema.py",
                "2026-11-23",
                ("tool", "envelope", "plain", "where"),
            ),
            *_RULES,
        ),
    )
