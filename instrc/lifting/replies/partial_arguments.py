"""Join the arguments of a call that Gemini sends in parts, each with its path: `{"jsonPath": "$.city", "stringValue": "Os"}`."""

from __future__ import annotations

import re
from itertools import pairwise

from instrc.jsonvalue import Json, JsonArray, JsonObject
from instrc.lifting.replies.reply import first

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_VALUES = (("stringValue", "string_value"), ("numberValue", "number_value"), ("boolValue", "bool_value"))


def joined_calls(parts: JsonArray) -> JsonArray:
    """Return the parts of an answer with each call in one piece."""
    made: JsonArray = []
    open_call: JsonObject | None = None
    for part in parts:
        call = first(part, "functionCall", "function_call") if isinstance(part, dict) else None
        if not isinstance(call, dict):
            made.append(part)
            continue
        more = first(call, "partialArgs", "partial_args")
        if not isinstance(more, list) and not continues_later(call) and (open_call is None or call.get("name")):
            made.append(part)
            continue
        if open_call is None or call.get("name"):
            open_call = {"name": call.get("name"), "id": call.get("id"), "args": call.get("args") or {}}
            made.append({"functionCall": open_call})
        open_call["willContinue"] = continues_later(call)
        for each in more if isinstance(more, list) else ():
            if isinstance(each, dict):
                _put(open_call, first(each, "jsonPath", "json_path"), each)
    return made


def continues_later(call: JsonObject) -> bool:
    """Say whether more of a call is to follow in a later part."""
    return first(call, "willContinue", "will_continue") is True


def _put(call: JsonObject, path: Json, said: JsonObject) -> None:
    """Put one value into the arguments of a call; a text that is there already goes on."""
    if not isinstance(path, str):
        return
    steps: list[str | int] = ["args"]
    steps += [int(index) if index else name or quoted or double for name, index, quoted, double in _STEP.findall(path)]
    if len(steps) == 1:
        return
    value = next((said[key] for keys in _VALUES for key in keys if said.get(key) is not None), None)
    at: Json = call
    for step, following in pairwise(steps):
        inner: Json = _member(at, step)
        if not isinstance(inner, dict | list):
            inner = [] if isinstance(following, int) else {}
            _set(at, step, inner)
        at = inner
    known = _member(at, steps[-1])
    _set(at, steps[-1], known + value if isinstance(known, str) and isinstance(value, str) else value)


def _member(holder: Json, step: str | int) -> Json:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    return holder[step] if isinstance(holder, list) and isinstance(step, int) and step < len(holder) else None


def _set(holder: Json, step: str | int, value: Json) -> None:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
    elif isinstance(holder, list) and isinstance(step, int):
        if step < len(holder):
            holder[step] = value
        elif step == len(holder):
            holder.append(value)
