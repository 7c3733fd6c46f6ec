"""Gemini: functions, in JSON Schema and as a `Schema` object."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.dialect import CORE, FORMATS, IDENTIFIER, Dialect, Fact, Limits, NameRule, Spelling

_RULES = (
    Fact(
        "the result of a function is a functionResponse with id, name and response; calls are parts beside the text",
        "google-genai 3.4.0, types.py, FunctionResponse and Part",
        "2026-11-23",
        ("result", "extracts_calls"),
    ),
    Fact(
        "names begin with a letter or _ and go on with [a-zA-Z0-9_.:-]; 128 characters are documented, 64 were enforced",
        "google-genai 3.4.0, types.py; kaitranntt/ccs#25, gemini-cli#9535",
        "2026-11-23",
        ("tool_name",),
    ),
    Fact(
        "names of parameters are identifiers of at most 64 characters; for JSON Schema nothing is said, and the same is taken",
        "google-genai 3.4.0, types.py, FunctionDeclaration",
        "2026-11-23",
        ("key",),
    ),
    Fact(
        "a sum of maxItems over about 960 is refused without a word about it: 900 are taken",
        "googleapis/python-genai#2170, vercel/ai#21192",
        "2026-11-28",
        ("limits",),
    ),
    Fact(
        "long values in many enums are refused while a function is forced, with the same words: by how much is not known",
        "googleapis/python-genai#2133",
        "2026-11-28",
    ),
    Fact("the empty string is refused in an enum", "400 answers quoted in issue trackers", "2026-11-21", ("empty_words",)),
    Fact(
        "an object without properties was refused until 2025; reports of today contradict each other, so none is sent",
        "agno-agi/agno#2112, pydantic/pydantic-ai#1998, google-genai 3.4.0",
        "2026-11-21",
        ("empty_schema",),
    ),
    Fact(
        "recursion is unrolled, in optional properties only; the SDK makes an empty object of it in the Schema form",
        "google-genai, types.py; google-genai 2.34.0, process_schema, run",
        "2026-11-20",
        ("recursion",),
    ),
    Fact(
        "2.0 models order alphabetically without propertyOrdering",
        "ai.google.dev, quoted by livekit/agents#7331",
        "2026-11-20",
        ("order",),
    ),
    Fact("maps are taken and arrive empty", "pydantic-ai-slim 2.68.0, a remark in its transformer", "2026-11-20", ("maps",)),
    Fact("a type must be specified where there is no union", "400 answers quoted in issue trackers", "2026-11-20", ("anything",)),
    Fact("any format may be named, and most are ignored", "google-genai 2.34.0, types.py", "2026-11-20", ("formats",)),
)


def gemini() -> Dialect:
    """Return the dialect of Gemini functions with JSON Schema fields."""
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
        limits=Limits(items=900),
        extracts_calls=True,
        empty_schema=False,
        facts=(
            Fact(
                "the schema of a function is in parametersJsonSchema, or else in parameters",
                "google-genai 3.4.0, types.py, FunctionDeclaration",
                "2026-11-23",
                ("envelope", "where"),
            ),
            Fact(
                "the keywords that are read; enums of texts and numbers",
                "google-genai, types.py, FunctionDeclaration",
                "2026-11-20",
                ("keywords", "enums"),
            ),
            *_RULES,
        ),
    )


def gemini_schema() -> Dialect:
    """Return the dialect of Gemini functions with a Schema object (OpenAPI subset)."""
    return replace(
        gemini(),
        name="gemini-schema",
        title="Gemini function, Schema object (OpenAPI subset)",
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
                "the schema is in parameters, as an object of its own kind",
                "google-genai 3.4.0, types.py, FunctionDeclaration",
                "2026-11-23",
                ("envelope", "where"),
            ),
            Fact(
                "enums hold strings only; const, oneOf, type lists are unknown",
                "google-genai, types.py; google-gemini/gemini-cli#2031",
                "2026-11-20",
                ("keywords", "enums", "type_lists"),
            ),
            Fact(
                "types are in capitals; null is said by nullable beside a type, and an enum leaves it out",
                "google-genai 3.4.0, types.py, Type and Schema; handle_null_fields",
                "2026-11-23",
                ("spelling", "null_type", "typed_enums"),
            ),
            Fact("prefixItems is not known", "google-genai 3.4.0, types.py, Schema, run", "2026-11-23", ("tuples",)),
            Fact("the Developer API refuses additionalProperties", "google-genai 2.34.0, types.py", "2026-11-20", ("closed",)),
            Fact("an array without items is refused", "cline/cline#7339", "2026-11-20", ("anything",)),
            *_RULES,
        ),
    )


def gemini_output() -> Dialect:
    """Return the dialect of Gemini structured outputs (responseJsonSchema)."""
    return replace(
        gemini(),
        name="gemini-output",
        title="Gemini structured output (responseJsonSchema)",
        tool=False,
        envelope={"responseMimeType": "application/json", "responseJsonSchema": "@schema"},
        where=("responseJsonSchema",),
        empty_schema=True,
        facts=(
            Fact(
                "the schema is in generationConfig beside the type of the answer, with the keywords of functions",
                "google-genai 2.34.0, types.py",
                "2026-11-20",
                ("tool", "envelope", "where", "empty_schema", "keywords", "enums"),
            ),
            *_RULES,
        ),
    )
