"""The styles of pages: one sheet of tokens, and behind it the sheet of a page."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def page_style(sheet: str | Path) -> str:
    """Return a style sheet with the tokens that all our pages share before it."""
    tokens = (files("instrc.text") / "tokens.css").read_text(encoding="utf-8")
    return f"{tokens}{Path(sheet).read_text(encoding='utf-8')}"
