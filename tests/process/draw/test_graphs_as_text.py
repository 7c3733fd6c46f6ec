"""Pictures as text: in a terminal, and in the language of Mermaid."""

from __future__ import annotations

import json
import re
from typing import Any

from drawn_processes import blocks
from syrupy.assertion import SnapshotAssertion

from instrc.process.charts import mermaid, text_picture
from instrc.process.picture import Picture, picture_of
from instrc.process.process import Process


def picture(document: Any) -> Picture:
    return picture_of(Process.from_json(document), "it")


def test_blocks_as_text(snapshot: SnapshotAssertion) -> None:
    assert mermaid(picture(blocks())) == snapshot
    assert text_picture(picture(blocks())) == snapshot(name="in a terminal")


def test_the_title_of_a_chart_is_text_and_not_in_the_codes_of_its_labels() -> None:
    """Mermaid decodes `#35;` in labels, but not in front matter, which is YAML."""
    document = blocks() | {"title": 'What is "C#": {x}\\?'}
    title = mermaid(picture(document)).splitlines()[1].removeprefix("title: ")
    assert json.loads(title) == document["title"]


def test_what_a_block_gives_to_its_steps_stands_in_it_as_an_input_does() -> None:
    """Mermaid draws no arrow from a block to what is in it, and leaves its label behind the boxes."""
    chart = mermaid(picture(blocks()))
    ids = dict(re.findall(r'^ *(b\d+_in\d+)\(\["(\w+)"\]\)$', chart, re.MULTILINE))
    assert sorted(ids.values()) == ["error", "person", "rounds", "rounds"]
    assert {source for source in re.findall(r"^ *(\w+) -->", chart, re.MULTILINE) if "_in" in source} == set(ids)
