"""The interface of models, and models that answer from a file or from the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn, Protocol, cast

from msgspec import Struct, field

from instrc.process.request_settings import RequestSettings
from instrc.runtime.activities import in_language
from instrc.runtime.interpreter.documents import Complaint, ModelCommand, bare_name, placed
from instrc.runtime.models.cache import AnswerCache
from instrc.text import arguments
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.sentences import EN, Sentences, filled, translated
from instrc.tools.python_values import JsonLike, json_of


class Model(Protocol):
    """Completes a schema."""

    async def answer(self, request: Request) -> Reply:
        """Answer a request, or raise `ModelError`."""


class Request(Struct, frozen=True):
    """A request to a model."""

    key: str
    """`run/command`, equal for every attempt at the same command."""
    name: str
    """Name for the tool; see `tool_name`."""
    message: str
    """Whole message; see `model_message`."""
    schema: Json
    """Schema of the answer. An adapter lowers it to its provider and lifts the answer."""
    model: str | None = None
    """Model that the project sets for this vibe; otherwise the adapter's own."""
    command: ModelCommand | None = None
    """Command that the request was made from."""
    settings: RequestSettings = field(default_factory=RequestSettings)
    """Settings of this request, which override those of its model."""
    sentences: Sentences = EN
    """Texts sent to the model next to the message."""
    cache: AnswerCache | None = None
    """Cache of paid answers."""
    partial: Callable[[Json, Sequence[str]], None] | None = None
    """Called with the value written so far and its complete members; an adapter need not call it."""


class Reply(Struct, frozen=True):
    """The answer of a model."""

    answer: Json
    """Value in the names and shapes of the request's schema, which it may violate."""
    usage: dict[str, int] = field(default_factory=dict)
    """`input_tokens`, `output_tokens`; for the input also `cache_read_tokens` and `cache_write_tokens`, if any."""
    cost: float | None = None
    """Cost in US dollars, if known."""
    model: str | None = None
    """Model that answered."""
    repairs: tuple[str, ...] = ()
    """Parts of the answer that were read differently than written."""
    complaints: tuple[Complaint, ...] = ()
    """Reasons why an answer without any value cannot be used: the model is asked again."""
    text: str | None = None
    """Text next to the value or in its place."""
    sent: str | None = None
    """Message if it differs from the request's: it includes the schema."""
    invented: bool = False
    """Whether the answer was generated from the schema without asking a model."""
    notes: tuple[str, ...] = ()
    """Notes for people: a setting that the provider lacks, a server that ignored the schema."""
    cached: bool = False
    """Whether the answer to an earlier identical request was reused."""
    failures: tuple[ModelError, ...] = ()
    """Failures of the models that were asked before."""


class ModelError(Exception):
    """A provider gave no answer.

    `retry` is whether to retry, `after` the number of seconds to wait first, if the provider states it;
    `code` is a code for programs, such as `refused`.
    """

    reply: Reply | None = None
    """What it sent in place of an answer, and used tokens for."""
    failures: tuple[ModelError, ...] = ()
    """Failures of the models that were asked before."""

    def __init__(self, message: str, *, code: str | None = None, retry: bool = False, after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry = retry
        self.after = after


RULER = "-----"


def model_message(command: ModelCommand, sentences: Sentences = EN) -> str:
    """Return the message: the values that the chunk reads, between two rulers, and a sentence that requests the answer."""
    parts: list[str] = []
    if command["context"]:
        parts.append(_ruled(sentences.known, _with_errors(command["context"], sentences.faults)))
    if command["previous"] is not None:
        parts.append(_ruled(sentences.previous, command["previous"]))
    if command["complaints"] and command["rejected"] is not None:
        parts.append(_ruled(sentences.rejected, command["rejected"]))
    if command["complaints"]:
        heading = sentences.not_accepted if command["rejected"] is None else sentences.wrong
        result = in_language(command["complaints"], command["rejected"], command["schema"], sentences.faults)
        places = [(dumps(item["pointer"])[1:-1] or "/", "\n  ".join(item["message"].splitlines())) for item in result]
        faults = [filled(sentences.fault, place=place.translate(_LINE_BREAKS), reason=reason) for place, reason in places]
        parts.append("\n".join([heading, *dict.fromkeys(faults)]))
    parts.append(_request(command, sentences))
    return "\n\n".join(parts) + "\n"


_LINE_BREAKS: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
"""Escapes for characters that end a line although JSON leaves them, so that data cannot end its block."""


def _ruled(heading: str, value: Json) -> str:
    return f"{heading}\n{RULER}\n{dumps(value).translate(_LINE_BREAKS)}\n{RULER}"


def _with_errors(value: Json, faults: Mapping[str, str]) -> Json:
    """Return a value with the errors of steps and tasks in the language of `faults`; foreign texts are unchanged."""
    if not faults or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_with_errors(item, faults) for item in value]
    result: JsonObject = {key: _with_errors(item, faults) for key, item in value.items()}
    if result.keys() >= {"kind", "code", "message"} and isinstance(said := result["message"], str):
        result["message"] = translated(said, faults)
    return result


def _request(command: ModelCommand, sentences: Sentences) -> str:
    steps = [f"`{step}`" for step in command["steps"]] or [sentences.answer]
    what = sentences.join.join(filter(None, [", ".join(steps[:-1]), steps[-1]]))
    again, round_ = command["complaints"], command["previous"] is not None
    return filled(sentences.write_again if again else sentences.write_round if round_ else sentences.write, what=what)


def tool_name(chunk: str, steps: Sequence[str], only: str | None) -> str:
    """Return the name of the tool for a chunk: the step, or the chunk if there are several.

    `only` is the name of the only step of a program, whose answer has no key for it.
    """
    return steps[0] if len(steps) == 1 else only if only and not steps else chunk


class Scripted:
    """A model with predefined answers, in order or by name.

    `answers` is a list, used in order, or an object.
    Its keys are commands (`llmContext1`, `eachContext1[2].llmContext2`, `llmContext1#2` for the second attempt) or chunks, with
    whole answers; or steps (`step1_draft`, or `draft` for any number), with the value of each.
    A list among its values is used in order, and its last answer is repeated.  Models and dataclasses are accepted too.
    """

    def __init__(self, answers: Sequence[JsonLike] | Mapping[str, JsonLike]) -> None:
        listed = arguments.several("answers", answers) if not isinstance(answers, Mapping) else None
        self._list = None if listed is None else [cast("Json", json_of(item)) for item in listed]
        named = answers if isinstance(answers, Mapping) else {}
        self._named = {name: cast("Json", json_of(value)) for name, value in named.items()}
        self._bare = {bare_name(name): name for name in self._named}
        self._taken: dict[str, int] = {}
        self.sent: list[Request] = []
        """All requests, in order."""

    async def answer(self, request: Request) -> Reply:
        """Return the next answer."""
        self.sent.append(request)
        return Reply(self._next(request), model="scripted")

    def _next(self, request: Request) -> Json:
        if self._list is not None:
            at = self._taken.get("", 0)
            if at >= len(self._list):
                _no_answer(request, f": its list of {len(self._list)} is used up (an object answers each step in every run)")
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
        result = {step: self._bare[bare_name(step)] for step in steps if bare_name(step) in self._bare}
        if not result:
            wanted = ", ".join(f"`{name}`" for name in dict.fromkeys((*map(bare_name, steps or [request.name]), whole)))
            there = ", ".join(map(arguments.excerpt, self._named)) or "nothing"
            _no_answer(request, f": it has {there}, and may name {wanted}")
        return {step: self._take(name) for step, name in result.items()}

    def _take(self, name: str) -> Json:
        result = self._named[name]
        if not isinstance(result, list):
            return result
        at = self._taken.get(name, 0)
        self._taken[name] = at + 1
        return result[min(at, len(result) - 1)]


def _no_answer(request: Request, reason: str) -> NoReturn:
    message = f"the script has no answer for `{request.key.rpartition('/')[2]}`{reason}"
    complaints = request.command["complaints"] if request.command is not None else []
    if complaints:
        message += f"; the one before was not accepted: {placed(complaints[0])}"
    raise ModelError(message, code="no-answer")


class Sample:
    """Answers every request with a small generated instance of its schema, which a run reports (`Run.invented`)."""

    async def answer(self, request: Request) -> Reply:
        """Return an instance."""
        return Reply(instance_of(request.schema), model="sample", invented=True)


def instance_of(schema: Json) -> Json:
    """Return a small instance of a schema; its loops end after the first round, and its plans are empty."""
    from instrc.schema.samples import sample  # sampling belongs to the targets, which use it to test engines

    return _end_loops(sample(schema))


def _end_loops(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: False if key == "_continue" and item is True else _end_loops(item) for key, item in value.items()}
    return [_end_loops(item) for item in value] if isinstance(value, list) else value
