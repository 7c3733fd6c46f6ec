"""What a provider's answer holds, before any of it is read as a value of ours."""

from __future__ import annotations

from dataclasses import dataclass, field

from instrc.jsonvalue import Json

_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length", "model_context_window_exceeded"})
_REFUSED = frozenset(
    {"refusal", "content_filter", "blacklist", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "JAILBREAK"}
)
_MALFORMED = frozenset(
    {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"}
)
_FAILED = frozenset({"error", "failed", "cancelled", "OTHER"})


@dataclass(slots=True)
class Found:
    """One call as it was found: its arguments still in the target's words, or the text that should have been JSON."""

    name: str | None
    arguments: Json
    id: str | None = None
    unreadable: str | None = None
    """Why the arguments are no JSON."""
    partial: bool = False
    """Whether the text of the arguments ends before its JSON does."""


@dataclass(slots=True)
class Reply:
    """What an answer holds."""

    calls: list[Found] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    refusal: str | None = None
    cut: bool = False
    malformed: str | None = None
    failure: str | None = None
    """What the provider says went wrong, where there is no answer."""
    envelope: bool = False
    """Whether any provider's envelope was recognised."""

    def stop(self, reason: Json) -> None:
        """Take in why a model stopped.

        The words of OpenAI, Anthropic, Gemini, Mistral, GigaChat and Ollama differ, so one table holds them all;
        a model that stopped of itself, or to call a tool, says nothing here.
        """
        if not isinstance(reason, str):
            return
        reason = reason.rsplit(".", 1)[-1]  # `FinishReason.SAFETY`, as some libraries print it
        if reason in _CUT:
            self.cut = True
        elif reason in _REFUSED:
            self.refusal = self.refusal or reason
        elif reason in _MALFORMED:
            self.malformed = self.malformed or reason
        elif reason in _FAILED:
            self.failure = self.failure or reason
