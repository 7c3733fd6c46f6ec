"""Read calls of tools that are written as JSON objects in a text, one or several in a row, whole or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from instrc.jsontext import loads
from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import ends_early, raw_call
from instrc.lifting.replies.loose import loose_json
from instrc.lifting.replies.reply import RawCall

_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "tool_args", "params", "kwargs")
_NAMES = ("name", "tool_name", "function_name", "action", "tool", "function")
_BETWEEN = re.compile(r"[\s;,]*")
"""What stands between two calls in a row."""


def named_call(value: Json) -> RawCall | None:
    """Return the call that an object with a name and arguments is; `None` if it is not one."""
    if isinstance(value, dict) and isinstance(inner := value.get("function", value.get("function_call")), dict):
        value = inner
    name = next((value[key] for key in _NAMES if key in value), None) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(name, str):
        return None
    key = next((key for key in _ARGUMENTS if isinstance(value.get(key), dict | str)), None)
    if key is None:
        return RawCall(name, {}) if value.keys() <= {"name", "id", *_ARGUMENTS} else None
    return raw_call(name, value[key], value.get("id", value.get("tool_call_id")))


def value_at(text: str, place: int) -> tuple[Json, int] | None:
    """Return the JSON object or list that begins at a place of a text, and where it ends."""
    from json import JSONDecoder  # it can say where a value ends

    try:
        return JSONDecoder().raw_decode(text, place)
    except (ValueError, RecursionError):
        return None


def json_calls(text: str) -> list[RawCall]:
    """Read one call, a list of calls, or several in a row, as JSON; what was cut off is a call without an end."""
    text = text.strip()
    if not text.startswith(("{", "[")):
        return []
    found: list[RawCall] = []
    for value, ended in _values(text):
        if ended:
            found += _named_calls(value)
        elif isinstance(value, str) and not found and (repaired := loose_json(value)) is not None:
            found += [replace(call, loose=value) for call in _named_calls(loads(repaired))]
        elif isinstance(value, str) and ends_early(value):
            name = re.search(r'"name"\s*:\s*"([^"\\]+)"', value)
            found.append(RawCall(name[1] if name else None, value, None, "it has no end", partial=True))
    return found


def _named_calls(value: Json) -> list[RawCall]:
    calls = [named_call(item) for item in (value if isinstance(value, list) else [value])]
    return [call for call in calls if call is not None]


def _values(text: str) -> Iterator[tuple[Json, bool]]:
    """Yield the JSON values that stand one after the other, and the text behind them that is none."""
    try:
        yield loads(text), True
    except (ValueError, RecursionError):
        pass
    else:
        return
    place = 0
    while place < len(text):
        read = value_at(text, place)
        if read is None:
            yield text[place:], False
            return
        yield read[0], True
        place = end_of(_BETWEEN, text, read[1])


def end_of(run: re.Pattern[str], text: str, place: int) -> int:
    """Return where a run that begins at a place ends."""
    found = run.match(text, place)
    return place if found is None else found.end()
