"""What every provider is sent for every example, and what it will not enforce."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from instrc import jsontext
from instrc.dialects.catalogue import targets
from instrc.lowering.lower import lower
from instrc.lowering.rules import breaches

ROOT = Path(__file__).parents[2] / "examples"
TOOLS = sorted(path for path in ROOT.glob("*/expected/*.tool.json"))


@pytest.mark.parametrize("target", sorted(targets()))
def test_every_example_is_fitted_to_every_target(target: str, snapshot: SnapshotAssertion) -> None:
    assert TOOLS
    for path in TOOLS:
        lowering = lower(jsontext.loads(path.read_text(encoding="utf-8")), target, name=path.name.split(".")[0])
        assert breaches(lowering.payload, target) == []
        losses = [f"{loss.keyword} at {loss.pointer}: {loss.reason}" for loss in lowering.losses]
        shown = {"payload": lowering.payload, "losses": losses}
        assert jsontext.dumps(shown) == snapshot(name=f"{path.parent.parent.name} {target}")
