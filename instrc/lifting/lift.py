"""Lift a model's answer: out of its envelope, back to our names and shapes, checked, divided.

What comes back tells apart values, refusals, answers that were cut off, errors, and values that break the schema.
"""

from __future__ import annotations

from typing import Any

from instrc.codecs.maps import record_of, records_in
from instrc.jsonvalue import Json
from instrc.lifting.lifted import Call, Lifted
from instrc.lifting.mending import meant
from instrc.lifting.replies.answers import found
from instrc.lifting.replies.arguments import parsed, unthought
from instrc.lifting.replies.reply import Found, Reply
from instrc.lifting.replies.spoken import fenced_value, spoken
from instrc.lifting.violations import Violation

__all__ = ["Call", "Lifted", "lift"]

_READ_BY_PROVIDER = frozenset(
    {"openai", "openai-responses", "openai-output", "anthropic", "anthropic-strict", "gemini", "gemini-schema", "gigachat", "mcp"}
)
"""Targets whose provider takes calls out of the model's text itself: what looks like one in a text of theirs is a quotation."""


def lift(answer: Json, map: Json) -> Lifted:  # noqa: A002  -- the word for it everywhere else
    """Bring an answer back to the names and shapes of the schema that was lowered.

    `answer` is what the provider returned, whole, in part or in the pieces it was streamed in, as an object, text or bytes;
    `map` is a lowering's map, that of a set of tools, or an MCP tool that carries one.
    An unreadable map is an `unreadable-map` problem; an answer, however broken, is not: what is wrong with it is in the result.

    Where servers hand through what open models write, calls are found in the text as well.
    A value that breaks its schema in a way that models are known for is read as it was meant, and `Call.mended` says so:
    a null for a property that may be left out, JSON written into a text, a listed word in another case.
    Our own name for a key that is sent under another one is understood; beside the sent one it is left out.
    """
    records = records_in(map)
    names = frozenset(records)
    reply = found(answer, lambda value: _is_bare(value, records), names)
    if not all(record.get("target") in _READ_BY_PROVIDER for record in records.values()):
        _listen(reply, names, records)
    if reply.envelope and not reply.calls and reply.texts and reply.refusal is None and reply.failure is None:
        _take_text(reply, records)
    calls = [_call(one, records, enveloped=reply.envelope, cut=reply.cut) for one in reply.calls]
    truncated = reply.cut or any(call.truncated for call in calls)
    text = "\n".join(reply.texts) or None
    return Lifted(tuple(calls), reply.refusal, truncated, text, reply.malformed, reply.failure)


def _listen(reply: Reply, names: frozenset[str], records: dict[str, Any]) -> None:
    """Find calls in the texts of an answer that holds no others."""
    known = names | {str(record["tool"]["name"]) for record in records.values() if isinstance(record.get("tool"), dict)}
    bare = reply.calls[0] if len(reply.calls) == 1 and not reply.envelope else None
    if bare is not None and bare.unreadable is not None and isinstance(bare.arguments, str):
        said = spoken(bare.arguments, known)
        if said.calls or said.unended:
            reply.calls, reply.texts, reply.envelope = said.calls, [said.rest] if said.rest else [], True
            reply.cut = reply.cut or said.unended
        elif len(records) == 1 and (fenced := fenced_value(bare.arguments)) is not None and _is_bare(fenced[0], records):
            reply.calls, reply.texts, reply.envelope = [Found(None, fenced[0])], [fenced[1]] if fenced[1] else [], True
        return
    if reply.calls:
        return
    rests = []
    for text in reply.texts:
        said = spoken(text, known)
        reply.calls += said.calls
        reply.cut = reply.cut or said.unended
        rests.append(said.rest)
    reply.texts = [rest for rest in rests if rest.strip()]
    if not reply.calls and len(records) == 1 and len(reply.texts) == 1 and (fenced := fenced_value(reply.texts[0])) is not None:
        reply.calls, reply.texts = [Found(None, fenced[0])], [fenced[1]] if fenced[1] else []


def _take_text(reply: Reply, records: dict[str, Any]) -> None:
    """Read the text of a structured output as the value: it is its last part, or divided among all of them."""
    thoughts = [unthought(text) for text in reply.texts]
    reply.cut = reply.cut or thoughts[-1][1]
    if len(records) != 1 or not thoughts[-1][0].strip():
        return
    readings = [(parsed(None, reply.texts[-1]), reply.texts[:-1]), (parsed(None, "".join(reply.texts)), [])]
    readings.sort(key=lambda reading: (reading[0].unreadable is not None, not reading[0].partial))
    one, left = readings[0]
    if one.unreadable is None or one.partial:
        reply.calls, reply.texts = [one], left


def _is_bare(value: Json, records: dict[str, Any]) -> bool:
    """Say whether an object is the arguments themselves: all its keys are keys of the payload."""
    if not isinstance(value, dict):
        return False
    return not value or any(record.get("keys") and value.keys() <= set(record["keys"]) for record in records.values())


def _call(one: Found, records: dict[str, Any], *, enveloped: bool, cut: bool) -> Call:
    """Lift one call."""
    record = record_of(one.name, records)
    if record is None and one.name is None:
        record = next((each for each in records.values() if _is_bare(one.arguments, {"": each})), None)
    if one.unreadable is not None and record is not None and not enveloped and not one.partial:
        return _lifted(one, record)  # a bare text may be the value itself
    if one.unreadable is not None:
        violation = Violation("", "json", "", f"the arguments are no JSON: {one.unreadable}")
        return Call(_name(one, record), one.arguments, (violation,), one.id, truncated=one.partial or cut)
    if record is None:
        named = f"no tool is called {one.name!r}" if one.name is not None else "it is not said which of the tools is called"
        return Call(one.name, one.arguments, (Violation("", "name", "", named),), one.id)
    return _lifted(one, record)


def _name(one: Found, record: Any) -> str | None:
    if isinstance(record, dict) and isinstance(record.get("tool"), dict):
        found_name = record["tool"].get("name")
        return str(found_name) if found_name is not None else one.name
    return one.name


def _lifted(one: Found, record: dict[str, Any]) -> Call:
    read = meant(record, one.arguments)
    return Call(_name(one, record), read.value, read.broken, one.id, mended=read.mends)
