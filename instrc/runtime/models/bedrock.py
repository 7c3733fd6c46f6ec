"""Models of Amazon Bedrock, called through its Converse API."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from http import HTTPStatus
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Final

from instrc.problems.errors import unusable
from instrc.runtime.models.clients import Client
from instrc.runtime.models.failures import StatusError, require_no_report
from instrc.runtime.models.forms import Form, forms_by, thinking_of
from instrc.runtime.models.provider import Provider, ProviderRequest, TokenNames, base_url_from, is_long
from instrc.runtime.simultaneous import in_thread
from instrc.text.jsonvalue import Json, JsonObject, as_object, mapping

READ_TIMEOUT: Final = 3600
"""Read timeout of the library, in seconds; the request timeout applies before."""


class Bedrock(Provider):
    """`bedrock:MODEL`; boto3 finds region and credentials, and `BEDROCK_BASE_URL` selects another server."""

    kind: ClassVar[str] = "bedrock"
    forms: ClassVar[Mapping[Form, str]] = forms_by("bedrock", "bedrock-output")
    package: ClassVar[str] = "boto3"
    url: ClassVar[str] = "BEDROCK_BASE_URL"
    envelope: ClassVar[str] = "output"
    tokens: ClassVar[TokenNames] = ("usage", "inputTokens", "outputTokens")
    names: ClassVar[Mapping[str, str]] = {"max_tokens": "maxTokens", "temperature": "temperature", "reasoning": "effort"}

    def connect(self, library: ModuleType, key: str | None) -> Client:  # noqa: ARG002  -- boto3 has other ways to find one
        """Return a client, which is used in threads."""
        config = import_module("botocore.config").Config(retries={"total_max_attempts": 1}, read_timeout=READ_TIMEOUT)
        region = os.environ.get("AWS_REGION")  # otherwise boto3 uses AWS_DEFAULT_REGION and its configuration files
        try:
            client = library.client("bedrock-runtime", region, endpoint_url=base_url_from(self.url), config=config)
        except Exception as error:  # noqa: BLE001  -- boto3 finds credentials in the environment and its files
            raise unusable("model", self.kind, str(error).rstrip(".")) from None
        client.meta.events.register("before-parse.bedrock-runtime", _keep_report)
        return client

    async def send(self, client: Client, asked: ProviderRequest) -> Json:
        """Ask for a message."""
        answered: JsonObject = await _in_thread(partial(client.converse, **self._arguments(asked)))
        return {name: item for name, item in answered.items() if name != "ResponseMetadata"}

    async def stream(self, client: Client, asked: ProviderRequest) -> AsyncGenerator[JsonObject]:
        """Ask for a message, event by event."""
        events = (await _in_thread(partial(client.converse_stream, **self._arguments(asked))))["stream"]
        pieces = iter(events)
        try:
            while (piece := await _in_thread(partial(next, pieces, None))) is not None:
                yield piece
        finally:
            events.close()

    def _arguments(self, asked: ProviderRequest) -> JsonObject:
        """Return the arguments of a request; `extra` has model-specific fields."""
        limits = {name: value for name, value in asked.options.items() if name != "effort"}
        effort, form = asked.options.get("effort"), self.form(asked)
        extra = {**thinking_of(asked.model, asked.form, effort), **asked.extra}
        if effort not in {None, "none"}:
            form["outputConfig"] = {**mapping(form.get("outputConfig")), "effort": effort}
        return {
            "modelId": asked.model,
            "messages": [{"role": "user", "content": [{"text": asked.message}]}],
            **form,
            **({"inferenceConfig": limits} if limits else {}),
            **({"additionalModelRequestFields": extra} if extra else {}),
        }

    @staticmethod
    def form(asked: ProviderRequest) -> JsonObject:
        """Return the part of a request that carries the schema; botocore 1.44.8, `ToolConfiguration`, `OutputConfig`, 2026-11."""
        if asked.form in {"output", "words"}:
            return {"outputConfig": asked.payload} if asked.form == "output" else {}
        choice: JsonObject = {"tool": {"name": asked.name}} if asked.form == "forced" else {"auto": {}}
        caches = is_long(asked.payload) and "claude" in asked.model  # some of the others reject a mark after tools
        mark: list[Json] = [{"cachePoint": {"type": "default"}}] if caches else []
        return {"toolConfig": {"tools": [as_object(asked.payload), *mark], "toolChoice": choice}}


async def _in_thread(call: Callable[[], Client]) -> Client:
    """Call the library in a thread; raise `StatusError` for what the service refuses, also within a stream."""
    try:
        return await in_thread(call)
    except Exception as error:
        response = mapping(getattr(error, "response", None))
        about = mapping(response.get("ResponseMetadata"))
        status = about.get("HTTPStatusCode") or _STATUS.get(str(mapping(response.get("Error")).get("Code")))
        if not isinstance(status, int) or status < HTTPStatus.BAD_REQUEST:
            raise
        headers = {name: str(value) for name, value in mapping(about.get("HTTPHeaders")).items()}
        raise StatusError(status, headers, str(error)) from error


_STATUS: Final[Mapping[str, int]] = {
    "internalServerException": 500,
    "modelStreamErrorException": 500,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}
"""Statuses of errors within a stream; API reference, ConverseStream, 2026-11: that of a model is to be tried again."""


def _keep_report(response_dict: Mapping[str, Any], **_: object) -> None:  # botocore has no type for it
    """Raise the error that an answer reports: the library drops unknown members."""
    if response_dict["status_code"] < HTTPStatus.BAD_REQUEST and isinstance(body := response_dict["body"], bytes):  # no stream
        require_no_report(body)
