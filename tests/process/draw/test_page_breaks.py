"""Where a printed picture is divided: between steps, never in one, and no words stand alone at the end of a sheet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from drawn_processes import blocks, straight

from instrc.process.layout import (  # places in a picture, before they are numbers in a text
    Area,
    Layout,
    PlacedBox,
    layout,
    leaves,
)
from instrc.process.picture import picture_of
from instrc.process.process import Process
from instrc.text.jsonvalue import Json


def placed(document: Json) -> Layout:
    return layout(picture_of(Process.from_json(document), "it"))


def steps(boxes: tuple[object, ...]) -> Iterator[Area]:
    for box in boxes:
        if isinstance(box, PlacedBox):
            yield from steps(box.inside)
        else:
            yield box.area  # type: ignore[attr-defined]  # a step


@pytest.mark.parametrize("document", [straight(1), straight(20), straight(300), blocks()], ids=["1", "20", "300", "blocks"])
def test_no_sheet_ends_within_a_step(document: Json) -> None:
    drawn = placed(document)
    cuts = leaves(drawn)
    assert (cuts[0], cuts[-1]) == (0, drawn.height)
    assert list(cuts) == sorted(set(cuts))
    for cut in cuts:
        assert not [area for area in steps(drawn.boxes) if area.y < cut < area.y + area.height]


def test_sheets_are_as_tall_as_paper_and_well_filled() -> None:
    drawn = placed(straight(300))
    cuts = leaves(drawn)
    tall = [below - above for above, below in pairwise(cuts)]
    assert max(tall) <= drawn.width * 1.3
    assert min(tall[:-1]) >= drawn.width * 1.3 * 0.5


def test_a_small_picture_is_one_sheet() -> None:
    assert len(leaves(placed(straight(3)))) == 2
