"""Write a picture as a Mermaid flowchart, for pages that draw it themselves."""

from __future__ import annotations

from collections.abc import Iterator

from instrc.draw.words import printable
from instrc.ir.picture import LANES, Box, Picture, reads_of

_STYLES = {
    "model": "fill:#dbeafe,stroke:#1d4ed8,color:#172554",
    "server": "fill:#dcfce7,stroke:#15803d,color:#052e16",
    "user": "fill:#fef3c7,stroke:#b45309,color:#451a03",
}


def mermaid(picture: Picture) -> str:
    """Return the text of a flowchart; chunks and blocks are subgraphs, lanes are colours."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    if picture.title:
        yield f'---\ntitle: "{_quoted(picture.title)}"\n---'
    yield "flowchart TD"
    yield from (f'  in{index}(["{_quoted(name)}"])' for index, name in enumerate(picture.inputs))
    inputs = {name: f"in{index}" for index, name in enumerate(picture.inputs)}
    for box in picture.boxes:
        yield from _box(box, "  ")
    for item in picture.all():
        for line in reads_of(item):
            source = line.source or inputs.get(line.text.partition(".")[0])
            if source is not None and source != item.id:
                yield f'  {source} -->|"{_quoted(line.text)}"| {item.id}'
    for lane in picture.lanes():
        if nodes := [node.id for node in picture.nodes() if node.lane == lane]:
            yield f"  classDef {lane} {_STYLES[lane]}"
            yield f"  class {','.join(nodes)} {lane}"


def _box(box: Box, indent: str) -> Iterator[str]:
    lane = f" · {LANES[box.lane]}" if box.lane else ""
    entry = "▶ entry · " if box.entry else ""
    yield f'{indent}subgraph {box.id}["{entry}{_quoted(box.title)}{lane}"]'
    for index, section in enumerate(box.sections):
        inside = indent + "  "
        if section.title is not None:
            yield f'{inside}subgraph {box.id}_{index}["{_quoted(section.title)}"]'
            inside += "  "
        if not section.items:
            yield f'{inside}{box.id}_{index}_none[" "]'
        for item in section.items:
            if isinstance(item, Box):
                yield from _box(item, inside)
            else:
                notes = "".join(f"<br/><small>{_quoted(note)}</small>" for note in item.notes)
                yield f'{inside}{item.id}["{_quoted(item.key)}{notes}"]'
        if section.title is not None:
            yield f"{indent}  end"
    yield f"{indent}end"


def _quoted(text: str) -> str:
    """Return a text as Mermaid shows it between double quotes."""
    plain = printable(text)
    codes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "|": "#124;", "\\": "#92;"}
    return "".join(codes.get(letter, letter) for letter in plain)
