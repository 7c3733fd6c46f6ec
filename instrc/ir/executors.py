"""Who carries a step out: the model fills it in, the server does it, or a person answers."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Executor: TypeAlias = Literal["model", "server", "user"]

EXECUTORS: Final[dict[Executor, str]] = {"model": "the model", "server": "the server", "user": "a person"}
"""With the words that messages have for them."""
