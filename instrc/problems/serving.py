"""Problems with requests to a service: the caller, their rights, and the request."""

from __future__ import annotations

from typing import Literal, TypeAlias

from instrc.problems.problem import Problem


class NotAuthenticated(Problem):
    message = "the caller is not authenticated: {reason}"
    hint = "send `Authorization: Bearer …` with an API key (`instrc serve --new-key NAME` makes one) or a token"

    reason: str


class NotAllowed(Problem):
    message = "`{who}` may not {action}: {reason}"

    who: str
    action: str
    """The refused action, such as `start runs of \\`meeting\\``."""
    reason: str
    role: str | None = None
    """Role that would allow the action."""

    @property
    def hint(self) -> str | None:
        return None if self.role is None else f"give the role `{self.role}` under `[tool.instrc.serve.roles]`"


class NoSuchProgram(Problem):
    message = "the service has no program `{program}`"

    program: str


QuestionState: TypeAlias = Literal["claimed", "answered by you", "shown anew", "overdue", "disputed"]
"""Why a question takes no answer: it is claimed, already answered by the caller, or shows a different text by now."""


class QuestionNotFree(Problem):
    question: str
    state: QuestionState
    by: str | None = None
    """Holder of the claim, or who has answered otherwise."""

    @property
    def message(self) -> str:
        why = {
            "claimed": f"`{self.by}` has claimed it",
            "answered by you": "you have answered it already, in another way",
            "shown anew": "what it shows has changed since you saw it",
            "overdue": "its time has passed",
            "disputed": f"`{self.by}` has made the same decision with other data",
        }[self.state]
        return f"the question `{self.question}` cannot be answered: {why}"

    @property
    def hint(self) -> str | None:
        return {"shown anew": "read the question again", "disputed": "agree on the data, or refuse"}.get(self.state)


class InvalidRequest(Problem):
    message = "the request cannot be read: {reason}"

    reason: str
    pointer: str = ""
    """JSON Pointer into the request body."""


class KeyReused(Problem):
    message = "the idempotency key `{key}` was used for another request"
    hint = "use a new key for each run, and the same key and body when you try again"

    key: str


class StateChanged(Problem):
    message = "`{what}` has changed since you read it"
    hint = "read it again, and send its new `ETag` as `If-Match`"

    what: str


class TooMuch(Problem):
    message = "{what}: at most {limit:,}"

    what: str
    limit: int
    retry_after: int | None = None
    """Seconds after which the request may be repeated."""

    @property
    def hint(self) -> str | None:
        return None if self.retry_after is None else f"try again in {self.retry_after} seconds"


class RefusedAddress(Problem):
    message = "requests to `{address}` are refused: {reason}"
    hint = "use an `https://` address outside; inner networks are allowed by `networks` under `[tool.instrc.serve]`"

    address: str
    reason: str
