"""Read the arguments of one call: an object, JSON text or nearly so, text in a fence of backticks, text that was cut off."""

from __future__ import annotations

import re

from instrc.jsonkeys import repeated_keys
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, equal
from instrc.lifting.replies.loose import loose_json
from instrc.lifting.replies.reasoning import strip_reasoning
from instrc.lifting.replies.reply import RawCall

_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)(?:\n?[ \t]*```\s*)?\Z", re.DOTALL)
"""A fence of backticks around all of a text; one that an answer was cut off in has no end."""


def raw_call(name: Json, arguments: Json, call_id: Json = None) -> RawCall:
    """Read arguments that may be an object or JSON text, alone or in a fence of backticks; names may be no text at all."""
    name, call_id = text_of(name), text_of(call_id)
    if not isinstance(arguments, str):
        return RawCall(name, {} if arguments is None else arguments, call_id)
    text, _ = strip_reasoning(arguments.removeprefix("\ufeff"))
    if fence := _FENCE.match(text):
        text = fence.group(1)
    if not text.strip():
        return RawCall(name, {}, call_id)
    try:
        value = loads(text)
        if name is not None and (value is None or equal(value, "")):  # as some servers write that there are none
            return RawCall(name, {}, call_id, nothing=dumps(value))
        return RawCall(name, value, call_id, repeated=repeated_keys(text, value))
    except (ValueError, RecursionError) as error:
        if (repaired := loose_json(text)) is not None:
            value = loads(repaired)
            return RawCall(name, value, call_id, repeated=repeated_keys(repaired, value), loose=arguments)
        return RawCall(name, arguments, call_id, str(error), partial=ends_early(text))


def text_of(value: Json) -> str | None:
    """Return a name, an id or the words of an error, which a hostile answer may have of any type."""
    if value is None or isinstance(value, str):
        return value
    try:
        return dumps(value, indent=False)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def ends_early(text: str) -> bool:
    """Say whether a text begins as JSON does and ends before its brackets are closed."""
    stack = 0
    inside = escaped = False
    text = text.strip()
    if not text.startswith(("{", "[", '"')):
        return False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            stack += 1
        elif character in "}]":
            stack -= 1
    return inside or stack > 0
