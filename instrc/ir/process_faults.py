"""Find all that keeps a process from being read, not only the first fault: many are written by hand."""

from __future__ import annotations

from instrc.ir.block_json import UnreadableProcessError
from instrc.ir.chunk_json import resolved
from instrc.ir.process_reader import body_of, is_context
from instrc.jsonvalue import Json, JsonArray, JsonObject, put, tokens

_TOLD = 20
"""Faults that are told of one process."""
_SOUND: JsonObject = {"type": "object", "properties": {}}
"""A chunk without steps, which stands for a context that cannot be read."""


def faults_of(document: Json, first: UnreadableProcessError) -> list[UnreadableProcessError]:
    """Return the fault at which reading stopped and those behind it: each wrong deadline or delay, and one for each context.

    A context with a fault is exchanged for an empty one, a deadline or a delay of a step is left out, and the rest is read again.
    """
    faults = [first]
    exchanged: set[str] = set()
    while len(faults) < _TOLD:
        rest = _without(document, faults[-1].pointer, exchanged)
        if rest is None:
            break
        document = rest
        try:
            body_of(document)
        except UnreadableProcessError as error:
            if not error.pointer:  # of the whole, which is no longer as it was written
                break
            faults.append(error)
        except RecursionError:
            break
        else:
            break
    return [fault for fault in faults if not any(f"no `{name}` beside" in fault.reason for name in exchanged)]


def _without(document: Json, place: str, exchanged: set[str]) -> Json | None:
    """Return a copy with the innermost context around a place exchanged, or without what is none; `None` if there is neither."""
    steps = tokens(place)
    inner = [index for index in range(1, len(steps)) if steps[index - 1] == "properties" and is_context(steps[index])]
    if len(steps) > 3 and steps[-1] in {"within", "delay", "fail"} and is_context(steps[-4]):  # of a step
        inner = []
    elif not inner and not (len(steps) == 1 or (len(steps) == 2 and steps[0] == "properties")):
        return None
    last = inner[-1] if inner else len(steps) - 1
    root: JsonArray = [document]
    holder: JsonArray | JsonObject = root
    key: str | int = 0
    try:
        for step in [*steps[:last], None]:
            part = holder[str(key)] if isinstance(holder, dict) else holder[int(key)]
            copy: JsonArray | JsonObject = list(part) if isinstance(part, list) else dict(resolved(part, document))
            put(holder, key, copy)
            if step is not None:
                holder, key = copy, int(step) if isinstance(copy, list) else step
    except (LookupError, ValueError, TypeError):
        return None
    if not isinstance(copy, dict) or steps[last] not in copy:
        return None
    spare = f"serverContext{9000 + len(exchanged)}"
    members = {(spare if inner else None) if name == steps[last] else name: each for name, each in copy.items()}
    put(holder, key, {name: _SOUND if name == spare else each for name, each in members.items() if name is not None})
    exchanged.add(steps[last])
    return root[0]
