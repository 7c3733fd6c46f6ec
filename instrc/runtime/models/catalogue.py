"""Models by spec: `sample`, `scripted:FILE`, `openai:gpt-5`."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from time import time
from typing import Final, cast

from msgspec import Struct, convert, structs

from instrc import problems
from instrc.problems.errors import ConflictError, InstrcError, unusable
from instrc.problems.suggest import nearest
from instrc.process.request_settings import RequestSettings, request_settings
from instrc.runtime.interpreter.documents import tokens_of
from instrc.runtime.models.asking_again import attempt_of
from instrc.runtime.models.budget import Prices, require_prices
from instrc.runtime.models.database import MODELS_FILE, WAIT, require_file, transaction
from instrc.runtime.models.model import Model, ModelError, Reply, Request, Sample, Scripted
from instrc.runtime.models.provider import Provider
from instrc.runtime.models.settings import RequestTable, joined
from instrc.runtime.simultaneous import calls_of
from instrc.text.callers import warn_caller
from instrc.text.files import read_whole
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json

ADAPTERS: dict[str, str] = {
    "openai": "instrc.runtime.models.adapters:OpenAI",
    "openai-output": "instrc.runtime.models.adapters:OpenAIOutput",
    "openai-responses": "instrc.runtime.models.adapters:OpenAIResponses",
    "vllm": "instrc.runtime.models.adapters:VLLM",
    "llamacpp": "instrc.runtime.models.adapters:LlamaCpp",
    "lmstudio": "instrc.runtime.models.adapters:LMStudio",
    "llamafile": "instrc.runtime.models.adapters:Llamafile",
    "anthropic": "instrc.runtime.models.adapters:Anthropic",
    "anthropic-strict": "instrc.runtime.models.adapters:AnthropicStrict",
    "anthropic-output": "instrc.runtime.models.adapters:AnthropicOutput",
    "gemini": "instrc.runtime.models.adapters:Gemini",
    "gemini-output": "instrc.runtime.models.adapters:GeminiOutput",
    "mistral": "instrc.runtime.models.adapters:Mistral",
    "ollama": "instrc.runtime.models.adapters:Ollama",
    "gigachat": "instrc.runtime.models.adapters:GigaChat",
    "bedrock": "instrc.runtime.models.bedrock:Bedrock",
    **{name: f"instrc.runtime.models.hosts:{name}" for name in ("azure", "deepseek", "qwen", "glm", "xai", "groq", "openrouter")},
}
"""Adapter class of each provider, as `module:class`; called with the name of a model."""


def adapter_of(kind: str) -> type[Provider]:
    """Return the class of a provider's adapter, by a key of `ADAPTERS`."""
    module, _, name = ADAPTERS[kind].partition(":")
    return cast("type[Provider]", getattr(import_module(module), name))


_NEXT = rf",(?=\s*(?:sample\s*(?:,|\Z)|(?:scripted|{'|'.join(ADAPTERS)}):))"
"""A comma between two models, as file names may contain commas too."""


def model_of(words: str, folder: Path, table: RequestTable | None = None) -> Model:
    """Return the model of a spec, with the settings of its requests; files are resolved from a folder.

    Of several, separated by commas, each is used if the previous one gave no answer.
    """
    parts = [part.strip() for part in re.split(_NEXT, words)]
    if len(parts) > 1:
        return Fallback({part: model_of(part, folder, table) for part in parts}, None if table is None else folder / MODELS_FILE)
    kind, _, rest = words.partition(":")
    if kind == "sample" and not rest:
        return Sample()
    if kind == "scripted" and rest:
        return _scripted(words, folder / rest, RequestTable() if table is None else table)
    if kind in ADAPTERS and not rest.strip():
        raise unusable("model", words, f"it is a provider; say which of its models: `{kind}:MODEL`")
    if kind in ADAPTERS:
        given, table = table is not None, table or RequestTable()
        settings = joined(table.of_model(words), table.given)  # its limits are those of the model
        adapter = adapter_of(kind)(rest, settings=settings)
        adapter.memory = folder / MODELS_FILE if given else None
        return limited(adapter, words, settings, table.server or folder / MODELS_FILE)
    known = ", ".join(["`sample`", "`scripted:FILE`", *(f"`{name}:MODEL`" for name in ADAPTERS)])
    near = tuple(f"{name}:{rest}" if rest else name for name in nearest(kind, ("sample", "scripted", *ADAPTERS)))
    raise unusable("model", words, f"models are {known}", near)


def _scripted(words: str, file: Path, table: RequestTable) -> Model:
    try:
        answers = loads(read_whole(str(file)))
    except OSError as error:
        raise unusable("model", words, (error.strerror or "it cannot be read").lower()) from None
    except ValueError as error:
        raise unusable("model", words, f"this is not JSON: {error}") from None
    if not isinstance(answers, list | dict):
        raise unusable("model", words, "the file holds a list of answers, or an object of answers by step")
    recorded = answers.pop(RECORDED, None) if isinstance(answers, dict) else None
    if recorded is None:
        return Scripted(answers)
    try:
        recording = convert(recorded, Recording)
    except ValueError as error:
        raise unusable("model", words, f"`{RECORDED}` is not of its form: {error}") from None
    kind, _, name = recording.model.partition(":")
    settings = joined(table.general, table.given, request_settings(recording.settings)[0])
    provider = adapter_of(kind)(name, settings=settings) if kind in ADAPTERS and name else None
    return RecordedModel(Scripted(answers), recording, provider)


def provider_of(model: Model) -> Provider | None:
    """Return the provider that a model uses first, or `None`."""
    first = _parts(model)[0]
    return first if isinstance(first, Provider) else None


def _parts(model: Model) -> list[Model]:
    """Return the models that a model passes requests on to, in order."""
    if isinstance(model, Limited):
        return _parts(model.model)
    several = model.models.values() if isinstance(model, Fallback) else ()
    return [part for each in several for part in _parts(each)] or [model]


def words_from(words: str, folder: Path) -> str:
    """Return model specs with their files resolved from a folder, so that they can be used from anywhere."""
    parts = [part.strip() for part in re.split(_NEXT, words)]
    files = [part.partition(":")[2] if part.startswith("scripted:") else "" for part in parts]
    result = [f"scripted:{(folder / file).absolute()}" if file else part for part, file in zip(parts, files, strict=True)]
    return ",".join(result)


def invents(model: Model | None) -> bool:
    """Return whether a model may generate answers: it is `Sample`, or falls back to one."""
    return model is not None and any(isinstance(part, Sample) for part in _parts(model))


def require_other(run: str, words: str, others: Callable[[str], Model] | None, prices: Prices | None) -> None:
    """Raise for a model that cannot take over a run: unknown, generating answers, or without a price under a budget.

    `others` returns models by spec; it is `None` for a run with generated answers.
    """
    if others is None or invents(others(words)):
        advice = "begin another run: `instrc run … --model MODEL`"
        reason = "answers that are invented and answers of a model do not go together"
        raise ConflictError([problems.runs.NothingToRetry(run=run, reason=reason, advice=advice)])
    if prices is not None:
        require_prices((one.strip() for one in words.split(",")), prices)


class Recording(Struct, frozen=True):
    """The model, prompts and settings of recorded answers, which are also listed by step."""

    model: str
    prompts: dict[str, Json] | list[str]
    """Lists of whole answers, in order, by the digest of message, schema and settings; or the digests, of answers by step."""
    settings: dict[str, Json] = {}
    """Settings of the requests."""


RECORDED: Final = "$recorded"
"""Key in a file of answers that holds its `Recording`."""


def prompt_digest(message: str, schema: Json, settings: Json) -> str:
    """Return the digest of everything that determines an answer."""
    return sha256(dumps([message, schema, settings], indent=False).encode()).hexdigest()[:16]


class RecordedModel:
    """A model with recorded answers; its replies note if a request differs from the recorded ones."""

    def __init__(self, model: Model, recording: Recording, provider: Provider | None) -> None:
        """Take the `provider` of the recording, which shows what would be sent to it now."""
        self.model, self.recording, self.provider = model, recording, provider
        self._recorded, self._warned = Scripted(recording.prompts) if isinstance(recording.prompts, dict) else model, False

    async def answer(self, request: Request) -> Reply:
        """Answer a request, with a note, and a warning the first time, if the answers belong to other prompts."""
        message = request.message if self.provider is None else self.provider.preview(request)[0].message
        if (digest := prompt_digest(message, request.schema, self.recording.settings)) in self.recording.prompts:
            return await self._recorded.answer(request if self._recorded is self.model else structs.replace(request, key=digest))
        reply = await self.model.answer(request)
        note = f"the answers were recorded with `{self.recording.model}` for another prompt than that of `{request.name}` now"
        if not self._warned:
            self._warned = True
            warn_caller(note)
        return Reply(reply.answer, model=reply.model, notes=(note,))


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
        failures: list[ModelError] = []
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
                    error.failures = tuple(failures)
                    raise
                notes.append(f"`{words}` gave no answer ({error}): the next model was asked")
                failures.append(error)
            except InstrcError as error:  # for example a missing key: the previous failure may be temporary
                if not failures:
                    raise
                before = failures.pop()
                before.args, before.failures = (f"{before}; and {error.problems[0].message}",), tuple(failures)
                raise before from error
            else:
                self._failed.pop(words, None)
                return structs.replace(reply, notes=(*notes, *reply.notes), failures=tuple(failures)) if notes else reply
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
LONGEST_TURN: Final = 60
"""Maximum minutes for which one answer uses up the limit of tokens, whatever count a provider reports."""


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

    async def answer(self, request: Request) -> Reply:
        """Answer a request once the limits allow it."""
        most, rpm, tpm = self.settings.get("parallel"), self.settings.get("rpm"), self.settings.get("tpm")
        async with nullcontext() if most is None else calls_of(f"{self.words} {most} {self.place}", most):
            if rpm is not None:  # at most one second's share
                await asyncio.sleep(await self._turn("rpm", rpm, 1, max(1.0, MINUTE / rpm)))
            guess = len(request.message) / 4 + _ANSWER  # the size of the answer is not known yet
            if tpm is not None:
                await asyncio.sleep(await self._turn("tpm", tpm, min(guess, tpm), MINUTE))
            reply = await self.model.answer(request)
            if tpm is not None and reply.usage:
                await self._turn("tpm", tpm, min(tokens_of(reply.usage), tpm * LONGEST_TURN) - min(guess, tpm), MINUTE)
            return reply

    def _turn(self, name: str, per_minute: float, amount: float, ahead: float) -> Awaitable[float]:
        return asyncio.to_thread(turn, self.place, f"{self.words} {name}", per_minute, amount, ahead)


def limited(model: Model, words: str, settings: RequestSettings, place: Path | str) -> Model:
    """Return a model with its limits, if any; all users of a file or database count together."""
    limits = {name: settings[name] for name in ("parallel", "rpm", "tpm") if name in settings}
    if not limits:
        return model
    if limits.keys() != {"parallel"} and isinstance(place, Path):
        require_file(place, _TURNS, "limit")
    return Limited(model, words, settings, place)
