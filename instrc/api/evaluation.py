"""The public functions that evaluate a program on cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias, cast

from msgspec.structs import asdict, replace

from instrc.api.preparation import Handlers, ProgramLike, blocking, prepared_program, require_types
from instrc.api.programs import AnyPath, project_of
from instrc.compiler.resolve import InMemory
from instrc.problems.report import Report
from instrc.runtime.activities import Activities
from instrc.runtime.models.model import Model
from instrc.taskbench.score import plan_check
from instrc.testing.evaluation.checks import KINDS, CheckFunction, CheckKind
from instrc.testing.evaluation.compared_evaluation import ComparedEvaluation
from instrc.testing.evaluation.dataset import DataSet, cases_of, data_set_of, read_data_set
from instrc.testing.evaluation.judge import JUDGE
from instrc.testing.evaluation.results import CaseResult
from instrc.testing.evaluation.runner import Budget, EvalOptions, evaluated
from instrc.testing.evaluation.variants import Version, other_version
from instrc.text import arguments
from instrc.text.arguments import source_or_path, takes_plain_values_async
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.source import Source
from instrc.tools.python_values import JsonLike, json_of


@takes_plain_values_async
async def evaluate_async(
    program: ProgramLike,
    cases: AnyPath | Iterable[object],
    *,
    against: AnyPath | Source | dict[str, Json] | None = None,
    model: Model | str | None = None,
    checks: Mapping[str, CheckFunction | JsonLike] | None = None,
    repeat: int | None = None,
    activities: Handlers = (),
    settings: Mapping[str, object] | None = None,
    concurrency: int = 4,
    requests: int | None = None,
    tokens: int | None = None,
    cost: float | None = None,
    export: str | None = None,
    store: AnyPath | None = None,
    fresh: bool = False,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    progress: Callable[[CaseResult], object] | None = None,
) -> ComparedEvaluation:
    """Evaluate a program as `evaluate` does, in asynchronous code.

        async def share() -> float:
            found = await instrc.evaluate_async("triage.aug", "triage.eval.jsonl", model="openai:gpt-5")
            return statistics.fmean(found.scores().values())

    The arguments are those of `evaluate`.
    """
    require_types(model, export, None, requests, tokens)
    options = EvalOptions(
        model=model,
        repeats=repeat,
        concurrency=concurrency,
        settings={} if settings is None else settings,
        activities=activities if isinstance(activities, Activities) else Activities(activities),
        budget=Budget(requests, tokens, cost),
        folder=None if store is None else Path(arguments.path("store", store)),
        fresh=fresh,
        progress=progress,
    )
    return await evaluation_of(program, cases, against, checks, options, (export, roots, shared, vibes))


CompiledFrom: TypeAlias = tuple[str | None, Iterable[AnyPath], Iterable[AnyPath], InMemory | None]
"""The export of a program, its folders of vibes, those shared, and its vibes in memory."""


async def evaluation_of(
    program: ProgramLike,
    cases: AnyPath | Iterable[object],
    against: AnyPath | Source | dict[str, Json] | None,
    checks: Mapping[str, CheckFunction | JsonLike] | None,
    options: EvalOptions,
    compiled: CompiledFrom,
) -> ComparedEvaluation:
    """Evaluate a program with options from a caller, which are checked here."""
    arguments.whole_or_none("repeat", options.repeats)
    arguments.positive_number("concurrency", options.concurrency)
    arguments.instance("cost", options.budget.cost, (int, float, type(None)), "a number")
    arguments.truth("fresh", options.fresh)
    prepared = prepared_program(program, *compiled, options.model)
    given = dict(arguments.mapping("checks", {} if checks is None else checks))
    functions = {name: check for name, check in given.items() if callable(check)}
    written = cast("JsonObject", json_of({name: check for name, check in given.items() if name not in functions}))
    data = _data_set(cases, written)
    options = replace(options, checks=functions, kinds=evaluation_checks())
    if against is None:
        return ComparedEvaluation(**asdict(await evaluated(prepared, data, options)))
    from instrc.testing.evaluation.comparison import compared_versions  # imports the statistics

    if isinstance(against, dict | Source):
        before = Version("before", prepared_program(against, *compiled, options.model))
    else:
        export, roots, shared, vibes = compiled
        other = arguments.path("against", against)
        project = project_of(roots, shared, vibes, Report())
        before = other_version(_path_of(program), other, export=export, project=project, model=options.asks)
    comparison = await compared_versions(before, Version("now", prepared), data, options)
    return ComparedEvaluation(**asdict(comparison.after), comparison=comparison)


def _path_of(program: ProgramLike) -> str:
    named = "" if isinstance(program, dict) else source_or_path(program)
    return named if isinstance(named, str) else named.name


def _data_set(cases: AnyPath | Iterable[object], checks: JsonObject) -> DataSet:
    report = Report()
    data: DataSet | None
    if isinstance(cases, str | os.PathLike):
        data = read_data_set(arguments.path("cases", cases), report)
    else:
        data = data_set_of(cases_of(arguments.several("cases", cases)), Path(), report)
    report.stop_if_failed()
    assert data is not None
    return replace(data, checks={**data.checks, **checks})


@blocking(evaluate_async)
def evaluate() -> None:
    """Run a program for each case of a data set, and check the results.

        draft = '@{ title: "Draft", type: "object", properties: { text: { type: "string" } } }'
        cases = [{"input": "a letter", "expected": {"text": "Dear Ann"}}]
        found = instrc.evaluate(draft, cases, model=instrc.Scripted({"draft": {"text": "Dear Ann"}}))
        assert found.scores() == {"case 1": 1.0}

    `cases` is a file, such as `triage.eval.jsonl` (a Python file is run: its function `cases` yields them), or a list with
    `input`, and optionally `id`, `expected`, `tags`, `weight` and `answers`.  `checks` are functions that receive an
    `instrc.CheckedRun` and return true, false, a number from 0 to 1 (0.5 and above passes), or a text that says what is wrong; or
    checks in data set form, `{"label": "equal"}`.  Each case is run `repeat` times, with `concurrency` concurrent runs.
    Activities are not called unless the data set requests it, or says nothing and they are passed: a case provides results, or
    they are generated from the schemas.  `requests`, `tokens` and `cost` (US dollars) are the budget of all runs together.
    Completed runs are stored with their traces in the folder `store` and not repeated, unless `fresh` is true.
    `against` is another version: a file, an `instrc.Source`, or a revision of git.  Both are run on the same cases, and
    `comparison` of the result says whether they differ, as `instrc eval --against` does.
    `progress` is called with each result.  `EvaluationResult.rows()` is for pandas.  `CompileError` contains all problems.
    """


def evaluation_checks() -> dict[str, CheckKind]:
    """Return the checks of evaluations by name."""
    return {**KINDS, "judge": JUDGE, "plan": CheckKind(plan_check, ("tools", "score", "min"), expects=True)}
