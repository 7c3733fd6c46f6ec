"""Partial answers: the content of a stream's chunks so far, and the complete answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from instrc.providers.lifting.streams import assemble
from instrc.runtime.boundary import LEVELS
from instrc.runtime.models.model import ModelError
from instrc.schema.kinds import kind_of_value, listed_values, own_kinds
from instrc.schema.walk import dereferenced
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, listing, mapping, text_or_empty

PART_PAUSE: Final = 0.05
"""Seconds between two parts of an answer."""
PART_SHARE: Final = 0.05
"""Maximum share of an answer's time spent on its parts: repeatedly parsing a long text is slow."""


class AnswerPart(Struct, frozen=True):
    """A model's answer so far."""

    key: str
    """`run/command`, equal for all parts of one answer."""
    steps: tuple[str, ...]
    """Steps that the model completes."""
    value: Json
    """Value written so far, in the program's names, without thoughts; its last text or list may still grow."""
    complete: tuple[str, ...]
    """Members of the value that are final, unless the model is asked again."""

    @property
    def run(self) -> str:
        """The root run."""
        return self.key.partition("/")[0]


TellPart: TypeAlias = Callable[[AnswerPart], object]
"""Receives parts of answers, from any thread."""


def written(piece: JsonObject) -> tuple[str, str]:
    """Return the text that a chunk of a stream adds to the first call, and to the message text.

    Chat Completions, Responses, Anthropic Messages, Bedrock, Ollama and Gemini are supported.
    """
    delta, message = mapping(piece.get("delta")), mapping(piece.get("message"))
    delta = delta or mapping(mapping(piece.get("contentBlockDelta")).get("delta"))
    call = [text_or_empty(delta.get("partial_json")), text_or_empty(mapping(delta.get("toolUse")).get("input"))]
    said = [text_or_empty(delta.get("text")), text_or_empty(message.get("content"))]
    kind, fragment = piece.get("type"), text_or_empty(piece.get("delta"))
    call.append(fragment if kind == "response.function_call_arguments.delta" else "")
    said.append(fragment if kind == "response.output_text.delta" else "")
    for choice in map(mapping, listing(piece.get("choices"))[:1]):
        more = mapping(choice.get("delta"))
        said.append(text_or_empty(more.get("content")))
        calls = [item for item in map(mapping, listing(more.get("tool_calls"))) if not item.get("index")]
        call += [text_or_empty(mapping(item.get("function")).get("arguments")) for item in calls]
    for candidate in map(mapping, listing(piece.get("candidates"))[:1]):
        parts = map(mapping, listing(mapping(candidate.get("content")).get("parts")))
        said += [text_or_empty(item.get("text")) for item in parts if item.get("thought") is not True]
    return "".join(call), "".join(said)


def is_last(piece: JsonObject) -> bool:
    """Return whether a chunk has the stop reason; a stream without one was interrupted."""
    reasons = [mapping(choice).get("finish_reason") for choice in listing(piece.get("choices"))]
    reasons += [mapping(candidate).get("finishReason") for candidate in listing(piece.get("candidates"))]
    return (
        piece.get("done") is True
        or any(piece.get("type") == kind for kind in ("response.completed", "response.incomplete", "response.failed"))
        or "promptFeedback" in piece
        or "messageStop" in piece
        or bool(mapping(piece.get("delta")).get("stop_reason"))
        or any(reasons)
    )


def whole_answer(pieces: list[JsonObject], names: tuple[str | None, str, str]) -> JsonObject:
    """Return the answer of joined chunks, with its token counts; raise `ModelError` if the stream was interrupted."""
    answer = assemble(pieces) if pieces else None
    if answer is None or ("error" not in answer and not any(map(is_last, pieces))):
        raise ModelError("the stream of the provider ended before the answer did", code="unreadable", retry=True)
    member, *counted = names  # next to the counts that the answer itself has, such as those of Ollama, all are those of tokens
    holders = [
        item for piece in pieces for item in (*(mapping(piece.get(key)) for key in ("message", "response", "metadata")), piece)
    ]  # Anthropic reports two counts
    counts: JsonObject = {}
    for holder in holders if member is None else [mapping(item.get(member)) for item in holders]:
        told = counted if member is None else holder
        counts |= {name: count for name in told if isinstance(count := holder.get(name), int | dict)}
    return answer | (counts if member is None else {member: counts})


_DEEP_VALUE: Final = 100
"""Maximum nesting of a value that is examined; deeper parts are passed on unchanged."""


def in_shape(value: Json, schema: Json, root: Json, depth: int = 0) -> Json:
    """Return the beginning of a value without parts that do not fit its schema yet, such as half of a map sent as a list."""
    schema = dereferenced(schema, root)
    if not isinstance(schema, dict) or not isinstance(value, dict | list) or depth > _DEEP_VALUE:
        return value
    fitting = [item for item in _branches(schema) if _may_become(value, item, root)]
    if "anyOf" in schema or "oneOf" in schema:
        return in_shape(value, fitting[0], root, depth + 1) if len(fitting) == 1 else value
    if isinstance(value, list):
        items = schema.get("items")
        return [in_shape(item, items, root, depth + 1) for item in value if _may_become(item, items, root)]
    parts, rest = mapping(schema.get("properties")), schema.get("additionalProperties")
    known = [(key, item, parts.get(key, rest)) for key, item in value.items()]
    return {key: in_shape(item, part, root, depth + 1) for key, item, part in known if _may_become(item, part, root)}


def _branches(schema: JsonObject) -> list[Json]:
    return [*listing(schema.get("anyOf")), *listing(schema.get("oneOf"))]


_DEEP: Final = 8
"""Maximum nesting of unions that is examined."""


def _may_become(value: Json, schema: Json, root: Json, depth: int = 0) -> bool:
    """Return whether a growing value has a type of a schema, and may become one of its listed values."""
    schema = dereferenced(schema, root)
    if not isinstance(schema, dict) or depth > _DEEP:
        return True
    values = listed_values(schema)
    if kind_of_value(value) not in own_kinds(schema) or (isinstance(value, str) and values is not None and value not in values):
        return False
    branches = _branches(schema)
    return not branches or any(_may_become(value, item, root, depth + 1) for item in branches)


_TEXT = r'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\u(?![dD][89abAB])[0-9a-fA-F]{4})*+'
"""Text of a string up to its last complete escape; half of a surrogate pair does not count."""
_TOKEN = re.compile(rf'\s++|[\[\]{{}},:]|"(?:[^"\\]++|\\.)*+"|(?P<open>"{_TEXT})|(?P<bare>[^\s\[\]{{}},:"]++)', re.DOTALL)


def prefix_value(text: str) -> tuple[Json, tuple[str, ...]]:
    """Return the value of the beginning of a JSON text, and the complete members of its object.

        assert prefix_value('{"a": 1, "b": ["x", "y') == ({"a": 1, "b": ["x", "y"]}, ("a",))

    An unfinished text is kept, without half an escape; unfinished keys, numbers and literals are left out.
    The value is `None` if there is none yet, or if the text is not JSON.
    """
    closers, complete, key, at, after_colon = "", list[str](), "", 0, False
    end, closed = 0, ""  # where the text ends, and what closes it
    while result := _TOKEN.match(text, at):
        token, at = result[0], result.end()
        is_key = closers[:1] == "}" and not after_colon
        if token[0] in "{[":
            closers = ("}" if token == "{" else "]") + closers
            if len(closers) > LEVELS:
                return None, ()
        elif token[0] in "}]":
            closers = closers[1:]
        elif token in ",:" or token.isspace():
            after_colon = token == ":" or (after_colon and token != ",")
            continue
        elif result["open"] is not None:
            end, closed = (end, closed) if is_key else (at, f'"{closers}')
            break
        elif result["bare"] is not None and at == len(text) and token not in {"true", "false", "null"}:
            break
        elif is_key:
            key = token if len(closers) == 1 else key
            continue
        after_colon = False
        end, closed = at, closers
        if closers == "}" and token != "{":
            complete.append(key)
        if not closers:
            break
    try:
        return loads(text[:end] + closed), tuple(dict.fromkeys(str(loads(item)) for item in complete))
    except (ValueError, RecursionError):
        return None, ()
