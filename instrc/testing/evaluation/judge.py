"""Judges: instructions that rate an answer or choose the better of two, and their agreement with people."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from instrc.engines.prepare import Prepared, prepare
from instrc.problems.errors import unusable
from instrc.problems.report import Report
from instrc.testing.evaluation.checks import AskJudge, CheckedRun, CheckKind, CheckPlace, CheckScore
from instrc.testing.evaluation.dataset import ENDINGS, DataSet, read_data_set
from instrc.testing.evaluation.results import CaseResult, EvaluationResult, RunFacts
from instrc.testing.evaluation.runner import EvalOptions, ProgramRunner, UnansweredError, asking, evaluated
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, as_object, equal, mapping
from instrc.vibes.find_files import files_at
from instrc.vibes.settings import read_settings

if TYPE_CHECKING:
    from instrc.testing.evaluation.report import Gate, ReportTable
    from instrc.testing.evaluation.statistics import Agreement

PASS, BETTER = "pass", "better"
LABELS: Final = 30
"""Minimum labels by people before a judge may decide a gate."""
_SIDES = ("first", "second")


def _judge_check(options: JsonObject, place: CheckPlace) -> Callable[[CheckedRun, Json, Json], Awaitable[CheckScore]]:
    file, model = _file_of(options, place.folder), options.get("model")
    if model is not None and not isinstance(model, str):
        raise ValueError("`model` is the words of a model, as `openai:gpt-5`")
    if read_settings(file.parent).file != place.settings:  # they name code, and a data set is only data
        raise ValueError(f"`{file}` belongs to another project than the program: copy the judge into this one")
    prepared = prepare(str(file))
    word, ask = _word_of(prepared), place.ask(prepared, model)

    async def look(seen: CheckedRun, part: Json, expected: Json) -> CheckScore:
        said = seen.case.expected if expected is None else expected
        if word == BETTER:
            score, reasons = await _votes(ask, prepared, (seen.input, said, part))
            return CheckScore(score or 0.0, passed=bool(score), reason="; ".join(filter(None, reasons)))
        about: JsonObject = {"input": seen.input, "answer": part, **({"expected": said} if seen.case.expects else {})}
        facts = await ask(_asked(prepared, about))
        passed = mapping(facts.value).get(PASS) is True
        return CheckScore(float(passed), passed, _reason(facts, PASS))

    return look


JUDGE = CheckKind(_judge_check, ("judge", "model"))
"""The check `judge`: of a value by itself, or, for a pairwise judge, against the expected value."""


def _file_of(options: JsonObject, folder: Path) -> Path:
    said = options.get("judge")
    if not isinstance(said, str):
        raise ValueError("`judge` is the file of a program or a vibe")  # noqa: TRY004  -- reported with the name of the check
    return folder / said


def _word_of(prepared: Prepared) -> str:
    """Return the name of the verdict, `pass` or `better`; raise `ValueError` if it is missing, or no reason precedes it."""
    properties = mapping(mapping(prepared.document).get("properties"))
    if prepared.step is None and len(properties) == 1:
        properties = mapping(mapping(next(iter(properties.values()))).get("properties"))
    word = next((item for item in (PASS, BETTER) if item in properties), None)
    if word is None:
        raise ValueError("a judge answers with a reason and then `pass`, true or false, or `better`, `first` or `second`")
    first, schema = next(iter(properties)), mapping(properties[word])
    if first == word or mapping(properties[first]).get("type") != "string":
        raise ValueError(f"the reason comes first: write a text before `{word}`, so that the model thinks before it judges")
    if word == PASS and schema.get("type") != "boolean":
        raise ValueError("`pass` must be true or false: a judge gives nearly all answers the same mark")
    said = schema.get("enum")
    if word == BETTER and (
        not isinstance(said, list) or not {"first", "second"} <= {item for item in said if isinstance(item, str)}
    ):
        raise ValueError('`better` is one of "first" and "second", perhaps "tie"')
    return word


async def _votes(ask: AskJudge, prepared: Prepared, judged: tuple[Json, Json, Json]) -> tuple[float | None, list[str]]:
    """Return whether the second of two answers is better, asked in both orders, and the reasons: 1, 0.5 for a tie, or 0.

    The result is `None` if the judge gave no answer.
    """
    given, old, new = judged
    if equal(old, new):
        return 0.5, []
    votes: list[Json] = []
    reasons: list[str] = []
    for first, second in ((old, new), (new, old)):
        facts = await ask(_asked(prepared, {"input": given, "first": first, "second": second}))
        votes.append(mapping(facts.value).get(BETTER))
        reasons.append(_reason(facts, BETTER))
    if any(vote not in (*_SIDES, "tie") for vote in votes):
        return None, reasons
    return {("second", "first"): 1.0, ("first", "second"): 0.0}.get((str(votes[0]), str(votes[1])), 0.5), reasons


def _asked(prepared: Prepared, about: JsonObject) -> Json:
    """Return the input of a judge: by name if it declares inputs, otherwise everything as one text."""
    declared = prepared.inputs or {}
    return about if about.keys() <= declared.keys() else dumps(about)


def _reason(facts: RunFacts, word: str) -> str:
    if facts.error is not None:
        return f"the judge gave no answer: {facts.error}"
    texts = [value for key, value in mapping(facts.value).items() if key != word and isinstance(value, str)]
    return texts[0] if texts else "the judge gave no reason"


class JudgeReport(NamedTuple):
    """A judge in a data set, and its agreement with people."""

    check: str
    judge: str
    model: str
    """Spec of the judging model."""
    agreed: Agreement
    same_model: bool
    """Whether the judging model also wrote the answers."""

    @property
    def counts(self) -> bool:
        """Whether a gate may rely on it."""
        return self.agreed.labels >= LABELS and self.agreed.interval.low > 0

    @property
    def remarks(self) -> Iterator[str]:
        """The remarks for readers of its verdicts."""
        if self.same_model:
            yield f"`{self.check}` is judged by the model that has answered, and models prefer their own answers: ask another"
        if not self.counts:
            few = f"{self.agreed.labels} labels by people, and {LABELS} are needed"
            why = few if self.agreed.labels < LABELS else "it does not agree with people more often than by chance"
            yield f"`{self.check}` is not calibrated ({why}): no gate goes by it"


class Preferences(NamedTuple):
    """Which of two versions a judge prefers."""

    scores: dict[str, float]
    """Scores by case: 1 for the later version, 0 for the earlier one, 0.5 for a tie, averaged over repetitions."""
    unanswered: int
    """Number of pairs without an answer from the judge, which are left out."""
    report: JudgeReport


def require_pairs(judge: str) -> None:
    """Raise a `SettingsError` for a judge that cannot compare pairs."""
    try:
        word = _word_of(prepare(judge))
    except ValueError as error:
        word, reason = "", str(error)
    else:
        reason = 'it judges one answer: of two versions it says which is `better`, "first" or "second"'
    if word != BETTER:
        raise unusable("judge", judge, reason)


async def preferences(
    judge: str, before: EvaluationResult, after: EvaluationResult, options: EvalOptions, answered_by: frozenset[str]
) -> Preferences:
    """Return which version's answers a judge prefers, using the model of `options`.

    Each pair is judged in both orders: if the order decides, it is a tie.  A version without an answer is not preferred.
    """
    prepared, gate = prepare(judge), asyncio.Semaphore(options.concurrency)
    ask = asking(options)(prepared, None)

    async def look(old: CaseResult, new: CaseResult) -> float | None:
        if old.error is not None or new.error is not None:
            return (1 + (old.error is not None) - (new.error is not None)) / 2
        async with gate:
            try:
                return (await _votes(ask, prepared, (new.input, old.value, new.value)))[0]
            except UnansweredError:
                return None

    later = after.by_case()
    pairs = [pair for case, results in before.by_case().items() for pair in zip(results, later.get(case, ()), strict=False)]
    said = await asyncio.gather(*(look(*pair) for pair in pairs))
    scores: dict[str, list[float]] = {}
    for (old, _), score in zip(pairs, said, strict=True):
        if score is not None:
            scores.setdefault(old.case, []).append(score)
    agreed, used = await _calibrated(judge, replace(options, repeats=1, checks={}))
    report = JudgeReport(Path(judge).name, judge, used, agreed, used in answered_by)
    return Preferences({case: fmean(item) for case, item in scores.items()}, said.count(None), report)


async def _calibrated(file: str, options: EvalOptions) -> tuple[Agreement, str]:
    from instrc.testing.evaluation.statistics import agreement  # the extra `eval`, which is not needed for judging alone

    there = files_at(file, ENDINGS)
    prepared = prepare(file)
    if not there:
        return agreement([], []), ProgramRunner(prepared, options).model
    report = Report()
    labels = read_data_set(str(there[0]), report)
    report.stop_if_failed()
    assert labels is not None
    word = _word_of(prepared)
    cases = [
        msgspec.structs.replace(case, input=_asked(prepared, case.input) if isinstance(case.input, dict) else case.input)
        for case in labels.cases
        if word in mapping(case.expected)
    ]
    asked = await evaluated(prepared, msgspec.structs.replace(labels, cases=tuple(cases)), options)
    good = True if word == PASS else "first"
    said = [
        (mapping(result.value)[word], as_object(result.expected)[word])
        for result in asked.results
        if word in mapping(result.value)
    ]
    pairs = [(judged == label, label == good) for judged, label in said if not judged == label == "tie"]
    return agreement([label == same for same, label in pairs], [label for _, label in pairs]), asked.model


async def calibrations(data: DataSet, options: EvalOptions, answered_by: frozenset[str]) -> list[JudgeReport]:
    """Return the agreement of people with each judge of a data set, for answers of some models.

    The labels are the data set of the judge itself, `NAME.eval.jsonl` next to it: `input` is the judge's input, `expected`
    the verdict of people.
    """
    result = []
    for name, said in data.checks.items():
        if isinstance(said, dict) and said.get("check") == "judge":
            file, words = _file_of(said, data.folder), said.get("model")
            chosen = words if isinstance(words, str) else options.model
            agreed, used = await _calibrated(str(file), replace(options, model=chosen, repeats=1, checks={}))
            result.append(JudgeReport(name, str(said["judge"]), used, agreed, used in answered_by))
    return result


async def calibrated_gates(found: EvaluationResult, data: DataSet, options: EvalOptions) -> tuple[list[Gate], list[JudgeReport]]:
    """Return the gates of an evaluation, taking agreement with people into account, and the judges of its data set."""
    from instrc.testing.evaluation.report import gates_of  # imports the statistics

    judges = await calibrations(data, options, frozenset({found.model}))
    left = frozenset(judge.check for judge in judges if not judge.counts)
    return gates_of(without_checks(found, left) if left else found, data.minimum), judges


def judges_table(found: Sequence[JudgeReport]) -> ReportTable:
    """Return the table of the judges."""
    from instrc.testing.evaluation.report import ReportTable  # imports the statistics

    header = "check", "judge", "model", "labels", "agree", "kappa", "95 % interval", "verdict"
    rows = []
    for item in found:
        low, high = item.agreed.interval
        figures = f"{item.agreed.agreed}/{item.agreed.labels}", f"{item.agreed.kappa:.2f}", f"{low:.2f} to {high:.2f}"
        verdict = "calibrated" if item.counts else "not calibrated"
        rows.append((item.check, item.judge, item.model, str(item.agreed.labels), *figures, verdict))
    return ReportTable("Judges", header, rows)


def without_checks(found: EvaluationResult, names: frozenset[str]) -> EvaluationResult:
    """Return an evaluation without some of its checks, and without results that have no others, so that no gate uses them."""
    results = tuple(
        msgspec.structs.replace(result, checks=tuple(check for check in result.checks if check.name not in names))
        for result in found.results
        if not result.checks or {check.name for check in result.checks} - names
    )
    return msgspec.structs.replace(found, results=results)
