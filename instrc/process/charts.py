"""Write pictures as text: with box characters for a terminal, and in the language of Mermaid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from instrc.process.picture import SIGNS, Box, Picture, arrows_of, printable
from instrc.text.visible import visible


def text_picture(picture: Picture) -> str:
    """Return a picture for a terminal: one line for each step, with the sign of its executor, and blocks as frames."""
    lines = [printable(picture.title)] if picture.title else []
    lines.append("  ".join(f"{SIGNS[lane]} {picture.words[lane]}" for lane in picture.lanes()))
    lines.append(f"inputs: {printable(', '.join(picture.inputs))}")
    for box in picture.boxes:
        lines += _text_lines(box)
    return "\n".join(lines) + "\n"


def _text_lines(box: Box) -> Iterator[str]:
    if box.folded:
        yield f"▸ {printable(box.title)}"
    for index, section in enumerate(box.sections):
        if box.lane is None:
            yield f"{'├' if index else '┌'} {printable(section.title or box.title)}"
        for number, item in enumerate(section.items):
            if isinstance(item, Box):
                yield from (f"│ {line}" if box.lane is None else line for line in _text_lines(item))
            else:
                notes = ", ".join([*item.notes, *(["same request"] if number and item.lane == "model" else [])])
                reads = ", ".join(line.text for line in item.reads)
                line = f"{SIGNS[item.lane]} {item.label}" + f" ({notes})" * bool(notes) + f"  ← {reads}" * bool(reads)
                yield visible(line)
    if box.lane is None and not box.folded:
        yield "└"


_STYLES = {
    "model": "fill:#dbeafe,stroke:#1d4ed8,color:#172554",
    "server": "fill:#dcfce7,stroke:#15803d,color:#052e16",
    "user": "fill:#fef3c7,stroke:#b45309,color:#451a03",
}


def mermaid(*pictures: Picture) -> str:
    """Return the text of a flowchart; chunks and blocks are subgraphs, lanes are colours.

    Mermaid reads one chart per text, so several exports become subgraphs of one.
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
    """Yield the boxes and arrows of a picture, with `prefix` before each id."""
    for index, name in enumerate(picture.inputs):
        yield f'{indent}{prefix}in{index}(["{_mermaid_quoted(name)}"])'
    arrows = list(arrows_of(picture))
    given: dict[str, dict[str, str]] = {}  # for each block, its names for its contents, with ids, as small inputs
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
    """Return a text in double quotes, escaped for Mermaid."""
    plain = printable(text)
    codes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "|": "#124;", "\\": "#92;"}
    return "".join(codes.get(letter, letter) for letter in plain)


def _mermaid_box(box: Box, given: Mapping[str, Mapping[str, str]], prefix: str, indent: str) -> Iterator[str]:
    entry = "▶ entry · " if box.entry else ""
    yield f'{indent}subgraph {prefix}{box.id}["{entry}{_mermaid_quoted(box.title)}"]'
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
