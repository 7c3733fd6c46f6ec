"""Write a picture as self-contained SVG, with light and dark styles."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as _escape
from importlib.resources import files
from itertools import islice

from instrc.process.layout import LINE, PAD, WIDTH, Area, Edge, Layout, PlacedBox, PlacedNode, Text, layout
from instrc.process.picture import LANES, Picture, printable, shorten_to_width, wide


def svg(picture: Picture) -> str:
    """Return a picture as a standalone document."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + figure(layout(picture))


_LETTER = 7.25
"""Width of a letter of the font, in pixels; wide characters take two."""
_SMALL = 6.65
_ROUND = 5.0
_DARK = (
    "--paper: #0b1120; --ink: #e2e8f0; --soft: #a3b1c6; --line: #64748b; --band: #0f172a; --block: #1e293b; --back: #161f31; "
    "--focus: #c4b5fd; --model: #7aa9ff; --model-fill: #14254a; --server: #4ade80; --server-fill: #0c2f1c; "
    "--user: #fbbf24; --user-fill: #3b2708;"
)
_LIGHT = (
    "--paper: #ffffff; --ink: #0f172a; --soft: #475569; --line: #94a3b8; --band: #ffffff; --block: #f1f5f9; --back: #f6f8fb; "
    "--model: #1d4ed8; --model-fill: #e0ecff; --server: #15803d; --server-fill: #dcfce7; --user: #b45309; --user-fill: #fef3c7;"
)


def style() -> str:
    """Return the style sheet of a picture."""
    sheet = (files("instrc.process") / "picture.css").read_text(encoding="utf-8")
    return sheet.replace("DARK", _DARK).replace("LIGHT", _LIGHT)


def figure(value: Layout, *, styled: bool = True, prefix: str = "") -> str:
    """Return the `svg` element of a layout; a page with the shared style sheet needs no second one.

    `prefix` precedes every id, so that one page can hold several pictures.
    """
    return "".join(_figure(value, styled=styled, prefix=prefix))


def _figure(value: Layout, *, styled: bool, prefix: str) -> Iterator[str]:
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
    top = 16.0
    if value.picture.title:
        yield _text("title", 16, 30, shorten_to_width(value.picture.title, value.width - 32, 9), value.picture.title)
        top += LINE + PAD
    inputs = "inputs: " + ", ".join(value.picture.inputs)
    for lane, x in value.lanes:
        yield _rectangle("band", x - 4, top, WIDTH + 8, value.height - top - 8, 8)
        yield _text(f"lane {lane}", x + 4, top + 18, LANES[lane])
    yield _text("small", value.lanes[0][1] + 70, top + 18, shorten_to_width(inputs, WIDTH - 76, _SMALL), inputs)
    for box in value.boxes:
        yield from _frames(box)
    yield f'<g class="arrows" marker-end="url(#{prefix}head)">'
    for arrow in value.arrows:
        yield _arrow(arrow, prefix)
    yield "</g>"
    for box in value.boxes:
        yield from _contents(box, prefix)
    yield "</svg>\n"


def _number(value: float) -> str:
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def _text(kind: str, x: float, y: float, shown: str, whole: str | None = None) -> str:
    title = f"<title>{escape(whole)}</title>" if whole is not None and whole != shown else ""
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{title}{escape(shown)}</text>'


def _rectangle(kind: str, x: float, y: float, width: float, height: float, round_: int) -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
    return f'<rect class="{kind}" {place} rx="{round_}"/>'


def _frames(placed: PlacedBox) -> Iterator[str]:
    """Draw the frames of blocks and chunks, which are below the arrows."""
    kind = f"under {placed.box.lane}{' entry' if placed.box.entry else ''}" if placed.box.lane else "block"
    yield f'<g class="{kind}">{_frame(placed.area, 8)}</g>'
    for inner in placed.inside:
        if isinstance(inner, PlacedBox):
            yield from _frames(inner)


def _frame(area: Area, round_: int) -> str:
    return _rectangle("frame", area.x, area.y, area.width, area.height, round_)


def _arrow(arrow: Edge, prefix: str) -> str:
    lane = f" {arrow.lane}" if arrow.lane else ""
    return (
        f'<path class="arrow{lane}" data-from="{prefix}{arrow.source}" data-to="{prefix}{arrow.target}" '
        f'd="{_route(arrow.points)}"/>'
    )


def _route(points: tuple[tuple[float, float], ...]) -> str:
    """Return a polyline, with rounded corners where there is room."""
    (x, y), *rest = points
    parts = [f"M{_number(x)} {_number(y)}"]
    for (cx, cy), following in zip(rest, [*rest[1:], None], strict=True):
        if following is None:
            parts.append(f"L{_number(cx)} {_number(cy)}")
            break
        before = _towards((cx, cy), (x, y))
        after = _towards((cx, cy), following)
        parts.append(f"L{before}Q{_number(cx)} {_number(cy)} {after}")
        x, y = cx, cy
    return "".join(parts)


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> str:
    """Return the point a short distance from a corner towards another point on a horizontal or vertical line."""
    (x, y), (ox, oy) = corner, other
    dx = max(-_ROUND, min(_ROUND, (ox - x) / 2))
    dy = max(-_ROUND, min(_ROUND, (oy - y) / 2))
    return f"{_number(x + dx)} {_number(y + dy)}"


def _contents(placed: PlacedBox, prefix: str) -> Iterator[str]:
    box, area = placed.box, placed.area
    kind = f"chunk {box.lane}" if box.lane else "blocktext"
    entry = " entry" if box.entry else ""
    said = f"{LANES[box.lane]} chunk {box.name}" + (", the entry" if box.entry else "") if box.lane else box.title
    yield f'<g class="{kind}{entry}" role="group" aria-label="{escape(said)}">'
    if box.lane:
        yield f'<g class="choose {box.lane}{entry}" id="{prefix}{box.id}">'
        yield _frame(placed.area, 8)
        called = f"{box.title} · {LANES[box.lane]}"
        shift = 70 if box.entry else 0
        if box.entry:
            yield _rectangle("badge", area.x + PAD, area.y + 6, 62, 16, 8)
            yield _text("badge-text", area.x + PAD + 7, area.y + 18, "▶ entry")
        yield _text("small", area.x + PAD + shift, area.y + 18, shorten_to_width(called, WIDTH - 2 * PAD - shift, _SMALL), called)
        yield "</g>"
    else:
        yield from _label("key", area.x + PAD, area.y + 18, box.title, area.width - 3 * PAD, _LETTER)
        yield from _reads(placed.reads, area.width - 3 * PAD, back=True)
        for title in placed.titles:
            yield from _label("small", title.x, title.y + 15, title.title or "", area.width - 3 * PAD, _SMALL)
            yield from _reads(title.reads, area.width - 4 * PAD, back=True)
    inside = iter(placed.inside)
    for section in box.sections:
        if section.title:
            yield f'<g role="group" aria-label="{escape(section.title)}">'
        for inner in islice(inside, len(section.items)):
            if isinstance(inner, PlacedBox):
                yield from _contents(inner, prefix)
            else:
                yield _step(inner, prefix)
        if section.title:
            yield "</g>"
    yield "</g>"


def _label(kind: str, x: float, y: float, said: str, width: float, letter: float) -> Iterator[str]:
    """Draw text on an opaque background, since lines may run below it; it extends down to the next line's background."""
    shown = shorten_to_width(said, width, letter)
    yield _rectangle("back", x - 3, y - 12, wide(shown) * letter + 6, 20, 3)
    yield _text(kind, x, y, shown, said)


def _reads(reads: tuple[Text, ...], width: float, *, back: bool) -> Iterator[str]:
    for text in reads:
        said = f"← {text.line.text}"
        if back:
            yield from _label("small", text.x, text.y + 12, said, width, _SMALL)
        else:
            yield _text("small", text.x, text.y + 12, shorten_to_width(said, width, _SMALL), said)


def _step(placed: PlacedNode, prefix: str) -> str:
    node, area = placed.node, placed.area
    parts = [
        f'<g class="step {node.lane}{" fail" * node.fails}{f" {node.state}" if node.state else ""}" id="{prefix}{node.id}">',
        _frame(placed.area, 6),
        _text("key", area.x + PAD, area.y + 17, shorten_to_width(node.label, area.width - 2 * PAD, _LETTER), node.label),
        *(
            _text(
                "small",
                area.x + PAD,
                area.y + LINE * (index + 1) + 17,
                shorten_to_width(note, area.width - 2 * PAD, _SMALL),
                note,
            )
            for index, note in enumerate(node.notes)
        ),
        *_reads(placed.reads, area.width - 2 * PAD, back=False),
        "</g>",
    ]
    return "".join(parts)


def escape(text: str) -> str:
    """Return a text escaped for XML."""
    return _escape(printable(text))
