"""Collect what a page shows of steps and chunks: each text once, however many pictures repeat it.

Exports that begin with the same steps have the same chunks in them, and the three views of a chunk are nearly the same;
together they are most of what a page says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from instrc.draw.shared_json import SharedJson
from instrc.flattening.strip import strip
from instrc.ir.picture import LANES, Box, Picture, PictureStep
from instrc.jsonvalue import Json


def facts_of(pictures: Sequence[Picture]) -> Json:
    """Return the facts, the table of the schemas in them, and as `of` the number of each element's fact, by its id."""
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
    """Facts by their text, in the order in which they are first met."""

    def __init__(self) -> None:
        self.all: dict[str, Json] = {}
        self.schemas = SharedJson()
        self._numbers: dict[str, int] = {}

    def chunk(self, box: Box) -> int:
        """Return the number of a chunk."""
        views = {"tool": strip(box.schema, {"engine"}), "result": strip(box.schema, {"all"}), "process": box.schema}
        lane = None if box.lane is None else LANES[box.lane]
        return self._number(
            {"name": box.name, "lane": lane, "views": {name: self.schemas.number_of(view) for name, view in views.items()}}
        )

    def step(self, node: PictureStep) -> int:
        """Return the number of a step."""
        return self._number(
            {
                "name": node.key,
                "lane": LANES[node.lane],
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
