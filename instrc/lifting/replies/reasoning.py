"""Take the thoughts of reasoning models out of what they say, where a server leaves them in."""

from __future__ import annotations

from instrc.lifting.replies.harmony import CHANNEL, without_analysis

_PAIRS = (
    *((f"<{word}>", f"</{word}>") for word in ("think", "thinking", "thought", "reasoning", "seed:think")),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
)
"""The marks around thoughts: of DeepSeek, Qwen and most others; of Seed; of Magistral, Command, Kimi, Gemma."""


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Return a text without the thoughts that reasoning models begin with, and whether they have no end.

    Some chat templates write the opening mark into the prompt, so the end of the thoughts may stand alone.
    """
    if CHANNEL in text:
        return without_analysis(text)
    begun = text.lstrip()
    for opening, ending in _PAIRS:
        if begun.startswith(opening):
            _, end, rest = begun.partition(ending)
            return (rest, False) if end else ("", True)
    thoughts, end, rest = text.partition("</think>")
    return (rest, False) if end and "<think>" not in thoughts else (text, False)
