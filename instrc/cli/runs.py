"""`instrc runs`: the runs that are kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from instrc.cli.options import ProblemFormat
from instrc.cli.running import EngineName, Store, engine, exit_with, report_as_json, run_to_end
from instrc.cli.show import Format
from instrc.cli.terminal import write, write_error, write_report
from instrc.jsontext import dumps
from instrc.problems.problem import CompileError


def command(
    store: Store = None,
    engine_name: EngineName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each run.")] = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """List the runs in the store, the latest first."""
    try:
        reports = run_to_end(engine(store, engine_name).runs())
        if engine_name is None:  # items that wait are kept beside the runs of the usual engine
            known = {report.run for report in reports}
            reports += [report for report in run_to_end(engine(store, "memory").runs()) if report.run not in known]
            reports.sort(key=lambda report: -(report.began or 0))
    except CompileError as error:
        raise exit_with(error, shape) from None
    if not reports and not as_json:
        write_error("there are no runs\n")
    for report in reports:
        if as_json:
            write(f"{dumps({**report_as_json(report), 'began': report.began, 'ended': report.ended}, indent=False)}\n")
            continue
        began = datetime.fromtimestamp(report.began or 0, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
        waits = ", ".join(question.id for question in report.questions)
        write_report(f"{began}  {report.status:<9}  {report.run}{f'  waits for {waits}' if waits else ''}\n")
