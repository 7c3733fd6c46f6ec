"""Whatever is given to a public function: a right answer or an error of ours, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from typing import Any

import pytest
from functions import RECORD, SOUND, call, ends_well, parameters, public, required
from hunting import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from values import ANYTHING

import instrc

FUNCTIONS = public()
OPTIONS = settings(suppress_health_check=[*HealthCheck], deadline=None)


@pytest.fixture(autouse=True, scope="module")
def _in_an_empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let functions that look around find nothing: this project is large."""
    with chdir(tmp_path_factory.mktemp("empty")):
        yield


def test_every_function_is_given_something_that_it_takes() -> None:
    missing = {each.name for function in FUNCTIONS.values() for each in required(function)} - SOUND.keys()
    assert not missing, "tests/robust/functions.py has no sound value for these"


@st.composite
def arguments(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Draw arguments, some of them sound: with nothing but odd ones only the first of them would ever be looked at."""
    chosen = {}
    odd = draw(st.sets(st.sampled_from([each.name for each in parameters(FUNCTIONS[name])] or ["-"]), max_size=2))
    for each in parameters(FUNCTIONS[name]):
        if each.name in odd:
            chosen[each.name] = draw(ANYTHING)
        elif each.default is each.empty or draw(st.integers(0, 4)) == 0:
            suits = SOUND.get(each.name, (True, False) if isinstance(each.default, bool) else (each.default,))
            chosen[each.name] = draw(st.sampled_from(suits))
    return chosen


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(OPTIONS, max_examples=examples(25).max_examples)
@given(data=st.data())
def test_a_public_function_ends_well_or_in_an_error_of_ours(name: str, data: st.DataObject) -> None:
    chosen = data.draw(arguments(name))
    ends_well(lambda: call(FUNCTIONS[name], chosen))


@settings(OPTIONS, max_examples=examples(60).max_examples)
@given(name=st.sampled_from(["lift", "encode", "split", "flatten", "lower", "lower_all"]), one=ANYTHING, other=ANYTHING)
def test_two_odd_values_are_as_good_as_one(name: str, one: Any, other: Any) -> None:
    ways = {"lower_all": lambda: instrc.lower_all([one, ("x", other)]), "lift": lambda: instrc.lift(one, RECORD)}
    first, second, *_ = [each.name for each in parameters(FUNCTIONS[name])]
    ends_well(ways.get(name, lambda: call(FUNCTIONS[name], {first: one, second: other})))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(OPTIONS, max_examples=10_000)
@given(data=st.data())
def test_ten_thousand_values_for_each_function(name: str, data: st.DataObject) -> None:
    chosen = data.draw(arguments(name))
    ends_well(lambda: call(FUNCTIONS[name], chosen))
