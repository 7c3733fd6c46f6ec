"""`instrc trace`: what has happened in a run."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.running import EngineName, RunId, Store, engine, exit_with, run_to_end
from instrc.cli.show import Format, deliver_text, show, verdict
from instrc.jsontext import dumps
from instrc.problems.problem import CompileError
from instrc.visible import visible_lines

if TYPE_CHECKING:
    from instrc.runtime.events import Event


class TraceFormat(StrEnum):
    """How a trace is shown."""

    TEXT = "text"
    HTML = "html"
    JSON = "json"


_ENDINGS = {".html": TraceFormat.HTML, ".htm": TraceFormat.HTML, ".json": TraceFormat.JSON, ".jsonl": TraceFormat.JSON}


def command(
    run: RunId,
    shape: Annotated[
        TraceFormat | None,
        typer.Option(
            "--format",
            help="How it is shown: text, one HTML page, or the events as JSON lines; by default that of the ending of -o.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    store: Store = None,
    engine_name: EngineName = None,
) -> None:
    """Show what has happened in a run.

    It shows requests, answers, thoughts, metrics and retries.
    """
    try:
        kept = engine(store, engine_name, run=run)
        report = run_to_end(kept.show(run))
    except CompileError as error:
        raise exit_with(error, Format.TEXT) from None
    events = kept.trace(run)
    if shape is None:
        shape = _ENDINGS.get("" if output is None else output.suffix.lower(), TraceFormat.TEXT)
    if shape is TraceFormat.JSON:
        text = "".join(f"{dumps(event, indent=False)}\n" for event in events)
    elif shape is TraceFormat.HTML:
        from instrc.runtime.page import page_of
        from instrc.runtime.timeline import spans_of

        text = page_of(report.run, report.status, spans_of(events))
    else:
        text = visible_lines(_text(events))
    found = deliver_text(text, output)
    show(found, Format.TEXT)
    raise typer.Exit(verdict(found))


def _text(events: Iterable[Event]) -> str:
    from instrc.runtime.timeline import spans_of

    lines: list[str] = []
    for span in spans_of(events):
        took = "open" if span.ended is None else f"{span.ended - span.began:.2f} s"
        lines.append(f"{span.began:8.2f}  {span.lane:<7} {span.id}  {span.label}  ({span.state}, {took})")
        for name in ("sent", "input", "show", "answer", "output", "thoughts", "metrics", "complaints", "error"):
            value = span.facts.get(name)
            if value is not None and value not in ({}, [], ""):
                shown = value if isinstance(value, str) else dumps(value)
                lines.append(f"          {name}:")
                lines += [f"            {line}" for line in shown.rstrip("\n").split("\n")]
        lines += [f"          tried again after: {error}" for error in span.retries]
    return "".join(f"{line}\n" for line in lines)
