"""`instrc tune`: find what to say to one model, by cases with expected results."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from instrc.cli import eval as evaluations
from instrc.cli import options, run_common
from instrc.cli.output import FINE, Format, report_written, try_to_write
from instrc.cli.terminal import is_terminal, write_error, write_report
from instrc.problems.errors import SettingsError
from instrc.problems.report import Report
from instrc.text.jsontext import dumps

if TYPE_CHECKING:
    from instrc.compiler.tuned import PromptForm
    from instrc.engines.prepare import Prepared
    from instrc.testing.evaluation.tune import Subject, Tuning

Writer: TypeAlias = Annotated[
    str | None, typer.Option("--writer", metavar="MODEL", help="A model that proposes new texts; none are proposed without it.")
]
Requests: TypeAlias = Annotated[int, typer.Option("--requests", min=1, metavar="N", help="Maximum requests of the search.")]
Time: TypeAlias = Annotated[str | None, typer.Option("--time", metavar="SPAN", help="Maximum duration: 20m, PT1H.")]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Start without asking to confirm the budget.")]


def tune_command(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The program (.aug).")],
    group: evaluations.EvalGroup,
    data: evaluations.DataFile = None,
    writer: Writer = None,
    requests: Requests = 400,
    time: Time = None,
    yes: Yes = False,
) -> None:
    """Find what to say to one model, by cases with results.

    Forms of the program are compared on some of the cases of NAME.eval.jsonl: wordings, the level of words, the order of values,
    examples, the order of properties, thoughts, a request for each step. The winner is tested once on at least 100 cases that
    were held back, and is written to PROGRAM.tuned.toml only if these show that it is better.
    `compile`, `run` and `eval` use it for this model and this program.

    Finished runs are kept in .instrc/eval: a search that was interrupted continues, and asks nothing twice.
    What it asked before counts towards --requests, --tokens and --max-cost.

    Exit codes: 0 it came to its end; 1 a program has problems; 2 wrong use; 4 the budget is used up, or the model gave no answer.
    """
    from instrc.testing.evaluation.report import NOT_RUN
    from instrc.testing.evaluation.tune import Subject, split_cases, tuned

    asked = evaluations.eval_options(group, requests)
    asked.budget.until = None if time is None else monotonic() + _seconds(time)
    [job] = evaluations.eval_jobs(evaluations.data_sets([program], data), "", {}, group)
    subject = Subject(program, job.data, asked, job.prepared.name, group.project, writer=writer)
    subject.sentences = job.prepared.settings.sentences
    name = _model_of(subject, job.prepared)
    held = len(split_cases(job.data)[1].cases)
    write_error("".join(f"{line}\n" for line in _foresight(subject, job.prepared, name, requests, held)))
    if not yes:
        _confirm()
    said = (lambda _: None) if group.quiet else run_common.tell_line
    found = run_common.run_to_end(tuned(subject, _current(program, job.prepared, name), said))
    write_report("".join(f"{line}\n" for line in _shown(found, held)))
    if found.better:
        _write(subject, found, name)
    raise typer.Exit(FINE if found.stopped is None else NOT_RUN)


def _seconds(said: str) -> float:
    from instrc.process.request_settings import SPAN

    seconds = SPAN.read(said)
    if not isinstance(seconds, float):
        options.refuse_use(f"--time takes a span such as 20m or PT1H, not `{said}`")
    return seconds


def _model_of(subject: Subject, prepared: Prepared) -> str:
    """Return the model to tune for, and record the level of words in its messages."""
    from instrc.testing.evaluation.runner import ProgramRunner

    runner = ProgramRunner(prepared, subject.options, real=False)
    subject.words = runner.words
    if len(runner.launcher.plan["options"].get("models", {})) > 0:
        options.refuse_use("the steps of this program have models of their own: a form is for one model")
    return runner.model.partition(",")[0].strip()


def _current(program: str, prepared: Prepared, model: str) -> PromptForm:
    """Return the current form: the one in the file, if it belongs to this program and model."""
    from instrc.compiler.tuned import PromptForm, read_tuned

    tuned = read_tuned(program, Report())
    unused = any(problem.name == "not-tuned" for problem in prepared.warnings)
    return tuned.form if tuned is not None and tuned.model == model and not unused else PromptForm()


def _foresight(subject: Subject, prepared: Prepared, model: str, requests: int, held: int) -> list[str]:
    """Return the expected cost of the search, before any request."""
    from instrc.runtime.models.budget import cost_of
    from instrc.runtime.models.settings import answer_bound

    cases = subject.data.cases
    letters = len(dumps(prepared.document, indent=False)) + sum(len(dumps(case.input, indent=False)) for case in cases) // len(
        cases
    )
    read, written, runs = letters // 4, min(answer_bound(prepared.document), _ANSWER), requests + 2 * held
    cost = cost_of(prepared.settings.prices, model, {"input_tokens": read * runs, "output_tokens": written * runs})
    price = "an unknown cost" if cost is None else f"about ${cost:,.2f}"
    test = f"the test of the winner {2 * held} runs on {held} cases that are held back" if held else "no test"
    lines = [f"{model}: the search takes {requests} requests at most, {test}; about {(read + written) * runs:,} tokens, {price}."]
    few = f"{len(cases)} cases are too few to hold 100 back: what is found is reported, and nothing is written."
    return lines if held else [*lines, few]


_ANSWER: Final = 300
"""Assumed length of an answer, in tokens."""


def _confirm() -> None:
    if not is_terminal(sys.stdin):
        options.refuse_use(
            "the budget cannot be confirmed without a terminal: write --yes; --requests, --tokens, --max-cost and --time limit it"
        )
    if not typer.confirm("Begin?", err=True):
        raise typer.Exit(FINE)


def _shown(found: Tuning, held: int) -> list[str]:
    """Return the result in sentences."""
    from instrc.testing.evaluation.comparison import conclusion
    from instrc.testing.evaluation.tune import described

    lines = [f"warning: {warning}" for warning in found.warnings]
    lines += [] if found.stopped is None else [f"The search ended early: {found.stopped}."]
    if found.best == found.start:
        return [*lines, "Nothing better was found: the program stays as it is."]
    lines.append(f"Found: {described(found.best)}.")
    lines += [] if found.comparison is None else conclusion(found.comparison)
    if not found.better:
        lines.append(
            "That is not shown on other cases: the program stays as it is."
            if held
            else "Too few cases to test it: nothing is written."
        )
    return lines


def _write(subject: Subject, found: Tuning, model: str) -> None:
    """Write the form next to the program."""
    from instrc.compiler.tuned import Tuned, digest_of
    from instrc.vibes.find_files import read_text, tuned_file

    assert found.comparison is not None
    assert subject.flat is not None
    paired, report = found.comparison.overall.paired, Report()
    source = read_text(subject.program, report)
    report.stop_if_failed(SettingsError)
    assert source is not None
    cases = [[case.id, case.input, case.expected] for case in subject.data.cases]
    tuned = Tuned(
        export=subject.flat.graph.name,
        model=model,
        program=digest_of(subject.flat, source),
        data=sha256(dumps(cases, indent=False).encode()).hexdigest(),
        date=datetime.now(UTC).date().isoformat(),
        figures={
            "cases": paired.cases,
            "before": round(paired.before, 4),
            "after": round(paired.after, 4),
            "low": round(paired.interval.low, 4),
            "high": round(paired.interval.high, 4),
            "p": float(f"{paired.p:.2g}"),
        },
        form=found.best,
    )
    file = tuned_file(Path(subject.program))
    if wrong := try_to_write({file: tuned.text()}):
        raise SettingsError(wrong)
    report_written([file], Format.TEXT)
