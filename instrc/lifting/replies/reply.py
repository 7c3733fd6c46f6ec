"""What a provider's answer holds, before any of it is read as a value of ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from instrc.jsonvalue import Json

_CUT = frozenset(
    {
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
        "max_prompt_tokens",
    }
    | {"max_completion_tokens"}
)
_REFUSED = frozenset(
    {"refusal", "content_filter", "blacklist", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "JAILBREAK"}
    | {"guardrail_intervened", "content_filtered"}
)
_MALFORMED = frozenset(
    {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"}
    | {"malformed_tool_use", "malformed_model_output"}
)
_FAILED = frozenset({"error", "failed", "cancelled", "expired", "OTHER"})


@dataclass(frozen=True, slots=True)
class RawCall:
    """One call as it was found: its arguments still in the target's words, or the text that should have been JSON."""

    name: str | None
    arguments: Json
    id: str | None = None
    unreadable: str | None = None
    """Why the arguments are no JSON."""
    partial: bool = False
    """Whether the text of the arguments ends before its JSON does."""
    repeated: tuple[str, ...] = ()
    """Keys that the text has twice in one object; the last one counts."""
    loose: str | None = None
    """The text that was read, if it is no JSON but stands for one value beyond doubt."""


@dataclass(frozen=True, slots=True)
class Reply:
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

    def __or__(self, other: Reply) -> Reply:
        """Return what both hold: the calls and texts of this one first, the first word where only one can stand."""
        return Reply(
            self.calls + other.calls,
            self.texts + other.texts,
            self.refusal if self.refusal is not None else other.refusal,
            self.cut or other.cut,
            self.malformed if self.malformed is not None else other.malformed,
            self.failure if self.failure is not None else other.failure,
            self.envelope or other.envelope,
        )


def join_replies(replies: Iterable[Reply]) -> Reply:
    """Return what several replies hold together."""
    whole = Reply()
    for reply in replies:
        whole |= reply
    return whole


def stop_reply(reason: Json) -> Reply:
    """Return what the reason says for which a model stopped.

    The words of OpenAI, Anthropic, Gemini, Mistral, GigaChat, Ollama and Bedrock differ, so one table holds them all;
    a model that stopped of itself, or to call a tool, says nothing here.
    """
    if not isinstance(reason, str):
        return Reply()
    reason = reason.rsplit(".", 1)[-1]  # `FinishReason.SAFETY`, as some libraries print it
    return Reply(
        cut=reason in _CUT,
        refusal=reason if reason in _REFUSED else None,
        malformed=reason if reason in _MALFORMED else None,
        failure=reason if reason in _FAILED else None,
    )


def first(item: dict[str, Json], *keys: str) -> Json:
    """Return the first member that an object has of several that mean the same; `None` if it has none."""
    return next((item[key] for key in keys if item.get(key) is not None), None)
