"""How values are written into histories: plain JSON whose keys keep their order, which the converter of the SDK would sort."""

from __future__ import annotations

from typing import cast

from temporalio.api.common.v1 import Payload
from temporalio.converter import CompositePayloadConverter, DefaultPayloadConverter, JSONPlainPayloadConverter

from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json


class _Ordered(JSONPlainPayloadConverter):
    """Writes and reads JSON as all of this project does; the order of the properties of a schema says what comes first."""

    def to_payload(self, value: object) -> Payload | None:
        """Return a value as a payload."""
        return Payload(metadata={"encoding": self.encoding.encode()}, data=dumps(cast("Json", value), indent=False).encode())

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> object:  # noqa: ARG002  -- all are plain JSON
        """Return the value of a payload."""
        return loads(payload.data)


class OrderedConverter(CompositePayloadConverter):
    """The converters of the SDK, with ours for JSON."""

    def __init__(self) -> None:
        plain = [each for each in DefaultPayloadConverter.default_encoding_payload_converters if each.encoding != "json/plain"]
        super().__init__(*plain, _Ordered())
