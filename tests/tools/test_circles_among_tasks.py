"""Circles among tasks, beside the plainest search that finds them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from instrc.tools.plan_check import circles
from instrc.tools.tasks import PlanTask

NAMES = "abcdef"
NEEDS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), unique=True, max_size=3).map(tuple))


def reached(needs: dict[str, tuple[str, ...]], start: str) -> set[str]:
    """Return what a task waits for, directly or not."""
    found: set[str] = set()
    waiting = list(needs[start])
    while waiting:
        name = waiting.pop()
        if name in needs and name not in found:
            found.add(name)
            waiting.extend(needs[name])
    return found


@given(NEEDS)
def test_each_group_of_tasks_that_wait_for_each_other_gives_one_circle(needs: dict[str, tuple[str, ...]]) -> None:
    order = list(needs)
    waits = {name: reached(needs, name) for name in needs}
    groups = dict.fromkeys(
        tuple(o for o in order if o in waits[name] and name in waits[o]) for name in order if name in waits[name]
    )
    found = list(circles({name: PlanTask("Tool", name, {}, those) for name, those in needs.items()}))
    assert [circle[0] for circle in found] == [group[0] for group in groups]
    for circle, group in zip(found, groups, strict=True):
        assert set(circle) <= set(group)
        assert all(later in needs[one] for one, later in pairwise((*circle, circle[0])))
