"""What two schemas say about properties becomes one group of rules, or both stay as they are."""

from __future__ import annotations

from copy import deepcopy

import pytest

from instrc.schema.laws.objects import PropertyRules, join_properties  # the laws of one keyword by themselves
from instrc.text.limits import MATCHED_AT_ONCE


@pytest.mark.parametrize(("names", "joined"), [(MATCHED_AT_ONCE // 100, True), (MATCHED_AT_ONCE // 100 + 1, False)])
def test_groups_are_joined_up_to_a_number_of_names_to_hold_against_patterns(names: int, *, joined: bool) -> None:
    listed = PropertyRules({f"n{number}": [] for number in range(names)}, extra=[])
    matched = PropertyRules(patterns={f"^p{number}": [] for number in range(100)})
    before = deepcopy(listed)
    assert join_properties(listed, matched, []) is joined
    assert joined or listed == before, "what is not joined stays as it is"
