"""The settings of requests to models, under one set of names for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from instrc.text.jsonvalue import Json


class RequestSettings(TypedDict, total=False):
    """How a model is asked, under one set of names for every provider."""

    max_tokens: int
    context: int
    """Tokens that a model has for message and answer together."""
    temperature: float
    seed: int
    timeout: float
    """Seconds of one request."""
    total_timeout: float
    """Seconds of all attempts at a request, pauses included."""
    attempts: int
    reasoning: str
    """How much a model thinks before it answers: `none`, `low`, `medium` or `high`."""
    words: bool
    """Whether the message says the schema in words, where the model does not see it otherwise."""
    extra: Mapping[str, Json]
    """Parameters under the provider's own names."""
    rpm: int
    """Requests a minute."""
    tpm: int
    """Tokens a minute."""
    parallel: int
    """Requests at the same time."""
    cooldown: float
    """Seconds that a model is left alone after three failures in a row, where another one can be asked."""


def is_model_pattern(pattern: str) -> bool:
    """Return whether a pattern of `[tool.instrc.models]` selects models, such as `openai:*`, rather than vibes."""
    return ":" in pattern and not pattern.startswith("aug:")
