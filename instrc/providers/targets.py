"""All targets of the package, by name."""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias, cast

from instrc.problems.errors import SettingsError
from instrc.problems.targets import UnknownTarget
from instrc.providers.dialect import Dialect
from instrc.providers.dialects import anthropic, exchange, gigachat, google, mistral, open_weights, openai
from instrc.text.arguments import text

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
    "llamacpp",
    "vllm",
    "vllm-output",
]
"""Names of the targets, for type checkers."""
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
    anthropic.bedrock,
    anthropic.bedrock_strict,
    anthropic.bedrock_output,
    exchange.mcp,
    exchange.smolagents,
    open_weights.ollama,
    open_weights.ollama_output,
    open_weights.llamacpp,
    open_weights.vllm,
    open_weights.vllm_output,
)


@cache
def targets() -> dict[TargetName, Dialect]:
    """Return all targets by name.

        assert "openai" in instrc.targets()

    The order is that of displayed lists.
    """
    return {cast("TargetName", dialect.name): dialect for dialect in (make() for make in _TARGETS)}


def known_target(name: object) -> Dialect | None:
    """Return the target of a name, or `None`."""
    return targets().get(cast("TargetName", name)) if isinstance(name, str) else None


def dialect(target: str | Dialect) -> Dialect:
    """Return a target by name, or a `Dialect` unchanged; raise for an unknown name."""
    if isinstance(target, Dialect):
        return target
    result = known_target(text("target", target))
    if result is None:
        from instrc.problems.suggest import nearest

        raise SettingsError([UnknownTarget(target=target, nearest=tuple(nearest(target, targets())), known=tuple(targets()))])
    return result
