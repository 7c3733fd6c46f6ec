"""Write a picture in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.draw.words import printable
from instrc.ir.picture import LANES, Box, Picture, reads_of

_FILLS = {"model": "#dbeafe", "server": "#dcfce7", "user": "#fef3c7"}
_EDGES = {"model": "#1d4ed8", "server": "#15803d", "user": "#b45309"}


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
    inputs = {name: f"in{index}" for index, name in enumerate(picture.inputs)}
    anchors: dict[str, str] = {}
    for item in picture.all():
        anchors[item.id] = f"{item.id}_at" if isinstance(item, Box) else item.id
    for box in picture.boxes:
        yield from _box(box, "  ")
    for item in picture.all():
        for line in reads_of(item):
            source = anchors.get(line.source or "") or inputs.get(line.text.partition(".")[0])
            if source is not None and source != anchors[item.id]:
                yield f"  {source} -> {anchors[item.id]} [label={_quoted(line.text)}]"
    yield "}"


def _box(box: Box, indent: str) -> Iterator[str]:
    lane = f" · {LANES[box.lane]}" if box.lane else ""
    entry = "▶ entry · " if box.entry else ""
    colour = _EDGES[box.lane] if box.lane else "#64748b"
    yield f"{indent}subgraph cluster_{box.id} {{"
    yield f"{indent}  label={_quoted(f'{entry}{box.title}{lane}')}"
    yield f'{indent}  fontname="sans-serif" fontsize=11 color="{colour}" style=rounded'
    yield f'{indent}  {box.id}_at [shape=point, style=invis, width=0, label=""]'
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
