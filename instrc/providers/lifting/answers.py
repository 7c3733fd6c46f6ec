"""Find calls, texts and refusals in the answer of a provider or a framework, whatever its envelope."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from http import HTTPStatus
from itertools import islice
from typing import Final, NamedTuple, cast

from msgspec.structs import replace

from instrc.problems.errors import CompileError
from instrc.problems.files import TooLarge
from instrc.providers.lifting.parts import (
    are_parts,
    candidate_of,
    choice_of,
    contain_call,
    content,
    event_of,
    is_candidate,
    is_choice,
    is_message,
    is_part,
    message,
    part,
)
from instrc.providers.lifting.reply import (
    RawCall,
    RawReply,
    first,
    join_replies,
    raw_call,
    stop_reply,
    strip_reasoning,
    text_of,
    with_repeated,
)
from instrc.providers.lifting.streams import assemble, pieces_in, repeated_in_lines
from instrc.text.jsontext import value_in
from instrc.text.jsonvalue import Json, JsonObject, as_texts, listing, mapping, text_or_empty

TEXTS_IN_TEXTS: Final = 3
"""Maximum nesting of JSON texts in JSON texts."""
PLAIN_LEVELS: Final = 60
"""Maximum nesting at which library objects are converted."""
STREAMED_PIECES: Final = 1_000_000
"""Maximum chunks read from a stream."""


def json_of(value: object) -> Json:
    """Return an object as plain JSON; values that are not JSON are unchanged.

    A stream is consumed.  Raise `TypeError` for an awaitable.
    """
    if isinstance(value, Awaitable | AsyncIterable):
        message = f"the answer is an awaitable ({type(value).__name__}): `await` it, or collect its chunks, first"
        raise TypeError(message)
    return cast("Json", _json_of(value, 0, {}))  # callers that need pure JSON use `json_fault`


def _json_of(value: object, level: int, known: dict[int, tuple[object, object]]) -> object:
    """Return an object as JSON; `known` has the objects met before, by identity, and keeps them, as they may be unhashable."""
    if isinstance(value, Enum):
        result: object = value.value
        return result
    if value is None or isinstance(value, str | bytes | bytearray | int | float):
        return bytes(value) if isinstance(value, bytearray) else value
    if level > PLAIN_LEVELS:
        return value
    if id(value) not in known:
        known[id(value)] = value, value  # cyclic values are left unchanged
        known[id(value)] = value, _unfolded(value, level, known)
    return known[id(value)][1]


def _unfolded(value: object, level: int, known: dict[int, tuple[object, object]]) -> object:
    if isinstance(value, list | tuple):
        return [_json_of(item, level + 1, known) for item in value]
    if isinstance(value, Mapping):
        return {key: _json_of(item, level + 1, known) for key, item in value.items()}
    if isinstance(value, type):
        return value
    try:
        if hasattr(value, "model_dump"):
            return _dumped(value.model_dump)
        if isinstance(getattr(value, "status_code", None), int) and isinstance(body := getattr(value, "content", None), bytes):
            return body  # a response of httpx or requests
        if is_dataclass(value):
            return {each.name: _json_of(getattr(value, each.name), level + 1, known) for each in fields(value)}
    except Exception:  # noqa: BLE001  -- a foreign object, which may only look like a model
        return value
    return _of_stream(value, level, known) if isinstance(value, Iterable) else value


def _dumped(dump: Callable[..., object]) -> object:
    """Dump a pydantic model, or an object with the same methods."""
    try:  # by the runtime types of its parts, as LangChain declares base classes
        return dump(mode="json", by_alias=False, warnings=False, serialize_as_any=True)
    except TypeError:  # a version with fewer options
        return dump(mode="json", by_alias=False)


def _of_stream(stream: Iterable[object], level: int, known: dict[int, tuple[object, object]]) -> object:
    """Return the chunks of a stream, or the text of its lines or fragments; raise `CompileError` if it does not end."""
    pieces = list(islice(stream, STREAMED_PIECES + 1))
    if len(pieces) > STREAMED_PIECES:
        raise CompileError([TooLarge(what="the stream", limit=STREAMED_PIECES, unit="pieces")])
    if pieces and all(isinstance(piece, str | bytes) for piece in pieces):
        decoder = getincrementaldecoder("utf-8")("replace")  # a character may be divided between two chunks
        return _joined_text([decoder.decode(piece) if isinstance(piece, bytes) else str(piece) for piece in pieces])
    return [_json_of(piece, level + 1, known) for piece in pieces]


def _joined_text(texts: list[str]) -> str:
    """Return the text of chunks, which may be the lines of a stream or divided anywhere."""
    whole, lines = "".join(texts), "\n".join(texts)
    return lines if not pieces_in(whole) and pieces_in(lines) else whole


OwnershipOf = Callable[[Json], "Ownership"]


class Ownership(NamedTuple):
    """Which keys of an object belong to a tool's arguments."""

    all: bool
    """Whether the tool owns all keys, so that the object may be the arguments themselves."""
    any: bool


class Readings(NamedTuple):
    """The possible readings of an answer."""

    first: RawReply
    other: RawReply | None = None
    """Second reading: bare arguments read as an envelope, or a list; `None` for a certain envelope."""
    equal: bool = False
    """Whether the other reading is as likely as the first; otherwise it is used only if the first fails."""


def readings(answer: object, owns: OwnershipOf, names: frozenset[str]) -> Readings:
    """Return the content of an answer, in one or two readings.

    `owns` returns which keys of an object belong to arguments; `names` are the names under which tools were sent.
    """
    value = json_of(answer)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return _of_text(value, owns, names) if isinstance(value, str) else _of_value(value, owns, names)


def _of_text(text: str, owns: OwnershipOf, names: frozenset[str]) -> Readings:
    text = text.removeprefix("\ufeff")
    said, unended = strip_reasoning(text)
    if not said.strip():
        return Readings(RawReply(cut=unended))  # arguments may be empty, an answer may not
    call = raw_call(None, text)
    for _ in range(TEXTS_IN_TEXTS):  # a value that was written as JSON twice
        held = call.arguments if call.unreadable is None else None
        inner = raw_call(None, held) if isinstance(held, str) and held.lstrip().startswith(("{", "[")) else None
        if inner is None or inner.unreadable is not None:
            break
        call = inner
    if call.unreadable is None and isinstance(call.arguments, dict | list):
        return _told(_of_value(call.arguments, owns, names, call), call.repeated)
    if call.unreadable is not None and (pieces := pieces_in(text)) is not None:
        if not pieces:
            return Readings(RawReply(cut=True))
        value: Json = pieces[0] if len(pieces) == 1 and assemble(pieces) is None else [*pieces]
        return _told(_of_value(value, owns, names), repeated_in_lines(text))
    return Readings(RawReply((call,), cut=unended or call.partial))


def _told(read: Readings, repeated: tuple[str, ...]) -> Readings:
    """Return readings whose calls list the duplicate keys of the answer's text."""
    if not repeated:
        return read
    one, other = (item and replace(item, calls=with_repeated(item.calls, repeated)) for item in (read.first, read.other))
    return read._replace(first=one or read.first, other=other)


def _of_value(answer: Json, owns: OwnershipOf, names: frozenset[str], text: RawCall | None = None) -> Readings:
    """Return the content of a value; `text` is its source text, if any."""
    bare = RawReply((RawCall(None, answer) if text is None else text,))
    if isinstance(answer, list):
        result = _of_list(answer, names)
        if result is not None:
            return Readings(replace(result, envelope=True))
        fragments = as_texts(answer) if all(isinstance(item, str) for item in answer) else []
        return Readings(bare, _of_text("".join(fragments), owns, names).first if fragments else None)
    if not isinstance(answer, dict):
        return Readings(bare)
    if "ResponseMetadata" in answer and isinstance(stream := answer.get("stream"), list):  # Bedrock's ConverseStream
        return _of_value(stream, owns, names)
    inner = unwrapped(answer)
    result = response(inner)
    if result is None and (is_part(inner) or _is_named_call(inner, names)):
        result = content([inner])
    if result is None and (joined := assemble([inner])) is not None:
        result = response(joined)
    if result is None:
        return Readings(bare)
    result = replace(result, envelope=True)
    certain = _is_certain(inner) and (inner is answer or "error" not in inner)
    if owns(answer).all and not certain:
        return Readings(bare, result, equal=True)
    return Readings(result)


def _is_certain(answer: JsonObject) -> bool:
    """Return whether a recognized object is certainly a response: arguments never have such nested members."""
    choice, candidate = (mapping(next(iter(listing(answer.get(key))), None)) for key in ("choices", "candidates"))
    error, kind, role = mapping(answer.get("error")), text_or_empty(answer.get("object")), answer.get("role")
    counts = (mapping(answer.get(key)) for key in ("usage", "usageMetadata", "usage_metadata", "meta"))
    output = answer.get("output", answer.get("outputs"))
    return (
        bool(choice.keys() & {"message", "delta", "error"} or candidate.keys() & {"content", "finishReason", "finish_reason"})
        or kind.startswith(("chat.completion", "text_completion", "response", "realtime.response", "error", "conversation"))
        or bool(error.keys() & {"message", "code", "type"})
        or any("token" in key.casefold() for count in counts for key in count)
        or bool(mapping(first(answer, "promptFeedback", "prompt_feedback")).keys() & {"blockReason", "block_reason"})
        or (isinstance(answer.get("done"), bool) and bool(answer.keys() & {"message", "response"}))
        or isinstance(mapping(output).get("message"), dict)
        or (bool(listing(output)) and all(map(is_part, listing(output))))
        or (role == "assistant" and (answer.get("type") == "message" or "stop_reason" in answer))
        or _is_body_of_error(answer)
    )


_REFUSALS = frozenset(status.phrase for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST) | {"Not authenticated"}
"""Texts that servers send as the only reason of a refusal: FastAPI as `detail`, vLLM as `error`."""


def _is_body_of_error(answer: JsonObject) -> bool:
    """Return whether an object is the body of an HTTP error: a phrase of HTTP, FastAPI's invalid members, TGI's error."""
    if answer.keys() not in ({"detail"}, {"error"}):
        return answer.keys() == {"error", "error_type"}
    [said] = answer.values()
    faults = map(mapping, listing(said) or [said])
    return text_or_empty(said) in _REFUSALS or all("error" in fault or {"loc", "msg"} <= fault.keys() for fault in faults)


def _of_list(answer: list[Json], names: frozenset[str]) -> RawReply | None:
    """Return the content of a list: parts, a stream, choices, calls by name, one response, or `None` if it is a value itself."""
    lines = [item for item in answer if isinstance(item, str)]
    if lines and len(lines) == len(answer):
        pieces = pieces_in(_joined_text(lines))
        return _of_list([*pieces], names) if pieces else None
    sent = [item for item in answer if isinstance(item, dict)]
    if not answer or len(sent) < len(answer):
        return None
    items = [unwrapped(item) for item in sent]
    if are_parts(items):
        return content([*items])
    if (joined := assemble(items)) is not None:
        return response(joined)
    if all(map(is_choice, items)):
        return choice_of(items[0])
    if all(map(is_candidate, items)):
        return candidate_of(items[0])
    if all(map(is_message, items)):
        return last_words(items)
    if all(_is_named_call(item, names) for item in items):
        return join_replies(map(part, items))
    return response(items[0]) if len(items) == 1 else None


def _is_named_call(answer: Json, names: frozenset[str]) -> bool:
    """Return whether an object is a name with arguments: one of the known names, or without any other members."""
    if not isinstance(answer, dict):
        return False
    if answer.keys() == {"name", "arguments"} and isinstance(answer["name"], str) and isinstance(answer["arguments"], dict | str):
        return True
    name = answer.get("name")
    return isinstance(name, str) and name in names and bool(answer.keys() & {"arguments", "input", "args", "parameters"})


def _langchain(answer: JsonObject) -> RawReply | None:
    """Read an `AIMessage` of LangChain, alone or next to its parsed value."""
    if answer.keys() == {"raw", "parsed", "parsing_error"} and isinstance(raw := answer["raw"], dict):
        answer = raw  # `with_structured_output(…, include_raw=True)`
    if all(answer.get("type") != kind for kind in ("ai", "AIMessageChunk")) or "content" not in answer:
        return None
    beside = answer.get("additional_kwargs")
    if not answer.get("tool_calls") and not answer.get("invalid_tool_calls") and isinstance(beside, dict):
        answer = {**answer, "tool_calls": beside.get("tool_calls"), "function_call": beside.get("function_call")}
    result = message(answer)
    if result.refusal is None and isinstance(beside, dict) and isinstance(refusal := beside.get("refusal"), str) and refusal:
        result |= RawReply(refusal=refusal)
    unread = answer.get("invalid_tool_calls")
    for call in unread if isinstance(unread, list) else ():
        if isinstance(call, dict):
            known = raw_call(call.get("name"), call.get("args"), call.get("id"))
            if known.unreadable is None and not isinstance(known.arguments, dict):
                known = RawCall(known.name, call.get("args"), known.id, str(call.get("error") or "it is not JSON"))
            result |= RawReply((known,))
    return result | _end_of_langchain(mapping(answer.get("response_metadata")))


def _pydantic_ai(answer: JsonObject) -> RawReply | None:
    """Read a `ModelResponse` of pydantic-ai."""
    if answer.get("kind") != "response" or not isinstance(parts := answer.get("parts"), list):
        return None
    return content(parts) | stop_reply(answer.get("finish_reason"))


def _deferred(answer: JsonObject) -> RawReply | None:
    """Read `DeferredToolRequests` of pydantic-ai: calls that run elsewhere, or that a person has to approve."""
    calls, approvals = answer.get("calls"), answer.get("approvals")
    if "metadata" not in answer or not isinstance(calls, list) or not isinstance(approvals, list):
        return None
    parts = [*calls, *approvals]
    requested = all(isinstance(item, dict) and item.get("part_kind") == "tool-call" for item in parts)
    return content(parts) if parts and requested else None


def _bedrock(answer: JsonObject) -> RawReply | None:
    """Read an answer of Bedrock Converse."""
    output = answer.get("output")
    if not isinstance(output, dict) or not isinstance(said := output.get("message"), dict):
        return None
    return stop_reply(answer.get("stopReason")) | message(said)


def _live(answer: JsonObject) -> RawReply | None:
    """Read a message of Gemini's Live API: calls, or the model's turn."""
    calls = first(answer, "toolCall", "tool_call")
    if isinstance(calls, dict) and isinstance(listed := first(calls, "functionCalls", "function_calls"), list):
        return join_replies(part({"functionCall": call}) for call in listed if isinstance(call, dict))
    said = first(answer, "serverContent", "server_content")
    if not isinstance(said, dict):
        return None
    return message(first(said, "modelTurn", "model_turn"))


def _end_of_langchain(about: JsonObject) -> RawReply:
    """Return the stop reason from LangChain's metadata of the response: in the words of most, of Responses, of Gemini."""
    result = join_replies(stop_reply(about.get(key)) for key in ("finish_reason", "stop_reason", "stopReason", "done_reason"))
    result |= stop_reply(mapping(about.get("incomplete_details")).get("reason"))
    if isinstance(blocked := mapping(about.get("prompt_feedback")).get("block_reason"), str):
        result |= RawReply(refusal=blocked)
    if about.get("status") == "failed":
        result |= RawReply(failure=text_of(mapping(about.get("error")).get("message")) or "failed")
    return result


_LEVELS = 2
"""The body of `invoke_model` in a line of a batch."""


def unwrapped(answer: JsonObject) -> JsonObject:
    """Return the response that an object is wrapped around; the object itself if it is not a wrapper."""
    for _ in range(_LEVELS):
        inner = next((result for take in _WRAPPERS if (result := take(answer)) is not None), None)
        if inner is None:
            break
        answer = inner
    return answer


def _of_batch(answer: JsonObject) -> JsonObject | None:
    """Return the content of a line of a batch: of OpenAI and Mistral, of Anthropic, of Gemini."""
    if not answer.keys() & {"custom_id", "key"}:
        return None
    response, result = answer.get("response"), answer.get("result")
    if isinstance(response, dict):
        return body if isinstance(body := response.get("body"), dict) else response
    if not isinstance(result, dict) or not isinstance(kind := result.get("type"), str):
        return None
    if isinstance(said := result.get("message"), dict):
        return said
    error = mapping(result.get("error"))
    return {"error": mapping(error.get("error")) or error or {"message": kind}}


def _of_body(answer: JsonObject) -> JsonObject | None:
    """Return the body that Bedrock's `invoke_model` returns as a text."""
    body = answer.get("body")
    if not isinstance(body, str) or not answer.keys() & {"ResponseMetadata", "contentType"}:
        return None
    return held if isinstance(held := value_in(body), dict) else None


def _of_dashscope(answer: JsonObject) -> JsonObject | None:
    """Return the content of a response of DashScope's own protocol: choices, or one text."""
    output = mapping(answer.get("output"))
    if "request_id" not in answer or not output.keys() & {"choices", "finish_reason"}:
        return None
    said: JsonObject = {"message": {"content": output.get("text")}, "finish_reason": output.get("finish_reason")}
    return {"choices": output.get("choices") or [said]}


def _of_replicate(answer: JsonObject) -> JsonObject | None:
    """Return the content of a prediction of Replicate: its text, or those of its parts."""
    if not {"id", "status", "output", "error", "logs"} <= answer.keys():
        return None
    error = answer.get("error") and {"message": answer["error"]}
    return {"choices": [{"message": {"content": answer["output"]}, "finish_reason": answer.get("status"), "error": error}]}


_WRAPPERS: tuple[Callable[[JsonObject], JsonObject | None], ...] = (_of_batch, _of_body, _of_dashscope, _of_replicate)
_OF_A_RESULT = frozenset({"structuredContent", "isError", "structured_content", "is_error"})
_RESULT = _OF_A_RESULT | {"content", "_meta", "meta", "resultType", "result_type"}
"""Members of an MCP tool result."""
_PARTS_OF_MCP = frozenset({"text", "image", "audio", "resource", "resource_link"})


def response(answer: JsonObject) -> RawReply | None:
    """Return the content of a whole response without wrappers, or of its message, or `None` if it is neither."""
    return next((result for reader in _READERS if (result := reader(answer)) is not None), None)


def reported_error(answer: JsonObject) -> RawReply | None:
    """Return the error sent instead of an answer or with it; `None` if there is none.

    Most providers send it as `error`, boto3 as `Error` in a `response`, vLLM and Mistral as `object: error`, GigaChat with a
    `status`, FastAPI as `detail`, DashScope as `code` and `message` with a `request_id`, Cloudflare as `errors` beside `success`.
    """
    error = answer.get("Error" if "ResponseMetadata" in answer else "error")
    if isinstance(error, str) and not answer.keys() & {"choices", "message", "output"}:
        return RawReply(failure=error)
    choices = listing(answer.get("choices"))
    if not error and choices:
        error = mapping(choices[0]).get("error")  # OpenRouter reports there what failed while the answer was written
    if isinstance(error, dict) and (error or not (choices or answer.get("candidates"))):
        beside = join_replies(part(item) for item in listing(answer.get("output")) if isinstance(item, dict))
        said = first(error, "message", "Message")
        return RawReply(failure=said if isinstance(said, str) and said else text_of(error)) | beside
    status = answer.get("status")
    refused = isinstance(status, int) and 400 <= status < 600
    if answer.get("object") == "error" or (refused and isinstance(answer.get("message"), str)):
        return RawReply(failure=str(answer.get("message") or "error"))
    if isinstance(answer.get("message"), str) and answer.keys() & {"__type"}:  # AWS
        return RawReply(failure=str(answer["message"]))
    if answer.keys() == {"code", "message", "request_id"}:  # DashScope
        return RawReply(failure=f"{answer['code']}: {answer['message']}")
    if answer.get("success") is False and (errors := listing(answer.get("errors"))):
        return RawReply(failure=text_of(mapping(errors[0]).get("message")) or "error")
    if answer.keys() == {"detail"}:
        return RawReply(failure=text_of(answer["detail"]) or "error")
    return None


def _choices(answer: JsonObject) -> RawReply | None:
    """Read Chat Completions, of OpenAI and of all who speak as it does, or one choice of it alone."""
    choices = answer.get("choices")
    if not isinstance(choices, list):
        return choice_of(answer) if is_choice(answer) else None
    result = [choice for choice in choices if isinstance(choice, dict)]
    if len(result) < len(choices) or (result and "delta" in result[0] and "message" not in result[0]):
        return None  # chunks of a stream are joined first
    return choice_of(_first_of(result)) if result else RawReply()


def _first_of(answers: list[JsonObject]) -> JsonObject:
    """Return the first of several answers by their numbers, which may not be in order."""
    return next((answer for answer in answers if not answer.get("index")), answers[0])


def _candidates(answer: JsonObject) -> RawReply | None:
    """Read Gemini's candidates, and the reason where there are none, or one candidate alone."""
    candidates, feedback = answer.get("candidates"), first(answer, "promptFeedback", "prompt_feedback")
    if not isinstance(candidates, list) and not isinstance(feedback, dict):
        return candidate_of(answer) if is_candidate(answer) else None
    result = RawReply()
    if listed := [candidate for candidate in listing(candidates) if isinstance(candidate, dict)]:
        result |= candidate_of(_first_of(listed))
    if isinstance(feedback, dict) and (reason := first(feedback, "blockReason", "block_reason")):
        result |= RawReply(refusal=str(reason).rsplit(".", 1)[-1])
    return result


def _output(answer: JsonObject) -> RawReply | None:
    """Read OpenAI's Responses, and the conversations of Mistral and interactions of Gemini, which have `outputs`."""
    output = answer.get("output", answer.get("outputs"))
    if not isinstance(output, list):
        return None
    typed = "outputs" in answer and output != [] and all(isinstance(item, dict) and "type" in item for item in output)
    is_response = any(answer.get("object") == kind for kind in ("response", "realtime.response"))
    if not is_response and not typed and not all(map(is_part, output)):
        return None
    result = join_replies(part(item) for item in output if isinstance(item, dict))
    details = first(answer, "incomplete_details", "status_details")
    result |= stop_reply(details.get("reason") if isinstance(details, dict) else None) | stop_reply(answer.get("status"))
    unfinished = any(answer.get("status") == status for status in ("incomplete", "in_progress", "queued"))
    return result | RawReply(cut=unfinished and result.refusal is None)


def _mcp(answer: JsonObject) -> RawReply | None:
    """Read a request to call a tool, and the response of a server; Python's library writes its members with `_`."""
    if answer.get("method") == "tools/call" and isinstance(params := answer.get("params"), dict):
        return RawReply((raw_call(params.get("name"), params.get("arguments"), answer.get("id")),))
    result = answer.get("result") if "jsonrpc" in answer else answer
    if not isinstance(result, dict) or not (
        (result.keys() & _OF_A_RESULT and result.keys() <= _RESULT)
        or "structuredContent" in result
        or (result is not answer and isinstance(result.get("content"), list))
        or (result.keys() <= _RESULT and _are_of_mcp(result.get("content")))
    ):
        return None
    structured = result.get("structuredContent", result.get("structured_content"))
    if result.get("isError", result.get("is_error")) is True:
        return RawReply(failure="\n".join(content(result.get("content")).texts) or "isError")
    if structured is not None or "structuredContent" in result:
        return RawReply((RawCall(None, structured),), result=True)
    return replace(content(result.get("content")), result=True)


def _ollama(answer: JsonObject) -> RawReply | None:
    """Read `/api/chat` and `/api/generate`."""
    end = stop_reply(answer.get("done_reason")) | RawReply(cut=answer.get("done") is False)
    if isinstance(said := answer.get("message"), dict) and ("role" in said or "tool_calls" in said):
        return end | message(said)
    if isinstance(text := answer.get("response"), str) and "done" in answer:
        return end | content(text)
    return None


def _llama_cpp(answer: JsonObject) -> RawReply | None:
    """Read `/completion` of llama.cpp."""
    text = answer.get("content")
    if not isinstance(text, str) or answer.keys().isdisjoint({"stop_type", "tokens_predicted"}):
        return None
    return stop_reply(answer.get("stop_type")) | content(text)


def _messages(answer: JsonObject) -> RawReply | None:
    """Read several messages in a list, as GigaChat's second contract and the states of agents have them."""
    listed = answer.get("messages")
    said = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not isinstance(listed, list) or not listed or len(said) < len(listed):
        return None
    return stop_reply(answer.get("finish_reason")) | last_words(said)


def _message(answer: JsonObject) -> RawReply | None:
    """Read one message: Anthropic's response is one, so is the return value of a smolagents model."""
    if (
        isinstance(first(answer, "tool_calls", "toolCalls"), list)
        or "stop_reason" in answer
        or answer.get("role") in ("assistant", "model")
    ):
        end = stop_reply(first(answer, "stop_reason", "stopReason", "finishReason"))
        return end | message(answer)
    if isinstance(parts := answer.get("parts"), list) and all(isinstance(item, dict) for item in parts):
        return message(answer)
    return message(answer) if contain_call(answer.get("content")) else None  # its role was left out


_READERS: tuple[Callable[[JsonObject], RawReply | None], ...] = (
    reported_error,
    _choices,
    _candidates,
    _langchain,
    _pydantic_ai,
    _deferred,
    _bedrock,
    _live,
    event_of,
    _output,
    _mcp,
    _ollama,
    _messages,
    _llama_cpp,
    _message,
)


def _are_of_mcp(parts: Json) -> bool:
    """Return whether a value is a list of parts as a server of MCP returns them."""
    return isinstance(parts, list) and bool(parts) and all(mapping(part).get("type") in _PARTS_OF_MCP for part in parts)


_OF_OTHERS = frozenset({"user", "system", "developer", "tool", "function", "human", "remove", "request"})


def last_words(messages: list[JsonObject]) -> RawReply:
    """Return the last turn of the model in a conversation."""
    last: list[JsonObject] = []
    for item in messages:
        speaker = item.get("role") or item.get("kind") or item.get("type")
        last = [] if isinstance(speaker, str) and speaker in _OF_OTHERS else [*last, item]
    return join_replies(stop_reply(item.get("finish_reason")) | (response(item) or message(item)) for item in last)
