"""A model that reads its answers from a file: for tests and demonstrations. It keeps what it was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from instrc.jsonvalue import Json
from instrc.runtime.models.model import ModelError, Reply, Request


class Scripted:
    """Answers by command (`llmContext1`, `eachContext1[2].llmContext2`), by name of a step or chunk, or one after the other.

    `answers` is a list, taken in order, or an object whose keys are commands, steps, or chunks.
    A list among its values is taken in order, and its last answer stays.
    """

    def __init__(self, answers: Sequence[Json] | Mapping[str, Json]) -> None:
        self._list = list(answers) if not isinstance(answers, Mapping) else None
        self._named = dict(answers) if isinstance(answers, Mapping) else {}
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
                _no_answer(request)
            self._taken[""] = at + 1
            return self._list[at]
        command = request.key.rpartition("/")[2]
        for name in (command, command.partition("#")[0], request.name, command.partition("#")[0].rpartition(".")[2]):
            if name in self._named:
                found = self._named[name]
                if not isinstance(found, list):
                    return found
                at = self._taken.get(name, 0)
                self._taken[name] = at + 1
                return found[min(at, len(found) - 1)]
        return _no_answer(request)


def _no_answer(request: Request) -> Json:
    message = f"the script has no answer for `{request.key.rpartition('/')[2]}` (`{request.name}`)"
    raise ModelError(message, code="no-answer")
