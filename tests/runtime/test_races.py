"""Blocks that end before all in them is done: `race { … } or { … }` and `each … until COND`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from objects import an_object

import instrc
from instrc.process.process import Process

TEXT = {"type": "string"}
SAYS = {"properties": {"output": TEXT}}
VIBES: dict[str, Any] = {
    **dict.fromkeys(("Quick_Activity", "Slow_Activity", "Never_Activity", "Bad_Activity"), SAYS),
    "Names_Activity": {"properties": {"output": {"type": "array", "items": TEXT}}},
    "Ask_User": an_object(answer=TEXT),
    "Act": an_object(plan={}),
    "Draft": an_object(text=TEXT),
}
NAMES = "const names = Names_Activity(prompt); "
PLAN = "const a = Act(prompt, { plan: Plan(Never_Activity) }); const r = RunPlan_Activity(a.plan); r"
TASKS = [{"tool": "Never_Activity", "id": "t", "arguments": {}}]


class Stage:
    """Activities that note what becomes of each call."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def activities(self) -> dict[str, Any]:
        async def quick(given: Any) -> str:
            return await self.call(f"quick {given}", 0.01)

        async def slow(given: Any) -> str:
            return await self.call(f"slow {given}", 0.2)

        async def never(_given: Any = None) -> str:
            return await self.call("never", 60)

        async def bad(_given: Any) -> str:
            message = "no"
            raise instrc.ActivityError(message, code="7", retry=False)

        made = {"Quick": quick, "Slow": slow, "Never": never, "Bad": bad, "Names": lambda _: ["a", "b", "c"]}
        return {f"{name}_Activity": each for name, each in made.items()}

    async def call(self, said: str, pause: float) -> str:
        try:
            await asyncio.sleep(pause)
        except asyncio.CancelledError:
            self.ended.append(f"{said} cancelled")
            raise
        self.ended.append(said)
        return said

    def run(self, program: str) -> Any:
        model = instrc.Scripted({"act": {"plan": TASKS}, "draft": {"text": "t"}})
        run = instrc.run(program, "p", vibes=VIBES, activities=self.activities(), model=model)
        if run.status == "done":
            Draft202012Validator(run.plan["process"]).validate(run.record)
        return run


@pytest.mark.parametrize(
    ("program", "value", "cancelled"),
    [
        ("race { Never_Activity(prompt) } or { Quick_Activity(prompt) }", "quick p", ["never"]),
        ("race { Quick_Activity(prompt) } or { Never_Activity(prompt) } or { Never_Activity(prompt) }", "quick p", ["never"] * 2),
        ("race { Bad_Activity(prompt) } or { Quick_Activity(prompt) }", "quick p", []),
        ("race { const x = Bad_Activity(prompt); Fail(x) } or { Slow_Activity(prompt) }", "slow p", []),
        ("race { Never_Activity(prompt) } or { null }", None, []),
        ("race { const n = Never_Activity(prompt); null } or { Quick_Activity(prompt) }", "quick p", ["never"]),
        ("race { Quick_Activity(prompt) } or { null }", None, []),
        ("race { 1 } or { 2 }", 1, []),
        ("race { Ask_User(prompt) } or { Quick_Activity(prompt) }", "quick p", []),
        (f"race {{ {PLAN} }} or {{ Slow_Activity(prompt) }}", "slow p", ["never"]),
        ("race { race { Never_Activity(prompt) } or { Bad_Activity(prompt) } } or { null }", None, []),
        ("race { each x in 3 { Never_Activity(x) } } or { Slow_Activity(prompt) }", "slow p", ["never"] * 3),
        ("const s = Slow_Activity(prompt); race { Never_Activity(s) } or { Quick_Activity(prompt) }", "quick p", ["never"]),
        ("const s = Slow_Activity(prompt); race { Quick_Activity(s) } or { Never_Activity(prompt) }", "quick slow p", ["never"]),
        ("const s = Slow_Activity(prompt); race { Bad_Activity(prompt) } or { Quick_Activity(s) }", "quick slow p", []),
        ("try { race { Bad_Activity(prompt) } or { Bad_Activity(prompt) } } else { { code: error.code } }", {"code": "7"}, []),
        (
            'try { (race { Never_Activity(prompt) } or { Ask_User(prompt) }) @ { within: "PT0.05S" } } else { { k: error.kind }}',
            {"k": "timeout"},
            ["never"],
        ),
        (NAMES + 'do { const l = each n in names { Quick_Activity(n) } until n is "z"; l }', [f"quick {n}" for n in "abc"], []),
        (
            NAMES + 'each n in names { when n is "b" { Quick_Activity(n) } else { Never_Activity(n) } } until n is "b"',
            [None, "quick b", None],
            ["never"] * 2,
        ),
        (NAMES + 'each n in names { n } until n is "b"', ["a", "b", None], []),
        (NAMES + 'each n in names { const q = Quick_Activity(n); q } until q @ { pattern: "a$" }', ["quick a", None, None], []),
        ("each i in 3 { i } until i is 1", [1, None, None], []),
    ],
)  # fmt: skip
def test_what_is_done_first_counts_and_the_rest_is_cancelled(program: str, value: Any, cancelled: list[str]) -> None:
    stage = Stage()
    run = stage.run(program)
    assert run.status == "done", run.outcome
    assert run.value == value
    assert [each for each in stage.ended if each.endswith("cancelled")] == [f"{each} cancelled" for each in cancelled]


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("race { Bad_Activity(prompt) } or { Bad_Activity(prompt) }", "failed"),
        ('(race { Never_Activity(prompt) } or { Bad_Activity(prompt) }) @ { within: "PT0.05S" }', "timeout"),
        (NAMES + 'each n in names { when n is "b" { Bad_Activity(n) } else { Never_Activity(n) } } until n is "z"', "failed"),
        ('each n in prompt { n } until n is "b"', "failed"),
    ],
)
def test_it_fails_as_its_parts_do(program: str, kind: str) -> None:
    run = Stage().run(program)
    assert (run.status, run.outcome["error"]["kind"]) == ("failed", kind)


def test_a_question_of_a_branch_that_has_lost_is_withdrawn() -> None:
    stage = Stage()
    program = "race { Ask_User(prompt) } or { const s = Ask_User(prompt); s }"
    run = instrc.run(program, "p", vibes=VIBES, model=instrc.Scripted({}))
    assert len(run.questions) == 2
    run.answer(run.questions[1].id, {"answer": "second"})
    assert (run.status, run.value, run.questions) == ("done", {"answer": "second"}, [])
    assert run.record["raceContext1"]["branch"] == 1
    with pytest.raises(instrc.ConflictError):
        run.answer("raceContext1[1].userContext1", {"answer": "late"})
    assert stage.ended == []


@pytest.mark.parametrize(
    "program",
    [
        "race { Draft } or { Quick_Activity(prompt) } or { null }",
        NAMES + 'each n in names max 7 { Draft(n) } until n is "a" or n is "b"',
        '(race { Draft } or { Ask_User(prompt) }) @ { within: "P2D", delay: "PT1S", description: "d" }',
    ],
)
def test_its_json_is_read_and_written_back(program: str) -> None:
    [made] = instrc.artefacts(program, vibes=VIBES)
    document = made.documents["process"]
    assert document["instrc"] == 1
    assert Process.from_json(document).to_json() == document


def test_a_rehearsal_tells_whether_the_condition_of_an_each_ever_held() -> None:
    found = instrc.rehearse(NAMES + 'each n in names { const d = Draft(n); d } until d.text is "x"', vibes=VIBES)
    taken = {branch for run in found.runs for branch in run.branches}
    assert taken == {"eachContext1 body", "eachContext1 ends by its condition", "eachContext1 ends with its list"}


@pytest.mark.parametrize(
    ("program", "missed"),
    [
        ("race { Quick_Activity(prompt) } or { Slow_Activity(prompt) }", ()),
        (NAMES + 'each n in names { const d = Draft(n); d } until d.text is "x"', ()),
    ],
)
def test_a_rehearsal_lets_each_branch_win(program: str, missed: Sequence[str]) -> None:
    rehearsal = instrc.rehearse(program, vibes=VIBES)
    assert list(rehearsal.missed) == list(missed)
