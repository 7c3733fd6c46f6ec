"""Fill a target's envelope: a JSON template with `@` words in the places of what goes in."""

from __future__ import annotations

from instrc.jsonvalue import Json


def fill_envelope(envelope: Json, values: dict[str, Json]) -> Json:
    """Return the envelope with its words replaced; a member whose value is `None` is left out."""
    if isinstance(envelope, str):
        return values.get(envelope, envelope)
    if isinstance(envelope, dict):
        pairs = ((key, fill_envelope(value, values)) for key, value in envelope.items())
        return {key: value for key, value in pairs if value is not None}
    return envelope
