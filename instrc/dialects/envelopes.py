"""Put the rules of one target into the envelope of another, as gateways want it, or into the envelope without strictness."""

from __future__ import annotations

from dataclasses import replace

from instrc.ir.dialect import Dialect
from instrc.jsontext import loads
from instrc.jsonvalue import Json, JsonObject, at, pointer


def in_envelope(rules: Dialect, outer: Dialect) -> Dialect:
    """Return the rules of one target with the envelope of another; where the rules enforce nothing, the plain one."""
    lax = not rules.enforced and outer.plain is not None
    return replace(
        rules,
        envelope=outer.plain if lax else outer.envelope,
        plain=None if lax or rules.plain is None else outer.plain,
        where=outer.where,
        tool=outer.tool,
        spelling=outer.spelling,
        keywords=rules.keywords | (outer.keywords & {"nullable"}),
        null_type=outer.null_type,
        typed_enums=outer.typed_enums,
        null_leaves_out=outer.null_leaves_out,
        example=outer.example,
        empty_schema=outer.empty_schema,
        result=outer.result,
    )


def schema_in(payload: Json, dialect: Dialect) -> Json:
    """Return the schema that a payload carries; `LookupError` or `ValueError` if there is none."""
    found = at(payload, pointer(dialect.where))
    return loads(found) if isinstance(found, str) and dialect.where else found


def relaxed(dialect: Dialect) -> Dialect:
    """Return a target with its envelope without strictness, if it has one."""
    return dialect if dialect.plain is None else replace(dialect, envelope=dialect.plain, plain=None)


def fill_envelope(envelope: Json, values: dict[str, Json]) -> Json:
    """Return the envelope with its words replaced; a member whose value is `None` is left out."""
    if isinstance(envelope, str):
        return values.get(envelope, envelope)
    if isinstance(envelope, dict):
        filled: JsonObject = {}
        for key, part in envelope.items():
            value = values.get(part, part) if part.__class__ is str else fill_envelope(part, values)
            if value is not None:
                filled[key] = value
        return filled
    return envelope
