"""Encode a value as a model would write it for a target."""

from __future__ import annotations

from instrc.problems.errors import CompileError, CompileWarning
from instrc.problems.targets import LossyTarget, UnreadableMap
from instrc.providers.codec import ToolMap
from instrc.providers.lowering.context import LoweringOptions
from instrc.providers.lowering.encoding import encoded
from instrc.providers.lowering.lower import Lowering, lower_tool
from instrc.providers.maps import map_of, records_in, tool_map
from instrc.providers.targets import known_target
from instrc.text.arguments import takes_plain_values, text_or_none, truth
from instrc.text.callers import warn_caller
from instrc.text.jsonvalue import Json
from instrc.tools.tool import Tool


@takes_plain_values
def encode(value: object, map: object, name: str | None = None, *, check: bool = True) -> Json:  # noqa: A002  -- the word for it everywhere else
    """Return a value as a model would write it for the target: the inverse of `lift`.

        lowered = instrc.lower({"type": "object", "properties": {"days": {"type": "object"}}}, "openai")
        sent = instrc.encode({"days": {"Monday": 1}}, lowered)
        assert instrc.lift(sent, lowered).call.value == {"days": {"Monday": 1}}

    `value` is JSON, or an instance of a pydantic model or a dataclass.  `map` is a lowering or its map, as for `lift`.
    `name` is the name of the tool, if the map has several.
    With `check`, a value that violates the original schema raises `AnswerError` with `invalid-answer` problems.

    This includes `format`, as in `lift`: a time needs a zone if the format is `time` or `date-time`,
    which pydantic generates for every `time` and `datetime` but not for `NaiveDatetime`.

    For examples in prompts, such as `few_shot_examples` of GigaChat.  `Inexpressible` if the target cannot express it;
    a null that is a property's default and equivalent to its absence is left out, with a `CompileWarning`
    if it was present in the JSON.  Keys are in the order of the payload, as a model writes them.
    """
    records = records_in(map)
    record = map_of(text_or_none("name", name), records)
    if record is None:
        raise CompileError([UnreadableMap(reason=f"it knows no tool `{name}`")])
    sent, left_out = encoded(value, record, _payload_schema(map, record), check=truth("check", check))
    known = known_target(record.target)
    if left_out and isinstance(value, dict | list) and known is not None and not known.null:  # the others receive null
        reason = "is null, which cannot be told from leaving a property out: what is null is left out"
        problem = LossyTarget(target=known.name, keyword="default", pointer="", reason=reason)
        warn_caller(CompileWarning(problem))
    return sent


def _payload_schema(given: object, record: ToolMap) -> Json:
    """Return the sent schema of a map: that of its lowering, or of an equal new lowering."""
    for item in (given, *getattr(given, "lowerings", ())):
        if isinstance(item, Lowering) and tool_map(item.map) == record:
            return item.schema
    dialect = known_target(record.target)
    if dialect is None or record.codec is None:
        return True  # in the order of a payload of the same shape
    again = lower_tool(Tool("tool", record.schema), dialect, LoweringOptions())
    return again.schema if tool_map(again.map).codec == record.codec else True
