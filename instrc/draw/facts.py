"""Collect what a page shows of steps and chunks: each text once, however many pictures repeat it.

Exports that begin with the same steps have the same chunks in them, which are most of a page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from instrc.flattening.strip import strip
from instrc.ir.picture import LANES, Box, Picture, PictureStep
from instrc.jsonvalue import Json


def facts_of(pictures: Sequence[Picture]) -> Json:
    """Return the facts, and under `of` the number of the fact that each element of the page is about, by its id."""
    facts = _Facts()
    of: dict[str, Json] = {}
    for index, picture in enumerate(pictures):
        for box in picture.all():
            if not isinstance(box, Box):
                continue
            chunk = None if box.lane is None else facts.chunk(box)
            if chunk is not None:
                of[f"e{index}-{box.id}"] = chunk
            for section in box.sections:
                for node in section.items:
                    if isinstance(node, PictureStep):
                        of[f"e{index}-{node.id}"] = facts.step(node, chunk)
    return {"facts": facts.all, "of": of}


class _Facts:
    """Facts in the order in which they are first met."""

    def __init__(self) -> None:
        self.all: list[Json] = []
        self._numbers: dict[str, int] = {}

    def chunk(self, box: Box) -> int:
        """Return the number of a chunk; its views are made once."""
        lane = None if box.lane is None else LANES[box.lane]
        key = _text([box.name, lane, box.schema])
        if key not in self._numbers:
            views: Json = {
                "tool": strip(box.schema, {"engine"}),
                "result": strip(box.schema, {"all"}),
                "process": box.schema,
            }
            self._add(key, {"name": box.name, "lane": lane, "views": views})
        return self._numbers[key]

    def step(self, node: PictureStep, chunk: int | None) -> int:
        """Return the number of a step."""
        fact: Mapping[str, Json] = {
            "name": node.key,
            "lane": LANES[node.lane],
            "source": node.source,
            "notes": list(node.notes),
            "reads": [line.text for line in node.reads],
            "chunk": chunk,
        }
        key = _text(fact)
        if key not in self._numbers:
            self._add(key, dict(fact))
        return self._numbers[key]

    def _add(self, key: str, fact: Json) -> None:
        self._numbers[key] = len(self.all)
        self.all.append(fact)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
