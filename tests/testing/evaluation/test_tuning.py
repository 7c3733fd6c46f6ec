"""What `instrc tune` finds in simulated answers: a form that helps, and nothing where nothing does."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import instrc
from instrc import Reply, Request
from instrc.compiler.tuned import PromptForm, Tuned, digest_of, read_tuned
from instrc.problems.report import Report
from instrc.testing.evaluation.dataset import DataSet, EvalCase  # cases without a file
from instrc.testing.evaluation.runner import Budget, EvalOptions
from instrc.testing.evaluation.statistics import compare  # the test of `eval`
from instrc.testing.evaluation.tune import (  # a simulation
    EXAMPLES,
    HELD,
    RUNGS,
    Subject,
    Tuning,
    searched,
    split_cases,
    stages_of,
    tuned,
)
from instrc.testing.evaluation.variants import Changes, versions_of  # as the command makes them
from instrc.text.jsontext import dumps
from instrc.text.source import Source
from instrc.vibes.find_files import tuned_file

FORMS = [PromptForm(words=level) for level in ("all", "keys", "task")]
STAGES: list[Any] = [
    ("words", lambda best: [msgspec.structs.replace(best, words=level) for level in ("all", "keys", "task")]),
    ("texts", lambda best: [msgspec.structs.replace(best, texts={"a": text}) for text in ("one", "two", "three")]),
    ("order", lambda best: [msgspec.structs.replace(best, order={"a": ["b", "a"]})]),
    ("off", lambda best: [msgspec.structs.replace(best, off=["a._b"])]),
]
CASES = 180
REQUESTS = 400
"""The default of `--requests`."""


def simulated(seed: int, chance: Callable[[PromptForm], float]) -> tuple[bool, PromptForm, int]:
    """Search with simulated answers, and test; return whether the form changes, what was found, and the requests."""
    asked: set[tuple[str, int]] = set()

    def right(form: PromptForm, case: int) -> float:
        drawn = random.Random(f"{seed} {case} {msgspec.json.encode(form).decode()}")  # noqa: S311  -- a simulation
        return float(drawn.random() < chance(form))

    async def judge(forms: Sequence[PromptForm], count: int) -> list[dict[str, float]]:
        asked.update((repr(form), case) for form in forms for case in range(count))
        return [{str(case): right(form, case) for case in range(count)} for form in forms]

    best = asyncio.run(searched(PromptForm(), STAGES, judge, CASES - HELD, lambda _: None))
    held = range(CASES - HELD, CASES)
    paired = compare([right(PromptForm(), case) for case in held], [right(best, case) for case in held])
    shown = paired.p <= 0.05 and paired.interval.low > 0
    return best != PromptForm() and shown, best, len(asked)


def test_where_nothing_helps_nothing_is_changed() -> None:
    changed = [simulated(seed, lambda _: 0.5)[0] for seed in range(100)]
    assert sum(changed) <= 5


def test_a_form_that_helps_is_found_and_shown() -> None:
    found = [simulated(seed, lambda form: 0.75 if form.words == "task" else 0.4) for seed in range(40)]
    assert sum(changed and best.words == "task" for changed, best, _ in found) >= 36
    assert max(requests for _, _, requests in found) <= REQUESTS


def test_forms_that_are_clearly_worse_cost_twelve_cases_each() -> None:
    found = [simulated(seed, lambda form: 0.9 if form == PromptForm() else 0.1)[2] for seed in range(10)]
    assert max(found) <= RUNGS[0] * (1 + sum(len(stage[1](PromptForm())) for stage in STAGES))


def test_a_form_that_hurts_is_not_taken() -> None:
    found = [simulated(seed, lambda form: 0.6 if form == PromptForm() else 0.3)[1] for seed in range(40)]
    assert sum(best != PromptForm() for best in found) <= 4


MOODS = ("calm", "cross")
VIBE = {
    "title": "Tell_Mood",
    "description": "Say it.",
    "x-wordings": ["Say how the writer feels."],
    "type": "object",
    "properties": {
        "_why": {"type": "string"},
        "mood": {"enum": [*MOODS], "description": "The mood.", "x-wordings": ["The feeling."]},
    },
    "required": ["_why", "mood"],
}


class Feeling:
    """A model that is right in 4 of 5 cases if it is asked for the feeling, else in half of them."""

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        number = int(request.message.split("review ")[1].split('"')[0])
        helped = '"description": "The feeling."' in json.dumps(request.schema)
        right = number % 5 > 0 if helped else number % 4 > 1
        return Reply({"_why": "so", "mood": MOODS[number % 2 if right else 1 - number % 2]})


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/tell-mood.vibe.json").write_text(json.dumps(VIBE))
    (tmp_path / "mood.aug").write_text("prompt | Tell_Mood")
    return str(tmp_path / "mood.aug")


def cases(count: int) -> DataSet:
    return DataSet(
        cases=tuple(
            EvalCase(id=str(at), input=f"review {at}", expected={"mood": MOODS[at % 2]}, expects=True) for at in range(count)
        )
    )


def tune(program: str, model: Any, count: int, requests: int | None = None, **more: Any) -> Tuning:
    options = EvalOptions(model, budget=Budget(requests), **more)
    return asyncio.run(tuned(Subject(program, cases(count), options), PromptForm(), lambda _: None))


def test_a_wording_of_the_author_is_chosen_by_the_answers(program: str) -> None:
    found = tune(program, Feeling(), 200)
    assert found.best.texts == {"tell_mood.mood": "The feeling."}
    assert found.better
    assert found.comparison is not None
    assert found.comparison.overall.paired.cases == 200 - RUNGS[-1] - EXAMPLES


def test_a_search_sees_what_is_nearer_and_the_test_only_what_passes(program: str, tmp_path: Path) -> None:
    class Half:
        async def answer(self, request: Request) -> Reply:
            number = int(request.message.split("review ")[1].split('"')[0])
            helped = '"description": "The feeling."' in json.dumps(request.schema)
            return Reply({"_why": "so", "mood": MOODS[number % 2 if helped else 1 - number % 2], "who": "nobody"})

    members = {**VIBE["properties"], "who": {"type": "string"}}  # type: ignore[dict-item]
    (tmp_path / "schemas/tell-mood.vibe.json").write_text(json.dumps({**VIBE, "properties": members}))
    data = cases(160)
    expected = [{**case.expected, "who": "Ann"} for case in data.cases]  # type: ignore[dict-item]
    both = tuple(msgspec.structs.replace(case, expected=value) for case, value in zip(data.cases, expected, strict=True))
    found = asyncio.run(
        tuned(Subject(program, DataSet(cases=both), EvalOptions(Half())), PromptForm(), lambda _: None)  # type: ignore[arg-type]
    )
    assert found.best.texts == {"tell_mood.mood": "The feeling."}
    assert found.comparison is not None
    assert (found.comparison.overall.paired.after, found.better) == (0.0, False)


def test_the_level_of_words_that_a_program_has_is_not_tried_again(program: str) -> None:
    for used, tried in (("keys", ["all", "task", "none"]), ("all", ["keys", "task", "none"]), (None, None)):
        subject = Subject(program, cases(1), EvalOptions("sample"), words=used)  # type: ignore[arg-type]
        subject.prepared(PromptForm())
        stages = {name: [*alternatives(PromptForm())] for name, alternatives in stages_of(subject, {}, ())}
        assert tried == ([form.words for form in stages["words"] if not form.texts] if "words" in stages else None)
        assert bool(stages["order of values"]) is (used != "keys")


def test_a_test_that_ends_early_shows_nothing(program: str) -> None:
    found = tune(program, Feeling(), 200)
    assert found.comparison is not None
    overall = found.comparison.overall
    early = replace(overall, paired=replace(overall.paired, cases=HELD - 1))
    assert found.better
    assert not found._replace(comparison=replace(found.comparison, overall=early)).better


def test_with_few_cases_it_only_reports(program: str) -> None:
    found = tune(program, Feeling(), 60)
    assert found.best.texts == {"tell_mood.mood": "The feeling."}
    assert (found.comparison, found.better) == (None, False)


def test_the_budget_ends_the_search_with_the_best_so_far(program: str) -> None:
    model = Feeling()
    found = tune(program, model, 60, requests=100, concurrency=1)
    assert found.stopped is not None
    assert model.asked == 100


def test_answers_that_follow_an_order_are_told(program: str) -> None:
    class First:
        async def answer(self, request: Request) -> Reply:
            properties: Any = request.schema
            return Reply({"_why": "so", "mood": MOODS[[*properties["properties"]].index("mood")]})

    assert any("order of properties" in warning for warning in tune(program, First(), 60).warnings)


def test_thoughts_mixins_and_requests_are_tried(tmp_path: Path) -> None:
    step = '@{ title: "%s", type: "object", properties: { text: { type: "string" } } }'
    file = tmp_path / "two.aug"
    file.write_text(f"prompt | Introspect_Mixin({step % 'First'}) | {step % 'Second'};")
    subject = Subject(str(file), cases(1), EvalOptions("sample"))
    subject.prepared(PromptForm())
    stages = {name: [*alternatives(PromptForm())] for name, alternatives in stages_of(subject, {}, ())}
    thoughts = ["first._considerations", "first._feedback"]
    assert stages["thoughts and mixins"] == [*(PromptForm(off=[place]) for place in thoughts), PromptForm(off=thoughts)]
    assert stages["requests"] == [PromptForm(calls="each")]
    left = subject.prepared(PromptForm(off=thoughts, calls="each"))
    assert "_considerations" not in json.dumps(left.document)
    assert "llmContext2" in json.dumps(left.document)


def test_the_same_cases_are_held_back_whatever_their_order() -> None:
    data = cases(250)
    turned = msgspec.structs.replace(data, cases=data.cases[::-1])
    assert split_cases(data) == split_cases(turned)
    train, held = split_cases(data)
    assert {case.id for case in train.cases}.isdisjoint(case.id for case in held.cases)
    assert (len(train.cases), len(held.cases)) == (RUNGS[-1] + EXAMPLES, 200)


def test_a_form_is_read_as_it_was_written(program: str) -> None:
    form = PromptForm(
        words="task",
        texts={"a.b": 'two\nlines "so" \x7f'},
        values={"a.b": ["x", 1, None, {"y": [2.5]}]},
        order={"a": ["b", "a"]},
        off=["a._why"],
        calls="each",
    )
    written = Tuned(export="e", model="m:1", program="p", data="d", date="2026-11-28", figures={"p": 0.5}, form=form)
    tuned_file(Path(program)).write_text(written.text())
    assert read_tuned(program, Report()) == written


def write_form(program: str, form: PromptForm) -> None:
    """Write a form of a program for the model `sample`."""
    subject = Subject(program, cases(1), EvalOptions("sample"))
    subject.prepared(PromptForm())
    assert subject.flat is not None
    digest = digest_of(subject.flat, Source(program, Path(program).read_text()))
    written = Tuned(export="mood", model="sample", program=digest, data="", date="2026-11-28", form=form)
    tuned_file(Path(program)).write_text(written.text())


def test_each_version_has_the_form_of_its_revision_and_its_model(program: str) -> None:
    write_form(program, PromptForm(texts={"tell_mood.mood": "The tuned mood."}))
    texts = [
        "The tuned mood." in dumps(version.prepared.document)
        for model, other in (("sample", "openai:gpt-5"), ("openai:gpt-5", "sample"))
        for version in versions_of(program, Changes(model=other), model=model)
    ]
    assert texts == [True, False, False, True]

    def commit(name: str) -> None:
        for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", name]):
            subprocess.run(["git", "-C", str(Path(program).parent), *words], check=True, capture_output=True)

    commit("first")
    write_form(program, PromptForm(words="none"))
    commit("second")
    before, after = versions_of(program, Changes(against="HEAD"), model="sample")
    assert before.is_like(after)
    before, after = versions_of(program, Changes(against="HEAD~"), model="sample")
    assert "The tuned mood." in dumps(before.prepared.document)
    tuned_file(Path(program)).unlink()
    before, after = versions_of(program, Changes(against="HEAD"), model="sample")
    assert not before.is_like(after), "the level of words is another"


def test_programs_in_python_use_the_form_of_their_model(program: str) -> None:
    write_form(program, PromptForm(texts={"tell_mood.mood": "The feeling."}))
    run = instrc.run(program, "x", model="sample", rehearse=True)
    [asked] = [event for event in run.trace if event["event"] == "asked"]
    assert asked["schema"]["properties"]["mood"]["description"] == "The feeling."
    with pytest.warns(instrc.CompileWarning, match="it is for `sample`"):
        other = instrc.run(program, "x", model=instrc.Scripted([{"_why": "so", "mood": "calm"}]))
    [asked] = [event for event in other.trace if event["event"] == "asked"]
    assert asked["schema"]["properties"]["mood"]["description"] == "The mood."


@pytest.mark.parametrize(
    "text", ["", "form = 3", "[form", 'export = 1\n[form.values]\na = "x"', '[form.values]\na = ["{"]', "\x00"]
)
def test_a_file_that_is_none_is_a_warning(program: str, text: str) -> None:
    tuned_file(Path(program)).write_text(text)
    report = Report()
    assert read_tuned(program, report) is None
    assert [problem.name for problem in report.problems] == ["not-tuned"]
