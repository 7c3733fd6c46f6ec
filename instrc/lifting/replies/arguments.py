"""Read the arguments of one call: an object, JSON text, text in a fence of backticks, text that was cut off."""

from __future__ import annotations

import re

from instrc.jsonvalue import Json, dumps, loads
from instrc.lifting.replies.reply import Found

_FENCE = re.compile(r"\A\s*```[\w-]*[ \t]*\n(.*?)(?:\n?[ \t]*```\s*)?\Z", re.DOTALL)
"""A fence of backticks around all of a text; one that an answer was cut off in has no end."""
_THOUGHT = re.compile(r"\A\s*<(think|thinking|thought|reasoning)>")


def unthought(text: str) -> tuple[str, bool]:
    """Return a text without the thoughts that reasoning models begin with, and whether they have no end.

    Some chat templates write the opening tag into the prompt, so the end of the thoughts may stand alone.
    """
    if opening := _THOUGHT.match(text):
        _, end, rest = text.partition(f"</{opening[1]}>")
        return (rest, False) if end else ("", True)
    thoughts, end, rest = text.partition("</think>")
    return (rest, False) if end and "<think>" not in thoughts else (text, False)


def parsed(said: Json, arguments: Json, said_id: Json = None) -> Found:
    """Read arguments that may be an object or JSON text, alone or in a fence of backticks; names may be no text at all."""
    name = said if said is None or isinstance(said, str) else dumps(said, indent=False)
    id_ = said_id if said_id is None or isinstance(said_id, str) else dumps(said_id, indent=False)
    if not isinstance(arguments, str):
        return Found(name, {} if arguments is None else arguments, id_)
    text, _ = unthought(arguments.removeprefix("\ufeff"))
    if fence := _FENCE.match(text):
        text = fence.group(1)
    if not text.strip():
        return Found(name, {}, id_)
    try:
        return Found(name, loads(text), id_)
    except (ValueError, RecursionError) as error:
        return Found(name, arguments, id_, str(error), partial=ends_early(text))


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
