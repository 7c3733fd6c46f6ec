"""All targets that come with the package, by name; a new one is one more value.

Versions looked at: openai 3.3.0, anthropic 2.11.0, google-genai 2.34.0, mistralai 3.7.0, mistral-common 1.13.1, mcp 2.3.0,
gigachat 0.2.3, smolagents 1.26.0, llguidance 1.9.1, xgrammar 0.2.8, llama.cpp as of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

import keyword
from functools import cache

from instrc.problems.problem import CompileError
from instrc.problems.targets import UnknownTarget
from instrc.targets.dialect import Dialect, Fact, Limits, NameRule

_WORD = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64)
_IDENTIFIER = NameRule("a-zA-Z_", "a-zA-Z0-9_", 64)
_PRINTABLE = NameRule(r"^\x00-\x1f\x7f\"\\", r"^\x00-\x1f\x7f\"\\", 256)
"""No control characters, quotes or backslashes: several decoders write keys into their grammar unescaped."""
DEFINITION_NAME = NameRule("A-Za-z0-9_", "A-Za-z0-9_.-", 64)
"""Names of definitions: llguidance refuses others, percent-encoding breaks xgrammar and outlines-core (run 2026-11-20)."""
_PYTHON_NAME = NameRule(r"^\W\d", r"\w", 128, frozenset(keyword.kwlist), identifier=True)

_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_CORE = frozenset({"type", "enum", "anyOf", "properties", "required", "items", "description"})
_STRICT = _CORE | {"title", "const", "$ref", "$defs", "additionalProperties", "pattern", "format"}
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

_OPENAI_LIMITS = Limits(
    properties=5000, depth=10, enum_values=1000, long_enum=(250, 15_000), characters=120_000, description=1024, tools=128
)
_OPENAI_FACTS = (
    Fact("a strict root is an object without anyOf", "OpenAI guide, structured outputs"),
    Fact("each property is required, each object closed", "400 answers quoted in vercel/ai#6484"),
    Fact("default, oneOf, uniqueItems, propertyNames are not permitted", "400 answers quoted in issue trackers"),
    Fact("5,000 properties, depth 10, 1,000 enum values, 120,000 characters", "OpenAI guide, structured outputs"),
    Fact("objects of one anyOf must not share their first key", "400 answers quoted in issue trackers"),
    Fact("length keywords of strings are not in the list of supported ones", "OpenAI guide, structured outputs"),
    Fact("descriptions end at 1,024 characters; not confirmed for today", "getsentry/sentry-mcp#106", "2025-04"),
)


def _openai() -> Dialect:
    function = {"name": "@name", "description": "@description", "parameters": "@schema"}
    return Dialect(
        name="openai",
        title="OpenAI Chat Completions, strict tool",
        envelope={"type": "function", "function": {**function, "strict": True}},
        plain={"type": "function", "function": {**function, "strict": False}},
        where=("function", "parameters"),
        tool_name=_WORD,
        key=_PRINTABLE,
        keywords=_STRICT | _NUMBERS | {"minItems", "maxItems"},
        every_required=True,
        maps="pairs",
        tuples="object",
        anything="text",
        first_keys=True,
        formats=_FORMATS,
        patterns="plain",
        limits=_OPENAI_LIMITS,
        facts=_OPENAI_FACTS,
    )


def _like(dialect: Dialect, **changes: object) -> Dialect:
    from dataclasses import replace

    return replace(dialect, **changes)  # type: ignore[arg-type]  # names of fields, held by the tests of each target


def _openai_responses() -> Dialect:
    flat = {"type": "function", "name": "@name", "description": "@description", "parameters": "@schema"}
    return _like(
        _openai(),
        name="openai-responses",
        title="OpenAI Responses, strict tool",
        envelope={**flat, "strict": True},
        plain={**flat, "strict": False},
        where=("parameters",),
    )


def _openai_output() -> Dialect:
    inner = {"name": "@name", "description": "@description", "schema": "@schema"}
    return _like(
        _openai(),
        name="openai-output",
        title="OpenAI structured output (response_format)",
        tool=False,
        envelope={"type": "json_schema", "json_schema": {**inner, "strict": True}},
        plain={"type": "json_schema", "json_schema": {**inner, "strict": False}},
        where=("json_schema", "schema"),
    )


def _anthropic() -> Dialect:
    return Dialect(
        name="anthropic",
        title="Anthropic tool",
        envelope={"name": "@name", "description": "@description", "input_schema": "@schema"},
        where=("input_schema",),
        tool_name=_WORD,
        key=NameRule("a-zA-Z0-9_.-", "a-zA-Z0-9_.-", 64),
        structure="kept",
        order="free",
        closed=False,
        fold=True,
        enforced=False,
        facts=(
            Fact("one key outside [a-zA-Z0-9_.-]{1,64} fails the request", "anthropics/claude-code#4668, #79418"),
            Fact("no oneOf, allOf, anyOf at the top", "anthropics/claude-code#40075"),
            Fact("the case of enum values may change in answers", "Anthropic documentation, structured outputs"),
        ),
    )


def _anthropic_strict() -> Dialect:
    plain = {"name": "@name", "description": "@description", "input_schema": "@schema"}
    return _like(
        _anthropic(),
        name="anthropic-strict",
        title="Anthropic strict tool",
        envelope={**plain, "strict": True},
        plain=plain,
        structure="fitted",
        keywords=_STRICT | {"default", "minItems"},
        order="required-first",
        closed=True,
        maps="pairs",
        tuples="object",
        anything="text",
        recursion="unroll",
        formats=_FORMATS | {"uri"},
        patterns="plain",
        most_min_items=1,
        enforced=True,
        limits=Limits(tools=20, optional=24, unions=16),
        facts=(
            Fact(
                "each object is closed, no recursion, no bounds of numbers and lengths",
                "Anthropic documentation, structured outputs",
            ),
            Fact(
                "20 strict tools, 24 optional, 16 union-typed parameters a request", "Anthropic documentation, structured outputs"
            ),
            Fact("required properties come first, then optional ones", "Anthropic documentation, structured outputs"),
            Fact("minItems is 0 or 1", "Anthropic documentation, structured outputs"),
        ),
    )


def _gemini() -> Dialect:
    return Dialect(
        name="gemini",
        title="Gemini function, JSON Schema fields",
        envelope={"name": "@name", "description": "@description", "parametersJsonSchema": "@schema"},
        where=("parametersJsonSchema",),
        tool_name=NameRule("a-zA-Z_", "a-zA-Z0-9_.:-", 64),
        key=_IDENTIFIER,
        keywords=_CORE
        | {"title", "format", "$ref", "$defs", "additionalProperties", "prefixItems", "minItems", "maxItems"}
        | {"minimum", "maximum", "propertyOrdering"},
        order="hinted",
        maps="pairs",
        anything="text",
        recursion="unroll",
        enums=frozenset({"string", "integer", "number"}),
        formats=_FORMATS,
        facts=(
            Fact("the keywords that are read", "google-genai, types.py, FunctionDeclaration"),
            Fact("recursion is unrolled, in optional properties only", "google-genai, types.py"),
            Fact("2.0 models order alphabetically without propertyOrdering", "ai.google.dev, quoted by livekit/agents#7331"),
        ),
    )


def _gemini_schema() -> Dialect:
    return _like(
        _gemini(),
        name="gemini-schema",
        title="Gemini function, Schema object (OpenAPI subset)",
        envelope={"name": "@name", "description": "@description", "parameters": "@schema"},
        where=("parameters",),
        keywords=_CORE
        | {"title", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"}
        | {"minProperties", "maxProperties", "propertyOrdering", "nullable", "default"},
        closed=False,
        tuples="object",
        type_lists=False,
        enums=frozenset({"string"}),
        spelling="openapi",
        facts=(
            Fact(
                "enums hold strings only; const, oneOf, type lists are unknown",
                "google-genai, types.py; google-gemini/gemini-cli#2031",
            ),
            Fact("an array without items is refused", "cline/cline#7339"),
            Fact("keys are identifiers of at most 64 characters", "google-genai, types.py"),
        ),
    )


def _mistral() -> Dialect:
    return Dialect(
        name="mistral",
        title="Mistral strict tool",
        envelope={
            "type": "function",
            "function": {"name": "@name", "description": "@description", "parameters": "@schema", "strict": True},
        },
        where=("function", "parameters"),
        tool_name=_WORD,
        key=_PRINTABLE,
        keywords=_STRICT
        | _NUMBERS
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
        formats=_FORMATS | {"uri"},
        patterns="plain",
        counts_optional=False,
        engines=("llguidance",),
        facts=(
            Fact("strict tools are rendered as an llguidance grammar", "mistral-common, protocol/instruct"),
            Fact(
                "not, if, dependent*, uniqueItems, contains, propertyNames, unevaluated* do not compile", "llguidance 1.9.1, run"
            ),
            Fact("$id and $schema are refused", "BerriAI/litellm#13389"),
        ),
    )


def _gigachat() -> Dialect:
    return Dialect(
        name="gigachat",
        title="GigaChat function",
        envelope={"name": "@name", "description": "@description", "parameters": "@schema"},
        where=("parameters",),
        tool_name=NameRule(
            "a-zA-Z_",
            "a-zA-Z0-9_",
            64,
            frozenset({"web_search", "url_content_extraction", "code_interpreter", "image_generate", "model_3d_generate"}),
        ),
        key=_IDENTIFIER,
        keywords=_CORE - {"anyOf"} | {"format"},
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
        enforced=False,
        facts=(
            Fact(
                "no combinators, no type lists, no null; enums of strings; objects need properties",
                "gpt2giga, langchain-gigachat",
            ),
            Fact("required below the top is dropped by the v1 SDK", "gigachat 0.2.3, run"),
            Fact("web_search and other built-in names are taken", "gpt2giga"),
        ),
    )


def _mcp() -> Dialect:
    return Dialect(
        name="mcp",
        title="Model Context Protocol tool",
        envelope={"name": "@name", "description": "@description", "inputSchema": "@schema", "_meta": {"dev.instrc/map": "@map"}},
        where=("inputSchema",),
        tool_name=NameRule("A-Za-z0-9_.-", "A-Za-z0-9_.-", 128),
        structure="kept",
        root="object",
        order="free",
        closed=False,
        enforced=False,
        facts=(
            Fact("inputSchema is 2020-12 with an object at its root", "MCP specification 2026-07-28, schema.ts"),
            Fact("names are 1 to 128 of [A-Za-z0-9_.-]", "MCP specification 2026-07-28, tools"),
            Fact("_meta keys carry a reverse DNS prefix", "MCP specification 2026-07-28"),
        ),
    )


def _smolagents() -> Dialect:
    return Dialect(
        name="smolagents",
        title="smolagents Tool",
        envelope={"name": "@name", "description": "@description", "inputs": "@schema", "output_type": "any"},
        where=("inputs",),
        tool_name=_PYTHON_NAME,
        key=_PYTHON_NAME,
        keys_at_root_only=True,
        keywords=_STRICT
        | _NUMBERS
        | {
            "prefixItems",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "minProperties",
            "maxProperties",
            "default",
            "nullable",
        }
        | {"patternProperties", "propertyNames", "uniqueItems"},
        order="free",
        recursion="unroll",
        formats=_FORMATS | {"uri"},
        described=True,
        spelling="smolagents",
        enforced=False,
        facts=(
            Fact("each input has a type and a description; names are identifiers", "smolagents 1.26.0, tools.py"),
            Fact("other keywords of an input pass untouched", "smolagents 1.26.0, run"),
        ),
    )


def _ollama() -> Dialect:
    return Dialect(
        name="ollama",
        title="Ollama tool",
        envelope={"type": "function", "function": {"name": "@name", "description": "@description", "parameters": "@schema"}},
        where=("function", "parameters"),
        tool_name=_WORD,
        key=_IDENTIFIER,
        keywords=_CORE,
        order="required-first",
        closed=False,
        maps="pairs",
        tuples="object",
        anything="text",
        recursion="unroll",
        enforced=False,
        facts=(
            Fact("tools keep type, anyOf, items, description, enum, properties, required", "ollama, api/types.go @ fb307609"),
            Fact(
                "the Python library leaves out what is nested in a property: post the payload itself",
                "ollama 0.6.3, Tool.Function.Parameters.Property, run",
                "2026-11-21",
            ),
            Fact("llama.cpp puts required properties first", "llama-cpp-python 0.3.36, run"),
            Fact("parameter names are folded to [a-zA-Z0-9-] in tool grammars", "ggml-org/llama.cpp#28429"),
        ),
    )


def _vllm() -> Dialect:
    return Dialect(
        name="vllm",
        title="vLLM and SGLang tool (xgrammar, llguidance)",
        envelope={
            "type": "function",
            "function": {"name": "@name", "description": "@description", "parameters": "@schema", "strict": True},
        },
        where=("function", "parameters"),
        tool_name=_WORD,
        key=_PRINTABLE,
        keywords=_STRICT
        | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
        | {"prefixItems", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"},
        formats=_FORMATS | {"uri"},
        patterns="anchored",
        lengths_beside_patterns=False,
        counts_optional=False,
        engines=("llguidance", "xgrammar"),
        facts=(
            Fact(
                "multipleOf, uniqueItems, contains, unknown formats are refused up front", "vllm, backend_xgrammar.py @ 030141c1"
            ),
            Fact("allOf and siblings of $ref are ignored, unanchored patterns are anchored", "xgrammar 0.2.8, run"),
            Fact(
                "in an object that is open, declared keys that are not ASCII may also come late, twice, and with any value",
                "xgrammar 0.2.8, run",
                "2026-11-21",
            ),
        ),
    )


def _jsonschema() -> Dialect:
    return Dialect(
        name="jsonschema",
        title="JSON Schema 2020-12, as it is",
        envelope="@schema",
        tool_name=NameRule(r"\s\S", r"\s\S", 1024),
        structure="kept",
        root="any",
        order="free",
        closed=False,
        enforced=False,
        facts=(Fact("everything is kept", "JSON Schema 2020-12", "2022-06-16"),),
    )


_TARGETS = (
    _jsonschema,
    _openai,
    _openai_responses,
    _openai_output,
    _anthropic,
    _anthropic_strict,
    _gemini,
    _gemini_schema,
    _mistral,
    _gigachat,
    _mcp,
    _smolagents,
    _ollama,
    _vllm,
)


@cache
def targets() -> dict[str, Dialect]:
    """Return all targets by name, in the order in which they are listed to people."""
    return {dialect.name: dialect for dialect in (make() for make in _TARGETS)}


def dialect(target: str | Dialect) -> Dialect:
    """Return a target by its name, or the value itself; an unknown name is an `unknown-target` problem."""
    if isinstance(target, Dialect):
        return target
    found = targets().get(target)
    if found is None:
        from instrc.problems.suggest import nearest

        raise CompileError([UnknownTarget(target=target, nearest=tuple(nearest(target, targets())), known=tuple(targets()))])
    return found
