"""What a provider's answer holds, before any of it is read as a value of ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from instrc.jsonvalue import Json

_CUT = frozenset(
    {"length", "max_tokens", "maxtokens", "max_output_tokens", "max_prompt_tokens", "max_completion_tokens", "model_length"}
    | {"model_context_window_exceeded", "token_limit", "time_limit", "limit", "truncated", "error_limit", "not_finished"}
    | {"maximum_tokens", "maxpredictedtokensreached", "contextlengthreached"}
)
_REFUSED = frozenset(
    {"refusal", "content_filter", "content_filtered", "blacklist", "sensitive", "error_toxic", "guardrail_intervened"}
    | {"safety", "recitation", "blocklist", "prohibited_content", "spii", "language", "model_armor", "jailbreak"}
    | {"image_safety", "image_prohibited_content", "image_recitation"}
)
_MALFORMED = frozenset(
    {"malformed_function_call", "malformed_response", "unexpected_tool_call", "too_many_tool_calls", "missing_thought_signature"}
    | {"malformed_tool_use", "malformed_model_output"}
)
_FAILED = frozenset(
    {"error", "failed", "cancelled", "canceled", "expired", "other", "timeout", "user_cancel", "abort", "network_error"}
    | {"insufficient_system_resource"}
)


@dataclass(frozen=True, slots=True)
class RawCall:
    """One call as it was found: its arguments still in the target's words, or the text that should have been JSON."""

    name: str | None
    arguments: Json
    id: str | None = None
    unreadable: str | None = None
    """Why the arguments are no JSON."""
    partial: bool = False
    """Whether the text of the arguments ends before its JSON does, or Gemini says that more of them is to follow."""
    repeated: tuple[str, ...] = ()
    """Keys that the text has twice in one object; the last one counts."""
    loose: str | None = None
    """The text that was read, if it is no JSON but stands for one value beyond doubt."""
    nothing: str | None = None
    """The JSON that was taken for no arguments, `null` or an empty text: a tool without arguments may be called with it."""


@dataclass(frozen=True, slots=True)
class RawReply:
    """What an answer holds."""

    calls: tuple[RawCall, ...] = ()
    texts: tuple[str, ...] = ()
    refusal: str | None = None
    cut: bool = False
    malformed: str | None = None
    failure: str | None = None
    """What the provider says went wrong, where there is no answer."""
    envelope: bool = False
    """Whether any provider's envelope was recognised."""

    def __or__(self, other: RawReply) -> RawReply:
        """Return what both hold: the calls and texts of this one first, the first word where only one can stand."""
        return RawReply(
            self.calls + other.calls,
            self.texts + other.texts,
            self.refusal if self.refusal is not None else other.refusal,
            self.cut or other.cut,
            self.malformed if self.malformed is not None else other.malformed,
            self.failure if self.failure is not None else other.failure,
            self.envelope or other.envelope,
        )


def join_replies(replies: Iterable[RawReply]) -> RawReply:
    """Return what several replies hold together."""
    whole = RawReply()
    for reply in replies:
        whole |= reply
    return whole


def stop_reply(reason: Json) -> RawReply:
    """Return what the reason says for which a model stopped.

    The words of OpenAI, Anthropic, Gemini, Mistral, GigaChat, Ollama, Bedrock, Cohere, DeepSeek, GLM and MCP differ, and are
    written large or small, so one table holds them all;
    a model that stopped of itself, or to call a tool, says nothing here.
    """
    if not isinstance(reason, str):
        return RawReply()
    reason = reason.rsplit(".", 1)[-1]  # `FinishReason.SAFETY`, as some libraries print it
    word = reason.casefold().replace("-", "_")
    return RawReply(
        cut=word in _CUT,
        refusal=reason if word in _REFUSED else None,
        malformed=reason if word in _MALFORMED else None,
        failure=reason if word in _FAILED else None,
    )


def first(item: dict[str, Json], *keys: str) -> Json:
    """Return the first member that an object has of several that mean the same; `None` if it has none."""
    return next((item[key] for key in keys if item.get(key) is not None), None)
