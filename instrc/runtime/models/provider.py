"""A model of a provider: lower a chunk to its format, send it with its own library, and lift the answer.

An adapter contains only the differences: the target, the library, the location of the key, the way to send a request.
Keys come from the environment and go nowhere else; the engine handles retries and timeouts, so the libraries' are off.
"""

from __future__ import annotations

import asyncio
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import ClassVar, Final, TypeAlias, cast

from msgspec import Struct, structs

from instrc import problems
from instrc.problems.errors import SettingsError, unusable
from instrc.process.request_settings import RequestSettings, WordsLevel
from instrc.providers.dialect import Dialect
from instrc.providers.lifting.lift import Lifted, lift_response
from instrc.providers.lifting.reply import first
from instrc.providers.lowering.lower import Lowering, lower
from instrc.providers.targets import dialect
from instrc.runtime.interpreter.documents import Complaint
from instrc.runtime.models.asking_again import asked_again, attempt_of, cut_complaint
from instrc.runtime.models.budget import BYTES
from instrc.runtime.models.clients import Client, client_of_loop
from instrc.runtime.models.failures import STREAMED, WholeAnswer, as_model_error, context_of, failure_of
from instrc.runtime.models.forms import FORMS, NO_THOUGHTS, REMEMBERED, Form, forms_to_try, is_refused, learn, refused_forms
from instrc.runtime.models.model import ModelError, Reply, Request
from instrc.runtime.models.partial import PART_PAUSE, PART_SHARE, in_shape, prefix_value, whole_answer, written
from instrc.runtime.models.settings import LEAST_BOUND, TIMEOUT, answer_bound, joined, with_short_thoughts
from instrc.runtime.secrets import secret
from instrc.runtime.simultaneous import calls_of
from instrc.schema.outline import outline
from instrc.schema.validation import CACHED_SCHEMA
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, mapping
from instrc.text.sentences import EN, Sentences
from instrc.tools.tool import Tool

TokenNames: TypeAlias = tuple[str | None, str, str]
"""Member of a response with the token counts (`None` for the response itself), and the names of input and output counts."""


class ProviderRequest(Struct, frozen=True):
    """A request in a provider's form."""

    model: str
    name: str
    """Name of the tool, as sent to the provider."""
    message: str
    payload: Json
    """Schema in the provider's envelope."""
    options: JsonObject
    """Request settings under the provider's names."""
    extra: JsonObject
    """Project parameters under the provider's own names."""
    timeout: float
    """Timeout in seconds."""
    form: Form = "forced"
    schema: Json = None
    """Schema before lowering."""
    shared: int = 0
    """Length of the beginning of the message that all runs of the program share, in characters."""

    def to_json(self) -> JsonObject:
        """Return everything that determines the answer."""
        set_: JsonObject = {"payload": self.payload, "set": self.options, "extra": self.extra}
        return {"model": self.model, "message": self.message, **set_, **({"form": self.form} if self.form in _ODD_FORMS else {})}

    @property
    def messages(self) -> list[Json]:
        """The message in the form common to most providers."""
        return [{"role": "user", "content": self.message}]


_ODD_FORMS: Final = frozenset({"choice", "words"})
"""Request forms that the payload does not reveal."""
_INSTEAD: Final = ("error", "promptFeedback")
"""Members that a provider's response may have in place of the model's output."""
Told: TypeAlias = Callable[[str], None]
"""Receives the text of a value as it grows."""
LOADING: Final = 180.0
"""Maximum seconds for a server to load its model."""
_LOOK: Final = 1.0
"""Seconds between two checks of a server that is loading."""
MARGIN: Final = 64
"""Tokens of the context reserved for the server's own text around a message."""
KEPT_LOWERINGS: Final = 256
"""Maximum lowered schemas cached per process; runs use the same few repeatedly."""


class Provider(ABC):
    """A provider: `answer` is shared by all of them, `send` is specific."""

    kind: ClassVar[str]
    """Prefix before the colon: `openai:gpt-5`."""
    forms: ClassVar[Mapping[Form, str]]
    """Supported request forms in order, each with the dialect to which its schemas are lowered."""
    package: ClassVar[str]
    """Module of its official library; the extra that installs it is named like the first part of `kind`."""
    extra: ClassVar[str | None] = None
    """Extra that installs the library, if named differently."""
    key: ClassVar[str | None] = None
    """Environment variable with the API key, if one is required."""
    url: ClassVar[str]
    """Environment variable with the base URL of another server."""
    usual_url: ClassVar[str | None] = None
    """Default base URL; `""` if each customer has another one."""
    envelope: ClassVar[str] = "choices"
    """Member of a response that holds the model's output."""
    tokens: ClassVar[TokenNames] = ("usage", "prompt_tokens", "completion_tokens")
    """Where a response reports its token counts."""
    names: ClassVar[Mapping[str, str]] = {"max_tokens": "max_tokens", "temperature": "temperature"}
    """The provider's names of the supported request settings."""
    usual: ClassVar[JsonObject] = {}
    """Default settings of every request."""
    endless: ClassVar[bool] = False
    """Whether answers have no limit by default and therefore need one."""

    def __init__(self, model: str, *, settings: RequestSettings | None = None) -> None:
        """Use a model, or none if every request names one; `settings` apply to every request that does not override them."""
        self.model = model
        self.settings: RequestSettings = settings or {}
        self.memory: Path | None = None
        """The file of the project that remembers the forms which providers have refused."""
        self._context: int | None = None
        """Size of the model's context in tokens, if an error has stated it."""
        self._told: set[str] = set()
        """Settings not supported by the provider that have already been reported."""

    @abstractmethod
    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client of the provider's library."""

    @abstractmethod
    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Send a request that must be answered by the payload's tool; return the provider's response as JSON."""

    def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject] | None:  # noqa: ARG002  -- only providers that stream use it
        """Send a request as `send` does, and yield the chunks of the response; return `None` if streaming is unsupported."""
        return None

    async def answer(self, request: Request) -> Reply:
        """Answer a request, or raise `ModelError`."""
        model = self._model_of(request)
        client = self.client()
        notes: list[str] = []
        while True:
            forms = await asyncio.to_thread(self._forms, request, model)
            try:
                reply = await self._answer(client, request, model, self.forms[forms[0]], forms[0])
            except ModelError as error:
                tried = [NO_THOUGHTS] if joined(self.settings, request.settings).get("reasoning") == "none" else []
                form = next((form for form in (*tried, *forms[:1]) if is_refused(form, error)), None)
                if form is None or (form != NO_THOUGHTS and len(forms) == 1) or len(notes) > len(FORMS):
                    raise
                name = self._name_of(model)
                notes.append(
                    f"`{name}` refused the form `{form}`: it is asked otherwise for {REMEMBERED / 86_400:g} days ({error})"
                )
                await asyncio.to_thread(learn, self.memory, name, form, str(error))
            else:
                return structs.replace(reply, notes=(*notes, *reply.notes)) if notes else reply

    def preview(self, request: Request) -> tuple[ProviderRequest, Lowering]:
        """Return the request that would be sent, and its lowering."""
        model = self._model_of(request)
        form = self._forms(request, model)[0]
        lowering = self._lowering(request, self.forms[form])
        return self._asked(request, lowering, model, form)[0], lowering

    def _forms(self, request: Request, model: str) -> list[Form]:
        """Return the forms to try, in order."""
        reasoning = joined(self.settings, request.settings).get("reasoning")
        return forms_to_try(self.forms, refused_forms(self.memory, self.kind, model, self._name_of(model), reasoning))

    def _name_of(self, model: str) -> str:
        """Return the model with its server, unless that is the default, as the key of remembered refusals."""
        url = base_url_from(self.url)
        return f"{self.kind}:{model}" + (f" at {_without_login(url)}" if url else "")

    def _model_of(self, request: Request) -> str:
        model = request.model.partition(":")[2] if request.model and request.model.startswith(f"{self.kind}:") else ""
        model = model or self.model
        if not model:
            raise unusable("model", self.kind, f"say which: `{self.kind}:MODEL`")
        return model

    async def _answer(self, client: Client, request: Request, model: str, target: str, form: Form) -> Reply:
        """Request an answer in one form, in the dialect of a target."""
        given = request.message
        request, again = asked_again(request, joined(self.settings, request.settings), self.names, samples=self.endless)
        lowering = self._lowering(request, target)
        asked, notes = await asyncio.to_thread(self._asked, request, lowering, model, form)
        cache = request.cache
        key = None if cache is None else cache.key([[self.kind, base_url_from(self.url)], target, asked.to_json()], request.key)
        kept = None if cache is None or key is None else await asyncio.to_thread(cache.find, key)
        reported = None if request.partial is None else _in_our_names(request.partial, asked, lowering)
        try:
            answer = await self._received(client, asked, reported) if kept is None else kept
        except ModelError as error:
            is_set = "max_tokens" in joined(self.settings, request.settings)
            result = context_of(error) if self.endless and not is_set and self._context is None else None
            if result is None or result[0] - result[1] < LEAST_BOUND:
                raise
            self._context = result[0]  # the limit was too high: retry with what remains
            return await self._answer(client, request, model, target, form)
        lifted = await asyncio.to_thread(lift_response, answer, lowering.map)
        if isinstance(answer, dict) and answer.keys().isdisjoint({self.envelope, *_INSTEAD}) and lifted.status != "failed":
            raise ModelError(f"the answer of the provider has no `{self.envelope}`", code="unreadable", retry=True)
        used = token_counts(answer, self.tokens) if kept is None else {}
        reply = reply_of(lifted, model, used, answer, request.sentences)
        if cache is not None and key is not None and kept is None and self._keeps(reply, form):
            failed = await asyncio.to_thread(cache.keep, key, model, answer)
            notes = notes if failed is None else [*notes, failed]
        if form == "output" and lowering.dialect.enforced and not lifted.calls and not lifted.truncated:
            notes = [*notes, f"the server of `{self.kind}` did not enforce the schema: the answer is not JSON"]
        sent = None if asked.message == given else asked.message
        return structs.replace(reply, notes=(*again, *notes), sent=sent, cached=kept is not None)

    def _keeps(self, reply: Reply, form: Form) -> bool:  # noqa: ARG002  -- overridden for servers that ignore a form
        """Return whether to cache an answer; rejected ones are cached too, so that a replay costs nothing."""
        return True

    async def _received(self, client: Client, asked: ProviderRequest, told: Told | None) -> Json:
        """Return the response of a provider, or raise `ModelError`; report the text of the value as it grows."""
        try:
            async with calls_of(self.kind):
                return await self._sent(client, asked, told)
        except ModelError:
            raise
        except Exception as error:
            result = as_model_error(error)
            if result.code == "unreachable" and (url := base_url_from(self.url) or self.usual_url):
                result = ModelError(f"no answer from {_without_login(url)} ({result})", code=result.code, retry=True)
            raise result from error

    async def _sent(self, client: Client, asked: ProviderRequest, told: Told | None) -> Json:
        """Send a request, and wait for a server that is loading its model."""
        looks = int(LOADING / _LOOK)
        while True:
            try:
                async with asyncio.timeout(asked.timeout):
                    stream = None if told is None else self.stream(client, asked)
                    STREAMED.set(stream is not None)
                    if told is None or stream is None:
                        return await self.send(client, asked)
                    return await asyncio.to_thread(whole_answer, await _collected(stream, told), self.tokens)
            except WholeAnswer as whole:
                return as_object(whole.args[0])
            except TimeoutError as error:
                raise ModelError(f"the model took longer than {asked.timeout:g} s", code="timeout", retry=True) from error
            except Exception as error:
                looks -= 1
                if looks < 0 or as_model_error(error).code != "loading":
                    raise
            await asyncio.sleep(_LOOK)

    def _asked(self, request: Request, lowering: Lowering, model: str, form: Form) -> tuple[ProviderRequest, list[str]]:
        """Return the request, and a note on each unsupported setting, without duplicates."""
        settings = joined(self.settings, request.settings)
        given = cast("JsonObject", settings)
        level = "all" if form == "words" else settings.get("words")  # nothing else indicates it there
        message = message_with_words(request.message, lowering, request.sentences, level)
        wanted = self.usual | {name: given[name] for name in ("max_tokens", "temperature", "seed", "reasoning") if name in given}
        if wanted.get("reasoning") == "none" and NO_THOUGHTS in refused_forms(
            self.memory, self.kind, model, self._name_of(model), "none"
        ):
            wanted["reasoning"] = "low"
        if self.endless and "max_tokens" not in wanted:
            context = settings.get("context", self._context or sys.maxsize)
            left = max(context - len(message.encode()) // BYTES - MARGIN, LEAST_BOUND)
            wanted["max_tokens"] = min(answer_bound(lowering.schema) * _room(request), left)
        notes = [
            f"`{self.kind}` has no `{name}`: it is not sent (parameters of its own are given under `extra`)"
            for name in wanted
            if name not in self.names and name not in self._told
        ]
        self._told |= wanted.keys() - self.names.keys()
        asked = ProviderRequest(
            model,
            provider_name(lowering),
            message,
            lowering.payload,
            {self.names[name]: value for name, value in wanted.items() if name in self.names},
            as_object(given.get("extra", {})),
            settings.get("timeout", TIMEOUT),
            form,
            lowering.map["schema"],
            len(message) - len(request.message),
        )
        return asked, notes

    def client(self) -> Client:
        """Return the client of this event loop, shared by all models of the provider; failures raise `SettingsError`."""
        key = secret(self.key) if self.key is not None else None
        return client_of_loop(self.kind, (key, base_url_from(self.url)), lambda: self._connected(key))

    def _connected(self, key: str | None) -> Client:
        try:
            library = import_module(self.package)
        except ImportError:
            extra = self.extra or self.kind.partition("-")[0]
            result = problems.settings.MissingExtra(feature=f"the model `{self.kind}`", extra=extra, package=self.package)
            raise SettingsError([result]) from None
        if self.usual_url == "" and base_url_from(self.url) is None:
            raise unusable("model", self.kind, f"its address is expected in the environment variable `{self.url}`")
        if self.key is not None and not key:
            raise unusable("model", self.kind, f"its key is expected in the environment variable `{self.key}`")
        return self.connect(library, key)

    def _lowering(self, request: Request, target: str) -> Lowering:
        lowered = _lowered if len(text := dumps(request.schema, indent=False)) < CACHED_SCHEMA else _lowered.__wrapped__
        return lowered(request.name, text, target, request.sentences, short=self.endless)


@lru_cache(maxsize=KEPT_LOWERINGS)
def _lowered(name: str, schema: str, target: str, sentences: Sentences, *, short: bool) -> Lowering:
    """Return a schema lowered to a target, optionally with short thoughts."""
    read = loads(schema)
    return lower(Tool(name, with_short_thoughts(read) if short else read, sentences=sentences), target=dialect(target))


def _in_our_names(tell: Callable[[Json, Sequence[str]], None], asked: ProviderRequest, lowering: Lowering) -> Told:
    """Return a callback for the beginning of a value's text that reports it in the program's names."""

    def lifted(value: Json) -> Json:
        calls = lift_response({"name": asked.name, "arguments": value}, lowering.map).calls
        return calls[0].value if len(calls) == 1 else None

    def told(text: str) -> None:
        value, complete = prefix_value(text)
        schema = lowering.map["schema"]
        if isinstance(value, dict) and isinstance(ours := in_shape(lifted(value), schema, schema), dict):
            whole = lifted({name: value[name] for name in complete})
            tell(ours, [*whole] if isinstance(whole, dict) else [])

    return told


async def _collected(stream: AsyncGenerator[JsonObject], told: Told) -> list[JsonObject]:
    """Return the chunks of a stream; report the answer so far at most 20 times a second."""
    pieces: list[JsonObject] = []
    call = said = ""
    following = 0.0
    async with aclosing(stream):
        async for piece in stream:
            pieces.append(piece)
            more = written(piece)
            call, said = call + more[0], said + more[1]
            if any(more) and (began := monotonic()) >= following:
                await asyncio.to_thread(told, call or said)
                following = monotonic() + max(PART_PAUSE, (monotonic() - began) / PART_SHARE)
    return pieces


def _room(request: Request) -> int:
    """Return the factor for an answer's token limit: it doubles each time that the answer was truncated."""
    complaints = [] if request.command is None else request.command["complaints"]
    was_cut = any(item["message"] == request.sentences.cut for item in complaints)
    return 2 ** min(attempt_of(request) - 1, 4) if was_cut else 1


_MOST_TOKENS: Final = 2**53
"""Limit above which a number is not a count; negative numbers are not either."""


def message_with_words(message: str, lowering: Lowering, sentences: Sentences = EN, level: WordsLevel | None = None) -> str:
    """Return a message preceded by the schema as text, for a model that does not see the schema itself.

    The order is task, keys, data: what all runs share comes first, so that servers with a prefix
    cache process it once.
    """
    level = level or usual_words(lowering.dialect)
    if lowering.dialect.shown_to_model or level == "none":
        return message
    keys = [] if level == "task" else outline(lowering.schema, sentences, values=level == "all")
    goal = as_object(lowering.schema).get("description")
    parts = [goal.strip() if isinstance(goal, str) else "", "\n".join([sentences.shape, "", *keys]) if keys else "", message]
    return "\n\n".join(filter(None, parts))


def usual_words(dialect: Dialect) -> WordsLevel:
    """Return the default level of words: `keys` if a target enforces the schema, and `all` otherwise."""
    return "keys" if dialect.enforced else "all"


CACHED_LETTERS: Final = 8192
"""Minimum characters of a part marked for caching: Anthropic's minimum is 1,024 to 4,096 tokens."""


def is_long(payload: Json) -> bool:
    """Return whether a payload is long enough to be marked for caching."""
    return len(dumps(payload, indent=False)) >= CACHED_LETTERS


def provider_name(lowering: Lowering) -> str:
    """Return the name of the tool as sent to the provider."""
    payload = as_object(lowering.payload)
    for part in (payload, payload.get("function"), payload.get("json_schema"), payload.get("toolSpec")):
        if isinstance(part, dict) and isinstance(name := part.get("name"), str):
            return name
    return "answer"


def reply_of(lifted: Lifted, model: str, usage: dict[str, int], answer: Json, sentences: Sentences) -> Reply:
    """Return a lifted answer as a reply: an unusable one becomes a complaint, or an error if asking again would not help."""
    if lifted.status in {"failed", "refused"}:
        reasons = dict.fromkeys(filter(None, (lifted.refusal or "the model declined", lifted.text)))
        refused, failed = ModelError(": ".join(reasons), code="refused"), lifted.failure or "the provider reports an error"
        error = failure_of(failed, answer) if lifted.status == "failed" else refused
        error.reply = Reply(None, usage, model=model) if usage or error is refused else None
        raise error
    if lifted.truncated or any(call.truncated for call in lifted.calls):
        cut = _longest_text(answer)
        return Reply(None, usage, model=model, complaints=(_complaint("", cut_complaint(cut, sentences)),), text=cut)
    if lifted.malformed or not lifted.calls:
        said, text = (lifted.malformed, _longest_text(answer)) if lifted.malformed else (sentences.empty, lifted.text)
        return Reply(None, usage, model=model, complaints=(_complaint("", said),), text=text)
    call = lifted.calls[0]
    complaints = [_complaint(violation.instance, violation.message) for violation in call.violations]
    if len(lifted.calls) > 1:
        complaints.insert(0, _complaint("", sentences.twice))
    repairs = tuple(str(repair.to_json()) for repair in call.repairs)
    return Reply(call.value, usage, model=model, repairs=repairs, complaints=tuple(complaints), text=lifted.text)


def _longest_text(answer: Json) -> str:
    """Return the model's text in a provider's response."""
    texts, parts = [""], [answer]
    while parts:
        part = parts.pop()
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        texts += [part] if isinstance(part, str) else []
    return max(texts, key=len)


def _complaint(pointer: str, message: str) -> Complaint:
    return {"pointer": pointer, "message": message}


def token_counts(answer: Json, names: TokenNames) -> dict[str, int]:
    """Return the token counts of a response under common names; cached ones are part of the input."""
    member, given, written = names
    counts = mapping(mapping(answer).get(member) if member is not None else answer)
    details = mapping(first(counts, "prompt_tokens_details", "input_tokens_details"))
    pairs = (("input_tokens", given), ("output_tokens", written))
    result = {name: _sum_of(counts, (word, *_ADDED[name])) for name, word in pairs if _is_count(counts.get(word))}
    thoughts = _sum_of(mapping(first(counts, "completion_tokens_details", "output_tokens_details")), ("reasoning_tokens",))
    if thoughts and counts.get("total_tokens") == sum(result.values()) + thoughts:  # xAI counts them apart; vercel/ai#12425
        result["output_tokens"] = result.get("output_tokens", 0) + thoughts
    shares = {name: _sum_of(counts, words) for name, words in _BESIDE_COUNTS.items()}
    cached = _sum_of(counts, ("cachedContentTokenCount",)) or _sum_of(details, ("cached_tokens",))
    shares["cache_read_tokens"] += cached or _sum_of(counts, ("prompt_cache_hit_tokens",))  # of DeepSeek
    return result | {name: min(count, result.get("input_tokens", 0)) for name, count in shares.items() if count}


_BESIDE_COUNTS: Final = {
    "cache_read_tokens": ("cache_read_input_tokens", "cacheReadInputTokens"),
    "cache_write_tokens": ("cache_creation_input_tokens", "cacheWriteInputTokens"),
}
"""Counts of Anthropic and Bedrock next to `input_tokens` (anthropic 2.14.0, `Usage`; Converse, `TokenUsage`; 2026-11)."""
_ADDED: Final = {
    "input_tokens": (*_BESIDE_COUNTS["cache_read_tokens"], *_BESIDE_COUNTS["cache_write_tokens"], "toolUsePromptTokenCount"),
    "output_tokens": ("thoughtsTokenCount",),
}
"""Billed counts besides the usual ones: Gemini counts thoughts separately (google-genai 3.6.1, `usage_metadata`; 2026-11)."""


def _sum_of(counts: JsonObject, names: Iterable[str]) -> int:
    return sum(count for name in names if isinstance(count := counts.get(name), int) and _is_count(count))


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS


def _without_login(url: str) -> str:
    """Return a URL without name and password."""
    return url.rpartition("@")[2].rpartition("//")[2]


def base_url_from(variable: str) -> str | None:
    """Return the base URL in an environment variable, if set."""
    return os.environ.get(variable) or None
