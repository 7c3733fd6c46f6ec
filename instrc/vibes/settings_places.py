"""Places in a `pyproject.toml`: those of settings, and tables with misspelt names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from instrc.text.files import TomlError
from instrc.text.source import Source, Span


def readable_path(path: Path) -> Path:
    """Return a path for display: relative if it is inside the working folder."""
    below = os.path.relpath(path)
    return path if below.startswith("..") else Path(below)


_HEADER = r"(?im)^[ \t]*\[\s*(?:tools?\s*\.\s*)?[\"']?instrc\b"
"""Header of the settings table, and common misspellings of it."""


def entry_place(source: Source, word: str) -> Span:
    """Return the place of a word's first occurrence after the table's header."""
    header = re.search(_HEADER, source.text)
    found = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(source.text, header.end() if header else 0)
    return source.span(*found.span()) if found else source.span(*header.span()) if header else source.whole()


def header_place(source: Source, table: str) -> Span:
    """Return the place of the last part of a table's name in its header."""
    name = table.rpartition(".")[2]
    found = re.search(rf"^[ \t]*\[[^\]\n]*?({re.escape(name)})\b", source.text, re.MULTILINE)
    return source.whole() if found is None else source.span(*found.span(1))


def error_place(source: Source, error: TomlError) -> Span:
    """Return the place at which a text is invalid TOML."""
    if error.line is None or error.column is None:
        return source.whole()
    lines = source.text.split("\n")[: error.line - 1]
    start = sum(len(line) + 1 for line in lines) + error.column - 1
    start = min(start, max(len(source.text) - 1, 0))
    return source.span(start, min(start + 1, len(source.text)))


_OURS = "instrc"
_HEADERS = r"(?m)^[ \t]*\[\s*tools?\s*\.\s*[\"']?([\w-]+)"


def has_similar_header(text: str) -> bool:
    """Return, without parsing TOML, whether a table header may be a misspelling of `tool.instrc`."""
    return any(map(_is_similar, re.findall(_HEADERS, text)))


def _is_similar(name: str) -> bool:
    if name == _OURS or abs(len(name) - len(_OURS)) > 1 or not set(name.lower()) & set(_OURS[:2]):
        return False
    from instrc.problems.suggest import is_a_slip_of  # few projects have a tool of this name

    return is_a_slip_of(name.lower(), _OURS)


def misplaced_table(document: Mapping[str, object]) -> str | None:
    """Return the name of a table that should be `tool.instrc`; a merely similar one only if that is missing."""
    tools, plural = document.get("tool"), document.get("tools")
    for above, table in (("", document), ("tools.", plural), ("tool.", tools)):
        for name in _names(table):
            if name.lower() == _OURS and (above, name) != ("tool.", _OURS):
                return f"{above}{name}"
    if _OURS in _names(tools):
        return None
    return next((f"tool.{name}" for name in _names(tools) if _is_similar(name)), None)


def _names(table: object) -> Iterable[str]:
    return table if isinstance(table, Mapping) else ()
