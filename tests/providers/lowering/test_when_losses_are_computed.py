"""Losses are told when somebody asks for them, and are the same whenever and of whichever copy that is."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import instrc
from instrc import Report
from instrc.problems.targets import LossyTargetStrict
from instrc.providers.lowering import losses  # counted or replaced here

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string", "minLength": 3}, "b": {"$ref": "#/$defs/b"}},
    "$defs": {"b": {"not": {"type": "string"}}},
}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows whenever losses are told."""
    calls: list[Any] = []
    tell = losses.losses

    def noting(root: Any, log: Any) -> Any:
        calls.append(root)
        return tell(root, log)

    monkeypatch.setattr(losses, "losses", noting)
    return calls


def test_a_payload_is_made_without_telling_losses(told: list[Any]) -> None:
    """Who only sends the payload does not pay for what it leaves unsaid."""
    lowering = instrc.lower(SCHEMA, "openai")
    assert lowering.payload["function"]["strict"] is True
    assert told == []


def test_losses_are_told_once(told: list[Any]) -> None:
    lowering = instrc.lower(SCHEMA, "openai")
    assert lowering.losses is lowering.losses
    assert len(lowering.problems) == len([loss for loss in lowering.losses if loss.grave]) > 0
    assert len(told) == 1


def test_a_report_and_strictness_ask_for_losses() -> None:
    report = Report()
    lowering = instrc.lower(SCHEMA, "openai", report=report)
    assert tuple(report.problems) == lowering.problems
    with pytest.raises(instrc.CompileError) as raised:
        instrc.lower(SCHEMA, "openai", strict=True)
    assert {type(problem) for problem in raised.value.problems} == {LossyTargetStrict}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_a_copy_tells_the_same(copied: Any) -> None:
    """Also of a schema with more losses than Python has levels of calls."""
    many = {"type": "object", "properties": {f"p{index}": {"type": "string", "minLength": 3} for index in range(2000)}}
    for schema in (SCHEMA, many):
        lowering = instrc.lower(schema, "mistral")
        again = copied(lowering)
        assert again == lowering
        assert again.losses == lowering.losses
        assert repr(again) == repr(lowering)


def test_lowerings_differ_by_their_losses() -> None:
    assert instrc.lower(SCHEMA, "openai") == instrc.lower(SCHEMA, "openai")
    assert instrc.lower(SCHEMA, "openai") != instrc.lower(SCHEMA, "mistral")
    assert instrc.lower(SCHEMA, "openai") != "a lowering"
