"""A run as one self-contained page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from instrc.process.picture import name_of_step
from instrc.runtime.traces import TimelineLane, TimelineSpan
from instrc.text.jsontext import dumps
from instrc.text.page_style import page_style
from instrc.text.visible import shortened

_LANES: tuple[TimelineLane, ...] = ("model", "server", "process", "person")
_TITLES = {
    "sent": "What was sent",
    "schema": "The schema beside it",
    "answer": "What came back",
    "input": "What it was given",
    "output": "What came back",
    "show": "What was shown",
    "thoughts": "Thoughts",
    "metrics": "Metrics",
    "complaints": "Why it was not accepted",
    "error": "Error",
    "place": "Place",
    "traceback": "Traceback",
    "repairs": "Repairs",
}
_OPEN = frozenset({"sent", "answer", "output", "error", "input", "show", "complaints"})
_ROW = 26
"""Height of a row of bars, in pixels."""
_THIN = 7
"""Height of a row in a lane with many spans, in pixels; their labels appear on hover."""
_MANY = 60
"""Number of spans from which a lane has thin rows."""
_LABEL = 44
"""Maximum characters of a label."""
_LETTER = 0.75
"""Width of a letter in a label, in percent of the page width; longer labels are cut."""
_AROUND = 1.5
"""Additional width of a label, in percent of the page width."""


def page_of(
    title: str, status: str, spans: Sequence[TimelineSpan], titles: Mapping[str, str], first: int = 0, most: int | None = None
) -> str:
    """Return the page as HTML without scripts or external resources; `titles` are those of steps, by key.

    With `most`, it shows that many commands from the `first` on, with links to the others.
    """
    style = page_style(Path(__file__).with_suffix(".css"))
    whole = max([*(span.ended or span.began for span in spans), 0.001])
    numbered = list(enumerate(spans))[first : None if most is None else first + most]
    places = [] if most is None else [max(first - most, 0)] * (first > 0) + [first + most] * (first + most < len(spans))
    links = "".join(
        f'<a href="?first={place}">commands {place + 1}–{min(place + (most or 0), len(spans))}</a>' for place in places
    )
    links = f'<nav aria-label="Other commands">{links}</nav>' if links else ""
    names = [title_of(span, titles) for span in spans]
    lanes = "".join(_lane(lane, [item for item in numbered if item[1].lane == lane], names, whole) for lane in _LANES)
    tokens, cost = sum(span.tokens for span in spans), sum(span.cost for span in spans)
    about = f"{status} · {len(spans)} commands · {time_text(whole)}" + (f" · {tokens:,} tokens" if tokens else "")
    about += f" · ${cost:,.4f}" if cost else ""
    ticks = "".join(f"<span>{time_text(whole * part / 4)}</span>" for part in range(5))
    details = "".join(_details(number, span, names[number]) for number, span in numbered)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>\n{style}</style></head><body><main>'
        f'<h1>{escape(title)}</h1><p class="sub">{escape(about)}</p>'
        f'<div class="lanes" role="group" aria-label="Time line">{lanes}<div class="axis" aria-hidden="true">{ticks}</div></div>'
        f"{links}{details}</main></body></html>\n"
    )


def title_of(span: TimelineSpan, titles: Mapping[str, str]) -> str:
    """Return the titles of the steps of a command."""
    return ", ".join(titles.get(key) or name_of_step(key) for key in keys_of(span))


def keys_of(span: TimelineSpan) -> list[str]:
    """Return the keys of the steps of a command."""
    steps = span.facts.get("steps")
    keys = [key for key in steps if isinstance(key, str)] if isinstance(steps, list) else []
    return keys or [re.sub(r"#\d+$", "", span.id.rpartition(".")[2])]


def _lane(lane: TimelineLane, spans: list[tuple[int, TimelineSpan]], names: Sequence[str], whole: float) -> str:
    """Return a lane; overlapping spans have separate rows."""
    if not spans:
        return ""
    dense = len(spans) > _MANY
    pitch = _THIN if dense else _ROW
    ends: list[float] = []
    bars = []
    for number, span in spans:
        end = whole if span.ended is None else span.ended
        left, width = 100 * span.began / whole, 100 * (end - span.began) / whole
        name = names[number]
        label = shortened(name, _LABEL)
        room = 0.0 if dense else len(label) * _LETTER + _AROUND
        late = left + room > 100
        start, stop = left - room * late, left + max(width, 0 if late else room)
        row = next((row for row, free in enumerate(ends) if free <= start), len(ends))
        ends[row:] = [*ends[row:], 0.0] if row == len(ends) else ends[row:]
        ends[row] = stop
        reported = escape(f"{name}, {span.state}, {_took(span)}", quote=True)
        spoken = f'title="{escape(span.id, quote=True)}: {reported}" aria-label="{reported}"'
        bars.append(
            f'<a class="bar {lane} {span.state}{" late" * late}" {spoken} '
            f'href="#s{number}" style="left:{start:.2f}%;width:{stop - start:.2f}%;top:{row * pitch}px">'
            f"{_bar(left - start, width, stop - start, '' if dense else label, late=late)}</a>"
        )
    kind = "bars dense" if dense else "bars"
    drawn = f'<div class="{kind}" style="height:{len(ends) * pitch}px">{"".join(bars)}</div>'
    return f'<div class="lane" role="group" aria-label="{lane}"><b>{lane}</b>{drawn}</div>'


def _took(span: TimelineSpan) -> str:
    return "open" if span.ended is None else time_text(span.ended - span.began)


def time_text(seconds: float) -> str:
    """Return a duration as text."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _bar(before: float, width: float, room: float, label: str, *, late: bool) -> str:
    """Return the contents of a span's area: its bar and its label, cut to fit; a late span has its label before the bar."""
    share = 100 / room if room else 0.0
    drawn = f'<i style="left:{before * share:.2f}%;width:{width * share:.2f}%"></i>'
    aside = f' style="right:{100 - before * share:.2f}%;max-width:{before * share:.2f}%"' if late else ""
    return f"{drawn}<span{aside}>{escape(label)}</span>" if label else drawn


def _details(number: int, span: TimelineSpan, label: str) -> str:
    """Return a row; its anchor is inside, because a browser opens the row around the target of a link."""
    parts = []
    for name, title in _TITLES.items():
        value = span.facts.get(name)
        if value is None or value in ({}, [], ""):
            continue
        text = value if isinstance(value, str) else dumps(value)
        inside = f"<pre>{escape(text)}</pre>"
        parts.append(f"<h3>{title}</h3>{inside}" if name in _OPEN else f"<details><summary>{title}</summary>{inside}</details>")
    if span.retries:
        tried = "\n".join(span.retries)
        parts.append(f"<h3>Tried again after</h3><pre>{escape(tried)}</pre>")
    facts = [
        _took(span),
        span.state,
        *([f"{len(span.retries) + 1} tries"] if span.retries else []),
        *([f"{span.tokens:,} tokens"] if span.tokens else []),
        *([f"${span.cost:,.4f}"] if span.cost else []),
        *([str(span.facts["model"])] if span.facts.get("model") else []),
    ]
    return (
        f'<details class="{span.lane} {span.state}"><summary><code>{escape(span.id)}</code>'
        f'<span>{escape(label)}</span><span class="facts">{escape(" · ".join(dict.fromkeys(facts)))}</span></summary>'
        f'<div id="s{number}">{"".join(parts)}</div></details>'
    )
