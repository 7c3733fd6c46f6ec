"""Compare two versions on the same cases, or a program without each of its parts: differences with evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct, structs

from instrc.testing.evaluation.dataset import DataSet
from instrc.testing.evaluation.report import ALL, NOT_RUN, TOO_FEW, ReportTable, money, percent, why
from instrc.testing.evaluation.results import CaseResult, EvaluationResult, total_cost
from instrc.testing.evaluation.runner import EvalOptions, evaluated, single_error
from instrc.testing.evaluation.statistics import LEVEL, PairedDifference, Verdict, compare, false_alarms, holm, verdict, visible
from instrc.testing.evaluation.variants import Part, Version
from instrc.text.jsonvalue import JsonObject
from instrc.text.notebook import block, table

SHOWN: Final = 20
"""Maximum improved and worsened cases in a report."""
_SHARES: Final = (0.1, 0.2, 0.4)
"""Assumed shares of cases in which two versions differ, as the real one is unknown before a run."""


class CheckDifference(Struct, frozen=True):
    """The difference in one check, or in all together, over all cases or those with a tag."""

    name: str
    paired: PairedDifference
    p: float
    """Probability corrected for the number of comparisons (Holm)."""
    tag: str | None = None

    @property
    def shown(self) -> bool:
        """Whether the cases show that the versions differ."""
        low, high = self.paired.interval
        return self.p <= LEVEL and not low <= 0 <= high


class VersionComparison(Struct, frozen=True):
    """Two versions of a program on the same cases."""

    before: EvaluationResult
    after: EvaluationResult
    overall: CheckDifference
    """Difference over all checks together."""
    checks: tuple[CheckDifference, ...]
    tags: tuple[CheckDifference, ...]
    same: bool = False
    """Whether both versions send identical requests, so that they were run once."""
    preferred: CheckDifference | None = None
    """How often a pairwise judge prefers each version; a tie counts half for both."""

    def moved(self) -> tuple[list[str], list[str]]:
        """Return the cases that pass more often, and those that pass less often."""
        old, new = self.before.passes(), self.after.passes()
        both = [case for case in old if case in new]
        return [case for case in both if new[case] > old[case]], [case for case in both if new[case] < old[case]]

    def __repr__(self) -> str:
        better, worse = self.moved()
        return f"<comparison of {self.after.program}: {len(better)} cases better, {len(worse)} worse>"

    def _repr_html_(self) -> str:
        """Return the tables of the command line, for a notebook."""
        tables = [block(item.title, table(item.header, item.rows)) for item in comparison_tables(self)]
        return block(" ".join(conclusion(self)), *tables)

    def verdict(self, drop: float) -> Verdict:
        """Return whether the later version is worse by more than a given drop."""
        return verdict(self.overall.paired, drop)

    def to_json(self, drop: float | None = None) -> JsonObject:
        """Return the figures as plain JSON."""
        better, worse = self.moved()
        result: JsonObject = msgspec.to_builtins(
            {
                "overall": _figures(self.overall),
                "checks": [_figures(item) for item in self.checks],
                "tags": [_figures(item) for item in self.tags],
                "better": better,
                "worse": worse,
                "same": self.same,
                "preferred": None if self.preferred is None else _figures(self.preferred),
                "verdict": None if drop is None else self.verdict(drop),
            }
        )
        return result


def _figures(each: CheckDifference) -> dict[str, object]:
    result: dict[str, object] = msgspec.to_builtins(each)
    return {**result, "difference": each.paired.difference, "shown": each.shown}


def compared(before: EvaluationResult, after: EvaluationResult, *, same: bool = False) -> VersionComparison:
    """Return the differences between two versions in their common cases; several checks are adjusted by Holm's rule.

    A single check is compared by score, all checks together by passing.  Figures of tags are informative only.
    """
    names = [name for name in before.checks if name in after.checks]
    result = {name: _paired(before.scores(name), after.scores(name), before) for name in names}
    adjusted = holm({name: item.p for name, item in result.items()})
    overall = _paired(before.passes(), after.passes(), before)
    tags = {tag: _paired(before.passes(tag=tag), after.passes(tag=tag), before) for tag in before.tags}
    return VersionComparison(
        before,
        after,
        CheckDifference(ALL, overall, overall.p),
        tuple(CheckDifference(name, item, adjusted[name]) for name, item in result.items()) if len(result) > 1 else (),
        tuple(CheckDifference(ALL, item, item.p, tag) for tag, item in tags.items() if item.cases > 1),
        same,
    )


def _paired(before: dict[str, float], after: dict[str, float], of: EvaluationResult) -> PairedDifference:
    weights = {result.case: result.weight for result in of.results}
    both = [case for case in before if case in after]
    return compare([before[case] for case in both], [after[case] for case in both], [weights[case] for case in both])


def with_preferences(found: VersionComparison, judge: str, scores: Mapping[str, float]) -> VersionComparison:
    """Return a comparison with the preferences of a judge for the later version: 1, 0.5 for a tie, or 0."""
    weights = {result.case: result.weight for result in found.before.results}
    paired = compare([1 - item for item in scores.values()], [*scores.values()], [weights[case] for case in scores])
    return msgspec.structs.replace(found, preferred=CheckDifference(f"preferred by {judge}", paired, paired.p))


async def compared_versions(before: Version, after: Version, data: DataSet, options: EvalOptions) -> VersionComparison:
    """Run two versions of a program on the same cases, and return the differences."""
    old, new = await evaluated_versions([before, after], data, options)
    return compared(old, new, same=before.is_like(after))


async def evaluated_versions(versions: Sequence[Version], data: DataSet, options: EvalOptions) -> list[EvaluationResult]:
    """Return the evaluation of each version: concurrently, within one budget, and with equal requests sent only once."""
    firsts = [next(place for place, other in enumerate(versions) if other.is_like(item)) for item in versions]
    own = sorted(set(firsts))
    together = max(min(len(own), options.concurrency), 1)
    gate = asyncio.Semaphore(together)

    async def run(version: Version) -> EvaluationResult:
        changed = structs.replace(
            options,
            model=version.model or options.model,
            settings={**options.settings, **(version.settings or {})},
            concurrency=max(options.concurrency // together, 1),
            version=version.name,
        )
        async with gate:
            return await evaluated(version.prepared, data, changed, options)

    with single_error():
        async with asyncio.TaskGroup() as group:
            tasks = {place: group.create_task(run(versions[place])) for place in own}
    found = [tasks[first].result() for first in firsts]
    return [msgspec.structs.replace(item, version=version.name) for item, version in zip(found, versions, strict=True)]


def foresight(cases: int, runs: int, drop: float | None = None) -> Iterator[str]:
    """Describe in advance the differences that a number of cases can show, and the error rate of a gate."""
    seen = [(share, visible(cases, share)) for share in _SHARES]
    can = [f"{_points(least)} points if they differ in {share:.0%} of the cases" for share, least in seen if least is not None]
    yield f"{cases} cases, {runs} runs. " + (
        f"The smallest detectable difference (in 4 of 5 attempts): {', '.join(can)}."
        if can
        else "They are too few to show a difference, unless the versions differ in more than 40 % of them."
    )
    if drop is not None:
        rates = ", ".join(f"{false_alarms(cases, share, drop):.2%} ({share:.0%} differ)" for share in _SHARES)
        yield (
            f"The gate fails if the whole interval lies below {-100 * drop:g} %. False alarms of a harmless change: {rates};"
            f" of one that costs {100 * drop:g} %: at most 2.5 %."
        )


def _points(share: float) -> str:
    return f"{100 * share:.0f}"


def conclusion(found: VersionComparison) -> Iterator[str]:
    """Describe the result of the comparison in sentences."""
    paired = found.overall.paired
    if found.same:
        yield "Both versions ask the model the very same: there is nothing to compare, and nothing was asked twice."
        return
    low, high = paired.interval
    between = f"95 % interval {_signed(low)} to {_signed(high)} points, p = {found.overall.p:.3g}"
    if found.overall.shown:
        word = "better" if paired.difference > 0 else "worse"
        yield f"The later version is {word} by {_signed(abs(paired.difference)).lstrip('+')} points ({between})."
    elif not paired.cases:
        yield "No case was run with both versions."
    else:
        yield f"No difference shown: {_signed(paired.difference)} points ({between})."
        least = visible(paired.cases, paired.disagreement) if paired.disagreement else None
        if least is not None:
            yield f"{paired.cases} cases of which {paired.disagreement:.0%} differ show {_points(least)} points or more."
        elif paired.disagreement:
            yield f"{paired.cases} cases of which {paired.disagreement:.0%} differ are too few to show anything."
    if found.preferred is not None:
        judged, (low, high) = found.preferred.paired, found.preferred.paired.interval
        ties = judged.cases - judged.better - judged.worse
        word = "" if found.preferred.shown else ", no preference shown"
        yield (
            f"The judge prefers the later version in {judged.better} cases, the earlier one in {judged.worse}, neither in {ties}"
            f" (95 % interval of the difference {_signed(low)} to {_signed(high)} points, p = {found.preferred.p:.3g}{word})."
        )
    if (missing := len(found.before.by_case()) + len(found.after.by_case()) - 2 * paired.cases) > 0:
        yield f"{missing} cases were run with one version only, and are left out."
    if unanswered := sum(result.unanswered for item in (found.before, found.after) for result in item.results):
        yield f"The model gave no answer in {unanswered} runs: they count as failed, so the difference may be that of an outage."


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}"


def gate_of(found: VersionComparison, drop: float) -> tuple[int, str]:
    """Return the exit code of the gate, and whether it is met."""
    verdict = found.verdict(drop)
    if verdict == "worse":
        return 1, f"Gate: failed. The whole interval lies below {-100 * drop:g} %."
    if any(result.unanswered for item in (found.before, found.after) for result in item.results):
        return NOT_RUN, "Gate: not decided, as the model gave no answer in some runs."
    if not found.overall.paired.cases:
        return TOO_FEW, "Gate: not decided, as there is no case by which it may go."
    if verdict == "no worse":
        return 0, f"Gate: kept. The whole interval lies above {-100 * drop:g} %."
    return 0, f"Gate: kept, but these cases do not show that the drop is smaller than {100 * drop:g} %."


def comparison_tables(found: VersionComparison) -> Iterator[ReportTable]:
    """Yield the tables of a comparison, or none if there is nothing to compare."""
    if found.same:
        return
    header = "check", "cases", "before", "after", "difference", "95 % interval", "p", "better", "worse", "shown"
    rows = [found.overall, *found.checks, *([] if found.preferred is None else [found.preferred])]
    yield ReportTable("Difference", header, [_row(item.name, item) for item in rows])
    if found.tags:
        yield ReportTable("Tags", ("tag", *header[1:-2]), [_row(item.tag or "", item)[:-2] for item in found.tags])
    yield ReportTable("Use", ("version", "requests", "tokens in", "tokens out", "seconds a run", "cost"), _used(found))
    better, worse = found.moved()
    for title, cases in (("Got worse", worse), ("Got better", better)):
        if cases:
            yield ReportTable(title, ("case", "before", "after"), [_case(case, found) for case in cases[:SHOWN]])


def _row(name: str, each: CheckDifference) -> tuple[str, ...]:
    paired = each.paired
    low, high = paired.interval
    rates = percent(paired.before), percent(paired.after), _signed(paired.difference), f"{_signed(low)} to {_signed(high)}"
    return name, str(paired.cases), *rates, f"{each.p:.3g}", str(paired.better), str(paired.worse), "yes" if each.shown else "no"


def _used(found: VersionComparison) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for item, word in ((found.before, "before"), (found.after, "after")):
        uses = [use for result in item.results for use in result.steps]
        tokens = f"{sum(use.input_tokens for use in uses):,}", f"{sum(use.output_tokens for use in uses):,}"
        seconds = sum(result.seconds for result in item.results) / max(len(item.results), 1)
        name = f"{word}: {item.version}" if item.version else word
        rows.append((name, str(sum(use.requests for use in uses)), *tokens, f"{seconds:.2f}", money(total_cost(uses))))
    return rows


def _case(case: str, found: VersionComparison) -> tuple[str, str, str]:
    return case, _said(found.before.by_case()[case]), _said(found.after.by_case()[case])


def _said(results: Iterable[CaseResult]) -> str:
    runs = list(results)
    failed = [result for result in runs if not result.passed]
    if not failed:
        return "passed"
    return why(failed[0]) if len(failed) == len(runs) else f"{len(failed)} of {len(runs)} failed: {why(failed[0])}"


class Ablation(NamedTuple):
    """A program without one of its parts, or why it needs the part."""

    part: Part
    difference: CheckDifference | None
    """Difference from the whole program to the one without the part: a negative value shows that the part helps."""
    tokens: float = 0.0
    """Tokens that the part costs per run, input and output."""
    reason: str = ""

    @property
    def word(self) -> str:
        """Whether the part is worth its tokens."""
        if self.difference is None:
            return f"cannot be left out: {self.reason}"
        if not self.difference.shown:
            return "no difference shown"
        return "of use" if self.difference.paired.difference < 0 else "better without"


def ablations(
    whole: EvaluationResult, without: Sequence[tuple[Part, EvaluationResult]], impossible: Iterable[tuple[Part, str]] = ()
) -> list[Ablation]:
    """Return the contribution of each part of a program, adjusted by Holm's rule, most useful ones first."""
    names = [f"{number}" for number, _ in enumerate(without)]
    pairs = [_paired(whole.passes(), each.passes(), whole) for _, each in without]
    adjusted = holm({name: each.p for name, each in zip(names, pairs, strict=True)})
    result = [
        Ablation(part, CheckDifference(part.name, paired, adjusted[name]), _tokens(whole) - _tokens(each))
        for name, (part, each), paired in zip(names, without, pairs, strict=True)
    ]
    result.sort(key=lambda each: 0.0 if each.difference is None else each.difference.paired.difference)
    return [*result, *(Ablation(part, None, reason=reason) for part, reason in impossible)]


def _tokens(found: EvaluationResult) -> float:
    return sum(result.tokens for result in found.results) / max(len(found.results), 1)


_CHANGED: Final[Mapping[str, str]] = {
    "order": "order reversed",
    "values": "values reversed",
    "words": "words in place of today's",
    "calls": "requests for",
}


def ablation_table(found: Sequence[Ablation]) -> ReportTable:
    """Return the table of an ablation."""
    header = "left out or changed", "part", "pass rate without", "difference", "95 % interval", "p", "tokens a run", "verdict"
    rows: list[tuple[str, ...]] = []
    for item in found:
        kind = _CHANGED.get(item.part.kind, item.part.kind)
        if item.difference is None:
            rows.append((kind, item.part.name, "–", "–", "–", "–", "–", item.word))
        else:
            paired = item.difference.paired
            low, high = paired.interval
            figures = percent(paired.after), _signed(paired.difference), f"{_signed(low)} to {_signed(high)}"
            rows.append((kind, item.part.name, *figures, f"{item.difference.p:.3g}", f"{item.tokens:+.0f}", item.word))
    return ReportTable("Parts", header, rows)
