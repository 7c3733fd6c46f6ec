"""All targets that come with the package, by name; a new one is one more value.

Versions looked at: openai 3.3.0, anthropic 2.11.0, google-genai 2.34.0, mistralai 3.7.0, mistral-common 1.13.1, mcp 2.3.0,
gigachat 0.2.3, smolagents 1.26.0, llguidance 1.9.1, xgrammar 0.2.8, llama.cpp as of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias, cast

from instrc.arguments import text
from instrc.dialects import anthropic, bedrock, exchange, gigachat, google, mistral, open_weights, openai
from instrc.ir.dialect import Dialect
from instrc.problems.problem import CompileError
from instrc.problems.targets import UnknownTarget

_TARGETS = (
    exchange.jsonschema,
    openai.openai,
    openai.openai_responses,
    openai.openai_output,
    openai.openai_responses_output,
    anthropic.anthropic,
    anthropic.anthropic_strict,
    anthropic.anthropic_output,
    google.gemini,
    google.gemini_schema,
    google.gemini_output,
    mistral.mistral,
    mistral.mistral_output,
    gigachat.gigachat,
    gigachat.gigachat_output,
    bedrock.bedrock,
    bedrock.bedrock_strict,
    bedrock.bedrock_output,
    exchange.mcp,
    exchange.smolagents,
    open_weights.ollama,
    open_weights.ollama_output,
    open_weights.vllm,
    open_weights.vllm_output,
)


TargetName: TypeAlias = Literal[
    "jsonschema",
    "openai",
    "openai-responses",
    "openai-output",
    "openai-responses-output",
    "anthropic",
    "anthropic-strict",
    "anthropic-output",
    "gemini",
    "gemini-schema",
    "gemini-output",
    "mistral",
    "mistral-output",
    "gigachat",
    "gigachat-output",
    "bedrock",
    "bedrock-strict",
    "bedrock-output",
    "mcp",
    "smolagents",
    "ollama",
    "ollama-output",
    "vllm",
    "vllm-output",
]
"""The names of the targets, for those who check types."""


@cache
def targets() -> dict[TargetName, Dialect]:
    """Return all targets by name.

        assert "openai" in instrc.targets()

    They are in the order in which they are listed to people.
    """
    return {cast("TargetName", dialect.name): dialect for dialect in (make() for make in _TARGETS)}


def known_target(name: object) -> Dialect | None:
    """Return the target of a name; `None` for what none of them is called."""
    return targets().get(cast("TargetName", name)) if isinstance(name, str) else None


def dialect(target: str | Dialect) -> Dialect:
    """Return a target by its name, or the value itself; an unknown name is an `unknown-target` problem."""
    if isinstance(target, Dialect):
        return target
    found = known_target(text("target", target))
    if found is None:
        from instrc.problems.suggest import nearest

        raise CompileError([UnknownTarget(target=target, nearest=tuple(nearest(target, targets())), known=tuple(targets()))])
    return found
