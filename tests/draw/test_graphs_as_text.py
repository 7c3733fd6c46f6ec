"""Pictures in the languages of Mermaid and Graphviz: what others draw."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import pytest
from drawn_processes import blocks, hostile, straight
from syrupy.assertion import SnapshotAssertion

from instrc.draw.dot import dot
from instrc.draw.mermaid import mermaid
from instrc.draw.picture import picture_of
from instrc.ir.picture import Picture
from instrc.ir.process import Process


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
