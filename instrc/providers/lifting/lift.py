"""Lift a model's answer: remove its envelope, decode it, and validate it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import UnionType
from typing import Final, Literal, TypeVar, assert_never, overload

from msgspec import structs

from instrc.problems import targets
from instrc.problems.errors import AnswerError, CompileError
from instrc.problems.problem import Problem, listed
from instrc.problems.suggest import comparison_key
from instrc.providers.codec import ToolMap
from instrc.providers.dialect import Dialect, fill_envelope, tool_message
from instrc.providers.lifting.answers import Ownership, json_of, readings
from instrc.providers.lifting.repair import Repair, repair
from instrc.providers.lifting.reply import RawCall, RawReply, join_replies, raw_call, strip_reasoning
from instrc.providers.lifting.text_calls import KnownTools, calls_of_known_tools, extract_tool_calls, fenced_value, lone_value
from instrc.providers.maps import Records, map_of, of_results, records_in
from instrc.providers.targets import known_target
from instrc.schema.validation import Violation, json_fault
from instrc.text.arguments import excerpt, takes_shared_parts
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, Payload
from instrc.text.source import Span
from instrc.tools.python_types import Adapter

T = TypeVar("T")


@dataclass(frozen=True)
class LiftedCall:
    """A call of a tool, in the original names and shapes."""

    name: str | None
    """Name of the tool before lowering; the name in the answer for an unknown tool; `None` if the answer has none."""
    value: Json
    violations: tuple[Violation, ...] = ()
    """Violations of the original schema; empty for a valid value."""
    id: str | None = None
    """The provider's call id, needed to return the result."""
    truncated: bool = False
    """Whether the arguments end before their JSON does, or before the provider marks them complete."""
    repairs: tuple[Repair, ...] = ()
    """Repairs of an invalid value, and duplicate keys."""
    record: ToolMap | None = field(default=None, repr=False, compare=False)
    """The map of its tool; `None` for an unknown tool."""

    @property
    def valid(self) -> bool:
        """Whether the value may be used."""
        return not self.violations and not self.truncated

    @cached_property
    def _parts(self) -> dict[str, Json]:
        if any(violation.keyword == "json" for violation in self.violations):  # a value that is not JSON has no parts
            return {"output": self.value, "thoughts": {}, "metrics": {}}
        from instrc.schema.strip import split

        parts = split(self.value)
        return {"output": parts["output"], "thoughts": parts["thoughts"], "metrics": parts["metrics"]}

    @property
    def output(self) -> Json:
        """The answer proper, without thoughts and metrics."""
        return self._parts["output"]

    @property
    def thoughts(self) -> Json:
        """Values of properties whose names begin with `_`, by path."""
        return self._parts["thoughts"]

    @property
    def metrics(self) -> Json:
        """Values of properties whose names begin with `$`, by path."""
        return self._parts["metrics"]

    @overload
    def as_model(self, model: type[T] | Adapter[T], step: str | None = None) -> T: ...

    @overload
    def as_model(self, model: UnionType, step: str | None = None) -> object: ...

    def as_model(self, model: type[T] | Adapter[T] | UnionType, step: str | None = None) -> object:
        """Return the value as an instance of a pydantic model, a dataclass or a `TypedDict`; an `AnswerError` if it is not one.

        To a type checker, `as_model(A | B)` returns an `object`, and `as_model(TypeAdapter[A | B](A | B))` an `A | B`.

        `step` is the key of one step (`step2_write_reply`), if the model is that of this step and not of the whole.
        Thoughts and metrics are left out if the model does not take them.
        """
        from instrc.tools.python_values import as_instance  # pydantic is an extra

        return as_instance(self.value, self.output, self.violations, model, step)

    def result(self, value: object, *, error: bool = False) -> Payload:
        """Return the message with the result of the call, in the provider's format.

        `value` is a text, any JSON value, or the result of an MCP server, which itself declares whether it is an error;
        `error` marks a value that explains why there is no result.
        """
        return message(self.record, self.name, self.id, value, error=error)

    def to_json(self) -> JsonObject:
        """Return the call as plain JSON."""
        return {
            "name": self.name,
            "id": self.id,
            "value": self.value,
            "truncated": self.truncated,
            "repairs": [repair.to_json() for repair in self.repairs],
            "invalid": [violation.to_json() for violation in self.violations],
        }


LiftStatus = Literal["ok", "failed", "refused", "malformed", "cut", "ambiguous", "empty", "invalid"]
"""Outcome of an answer, in order of precedence, `ok` last:
`failed`: the provider reports an error instead of an answer; `refused`: the model or a filter declined;
`malformed`: the provider could not parse the model's call; `cut`: the length limit was reached;
`ambiguous`: the answer may be arguments or their envelope, and both readings are valid, or neither (see `Lifted.readings`);
`empty`: no call and no value; `invalid`: a value violates its schema, or is not JSON."""
PAUSED: Final = "pause_turn: the turn goes on once this answer is sent back"
"""Reason given for an unfinished answer that was not cut off."""


@dataclass(frozen=True)
class Lifted:
    """A lifted answer."""

    calls: tuple[LiftedCall, ...]
    refusal: str | None = None
    """Text or reason of a refusal by the model or provider; `None` if not refused."""
    truncated: bool = False
    """Whether the answer was cut off by the length limit."""
    text: str | None = None
    """Text next to the calls."""
    malformed: str | None = None
    """The provider's reason for a call that it could not parse."""
    failure: str | None = None
    """Error from the provider or an MCP tool, in place of an answer."""
    readings: tuple[Lifted, ...] = ()
    """All readings of an ambiguous answer."""
    paused: bool = False
    """Whether the turn is paused: if the answer is sent back unchanged, the provider continues (Anthropic's `pause_turn`)."""

    @property
    def status(self) -> LiftStatus:
        """The status of the answer: the first applicable one of `LiftStatus`."""
        if self.failure is not None:
            return "failed"
        if self.refusal is not None:
            return "refused"
        if self.malformed is not None:
            return "malformed"
        if self.truncated or any(call.truncated for call in self.calls):
            return "cut"
        if self.readings:
            return "ambiguous"
        if not self.calls:
            return "empty"
        return "ok" if all(call.valid for call in self.calls) else "invalid"

    @property
    def ok(self) -> bool:
        """Whether there are calls and all are valid."""
        return self.status == "ok"

    @property
    def call(self) -> LiftedCall:
        """The only call; raise `LookupError` if there is none or more than one."""
        if len(self.calls) != 1:
            raise LookupError(f"the answer contains {len(self.calls)} calls, not one")
        return self.calls[0]

    @overload
    def as_model(self, model: type[T] | Adapter[T], step: str | None = None) -> T: ...

    @overload
    def as_model(self, model: UnionType, step: str | None = None) -> object: ...

    def as_model(self, model: type[T] | Adapter[T] | UnionType, step: str | None = None) -> object:
        """Return the value of the only call, or of one step in it, as an instance of a model.

        Raise `AnswerError` with the reason if the answer is unusable.
        """
        if self.problems:
            raise AnswerError(self.problems)
        return self.call.as_model(model, step)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The reasons why the answer is unusable; empty if it is usable."""
        return self.problems_at(None)

    def problems_at(self, at: Span | None) -> tuple[Problem, ...]:
        """Return the reasons why the answer is unusable, located at its place."""
        match self.status:
            case "ok":
                return ()
            case "failed":
                return (targets.FailedAnswer(at=at, words=self.failure or ""),)
            case "refused":
                return (targets.RefusedAnswer(at=at, words=self.refusal or ""),)
            case "cut":
                return (targets.CutAnswer(at=at),)
            case "ambiguous":
                return (targets.AmbiguousAnswer(at=at, readings=tuple(reading.status for reading in self.readings)),)
            case "empty" | "malformed":
                return (targets.NoAnswer(at=at, said=self.malformed or (PAUSED if self.paused else self.text)),)
            case "invalid":
                return tuple(targets.InvalidAnswer(at=at, pointer=item.instance, reason=item.message) for item in self.invalid)
            case other:
                assert_never(other)

    @property
    def value(self) -> Json:
        """The value of the only call."""
        return self.call.value

    @property
    def values(self) -> list[Json]:
        """The values of all calls, in order."""
        return [call.value for call in self.calls]

    @property
    def invalid(self) -> tuple[Violation, ...]:
        """The violations of all calls."""
        return tuple(violation for call in self.calls for violation in call.violations)

    @property
    def output(self) -> Json:
        """The answer proper of the only call, without thoughts and metrics."""
        return self.call.output

    @property
    def thoughts(self) -> Json:
        """The thoughts of the only call, by path."""
        return self.call.thoughts

    @property
    def metrics(self) -> Json:
        """The metrics of the only call, by path."""
        return self.call.metrics

    def to_json(self) -> JsonObject:
        """Return the whole as plain JSON."""
        return {
            "status": self.status,
            "calls": [call.to_json() for call in self.calls],
            "refusal": self.refusal,
            "truncated": self.truncated,
            "text": self.text,
            "malformed": self.malformed,
            "failure": self.failure,
            **({"paused": True} if self.paused else {}),
            **({"readings": [reading.to_json() for reading in self.readings]} if self.readings else {}),
        }


@takes_shared_parts
def lift(answer: object, map: object) -> Lifted:  # noqa: A002  -- the word for it everywhere else
    """Convert an answer back to the names and shapes of the lowered schema.

        lowered = instrc.lower({"type": "object", "properties": {"text": {"type": "string"}}}, "openai", "draft")
        call = {"type": "function", "function": {"name": "draft", "arguments": '{"text": "Dear Ann"}'}}
        answer = instrc.lift(call, lowered)
        assert (answer.status, answer.call.value) == ("ok", {"text": "Dear Ann"})

    `answer` is the provider's response, complete, partial or as streamed chunks, as an object, text or bytes;
    a running stream may be passed, and is consumed;
    `map` is a lowering or its map, that of a set of tools, an MCP tool, or the result of `tools/list`, whose servers
    decide nothing but how the arguments of their own tools are read;
    for a tool with an `outputSchema`, the result of an MCP server is validated by that.
    An unreadable map is an `unreadable-map` problem; an invalid answer is not: its problems are in the result.

    If servers pass on the output of open models, calls in the text are read as well.
    A value that violates its schema in a way typical of models is repaired, and `Call.repairs` lists the repairs:
    a null for an optional property, JSON inside a text, a listed word or a key in another case, a value in
    place of a list of one, another spelling of a tool's name, text that is JSON apart from minor errors
    (`instrc.providers.lifting.repair`).
    The original name of a renamed key is accepted too; next to the sent name it is dropped.
    If an answer could be arguments or an envelope, both readings are tried; if that does not decide, it is `ambiguous`.
    """
    records = records_in(map)
    _refuse_unknown_targets(records)
    read = readings(answer, lambda value: _ownership(value, records), frozenset(records))
    first = _lifted(read.first, records)
    if read.other is None or (first.ok and not read.equal):
        return first
    return _chosen(first, _lifted(read.other, records), equal=read.equal)


def lift_response(answer: Json, map: object) -> Lifted:  # noqa: A002  -- as `lift` has it
    """Lift a value that is known to be a whole provider response, and never the value itself."""
    records = records_in(map)
    read = readings(answer, lambda _: Ownership(all=False, any=False), frozenset(records)).first
    return _lifted(read, records) if read.envelope else Lifted((), malformed="no provider has this form of answer")


def _refuse_unknown_targets(records: Records) -> None:
    """Raise for maps of unknown targets; the map of a custom target describes it."""
    for record in records.values():
        if record.target is not None and known_target(record.target) is None and record.result is None:
            reason = f"its `target` is {excerpt(record.target)}, which is not a target"
            raise CompileError([targets.UnreadableMap(reason=reason)])


def _ownership(value: Json, records: Records) -> Ownership:
    """Return which keys of an object belong to the payload of a tool: all of them, some, or none."""
    if not isinstance(value, dict):
        return Ownership(all=False, any=False)
    keys = [frozenset(record.keys) for record in records.values()]
    whole = not value or any(known and value.keys() <= known for known in keys)
    return Ownership(all=whole, any=any(not known.isdisjoint(value) for known in keys))


def _lifted(reply: RawReply, records: Records) -> Lifted:
    """Lift one reading of an answer."""
    records = of_results(records) if reply.result else records
    raw, repeated = _without_doubles(reply.calls)
    reply = structs.replace(reply, calls=raw)
    reply = _with_calls_in_text(reply, records)
    reply = _with_text_as_value(reply, records)
    reply = _with_value_in_text(reply, records)
    reply = _with_value_in_thoughts(reply, records)
    calls = _with_ids_told((_call(one, records, enveloped=reply.envelope, cut=reply.cut) for one in reply.calls), repeated)
    return Lifted(
        calls,
        reply.refusal,
        reply.cut or any(call.truncated for call in calls),
        "\n".join(text for text in reply.texts if text.strip()) or None,
        reply.malformed,
        reply.failure,
        paused=reply.paused,
    )


def _without_doubles(calls: tuple[RawCall, ...]) -> tuple[tuple[RawCall, ...], frozenset[str]]:
    """Return calls without duplicates of the same id, tool and arguments; and the ids that different calls share."""
    counts = Counter(call.id for call in calls if call.id)
    numbered = enumerate(calls)
    result = {repr(call) if call.id and counts[call.id] > 1 else number: call for number, call in numbered}.values()
    counts = Counter(call.id for call in result if call.id)
    return tuple(result), frozenset(name for name, count in counts.items() if name and count > 1)


def _with_calls_in_text(reply: RawReply, records: Records) -> RawReply:
    """Find calls in the texts of an answer without other calls, unless the provider extracts them itself."""
    if all(known is not None and (known.extracts_calls or not known.tool) for known in _dialects(records)):
        return reply  # the provider extracts calls itself, so that an apparent call in a text is a quotation
    names = frozenset(records) | {record.tool.name for record in records.values() if record.tool.name}
    known = KnownTools(names, lambda value: len(records) == 1 and bool(value) and _ownership(value, records).all)
    bare = reply.calls[0] if len(reply.calls) == 1 and not reply.envelope else None
    if bare is not None and bare.unreadable is not None and isinstance(bare.arguments, str):
        said = extract_tool_calls(bare.arguments, known)
        if said.calls or said.unended:
            texts = (said.rest,) if said.rest else ()
            return structs.replace(reply, calls=tuple(said.calls), texts=texts, envelope=True, cut=reply.cut or said.unended)
        fenced = _value_in(bare.arguments, records)
        if fenced is not None and _ownership(fenced[0].arguments, records).all:
            return structs.replace(reply, calls=(fenced[0],), texts=(fenced[1],) if fenced[1] else (), envelope=True)
        return reply
    if bare is not None and not _ownership(bare.arguments, records).any and (ours := calls_of_known_tools(bare.arguments, known)):
        return structs.replace(reply, calls=tuple(ours), envelope=True)
    if reply.calls:
        return reply
    result = [extract_tool_calls(text, known) for text in reply.texts]
    reply = structs.replace(reply, texts=()) | join_replies(
        RawReply(tuple(said.calls), (said.rest,) if said.rest.strip() else (), cut=said.unended) for said in result
    )
    if not reply.calls and len(reply.texts) == 1 and (fenced := _value_in(reply.texts[0], records)) is not None:
        if not _ownership(fenced[0].arguments, records).any:
            return reply  # an example
        return structs.replace(reply, calls=(fenced[0],), texts=(fenced[1],) if fenced[1] else ())
    return reply


def _dialects(records: Records) -> list[Dialect | None]:
    """Return the known targets of tools, and `None` for others."""
    return [known_target(record.target) for record in records.values()]


def _value_in(text: str, records: Records) -> tuple[RawCall, str] | None:
    """Return the value of the only tool in a text, and the surrounding text: in a fence, or recognized by its keys."""
    if len(records) != 1:
        return None
    if (fenced := fenced_value(text)) is not None or (lone := lone_value(text)) is None:
        return fenced
    return lone if lone[0].arguments and _ownership(lone[0].arguments, records).all else None


def _with_text_as_value(reply: RawReply, records: Records) -> RawReply:
    """Read the text of a structured output without calls as the value, in all parts together or one of them.

    Blank parts count only inside a value.
    """
    said = [text for text in reply.texts if text.strip()]
    unasked = reply.paused or reply.refusal is not None or reply.failure is not None
    if not reply.envelope or reply.calls or not said or unasked:
        return reply
    last, unended = strip_reasoning(said[-1])
    reply = structs.replace(reply, cut=reply.cut or unended)
    if len(records) != 1 or not last.strip():
        return reply
    result: list[tuple[RawCall, int | None]] = [(raw_call(None, "".join(reply.texts)), None)]
    result += [(raw_call(None, text), place) for place, text in reversed([*enumerate(said)]) if len(reply.texts) > 1]
    one, place = min(result, key=lambda reading: _unlikeliness(reading[0], records))
    left = () if place is None else (*said[:place], *said[place + 1 :])
    return structs.replace(reply, calls=(one,), texts=left) if one.unreadable is None or one.partial else reply


def _unlikeliness(value: RawCall, records: Records) -> tuple[bool, ...]:
    """Return a `min` key for how unlikely a part of a text is to be the whole value."""
    return value.unreadable is not None, not value.partial, not _ownership(value.arguments, records).all


def _with_value_in_text(reply: RawReply, records: Records) -> RawReply:
    """Read the value of a structured output inside prose: in a fence, or recognized by its keys."""
    outputs = all(known is not None and not known.tool for known in _dialects(records))
    if not outputs or reply.paused or reply.refusal is not None or reply.failure is not None:
        return reply
    unread = [call.arguments for call in reply.calls if call.unreadable is not None and not call.partial]
    texts = [text for text in (unread or reply.texts) if isinstance(text, str)]
    if len(texts) != 1 or len(reply.calls) != len(unread) or (result := _value_in(texts[0], records)) is None:
        return reply
    value, rest = result
    if not _ownership(value.arguments, records).all:
        return reply
    return structs.replace(reply, calls=(value,), texts=(rest,) if rest else ())


def _with_value_in_thoughts(reply: RawReply, records: Records) -> RawReply:
    """Read a complete and valid value in the thoughts of an otherwise empty answer."""
    ended = reply.refusal or reply.failure or reply.malformed or reply.cut or reply.paused
    if ended or reply.calls or len(records) != 1 or not reply.thoughts or any(text.strip() for text in reply.texts):
        return reply
    [record] = records.values()
    value = raw_call(None, reply.thoughts)
    valid = value.unreadable is None and value.loose is None and value.arguments and _ownership(value.arguments, records).all
    return structs.replace(reply, calls=(value,)) if valid and not repair(record, value.arguments).violations else reply


def _with_ids_told(calls: Iterable[LiftedCall], repeated: frozenset[str]) -> tuple[LiftedCall, ...]:
    """Return calls, marked if an earlier one has the same id: their results are indistinguishable."""
    result: list[LiftedCall] = []
    seen: set[str] = set()
    for call in calls:
        again = call.id in seen
        result.append(replace(call, repairs=(*call.repairs, Repair("", "repeated-id", call.id))) if again else call)
        seen |= {call.id} if call.id is not None and call.id in repeated else set()
    return tuple(result)


def _call(one: RawCall, records: Records, *, enveloped: bool, cut: bool) -> LiftedCall:
    """Lift one call."""
    record, otherwise = named(one.name, records)
    if record is None and one.name is None:
        fitting = [item for item in records.values() if _ownership(one.arguments, {"": item}).all]
        record = fitting[0] if len(fitting) == 1 else None
    read = None if record is None or (one.unreadable and (enveloped or one.partial)) else repair(record, one.arguments)
    if one.loose is not None and record is not None and read is not None and read.violations and not enveloped:
        as_text = repair(record, one.loose)  # a bare text may be the value itself
        one, read = (structs.replace(one, loose=None), as_text) if not as_text.violations else (one, read)
    if one.nothing is not None and record is not None:
        as_written = repair(record, loads(one.nothing))  # a tool may take null, or a text
        read = read if as_written.violations or as_written.repairs else as_written
    if one.unreadable is not None and (read is None or read.violations):
        violation = Violation("", "json", "", f"the arguments are not JSON: {one.unreadable}")
        truncated = one.partial or (cut and read is None)
        return LiftedCall(_name(one, record), one.arguments, (violation,), one.id, truncated=truncated, record=record)
    if read is None:
        known = f"; there {'is' if len(records) == 1 else 'are'} {names_of(records)}"
        said = f"no tool is called {dumps(one.name)}" if one.name is not None else "it does not say which tool is called"
        return LiftedCall(one.name, one.arguments, (Violation("", "name", "", f"{said}{known}"),), one.id, truncated=one.partial)
    repairs = (*_told(one, otherwise=otherwise), *read.repairs, *(Repair("", "repeated-key", key) for key in one.repeated))
    return LiftedCall(
        _name(one, record), read.value, read.violations, one.id, truncated=one.partial, repairs=repairs, record=record
    )


def _name(one: RawCall, record: ToolMap | None) -> str | None:
    return one.name if record is None else record.tool.name or one.name


def _told(one: RawCall, *, otherwise: bool) -> Iterator[Repair]:
    """Yield the repairs made before a value was examined."""
    if otherwise:
        yield Repair("", "tool-name", one.name)
    if one.loose is not None:
        yield Repair("", "loose-json")


def _chosen(first: Lifted, other: Lifted, *, equal: bool) -> Lifted:
    """Return the valid reading, or both if they are equally likely and equally valid."""
    if first.ok != other.ok:
        return first if first.ok else other
    return Lifted((), readings=(first, other)) if equal else first


CALLED_NAME: Final = 300
"""Maximum characters of the name in a call; no provider accepts names half as long."""
_OF_MCP = frozenset({"structuredContent", "structured_content", "isError", "is_error", "resultType", "result_type"})
"""Members, besides the content, one of which the result of an MCP server has."""


def message(record: ToolMap | None, name: str | None, call_id: str | None, value: object, *, error: bool) -> Json:
    """Return the result message for the provider of a call; raise `TypeError` for a value that is not JSON."""
    record = record or ToolMap(codec=None)
    known = known_target(record.target)
    said = json_of(value)
    if (fault := json_fault(said)) is not None:
        raise TypeError(f"the result is not JSON at `{fault[0] or '/'}`: {fault[1]}")
    if (given := _of_mcp(said)) is not None:
        said, failed = given
        error = error or failed
    text = said if isinstance(said, str) else dumps(said, indent=False)
    words: dict[str, Json] = {
        "@id": call_id,
        "@name": record.tool.sent or name,
        "@text": text if text.strip() or not error else "(empty)",  # Anthropic refuses an error without a word
        "@words": text if text.strip() else "(empty)",
        "@json": dumps(said, indent=False),
        "@object": {"error": text} if error else said if isinstance(said, dict) else {"result": said},
        "@error": True if error else None,
        "@status": "error" if error else None,
    }
    return fill_envelope(record.result or (tool_message() if known is None else known.result), words)


def _of_mcp(said: Json) -> tuple[Json, bool] | None:
    """Return the result of an MCP server and whether it is an error, or `None` for any other value.

    A model receives the structured content of an MCP result, or its texts; one with images or files is passed whole.
    """
    if not isinstance(said, dict) or not isinstance(content := said.get("content"), list) or _OF_MCP.isdisjoint(said):
        return None
    structured = said.get("structuredContent", said.get("structured_content"))
    failed = said.get("isError", said.get("is_error")) is True
    if isinstance(structured, dict) and not failed:
        return structured, False
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content]
    lines = [item for item in texts if isinstance(item, str)]
    return ("\n".join(lines) if len(lines) == len(content) else content), failed


_BESIDE = re.compile(r"<\|[^|<>]*+\|>(?:commentary|analysis|final|json)?|\(\)\Z|:\d+\Z|[\s\"'`/]+\Z|\A[\s\"'`$]+")
"""Decoration around a name: chat template markers, an empty pair of brackets, the number of the call, quotes."""
_NAMESPACE = re.compile(r"__|[.:/]+")
"""End of a namespace prefix: `functions.`, `default_api:`, `mcp__server__`."""


_NUMBERED = re.compile(r"functions[._](?P<name>.+)_\d+")
"""A name with the number of its call, as Kimi writes it after a server has replaced its punctuation."""


def named(name: str | None, records: Records) -> tuple[ToolMap | None, bool]:
    """Return the map of the tool that a name refers to, and whether its spelling differs; no map for an unknown name.

    Another case, `-` for `_`, additions to the name, and a namespace are accepted if only one tool matches.
    """
    exact = map_of(name, records)
    if exact is not None or name is None or len(name) > CALLED_NAME:
        return exact, False
    bare = name
    while (stripped := _BESIDE.sub("", bare)) != bare:
        bare = stripped
    ends = [bare[end.end() :] for end in _NAMESPACE.finditer(bare)]
    numbered = _NUMBERED.fullmatch(bare)
    for written in (bare, *ends, *([numbered["name"]] if numbered else [])):
        result = _fitting(written, records)
        if len(result) == 1:
            return result[0], True
    return None, False


def _fitting(written: str, records: Records) -> list[ToolMap]:
    """Return the maps of the tools whose original or sent name equals a name except for case and dashes."""
    if (exact := map_of(written, records)) is not None:
        return [exact]
    sought = comparison_key(written.strip().replace(" ", "_"))
    if not sought:
        return []
    return [record for sent, record in records.items() if sought in {comparison_key(sent), comparison_key(record.tool.name)}]


def names_of(records: Records) -> str:
    """Return the original names of all tools, for a message."""
    return listed([record.tool.name or sent for sent, record in records.items()], 5)


__all__ = ["Lifted", "LiftedCall", "lift"]
