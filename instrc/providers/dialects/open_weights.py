"""Servers of open weights: Ollama with llama.cpp, vLLM and SGLang with xgrammar or llguidance."""

from __future__ import annotations

from msgspec.structs import replace

from instrc.providers.dialect import (
    CORE,
    FORMATS,
    IDENTIFIER,
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
from instrc.providers.dialects.mistral import LLGUIDANCE

_NO_ALPHABET = Fact(
    "no code of the servers looks at names of tools: those of OpenAI are taken",
    "ollama @ fb307609, vllm @ 030141c1, SGLang @ 2784f8f7",
    "2026-11-20",
    ("tool_name",),
)
_OLLAMA = (
    Fact("the result of a call has the role tool and tool_name", "ollama 0.6.3, Message", "2026-11-23", ("result",)),
    Fact("llama.cpp puts required properties first", "llama-cpp-python 0.3.36, run", "2026-11-20", ("order",)),
    Fact("parameter names are folded to [a-zA-Z0-9-] in tool grammars", "ggml-org/llama.cpp#28429", "2026-11-20", ("key",)),
    _NO_ALPHABET,
)
_VLLM = (
    Fact(
        "multipleOf, uniqueItems, contains, unknown formats are refused up front, and lengths beside a pattern or a format",
        "vllm, backend_xgrammar.py @ 030141c1",
        "2026-11-20",
        ("keywords", "formats", "lengths_beside_patterns"),
    ),
    Fact(
        "allOf and siblings of $ref are ignored, unanchored patterns are anchored",
        "xgrammar 0.2.8, run",
        "2026-11-20",
        ("keywords", "patterns"),
    ),
    Fact(
        "schemas are compiled by xgrammar or llguidance, whichever the server is set to",
        "vllm, docs/features/structured_outputs.md",
        "2026-11-20",
        ("order",),
    ),
    Fact(
        "bounds of 2^63 and more do not compile, nor patterns that repeat a part more than 1,000 times",
        "llguidance 1.9.1 and xgrammar 0.2.8, run",
        "2026-11-21",
        ("most_bound", "most_repeated"),
    ),
    Fact("lengths of 2^32 and more do not compile", "llguidance 1.9.1, run", "2026-11-21", ("most_count",)),
    *LLGUIDANCE,
    *PLAIN_PATTERNS,
    Fact(
        "a repetition of more than 128 does not compile while the compiler's cache is on, as it is by default: "
        "`[a-z]{129}` fails an internal check, `[a-z]{128}[a-z]` does not",
        "xgrammar 0.2.8, run",
        "2026-11-22",
        ("most_repeated_at_once",),
    ),
    Fact(
        "in an object that is open, declared keys that are not ASCII may also come late, twice, and with any value",
        "xgrammar 0.2.8, run",
        "2026-11-21",
        ("closed",),
    ),
    _NO_ALPHABET,
    PRINTABLE_KEYS,
)


_REPETITIONS = Fact(
    "a repetition of more than 2,000 times is refused as a lower bound, and is none as an upper one; maxItems near it is refused",
    "llama.cpp @ b11434, src/llama-grammar.cpp, run",
    "2026-11-28",
    ("most_count", "most_items"),
)


def ollama() -> Dialect:
    """Return the dialect of Ollama tools."""
    return Dialect(
        name="ollama",
        title="Ollama tool",
        result={"role": "tool", "tool_name": "@name", "content": "@text"},
        envelope={"type": "function", "function": {"name": "@name", "description": "@description", "parameters": "@schema"}},
        where=("function", "parameters"),
        tool_name=WORD,
        key=IDENTIFIER,
        keywords=CORE,
        order="required-first",
        closed=False,
        maps="pairs",
        tuples="object",
        anything="text",
        recursion="unroll",
        enforced=False,
        facts=(
            Fact(
                "a tool is a function with name, description and parameters",
                "ollama, api/types.go @ fb307609",
                "2026-11-20",
                ("envelope", "where"),
            ),
            Fact(
                "tools keep type, anyOf, items, description, enum, properties, required",
                "ollama, api/types.go @ fb307609",
                "2026-11-20",
                ("keywords", "closed", "maps", "tuples", "anything", "recursion"),
            ),
            Fact(
                "the Python library leaves out what is nested in a property: post the payload itself",
                "ollama 0.6.3, Tool.Function.Parameters.Property, run",
                "2026-11-21",
            ),
            Fact(
                "tools shape the prompt; no grammar for arguments was seen",
                "ollama, Go code @ fb307609",
                "2026-11-20",
                ("enforced",),
            ),
            *_OLLAMA,
        ),
    )


def vllm() -> Dialect:
    """Return the dialect of vLLM and SGLang tools (xgrammar, llguidance)."""
    return Dialect(
        name="vllm",
        title="vLLM and SGLang tool (xgrammar, llguidance)",
        envelope=function_tool(strict=True),
        plain=function_tool(strict=False),
        where=("function", "parameters"),
        tool_name=WORD,
        key=PRINTABLE,
        keywords=STRICT | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} | SIZES | {"prefixItems"},
        formats=FORMATS | {"uri"},
        patterns="anchored",
        most_repeated=1000,
        most_repeated_at_once=128,
        most_bound=2**62,
        most_count=2**31,
        lengths_beside_patterns=False,
        shares=True,
        counts_optional=False,
        false_items=True,
        facts=(
            Fact(
                "the envelopes are those of OpenAI; strict turns the constraint on",
                "vllm, docs/features/tool_calling.md @ 0064cc9c",
                "2026-11-20",
                ("envelope", "plain", "where"),
            ),
            *_VLLM,
        ),
    )


def ollama_output() -> Dialect:
    """Return the dialect of Ollama structured outputs (format)."""
    return replace(
        ollama(),
        name="ollama-output",
        title="Ollama structured output (format)",
        tool=False,
        envelope="@schema",
        where=(),
        keywords=STRICT - {"pattern"} | {"minItems", "maxItems", "minLength", "maxLength"},
        recursion="keep",
        shares=True,
        closed=True,
        formats=frozenset({"date", "time", "date-time", "uuid"}),
        enforced=True,
        most_items=1997,
        most_count=2000,
        facts=(
            _REPETITIONS,
            Fact(
                "the schema is handed to llama.cpp unchanged",
                "ollama, docs/capabilities/structured-outputs.mdx @ fb307609",
                "2026-11-20",
                ("tool", "envelope", "where", "enforced"),
            ),
            Fact(
                "the four formats that are enforced; numbers are bounded as integers only; most patterns are ignored",
                "llama-cpp-python 0.3.36, run",
                "2026-11-20",
                ("formats", "keywords"),
            ),
            Fact(
                "neither `items: false` nor the schema `true` compiles",
                "llama-cpp-python 0.3.36, run",
                "2026-11-20",
                ("tuples", "anything"),
            ),
            Fact(
                "references are followed, recursive ones too; maps would be enforced, and are sent as in tools all the same",
                "llama-cpp-python 0.3.36, run",
                "2026-11-20",
                ("recursion", "shares", "maps"),
            ),
            *_OLLAMA,
        ),
    )


_CONVERTER = "llama.cpp @ b11434, common/json-schema.cpp and json-schema-to-grammar.cpp"


_LLAMACPP = (
    Fact(
        "response_format is enforced and not shown to the model; a named tool_choice acts as auto, and a required one "
        "lets any text stand before the call, so no tool is sent",
        "llama.cpp @ b11434, tools/server, run; ggml-org/llama.cpp#26535",
        "2026-11-26",
        ("envelope", "where", "tool"),
    ),
    Fact("required properties come first, then the optional ones in their order", _CONVERTER, "2026-11-26", ("order",)),
    Fact(
        "integers are bounded, other numbers are not; multipleOf and numbers of properties are ignored without a word",
        _CONVERTER,
        "2026-11-26",
        ("keywords", "bounded"),
    ),
    Fact(
        "of a string, a pattern counts before a format, and a format before lengths; what a pattern may not hold "
        "(look-around, \\d, no anchors) makes it any string, with a line in the log of the server only",
        _CONVERTER,
        "2026-11-26",
        ("keywords", "lengths_beside_patterns"),
    ),
    Fact(
        "a pattern is held against the text of the JSON, not of the string: what takes a quotation mark, a backslash or a "
        "control character breaks the answer; a repetition after an escaped character repeats all characters before it, "
        "one after a character that is not ASCII its last byte, and `?` after a repetition makes it optional",
        _CONVERTER,
        "2026-11-27",
        ("patterns", "most_repeated"),
    ),
    Fact("the formats are date, time, date-time and uuid; others are ignored", _CONVERTER, "2026-11-26", ("formats",)),
    _REPETITIONS,
    Fact("bounds of integers are read as 64 bits", _CONVERTER, "2026-11-26", ("most_bound",)),
    Fact("listed integers of more than 64 bits become fractions", _CONVERTER, "2026-11-28", ("most_listed",)),
    Fact(
        "a lower bound of integers from 100 on without an upper one lets some lesser numbers through (8030 of 8031), and from "
        "2 * 10^15 on takes all memory of the server; a negative upper bound without a lower one lets `-05` through, which is "
        "no JSON; both bounds are exact, and integers without bounds have 16 digits",
        "llama.cpp @ b11434, common/json-schema-to-grammar.cpp and src/llama-grammar.cpp, run",
        "2026-11-28",
        ("single_bound", "other_bound"),
    ),
    Fact(
        "a schema that is `true` or `false` is refused, also as `items` after a tuple; beside $ref, anyOf, oneOf, enum "
        "and const other keywords are ignored",
        _CONVERTER,
        "2026-11-26",
        ("tuples", "anything", "keywords"),
    ),
    Fact("references to definitions are followed", _CONVERTER, "2026-11-26", ("shares",)),
    Fact("keys are literals of the grammar, escaped as JSON writes them", _CONVERTER, "2026-11-26", ("key",)),
    PRINTABLE_KEYS,
    _NO_ALPHABET,
)


def llamacpp() -> Dialect:
    """Return the dialect of structured outputs in llama.cpp's server, LM Studio and llamafile (response_format)."""
    return Dialect(
        name="llamacpp",
        title="llama.cpp, LM Studio, llamafile: structured output (response_format)",
        envelope={"type": "json_schema", "json_schema": {"name": "@name", "schema": "@schema"}},
        where=("json_schema", "schema"),
        tool=False,
        tool_name=WORD,
        key=PRINTABLE,
        keywords=STRICT | {"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"},
        order="required-first",
        tuples="object",
        anything="text",
        bounded=frozenset({"integer"}),
        formats=frozenset({"date", "time", "date-time", "uuid"}),
        patterns="spelled",
        most_repeated=2000,
        lengths_beside_patterns=False,
        shares=True,
        most_bound=2**62,
        most_listed=2**63 - 1,
        single_bound=99,
        most_items=1997,
        most_count=2000,
        facts=_LLAMACPP,
    )


def vllm_output() -> Dialect:
    """Return the dialect of vLLM structured outputs (structured_outputs in extra_body)."""
    return replace(
        vllm(),
        name="vllm-output",
        title="vLLM structured output (extra_body)",
        tool=False,
        envelope={"structured_outputs": {"json": "@schema"}},
        plain=None,
        where=("structured_outputs", "json"),
        facts=(
            Fact(
                "the schema stands under structured_outputs",
                "vllm, docs/features/structured_outputs.md",
                "2026-11-20",
                ("tool", "envelope", "where"),
            ),
            *_VLLM,
        ),
    )
