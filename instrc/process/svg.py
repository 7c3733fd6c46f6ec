"""Write a picture as self-contained SVG, with light and dark styles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape as _escape
from importlib.resources import files
from itertools import islice

from instrc.process.layout import LETTER, LINE, MARGIN, PAD, SMALL, Area, Layout, PlacedBox, PlacedNode, PlacedTitle, layout
from instrc.process.picture import SIGNS, Picture, printable, shorten_to_width


def svg(picture: Picture) -> str:
    """Return a picture as a standalone document."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + figure(layout(picture))


_DARK = (
    "--paper: #0b1120; --ink: #e2e8f0; --soft: #a3b1c6; --line: #64748b; --block: #1e293b; "
    "--focus: #c4b5fd; --model: #7aa9ff; --model-fill: #14254a; --server: #4ade80; --server-fill: #0c2f1c; "
    "--user: #fbbf24; --user-fill: #3b2708;"
)
_LIGHT = (
    "--paper: #ffffff; --ink: #0f172a; --soft: #475569; --line: #94a3b8; --block: #f1f5f9; "
    "--model: #1d4ed8; --model-fill: #e0ecff; --server: #15803d; --server-fill: #dcfce7; --user: #b45309; --user-fill: #fef3c7;"
)


def style() -> str:
    """Return the style sheet of a picture."""
    sheet = (files("instrc.process") / "picture.css").read_text(encoding="utf-8")
    return sheet.replace("DARK", _DARK).replace("LIGHT", _LIGHT)


def figure(value: Layout, *, styled: bool = True, prefix: str = "", link: str = "") -> str:
    """Return the `svg` element of a layout; a page with the shared style sheet needs no second one.

    `prefix` precedes every id, so that one page can hold several pictures. `link` is the address of the picture of a folded
    block, with `{}` for its id.
    """
    return "".join(_figure(value, styled=styled, prefix=prefix, link=link))


def _figure(value: Layout, *, styled: bool, prefix: str, link: str) -> Iterator[str]:
    width, height = _number(value.width), _number(value.height)
    title = escape(value.picture.title or value.picture.name)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="instrc" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="group" aria-label="{title}">'
    )
    yield f"<title>{title}</title>"
    if styled:
        yield f"<style>{style()}</style>"
    yield (
        f'<defs><marker id="{prefix}head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
        'orient="auto-start-reverse">'
        '<path class="head" d="M0 0.5 8 4 0 7.5z"/></marker></defs>'
    )
    yield f'<rect width="{width}" height="{height}" fill="var(--paper)"/>'
    top = MARGIN
    if value.picture.title:
        yield _text("title", MARGIN, 30, shorten_to_width(value.picture.title, value.width - 2 * MARGIN, 9), value.picture.title)
        top += LINE + PAD
    for index, lane in enumerate(value.picture.lanes()):
        yield _text(f"lane {lane}", MARGIN + 90 * index, top + 18, f"{SIGNS[lane]} {value.picture.words[lane]}")
    inputs = value.picture.words["inputs"].format(names=", ".join(value.picture.inputs))
    yield _text("small", MARGIN, top + 40, shorten_to_width(inputs, value.width - 2 * MARGIN, SMALL), inputs)
    for box in value.boxes:
        yield from _box(box, prefix, link, value.picture.words)
    yield f'<g class="arrows" marker-end="url(#{prefix}head)">'
    for x, begin, end in value.arrows:
        yield f'<path class="arrow" d="M{_number(x)} {_number(begin)} L{_number(x)} {_number(end)}"/>'
    yield "</g></svg>\n"


def _number(value: float) -> str:
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def _text(kind: str, x: float, y: float, shown: str, whole: str | None = None) -> str:
    title = f"<title>{escape(whole)}</title>" if whole is not None and whole != shown else ""
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{title}{escape(shown)}</text>'


def _rectangle(kind: str, x: float, y: float, width: float, height: float, round_: int) -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect class="{kind}" {place} rx="{round_}"/>'


def _frame(area: Area, round_: int) -> str:
    return _rectangle("frame", area.x, area.y, area.width, area.height, round_)


def _box(placed: PlacedBox, prefix: str, link: str, words: Mapping[str, str]) -> Iterator[str]:
    box, area = placed.box, placed.area
    first = " entry" if box.entry else ""
    note = f" · {words['entry']}" if box.entry else ""
    said = f"{words[box.lane]} {box.name}{note}" if box.lane else box.title
    kind = f"chunk {box.lane}" if box.lane else f"block{' folded' * box.folded}{f' {box.state}' if box.state else ''}"
    yield f'<g class="{kind}{first}" role="group" aria-label="{escape(said)}">'
    if box.lane:
        yield f'<g class="choose {box.lane}{first}" id="{prefix}{box.id}">{_frame(area, 8)}'
        yield _text("small", area.x + PAD, area.y + 17, box.title + note, f"{box.title} · {box.name}")
        yield "</g>"
    else:
        yield _frame(area, 8)
    titles = iter(placed.titles)
    if not box.lane and len(placed.titles) > sum(section.title is not None for section in box.sections):
        heading = "".join(_heading("key", next(titles)))
        yield f'<a href="{link.replace("{}", box.id)}">{heading}</a>' if box.folded and link else heading
    inside = iter(placed.inside)
    for section in box.sections:
        if section.title:
            yield f'<g role="group" aria-label="{escape(section.title)}">'
            yield from _heading("key", next(titles))
        for inner in islice(inside, len(section.items)):
            if isinstance(inner, PlacedBox):
                yield from _box(inner, prefix, link, words)
            else:
                yield _step(inner, prefix)
        if section.title:
            yield "</g>"
    yield "</g>"


def _heading(kind: str, title: PlacedTitle) -> Iterator[str]:
    whole = title.whole if "".join(title.lines) != title.whole.replace(" ", "") else None
    for index, line in enumerate(title.lines):
        yield _text(kind, title.x, title.y + 15 + LINE * index, line, whole)


def _step(placed: PlacedNode, prefix: str) -> str:
    node, area = placed.node, placed.area
    state = f" {node.state}" if node.state else ""
    width = area.width - 2 * PAD
    parts = [f'<g class="step {node.lane}{" fail" * node.fails}{state}" id="{prefix}{node.id}">', _frame(area, 6)]
    parts.append(
        _text("key", area.x + PAD, area.y + 17, shorten_to_width(node.label, width, LETTER), f"{node.label} ({node.key})")
    )
    for index, note in enumerate(node.notes):
        y = area.y + LINE * (index + 1) + 17
        parts.append(_text("small note", area.x + PAD, y, shorten_to_width(note, width, SMALL), note))
    for text in placed.reads:
        said = f"← {text.line.text}"
        source = f' data-from="{prefix}{text.line.source}" data-to="{prefix}{node.id}"' if text.line.source else ""
        shown = _text("small read", text.x, text.y + 12, shorten_to_width(said, width, SMALL), said)
        parts.append(shown.replace("<text", f"<text{source}", 1))
    return "".join([*parts, "</g>"])


def escape(text: str) -> str:
    """Return a text escaped for XML."""
    return _escape(printable(text))
