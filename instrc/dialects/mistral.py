"""Mistral: strict tools."""

from __future__ import annotations

from dataclasses import replace

from instrc.dialects.words import FORMATS, NUMBERS, PRINTABLE, STRICT, WORD
from instrc.ir.dialect import Dialect, Fact


def mistral() -> Dialect:
    """Return what is known of: Mistral strict tool."""
    return Dialect(
        name="mistral",
        title="Mistral strict tool",
        result={"role": "tool", "tool_call_id": "@id", "name": "@name", "content": "@text"},
        envelope={
            "type": "function",
            "function": {"name": "@name", "description": "@description", "parameters": "@schema", "strict": True},
        },
        plain={
            "type": "function",
            "function": {"name": "@name", "description": "@description", "parameters": "@schema", "strict": False},
        },
        where=("function", "parameters"),
        tool_name=WORD,
        key=PRINTABLE,
        keywords=STRICT
        | NUMBERS
        | {
            "prefixItems",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "patternProperties",
            "minProperties",
            "maxProperties",
        },
        formats=FORMATS | {"uri"},
        patterns="plain",
        most_bound=2**62,
        most_count=2**31,
        counts_optional=False,
        false_items=True,
        engines=("llguidance",),
        facts=(
            Fact("strict tools are rendered as an llguidance grammar", "mistral-common, protocol/instruct", "2026-11-20"),
            Fact(
                "not, if, dependent*, uniqueItems, contains, propertyNames, unevaluated* do not compile",
                "llguidance 1.9.1, run",
                "2026-11-20",
            ),
            Fact("bounds of 2^63 and more, lengths of 2^32 and more do not compile", "llguidance 1.9.1, run", "2026-11-21"),
            Fact("$id and $schema are refused", "BerriAI/litellm#13389", "2026-11-20"),
        ),
    )


def mistral_output() -> Dialect:
    """Return what is known of: Mistral structured output (response_format)."""
    inner = {"name": "@name", "description": "@description", "schema": "@schema"}
    return replace(
        mistral(),
        name="mistral-output",
        title="Mistral structured output (response_format)",
        tool=False,
        envelope={"type": "json_schema", "json_schema": {**inner, "strict": True}},
        plain={"type": "json_schema", "json_schema": {**inner, "strict": False}},
        where=("json_schema", "schema"),
    )
