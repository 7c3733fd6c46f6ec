"""Models by spec: `sample`, `scripted:FILE`, `openai:gpt-5`."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from msgspec import Struct, convert

from instrc import problems
from instrc.problems.errors import ConflictError, unusable
from instrc.problems.suggest import nearest
from instrc.process.request_settings import request_settings
from instrc.runtime.models.budget import Prices, require_prices
from instrc.runtime.models.database import MODELS_FILE
from instrc.runtime.models.fallback import Fallback, Limited, limited
from instrc.runtime.models.model import Model, Reply, Request, Sample, Scripted
from instrc.runtime.models.provider import Provider
from instrc.runtime.models.settings import RequestTable, joined
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
    return RecordedModel(
        Scripted(answers),
        recording,
        lambda request: request.message if provider is None else provider.preview(request)[0].message,
    )


def provider_of(model: Model) -> Provider | None:
    """Return the provider that a model uses first, or `None`."""
    match model:
        case Provider():
            return model
        case Limited():
            return provider_of(model.model)
        case Fallback():
            return provider_of(next(iter(model.models.values())))
        case _:
            return None


def words_from(words: str, folder: Path) -> str:
    """Return model specs with their files resolved from a folder, so that they can be used from anywhere."""
    parts = [part.strip() for part in re.split(_NEXT, words)]
    files = [part.partition(":")[2] if part.startswith("scripted:") else "" for part in parts]
    result = [f"scripted:{(folder / file).absolute()}" if file else part for part, file in zip(parts, files, strict=True)]
    return ",".join(result)


def invents(model: Model | None) -> bool:
    """Return whether a model may generate answers: it is `Sample`, or falls back to one."""
    match model:
        case Sample():
            return True
        case Fallback():
            return any(map(invents, model.models.values()))
        case _:
            return False


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
    """The model, prompts and settings of recorded answers."""

    model: str
    prompts: list[str]
    """Digests of messages, schemas and settings."""
    settings: dict[str, Json] = {}
    """Settings of the requests."""


RECORDED: Final = "$recorded"
"""Key in a file of answers that holds its `Recording`."""


def prompt_digest(message: str, schema: Json, settings: Json) -> str:
    """Return the digest of everything that determines an answer."""
    return sha256(dumps([message, schema, settings], indent=False).encode()).hexdigest()[:16]


class RecordedModel:
    """A model with recorded answers; its replies note if a request differs from the recorded ones."""

    def __init__(self, model: Model, recording: Recording, message: Callable[[Request], str]) -> None:
        """`message` returns what would be sent now to the model of the recording."""
        self.model, self.recording, self.message = model, recording, message
        self._warned = False

    async def answer(self, request: Request) -> Reply:
        """Answer a request, with a note, and a warning the first time, if the answers belong to other prompts."""
        reply = await self.model.answer(request)
        if prompt_digest(self.message(request), request.schema, self.recording.settings) in self.recording.prompts:
            return reply
        note = f"the answers were recorded with `{self.recording.model}` for another prompt than that of `{request.name}` now"
        if not self._warned:
            self._warned = True
            warn_caller(note)
        return Reply(reply.answer, model=reply.model, notes=(note,))
