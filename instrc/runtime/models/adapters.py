"""Models of providers, each called through its provider's own library."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from http import HTTPStatus
from types import ModuleType
from typing import Any, ClassVar, Final, NamedTuple

from msgspec.structs import replace

from instrc.runtime.models.clients import Client
from instrc.runtime.models.failures import StatusError, raise_answer
from instrc.runtime.models.forms import Form, forms_by, thinking_of
from instrc.runtime.models.model import Reply, Request
from instrc.runtime.models.provider import CACHED_LETTERS, Provider, ProviderRequest, TokenNames, Told, base_url_from, is_long
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, as_object, listing, mapping

REPORTED: Final = {"response": [raise_answer]}
"""Client hooks for libraries that drop an error reported in a response, and return no raw answer."""
ANTHROPIC_TOKENS: Final = 8192
"""Default limit of an answer, in tokens: Anthropic requires one in every request."""


class Anthropic(Provider):
    """`anthropic:MODEL`; `ANTHROPIC_BASE_URL` selects another server."""

    kind: ClassVar[str] = "anthropic"
    forms: ClassVar[Mapping[Form, str]] = forms_by("anthropic", "anthropic-output")
    package: ClassVar[str] = "anthropic"
    key: ClassVar[str | None] = "ANTHROPIC_API_KEY"
    url: ClassVar[str] = "ANTHROPIC_BASE_URL"
    envelope: ClassVar[str] = "content"
    tokens: ClassVar[TokenNames] = ("usage", "input_tokens", "output_tokens")
    usual: ClassVar[JsonObject] = {"max_tokens": ANTHROPIC_TOKENS}
    names: ClassVar[Mapping[str, str]] = {"max_tokens": "max_tokens", "reasoning": "effort"}
    """Names of settings; the library no longer has a temperature, so models that accept one get it under `extra`."""

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return an asynchronous client."""
        web = library.DefaultAsyncHttpxClient(follow_redirects=False)
        return library.AsyncAnthropic(api_key=key, base_url=base_url_from(self.url), max_retries=0, http_client=web)

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request a message."""
        return await _read(await self._create(client, asked))

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Request a message as a stream of events."""
        async for piece in await self._create(client, asked, stream=True):
            yield _as_json(piece, exclude_unset=True)

    async def _create(self, client: Client, asked: ProviderRequest, **form: Json) -> Client:
        options = dict(asked.options)
        effort = options.pop("effort", None)
        options |= thinking_of(asked.model, asked.form, effort)
        if effort not in {None, "none"}:
            options["output_config"] = {"effort": effort}
        if asked.form == "output":
            options["output_config"] = {**as_object(options.get("output_config", {})), "format": asked.payload}
        elif asked.form != "words":
            choice: JsonObject = {"type": "tool", "name": asked.name} if asked.form == "forced" else {"type": "auto"}
            options |= {
                "tools": [{**(_MARK if is_long(asked.payload) else {}), **as_object(asked.payload)}],
                "tool_choice": {**choice, "disable_parallel_tool_use": True},
            }
        return await _asking(client.messages, form).create(
            model=asked.model,
            messages=_marked_messages(asked),
            timeout=asked.timeout,
            extra_body=asked.extra or None,
            **options,
            **form,
        )


def _as_json(answer: Client, **options: object) -> JsonObject:
    """Return an answer of a library, or a chunk of one, as JSON; `options` choose the names and members."""
    answered: JsonObject = answer.model_dump(mode="json", warnings=False, **options)
    return answered


def _asking(resource: Client, form: Mapping[str, Json]) -> Client:
    """Return what sends a request: a whole answer is read here, since the library takes long to make objects of many parts."""
    return resource if "stream" in form else resource.with_raw_response


async def _read(answer: Client) -> JsonObject:
    answered = loads(await answer.http_response.aread())
    if not isinstance(answered, dict):
        raise ValueError("it is not an object")  # noqa: TRY004  -- as for what is not JSON
    return answered


_MARK: Final[JsonObject] = {"cache_control": {"type": "ephemeral"}}
"""Marks the end of the part that all runs share; Anthropic's guide, prompt caching, 2026-11. Some hosts take the same mark."""


def _marked_messages(asked: ProviderRequest) -> list[Json]:
    """Return the message; a long textual schema at its beginning becomes a separate block."""
    words, rest = asked.message[: asked.shared], asked.message[asked.shared :]
    if len(words) < CACHED_LETTERS:
        return asked.messages
    blocks: list[Json] = [{"type": "text", "text": words, **_MARK}, {"type": "text", "text": rest}]
    return [{"role": "user", "content": blocks}]


class AnthropicStrict(Anthropic):
    """`anthropic-strict:MODEL`: the same with a schema that the provider enforces."""

    kind: ClassVar[str] = "anthropic-strict"
    forms: ClassVar[Mapping[Form, str]] = forms_by("anthropic-strict", "anthropic-output")


class AnthropicOutput(Anthropic):
    """`anthropic-output:MODEL`: the same with structured output instead of a tool."""

    kind: ClassVar[str] = "anthropic-output"
    forms: ClassVar[Mapping[Form, str]] = {"output": "anthropic-output", "words": "anthropic-output"}


class Gemini(Provider):
    """`gemini:MODEL`; `GEMINI_BASE_URL` selects another server."""

    kind: ClassVar[str] = "gemini"
    forms: ClassVar[Mapping[Form, str]] = forms_by("gemini", "gemini-output")
    package: ClassVar[str] = "google.genai"
    key: ClassVar[str | None] = "GEMINI_API_KEY"
    url: ClassVar[str] = "GEMINI_BASE_URL"
    envelope: ClassVar[str] = "candidates"
    tokens: ClassVar[TokenNames] = ("usageMetadata", "promptTokenCount", "candidatesTokenCount")
    names: ClassVar[Mapping[str, str]] = {
        "max_tokens": "max_output_tokens",
        "temperature": "temperature",
        "seed": "seed",
        "reasoning": "thinking_level",
    }

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client, of which the asynchronous part is used."""
        url = base_url_from(self.url)
        hooks: dict[str, Any] = {"async_client_args": {"event_hooks": REPORTED, "follow_redirects": False}}  # with the key
        return library.Client(api_key=key, http_options=hooks | ({"base_url": url} if url else {}))

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request content."""
        return _gemini_json(await client.aio.models.generate_content(**self._arguments(asked)))

    def form(self, asked: ProviderRequest) -> JsonObject:
        """Return the part of a request that carries the schema."""
        if asked.form in {"output", "words"}:
            return as_object(asked.payload) if asked.form == "output" else {}
        forced: JsonObject = {"mode": "ANY", "allowed_function_names": [asked.name]}
        choice: Json = forced if asked.form == "forced" else {"mode": "AUTO"}
        return {
            "tools": [{"function_declarations": [asked.payload]}],
            "tool_config": {"function_calling_config": choice},
            "automatic_function_calling": {"disable": True},
        }

    def _arguments(self, asked: ProviderRequest) -> JsonObject:
        options = dict(asked.options)
        level = options.pop("thinking_level", None)
        if level is not None:
            highest = "HIGH" if level == "xhigh" else str(level).upper()
            options["thinking_config"] = {"thinking_budget": 0} if level == "none" else {"thinking_level": highest}
        options["http_options"] = {"timeout": int(asked.timeout * 1000)}
        config: JsonObject = {**self.form(asked), **options, **asked.extra}
        return {"model": asked.model, "contents": asked.message, "config": config}


def _gemini_json(answer: Client) -> JsonObject:
    return _as_json(answer, by_alias=True, exclude_none=True, exclude={"sdk_http_response", "parsed"})


class GeminiOutput(Gemini):
    """`gemini-output:MODEL`: the same with structured output, which can be streamed, unlike the arguments of a function."""

    kind: ClassVar[str] = "gemini-output"
    forms: ClassVar[Mapping[Form, str]] = {"output": "gemini-output", "words": "gemini-output"}

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Request content as a stream of chunks."""
        async for piece in await client.aio.models.generate_content_stream(**self._arguments(asked)):
            yield _gemini_json(piece)


class GigaChat(Provider):
    """`gigachat:MODEL`; `GIGACHAT_BASE_URL` and `GIGACHAT_AUTH_URL` select other servers."""

    kind: ClassVar[str] = "gigachat"
    forms: ClassVar[Mapping[Form, str]] = {"forced": "gigachat", "choice": "gigachat"}
    package: ClassVar[str] = "gigachat"
    key: ClassVar[str | None] = "GIGACHAT_CREDENTIALS"
    url: ClassVar[str] = "GIGACHAT_BASE_URL"
    names: ClassVar[Mapping[str, str]] = {
        "max_tokens": "max_tokens",
        "temperature": "temperature",
        "reasoning": "reasoning_effort",
    }

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client without its own timeout: the default of 30 seconds would end requests that the project allows."""
        urls = {"base_url": base_url_from(self.url), "auth_url": base_url_from("GIGACHAT_AUTH_URL")}
        given = {name: url for name, url in urls.items() if url}
        client = library.GigaChat(credentials=key, max_retries=0, timeout=None, **given)
        if (web := getattr(client, "_aclient", None)) is not None:  # the library has no hooks itself
            web.event_hooks = REPORTED
        return client

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request a chat completion."""
        reported = {
            "model": asked.model,
            "messages": asked.messages,
            "function_call": {"name": asked.name} if asked.form == "forced" else "auto",
            **{name: value for name, value in asked.options.items() if name not in asked.extra},
            "additional_fields": {"functions": [asked.payload], **asked.extra},  # otherwise the library drops unknown settings
        }
        return _as_json(await client.achat(reported), by_alias=True, exclude_none=True)


class Mistral(Provider):
    """`mistral:MODEL`; `MISTRAL_BASE_URL` selects another server."""

    kind: ClassVar[str] = "mistral"
    forms: ClassVar[Mapping[Form, str]] = forms_by("mistral", "mistral-output")
    package: ClassVar[str] = "mistralai.client"
    key: ClassVar[str | None] = "MISTRAL_API_KEY"
    url: ClassVar[str] = "MISTRAL_BASE_URL"
    names: ClassVar[Mapping[str, str]] = {
        "max_tokens": "max_tokens",
        "temperature": "temperature",
        "seed": "random_seed",
        "reasoning": "reasoning_effort",
    }

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return a client; its asynchronous methods are used.

        Connections created by the library would be closed when the client is garbage collected, in whatever event loop runs
        then; the loop of a Temporal workflow refuses that.
        """
        from httpx import AsyncClient

        web = AsyncClient(follow_redirects=False, event_hooks=REPORTED)
        return library.Mistral(api_key=key, server_url=base_url_from(self.url), async_client=web)

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request a chat completion."""
        return _as_json(await client.chat.complete_async(**self._arguments(asked)), exclude_unset=True)

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Request a chat completion as a stream of chunks."""
        async with await client.chat.stream_async(**self._arguments(asked)) as events:
            async for event in events:
                yield _as_json(event.data, exclude_unset=True)

    def _arguments(self, asked: ProviderRequest) -> JsonObject:
        return {
            "model": asked.model,
            "messages": asked.messages,
            **OpenAI.form(asked),
            "timeout_ms": int(asked.timeout * 1000),
            **asked.options,
            **asked.extra,
        }


_BESIDE_OPTIONS: Final = frozenset({"keep_alive", "logprobs", "top_logprobs"})
"""Parameters that Ollama does not accept among its `options`."""


class Ollama(Provider):
    """`ollama:MODEL`; the server is at `OLLAMA_HOST`, by default on this machine. No key.

    It uses structured output: the library drops nested parts of a tool, and nothing enforces tool arguments.
    """

    kind: ClassVar[str] = "ollama"
    forms: ClassVar[Mapping[Form, str]] = {"output": "ollama-output", "words": "ollama-output"}
    package: ClassVar[str] = "ollama"
    url: ClassVar[str] = "OLLAMA_HOST"
    usual_url: ClassVar[str | None] = "http://127.0.0.1:11434"
    envelope: ClassVar[str] = "message"
    tokens: ClassVar[TokenNames] = (None, "prompt_eval_count", "eval_count")
    names: ClassVar[Mapping[str, str]] = {
        "max_tokens": "num_predict",
        "temperature": "temperature",
        "seed": "seed",
        "reasoning": "think",
    }
    endless: ClassVar[bool] = True

    def connect(self, library: ModuleType, key: str | None) -> Client:  # noqa: ARG002  -- there is none
        """Return an asynchronous client."""
        hooks = {"response": [_keep_status, raise_answer]}
        return library.AsyncClient(host=base_url_from(self.url), event_hooks=hooks, follow_redirects=False)

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request a chat answer in the payload's format, with enough context: otherwise older text is silently dropped."""
        return _as_json(await self._chat(client, asked), exclude_none=True)

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Request a chat answer as a stream of tokens."""
        async for piece in await self._chat(client, asked, stream=True):
            yield _as_json(piece, exclude_none=True)

    async def _chat(self, client: Client, asked: ProviderRequest, *, stream: bool = False) -> Client:
        options = {**_context_of(asked), **asked.options}
        effort = options.pop("think", None)
        options |= {name: value for name, value in asked.extra.items() if name not in _BESIDE_OPTIONS}
        return await client.chat(
            model=asked.model,
            messages=asked.messages,
            format=asked.payload if asked.form == "output" else None,
            options=options,
            think=False if effort == "none" else "high" if effort == "xhigh" else effort,
            stream=stream,
            **{name: value for name, value in asked.extra.items() if name in _BESIDE_OPTIONS},
        )


async def _keep_status(response: Client) -> None:
    """Raise the error of an HTTP response before the library reads it."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        body = (await response.aread()).decode(errors="replace")
        raise StatusError(response.status_code, response.headers, body)


_LETTERS = 3
"""Conservative number of characters per token of a message."""
_USUAL_CONTEXT = 4096
"""Ollama's default context on a small graphics card, in tokens for message and answer."""


def _context_of(asked: ProviderRequest) -> JsonObject:
    """Return the context that a request needs, if above the default: in powers of two, as a change reloads the model."""
    most = asked.options.get("num_predict")
    needed = len(asked.message.encode()) // _LETTERS + (most if isinstance(most, int) else 0)
    return {"num_ctx": 1 << needed.bit_length()} if needed > _USUAL_CONTEXT else {}


class HostHabits(NamedTuple):
    """What a host takes beside OpenAI's own requests."""

    marked: tuple[str, ...] = ()
    """Beginnings of the names of models for whose cache a message is marked as Anthropic's is; others cache without marks."""
    marked_tools: tuple[str, ...] = ()
    """Likewise for tools."""
    no_thoughts: JsonObject = {}  # noqa: RUF012  -- never changed
    """Parameters that replace the reasoning effort `none`."""


class OpenAI(Provider):
    """`openai:MODEL`; `OPENAI_BASE_URL` selects another server."""

    kind: ClassVar[str] = "openai"
    forms: ClassVar[Mapping[Form, str]] = forms_by("openai", "openai-output")
    package: ClassVar[str] = "openai"
    extra: ClassVar[str | None] = "openai"
    key: ClassVar[str | None] = "OPENAI_API_KEY"
    url: ClassVar[str] = "OPENAI_BASE_URL"
    names: ClassVar[Mapping[str, str]] = {
        "max_tokens": "max_completion_tokens",
        "temperature": "temperature",
        "seed": "seed",
        "reasoning": "reasoning_effort",
    }
    without_tools: ClassVar[str | None] = "llamacpp"
    """Target for servers that ignore the tool choice."""
    habits: ClassVar[HostHabits] = HostHabits()
    _calls_no_tools = False

    def connect(self, library: ModuleType, key: str | None) -> Client:
        """Return an asynchronous client."""
        url = base_url_from(self.url) or self.usual_url
        web = library.DefaultAsyncHttpxClient(follow_redirects=False)
        return library.AsyncOpenAI(api_key=key or "none", base_url=url, max_retries=0, http_client=web)

    async def _answer(self, client: Client, request: Request, model: str, target: str, form: Form) -> Reply:
        """Request a tool call; for a server that answers without it, use `response_format` from then on."""
        if self.without_tools is None or base_url_from(self.url) is None or form != "forced":
            return await super()._answer(client, request, model, target, form)
        if self._calls_no_tools:
            return await super()._answer(client, request, model, self.without_tools, "output")
        reply = await super()._answer(client, request, model, target, form)
        if not reply.complaints or not self._calls_no_tools:
            return reply
        again = await super()._answer(client, request, model, self.without_tools, "output")
        note = f"the server of `{self.kind}` ignores a named `tool_choice`: it is asked by `response_format` from now on"
        usage = {name: again.usage.get(name, 0) + reply.usage.get(name, 0) for name in (again.usage | reply.usage)}
        return replace(again, usage=usage, notes=(note, *again.notes))

    def _keeps(self, reply: Reply, form: Form) -> bool:
        return not (reply.complaints and form == "forced" and self._calls_no_tools)

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request a chat completion."""
        return await _read(await self._create(client, asked))

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Request a chat completion as a stream of chunks."""
        async for piece in await self._create(client, asked, stream=True, stream_options={"include_usage": True}):
            yield _as_json(piece, exclude_unset=True)

    async def _create(self, client: Client, asked: ProviderRequest, **form: Json) -> Client:
        shape, extra, options = self.form(asked), asked.extra, dict(asked.options)
        if self.habits.no_thoughts and options.get("reasoning_effort") == "none":
            del options["reasoning_effort"]
            extra = {**self.habits.no_thoughts, **extra}
        if "tools" in shape and asked.model.startswith(self.habits.marked_tools) and is_long(asked.payload):
            shape["tools"] = [{**_MARK, **as_object(asked.payload)}]
        return await _asking(client.chat.completions, form).create(
            model=asked.model,
            messages=_marked_messages(asked) if asked.model.startswith(self.habits.marked) else asked.messages,
            timeout=asked.timeout,
            extra_body=extra or None,
            **shape,
            **options,
            **form,
        )

    async def _received(self, client: Client, asked: ProviderRequest, told: Told | None) -> Json:
        """Detect an answer without the required tool call."""
        answered = await super()._received(client, asked, told)
        if "tools" in self.form(asked):
            choice = mapping(next(iter(listing(as_object(answered).get("choices"))), None))
            said = mapping(choice.get("message"))
            if said.get("content") and not said.get("tool_calls") and not said.get("refusal"):
                self._calls_no_tools = True
        return answered

    @staticmethod
    def form(asked: ProviderRequest) -> JsonObject:
        """Return the part of a request that carries the schema: a tool or a response format."""
        if asked.form in {"output", "words"}:
            return {"response_format": asked.payload} if asked.form == "output" else {}
        choice: JsonObject = {"tool_choice": {"type": "function", "function": {"name": asked.name}}}
        forced = choice if asked.form == "forced" else {}  # the default is `auto`, which DeepSeek rejects in thinking mode
        return {"tools": [asked.payload], **forced, "parallel_tool_calls": False}


class OpenAIOutput(OpenAI):
    """`openai-output:MODEL`: the same with structured output instead of a tool."""

    kind: ClassVar[str] = "openai-output"
    forms: ClassVar[Mapping[Form, str]] = {"output": "openai-output", "words": "openai-output"}
    without_tools: ClassVar[str | None] = None


class OpenAIResponses(OpenAI):
    """`openai-responses:MODEL`: OpenAI's Responses API, which its reasoning models need for tools."""

    kind: ClassVar[str] = "openai-responses"
    forms: ClassVar[Mapping[Form, str]] = forms_by("openai-responses", "openai-responses-output")
    envelope: ClassVar[str] = "output"
    tokens: ClassVar[TokenNames] = ("usage", "input_tokens", "output_tokens")
    names: ClassVar[Mapping[str, str]] = {
        "max_tokens": "max_output_tokens",
        "temperature": "temperature",
        "reasoning": "reasoning_effort",
    }
    without_tools: ClassVar[str | None] = None

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Request a response; a text by a grammar becomes the only argument of the tool."""
        answered = as_object(await super().send(client, asked))
        if (text := grammar_of(asked)) is None:
            return answered
        output = [mapping(item) for item in listing(answered.get("output"))]
        key, _ = text
        calls: list[Json] = [
            {**item, "type": "function_call", "arguments": dumps({key: item.get("input")}, indent=False)}
            if item.get("type") == "custom_tool_call"
            else item
            for item in output
        ]
        return {**answered, "output": calls}

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Request a response as a stream of events; a text by a grammar comes as a whole."""
        if grammar_of(asked) is not None:
            yield {"type": "response.completed", "response": await self.send(client, asked)}
            return
        async for piece in await self._create(client, asked, stream=True):
            yield _as_json(piece, exclude_unset=True)

    async def _create(self, client: Client, asked: ProviderRequest, **form: Json) -> Client:
        options = dict(asked.options)
        if (effort := options.pop("reasoning_effort", None)) is not None:
            options["reasoning"] = {"effort": effort}
        return await _asking(client.responses, form).create(
            model=asked.model,
            input=asked.message,
            store=False,
            timeout=asked.timeout,
            extra_body=asked.extra or None,
            **self.form(asked),
            **options,
            **form,
        )

    @staticmethod
    def form(asked: ProviderRequest) -> JsonObject:
        """Return the part of a request that carries the schema: a tool or a response format."""
        if asked.form in {"output", "words"}:
            return {"text": {"format": asked.payload}} if asked.form == "output" else {}
        text, tool = grammar_of(asked), as_object(asked.payload)
        if text is not None:
            _, grammar = text
            about: JsonObject = {"name": asked.name, "description": tool.get("description")}
            tool = {"type": "custom", **about, "format": {"type": "grammar", "syntax": "lark", "definition": grammar}}
        choice: Json = {"type": tool["type"], "name": asked.name} if asked.form == "forced" else "auto"
        return {"tools": [tool], "tool_choice": choice, "parallel_tool_calls": False}


def grammar_of(asked: ProviderRequest) -> tuple[str, str] | None:
    """Return the name and the Lark grammar (`x-grammar`) of a text that is a tool's only argument (openai 3.57.0, 2026-11-28)."""
    sent = [*mapping(mapping(mapping(asked.payload).get("parameters")).get("properties"))]
    ours = [mapping(item) for item in mapping(mapping(asked.schema).get("properties")).values()]
    if len(sent) != 1 or len(ours) != 1 or ours[0].get("type") != "string" or asked.form not in {"forced", "choice"}:
        return None
    return (sent[0], text) if isinstance(text := ours[0].get("x-grammar"), str) else None


_OF_SERVERS: Final = {**OpenAI.names, "max_tokens": "max_tokens"}
"""Names of settings for servers of open weights, which use the older name of the token limit."""


class VLLM(OpenAI):
    """`vllm:MODEL`: a vLLM server at `VLLM_BASE_URL`; `VLLM_API_KEY` may be any text if the server needs none."""

    kind: ClassVar[str] = "vllm"
    forms: ClassVar[Mapping[Form, str]] = forms_by("vllm", "llamacpp")
    key: ClassVar[str | None] = "VLLM_API_KEY"
    url: ClassVar[str] = "VLLM_BASE_URL"
    usual_url: ClassVar[str | None] = "http://127.0.0.1:8000/v1"
    names: ClassVar[Mapping[str, str]] = _OF_SERVERS
    endless: ClassVar[bool] = True


class LlamaCpp(OpenAI):
    """`llamacpp:MODEL`: llama.cpp's server, at `LLAMACPP_BASE_URL`, else on this machine. No key; any name if it has one model.

    It uses `response_format`: a named `tool_choice` acts as `auto`.
    """

    kind: ClassVar[str] = "llamacpp"
    forms: ClassVar[Mapping[Form, str]] = {"output": "llamacpp", "words": "llamacpp"}
    key: ClassVar[str | None] = None
    url: ClassVar[str] = "LLAMACPP_BASE_URL"
    usual_url: ClassVar[str | None] = "http://127.0.0.1:8080/v1"
    names: ClassVar[Mapping[str, str]] = _OF_SERVERS
    endless: ClassVar[bool] = True
    without_tools: ClassVar[str | None] = None


class LMStudio(LlamaCpp):
    """`lmstudio:MODEL`: the server of LM Studio at `LMSTUDIO_BASE_URL`, by default on this machine."""

    kind: ClassVar[str] = "lmstudio"
    url: ClassVar[str] = "LMSTUDIO_BASE_URL"
    usual_url: ClassVar[str | None] = "http://127.0.0.1:1234/v1"


class Llamafile(LlamaCpp):
    """`llamafile:MODEL`: a llamafile at `LLAMAFILE_BASE_URL`, by default on this machine."""

    kind: ClassVar[str] = "llamafile"
    url: ClassVar[str] = "LLAMAFILE_BASE_URL"
