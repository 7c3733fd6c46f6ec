"""Lift a model's answer: out of its envelope, back to our names and shapes, checked, divided.

What comes back tells apart values, refusals, answers that were cut off, and values that break the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from instrc.jsonvalue import Json
from instrc.problems.problem import CompileError
from instrc.problems.targets import UnreadableMap
from instrc.targets.answers import Found, found, parsed
from instrc.targets.decode import Inexpressible, Interpreter
from instrc.targets.judge import Violation, violations
from instrc.targets.lower import META_KEY
from instrc.targets.reverse import VERSION

__all__ = ["Call", "Inexpressible", "Lifted", "encode", "lift"]


@dataclass(frozen=True)
class Call:
    """One call of a tool, in our names and shapes."""

    name: str | None
    """The name the tool was lowered under; what the model wrote if no tool is called so; `None` if nothing was said."""
    value: Json
    violations: tuple[Violation, ...] = ()
    """Where the value breaks the schema it was lowered from; empty if it does not."""
    id: str | None = None
    """The provider's id of the call, for the answer to it."""
    truncated: bool = False
    """Whether the arguments end before their JSON does."""

    @property
    def valid(self) -> bool:
        """Whether the value may be used."""
        return not self.violations and not self.truncated

    @cached_property
    def _parts(self) -> dict[str, Json]:
        from instrc.schema.split import split

        return dict(split(self.value))

    @property
    def output(self) -> Json:
        """The answer proper, without thoughts and metrics."""
        return self._parts["output"]

    @property
    def thoughts(self) -> Json:
        """What was kept under names with `_`, by path."""
        return self._parts["thoughts"]

    @property
    def metrics(self) -> Json:
        """What was kept under names with `$`, by path."""
        return self._parts["metrics"]

    def to_json(self) -> Json:
        """Return the call as plain JSON."""
        return {
            "name": self.name,
            "id": self.id,
            "value": self.value,
            "truncated": self.truncated,
            "invalid": [violation.to_json() for violation in self.violations],
        }


@dataclass(frozen=True)
class Lifted:
    """What an answer says."""

    calls: tuple[Call, ...]
    refusal: str | None = None
    """The words, or the reason, with which the model or its provider declined; `None` if it did not."""
    truncated: bool = False
    """Whether the answer was cut off at a limit of length."""
    text: str | None = None
    """What was said beside the calls."""
    malformed: str | None = None
    """The provider's word for a call it could not read itself."""

    @property
    def ok(self) -> bool:
        """Whether there are values and nothing is wrong with any of them."""
        return bool(self.calls) and self.refusal is None and not self.truncated and all(call.valid for call in self.calls)

    @property
    def call(self) -> Call:
        """The only call; `LookupError` if there is none or several."""
        if len(self.calls) != 1:
            message = f"the answer holds {len(self.calls)} calls, not one"
            raise LookupError(message)
        return self.calls[0]

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
        """What is wrong with the values of all calls."""
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

    def to_json(self) -> Json:
        """Return the whole as plain JSON."""
        return {
            "calls": [call.to_json() for call in self.calls],
            "refusal": self.refusal,
            "truncated": self.truncated,
            "text": self.text,
            "malformed": self.malformed,
        }


def lift(answer: Json, map: Json) -> Lifted:  # noqa: A002  -- the word for it everywhere else
    """Bring an answer back to the names and shapes of the schema that was lowered.

    `answer` is what the provider returned, whole or in part, as an object, text or bytes; `map` is a lowering's map,
    that of a set of tools, or an MCP tool that carries one.  An unreadable map is an `unreadable-map` problem;
    an answer, however broken, is not: what is wrong with it is in the result.
    """
    records = _records(map)
    reply = found(answer, lambda value: _is_bare(value, records), frozenset(records))
    calls = [_call(one, records, enveloped=reply.envelope, cut=reply.cut) for one in reply.calls]
    texts = list(reply.texts)
    if not calls and texts and reply.refusal is None and len(records) == 1:
        last, whole = parsed(None, texts[-1]), parsed(None, "".join(texts))  # structured output: the text is the answer
        readings = [(last, texts[:-1]), (whole, [])]  # in its last part, or divided among all of them
        readings.sort(key=lambda reading: (reading[0].unreadable is not None, not reading[0].partial))
        one, left = readings[0]
        if one.unreadable is None or one.partial:
            texts = left
            calls = [_call(one, records, enveloped=True, cut=reply.cut)]
    truncated = reply.cut or any(call.truncated for call in calls)
    text = "\n".join(texts) or None
    return Lifted(tuple(calls), reply.refusal, truncated, text, reply.malformed)


def encode(value: Json, map: Json, name: str | None = None) -> Json:  # noqa: A002  -- as above
    """Return a value as a model would write it for the target: what `lift` turns back into it.

    For examples in prompts, such as `few_shot_examples` of GigaChat.  `Inexpressible` if the target has no words for it.
    """
    records = _records(map)
    record = _record_of(name, records)
    if record is None:
        raise CompileError([UnreadableMap(reason=f"it knows no tool `{name}`")])
    return Interpreter(record).encode(record.get("codec"), value)


def _records(map: Json) -> dict[str, Any]:  # noqa: A002  -- as above
    """Return the maps of all tools by the names they were sent under."""
    if isinstance(map, dict) and isinstance(meta := map.get("_meta"), dict) and META_KEY in meta:
        map = meta[META_KEY]  # noqa: A001  -- as above
    if not isinstance(map, dict) or "instrc" not in map:
        raise CompileError([UnreadableMap(reason="the member `instrc` is missing")])
    if map["instrc"] != VERSION:
        raise CompileError([UnreadableMap(reason=f"it is of version {map['instrc']!r}, and this program reads {VERSION}")])
    records = map["tools"] if "tools" in map else {_sent(map): map}
    if not isinstance(records, dict) or not all(isinstance(record, dict) and "schema" in record for record in records.values()):
        raise CompileError([UnreadableMap(reason="it holds no schema to check answers by")])
    return records


def _sent(record: dict[str, Any]) -> str:
    tool = record.get("tool")
    return str(tool.get("sent", "")) if isinstance(tool, dict) else ""


def _is_bare(value: Json, records: dict[str, Any]) -> bool:
    """Say whether an object is the arguments themselves: all its keys are keys of the payload."""
    if not value:
        return True
    return any(record.get("keys") and value.keys() <= set(record["keys"]) for record in records.values())


def _record_of(name: str | None, records: dict[str, Any]) -> Any:
    if name is None:
        return next(iter(records.values())) if len(records) == 1 else None
    if name in records:
        return records[name]
    return next((record for record in records.values() if record.get("tool", {}).get("name") == name), None)


def _call(one: Found, records: dict[str, Any], *, enveloped: bool, cut: bool) -> Call:
    """Lift one call."""
    record = _record_of(one.name, records)
    if record is None and one.name is None:
        record = next(
            (each for each in records.values() if isinstance(one.arguments, dict) and _is_bare(one.arguments, {"": each})), None
        )
    if one.unreadable is not None and record is not None and not enveloped and not one.partial:
        return _lifted(one, one.arguments, record)  # a bare text may be the value itself
    if one.unreadable is not None:
        violation = Violation("", "json", "", f"the arguments are no JSON: {one.unreadable}")
        return Call(_name(one, record), one.arguments, (violation,), one.id, truncated=one.partial or cut)
    if record is None:
        named = f"no tool is called {one.name!r}" if one.name is not None else "it is not said which of the tools is called"
        return Call(one.name, one.arguments, (Violation("", "name", "", named),), one.id)
    return _lifted(one, one.arguments, record)


def _name(one: Found, record: Any) -> str | None:
    if isinstance(record, dict) and isinstance(record.get("tool"), dict):
        found_name = record["tool"].get("name")
        return str(found_name) if found_name is not None else one.name
    return one.name


def _lifted(one: Found, arguments: Json, record: dict[str, Any]) -> Call:
    codec, schema = record.get("codec"), record["schema"]
    value = Interpreter(record, fold=False).decode(codec, arguments)
    broken = violations(schema, value)
    if broken and _folds(codec):
        mended = Interpreter(record).decode(codec, arguments)
        still = violations(schema, mended)
        if len(still) < len(broken):
            value, broken = mended, still
    return Call(_name(one, record), value, broken, one.id)


def _folds(codec: Any) -> bool:
    """Say whether a codec of names may mend the case of words too."""
    while codec is not None and codec["as"] == "box":
        codec = codec.get("codec")
    return codec is not None and codec["as"] == "names" and bool(codec.get("fold"))
