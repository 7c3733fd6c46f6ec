"""Write a picture in the languages of Graphviz and Mermaid."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from instrc.process.picture import LANES, Box, Picture, PictureStep, ReadArrow, arrows_of, printable

_FILLS = {"model": "#dbeafe", "server": "#dcfce7", "user": "#fef3c7"}
_EDGES = {"model": "#1d4ed8", "server": "#15803d", "user": "#b45309"}
_GREY = "#64748b"
"""Color of blocks and inputs."""


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


def _quoted(text: str) -> str:
    """Return a text between double quotes, each of its lines in one."""
    lines = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    whole = "\\n".join(lines)
    return f'"{whole}"'


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
                label = "\n".join([item.label, *item.notes])
                yield f'{inside}{item.id} [label={_quoted(label)}, fillcolor="{_FILLS[item.lane]}", color="{_EDGES[item.lane]}"]'
        if section.title is not None:
            yield f"{indent}  }}"
    yield f"{indent}}}"


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


_STYLES = {
    "model": "fill:#dbeafe,stroke:#1d4ed8,color:#172554",
    "server": "fill:#dcfce7,stroke:#15803d,color:#052e16",
    "user": "fill:#fef3c7,stroke:#b45309,color:#451a03",
}


def mermaid(*pictures: Picture) -> str:
    """Return the text of a flowchart; chunks and blocks are subgraphs, lanes are colours.

    Mermaid reads one chart from a text, so several exports are subgraphs of one.
    """
    return "\n".join(_mermaid_lines(pictures)) + "\n"


def _mermaid_lines(pictures: tuple[Picture, ...]) -> Iterator[str]:
    one = pictures[0] if len(pictures) == 1 else None
    if one is not None and one.title:
        yield f"---\ntitle: {json.dumps(printable(one.title), ensure_ascii=False)}\n---"
    yield "flowchart TD"
    if one is not None:
        yield from _chart(one, "", "  ")
    for index, picture in enumerate(pictures if one is None else ()):
        yield f'  subgraph e{index}["{_mermaid_quoted(picture.title or picture.name)}"]'
        yield from _chart(picture, f"e{index}_", "    ")
        yield "  end"
    for lane, style in _STYLES.items():
        if nodes := [id_ for index, each in enumerate(pictures) for id_ in _nodes(each, lane, "" if one else f"e{index}_")]:
            yield f"  classDef {lane} {style}"
            yield f"  class {','.join(nodes)} {lane}"


def _chart(picture: Picture, prefix: str, indent: str) -> Iterator[str]:
    """Yield the boxes and arrows of a picture; `prefix` is put before each id."""
    for index, name in enumerate(picture.inputs):
        yield f'{indent}{prefix}in{index}(["{_mermaid_quoted(name)}"])'
    arrows = list(arrows_of(picture))
    given: dict[str, dict[str, str]] = {}  # of each block the names that it gives to what is in it, with ids: as small inputs
    for arrow in arrows:
        if arrow.name is not None:
            names = given.setdefault(arrow.source, {})
            names.setdefault(arrow.name, f"{arrow.source}_in{len(names)}")
    for box in picture.boxes:
        yield from _mermaid_box(box, given, prefix, indent)
    for arrow in arrows:
        source = arrow.source if arrow.name is None else given[arrow.source][arrow.name]
        label = "" if arrow.said == (arrow.name or "") else f'|"{_mermaid_quoted(arrow.said)}"|'
        yield f"{indent}{prefix}{source} -->{label} {prefix}{arrow.target}"


def _mermaid_quoted(text: str) -> str:
    """Return a text as Mermaid shows it between double quotes."""
    plain = printable(text)
    codes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "|": "#124;", "\\": "#92;"}
    return "".join(codes.get(letter, letter) for letter in plain)


def _mermaid_box(box: Box, given: Mapping[str, Mapping[str, str]], prefix: str, indent: str) -> Iterator[str]:
    lane = f" · {LANES[box.lane]}" if box.lane else ""
    entry = "▶ entry · " if box.entry else ""
    yield f'{indent}subgraph {prefix}{box.id}["{entry}{_mermaid_quoted(box.title)}{lane}"]'
    for name, id_ in given.get(box.id, {}).items():
        yield f'{indent}  {prefix}{id_}(["{_mermaid_quoted(name)}"])'
    for index, section in enumerate(box.sections):
        inside = indent + "  "
        if section.title is not None:
            yield f'{inside}subgraph {prefix}{box.id}_{index}["{_mermaid_quoted(section.title)}"]'
            inside += "  "
        if not section.items:
            yield f'{inside}{prefix}{box.id}_{index}_none[" "]'
        for item in section.items:
            if isinstance(item, Box):
                yield from _mermaid_box(item, given, prefix, inside)
            else:
                notes = "".join(f"<br/><small>{_mermaid_quoted(note)}</small>" for note in item.notes)
                yield f'{inside}{prefix}{item.id}["{_mermaid_quoted(item.label)}{notes}"]'
        if section.title is not None:
            yield f"{indent}  end"
    yield f"{indent}end"


def _nodes(picture: Picture, lane: str, prefix: str) -> list[str]:
    return [f"{prefix}{node.id}" for node in picture.nodes() if node.lane == lane]
