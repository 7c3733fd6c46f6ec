"""Write pictures as one self-contained page: no network, no other file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final, TypeAlias

from instrc.process.layout import layout
from instrc.process.picture import WORDS, Box, Picture, PictureStep
from instrc.process.svg import escape, figure, style
from instrc.schema.strip import strip
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json

HEADING_NAMES: Final = 3
"""Maximum exports named in the heading of a page."""
_Node: TypeAlias = str | tuple[str | int, ...]


class SharedJson:
    """A table of values, referred to by their numbers.

    A text is written as itself, other scalars as `["12.0"]`, an array as `["[", number…]`, an object as `["{", key number,
    value number…]`. This keeps the order of keys, and numbers of any size, which a JavaScript parser would change.
    """

    def __init__(self) -> None:
        """Begin without values."""
        self._numbers: dict[_Node, int] = {}

    def number_of(self, value: Json) -> int:
        """Return the number of a value, adding it if new; values may nest to any depth."""
        numbers: dict[int, int] = {}  # by identity: a value that occurs several times is visited once
        waiting: list[tuple[Json, bool]] = [(value, False)]
        while waiting:
            node, inside_is_done = waiting.pop()
            if id(node) in numbers:
                continue
            inside = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
            if inside and not inside_is_done:
                waiting.append((node, True))
                waiting.extend((part, False) for part in reversed(inside))
            else:
                numbers[id(node)] = self._number(self._node(node, [numbers[id(part)] for part in inside]))
        return numbers[id(value)]

    def table(self) -> Json:
        """Return the values in numerical order."""
        return [node if isinstance(node, str) else list(node) for node in self._numbers]

    def _node(self, value: Json, inside: list[int]) -> _Node:
        """Return a value in the form of the table; its parts already have numbers."""
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return ("[", *inside)
        if isinstance(value, dict):
            return ("{", *(number for pair in zip(map(self._number, value), inside, strict=True) for number in pair))
        return (dumps(value),)

    def _number(self, node: _Node) -> int:
        return self._numbers.setdefault(node, len(self._numbers))


def facts_of(pictures: Sequence[Picture]) -> Json:
    """Return the facts, the table of their schemas, and as `of` the fact number of each element, by id."""
    facts = _Facts()
    of: dict[str, Json] = {}
    for index, picture in enumerate(pictures):
        for box in picture.all():
            if isinstance(box, PictureStep):
                of[f"e{index}-{box.id}"] = facts.step(box)
            elif box.lane is not None:
                of[f"e{index}-{box.id}"] = facts.chunk(box)
    return {"schemas": facts.schemas.table(), "facts": list(facts.all.values()), "of": of}


class _Facts:
    """Facts by their text, in order of first occurrence."""

    def __init__(self) -> None:
        self.all: dict[str, Json] = {}
        self.schemas = SharedJson()
        self._numbers: dict[str, int] = {}

    def chunk(self, box: Box) -> int:
        """Return the number of a chunk."""
        views = {"tool": strip(box.schema, {"engine"}), "result": strip(box.schema, {"all"}), "process": box.schema}
        lane = None if box.lane is None else WORDS[box.lane]
        return self._number(
            {"name": box.name, "lane": lane, "views": {name: self.schemas.number_of(view) for name, view in views.items()}}
        )

    def step(self, node: PictureStep) -> int:
        """Return the number of a step."""
        return self._number(
            {
                "name": node.label,
                "key": node.key,
                "lane": WORDS[node.lane],
                "source": node.source,
                "notes": list(node.notes),
                "reads": [line.text for line in node.reads],
                "schema": self.schemas.number_of(node.schema),
            }
        )

    def _number(self, fact: dict[str, Json]) -> int:
        text = json.dumps(fact)
        self.all.setdefault(text, fact)
        return self._numbers.setdefault(text, len(self._numbers))


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_WITHOUT_SCRIPTS = (
    "header label, header output, header button, aside { display: none } main { grid-template-columns: 1fr } "
    "figure[hidden] { display: block } "
    "@media print { figure > svg.instrc { max-height: none; break-inside: auto } }"
)
"""Styles without scripts: controls are hidden, and all pictures are shown on as many sheets as they need."""
_SIGNIFICANT = re.compile("[<>&\ud800-\udfff]")
_SMALLEST = 0.7
"""Minimum scale at which a picture is fitted to its window; below it would be illegible, so the page scrolls."""


def html(pictures: Sequence[Picture]) -> str:
    """Return a page with one picture for each export."""
    return "".join(_page(pictures))


def _page(pictures: Sequence[Picture]) -> Iterator[str]:
    title = escape(_title([picture for picture in pictures if not picture.block]))
    here = files("instrc.process")
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style()}{(here / 'page.css').read_text(encoding='utf-8')}</style>\n"
        f"<noscript><style>{_WITHOUT_SCRIPTS}</style></noscript>\n</head>\n<body>\n"
    )
    yield '<a class="skip" href="#list">Skip to the list of steps</a>\n'
    yield "<header>\n" + (f"<h1>{title}</h1>\n")
    if len(pictures) > 1:
        options = "".join(
            f'<option value="{index}">{escape(each.title or each.name)}</option>' for index, each in enumerate(pictures)
        )
        yield f'<label>Picture <select id="export">{options}</select></label>\n'
    yield (
        '<label>Find <input id="find" type="search" autocomplete="off" aria-describedby="found"></label>'
        '<output id="found"></output>\n'
        '<button id="theme" type="button" aria-pressed="false">Dark</button>\n</header>\n'
    )
    yield '<main>\n<div id="pictures" tabindex="-1">\n'
    for index, picture in enumerate(pictures):
        hidden = " hidden" if index else ""
        placed = layout(picture)
        drawn = figure(placed, styled=False, prefix=f"e{index}-", link=f"#{escape(picture.name)}-{{}}")
        place = f'id="{escape(picture.name)}-{picture.block}" data-export="{index}"'
        size = f'style="min-width:{placed.width * _SMALLEST:.0f}px"'
        yield f"<figure {place} {size}{hidden}>{drawn}</figure>\n"
    yield (
        '</div>\n<aside id="panel" aria-label="Details" aria-live="polite"><p class="hint">Point at a step to see its schema and '
        "its line in the source; choose a chunk to see its three views. With the keyboard: Tab into the picture, then the arrow "
        "keys; Enter keeps what is shown, Escape lets it go.</p></aside>\n</main>\n"
    )
    yield '<section id="list" aria-label="All steps as a list">\n'
    for index, picture in enumerate(pictures):
        yield from _list(picture, f"e{index}-")
    yield "</section>\n"
    yield f'<script type="application/json" id="data">{_embedded(facts_of(pictures))}</script>\n'
    yield f"<script>{(here / 'page.js').read_text(encoding='utf-8')}</script>\n</body>\n</html>\n"


def _title(pictures: Sequence[Picture]) -> str:
    """Return the names of the exports; if there are many, the first ones and the number of others."""
    names = [picture.title or picture.name for picture in pictures]
    more = len(names) - HEADING_NAMES
    return ", ".join(names[:HEADING_NAMES]) + (f" and {more:,} more" if more > 0 else "") or "nothing"


def _list(picture: Picture, prefix: str) -> Iterator[str]:
    """Yield the steps as a list, for readers who cannot see the picture."""
    count = sum(1 for _ in picture.nodes())
    steps = f"{count:,} step{'s' * (count != 1)} as a list"
    yield f"<details><summary>{escape(picture.title or picture.name)}: {steps}</summary>\n<ol>\n"
    yield from _entries(picture.boxes, prefix)
    yield "</ol>\n</details>\n"


def _entries(items: Iterable[PictureStep | Box], prefix: str) -> Iterator[str]:
    """Yield steps as list entries; blocks and their branches are entries with nested lists."""
    for item in items:
        if isinstance(item, PictureStep):
            yield _entry(item, prefix)
        elif item.lane is not None:
            yield from _entries(item.sections[0].items, prefix)
        else:
            yield f"<li>{escape(item.title if item.folded or not item.sections[0].title else item.kind)}<ol>\n"
            for section in item.sections:
                yield f"<li>{escape(section.title)}<ol>\n" if section.title else ""
                yield from _entries(section.items, prefix)
                yield "</ol></li>\n" if section.title else ""
            yield "</ol></li>\n"


def _entry(node: PictureStep, prefix: str) -> str:
    reads = f", reads {escape(', '.join(line.text for line in node.reads))}" if node.reads else ""
    notes = f", {escape(', '.join(node.notes))}" if node.notes else ""
    link = f'<a href="#{prefix}{node.id}">{escape(node.label)}</a>'
    return f"<li>{link} ({WORDS[node.lane].lower()}{notes}{reads})</li>\n"


def _embedded(value: Json) -> str:
    """Return JSON that cannot end the enclosing script element; lone surrogates are escaped as well."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _SIGNIFICANT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
