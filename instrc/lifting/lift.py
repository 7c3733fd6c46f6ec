"""Lift a model's answer: out of its envelope, back to our names and shapes, checked, divided.

What comes back tells apart values, refusals, answers that were cut off, errors, and values that break the schema.

    answer ─ readings ─▶ Readings ─ _lifted ─▶ Lifted ─ _chosen ─▶ Lifted

`_lifted` takes each reading the same way: calls in its texts, its text as the value, then each call through its map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from instrc.arguments import excerpt
from instrc.codecs.maps import Records, records_in
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json, JsonObject, as_text, as_texts, mapping
from instrc.lifting.lifted import Lifted, LiftedCall
from instrc.lifting.named import named, names_of
from instrc.lifting.repair import repair
from instrc.lifting.replies.answers import Ownership, readings
from instrc.lifting.replies.arguments import raw_call
from instrc.lifting.replies.in_text import calls_of_known_tools, extract_tool_calls, fenced_value, lone_value
from instrc.lifting.replies.parallel import separated
from instrc.lifting.replies.reasoning import strip_reasoning
from instrc.lifting.replies.reply import RawCall, RawReply, join_replies
from instrc.lifting.slips import Repair
from instrc.plain_values import takes_shared_parts
from instrc.problems.problem import CompileError
from instrc.problems.targets import UnreadableMap
from instrc.schema.validation import Violation

__all__ = ["Lifted", "LiftedCall", "lift"]


@takes_shared_parts
def lift(answer: object, map: object) -> Lifted:  # noqa: A002  -- the word for it everywhere else
    """Bring an answer back to the names and shapes of the schema that was lowered.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "openai", "draft")
        call = {"type": "function", "function": {"name": "draft", "arguments": '{"text": "Dear Ann"}'}}
        answer = instrc.lift(call, lowered)
        assert (answer.status, answer.call.value) == ("ok", {"text": "Dear Ann"})

    `answer` is what the provider returned, whole, in part or in the pieces it was streamed in, as an object, text or bytes;
    a stream may be given as it runs, and is read to its end;
    `map` is a lowering or its map, that of a set of tools, an MCP tool, or the result of `tools/list`.
    An unreadable map is an `unreadable-map` problem; an answer, however broken, is not: what is wrong with it is in the result.

    Where servers hand through what open models write, calls are found in the text as well.
    A value that breaks its schema in a way that models are known for is repaired, and `Call.repairs` says so:
    a null for a property that may be left out, JSON written into a text, a listed word or a key in another case, one value in
    place of a list of one, a tool under another spelling of its name, text that is JSON but for slips (`instrc.lifting.slips`).
    Our own name for a key that is sent under another one is understood; beside the sent one it is left out.
    Where an answer could be arguments or an envelope, both readings are tried; if that does not decide it is `ambiguous`.
    """
    records = records_in(map)
    _refuse_unknown_targets(records)
    read = readings(answer, lambda value: _ownership(value, records), frozenset(records))
    first = _lifted(read.first, records)
    if read.other is None or (first.ok and not read.equal):
        return first
    return _chosen(first, _lifted(read.other, records), equal=read.equal)


def _refuse_unknown_targets(records: Records) -> None:
    """Refuse maps of targets that nobody knows; the maps of a target of a user describe that target."""
    from instrc.dialects.catalogue import known_target

    for record in records.values():
        target = record.get("target")
        if isinstance(target, str) and known_target(target) is None and "result" not in record:
            raise CompileError([UnreadableMap(reason=f"its `target` is {excerpt(target)}, which is not a target")])


def _chosen(first: Lifted, other: Lifted, *, equal: bool) -> Lifted:
    """Return the reading that holds; both where that does not decide between equal ones."""
    if first.ok != other.ok:
        return first if first.ok else other
    return Lifted((), readings=(first, other)) if equal else first


def _lifted(reply: RawReply, records: Records) -> Lifted:
    """Lift one reading of an answer."""
    reply = _with_calls_in_text(reply, records)
    reply = _with_calls_apart(reply, records)
    reply = _with_text_as_value(reply, records)
    reply = _with_value_in_text(reply, records)
    calls = tuple(_call(one, records, enveloped=reply.envelope, cut=reply.cut) for one in reply.calls)
    return Lifted(
        calls,
        reply.refusal,
        reply.cut or any(call.truncated for call in calls),
        "\n".join(reply.texts) or None,
        reply.malformed,
        reply.failure,
    )


def _quotes_calls(target: Json) -> bool:
    """Say whether what looks like a call in a text of a target is a quotation: its provider takes the calls out itself."""
    from instrc.dialects.catalogue import known_target

    known = known_target(target)
    return known is not None and (known.extracts_calls or not known.tool)


def _is_output(target: Json) -> bool:
    """Say whether the text of an answer is the value itself, with no tool that is called."""
    from instrc.dialects.catalogue import known_target

    known = known_target(target)
    return known is not None and not known.tool


def _with_calls_in_text(reply: RawReply, records: Records) -> RawReply:
    """Find calls in the texts of an answer that holds no others, unless the provider takes them out itself."""
    if all(_quotes_calls(record.get("target")) for record in records.values()):
        return reply
    known = frozenset(records) | {as_text(tool["name"]) for record in records.values() if (tool := mapping(record.get("tool")))}
    bare = reply.calls[0] if len(reply.calls) == 1 and not reply.envelope else None
    if bare is not None and bare.unreadable is not None and isinstance(bare.arguments, str):
        said = extract_tool_calls(bare.arguments, known)
        if said.calls or said.unended:
            texts = (said.rest,) if said.rest else ()
            return replace(reply, calls=tuple(said.calls), texts=texts, envelope=True, cut=reply.cut or said.unended)
        fenced = _value_in(bare.arguments, records)
        if fenced is not None and _ownership(fenced[0].arguments, records).all:
            return replace(reply, calls=(fenced[0],), texts=(fenced[1],) if fenced[1] else (), envelope=True)
        return reply
    if bare is not None and not _ownership(bare.arguments, records).any and (ours := calls_of_known_tools(bare.arguments, known)):
        return replace(reply, calls=tuple(ours), envelope=True)
    if reply.calls:
        return reply
    found = [extract_tool_calls(text, known) for text in reply.texts]
    reply = replace(reply, texts=()) | join_replies(
        RawReply(tuple(said.calls), (said.rest,) if said.rest.strip() else (), cut=said.unended) for said in found
    )
    if not reply.calls and len(reply.texts) == 1 and (fenced := _value_in(reply.texts[0], records)) is not None:
        return replace(reply, calls=(fenced[0],), texts=(fenced[1],) if fenced[1] else ())
    return reply


def _value_in(text: str, records: Records) -> tuple[RawCall, str] | None:
    """Return the value of the only tool that stands in a text, and the text around it: in a fence, or by its keys alone."""
    if len(records) != 1:
        return None
    if (fenced := fenced_value(text)) is not None or (lone := lone_value(text)) is None:
        return fenced
    return lone if lone[0].arguments and _ownership(lone[0].arguments, records).all else None


def _with_calls_apart(reply: RawReply, records: Records) -> RawReply:
    """Divide calls of `multi_tool_use.parallel`, unless a tool of ours has such a name."""
    apart = [each for call in reply.calls for each in ((call,) if named(call.name, records)[0] else separated(call))]
    return replace(reply, calls=tuple(apart))


def _with_text_as_value(reply: RawReply, records: Records) -> RawReply:
    """Read the text of a structured output without calls as the value: it is its last part, or divided among all of them."""
    if not reply.envelope or reply.calls or not reply.texts or reply.refusal is not None or reply.failure is not None:
        return reply
    last, unended = strip_reasoning(reply.texts[-1])
    reply = replace(reply, cut=reply.cut or unended)
    if len(records) != 1 or not last.strip():
        return reply
    found = [(raw_call(None, reply.texts[-1]), reply.texts[:-1]), (raw_call(None, "".join(reply.texts)), ())]
    one, left = min(found, key=lambda reading: (reading[0].unreadable is not None, not reading[0].partial))
    return replace(reply, calls=(one,), texts=left) if one.unreadable is None or one.partial else reply


def _with_value_in_text(reply: RawReply, records: Records) -> RawReply:
    """Read the value of a structured output that a model has written among words: in a fence, or by its keys alone."""
    outputs = all(_is_output(record.get("target")) for record in records.values())
    if not outputs or reply.refusal is not None or reply.failure is not None:
        return reply
    unread = [call.arguments for call in reply.calls if call.unreadable is not None and not call.partial]
    texts = [text for text in (unread or reply.texts) if isinstance(text, str)]
    if len(texts) != 1 or len(reply.calls) != len(unread) or (found := _value_in(texts[0], records)) is None:
        return reply
    value, rest = found
    return replace(reply, calls=(value,), texts=(rest,) if rest else ()) if _ownership(value.arguments, records).all else reply


def _ownership(value: Json, records: Records) -> Ownership:
    """Say whether an object may be the arguments themselves: all its keys, or some, are keys of the payload of a tool."""
    if not isinstance(value, dict):
        return Ownership(all=False, any=False)
    keys = [frozenset(as_texts(record.get("keys") or [])) for record in records.values()]
    whole = not value or any(known and value.keys() <= known for known in keys)
    return Ownership(all=whole, any=any(not known.isdisjoint(value) for known in keys))


def _call(one: RawCall, records: Records, *, enveloped: bool, cut: bool) -> LiftedCall:
    """Lift one call."""
    record, otherwise = named(one.name, records)
    if record is None and one.name is None:
        record = next((each for each in records.values() if _ownership(one.arguments, {"": each}).all), None)
    read = None if record is None or (one.unreadable and (enveloped or one.partial)) else repair(record, one.arguments)
    if one.loose is not None and record is not None and read is not None and read.violations and not enveloped:
        as_text = repair(record, one.loose)  # a bare text may be the value itself
        one, read = (replace(one, loose=None), as_text) if not as_text.violations else (one, read)
    if one.nothing is not None and record is not None:
        as_written = repair(record, loads(one.nothing))  # a tool may take null, or a text
        read = read if as_written.violations or as_written.repairs else as_written
    if one.unreadable is not None and (read is None or read.violations):
        violation = Violation("", "json", "", f"the arguments are not JSON: {one.unreadable}")
        truncated = one.partial or (cut and read is None)
        return LiftedCall(_name(one, record), one.arguments, (violation,), one.id, truncated=truncated, record=record)
    if read is None:
        known = f"; there {'is' if len(records) == 1 else 'are'} {names_of(records)}"
        said = f"no tool is called {dumps(one.name)}" if one.name is not None else "it is not said which of the tools is called"
        return LiftedCall(one.name, one.arguments, (Violation("", "name", "", f"{said}{known}"),), one.id, truncated=one.partial)
    repairs = (*_told(one, otherwise=otherwise), *read.repairs, *(Repair("", "repeated-key", key) for key in one.repeated))
    return LiftedCall(
        _name(one, record), read.value, read.violations, one.id, truncated=one.partial, repairs=repairs, record=record
    )


def _told(one: RawCall, *, otherwise: bool) -> Iterator[Repair]:
    """Yield what was read otherwise than it was written before any value of it was looked at."""
    if otherwise:
        yield Repair("", "tool-name", one.name)
    if one.loose is not None:
        yield Repair("", "loose-json")


def _name(one: RawCall, record: JsonObject | None) -> str | None:
    own = None if record is None else mapping(record.get("tool")).get("name")
    return one.name if own is None else str(own)
