"""An evaluation, or two versions side by side, as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Final, TypeAlias

from instrc.problems.errors import SettingsError
from instrc.problems.settings import MissingExtra
from instrc.runtime.traces import read_trace, steps_of
from instrc.testing.evaluation import report
from instrc.testing.evaluation.report import ReportTable
from instrc.testing.evaluation.results import CaseResult, EvaluationResult
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json
from instrc.text.page_style import page_style
from instrc.text.visible import shortened, visible_lines

try:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError:  # the page is only one of the forms of a report
    raise SettingsError([MissingExtra(feature="the page of `instrc eval`", extra="eval", package="jinja2")]) from None

TRACES: Final = 200
"""Maximum failed runs whose traces are shown."""
_LONGEST: Final = 20_000
"""Maximum characters of a part of a trace."""
_EXCERPT: Final = 160
"""Maximum characters of a value in the table."""
_SHOWN: Final = {
    "asked": {"sent": "Asked"},
    "answered": {"answer": "Answered", "complaints": "Not accepted, because"},
    "called": {"input": "Called with"},
    "returned": {"output": "Returned"},
    "failed": {"error": "Failed"},
}
"""The members of an event that are shown, with their headings."""


def page_of(found: Sequence[tuple[Sequence[EvaluationResult], Sequence[str], Sequence[ReportTable]]], folder: Path) -> str:
    """Return the page: for each program its conclusion, its tables, and its cases, with two versions side by side.

    `found` has the versions of each program, earlier one first, the lines of its conclusion, and its tables; a folder has the
    traces of runs.  The script of the page sorts and filters its cases; without scripts all are shown.
    """
    runs = (result for versions, _, _ in found for each in versions for result in each.results)
    failed = islice((result.trace for result in runs if result.trace and not result.passed), TRACES)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.finalize = lambda value: value if isinstance(value, Markup) else visible_lines(str(value))
    environment.filters["json"] = dumps
    here = Path(__file__)
    return environment.from_string(here.with_suffix(".html").read_text("utf-8")).render(
        found=found,
        traces={run: read_trace(folder, run) for run in failed},
        style=page_style(here.with_suffix(".css")),
        script=here.with_suffix(".js").read_text("utf-8"),
        report=report,
        cases=_cases,
        excerpt=_excerpt,
        steps_of=steps_of,
        shown=_SHOWN,
        longest=_LONGEST,
    )


_Shared: TypeAlias = tuple[list[CaseResult], float]
"""The runs of a case by one version, with the share of passed ones."""


def _cases(versions: Sequence[EvaluationResult]) -> Iterator[tuple[CaseResult, list[_Shared]]]:
    """Yield a run of each case, and all its runs by each version."""
    by_case = [item.by_case() for item in versions]
    for case in dict.fromkeys(case for results in by_case for case in results):
        all_runs = [results.get(case, []) for results in by_case]
        shares = [fmean(result.passed for result in runs) if runs else 0.0 for runs in all_runs]
        yield next(filter(None, all_runs))[0], list(zip(all_runs, shares, strict=True))


def _excerpt(value: Json) -> str:
    return shortened(value if isinstance(value, str) else dumps(value, indent=False), _EXCERPT)
