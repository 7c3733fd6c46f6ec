"""Retry and fork at every step of generated processes end like a run that never failed, and do nothing twice."""

from __future__ import annotations

from typing import Any

from generated_processes import answer_to, processes
from hunting import examples
from hypothesis import given

from instrc.runtime.interpreter import versions  # the pure interpreter, without an engine
from instrc.runtime.journal import JournalEntry, rebuild_journal
from instrc.runtime.plan import plan_of
from instrc.runtime.retry import ForkOptions, RetryOptions, fork_of, retry_of

INPUTS = {"prompt": "go"}
EACH_STEP = examples(25)
"""Many more in a hunt."""
DOWN = {"error": {"kind": "failed", "code": "unreachable", "message": "down"}}


def played(plan: Any, entries: list[JournalEntry], fails: str | None = None) -> tuple[Any, list[str]]:
    """Carry a run on to its end, and return its outcome and what was done; one command fails if no `try` takes that up."""
    state = rebuild_journal(plan, INPUTS, entries).state
    done: list[str] = []
    while True:
        versions.issue(plan, state)
        if state["outcome"] is not None:
            return state["outcome"], done
        command = versions.pending(plan, state)[0]
        name = command["id"]
        result = DOWN if name == fails and versions.is_fatal(plan, state, name) else answer_to(command)
        done += [] if result is DOWN else [name]
        entries.append({"results": [(name, result)]})
        versions.apply(plan, state, name, result)


@EACH_STEP
@given(processes())
def test_a_retry_ends_as_if_nothing_had_failed(document: Any) -> None:
    plan = plan_of(document)
    whole: list[JournalEntry] = []
    outcome, commands = played(plan, whole)
    for name in commands:
        entries: list[JournalEntry] = []
        first, done = played(plan, entries, fails=name)
        if first["status"] != "failed":
            assert first == outcome, "a `try` or a plan has taken it up"
            continue
        entries.append({"again": retry_of("r", rebuild_journal(plan, INPUTS, entries), RetryOptions())})
        again, more = played(plan, entries)
        assert again == outcome
        assert sorted(done + more) == sorted(commands), "each command is done once"


@EACH_STEP
@given(processes())
def test_a_fork_at_any_step_ends_like_its_run_and_leaves_it_as_it_is(document: Any) -> None:
    plan = plan_of(document)
    entries: list[JournalEntry] = []
    outcome, commands = played(plan, entries)
    before = repr(entries)
    for name in [None, *commands]:
        made = fork_of("r", rebuild_journal(plan, INPUTS, entries), ForkOptions(name), plan, INPUTS)
        forked = [*made.entries]
        again, more = played(plan, forked)
        assert again == outcome
        both = [*(name for entry in made.entries for name, _ in entry["results"]), *more]
        assert len(both) == len(set(both)), "each command is reused or done, not both"
        if "tryContext" not in repr(document):  # what is done beside a step that fails in a `try` depends on the order
            assert set(both) == set(commands)
    assert repr(entries) == before
