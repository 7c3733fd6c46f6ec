"""Sessions of the console agent that together go through all its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RIGHT = {"_why": "asked", "relevant": True}


@dataclass(frozen=True)
class Session:
    """What is typed, what fails, and what answers in place of a model."""

    typed: tuple[str, ...]
    fail: tuple[str, str] = ("none", "none")
    script: dict[str, Any] | None = None
    """Answers by step; without it words decide."""
    services: tuple[str, ...] = ("rag_search", "generate_haiku")
    code: int = 0


ORDINARY = (
    "help",
    "",
    "просто песня",
    "помоги мне",
    "документы",
    "документы:",
    "документы: сколько дней отпуска и когда его перенести",
    "Сколько дней отпуска?",
    "хайку",
    "хайку про",
    "хайку про очень длинную осень и зиму",
    "хайку про осень",
    "QUIT",
)
CALLS = ("Сколько дней отпуска?", "хайку про осень", "/exit")

SESSIONS = {
    "ordinary": Session(ORDINARY),
    "health fails": Session(CALLS, ("health", "health")),
    "health is not ok": Session(CALLS, ("status", "status")),
    "request fails": Session(CALLS, ("request", "request")),
    "answer is an error": Session(CALLS, ("answer", "answer")),
    "service is not there": Session(("хайку про осень", "q"), services=("rag_search",)),
    "model fails at once": Session(("привет",), script={}, code=1),
    "model answers nonsense at once": Session(("привет",), script={"classify": {"relevant": "yes"}}, code=1),
    "model fails to select": Session(("привет",), script={"classify": RIGHT}, code=1),
    "model selects nonsense": Session(("привет",), script={"classify": RIGHT, "select_tool": {"tool": 5}}, code=1),
}
