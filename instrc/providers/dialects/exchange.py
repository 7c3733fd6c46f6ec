"""Formats in which tools are exchanged: JSON Schema itself, the Model Context Protocol, smolagents."""

from __future__ import annotations

import keyword

from instrc.providers.dialect import FORMATS, NUMBERS, SIZES, STRICT, Dialect, Fact, NameRule, Spelling

_TYPES = frozenset({"string", "boolean", "integer", "number", "image", "audio", "array", "object", "any", "null"})
_PYTHON_NAME = NameRule(r"^\W\d", r"\w", 128, frozenset(keyword.kwlist), identifier=True)


def jsonschema() -> Dialect:
    """Return the dialect that passes JSON Schema 2020-12 through unchanged."""
    return Dialect(
        name="jsonschema",
        title="JSON Schema 2020-12, as it is",
        envelope="@schema",
        tool_name=NameRule(r"\s\S", r"\s\S", 1024),
        structure="pass_through",
        root="any",
        order="free",
        closed=False,
        enforced=False,
        facts=(
            Fact(
                "everything is kept, and nothing is enforced",
                "JSON Schema 2020-12",
                "2022-06-16",
                ("envelope", "tool_name", "structure", "root", "order", "closed", "enforced"),
            ),
        ),
    )


def mcp() -> Dialect:
    """Return the dialect of Model Context Protocol tools."""
    return Dialect(
        name="mcp",
        title="Model Context Protocol tool",
        result={"content": [{"type": "text", "text": "@text"}], "structuredContent": "@object", "isError": "@error"},
        envelope={"name": "@name", "description": "@description", "inputSchema": "@schema", "_meta": {"dev.instrc/map": "@map"}},
        where=("inputSchema",),
        tool_name=NameRule("A-Za-z0-9_.-", "A-Za-z0-9_.-", 128),
        structure="pass_through",
        root="object",
        order="free",
        closed=False,
        comments=False,
        extracts_calls=True,
        enforced=False,
        facts=(
            Fact(
                "inputSchema is 2020-12 with an object at its root; a server describes its tools, it does not decode",
                "MCP specification 2026-07-28, schema.ts",
                "2026-11-20",
                ("envelope", "where", "structure", "root", "closed", "order", "enforced"),
            ),
            Fact("names are 1 to 128 of [A-Za-z0-9_.-]", "MCP specification 2026-07-28, tools", "2026-11-20", ("tool_name",)),
            Fact("_meta keys carry a reverse DNS prefix", "MCP specification 2026-07-28", "2026-11-20", ("envelope",)),
            Fact(
                "a wrong x-mcp-header in a property makes clients leave the tool out",
                "MCP specification 2026-07-28",
                "2026-11-20",
                ("comments",),
            ),
            Fact(
                "calls come as requests; a result has content, structuredContent and isError",
                "mcp 2.3.0, CallToolResult",
                "2026-11-23",
                ("extracts_calls", "result"),
            ),
        ),
    )


_SMOLAGENTS = (
    Fact(
        "a tool has name, description, inputs and output_type; names are identifiers",
        "smolagents 1.26.0, tools.py",
        "2026-11-20",
        ("envelope", "where", "tool_name"),
    ),
    Fact(
        "each input has a type and a description, and is the name of a parameter of Python",
        "smolagents 1.26.0, tools.py",
        "2026-11-20",
        ("spelling", "described", "described_inside", "key", "keys_at_root_only"),
    ),
    Fact(
        "an input that is nullable may be left out, or be null",
        "smolagents 1.26.0, tools.py and models.py",
        "2026-11-23",
        ("null_leaves_out",),
    ),
    Fact(
        "other keywords of an input pass untouched, but inputs have no place for definitions",
        "smolagents 1.26.0, run",
        "2026-11-20",
        ("keywords", "formats", "recursion"),
    ),
    Fact(
        "arguments are looked at by their type alone: nothing is enforced in decoding",
        "smolagents 1.26.0, validate_tool_arguments",
        "2026-11-23",
        ("enforced", "order"),
    ),
    Fact("the role of results is tool-response", "smolagents 1.26.0, models.py", "2026-11-23", ("result",)),
)


def smolagents() -> Dialect:
    """Return the dialect of smolagents tools."""
    return Dialect(
        name="smolagents",
        title="smolagents Tool",
        result={"role": "tool-response", "content": [{"type": "text", "text": "@text"}]},
        envelope={"name": "@name", "description": "@description", "inputs": "@schema", "output_type": "any"},
        where=("inputs",),
        tool_name=_PYTHON_NAME,
        key=_PYTHON_NAME,
        keys_at_root_only=True,
        keywords=STRICT
        | NUMBERS
        | SIZES
        | {"prefixItems", "default", "nullable", "patternProperties", "propertyNames", "uniqueItems"},
        order="free",
        recursion="unroll",
        formats=FORMATS | {"uri"},
        described=True,
        described_inside=False,
        null_leaves_out=True,
        spelling=Spelling(inputs=_TYPES),
        enforced=False,
        facts=_SMOLAGENTS,
    )
