"""Pictures in the languages of Mermaid and Graphviz: what others draw."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
from drawn_processes import blocks, hostile, straight
from syrupy.assertion import SnapshotAssertion

from instrc.process.charts import dot, mermaid
from instrc.process.picture import Picture, picture_of
from instrc.process.process import Process


def picture(document: Any) -> Picture:
    return picture_of(Process.from_json(document), "it")


@pytest.mark.parametrize("write", [mermaid, dot], ids=["mermaid", "dot"])
def test_blocks_as_text(write: Any, snapshot: SnapshotAssertion) -> None:
    assert write(picture(blocks())) == snapshot


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz is installed: `apt-get install graphviz`")
@pytest.mark.parametrize("document", [straight(60), blocks(), hostile()], ids=["60", "blocks", "hostile"])
def test_graphviz_draws_a_graph_without_a_word(document: Any) -> None:
    """It warns of arrows that begin or end at the frame of a block that the other end is in."""
    done = subprocess.run(["dot", "-Tsvg"], input=dot(picture(document)).encode(), capture_output=True, check=True, timeout=60)
    assert done.stderr == b""


def test_an_arrow_of_a_graph_says_only_what_its_ends_do_not() -> None:
    """Graphviz lays words over boxes; those of a whole result are on its box already."""
    said = dot(picture(blocks()))
    assert "step1_identify.attendees" in re.findall(r' -> .*label="([^"]+)"', said)
    assert "step6_act" not in re.findall(r' -> .*label="([^"]+)"', said)
    assert re.search(r"-> b\d+_at .*lhead=cluster_b\d+", said)
    assert re.search(r"b\d+_at -> s\d+ .*ltail=cluster_b\d+", said)


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
