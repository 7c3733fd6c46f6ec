"""`instrc worker`: carry the runs of a store, or of a Temporal task queue, until it is told to stop."""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from instrc.cli.live import Watcher
from instrc.cli.options import ProblemFormat
from instrc.cli.running import EngineName, Store, engine, exit_with, run_to_end
from instrc.cli.show import Format
from instrc.cli.terminal import write_error
from instrc.limits.runs import WORKER_PAUSE
from instrc.problems.problem import CompileError

if TYPE_CHECKING:
    import asyncio

    from instrc.runtime.engine import Serving

_FIRST_PAUSE = 1.0
_LAST_ATTEMPT = 5.0
"""Seconds that an attempt to reach a server may take when the worker is told to stop."""
_LAST_MOMENT = 0.1
"""Seconds for the threads of a library to end after an attempt: one that still runs when Python ends aborts the process."""


def command(
    store: Store = None,
    engine_name: EngineName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Carry out the runs of a store or a Temporal task queue.

    It continues interrupted runs too, and works until SIGTERM or Ctrl-C.
    """
    from instrc.runtime import engine as engines

    try:
        with Watcher(as_json=as_json, quiet=quiet) as sink:
            carrier = engine(store, engine_name, watch=sink)
            if not isinstance(carrier, engines.Serving):
                carried = "the engine `memory` has no workers: a run on it is carried out by the command that starts it"
                message = f'{carried}; `durable` (`pip install "instrc[durable]"`) and `temporal` have workers'
                raise typer.BadParameter(message, param_hint="--engine")
            run_to_end(_served(carrier, quiet=quiet))
    except CompileError as error:
        raise exit_with(error, shape) from None


async def _served(carrier: Serving, *, quiet: bool) -> None:
    import asyncio  # the help of all commands does without it

    from instrc.runtime.engine import UnreachableError

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    while not stop.is_set():
        reaching = asyncio.ensure_future(_reached(carrier, stop))
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({reaching, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not reaching.done():
            await asyncio.wait({reaching}, timeout=_LAST_ATTEMPT)
        if not reaching.done():
            reaching.cancel()
            return
        await reaching
        if stop.is_set():
            return
        if not quiet:
            write_error("the worker is ready\n")
        try:
            await carrier.serve(stop)
        except UnreachableError as error:
            write_error(f"{error.problems[0].message}; its runs stay as they are, and go on when it answers\n")
        else:
            return


async def _reached(carrier: Serving, stop: asyncio.Event) -> None:
    """Return as soon as the server of an engine answers, which a worker may be started before, or soon after `stop` is set."""
    from asyncio import sleep, wait_for  # as above

    from instrc.runtime.engine import UnreachableError

    pause = _FIRST_PAUSE
    while not stop.is_set():
        try:
            await carrier.reach()
        except UnreachableError as error:
            if not stop.is_set():
                write_error(f"{error.problems[0].message}; trying again in {pause:g} s\n")
        else:
            return
        with suppress(TimeoutError):
            await wait_for(stop.wait(), pause)
        pause = min(pause * 2, WORKER_PAUSE)
    await sleep(_LAST_MOMENT)
