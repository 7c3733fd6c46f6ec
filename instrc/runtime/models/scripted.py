"""A model that reads its answers from a file: for tests and demonstrations. It keeps what it was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from instrc import arguments
from instrc.jsonvalue import Json
from instrc.runtime.interpreter.names import bare_name
from instrc.runtime.models.model import ModelError, Reply, Request


class Scripted:
    """Answers in order, or by name.

    `answers` is a list, taken in order, or an object.
    Its keys are commands (`llmContext1`, `eachContext1[2].llmContext2`, `llmContext1#2` for the second attempt) or chunks, with
    whole answers; or steps (`step1_draft`, or `draft` whatever its number), with what each step gives.
    A list among its values is taken in order, and its last answer stays.
    """

    def __init__(self, answers: Sequence[Json] | Mapping[str, Json]) -> None:
        self._list = arguments.several("answers", answers) if not isinstance(answers, Mapping) else None
        self._named = dict(answers) if isinstance(answers, Mapping) else {}
        self._bare = {bare_name(name): name for name in self._named}
        self._taken: dict[str, int] = {}
        self.sent: list[Request] = []
        """All requests, in order."""

    async def answer(self, request: Request) -> Reply:
        """Give the next answer."""
        self.sent.append(request)
        return Reply(self._next(request), model="scripted")

    def _next(self, request: Request) -> Json:
        if self._list is not None:
            at = self._taken.get("", 0)
            if at >= len(self._list):
                _no_answer(request, f", which has {len(self._list)}")
            self._taken[""] = at + 1
            return self._list[at]
        command = request.key.rpartition("/")[2]
        whole = command.partition("#")[0]
        for name in (command, whole, whole.rpartition(".")[2], whole.rpartition(".")[2].partition("@")[0]):
            if name in self._named:
                return self._take(name)
        steps = request.command["steps"] if request.command is not None else []
        if not steps and (alone := self._bare.get(bare_name(request.name))) is not None:
            return self._take(alone)
        found = {step: self._bare[bare_name(step)] for step in steps if bare_name(step) in self._bare}
        if not found:
            wanted = ", ".join(f"`{name}`" for name in dict.fromkeys((*map(bare_name, steps or [request.name]), whole)))
            there = ", ".join(map(arguments.excerpt, self._named)) or "nothing"
            _no_answer(request, f": it has {there}, and may name {wanted}")
        return {step: self._take(name) for step, name in found.items()}

    def _take(self, name: str) -> Json:
        found = self._named[name]
        if not isinstance(found, list):
            return found
        at = self._taken.get(name, 0)
        self._taken[name] = at + 1
        return found[min(at, len(found) - 1)]


def _no_answer(request: Request, reason: str) -> NoReturn:
    message = f"the script has no answer for `{request.key.rpartition('/')[2]}`{reason}"
    complaints = request.command["complaints"] if request.command is not None else []
    if complaints:
        message += f"; the one before was not accepted: at `{complaints[0]['pointer'] or '/'}`: {complaints[0]['message']}"
    raise ModelError(message, code="no-answer")
