"""The connection of workers and clients to the server, and the place of large values."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final, cast

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client, WorkflowQueryFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    JSONPlainPayloadConverter,
    PayloadCodec,
)
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import TemporalError
from temporalio.service import RPCError, RPCStatusCode

from instrc import problems
from instrc.engines.temporal import documents
from instrc.problems.errors import InstrcError, UnavailableError, UnreachableError
from instrc.runtime.secrets import redacted
from instrc.text.files import make_private, private_opener
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json

if TYPE_CHECKING:
    from instrc.engines.dbos.postgres import SharedDatabase  # the extra `durable`


class OrderedConverter(CompositePayloadConverter):
    """The SDK's converters, with a custom one for JSON."""

    def __init__(self) -> None:
        plain = [each for each in DefaultPayloadConverter.default_encoding_payload_converters if each.encoding != "json/plain"]
        super().__init__(*plain, _Ordered())


class _Ordered(JSONPlainPayloadConverter):
    """Writes and reads JSON with the project's own functions, which preserve key order."""

    def to_payload(self, value: object) -> Payload | None:
        """Return a value as a payload."""
        return Payload(metadata={"encoding": self.encoding.encode()}, data=dumps(cast("Json", value), indent=False).encode())

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> object:  # noqa: ARG002  -- all values are plain JSON
        """Return the value of a payload."""
        return loads(payload.data)


_ENCODING = b"instrc/blob"


class Blobs(PayloadCodec):
    """Stores large payloads as files or in a shared place; the history has their hashes."""

    def __init__(self, folder: Path, large: int = documents.HISTORY_VALUE_BYTES, shared: SharedDatabase | None = None) -> None:
        self.folder = folder
        self.shared = shared
        self.large = large

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Store large payloads separately."""
        if all(payload.ByteSize() < self.large for payload in payloads):
            return list(payloads)
        return await asyncio.to_thread(lambda: [self._put(payload) for payload in payloads])

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Load payloads that were stored separately."""
        if all(payload.metadata.get("encoding") != _ENCODING for payload in payloads):
            return list(payloads)
        return await asyncio.to_thread(lambda: [self._get(payload) for payload in payloads])

    def _put(self, payload: Payload) -> Payload:
        if payload.ByteSize() < self.large:
            return payload
        data = payload.SerializeToString(deterministic=True)
        name = sha256(data).hexdigest()
        file = self.folder / name[:2] / name
        if self.shared is not None:
            self.shared.put(name, data)
        elif not file.exists():
            make_private(self.folder)
            make_private(file.parent)
            beside = file.with_name(f"{name}.{token_hex(4)}.part")
            with os.fdopen(private_opener(str(beside), os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            beside.replace(file)
        return Payload(metadata={"encoding": _ENCODING}, data=name.encode())

    def _get(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _ENCODING:
            return payload
        name = payload.data.decode()
        data = None if self.shared is None else self.shared.get(name)
        if data is None:
            data = (self.folder / name[:2] / name).read_bytes()
        if sha256(data).hexdigest() != name:
            raise ValueError(f"the value {name} is damaged")
        return Payload.FromString(data)


def converter(folder: Path, shared: SharedDatabase | None = None) -> DataConverter:
    """Return a converter of values to payloads: plain JSON, large ones stored elsewhere."""
    codec = Blobs(folder, shared=shared)
    return replace(DataConverter.default, payload_converter_class=OrderedConverter, payload_codec=codec)


ADDRESS = "localhost:7233"


def address() -> str:
    """Return the address of the server."""
    return ClientConfig.load_client_connect_config().get("target_host") or ADDRESS


_TOLD = re.compile(r'message: "([^"]+)"')


async def connected(folder: Path, shared: SharedDatabase | None = None) -> Client:
    """Return a client; large values are in a folder or a shared place. Raise `UnreachableError` if no server responds."""
    with trouble():
        config = {"target_host": ADDRESS, **ClientConfig.load_client_connect_config()}
    try:
        with trouble():
            return await Client.connect(**config, data_converter=converter(folder / "blobs", shared))  # type: ignore[arg-type]  # as its docs say
    except InstrcError as error:
        raise UnreachableError(error.problems) from None


@contextmanager
def trouble() -> Iterator[None]:
    """Convert a connection error to a problem."""
    try:
        yield
    except (RPCError, RuntimeError, OSError, WorkflowQueryFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        if isinstance(error, RPCError) and error.status == RPCStatusCode.NOT_FOUND:
            raise
        made = UnreachableError if _is_passing(error) else UnavailableError
        raise made([problems.runs.UnusableStore(store=f"temporal at {address()}", reason=_reason(error))]) from None


LATE: Final = frozenset({RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED})
"""Status codes of a timed-out request, from the server or the client library (`Timeout expired` of tonic)."""


def _is_passing(error: Exception) -> bool:
    """Return whether the error is transient."""
    if isinstance(error, RPCError):
        return error.status in {RPCStatusCode.UNAVAILABLE, RPCStatusCode.UNKNOWN, RPCStatusCode.RESOURCE_EXHAUSTED, *LATE}
    return isinstance(error, OSError) or (isinstance(error, RuntimeError) and not isinstance(error, TemporalError))


def _reason(error: Exception) -> str:
    """Return a short text for a connection error: the last one of a chain from the library's core."""
    text = redacted(str(error)).splitlines()[0]
    told = _TOLD.findall(text)
    return str(told[-1])[:200].lower() if told else text[:200]


async def has_search_attributes(client: Client) -> bool:
    """Register the search attributes of runs with the server; return `False` if it has no support for them."""
    wanted = (documents.PLAN_ATTRIBUTE, documents.STATUS_ATTRIBUTE)
    try:
        known = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=client.namespace))
        missing = [name for name in wanted if name not in known.custom_attributes]
        if missing:
            kinds = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
            request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
            await client.operator_service.add_search_attributes(request)
    except RPCError:
        return False
    return True
