"""A model of a provider: a chunk is lowered to what the provider takes, sent by its own library, and the answer is lifted.

An adapter says only what differs: the target, the library, where the key is, how a request is sent.
Keys come from the environment and go nowhere else; retries and time limits are the engine's, so the libraries get none.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Final, TypeAlias

from instrc import problems
from instrc.problems.problem import CompileError
from instrc.providers.lifting.lift import Lifted, LiftedCall, lift
from instrc.providers.lowering.lower import Lowering, lower
from instrc.providers.targets import dialect
from instrc.runtime.activities import is_temporary
from instrc.runtime.interpreter.documents import Complaint
from instrc.runtime.models.model import ModelError, Reply, Request
from instrc.runtime.secrets import secret
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, as_object
from instrc.tools.tool import Tool

KEPT_LOWERINGS: Final = 256
"""Lowered schemas that an adapter keeps; a run asks for the same few again and again."""


Client: TypeAlias = Any  # each library has its own, and is installed only where it is used
"""A client of a provider's library."""
TokenNames: TypeAlias = tuple[str | None, str, str]
"""The member of an answer that has the counts (`None` for the answer itself), and in it those of what was given and written."""


class Provider(ABC):
    """One provider: `answer` is the same for all of them, `send` is not."""

    kind: ClassVar[str]
    """The word before the colon: `openai:gpt-5`."""
    target: ClassVar[str]
    """The dialect that its schemas are lowered to."""
    package: ClassVar[str]
    """The module of its official library; the extra that installs it is called as the first part of `kind`."""
    key: ClassVar[str | None] = None
    """The environment variable that holds the key, where one is needed."""
    tokens: ClassVar[TokenNames] = ("usage", "prompt_tokens", "completion_tokens")
    """Where an answer says how many tokens it took."""

    def __init__(self, model: str, *, client: Client = None) -> None:
        """`model` may be empty if every request names one; `client` is one of the provider's library, else made when needed."""
        self.model = model
        self._client = client
        self._lowered: dict[tuple[str, str], Lowering] = {}

    @abstractmethod
    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client of the provider's library."""

    @abstractmethod
    async def send(self, client: Client, model: str, name: str, message: str, payload: Json) -> Json:
        """Send one request that must be answered by the payload's tool; return the provider's answer as JSON."""

    async def answer(self, request: Request) -> Reply:
        """Answer a request, or raise `ModelError`."""
        model = (request.model or "").partition(":")[2] or self.model
        if not model:
            reason = f"say which: `{self.kind}:MODEL`"
            raise CompileError([problems.runs.UnusableSetting(what="model", word=self.kind, reason=reason)])
        client = self.client()
        lowering = self._lowering(request)
        try:
            answer = await self.send(client, model, provider_name(lowering), request.message, lowering.payload)
        except Exception as error:
            raise as_model_error(error) from error
        return reply_of(lift(answer, lowering.map), model, token_counts(answer, self.tokens))

    def client(self) -> Client:
        """Return the client, made when it is first needed; problems are those of the project's settings."""
        if self._client is None:
            try:
                library = import_module(self.package)
            except ImportError:
                extra = self.kind.partition("-")[0]
                found = problems.settings.MissingExtra(feature=f"the model `{self.kind}`", extra=extra, package=self.package)
                raise CompileError([found]) from None
            key = secret(self.key) if self.key is not None else None
            if self.key is not None and not key:
                reason = f"its key is expected in the environment variable `{self.key}`"
                raise CompileError([problems.runs.UnusableSetting(what="model", word=self.kind, reason=reason)])
            self._client = self.connect(library, key)
        return self._client

    def _lowering(self, request: Request) -> Lowering:
        key = request.name, dumps(request.schema, indent=False)
        if (kept := self._lowered.get(key)) is not None:
            return kept
        made = lower(Tool(request.name, request.schema), target=dialect(self.target))
        if len(self._lowered) >= KEPT_LOWERINGS:
            self._lowered.clear()
        self._lowered[key] = made
        return made


def provider_name(lowering: Lowering) -> str:
    """Return the name of the tool as the provider knows it."""
    payload = as_object(lowering.payload)
    for part in (payload, payload.get("function"), payload.get("json_schema")):
        if isinstance(part, dict) and isinstance(name := part.get("name"), str):
            return name
    return "answer"


def reply_of(lifted: Lifted, model: str, usage: dict[str, int]) -> Reply:
    """Return a lifted answer as a reply: what cannot be used is a complaint, or an error where asking again is no use."""
    if lifted.status == "failed":
        raise ModelError(lifted.failure or "the provider reports an error", code="provider")
    if lifted.status == "refused":
        raise ModelError(lifted.refusal or "the model declined", code="refused")
    if not lifted.calls:
        said = lifted.malformed or "nothing was filled in: answer by the tool"
        return Reply(None, usage, model=model, complaints=(_complaint("", said),), text=None if lifted.malformed else lifted.text)
    call = lifted.calls[0]
    complaints = [_complaint(violation.instance, violation.message) for violation in call.violations]
    if lifted.truncated or call.truncated:
        complaints.insert(0, _complaint("", "the answer was cut off at a limit of length: be shorter"))
    elif len(lifted.calls) > 1:
        complaints.insert(0, _complaint("", "the tool was called more than once: call it once"))
    return Reply(call.value, usage, model=model, repairs=_repairs(call), complaints=tuple(complaints), text=lifted.text)


def as_model_error(error: Exception) -> ModelError:
    """Return what a library raised as an error of ours; overload, time limits and lost connections are worth another try."""
    status = next(
        (found for name in ("status_code", "code", "http_status") if isinstance(found := getattr(error, name, None), int)), None
    )
    lost = any(word in type(error).__name__ for word in ("Timeout", "Connect", "RemoteProtocol")) or isinstance(error, OSError)
    retry = lost if status is None else is_temporary(status)
    return ModelError(f"{type(error).__name__}: {error}", code=str(status) if status is not None else None, retry=retry)


def token_counts(answer: Json, names: TokenNames) -> dict[str, int]:
    """Return the tokens that an answer says it took, under our names."""
    member, given, written = names
    counts = answer.get(member) if isinstance(answer, dict) and member is not None else answer
    if not isinstance(counts, dict):
        return {}
    pairs = {"input_tokens": counts.get(given), "output_tokens": counts.get(written)}
    return {name: count for name, count in pairs.items() if isinstance(count, int)}


def base_url_from(variable: str) -> str | None:
    """Return the base URL that a variable of the environment names, if it is set."""
    return os.environ.get(variable) or None


def _repairs(call: LiftedCall) -> tuple[str, ...]:
    return tuple(str(repair.to_json()) for repair in call.repairs)


def _complaint(pointer: str, message: str) -> Complaint:
    return {"pointer": pointer, "message": message}
