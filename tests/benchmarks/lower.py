"""Measure lowering beside the transforms of SDKs that are installed: time a tool, and which features come through.

    python tests/benchmarks/lower.py [TOOLS]
    python tests/benchmarks/lower.py --tools FILE.jsonl

With `--tools`, a file with a name and a schema in a list on each line, each tool is lowered to every target that pydantic-ai
has a transformer for, turn and turn about with that transformer alone, each of them warm, and the ratios are printed.

A feature counts if OpenAI's strict rules take the payload and the sample value can be said in it.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from instrc import encode, lift, lower, targets
from instrc.providers.lowering.verify import breaches  # the rules alone, without asking the engines

Schema = dict[str, Any]


def wrapped(schema: Any, *, required: bool = True, **more: Any) -> Schema:
    """Return an object with one property `a`."""
    root = {"type": "object", "properties": {"a": schema}, "additionalProperties": False, **more}
    return {**root, "required": ["a"]} if required else root


FEATURES: dict[str, tuple[Schema, Any]] = {
    "closed object": (wrapped({"type": "string"}), {"a": "x"}),
    "open object is closed": ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": "x"}),
    "optional property": (wrapped({"type": "string"}, required=False), {}),
    "optional and nullable": (wrapped({"type": ["string", "null"]}, required=False), {"a": None}),
    "type list": (wrapped({"type": ["string", "integer"]}), {"a": 1}),
    "mixed enum": (wrapped({"enum": ["a", 1, None]}), {"a": None}),
    "const": (wrapped({"const": "a"}), {"a": "a"}),
    "oneOf": (wrapped({"oneOf": [{"type": "string"}, {"type": "integer"}]}), {"a": 1}),
    "allOf": (wrapped({"allOf": [{"type": "string"}, {"description": "x"}]}), {"a": "x"}),
    "unions of one first key": (
        wrapped(
            {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"_r": {"type": "string"}, "k": {"const": tag}},
                        "required": ["_r", "k"],
                        "additionalProperties": False,
                    }
                    for tag in ("p", "q")
                ]
            }
        ),
        {"a": {"_r": "", "k": "q"}},
    ),
    "default": (wrapped({"type": "string", "default": "x"}), {"a": "x"}),
    "unknown format": (wrapped({"type": "string", "format": "uri"}), {"a": "https://a.b"}),
    "string length": (wrapped({"type": "string", "minLength": 2}), {"a": "xx"}),
    "unique items": (wrapped({"type": "array", "items": {"type": "string"}, "uniqueItems": True}), {"a": ["x"]}),
    "tuple": (
        wrapped({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2}),
        {"a": ["x", 1]},
    ),
    "map": (wrapped({"type": "object", "additionalProperties": {"type": "integer"}}), {"a": {"x": 1}}),
    "free object": (wrapped({"type": "object"}), {"a": {"x": [1]}}),
    "any value": (wrapped({}), {"a": {"x": [1]}}),
    "$ref with siblings": (
        wrapped({"$ref": "#/$defs/b", "description": "x"}, **{"$defs": {"b": {"type": "string"}}}),
        {"a": "x"},
    ),
    "recursion": (
        wrapped(
            {"$ref": "#/$defs/t"},
            **{"$defs": {"t": {"type": "object", "properties": {"n": {"$ref": "#/$defs/t"}}, "additionalProperties": False}}},
        ),
        {"a": {"n": {}}},
    ),
    "root that is not an object": ({"type": "array", "items": {"type": "string"}}, ["x"]),
    "properties named like keywords": (
        {
            "type": "object",
            "properties": {"enum": {"type": "string"}, "$ref": {"type": "string"}},
            "required": ["enum", "$ref"],
            "additionalProperties": False,
        },
        {"enum": "x", "$ref": "y"},
    ),
}


def tools(number: int) -> list[Schema]:
    """Return ordinary tools: a handful of described properties, an enum, a list, a nested object."""
    return [
        {
            "type": "object",
            "description": f"Does the thing number {index}.",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50 + index, "default": 10},
                "order": {"type": "string", "enum": ["newest", "oldest", "best"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "filter": {
                    "type": "object",
                    "properties": {"since": {"type": "string", "format": "date"}, "author": {"type": "string"}},
                    "required": ["since"],
                },
            },
            "required": ["query"],
        }
        for index in range(number)
    ]


def transforms() -> dict[str, Callable[[Schema], Any]]:
    """Return the transforms of the libraries that are installed."""
    found: dict[str, Callable[[Schema], Any]] = {}
    try:
        from openai.lib._pydantic import _ensure_strict_json_schema

        found["openai SDK"] = lambda schema: _ensure_strict_json_schema(copy.deepcopy(schema), path=(), root=schema)
    except ImportError:
        pass
    try:
        from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

        found["pydantic-ai"] = lambda schema: OpenAIJsonSchemaTransformer(copy.deepcopy(schema), strict=True).walk()
    except ImportError:
        pass
    try:
        from langchain_core.utils.function_calling import convert_to_openai_tool

        def langchain(schema: Schema) -> Any:
            named = {"title": "tool", "description": "A tool.", **copy.deepcopy(schema)}
            return convert_to_openai_tool(named, strict=True)["function"]["parameters"]

        found["langchain-core"] = langchain
    except ImportError:
        pass
    try:
        from anthropic import transform_schema

        found["anthropic SDK (for its own rules)"] = lambda schema: transform_schema(copy.deepcopy(schema))
    except ImportError:
        pass
    return found


def milliseconds(action: Callable[[Schema], Any], schemas: list[Schema]) -> float:
    """Return the median time a schema takes, the best of three passes."""
    for schema in schemas[:20]:
        action(schema)
    passes = []
    for _ in range(3):
        times = []
        for schema in schemas:
            start = time.process_time()
            action(schema)
            times.append(time.process_time() - start)
        passes.append(statistics.median(times))
    return min(passes) * 1000


def peers() -> dict[str, tuple[str, Callable[[Schema], Any]]]:
    """Return what pydantic-ai sends a schema through for each target: the transformer of the provider, by name."""
    from pydantic_ai._json_schema import InlineDefsJsonSchemaTransformer
    from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer, GoogleOpenAPISchemaTransformer
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    def walk(name: str, transformer: Any, *, strict: bool | None = None) -> tuple[str, Callable[[Schema], Any]]:
        return name, lambda schema: transformer(schema, strict=strict).walk()

    strict = walk("OpenAI, strict", OpenAIJsonSchemaTransformer, strict=True)
    found = {
        **{target: strict for target in targets() if target.startswith("openai")},
        **{target: walk("OpenAI", OpenAIJsonSchemaTransformer) for target in ("ollama", "ollama-output", "vllm", "vllm-output")},
        **{target: walk("Google", GoogleJsonSchemaTransformer) for target in ("gemini", "gemini-output")},
        "gemini-schema": walk("Google, OpenAPI", GoogleOpenAPISchemaTransformer),
        **{target: walk("definitions inlined", InlineDefsJsonSchemaTransformer) for target in ("mistral", "mistral-output")},
    }
    with contextlib.suppress(ImportError):
        from pydantic_ai.providers.anthropic import AnthropicJsonSchemaTransformer

        found["anthropic"] = walk("Anthropic", AnthropicJsonSchemaTransformer)
        for target in ("anthropic-strict", "anthropic-output"):
            found[target] = walk("Anthropic, strict", AnthropicJsonSchemaTransformer, strict=True)
    with contextlib.suppress(ImportError):
        from pydantic_ai.providers.bedrock import BedrockJsonSchemaTransformer

        found["bedrock"] = walk("Bedrock", BedrockJsonSchemaTransformer)
        for target in ("bedrock-strict", "bedrock-output"):
            found[target] = walk("Bedrock, strict", BedrockJsonSchemaTransformer, strict=True)
    return found


def warm(action: Callable[[Schema], Any], schema: Schema) -> float:
    """Return the seconds of a run that follows a run of the same, so that it finds its own data near the processor."""
    with contextlib.suppress(Exception):
        action(schema)
    start = time.process_time()
    with contextlib.suppress(Exception):
        action(schema)
    return time.process_time() - start


def beside(path: Path) -> None:
    """Print how long each target takes for the tools of a file, as a multiple of pydantic-ai's transformer for its provider."""
    warnings.simplefilter("ignore")
    schemas = [schema for _, schema in map(json.loads, path.read_text().splitlines()) if isinstance(schema, dict)]
    print(f"{f'{len(schemas)} tools':<26}{'ms':<9}{'beside':<22}{'ms':<9}{'ratio':<9}95 of 100 within")
    for target, (name, peer) in peers().items():
        ours = functools.partial(lower, target=target)
        pairs = []
        for schema in schemas:
            turns = [(warm(peer, schema), warm(ours, schema)) for _ in range(7)]
            pairs.append(tuple(map(min, zip(*turns, strict=True))))
        theirs, own = (sum(times) for times in zip(*pairs, strict=True))
        each = sorted(mine / other for other, mine in pairs)
        times = f"{own / len(pairs) * 1000:<9.3f}{name:<22}{theirs / len(pairs) * 1000:<9.3f}"
        print(f"{target:<26}{times}{own / theirs:<9.2f}{each[len(each) * 95 // 100]:.2f}")


def comes_through(transform: Callable[[Schema], Any], schema: Schema, value: Any, target: str) -> bool:
    """Say whether another library's result keeps the rules and can say a value, null standing for what is left out."""
    from jsonschema import Draft202012Validator

    try:
        result = transform(schema)
        tool = (
            {"type": "function", "function": {"name": "tool", "parameters": result, "strict": True}}
            if target == "openai"
            else {"name": "tool", "input_schema": result, "strict": True}
        )
        if breaches(tool, target):
            return False
        said = {**dict.fromkeys(result.get("required", ())), **value} if isinstance(value, dict) else value
        return bool(Draft202012Validator(result).is_valid(said))
    except Exception:  # noqa: BLE001  -- crashing on a feature is not getting it right
        return False


def ours(schema: Schema, value: Any) -> bool:
    """Say whether our result keeps the rules and brings a value back."""
    result = lower(schema, "openai")
    return not breaches(result.payload, "openai") and lift(encode(value, result.map), result.map).value == value


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--tools"]:
        beside(Path(sys.argv[2]))
        return
    schemas = tools(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    print(f"{'target':<36}ms a tool")
    for target in targets():
        print(f"{target:<36}{milliseconds(lambda schema, target=target: lower(schema, target), schemas):.3f}")
    base = milliseconds(lambda schema: lower(schema, "openai"), schemas)
    right = sum(ours(schema, value) for schema, value in FEATURES.values())
    print(f"\n{'':<36}{'ms a tool':<12}{'beside ours':<14}features of {len(FEATURES)}")
    print(f"{'instrc, openai, with the way back':<36}{base:<12.3f}{1:<14}{right}")
    for name, transform in transforms().items():
        target = "anthropic-strict" if "anthropic" in name else "openai"
        took = milliseconds(transform, schemas)
        right = sum(comes_through(transform, schema, value, target) for schema, value in FEATURES.values())
        print(f"{name:<36}{took:<12.3f}{took / base:<14.2f}{right}")


if __name__ == "__main__":
    main()
