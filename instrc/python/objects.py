"""Read objects of other people's classes: whatever their attributes do, only our own errors come of it."""

from __future__ import annotations

from typing import cast

from instrc import arguments
from instrc.jsonvalue import Json


def attribute(value: object, name: str) -> object:
    """Return an attribute, `None` where there is none; a proxy outside of its context raises whatever it likes."""
    try:
        found: object = getattr(value, name, None)
    except Exception:  # noqa: BLE001  -- somebody's object: it has no such attribute that could be read
        return None
    return found


def model_as_json(value: object) -> Json:
    """Return a model of pydantic as plain JSON under the names in which it is sent; any other value as it is."""
    dump = attribute(value, "model_dump")
    if callable(dump) and not isinstance(value, type):
        try:
            dumped: Json = dump(mode="json", by_alias=True, exclude_none=True)
        except Exception as error:
            message = f"{arguments.excerpt(value)} cannot be read: its `model_dump` raises {type(error).__name__}: {error}"
            raise TypeError(message) from error
        return dumped
    return cast("Json", value)  # whoever needs pure JSON checks that it is
