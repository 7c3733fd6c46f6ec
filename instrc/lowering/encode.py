"""Write a value as a model would write it for a target: for the examples that a model is shown."""

from __future__ import annotations

from typing import cast

from instrc.arguments import text_or_none, truth
from instrc.codecs.maps import map_of, records_in
from instrc.codecs.rename_keys import KeyRenamer
from instrc.codecs.transcode import Inexpressible, Transcoder
from instrc.codecs.undeclared import undeclared_key
from instrc.dialects.catalogue import known_target
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, equal, pointer
from instrc.plain_values import takes_plain_values
from instrc.problems.problem import CompileError
from instrc.problems.targets import InvalidAnswer, UnreadableMap
from instrc.python.values import json_of, why_unwritten
from instrc.schema.validation import json_fault, validate


@takes_plain_values
def encode(value: object, map: object, name: str | None = None, *, check: bool = True) -> Json:  # noqa: A002  -- the word for it everywhere else
    """Return a value as a model would write it for the target: what `lift` turns back into it.

        lowered = instrc.lower({"type": "object", "properties": {"days": {"type": "object"}}}, "openai")
        sent = instrc.encode({"days": {"Monday": 1}}, lowered)
        assert instrc.lift(sent, lowered).call.value == {"days": {"Monday": 1}}

    `value` is JSON, or an instance of a model of pydantic or a dataclass.  `map` is a lowering or its map, as for `lift`.
    `name` says which tool, where the map is that of several.
    With `check`, a value that does not satisfy the schema it was lowered from is a `CompileError` with `invalid-answer` problems.

    A `format` counts as well, as it does for `lift`: a time needs a zone where the format is `time` or `date-time`,
    which pydantic says of every `time` and `datetime` but not of a `NaiveDatetime`.

    For examples in prompts, such as `few_shot_examples` of GigaChat.  `Inexpressible` if the target has no words for it;
    where null is the default of a property and cannot be told from leaving it out, it is left out.
    """
    records = records_in(map)
    record = map_of(text_or_none("name", name), records)
    if record is None:
        raise CompileError([UnreadableMap(reason=f"it knows no tool `{name}`")])
    written = cast("Json", json_of(value, as_input=True))
    if (fault := json_fault(written)) is not None:
        reason = why_unwritten(value) if not fault[0] else ""
        raise CompileError([InvalidAnswer(pointer=fault[0], reason=f"{fault[1]}: {reason}" if reason else fault[1])])
    if truth("check", check):
        if wrong := validate(written, record["schema"]):
            raise CompileError([InvalidAnswer(pointer=each.instance, reason=each.message) for each in wrong])
        _refuse_undeclared(written, record)
    transcoder = Transcoder(record)
    try:
        return transcoder.write(written)
    except Inexpressible:
        spared = KeyRenamer(record["schema"], spare=True).converted(written, [record["schema"]])
        if equal(spared, written):
            raise
        return Transcoder(record).write(spared)


def _refuse_undeclared(value: Json, record: JsonObject) -> None:
    """Raise `Inexpressible` for a key that the schema leaves open, and that the closed objects of the payload forbid."""
    dialect = known_target(record["target"])
    if dialect is None or not dialect.closed:
        return
    place = undeclared_key(value, record["schema"], levels=dialect.limits.depth)
    if place is not None:
        key, where = dumps(place[-1], indent=False), pointer(place[:-1]) or "/"
        message = (
            f"the key {key} at {where} is not declared, and `{dialect.name}` closes objects: "
            "declare it in `properties`, or let `additionalProperties` say what else there may be"
        )
        raise Inexpressible(message)
