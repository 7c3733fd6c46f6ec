"""Values as HTML for a cell of a notebook: a heading, tables, folded texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from time import monotonic
from typing import Final

from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.visible import shortened, visible_lines

CELL: Final = 400
"""Maximum characters in a table cell."""
ROWS: Final = 100
"""Maximum rows in a table."""
REDRAW: Final = 0.1
"""Minimum seconds between two states of a bar."""


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


def bar(total: int | None) -> Callable[[str], object]:
    """Show a bar in the cell's output; return a function that advances it by one item, with a text."""
    from IPython.display import display  # only a notebook has it

    done, due = 0, 0.0

    def shown(text: str) -> dict[str, str]:
        count = f"{text} {done:,}" if total is None else f"{text} {done:,}/{total:,}"
        value = "" if total is None else f" value='{done}' max='{total}'"
        return {"text/plain": count, "text/html": f"<progress{value}></progress> {_text(count)}"}

    def advance(text: str) -> None:
        nonlocal done, due
        done += 1
        if done == total or monotonic() > due:
            due = monotonic() + REDRAW
            handle.update(shown(text), raw=True)

    handle = display(shown("running"), raw=True, display_id=True)
    return advance


def _cell(value: Json) -> str:
    text = value if isinstance(value, str) else "" if value is None else dumps(value, indent=False)
    return _text(shortened(text, CELL))


def _text(text: str) -> str:
    return escape(visible_lines(text))
