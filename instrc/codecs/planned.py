"""A plan between its two spellings, as the map of a lowering knows them.

The payload has the uniform one, where each argument is `{ name, is, text }`; the value has the typed one, where the arguments
are an object.  `raw` lists, by tool, the arguments that are texts whatever is in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from instrc.ir.tasks import argument_text, argument_value
from instrc.jsonvalue import Json, JsonObject, as_text

Raw = Mapping[str, Sequence[str]]
_PARTS = ("name", "is", "text")
_REFERENCES = ("from", "each")


def to_typed(plan: Json, raw: Raw) -> Json:
    """Return a plan with the arguments of each task as an object; what is no uniform task is left as it is."""
    if not isinstance(plan, list):
        return plan
    return [_with_arguments(task, _arguments_as_object, raw) for task in plan]


def to_uniform(plan: Json, raw: Raw) -> Json:
    """Return a plan with the arguments of each task as a list; what is no typed task is left as it is."""
    if not isinstance(plan, list):
        return plan
    return [_with_arguments(task, _uniform, raw) for task in plan]


def _with_arguments(task: Json, change: Callable[[Json, Sequence[str]], Json], raw: Raw) -> Json:
    if not isinstance(task, dict):
        return task
    tool = task.get("tool")
    texts = raw.get(tool, ()) if isinstance(tool, str) else ()
    made = change(task.get("arguments"), texts)
    return task if made is None else {**task, "arguments": made}


def _arguments_as_object(entries: Json, texts: Sequence[str]) -> JsonObject | None:
    """Return the arguments as an object; `None` where they are not well written, which is found when the plan is validated."""
    if not isinstance(entries, list):
        return None
    found: dict[str, Json] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(part), str) for part in _PARTS):
            return None
        name, kind, text = (as_text(entry[part]) for part in _PARTS)
        if name in found or kind not in {"value", *_REFERENCES}:
            return None
        found[name] = argument_value(text, raw=name in texts) if kind == "value" else {kind: text}
    return found


def _uniform(arguments: Json, texts: Sequence[str]) -> list[Json] | None:
    if not isinstance(arguments, dict):
        return None
    return [_entry(name, value, raw=name in texts) for name, value in arguments.items()]


def _entry(name: str, value: Json, *, raw: bool) -> Json:
    if isinstance(value, dict) and len(value) == 1:
        [(kind, text)] = value.items()
        if kind in _REFERENCES and isinstance(text, str):
            return {"name": name, "is": kind, "text": text}
    return {"name": name, "is": "value", "text": argument_text(value, raw=raw)}
