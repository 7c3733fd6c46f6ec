"""Traces on disk: what has happened in a run, one JSON line an event, beside the store of any engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from instrc.jsontext import dumps, loads
from instrc.limits.runs import TRACE_BYTES
from instrc.regular import read_regular
from instrc.runtime.events import Event, Sink, is_event


def trace_file(folder: Path, run: str) -> Path:
    """Return where the trace of a run lies."""
    return folder / "traces" / f"{run.partition('/')[0]}.jsonl"


def written_to(folder: Path) -> Callable[[Event], None]:
    """Return a sink that appends events to the traces of their runs; those of a child go to the run that began it.

    A run does not end because its trace cannot be written: what is lost of it is warned of.
    """

    def write(event: Event) -> None:
        file, line = trace_file(folder, event["run"]), f"{dumps(event, indent=False)}\n"
        try:
            try:
                _append(file, line)
            except FileNotFoundError:
                file.parent.mkdir(parents=True, exist_ok=True)
                _append(file, line)
        except OSError as error:
            warnings.warn(f"the trace of `{event['run']}` is not whole: {error.strerror}", RuntimeWarning, stacklevel=2)

    return write


def sink_of(folder: Path | None, watch: Sink | None) -> Sink:
    """Return what takes the events of runs: the traces in a folder, if they are kept, then whoever watches."""
    write = None if folder is None else written_to(folder)
    sinks = [sink for sink in (write, watch) if sink is not None]

    def tell(event: Event) -> None:
        for sink in sinks:
            sink(event)

    return tell


def _append(file: Path, line: str) -> None:
    with file.open("a", encoding="utf-8") as trace:
        trace.write(line)


def read_trace(folder: Path, run: str) -> list[Event]:
    """Return the events of a run; a last line that was not written whole is left out."""
    try:
        lines = read_regular(str(trace_file(folder, run)), TRACE_BYTES).split(b"\n")
    except (OSError, ValueError):
        return []
    found: list[Event] = []
    for line in lines:
        try:
            event = loads(line)
        except ValueError:
            continue
        if is_event(event):
            found.append(event)
    return found


def begun_before(events: Iterable[Event], run: str) -> set[str]:
    """Return the commands of a run whose effects have begun already: if they begin again, they do so under the same key."""
    return {event["id"] for event in events if event["event"] in {"called", "asked"} and event["run"] == run and "id" in event}
