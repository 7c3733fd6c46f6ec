"""What the process that carries runs does beside: it reads the mail, and rests while all runs wait for people.

DBOS looks into its store several times a second. So runs that have waited for a while are left as they are, and DBOS is ended;
it is launched again when somebody answers, begins a run, or a timer ends. What is left is a look at the store that is no query.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic, time
from typing import Protocol

import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from instrc.runtime.drivers.dbos import mail, store
from instrc.runtime.drivers.dbos.live import Live

POLL = 0.2
"""Seconds between two looks at the mail."""
SLOW_POLL = 1.0
"""The same at rest, where a look is a query."""
LINGER = 5.0
"""Seconds for which all runs wait for people before this process rests."""


class Resting(Protocol):
    """What carries runs, as far as it rests."""

    engine: sa.Engine
    client: DBOSClient

    @property
    def live(self) -> dict[str, Live]:
        """The runs that it carries."""

    @property
    def resting(self) -> bool:
        """Whether nobody uses it, and no run does anything but wait for people."""

    async def launch(self) -> None:
        """Let DBOS carry runs."""

    async def leave_runs(self) -> None:
        """Carry no run any more."""

    async def resume(self, run: str) -> Live:
        """Go on with a run."""

    async def take(self, letter: mail.Letter) -> bool:
        """Deliver an answer."""

    async def cancel(self, run: str) -> None:
        """End a run."""


class Rest:
    """The rest of a runner, and what wakes it."""

    def __init__(self, runner: Resting) -> None:
        self.runner = runner
        self.asleep: bool = False
        self.parked: dict[str, float | None] = {}
        """Runs that were left because all waited, and when the next timer of each ends."""
        self._since = monotonic()
        self._turning = asyncio.Lock()
        self._letters: dict[str, asyncio.Task[None]] = {}
        self._watching: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(thread_name_prefix="instrc-rest")

    def begin(self) -> None:
        """Watch from now on, until the loop ends."""
        self._watching = asyncio.ensure_future(self._watch())

    async def end(self) -> None:
        """Launch DBOS, if it is not."""
        self._since = monotonic()
        async with self._turning:
            if self.asleep:
                await self.runner.launch()
                self.asleep = False

    async def _watch(self) -> None:
        watch = mail.Watch(self.runner.engine)
        try:
            while True:
                await asyncio.sleep(SLOW_POLL if self.asleep and not watch.is_cheap else POLL)
                with suppress(Exception):  # what the store complains of is told to whoever asks for something
                    await self._look(watch)
        finally:
            watch.close()

    async def _look(self, watch: mail.Watch) -> None:
        if watch.changed():
            await self._read()
        for run in [run for run, due in self.parked.items() if due is not None and due <= time()]:
            await self.runner.resume(run)
        if self._letters or not self.runner.resting:
            self._since = monotonic()
        elif not self.asleep and monotonic() > self._since + LINGER:
            await self._begin()

    async def _read(self) -> None:
        """Take in what other processes have written."""
        for letter in await asyncio.to_thread(mail.unread, self.runner.engine):
            if letter.id not in self._letters:
                task = self._letters[letter.id] = asyncio.ensure_future(self._deal_with(letter))
                task.add_done_callback(lambda _task, name=letter.id: self._letters.pop(name, None))  # type: ignore[misc]  # a default is not inferred
        if self.asleep and await asyncio.to_thread(self._is_asked):
            await self.end()

    def _is_asked(self) -> bool:
        """Tell whether another process has begun a run."""
        return bool(self.runner.client.list_workflows(name=store.WORKFLOW, status="ENQUEUED", limit=1))

    async def _begin(self) -> None:
        """Leave the runs, which all wait, and end DBOS."""
        async with self._turning:
            if not self.runner.resting:
                return
            for name, live in self.runner.live.items():
                root = name.partition("/")[0]
                self.parked[root] = min((due for due in (self.parked.get(root), live.due) if due is not None), default=None)
            self.asleep = True
            await self.runner.leave_runs()
            asyncio.get_running_loop().set_default_executor(self._threads)  # DBOS has put its own there, and ends it now
            await asyncio.to_thread(DBOS.destroy)

    async def _deal_with(self, letter: mail.Letter) -> None:
        """Do what a letter says; if that cannot be recorded now, the letter stays."""
        with suppress(Exception):
            taken = True
            if "cancel" in letter.body:
                await self.runner.cancel(letter.run)
            else:
                await self.runner.resume(letter.run.partition("/")[0])
                taken = await self.runner.take(letter)
            await asyncio.to_thread(mail.settle, self.runner.engine, letter.id, "taken" if taken else "refused")
