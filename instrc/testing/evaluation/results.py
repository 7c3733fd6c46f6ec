"""The results of an evaluation: a score for each case, repetition and check, with the usage."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Final

import msgspec
from msgspec import Struct

from instrc.text.jsonvalue import Json, JsonObject, as_object
from instrc.text.notebook import block, table

RESULT_FORMAT: Final = 1
"""Version of the JSON format of an evaluation."""


class CheckResult(Struct, frozen=True, kw_only=True):
    """The result of a check for one run of a case."""

    name: str
    score: float
    """Score from 0 to 1; 0 for an incomplete run."""
    passed: bool
    reason: str = ""
    """Why it did not pass."""


class StepUse(Struct, frozen=True, kw_only=True):
    """The usage of a model's answers for one step, or for the steps of one chunk, in one run of a case."""

    step: str
    requests: int = 0
    rejected: int = 0
    """Number of rejected first answers, after which the model was asked again."""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    """Cost in US dollars; `None` if unknown."""


class RunFacts(Struct, frozen=True, kw_only=True):
    """The result of one run of a program, before the checks."""

    value: Json = None
    """Result of the last step."""
    steps: JsonObject = {}
    """Result of each step, by key."""
    metrics: JsonObject = {}
    """Metrics that models noted under `$` names, by command and path."""
    error: str | None = None
    """Why the run did not complete."""
    unanswered: bool = False
    """Whether a provider gave no answer, or the budget was used up."""
    uses: tuple[StepUse, ...] = ()
    seconds: float = 0.0
    trace: str = ""
    kept: bool = False


class CaseResult(Struct, frozen=True, kw_only=True):
    """A run of a case: its outcome, and the result of each check."""

    case: str
    """Id of the case, unique in its data set."""
    repeat: int = 1
    """Number of the repetition, from 1."""
    checks: tuple[CheckResult, ...] = ()
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    input: Json = None
    expected: Json = None
    value: Json = None
    """Result of the last step; `None` if the run did not complete."""
    error: str | None = None
    """Why the run did not complete: it counts as failed in every check."""
    unanswered: bool = False
    """Whether a provider gave no answer, or the budget was used up, so that another attempt may succeed."""
    steps: tuple[StepUse, ...] = ()
    seconds: float = 0.0
    trace: str = ""
    """Id of the run, by which its trace is found."""
    kept: bool = False
    """Whether the result of an earlier evaluation with the same program, model and case was reused."""

    @property
    def passed(self) -> bool:
        """Whether the run completed and every check passed."""
        return self.error is None and all(check.passed for check in self.checks)

    @property
    def requests(self) -> int:
        """The number of requests to models."""
        return sum(step.requests for step in self.steps)

    @property
    def tokens(self) -> int:
        """The tokens read and written by models."""
        return sum(step.input_tokens + step.output_tokens for step in self.steps)

    @property
    def cost(self) -> float | None:
        """Known cost in US dollars; `None` without a known price."""
        return total_cost(self.steps)

    def score(self, check: str | None = None) -> float | None:
        """Return the score of a check, or without one, 1 if all passed and 0 otherwise; `None` if the check does not apply."""
        if check is None:
            return float(self.passed)
        return next((item.score for item in self.checks if item.name == check), None)

    def pass_of(self, check: str | None = None) -> bool | None:
        """Return whether a check, or all, passed, or `None` if the check does not apply."""
        if check is None:
            return self.passed
        return next((item.passed for item in self.checks if item.name == check), None)


class EvaluationResult(Struct, frozen=True, kw_only=True):
    """All runs of a data set with one version of a program and one model."""

    program: str
    results: tuple[CaseResult, ...]
    """Results by case in data set order, then by repetition."""
    model: str = ""
    version: str = ""
    """Label of this version: a revision, a file, a change."""
    cases: int = 0
    """Number of cases in the data set, including those not run."""
    repeats: int = 1
    seconds: float = 0.0
    stopped: str | None = None
    """Why some cases were not run."""
    invented: tuple[str, ...] = ()
    """What was generated from schemas: `answers` of models, `results` of activities."""
    format: int = RESULT_FORMAT

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of all checks, in order of first occurrence."""
        return tuple(dict.fromkeys(check.name for result in self.results for check in result.checks))

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags, in order of first occurrence."""
        return tuple(dict.fromkeys(tag for result in self.results for tag in result.tags))

    def by_case(self, tag: str | None = None) -> dict[str, list[CaseResult]]:
        """Return the results of each case, optionally with a tag, by id."""
        matches: dict[str, list[CaseResult]] = {}
        for result in self.results:
            if tag is None or tag in result.tags:
                matches.setdefault(result.case, []).append(result)
        return matches

    def scores(self, check: str | None = None, tag: str | None = None) -> dict[str, float]:
        """Return the score of each case by id, averaged over repetitions; without a `check`, the share that passed."""
        return self._means(lambda result: result.score(check), tag)

    def passes(self, check: str | None = None, tag: str | None = None) -> dict[str, float]:
        """Return the share of each case's repetitions that passed a check, or all of them, by id."""
        return self._means(lambda result: result.pass_of(check), tag)

    def _means(self, value_of: Callable[[CaseResult], float | None], tag: str | None) -> dict[str, float]:
        """Return the mean of a figure over the repetitions of each case that has it, by id."""
        values = {case: [value_of(result) for result in results] for case, results in self.by_case(tag).items()}
        known = {case: [value for value in each if value is not None] for case, each in values.items()}
        return {case: fmean(each) for case, each in known.items() if each}

    def __repr__(self) -> str:
        """Return the rates on one line, as there may be a hundred thousand cases."""
        rates = "".join(f", {check} {fmean(self.passes(check).values()):.1%}" for check in self.checks)
        lost = [result.error for result in self.results if result.unanswered]
        why = f"; no answer in {len(lost)} of {len(self.results)} runs: {lost[0]}" if lost else ""
        return f"<evaluation of {self.program}: {self.cases} cases{rates}{why}>"

    def rows(self) -> list[JsonObject]:
        """Return one flat row per check and run, for `pandas.DataFrame`."""
        return [
            {
                "program": self.program,
                "version": self.version,
                "model": self.model,
                "case": result.case,
                "repeat": result.repeat,
                "tags": ",".join(result.tags),
                "weight": result.weight,
                "check": check.name,
                "score": check.score,
                "passed": check.passed,
                "reason": check.reason,
                "error": result.error,
                "requests": result.requests,
                "rejected": sum(step.rejected for step in result.steps),
                "input_tokens": sum(step.input_tokens for step in result.steps),
                "output_tokens": sum(step.output_tokens for step in result.steps),
                "cost": result.cost,
                "seconds": result.seconds,
                "kept": result.kept,
                "trace": result.trace,
            }
            for result in self.results
            for check in result.checks
        ]

    def to_json(self) -> JsonObject:
        """Return all of it as plain JSON."""
        result: Json = msgspec.to_builtins(self)
        return as_object(result)

    @classmethod
    def from_json(cls, value: Json) -> EvaluationResult:
        """Return the evaluation written by `to_json`; raise `ValueError` for any other value."""
        result = msgspec.convert(value, cls)  # a `msgspec.ValidationError` is a `ValueError`
        if result.format != RESULT_FORMAT:
            raise ValueError(f"its format is {result.format}, and this release reads {RESULT_FORMAT}")
        return result

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return the rates and the cases that failed, for a notebook."""
        rates = [(name, f"{fmean(self.passes(name).values()):.1%}") for name in self.checks]
        failed = [result for result in self.results if result.pass_of(None) is False]
        reasons = [(result.case, "; ".join(check.reason for check in result.checks if not check.passed)) for result in failed]
        return block(repr(self)[1:-1], table(["check", "passed"], rates), table(["case", "why it failed"], reasons))


def total_cost(steps: Iterable[StepUse]) -> float | None:
    """Return the known cost of steps, or `None` if none is known."""
    costs = [step.cost for step in steps if step.cost is not None]
    return sum(costs) if costs else None
