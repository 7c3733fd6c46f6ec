"""Several models in place of one, and one model that is not asked too often."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from instrc import problems
from instrc.problems.problem import CompileError
from instrc.runtime.models.model import Model, ModelError, Reply, Request
from instrc.vibes.settings import RequestSettings

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

FAILURES: Final = 3
"""Failures in a row after which a model is left alone for a while, where another one can be asked."""
COOLDOWN: Final = 30.0
"""Seconds that it is left alone, unless the project or the provider says otherwise."""
_ELSEWHERE = frozenset({"refused", "quota", "context", "loading", "unreadable", "provider"})
"""Codes of failures that another model may not have, though this one always will."""


class Fallback:
    """Models in order: the next one is asked where one is down, out of quota, has too little context, or refuses.

    What it is sent that is wrong for every model (a status such as 400 or 401) goes to no other one.
    """

    def __init__(self, models: Mapping[str, Model]) -> None:
        """`models` by their words, the first choice first."""
        self.models = dict(models)
        self._failed: dict[str, int] = {}
        self._until: dict[str, float] = {}

    async def answer(self, request: Request) -> Reply:
        """Answer a request by the first model that can, or raise the `ModelError` of the last one."""
        request = replace(request, model=None)  # these are the words of all of them
        notes: list[str] = []
        rested = [words for words in self.models if self._until.get(words, 0.0) <= monotonic()]
        for words in (asked := rested or list(self.models)):
            try:
                reply = await self.models[words].answer(request)
            except ModelError as error:
                self._note(words, error)
                if words == asked[-1] or not (error.retry or error.code in _ELSEWHERE):
                    raise
                notes.append(f"`{words}` gave no answer ({error}): the next model was asked")
            else:
                self._failed.pop(words, None)
                return replace(reply, notes=(*notes, *reply.notes)) if notes else reply
        raise AssertionError

    def _note(self, words: str, error: ModelError) -> None:
        """Count a failure; after several in a row, or when the provider asks for it, leave the model alone for a while."""
        self._failed[words] = self._failed.get(words, 0) + 1
        if error.after is not None or error.code == "quota" or self._failed[words] >= FAILURES:
            cooldown = getattr(self.models[words], "settings", {}).get("cooldown", COOLDOWN)
            self._until[words] = monotonic() + max(cooldown, error.after or 0.0)
            self._failed[words] = FAILURES - 1  # then one request tries it: another failure is enough


# How often one model is asked by this process: requests and tokens a minute, and requests at the same time.


@dataclass(slots=True)
class _Limits:
    """The limits of one event loop."""

    parallel: asyncio.Semaphore | None = None
    requests: AsyncLimiter | None = None
    tokens: AsyncLimiter | None = None


@dataclass(slots=True)
class Limited:
    """A model that waits for its turn before it is asked."""

    model: Model
    settings: RequestSettings
    _loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Limits] = field(default_factory=WeakKeyDictionary)
    """Each loop has its own, since none of them can be shared."""

    async def answer(self, request: Request) -> Reply:
        """Answer a request when the limits allow it."""
        loop = asyncio.get_running_loop()
        limits = self._loops.get(loop) or self._loops.setdefault(loop, _limits_of(self.settings))
        gate: AbstractAsyncContextManager[object] = limits.parallel or nullcontext()
        async with gate:
            if limits.requests is not None:
                await limits.requests.acquire()
            if limits.tokens is not None:  # by estimate, since nobody knows yet what the answer takes
                await limits.tokens.acquire(min(len(request.message) / 4 + 256, limits.tokens.max_rate))
            return await self.model.answer(request)


def _limits_of(settings: RequestSettings) -> _Limits:
    made = _Limits(asyncio.Semaphore(settings["parallel"]) if "parallel" in settings else None)
    if "rpm" in settings or "tpm" in settings:
        from aiolimiter import AsyncLimiter  # an extra; `limited` has told if it is missing

        if "rpm" in settings:
            made.requests = AsyncLimiter(max(settings["rpm"] / 60, 1), max(60 / settings["rpm"], 1))  # one second's share at once
        made.tokens = AsyncLimiter(settings["tpm"], 60) if "tpm" in settings else None
    return made


_limited: dict[tuple[str, str], Limited] = {}
"""By the words of a model and its limits: every run of this process shares them."""


def limited(model: Model, words: str, settings: RequestSettings) -> Model:
    """Return a model with the limits that are set for it, if there are any."""
    limits = {name: settings[name] for name in ("parallel", "rpm", "tpm") if name in settings}
    if not limits:
        return model
    if "rpm" in limits or "tpm" in limits:
        try:
            import aiolimiter  # noqa: F401  -- an extra
        except ImportError:
            found = problems.settings.MissingExtra(feature="`rpm` and `tpm`", extra="limits", package="aiolimiter")
            raise CompileError([found]) from None
    made = _limited.setdefault((words, repr(limits)), Limited(model, settings))
    return replace(made, model=model)
