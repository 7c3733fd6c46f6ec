"""Values as HTML for a cell of a notebook: a heading, tables, folded texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.visible import visible_lines

CELL: Final = 400
"""Maximum characters in a table cell."""
ROWS: Final = 100
"""Maximum rows in a table."""


def block(heading: str, *parts: str) -> str:
    """Return a heading in plain text with parts in HTML below it."""
    return f"<div><b>{_text(heading)}</b>{''.join(parts)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[Json]]) -> str:
    """Return a table; texts stay as they are, any other value is written as JSON."""
    listed = list(rows)
    lines = ["".join(f"<td style='text-align:left'>{_cell(value)}</td>" for value in row) for row in listed[:ROWS]]
    if len(listed) > ROWS:
        lines.append(f"<td colspan='{len(head)}'>… and {len(listed) - ROWS:,} more rows</td>")
    names = "".join(f"<th style='text-align:left'>{_text(name)}</th>" for name in head)
    return f"<table><tr>{names}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if listed else ""


def folded(title: str, value: Json) -> str:
    """Return a value that opens on a click."""
    text = value if isinstance(value, str) else dumps(value)
    return f"<details><summary>{_text(title)}</summary><pre>{_text(text)}</pre></details>"


def code(text: str) -> str:
    """Return a line to be copied into a cell."""
    return f"<pre>{_text(text)}</pre>"


def _cell(value: Json) -> str:
    text = value if isinstance(value, str) else "" if value is None else dumps(value, indent=False)
    return _text(text if len(text) <= CELL else f"{text[: CELL - 1]}…")


def _text(text: str) -> str:
    return escape(visible_lines(text))
