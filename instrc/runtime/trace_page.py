"""A run as one self-contained page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final

from instrc.process.picture import name_of_step
from instrc.runtime.traces import TimelineSpan
from instrc.text.jsontext import dumps
from instrc.text.page_style import page_style

_WORDS: Final[Mapping[str, str]] = {
    "language": "en",
    "commands": "{count} commands",
    "tokens_of": "{count} tokens",
    "tries": "retries: {count}",
    "fact_retries": "tried again after",
}
_FACTS: Final = (
    *("sent", "schema", "answer", "input", "output", "show", "thoughts", "metrics", "complaints"),
    *("error", "place", "traceback", "repairs", "retries"),
)
_FOLDED: Final = frozenset({"schema", "thoughts", "metrics", "place", "traceback", "repairs"})


def page_of(
    title: str,
    status: str,
    spans: Sequence[TimelineSpan],
    titles: Mapping[str, str],
    first: int = 0,
    most: int | None = None,
    words: Mapping[str, str] = _WORDS,
) -> str:
    """Return the page as HTML without scripts or external resources; `titles` are those of steps, by key.

    With `most`, it shows that many commands from the `first` on, with links to the others.
    `words` are those of the service's pages in one language; by default facts and states have the names that traces use.
    """
    whole = max([*(span.ended or span.began for span in spans), 0.001])
    places = [] if most is None else [max(first - most, 0)] * (first > 0) + [first + most] * (first + most < len(spans))
    links = "".join(f'<a href="?first={place}">{place + 1}–{min(place + (most or 0), len(spans))}</a> ' for place in places)
    spent = _spent(sum(span.tokens for span in spans), sum(span.cost for span in spans), words)
    about = " · ".join([status, words["commands"].format(count=len(spans)), time_text(whole), *spent])
    ticks = "".join(f"<span>{time_text(whole * part / 4)}</span>" for part in range(5))
    rows = (_row(span, title_of(span, titles), whole, words) for span in spans[first : None if most is None else first + most])
    return (
        f'<!doctype html>\n<html lang="{words["language"]}"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>\n{page_style(Path(__file__).with_suffix('.css'))}</style></head><body><main>"
        f'<h1>{escape(title)}</h1><p class="sub">{escape(about)}</p><div class="axis" aria-hidden="true">{ticks}</div>'
        f"{''.join(rows)}{f'<nav>{links}</nav>' if links else ''}</main></body></html>\n"
    )


def title_of(span: TimelineSpan, titles: Mapping[str, str]) -> str:
    """Return the titles of the steps of a command."""
    return ", ".join(titles.get(key) or name_of_step(key) for key in keys_of(span))


def keys_of(span: TimelineSpan) -> list[str]:
    """Return the keys of the steps of a command."""
    steps = span.facts.get("steps")
    keys = [key for key in steps if isinstance(key, str)] if isinstance(steps, list) else []
    return keys or [re.sub(r"#\d+$", "", span.id.rpartition(".")[2])]


def time_text(seconds: float) -> str:
    """Return a duration as text."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _spent(tokens: int, cost: float, words: Mapping[str, str]) -> list[str]:
    return [*([words["tokens_of"].format(count=f"{tokens:,}")] if tokens else []), *([f"${cost:,.4f}"] if cost else [])]


def _row(span: TimelineSpan, title: str, whole: float, words: Mapping[str, str]) -> str:
    """Return the row of a command: its time as a bar, and its facts."""
    parts = []
    for name in _FACTS:
        value = "\n".join(span.retries) if name == "retries" else span.facts.get(name)
        if value is None or value in ({}, [], ""):
            continue
        heading, text = escape(words.get(f"fact_{name}", name)), value if isinstance(value, str) else dumps(value)
        inside = f"<pre>{escape(text)}</pre>"
        folded = f"<details><summary>{heading}</summary>{inside}</details>"
        parts.append(folded if name in _FOLDED else f"<h3>{heading}</h3>{inside}")
    end = whole if span.ended is None else span.ended
    facts = [
        words.get(f"lane_{span.lane}", span.lane),
        words.get(f"state_{span.state}", span.state),
        *([] if span.ended is None else [time_text(end - span.began)]),
        *([words["tries"].format(count=len(span.retries))] if span.retries else []),
        *_spent(span.tokens, span.cost, words),
        *([str(span.facts["model"])] if span.facts.get("model") else []),
    ]
    extent = f"left:{100 * span.began / whole:.2f}%;width:{100 * (end - span.began) / whole:.2f}%"
    return (
        f'<details class="{span.lane} {span.state}"><summary><code>{escape(span.id)}</code><span>{escape(title)}</span>'
        f'<span class="facts">{escape(" · ".join(facts))}</span><span class="bar"><i style="{extent}"></i></span></summary>'
        f"<div>{''.join(parts)}</div></details>"
    )
