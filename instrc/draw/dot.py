"""Write a picture in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from instrc.draw.arrows import ReadArrow, arrows_of
from instrc.draw.words import printable
from instrc.ir.picture import LANES, Box, Picture, PictureStep

_FILLS = {"model": "#dbeafe", "server": "#dcfce7", "user": "#fef3c7"}
_EDGES = {"model": "#1d4ed8", "server": "#15803d", "user": "#b45309"}
_GREY = "#64748b"
"""Of blocks and inputs."""


def dot(picture: Picture) -> str:
    """Return the text of a graph; chunks and blocks are clusters, lanes are colours."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    yield f"digraph {_quoted(picture.name)} {{"
    yield '  graph [rankdir=TB, compound=true, newrank=true, fontname="sans-serif", labelloc=t]'
    yield f"  label={_quoted(picture.title or '')}"
    yield '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11]'
    yield '  edge [fontname="monospace", fontsize=9]'
    for index, name in enumerate(picture.inputs):
        yield f'  in{index} [label={_quoted(name)}, shape=plain, style=""]'
    for box in picture.boxes:
        yield from _box(box, "  ")
    around = dict(_around(picture.boxes, frozenset()))
    lanes = {node.id: node.lane for node in picture.nodes()}
    for arrow in arrows_of(picture):
        yield _edge(arrow, around, _EDGES[lanes[arrow.source]] if arrow.source in lanes else _GREY)
    yield "}"


def _around(items: Iterable[Box | PictureStep], outer: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each box and step with the boxes around it."""
    for item in items:
        yield item.id, outer
        if isinstance(item, Box):
            for section in item.sections:
                yield from _around(section.items, outer | {item.id})


def _edge(arrow: ReadArrow, around: Mapping[str, frozenset[str]], colour: str) -> str:
    """Return an arrow; from and to a block it begins and ends at the frame, unless the other end is in that block."""
    ends = {"ltail": (arrow.source, arrow.target), "lhead": (arrow.target, arrow.source)}
    at_frames = "".join(
        f", {side}=cluster_{end}"
        for side, (end, other) in ends.items()
        if end.startswith("b") and end not in around.get(other, frozenset())
    )
    names = [f"{end}_at" if end.startswith("b") else end for end in (arrow.source, arrow.target)]
    label = f"label={_quoted(arrow.said)}, " if arrow.said else ""
    return f'  {" -> ".join(names)} [{label}color="{colour}"{at_frames}]'


def _box(box: Box, indent: str) -> Iterator[str]:
    lane = f" · {LANES[box.lane]}" if box.lane else ""
    entry = "▶ entry · " if box.entry else ""
    colour = _EDGES[box.lane] if box.lane else _GREY
    yield f"{indent}subgraph cluster_{box.id} {{"
    yield f"{indent}  label={_quoted(f'{entry}{box.title}{lane}')}"
    yield f'{indent}  fontname="sans-serif" fontsize=11 color="{colour}" style=rounded'
    if box.lane is None:  # where what the block gives to its steps begins
        yield f'{indent}  {box.id}_at [shape=point, width=0.06, color="{colour}", label=""]'
    for index, section in enumerate(box.sections):
        inside = indent + "  "
        if section.title is not None:
            yield f"{inside}subgraph cluster_{box.id}_{index} {{"
            yield f'{inside}  label={_quoted(section.title)} color="#94a3b8" style=dashed'
            inside += "  "
        for item in section.items:
            if isinstance(item, Box):
                yield from _box(item, inside)
            else:
                label = "\n".join([item.key, *item.notes])
                yield f'{inside}{item.id} [label={_quoted(label)}, fillcolor="{_FILLS[item.lane]}", color="{_EDGES[item.lane]}"]'
        if section.title is not None:
            yield f"{indent}  }}"
    yield f"{indent}}}"


def _quoted(text: str) -> str:
    """Return a text between double quotes, each of its lines in one."""
    lines = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    whole = "\\n".join(lines)
    return f'"{whole}"'
