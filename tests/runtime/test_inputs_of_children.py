"""What a process is given that serves an activity: its arguments by name, all of them, and the name that was called."""

from __future__ import annotations

from typing import Any

import pytest

from instrc.runtime.plan import child_inputs

CALLED = {"type": "object", "inputs": {"prompt": {}, "called": {}}}
PLAIN = {"type": "object", "inputs": {"prompt": {}}}


@pytest.mark.parametrize(
    ("given", "document", "inputs"),
    [
        ({"mail": "a", "tries": 2}, PLAIN, {"mail": "a", "tries": 2, "prompt": {"mail": "a", "tries": 2}}),
        ({"prompt": "p"}, PLAIN, {"prompt": "p"}),
        ("text", PLAIN, {"prompt": "text"}),
        ("text", CALLED, {"prompt": "text", "called": "Send"}),
        ("text", {"type": "object"}, {"prompt": "text"}),
        ("text", True, {"prompt": "text"}),
    ],
)
def test_arguments_are_inputs_and_the_name_is_one_where_the_process_asks_for_it(given: Any, document: Any, inputs: Any) -> None:
    command: Any = {"kind": "activity", "called": "Send", "input": given}
    assert child_inputs(command, document) == inputs
