"""Where a setting stands in its file: the readers of TOML in the standard library keep no places."""

from __future__ import annotations

import re

from instrc.source import Source, Span
from instrc.tomltext import TomlError

_HEADER = r"(?im)^\s*\[\s*(?:tools?\s*\.\s*)?[\"']?instrc\b"
"""The header of our table, and what is written for it by mistake."""


def entry_place(source: Source, word: str) -> Span:
    """Return where a word first stands after the table's header."""
    header = re.search(_HEADER, source.text)
    found = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").search(source.text, header.end() if header else 0)
    return source.span(*found.span()) if found else source.span(*header.span()) if header else source.whole()


def header_place(source: Source, table: str) -> Span:
    """Return where the last part of a table's name stands in its header."""
    name = table.rpartition(".")[2]
    found = re.search(rf"^\s*\[[^\]\n]*?({re.escape(name)})\b", source.text, re.MULTILINE)
    return source.whole() if found is None else source.span(*found.span(1))


def error_place(source: Source, error: TomlError) -> Span:
    """Return the sign at which a text is no TOML."""
    if error.line is None or error.column is None:
        return source.whole()
    lines = source.text.split("\n")[: error.line - 1]
    start = sum(len(line) + 1 for line in lines) + error.column - 1
    start = min(start, max(len(source.text) - 1, 0))
    return source.span(start, min(start + 1, len(source.text)))
