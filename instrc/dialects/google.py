"""Gemini: functions, in JSON Schema and as a `Schema` object."""

from __future__ import annotations

from dataclasses import replace

from instrc.dialects.words import CORE, FORMATS, IDENTIFIER
from instrc.ir.dialect import Dialect, Fact, NameRule, Spelling


def gemini() -> Dialect:
    """Return what is known of: Gemini function, JSON Schema fields."""
    return Dialect(
        name="gemini",
        title="Gemini function, JSON Schema fields",
        result={"role": "user", "parts": [{"functionResponse": {"id": "@id", "name": "@name", "response": "@object"}}]},
        envelope={"name": "@name", "description": "@description", "parametersJsonSchema": "@schema"},
        where=("parametersJsonSchema",),
        tool_name=NameRule("a-zA-Z_", "a-zA-Z0-9_.:-", 64),
        key=IDENTIFIER,
        keywords=CORE
        | {"title", "format", "$ref", "$defs", "additionalProperties", "prefixItems", "minItems", "maxItems"}
        | {"minimum", "maximum", "propertyOrdering"},
        order="hinted",
        maps="pairs",
        anything="text",
        recursion="unroll",
        enums=frozenset({"string", "integer", "number"}),
        formats=FORMATS,
        empty_words=False,
        extracts_calls=True,
        empty_schema=False,
        facts=(
            Fact("the keywords that are read", "google-genai, types.py, FunctionDeclaration", "2026-11-20"),
            Fact("the empty string is refused in an enum", "400 answers quoted in issue trackers", "2026-11-21"),
            Fact(
                "an object without properties was refused until 2025; reports of today contradict each other, so none is sent",
                "agno-agi/agno#2112, pydantic/pydantic-ai#1998, google-genai 3.4.0",
                "2026-11-21",
            ),
            Fact("recursion is unrolled, in optional properties only", "google-genai, types.py", "2026-11-20"),
            Fact(
                "2.0 models order alphabetically without propertyOrdering",
                "ai.google.dev, quoted by livekit/agents#7331",
                "2026-11-20",
            ),
        ),
    )


def gemini_schema() -> Dialect:
    """Return what is known of: Gemini function, Schema object (OpenAPI subset)."""
    return replace(
        gemini(),
        name="gemini-schema",
        title="Gemini function, Schema object (OpenAPI subset)",
        result={"role": "user", "parts": [{"functionResponse": {"id": "@id", "name": "@name", "response": "@object"}}]},
        envelope={"name": "@name", "description": "@description", "parameters": "@schema"},
        where=("parameters",),
        keywords=CORE
        | {"title", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"}
        | {"minProperties", "maxProperties", "propertyOrdering", "nullable", "default"},
        closed=False,
        tuples="object",
        type_lists=False,
        enums=frozenset({"string"}),
        null_type=False,
        typed_enums=False,
        spelling=Spelling(capitals=True, nullable=True),
        facts=(
            Fact(
                "enums hold strings only; const, oneOf, type lists are unknown",
                "google-genai, types.py; google-gemini/gemini-cli#2031",
                "2026-11-20",
            ),
            Fact("the empty string is refused in an enum", "400 answers quoted in issue trackers", "2026-11-21"),
            Fact("parameters may be left unset", "google-genai 3.4.0, types.py", "2026-11-21"),
            Fact("an array without items is refused", "cline/cline#7339", "2026-11-20"),
            Fact("keys are identifiers of at most 64 characters", "google-genai, types.py", "2026-11-20"),
        ),
    )


def gemini_output() -> Dialect:
    """Return what is known of: Gemini structured output (responseJsonSchema)."""
    return replace(
        gemini(),
        name="gemini-output",
        title="Gemini structured output (responseJsonSchema)",
        tool=False,
        envelope={"responseMimeType": "application/json", "responseJsonSchema": "@schema"},
        where=("responseJsonSchema",),
        empty_schema=True,
        facts=(
            *gemini().facts,
            Fact(
                "the schema stands in generationConfig beside the type of the answer",
                "google-genai 2.34.0, types.py",
                "2026-11-20",
            ),
        ),
    )
