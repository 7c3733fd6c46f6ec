"""The configuration of a run, as stores keep it."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.problems.errors import SettingsError
from instrc.runtime.models.budget import MoneyBudget
from instrc.runtime.plan import plan_of
from instrc.runtime.run_config import CacheConfig, Launch, RunConfig
from instrc.text.jsontext import dumps, loads

FIRST = {"folder": "/p", "model": "openai:gpt-5", "rehearse": False, "processes": {}}
WHOLE: dict[str, Any] = {
    **FIRST,
    "processes": {"aug:p": {"a": 1 << 80}},
    "takes": {"Send": {"type": "string"}},
    "invented": ["answers"],
    "failed": "hold",
    "set": {"temperature": 0.5},
    "step": "draft",
    "own": ["model", "checks"],
    "cache": {"file": "answers.sqlite", "sample": 2},
    "budget": {"limits": ["2 USD"], "file": "f", "program": "p"},
    "chosen": "sample",
    "forked": {"run": "r0", "at": None, "left": {"send": "it is new"}},
}


def test_a_stored_configuration_is_read_and_written_back() -> None:
    config = RunConfig.from_json(WHOLE)
    assert config.cache == CacheConfig("answers.sqlite", 2)
    assert config.budget == MoneyBudget(["2 USD"], "f", "p")
    assert config.to_json() == WHOLE
    assert list(config.to_json()) == list(WHOLE)


def test_what_has_its_default_is_not_stored() -> None:
    assert RunConfig(folder="/p", model="openai:gpt-5").to_json() == FIRST
    assert loads(dumps(RunConfig().to_json())) == {**FIRST, "folder": ".", "model": None}


def test_members_of_other_releases_are_optional() -> None:
    assert RunConfig.from_json({}) == RunConfig()
    assert RunConfig.from_json({"rehearse": True, "later": 1}).invented is None


@pytest.mark.parametrize("document", [None, [], {"folder": 1}, {"failed": "never"}, {"cache": {}}, {"budget": {"limits": 3}}])
def test_a_malformed_configuration_is_a_problem(document: Any) -> None:
    with pytest.raises(SettingsError, match="stored configuration"):
        RunConfig.from_json(document)


def test_a_child_fails_where_its_parent_is_held() -> None:
    child = RunConfig(failed="hold", chosen="a").for_child("b")
    assert (child.holds, child.chosen) == (False, "b")
    assert RunConfig(chosen="a").for_child(None).chosen == "a"
    for config, expected in ((RunConfig(), "hold"), (RunConfig(failed="fail"), "fail")):
        assert Launch("run", "name", plan_of({"type": "string"}), {}, config).to_json()["how"]["failed"] == expected
