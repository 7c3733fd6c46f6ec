"""Reasons why a provider gave no answer: which errors to retry, after how long, and which are permanent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from instrc.providers.lifting.answers import reported_error
from instrc.providers.lifting.reply import text_of
from instrc.runtime.activities import is_temporary
from instrc.runtime.models.model import ModelError
from instrc.runtime.secrets import redacted
from instrc.text.jsontext import dumps, value_in
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping

if TYPE_CHECKING:
    import httpx

_MESSAGE: Final = 600
"""Maximum characters kept of a provider's message: some return a whole page."""
# One table for all providers: words that occur in their errors, whatever the status; the first that occurs counts.
_WORDS: tuple[tuple[str, str, bool], ...] = (
    ("insufficient_quota", "quota", False),  # a 429 of OpenAI that waiting does not fix
    ("billing_", "quota", False),  # hard_limit_reached, not_active
    ("insufficient balance", "quota", False),  # a 429 of GLM, code 1113; zai-org/GLM-5#148
    ("spending limit", "quota", False),  # a 429 of xAI; continuedev/continue#10373
    ("arrearage", "quota", False),  # a 400 of Qwen; help.aliyun.com/en/model-studio/error-code, 2026-11
    ("credit balance is too low", "quota", False),
    ("context_length_exceeded", "context", False),
    ("exceed_context_size", "context", False),
    ("prompt is too long", "context", False),
    ("maximum context length", "context", False),  # of vLLM, which counts the limit of the answer too
    ("maximum number of tokens allowed", "context", False),  # of Gemini; google-gemini/gemini-cli#6678
    ("input is too long", "context", False),  # of Bedrock; aws-samples/bedrock-chat#95
    ("range of input length", "context", False),  # of Qwen; help.aliyun.com/en/model-studio/error-code, 2026-11
    ("content_filter", "refused", False),  # a 400 of Azure
    ("content_policy_violation", "refused", False),
    ("invalid_prompt", "refused", False),  # of OpenAI's Responses
    ("prohibited_content", "refused", False),  # of Gemini
    ("data_inspection_failed", "refused", False),  # of Qwen
    ("requires moderation", "refused", False),  # a 403 of OpenRouter; openrouter.ai/docs/api-reference/errors, 2026-11
    ("tool_use_failed", "unreadable", True),  # a 400 of Groq for a call that its model wrote wrongly; BerriAI/litellm#21242
    ("loading model", "loading", True),
    ("model is loading", "loading", True),
    ("overloaded_error", "overloaded", True),
    ("rate_limit_", "429", True),  # exceeded, error
    ("resource_exhausted", "429", True),
    ("server_error", "500", True),
    ("internal_error", "500", True),
    ("timeout", "timeout", True),
    ("unavailable", "503", True),
)
_REFUSING = frozenset({None, 400, 403})
"""Statuses with which a provider may decline a request because of its content."""
_LOST = ("Timeout", "Connect", "RemoteProtocol", "ReadError", "WriteError")
_ODD = ("APIResponseValidationError", "UnknownApiResponseError", "ResponseValidationError", "DecodingError", "IncompleteRead")
"""Library exceptions for a body that violates the provider's specification."""


def as_model_error(error: Exception) -> ModelError:
    """Convert a library's error to a `ModelError`.

    Overload, timeouts and lost connections are retried, and so are unreadable bodies: HTML, truncated JSON, nothing.
    """
    if isinstance(error, ModelError):
        return error
    names = [item.__name__ for item in type(error).__mro__]
    status = next(
        (result for name in ("status_code", "code", "http_status") if isinstance(result := getattr(error, name, None), int)), None
    )
    text = redacted(" ".join(f"{type(error).__name__}: {error}".split()))[:_MESSAGE]
    if status is not None and status >= 400:
        code, retry = _word(f"{text} {getattr(error, 'body', '')}", status)
        return ModelError(text, code=code, retry=retry, after=_pause(error) if retry else None)
    if (held := _reported(_body_of(error))) or (status is not None and status < 0):  # inside of a stream whose status is 200
        return failure_of(text_of(held.get("message")) or text, {"error": held})
    if any(word in name for name in names for word in _LOST) or isinstance(error, OSError):
        return ModelError(text, code="unreachable", retry=True)
    if "unexpected keyword argument" in text:  # a parameter of `extra` that the library does not know
        return ModelError(text, code="setting")
    if (
        (status is not None and 200 <= status < 400)
        or isinstance(error, ValueError | TypeError | AttributeError | KeyError)
        or any(name in _ODD for name in names)
    ):
        said = f"the answer of the provider cannot be read ({text})"
        return ModelError(said, code="unreadable", retry=True)
    return ModelError(text, code=None if status is None else str(status))


class StatusError(Exception):
    """A response with a status of 400 or above, for libraries that do not keep status and headers."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        super().__init__(f"status {status}: {body}")
        self.status_code = status
        self.headers = headers


class WholeAnswer(Exception):  # noqa: N818  -- no error: it takes an answer past its library
    """The answer of a provider as JSON, its only argument."""


async def raise_answer(response: httpx.Response) -> None:
    """Raise the answer in a response, or its error: some libraries drop that, and all take long to make objects of many parts."""
    kind = response.headers.get("content-type", "").split(";")[0]
    if response.status_code < HTTPStatus.BAD_REQUEST and (kind == "application/json" or not STREAMED.get()):
        answer = require_no_report(await response.aread())
        if isinstance(answer, dict) and any(isinstance(answer.get(name), dict | list) for name in _ANSWERS):
            raise WholeAnswer(answer)


STREAMED: Final = ContextVar("instrc-streamed", default=True)
"""Whether the answer that is asked for comes in parts, which a hook must not wait for."""
_ANSWERS: Final = ("choices", "candidates", "message")
"""Members of an answer, unlike of a response with a token."""


def require_no_report(body: bytes) -> Json:
    """Return the value of a response body; raise the error reported by it."""
    answer = value_in(body.decode(errors="replace"))
    reply = reported_error(answer) if isinstance(answer, dict) else None
    if reply is not None and reply.failure is not None:
        raise failure_of(reply.failure, answer)
    return answer


def _body_of(error: Exception) -> Json:
    """Return the response body stored in a library's error: in full, or only the error in it, as OpenAI's does."""
    body = getattr(error, "body", None)
    body = value_in(body) if isinstance(body, str) else body
    alone = isinstance(body, dict) and "error" not in body and type(error).__name__ == "APIError"
    return {"error": body} if alone else body


def _reported(answer: Json) -> JsonObject:
    """Return the error that a response reports next to or inside its choices, or an empty object."""
    choice = mapping(next(iter(listing(mapping(answer).get("choices"))), None))
    held = (mapping(holder).get("error") for holder in (answer, choice, mapping(answer).get("response")))
    error = next((error for error in held if error), None)
    event = mapping(mapping(answer).get("data")) or mapping(answer)  # the library of Mistral keeps an event of a stream whole
    if error is None and "message" in event and {"object", "status"} & event.keys():
        return event  # of Mistral and vLLM, of GigaChat
    return error if isinstance(error, dict) else {"message": error} if error else {}


def _status_in(error: JsonObject) -> int | None:
    """Return the HTTP status in an error, as a number or its digits."""
    said = (text_of(error.get(name)) or "" for name in ("code", "status", "status_code"))
    return next((int(text) for text in said if re.fullmatch("[45][0-9][0-9]", text)), None)


def _word(text: str, status: int | None) -> tuple[str, bool]:
    """Return the code of an error, and whether to retry."""
    lower = text.lower()
    for word, code, retry in _WORDS:
        of_status = code.isdecimal() or code in {"timeout", "overloaded"}  # the status is more specific
        unlikely = (of_status and status is not None) or (code == "refused" and status not in _REFUSING)
        if word in lower and not unlikely:
            return code, retry
    if status == HTTPStatus.PAYMENT_REQUIRED:
        return "quota", False
    return ("provider", False) if status is None else (str(status), is_temporary(status))


def _pause(error: Exception) -> float | None:
    """Return the seconds that a provider asks to wait, if it does."""
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    said = {str(key).lower(): str(value) for key, value in headers.items()} if isinstance(headers, Mapping) else {}
    if (result := _number(said.get("retry-after-ms"))) is not None:
        return result / 1000
    if "retry-after" in said:
        return _number(said["retry-after"]) if _number(said["retry-after"]) is not None else _until(said["retry-after"])
    resets = [
        _go_span(value)
        for key, value in said.items()
        if key.startswith("x-ratelimit-reset-") and said.get(key.replace("-reset-", "-remaining-")) == "0"
    ]
    if resets:
        return max(resets)
    inside = re.search(r"retryDelay\W{1,8}([\d.]{1,12})s", str(error))  # Gemini states it in the body
    return _number(inside[1]) if inside else None


def _number(text: str | None) -> float | None:
    """Return a non-negative number of seconds, or `None` for anything else."""
    return float(text) if text is not None and re.fullmatch(r"\s*\d{1,99}(\.\d{1,9})?\s*", text) else None


def _until(text: str) -> float | None:
    """Return the seconds until an HTTP date."""
    try:
        result = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    aware = result if result.tzinfo is not None else result.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)


def _go_span(text: str) -> float:
    """Return the seconds of a duration in Go syntax, `6m0s` or `20ms`, as OpenAI uses it."""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s)", text))


def failure_of(said: str, answer: Json) -> ModelError:
    """Return the error reported in a response with status 200."""
    error = _reported(answer)
    code, retry = _word(f"{said} {dumps(error, indent=False)}", _status_in(error))
    return ModelError(redacted(said)[:_MESSAGE], code=code, retry=retry)


def context_of(error: ModelError) -> tuple[int, int] | None:
    """Return the context size of a model and the tokens of a message, if an error has both, as vLLM's does."""
    said = re.search(r"context length is (\d{1,9})\D.{0,300}?(?:has (\d{1,9}) input|\((\d{1,9}) in the messages)", str(error))
    return None if said is None else (int(said[1]), int(said[2] or said[3]))
