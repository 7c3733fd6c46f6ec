"""Several models in place of one, and rate limits for a model."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from time import time
from typing import Final
from weakref import WeakKeyDictionary

from msgspec import Struct, field, structs

from instrc.problems.errors import InstrcError
from instrc.process.request_settings import RequestSettings
from instrc.runtime.models.asking_again import attempt_of
from instrc.runtime.models.database import WAIT, require_file, transaction
from instrc.runtime.models.model import Model, ModelError, Reply, Request, tokens_of

_ELSEWHERE = frozenset({"refused", "quota", "context", "loading", "unreadable", "provider"})
"""Codes of failures that are permanent for this model but may not affect another one."""
FAILURES: Final = 3
"""Consecutive failures after which a model is skipped for a while if another one is available."""
COOLDOWN: Final = 30.0
"""Seconds for which it is skipped, unless the project or the provider sets another time."""
SAME_MODEL: Final = 2
"""Attempts of the first model; if all are rejected or cut off, the next model is asked."""
LONGEST_REST: Final = 86_400.0
"""Maximum time for which it is skipped, in seconds, whatever a provider requests."""
_RESTS: Final = "rests (words TEXT PRIMARY KEY, until REAL)"


class Fallback:
    """Models in order: the next one is used if one is down, out of quota, short of context, or refuses.

    It is also used after two rejected answers of the previous one.

    A request that is invalid for every model (a status such as 400 or 401) is not passed on.
    """

    def __init__(self, models: Mapping[str, Model], file: Path | None = None) -> None:
        """`models` are by spec, in order of preference; processes share through `file` which ones are paused."""
        self.models = dict(models)
        self.file = file
        self._failed: dict[str, int] = {}
        self._until: dict[str, float] = {}

    async def answer(self, request: Request) -> Reply:
        """Answer a request with the first model that can, or raise the last `ModelError`."""
        request = structs.replace(request, model=None)  # combines the messages of all models
        notes: list[str] = []
        before: ModelError | None = None
        turned = min(max(attempt_of(request) - SAME_MODEL, 0), len(self.models) - 1)
        if self.file is not None and self.file.exists():
            await asyncio.to_thread(self._hear, self.file)
        rested = [words for words in self.models if self._until.get(words, 0.0) <= time()]
        if turned and rested[turned:]:
            notes.append(f"answers of `{rested[turned - 1]}` were not accepted: `{rested[turned]}` was asked")
            rested = [*rested[turned:], *rested[:turned]]
        for words in (asked := rested or list(self.models)):
            try:
                reply = await self.models[words].answer(request)
            except ModelError as error:
                await self._note(words, error)
                if words == asked[-1] or not (error.retry or error.code in _ELSEWHERE):
                    raise
                notes.append(f"`{words}` gave no answer ({error}): the next model was asked")
                before = error
            except InstrcError as error:  # for example a missing key: the previous failure may be temporary
                if before is None:
                    raise
                said = f"{before}; and {error.problems[0].message}"
                raise ModelError(said, code=before.code, retry=before.retry, after=before.after) from error
            else:
                self._failed.pop(words, None)
                return structs.replace(reply, notes=(*notes, *reply.notes)) if notes else reply
        raise AssertionError

    async def _note(self, words: str, error: ModelError) -> None:
        """Count a failure; pause the model after several in a row, or when the provider requests it."""
        self._failed[words] = self._failed.get(words, 0) + 1
        if error.after is not None or error.code == "quota" or self._failed[words] >= FAILURES:
            cooldown = getattr(self.models[words], "settings", {}).get("cooldown", COOLDOWN)
            self._until[words] = time() + min(max(cooldown, error.after or 0.0), LONGEST_REST)
            self._failed[words] = FAILURES - 1  # then one request tests it, and one failure suffices
            if self.file is not None:
                await asyncio.to_thread(self._tell, self.file, words)

    def _tell(self, file: Path, words: str) -> None:
        """Store that a model is paused, for other processes of the project."""
        with suppress(sqlite3.Error, OSError), transaction(file, _RESTS) as database:
            database.execute("INSERT OR REPLACE INTO rests VALUES (?, ?)", (words, self._until[words]))

    def _hear(self, file: Path) -> None:
        """Load which models other processes of the project have paused."""
        with suppress(sqlite3.Error), transaction(file, _RESTS) as database:
            for words, until in database.execute("SELECT words, until FROM rests WHERE until > ?", (time(),)):
                self._until[words] = max(until, self._until.get(words, 0.0))


_TURNS: Final = "turns (key TEXT PRIMARY KEY, next REAL)"
"""Time by model and setting at which past requests no longer count against the limit, in seconds since 1970."""
MINUTE: Final = 60.0


def turn(place: Path | str, key: str, per_minute: float, amount: float, ahead: float) -> float:
    """Reserve a turn, and return how many seconds to wait for it; less than `ahead` seconds count as none.

    This is the generic cell rate algorithm: one number is the whole state, shared by every process of the project
    in a file, or by every machine in the PostgreSQL database of a URL, using the database's clock.
    """
    if isinstance(place, str):
        return max(_due_in(place, key, amount * MINUTE / per_minute) - ahead, 0.0)
    now, cost = time(), amount * MINUTE / per_minute
    try:
        with transaction(place, _TURNS) as database:
            row = database.execute("SELECT next FROM turns WHERE key = ?", (key,)).fetchone()
            due = max(row[0] if row else 0.0, now) + cost
            database.execute("INSERT OR REPLACE INTO turns VALUES (?, ?)", (key, due))
    except sqlite3.Error as error:
        message = f"`{place}`, where requests are counted, cannot be written: {error}"
        raise ModelError(message, code="unavailable", retry=True) from error
    return max(due - now - ahead, 0.0)


_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
"""The database clock at this point of a statement, so that time spent waiting for other transactions counts."""
_TAKE: Final = f"""INSERT INTO instrc_turns AS old VALUES (%(key)s, {_NOW} + %(cost)s)
ON CONFLICT (key) DO UPDATE SET next = greatest(old.next, {_NOW}) + %(cost)s RETURNING next - {_NOW}"""  # noqa: S608  -- from the library's own messages
_MAKE: Final = "CREATE TABLE IF NOT EXISTS instrc_turns (key text PRIMARY KEY, next float8)"


def _due_in(url: str, key: str, cost: float) -> float:
    """Return in how many seconds a request is allowed, according to a database."""
    psycopg = import_module("psycopg")
    scheme, _, rest = url.partition(":")
    try:
        with psycopg.connect(f"{scheme.partition('+')[0]}:{rest}", autocommit=True, connect_timeout=int(WAIT)) as database:
            try:
                due = database.execute(_TAKE, {"key": key, "cost": cost}).fetchone()[0]
            except psycopg.errors.UndefinedTable:
                result = psycopg.errors.UniqueViolation, psycopg.errors.DuplicateObject, psycopg.errors.DuplicateTable
                with suppress(*result):  # another process creates it at the same time
                    database.execute(_MAKE)
                due = database.execute(_TAKE, {"key": key, "cost": cost}).fetchone()[0]
            return float(due)
    except psycopg.Error as error:
        message = f"the database that counts requests does not answer: {type(error).__name__}"
        raise ModelError(message, code="unavailable", retry=True) from error


_ANSWER: Final = 256
"""Assumed length of an answer, in tokens."""


class Limited(Struct):
    """A model that waits for its turn before each call."""

    model: Model
    words: str
    settings: RequestSettings
    place: Path | str
    _gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = field(default_factory=WeakKeyDictionary)
    """One semaphore per event loop, since loops cannot share one."""

    async def answer(self, request: Request) -> Reply:
        """Answer a request once the limits allow it."""
        gate: AbstractAsyncContextManager[object] = nullcontext()
        if "parallel" in self.settings:
            gate = self._gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.settings["parallel"]))
        rpm, tpm = self.settings.get("rpm"), self.settings.get("tpm")
        async with gate:
            if rpm is not None:  # at most one second's share
                await asyncio.sleep(await self._turn("rpm", rpm, 1, max(1.0, MINUTE / rpm)))
            guess = len(request.message) / 4 + _ANSWER  # the size of the answer is not known yet
            if tpm is not None:
                await asyncio.sleep(await self._turn("tpm", tpm, min(guess, tpm), MINUTE))
            reply = await self.model.answer(request)
            if tpm is not None and reply.usage:
                await self._turn("tpm", tpm, tokens_of(reply.usage) - min(guess, tpm), MINUTE)
            return reply

    def _turn(self, name: str, per_minute: float, amount: float, ahead: float) -> Awaitable[float]:
        return asyncio.to_thread(turn, self.place, f"{self.words} {name}", per_minute, amount, ahead)


_limited: dict[tuple[str, str, Path | str], Limited] = {}
"""Limiters by model spec, limits and project, shared by all runs of this process."""


def limited(model: Model, words: str, settings: RequestSettings, place: Path | str) -> Model:
    """Return a model with its limits, if any; all users of a file or database count together."""
    limits = {name: settings[name] for name in ("parallel", "rpm", "tpm") if name in settings}
    if not limits:
        return model
    if limits.keys() != {"parallel"} and isinstance(place, Path):
        require_file(place, _TURNS, "limit")
    result = _limited.setdefault((words, repr(limits), place), Limited(model, words, settings, place))
    return structs.replace(result, model=model)
