"""The styles of pages: a shared sheet of tokens, followed by the sheet of a page."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def page_style(sheet: str | Path) -> str:
    """Return a style sheet, preceded by the tokens that all pages share."""
    tokens = (files("instrc.text") / "tokens.css").read_text(encoding="utf-8")
    return f"{tokens}{Path(sheet).read_text(encoding='utf-8')}"
