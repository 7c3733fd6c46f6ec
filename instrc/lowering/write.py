"""Write what is built of a schema into the envelope of a target, with the map for the way back."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from instrc.codecs.maps import VERSION
from instrc.dialects.catalogue import targets
from instrc.ir.dialect import Dialect
from instrc.ir.tool import Tool
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, mapping
from instrc.lowering.built import Built
from instrc.lowering.describe import cut, described
from instrc.lowering.envelopes import fill_envelope
from instrc.lowering.examples import examples_field
from instrc.lowering.losses import Loss
from instrc.lowering.mentions import Mentions
from instrc.lowering.notes import join_notes
from instrc.lowering.spelling import respell


class Written(Struct, frozen=True, eq=False, gc=False):
    """A payload, and all that is kept of how it came about."""

    payload: Json
    map: JsonObject
    schema: Json
    """The payload's schema in standard JSON Schema."""
    losses: tuple[Loss, ...]


def write(built: Built, flat: Json, tool: Tool, name: str, dialect: Dialect) -> Written:
    """Write a schema into the envelope, the one without strictness where that is given up; `name` is the name that is sent."""
    if not built.strict:
        dialect = replace(dialect, envelope=dialect.plain)
    said, schema = _described(built, flat, tool, dialect)
    keys: list[Json] = list(mapping(schema.get("properties"))) if isinstance(schema, dict) else []
    record: JsonObject = {"instrc": VERSION, "target": dialect.name, "tool": {"name": tool.name, "sent": name}, "keys": keys}
    if (known := targets().get(dialect.name)) is None or known.result != dialect.result:
        record["result"] = dialect.result  # of another envelope, or of rules that nobody else knows
    record |= built.record
    record["schema"] = flat
    left_out = not dialect.empty_schema and not keys and _asks_nothing(schema)
    sent = None if left_out else respell(schema, dialect.spelling)
    examples, more = examples_field(tool, record, dialect)
    words: JsonObject = {"@name": name, "@description": said, "@schema": sent, "@map": record, "@examples": examples}
    if "@schema-text" in dialect.words:
        words["@schema-text"] = dumps(sent, indent=False)
    losses: tuple[Loss, ...] = (*built.losses, *more, *built.given_up)
    return Written(fill_envelope(dialect.envelope, words), record, schema, losses)


def _described(built: Built, flat: Json, tool: Tool, dialect: Dialect) -> tuple[str | None, Json]:
    """Return the description of the tool, within its limit, and the schema with what does not go there."""
    said, schema = described(built.schema, tool.description, flat, dialect)
    if built.back:
        mentions = Mentions({name: sent for sent, name in built.back.items()})
        said, schema = None if said is None else mentions.in_text(said), mentions.in_schema(schema)
    most = dialect.limits.description
    if said is not None and most is not None and len(said) > most:
        said, overflow = cut(said, most)
        if isinstance(schema, dict):
            here = schema.get("description")
            schema = {**schema, "description": join_notes(overflow, here if isinstance(here, str) else None)}
    return said, schema


def _asks_nothing(schema: Json) -> bool:
    """Say whether a schema is that of a tool without parameters."""
    return isinstance(schema, dict) and schema.get("type") == "object" and not schema.get("properties")
