"""Two versions on the same cases, parts left out in turn, and judges of answers."""

import asyncio
import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from every_case import every_case
from msgspec.structs import replace as replace_result

import instrc
from instrc.problems.report import Report
from instrc.runtime.models.model import Reply, Request
from instrc.testing.evaluation.comparison import (  # as a command makes them
    VersionComparison,
    ablations,
    compared,
    conclusion,
    evaluated_versions,
    foresight,
    gate_of,
    with_preferences,
)
from instrc.testing.evaluation.dataset import DataSet, read_data_set
from instrc.testing.evaluation.judge import JUDGE, calibrations, preferences, require_pairs, without_checks  # as above
from instrc.testing.evaluation.report import gates_of  # as above
from instrc.testing.evaluation.results import CaseResult, CheckResult, EvaluationResult  # made by hand
from instrc.testing.evaluation.runner import EvalOptions
from instrc.testing.evaluation.variants import Changes, Version, parts_of, versions_of, without  # as above

CLASSIFY = {
    "title": "Classify",
    "description": "Say which mood a review has.",
    "type": "object",
    "properties": {"_why": {"type": "string"}, "mood": {"enum": ["good", "bad"]}},
    "required": ["_why", "mood"],
}


@dataclass
class Stub:
    """A model that answers the requests of tests by a function, and counts them."""

    answer_to: Callable[[Request], Any]
    asked: list[str] = field(default_factory=list)
    settings: list[object] = field(default_factory=list)

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request.message)
        self.settings.append(request.settings.get("temperature"))
        return Reply(self.answer_to(request))


def number(request: Request) -> int:
    return int(re.findall(r"review (\d+)", request.message)[0])


def classify(request: Request) -> dict[str, Any]:
    """Be right in 8 of 10 cases; without its thought in 4 of 10."""
    properties = request.schema["properties"]
    case = number(request)
    good = (case * 7 % 10) < (8 if "_why" in properties else 4)
    right = "good" if case % 2 else "bad"
    other = "bad" if case % 2 else "good"
    return {key: "x" if key.startswith("_") else right if good else other for key in properties}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "mood.aug").write_text("Classify;\n")
    write(tmp_path / "schemas/Classify.vibe.json", CLASSIFY)
    write(tmp_path / "schemas/Other.vibe.json", CLASSIFY | {"description": "Say it."})
    write(
        tmp_path / "schemas/Blunt.vibe.json", CLASSIFY | {"properties": {"mood": CLASSIFY["properties"]["mood"]}, "required": []}
    )  # type: ignore[index]
    cases = [
        {
            "id": f"c{at}",
            "input": f"review {at}",
            "expected": {"mood": "good" if at % 2 else "bad"},
            "tags": ["odd"] if at % 2 else [],
        }
        for at in range(50)
    ]
    (tmp_path / "mood.eval.jsonl").write_text("\n".join(map(json.dumps, cases)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


def data_set(file: str = "mood.eval.jsonl") -> DataSet:
    found = read_data_set(file, Report())
    assert found is not None
    return found


def two(changes: Changes, model: Stub) -> VersionComparison:
    before, after = versions_of("mood.aug", changes)
    old, new = asyncio.run(evaluated_versions([before, after], data_set(), EvalOptions(model=model)))
    return compared(old, new, same=before.is_like(after))


@pytest.mark.usefixtures("project")
def test_a_change_that_does_harm_is_shown_and_fails_the_gate() -> None:
    model = Stub(classify)
    found = two(Changes(vibes=(("Classify", "Blunt"),)), model)
    paired = found.overall.paired
    assert (paired.before, paired.after, paired.cases) == (0.8, 0.4, 50)
    assert found.overall.shown
    assert paired.interval.high < -0.02
    better, worse = found.moved()
    assert (len(better), len(worse)) == (0, 20)
    assert found.verdict(0.02) == "worse"
    assert len(model.asked) == 100
    said = " ".join([*conclusion(found), gate_of(found, 0.02)[1]])
    assert said.startswith("The later version is worse by 40.0 points (95 % interval -54.3 to -27.2 points, p = 9.54e-07)")
    assert said.endswith("Gate: failed. The whole interval lies below -2 %.")


def number_of(message: str) -> str:
    return re.findall(r"review \d+", message)[0]


@pytest.mark.usefixtures("project")
def test_versions_are_run_in_turn() -> None:
    model = Stub(classify)
    two(Changes(vibes=(("Classify", "Blunt"),)), model)
    first = {number_of(message) for message in model.asked[:50]}
    assert len(first) < 40, "the second version begins when the first one is not yet done"


@pytest.mark.usefixtures("project")
def test_a_change_that_does_nothing_is_not_shown() -> None:
    found = two(Changes(vibes=(("Classify", "Other"),)), Stub(classify))
    assert not found.overall.shown
    assert next(conclusion(found)).startswith("No difference shown: +0.0 points")
    assert found.verdict(0.02) == "undecided"
    assert found.verdict(0.1) == "no worse"


@pytest.mark.usefixtures("project")
def test_versions_that_ask_the_same_are_run_once() -> None:
    model = Stub(classify)
    found = two(Changes(against="mood.aug"), model)
    assert found.same
    assert len(model.asked) == 50
    assert "nothing was asked twice" in next(conclusion(found))


def test_near_names_are_offered(project: Path) -> None:
    (project / "drafts.aug").write_text('"Mood" | Introspect_Mixin(Classify(prompt));\n')
    wrong = {
        Changes(vibes=(("Clasify", "Blunt"),)): "Classify",
        Changes(vibes=(("Classify", "Blnt"),)): "Blunt",
        Changes(off=("Introspct_Mixin",)): "Introspect_Mixin",
    }
    for changes, name in wrong.items():
        with pytest.raises(instrc.SettingsError) as raised:
            versions_of("drafts.aug", changes)
        assert raised.value.problems[0].hint == f"did you mean `{name}`?"


@every_case(
    ("changes", "said"),
    [
        (Changes(vibes=(("Clasify", "Blunt"),)), "nothing in `mood.aug` is changed"),
        (Changes(off=("Introspect_Mixin",)), "nothing in `mood.aug` is changed"),
        (Changes(vibes=(("Classify", "Nobody"),)), "no vibe has this name"),
        (Changes(against="v1"), "the revision `v1`"),
        (Changes(against="a\0b"), "the revision"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_cannot_be_compared_is_refused_before_anything_is_asked(changes: Changes, said: str) -> None:
    with pytest.raises(instrc.SettingsError, match=said):
        versions_of("mood.aug", changes)


@pytest.mark.usefixtures("project")
def test_parts_earn_their_tokens_or_not() -> None:
    whole = Version("whole", versions_of("mood.aug", Changes())[0].prepared)
    parts = parts_of("mood.aug")
    versions = [whole, *(Version(part.name, without("mood.aug", part)) for part in parts)]
    first, *others = asyncio.run(evaluated_versions(versions, data_set(), EvalOptions(model=Stub(classify))))
    found = ablations(first, list(zip(parts, others, strict=True)), [(parts[0], "why")])
    assert [(each.part.kind, each.part.name, each.word) for each in found] == [
        ("thought", "classify._why", "of use"),
        ("description", "classify", "no difference shown"),
        ("order", "classify", "no difference shown"),
        ("values", "classify.mood", "no difference shown"),
        ("description", "classify", "cannot be left out: why"),
    ]


def results(scores: dict[str, list[float]], weight: float = 1.0) -> EvaluationResult:
    """Return an evaluation with scores of checks, one a case."""
    made = []
    for case in range(len(next(iter(scores.values())))):
        checks = tuple(CheckResult(name=name, score=each[case], passed=each[case] >= 0.5) for name, each in scores.items())
        made.append(CaseResult(case=f"c{case}", checks=checks, weight=weight if case else 1.0))
    return EvaluationResult(program="a.aug", results=tuple(made), cases=len(made))


def test_several_checks_are_held_to_holm() -> None:
    old = results({"a": [0.0] * 6 + [1.0] * 30, "b": [1.0] * 36, "c": [0.5] * 36})
    new = results({"a": [1.0] * 36, "b": [1.0] * 36, "c": [0.6] * 18 + [0.5] * 18})
    found = {each.name: each for each in compared(old, new).checks}
    assert found["a"].paired.p == pytest.approx(0.5**6)
    assert found["a"].p == pytest.approx(2 * 0.5**6)
    assert found["b"].p == 1
    assert found["c"].paired.test == "sign-flip"
    assert found["c"].p < 0.01


def test_only_cases_of_both_versions_count() -> None:
    old, new = results({"a": [0.0] * 10}), results({"a": [1.0] * 7})
    found = compared(old, new)
    assert found.overall.paired.cases == 7
    assert any("3 cases were run with one version only" in line for line in conclusion(found))


@every_case(("cases", "said"), [(300, "7 points if they differ in 20% of the cases"), (10, "too few to show a difference")])
def test_what_cases_can_show_is_said_before_they_are_run(cases: int, said: str) -> None:
    first, gate = foresight(cases, 2 * cases, 0.02)
    assert said in first
    assert "at most 2.5 %" in gate


# Judges.

REASON = {"reason": {"type": "string"}}


def judge_of(word: str, schema: Any, before: dict[str, Any] = REASON) -> dict[str, Any]:
    return {"title": "Judge", "type": "object", "properties": {**before, word: schema}, "required": [*before, word]}


def judged(project: Path, judge: dict[str, Any], **options: Any) -> DataSet:
    write(project / "polite.vibe.json", judge)
    head = {"checks": {"polite": {"check": "judge", "judge": "polite.vibe.json", **options}}}
    cases = [{"id": f"c{at}", "input": f"review {at}", "expected": {"mood": "good"}} for at in range(10)]
    (project / "judged.eval.jsonl").write_text("\n".join(map(json.dumps, [head, *cases])))
    return data_set("judged.eval.jsonl")


def answer_or_judge(request: Request) -> Any:
    """Classify, and judge that even numbers are polite; of a pair the first one is always better."""
    properties = request.schema["properties"]
    if "pass" in properties:
        return {"reason": "it is so", "pass": number(request) % 2 == 0}
    if "better" in properties:
        return {"reason": "it is first", "better": "first"}
    return {key: "x" if key == "_why" else "good" for key in properties}


def test_a_judge_says_whether_an_answer_passes_and_why(project: Path) -> None:
    judged(project, judge_of("pass", {"type": "boolean"}))
    found = instrc.evaluate(Path("mood.aug"), "judged.eval.jsonl", model=Stub(answer_or_judge))
    assert list(found.scores("polite").values()) == [1.0, 0.0] * 5
    assert next(check.reason for result in found.results for check in result.checks if not check.passed) == "it is so"


def test_a_judge_that_cannot_be_asked_is_refused_before_anything_is_asked(project: Path) -> None:
    judged(project, judge_of("pass", {"type": "boolean"}), model="opnai:gpt-5")
    model = Stub(answer_or_judge)
    with pytest.raises(instrc.CompileError, match="check `polite`: the model `opnai:gpt-5` cannot be used"):
        instrc.evaluate(Path("mood.aug"), "judged.eval.jsonl", model=model)
    assert not model.asked


@pytest.mark.usefixtures("project")
def test_what_raises_while_cases_are_run_is_raised_by_itself() -> None:
    with pytest.raises(ZeroDivisionError):
        instrc.evaluate("mood.aug", "mood.eval.jsonl", model=Stub(classify), progress=lambda _result: 1 / 0)


def test_both_versions_are_judged_by_the_model_and_the_settings_of_the_evaluation(project: Path) -> None:
    data = judged(project, judge_of("pass", {"type": "boolean"}))
    first, second = Stub(answer_or_judge), Stub(answer_or_judge)
    whole = versions_of("mood.aug", Changes())[0]
    changed = whole._replace(name="other", model=second, settings={"temperature": 1.0})
    options = EvalOptions(model=first, kinds={"judge": JUDGE}, settings={"temperature": 0.0})
    asyncio.run(evaluated_versions([whole, changed], data, options))
    assert (len(first.asked), len(second.asked)) == (10 + 2 * 10, 10)
    assert first.settings == [0.0] * 30
    assert second.settings == [1.0] * 10


def test_a_judge_of_pairs_is_asked_in_both_orders_and_what_the_order_decides_is_a_tie(project: Path) -> None:
    data = judged(project, judge_of("better", {"enum": ["first", "second"]}))
    cases = [{"input": case.input, "expected": {"mood": mood}} for case in data.cases for mood in ("bad", "good")]
    model = Stub(answer_or_judge)
    checks = {"polite": {"check": "judge", "judge": "polite.vibe.json"}}
    found = instrc.evaluate(Path("mood.aug"), cases, model=model, checks=checks)  # type: ignore[arg-type]
    assert set(found.scores("polite").values()) == {0.5}
    assert sum('"first"' in json.loads(message.split("-----")[1])["prompt"] for message in model.asked) == 2 * 10


def better(request: Request) -> Any:
    """Prefer the answer `good`, wherever it is; of two that are alike the first one."""
    if "better" not in request.schema["properties"]:
        return classify(request)
    pair = json.loads(json.loads(request.message.split("-----")[1])["prompt"])
    moods = [pair[side]["mood"] for side in ("first", "second")]
    return {"reason": "so", "better": "second" if moods == ["bad", "good"] else "first"}


def test_a_judge_of_pairs_prefers_a_version(project: Path) -> None:
    write(project / "better.vibe.json", judge_of("better", {"enum": ["first", "second", "tie"]}))
    require_pairs("better.vibe.json")
    found = two(Changes(vibes=(("Classify", "Blunt"),)), Stub(better))
    model = Stub(better)
    said = asyncio.run(preferences("better.vibe.json", found.before, found.after, EvalOptions(model=model), frozenset({"own"})))
    old, new = ({case: each[0].value for case, each in of.by_case().items()} for of in (found.before, found.after))
    wanted = {case: 0.5 if old[case]["mood"] == new[case]["mood"] else float(new[case]["mood"] == "good") for case in old}  # type: ignore[index,call-overload]
    assert said.scores == wanted
    differ = sum(score != 0.5 for score in wanted.values())
    same = sum(old[case] != new[case] for case in old)
    assert len(model.asked) == 2 * same, "each pair in both orders, equal answers not at all"
    judged = with_preferences(found, said.report.check, said.scores)
    assert judged.preferred is not None
    assert judged.preferred.paired.better + judged.preferred.paired.worse == differ
    assert any("The judge prefers the later version in" in line for line in conclusion(judged))
    assert "prefer their own answers" in " ".join(said.report.remarks)


def test_no_version_is_preferred_that_has_no_answer(project: Path) -> None:
    write(project / "better.vibe.json", judge_of("better", {"enum": ["first", "second"]}))
    found = results({"a": [1.0, 1.0, 1.0]})
    failed = [replace_result(each, error=error) for each, error in zip(found.results, (None, "no", "no"), strict=True)]
    before = replace_result(found, results=(*failed[:2], failed[2]))
    after = replace_result(found, results=(replace_result(found.results[0], error="no"), found.results[1], failed[2]))
    options = EvalOptions(model=Stub(better))
    said = asyncio.run(preferences("better.vibe.json", before, after, options, frozenset()))
    assert said.scores == {"c0": 0.0, "c1": 1.0, "c2": 0.5}


def test_a_pair_that_the_judge_says_nothing_about_is_left_out(project: Path) -> None:
    write(project / "better.vibe.json", judge_of("better", {"enum": ["first", "second"]}))
    found = results({"a": [1.0, 1.0]})
    after = replace_result(found, results=tuple(replace_result(each, value={"mood": "good"}) for each in found.results))
    options = EvalOptions(model=Stub(lambda _request: {"reason": "so", "better": "neither"}))
    said = asyncio.run(preferences("better.vibe.json", found, after, options, frozenset()))
    assert (said.scores, said.unanswered) == ({}, 2)


def test_a_judge_of_single_answers_compares_nothing(project: Path) -> None:
    write(project / "polite.vibe.json", judge_of("pass", {"type": "boolean"}))
    for file in ("polite.vibe.json", "mood.aug"):
        with pytest.raises(instrc.SettingsError, match="the judge"):
            require_pairs(file)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (judge_of("score", {"type": "integer"}), "a judge answers with a reason and then `pass`"),
        (judge_of("pass", {"type": "integer"}), "`pass` must be true or false"),
        (judge_of("pass", {"type": "boolean"}, {}), "the reason comes first"),
        (judge_of("pass", {"type": "boolean"}, {"tone": {"type": "integer"}}), "the reason comes first"),
        (judge_of("better", {"type": "string"}), "`better` is one of"),
    ],
)
def test_what_is_no_judge_is_refused(project: Path, judge: dict[str, Any], said: str) -> None:
    judged(project, judge)
    with pytest.raises(instrc.CompileError, match=re.escape(said)):
        instrc.evaluate(Path("mood.aug"), "judged.eval.jsonl", model=Stub(answer_or_judge))


@pytest.mark.parametrize(("labels", "counts"), [(40, True), (20, False), (0, False)])
def test_a_judge_counts_if_people_agree_with_it(project: Path, labels: int, counts: bool) -> None:  # noqa: FBT001
    data = judged(project, judge_of("pass", {"type": "boolean"}))
    lines = [{"input": {"answer": f"review {at}"}, "expected": {"pass": at % 2 == 0 or at == 1}} for at in range(labels)]
    if labels:
        (project / "polite.eval.jsonl").write_text("\n".join(map(json.dumps, lines)))
    [found] = asyncio.run(calibrations(data, EvalOptions(model=Stub(answer_or_judge)), frozenset({"own"})))
    assert (found.agreed.labels, found.agreed.agreed) == (labels, max(labels - 1, 0))
    assert found.counts is counts
    assert found.same_model
    remarks = " ".join(found.remarks)
    assert "prefer their own answers" in remarks
    assert ("no gate goes by it" in remarks) is not counts


def test_a_tie_of_a_judge_is_not_what_people_prefer(project: Path) -> None:
    data = judged(project, judge_of("better", {"enum": ["first", "second", "tie"]}))
    labels = ["first", "second", "tie"]
    lines = [{"input": {"answer": f"review {at}"}, "expected": {"better": labels[at % 3]}} for at in range(60)]
    (project / "polite.eval.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for said, agreed, of in ((["first", "tie", "tie"], 20, 40), (labels, 40, 40), (["first", "second", "second"], 40, 60)):
        model = Stub(lambda request, said=said: {"reason": "so", "better": said[number(request) % 3]})
        [found] = asyncio.run(calibrations(data, EvalOptions(model=model), frozenset()))
        assert (found.agreed.agreed, found.agreed.labels) == (agreed, of)


def test_no_gate_goes_by_a_judge_that_is_not_calibrated() -> None:
    found = without_checks(results({"label": [1.0, 1.0], "polite": [0.0, 1.0]}), frozenset({"polite"}))
    assert found.checks == ("label",)
    assert set(found.passes().values()) == {1.0}
    alone = without_checks(results({"polite": [0.0] * 100}), frozenset({"polite"}))
    assert [gate.verdict for gate in gates_of(alone, {"pass": 0.8})] == ["too few cases"]


def failed(found: EvaluationResult, share: float, *, unanswered: bool = False) -> EvaluationResult:
    """Return an evaluation of which the first runs have failed."""
    most = share * len(found.results)
    changed = (
        replace_result(item, error="it broke", unanswered=unanswered) if at < most else item
        for at, item in enumerate(found.results)
    )
    return replace_result(found, results=tuple(changed))


def test_runs_that_fail_are_left_out_like_others_where_no_gate_goes_by_their_checks() -> None:
    fine = results({"polite": [1.0] * 100})
    old, new = (without_checks(each, frozenset({"polite"})) for each in (fine, failed(fine, 0.05)))
    assert [gate.verdict for gate in gates_of(new, {"pass": 0.8})] == ["too few cases"]
    assert gate_of(compared(old, new), 0.02) == (3, "Gate: not decided, as there is no case by which it may go.")


def test_an_outage_of_either_version_does_not_keep_the_gate() -> None:
    fine = results({"label": [1.0] * 100})
    silent = failed(fine, 0.4, unanswered=True)
    assert gate_of(compared(silent, fine), 0.02) == (4, "Gate: not decided, as the model gave no answer in some runs.")
    assert gate_of(compared(fine, silent), 0.02)[0] == 1
    assert gate_of(compared(fine, fine), 0.05)[0] == 0


def test_evaluate_against_another_version_gives_the_comparison_of_the_command(project: Path) -> None:
    Path("blunt.aug").write_text("Blunt;\n")
    found = instrc.evaluate("mood.aug", "mood.eval.jsonl", against="blunt.aug", model=Stub(classify), cost=None)
    comparison = found.comparison
    assert comparison is not None
    assert (comparison.before.version, comparison.after.version) == ("blunt.aug", "now")
    assert comparison.overall.shown
    assert comparison.after.scores() == found.scores()
    sentence = " ".join(conclusion(comparison))
    assert sentence in str(found)
    assert sentence.split("(")[0] in found._repr_html_()
    asyncio.run(compared_in(project))
    with pytest.raises(instrc.SettingsError, match="no-such-revision"):
        instrc.evaluate("mood.aug", "mood.eval.jsonl", against="no-such-revision", model=Stub(classify))
    with pytest.raises(instrc.SettingsError, match="no-model"):
        instrc.evaluate("mood.aug", "mood.eval.jsonl", against="blunt.aug")
    same = instrc.evaluate("mood.aug", "mood.eval.jsonl", against=instrc.Source("other.aug", "Classify"), model=Stub(classify))
    assert same.comparison is not None
    assert same.comparison.same
    assert instrc.evaluate("mood.aug", "mood.eval.jsonl", model=Stub(classify)).comparison is None


async def compared_in(project: Path) -> None:
    """Compare within an application whose project is another folder than the current one."""
    other = project / "elsewhere"
    other.mkdir()
    with contextlib.chdir(other):
        app = instrc.App(project=project, model=Stub(classify))
        found = await app.evaluate("mood.aug", project / "mood.eval.jsonl", against="blunt.aug")
    assert found.comparison is not None
    assert found.comparison.overall.shown
