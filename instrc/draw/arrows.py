"""The arrows of a picture, for programs that place them themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from instrc.ir.picture import Picture, reads_of


@dataclass(frozen=True, slots=True)
class ReadArrow:
    """From what is read to who reads it."""

    source: str
    """The id of a step, of a block, or `in0` for the first input."""
    target: str
    said: str
    """The path; empty for all of a result, whose name is on its box already: programs lay words over boxes."""
    name: str | None
    """The name that a block gives to what is in it, if that is what is read."""


def arrows_of(picture: Picture) -> Iterator[ReadArrow]:
    """Yield the arrows, reader by reader."""
    inputs = {name: f"in{index}" for index, name in enumerate(picture.inputs)}
    names = {id_: name for name, id_ in inputs.items()} | {item.id: item.key or "" for item in picture.all()}
    for item in picture.all():
        for line in reads_of(item):
            first = line.text.partition(".")[0]
            source = line.source or inputs.get(first)
            if source is not None and source != item.id:
                yield ReadArrow(source, item.id, "" if line.text == names[source] else line.text, first if line.inner else None)
