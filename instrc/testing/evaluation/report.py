"""Figures of an evaluation: rates with intervals, usage, the worst cases; as text, Markdown and JUnit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Final, Literal, NamedTuple, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import msgspec
from msgspec import Struct

from instrc.testing.evaluation.results import CaseResult, EvaluationResult, StepUse, total_cost
from instrc.testing.evaluation.statistics import Rate, rate
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.names import counted
from instrc.text.visible import shortened, visible, visible_lines

ALL: Final = "pass"
"""Name of all checks together: a case passes if every check does."""
WORST: Final = 10
"""Maximum cases that a report shows as the worst."""
WORST_CASES: Final = "Worst cases"
"""Title of the table of the worst cases."""
_LEAST_TAG: Final = 2
"""Minimum cases of a tag that gets its own row."""


class CheckSummary(Struct, frozen=True):
    """A check, or all checks, over all cases or those with a tag."""

    name: str
    passed: Rate
    score: float


class StepSummary(Struct, frozen=True):
    """The usage of one step over all runs, including reused ones."""

    step: str
    requests: int
    rejected: int
    """Number of runs whose first answer was rejected."""
    answers: int
    """Number of runs that reached the step."""
    input_tokens: int
    output_tokens: int
    p50: float
    """Median duration, in seconds."""
    p95: float
    cost: float | None


GateVerdict: TypeAlias = Literal["kept", "missed", "too few cases"]


class Gate(NamedTuple):
    """Whether a required rate is met, judged by its interval."""

    check: str
    demanded: float
    verdict: GateVerdict


def summaries(found: EvaluationResult, tag: str | None = None) -> list[CheckSummary]:
    """Return all checks together, followed without a `tag` by each one, or none without cases."""
    built = []
    weights = {result.case: result.weight for result in found.results}
    for name in (None, *(found.checks if tag is None else ())):
        passes, scores = found.passes(name, tag), found.scores(name, tag)
        if passes:
            item = [weights[case] for case in passes]
            score = sum(weights[case] * score for case, score in scores.items()) / sum(item)
            built.append(CheckSummary(name or ALL, rate(list(passes.values()), item), score))
    return built


def by_tag(found: EvaluationResult) -> dict[str, CheckSummary]:
    """Return the rate of all checks together for each tag of several cases."""
    result = {tag: summaries(found, tag)[0] for tag in found.tags}
    return {tag: item for tag, item in result.items() if item.passed.cases >= _LEAST_TAG}


def steps_of_runs(found: EvaluationResult) -> list[StepSummary]:
    """Return the usage of each step."""
    uses: dict[str, list[StepUse]] = {}
    for result in found.results:
        for use in result.steps:
            uses.setdefault(use.step, []).append(use)
    return [
        StepSummary(
            step,
            sum(use.requests for use in item),
            sum(use.rejected > 0 for use in item),
            len(item),
            sum(use.input_tokens for use in item),
            sum(use.output_tokens for use in item),
            quantile([use.seconds for use in item], 0.5),
            quantile([use.seconds for use in item], 0.95),
            total_cost(item),
        )
        for step, item in uses.items()
    ]


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that a share of the values does not exceed, or 0 without values."""
    ordered = sorted(values)
    return ordered[max(ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0


def worst(found: EvaluationResult, most: int = WORST) -> list[CaseResult]:
    """Return one failed run of each of the worst cases: those that fail most often, then those with the lowest scores."""
    order = found.passes()
    failed = {
        case: next(item for item in results if not item.passed) for case, results in found.by_case().items() if order[case] < 1
    }

    scores = {case: sum(check.score for check in each.checks) / max(len(each.checks), 1) for case, each in failed.items()}
    return sorted(failed.values(), key=lambda each: (order[each.case], scores[each.case]))[:most]


def gates_of(found: EvaluationResult, minimum: Mapping[str, float]) -> list[Gate]:
    """Return whether each required rate is met, with its whole interval above, or missed, with its whole interval below."""
    result = []
    known = {item.name: item.passed for item in reversed(summaries(found))}  # `pass` is that of all
    for name, demanded in minimum.items():
        item = known.get(name)
        kept = item is not None and item.interval.low >= demanded
        missed = item is not None and item.interval.high < demanded
        result.append(Gate(name, demanded, "kept" if kept else "missed" if missed else "too few cases"))
    return result


class ReportTable(NamedTuple):
    """A table of a report."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def heading(found: EvaluationResult) -> str:
    """Return a one-line description of the evaluation."""
    runs = f", {found.repeats} runs each" if found.repeats > 1 else ""
    version = f" ({found.version})" if found.version else ""
    return f"{found.program}{version} with {found.model or 'no model'}: {found.cases} case{'s' * (found.cases != 1)}{runs}"


_INVENTED = {"answers": "the answers of the model", "results": "the results of activities"}


def remarks(found: EvaluationResult) -> Iterator[str]:
    """Yield the remarks for readers of the figures."""
    runs = len(found.results)
    if found.stopped is not None:
        yield f"Not all was run, {runs} of {found.cases * found.repeats}: {found.stopped}."
    if found.invented:
        yield f"Made from schemas, not real: {' and '.join(_INVENTED.get(item, item) for item in found.invented)}."
    if unanswered := sum(result.unanswered for result in found.results):
        yield f"The model gave no answer in {unanswered} of {runs} runs: they count as failed."
    if kept := sum(result.kept for result in found.results):
        yield f"{kept} of {runs} runs are kept from before: nothing was asked for them again."


def tables_of(found: EvaluationResult, gate: Sequence[Gate] = ()) -> Iterator[ReportTable]:
    """Yield the tables of an evaluation."""
    head = "passed", "rate", "95 % interval", "mean score"
    yield ReportTable("Checks", ("check", *head), [(item.name, *_rated(item)) for item in summaries(found)])
    if tags := by_tag(found):
        yield ReportTable("Tags", ("tag", *head), [(tag, *_rated(item)) for tag, item in tags.items()])
    if gate:
        yield ReportTable(
            "Gate", ("check", "at least", "verdict"), [(item.check, percent(item.demanded), item.verdict) for item in gate]
        )
    if used := steps_of_runs(found):
        header = "step", "requests", "first answers rejected", "tokens in", "tokens out", "p50", "p95", "cost"
        yield ReportTable("Steps", header, [_used(item) for item in used])
    if bad := worst(found):
        yield ReportTable(WORST_CASES, ("case", "why", "trace"), [(item.case, why(item), item.trace) for item in bad])


def _rated(each: CheckSummary) -> tuple[str, ...]:
    passed = each.passed
    count = f"{passed.value * passed.cases:.4g}/{passed.cases}"
    interval = f"{100 * passed.interval.low:.0f}–{100 * passed.interval.high:.0f} %"
    return count, percent(passed.value), interval, f"{each.score:.3f}"


def _used(each: StepSummary) -> tuple[str, ...]:
    rejected = f"{each.rejected} of {each.answers}"
    tokens = f"{each.input_tokens:,}", f"{each.output_tokens:,}"
    return each.step, str(each.requests), rejected, *tokens, f"{each.p50:.2f} s", f"{each.p95:.2f} s", money(each.cost)


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.4g} %" if share in {0, 1} else f"{100 * share:.1f} %"


def money(cost: float | None) -> str:
    """Return a sum in US dollars, or a dash if unknown."""
    return "–" if cost is None else f"${cost:,.4f}"


def why(result: CaseResult) -> str:
    """Return why a run did not pass."""
    if result.error is not None:
        return result.error
    return "; ".join(f"{check.name}: {check.reason or 'not passed'}" for check in result.checks if not check.passed)


def as_text(found: EvaluationResult, conclusion: Sequence[str], tables: Iterable[ReportTable]) -> str:
    """Return a report for a terminal, which begins with a conclusion."""
    parts = [*conclusion, *([""] if conclusion else []), heading(found)]
    parts += [*(f"  {remark}" for remark in remarks(found)), f"  {totals(found)}"]
    for table in tables:
        parts += ["", *_aligned(table)]
    return visible_lines("\n".join(parts) + "\n")


_CELL: Final = 100
"""Maximum characters of a cell on a terminal."""


def _aligned(table: ReportTable) -> Iterator[str]:
    rows = [[cell.replace("\n", " ") for cell in row] for row in (table.header, *table.rows)]
    rows = [[shortened(cell, _CELL) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield table.title
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def totals(found: EvaluationResult) -> str:
    """Summarize requests, tokens, cost and time."""
    uses = [use for result in found.results if not result.kept for use in result.steps]
    tokens = sum(use.input_tokens + use.output_tokens for use in uses)
    cost = total_cost(uses)
    price = "" if cost is None else f", {money(cost)}"
    return f"{counted(sum(use.requests for use in uses), 'request')}, {tokens:,} tokens{price}, {found.seconds:.1f} s"


def as_markdown(found: EvaluationResult, conclusion: Sequence[str], tables: Iterable[ReportTable]) -> str:
    """Return a report for a pull request, with a conclusion."""
    said = [*(f"**{_plain(line)}**" for line in conclusion), *map(_plain, remarks(found))]
    parts = [f"### {_plain(heading(found))}", "", *(f"{line}\n" for line in said), totals(found)]
    for table in tables:
        folded = table.title in {"Steps", WORST_CASES}
        parts += ["", f"<details><summary>{table.title}</summary>" if folded else f"**{table.title}**", ""]
        lines = [table.header, tuple("---" for _ in table.header), *table.rows]
        parts += ["| " + " | ".join(map(_plain, row)) + " |" for row in lines]
        parts += ["", "</details>"] if folded else []
    return "\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Return a text escaped for Markdown, as model answers may contain anything."""
    text = escape(visible(" ".join(text.split())))[:400]
    return "".join(f"\\{letter}" if letter in "\\`*_[]|#~" else "&#64;" if letter == "@" else letter for letter in text)


def as_junit(found: Iterable[EvaluationResult]) -> str:
    """Return the runs as test cases in JUnit format, which CI systems read."""
    suites = "".join(map(_suite, found))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="instrc eval">\n{suites}</testsuites>\n'


def _suite(found: EvaluationResult) -> str:
    failed = sum(result.error is None and not result.passed for result in found.results)
    errors = sum(result.error is not None for result in found.results)
    name = quoteattr(_writable(f"{found.program} {found.version}".strip()))
    counts = f'tests="{len(found.results)}" failures="{failed}" errors="{errors}" time="{found.seconds:.3f}"'
    return f"<testsuite name={name} {counts}>\n{''.join(_testcase(found, result) for result in found.results)}</testsuite>\n"


def _writable(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return "".join(
        letter
        if letter in "\t\n" or (letter >= " " and not "\ud800" <= letter <= "\udfff" and letter not in "\ufffe\uffff")
        else "�"
        for letter in text
    )


def _testcase(found: EvaluationResult, result: CaseResult) -> str:
    run = f" #{result.repeat}" if found.repeats > 1 else ""
    said, name, about = (quoteattr(_writable(text)) for text in (why(result), f"{result.case}{run}", found.program))
    wrong = "" if result.passed else f"<{'failure' if result.error is None else 'error'} message={said}/>"
    output = f"<system-out>{escape(_writable(dumps(result.value)))}</system-out>" if wrong else ""
    return f'<testcase classname={about} name={name} time="{result.seconds:.3f}">{wrong}{output}</testcase>\n'


def as_json(found: Iterable[EvaluationResult], gates: Iterable[Sequence[Gate]]) -> JsonObject:
    """Return the evaluations with their figures; `EvaluationResult.from_json` reads them."""
    pairs = zip(found, gates, strict=True)
    return {"evaluations": [{**item.to_json(), "summary": _summary(item, gate)} for item, gate in pairs]}


def _summary(found: EvaluationResult, gate: Sequence[Gate]) -> Json:
    result: Json = msgspec.to_builtins(
        {
            "checks": summaries(found),
            "tags": by_tag(found),
            "steps": steps_of_runs(found),
            "gate": [item._asdict() for item in gate],
        }
    )
    return result


TOO_FEW, NOT_RUN = 3, 4
"""Exit codes: too few cases for a verdict; no answer from the provider, or the budget is used up."""


def exit_code(found: Sequence[EvaluationResult], gate: Sequence[Gate]) -> int:
    """Return 0 if everything ran and the gate is met, 1 if it is missed, 3 if there are too few cases for a verdict.

    Return 4 if some cases did not run, or if the gate is not met and a provider gave no answer to some.
    """
    if any(item.stopped is not None for item in found):
        return NOT_RUN
    verdicts = {item.verdict for item in gate}
    if verdicts <= {"kept"}:
        return 0
    if any(result.unanswered for item in found for result in item.results):
        return NOT_RUN
    return 1 if "missed" in verdicts else TOO_FEW
