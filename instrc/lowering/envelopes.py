"""Fill a target's envelope: a JSON template with `@` words in the places of what goes in."""

from __future__ import annotations

from instrc.jsonvalue import Json, JsonObject


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
