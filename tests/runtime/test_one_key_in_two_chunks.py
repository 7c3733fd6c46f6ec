"""One key in two model chunks of a written process: the path of each chunk leads to its own value, the key alone to the last."""

from __future__ import annotations

from typing import Any

import pytest
from objects import an_object

from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.plan import plan_of

TEXT = {"type": "string"}


def step(reads: list[str], **more: Any) -> dict[str, Any]:
    return {**an_object(text=TEXT), "references": reads, "arguments": reads[0] if len(reads) == 1 else reads, **more}


def process(shown: list[str]) -> Any:
    """Return a draft, its check, a second draft under the same key, and a person who is shown something."""
    return an_object(
        llmContext1=an_object(draft=step(["prompt"])),
        serverContext1=an_object(check=step(["draft"], activity="Check_Activity")),
        llmContext2=an_object(draft=step(["check"])),
        userContext1=an_object(confirm=step(shown)),
    )


def shown_to_person(document: Any) -> tuple[Any, Any]:
    """Run a process whose every answer is a number; return what the person is shown, and the outcome."""
    plan = plan_of(document)
    state = versions.begin(plan, {"prompt": "go"})
    shown, number, waiting = None, 0, list[Any]()
    while (outcome := versions.outcome(plan, state)) is None:
        waiting += versions.issue(plan, state)
        command, number = waiting.pop(0), number + 1
        shown = command["show"] if command["kind"] == "user" else shown
        said: Any = {"text": str(number)}
        versions.apply(plan, state, command["id"], {"ok": {"draft": said} if command["kind"] == "model" else said})
    return shown, outcome


@pytest.mark.parametrize(
    ("reads", "shown"),
    [
        (["draft"], {"text": "3"}),
        (["llmContext1.draft", "llmContext2.draft"], [{"text": "1"}, {"text": "3"}]),
    ],
)
def test_each_chunk_keeps_its_own_value(reads: list[str], shown: Any) -> None:
    found, outcome = shown_to_person(process(reads))
    assert found == shown
    assert outcome["output"]["draft"] == {"text": "3"}  # the result view has a key once: the last value
