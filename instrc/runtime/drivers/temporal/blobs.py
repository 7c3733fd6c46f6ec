"""Large values beside the history: a folder that all workers see, by the hash of what is in a file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, PayloadCodec

from instrc.limits.runs import HISTORY_VALUE_BYTES
from instrc.runtime.drivers.temporal.payloads import OrderedConverter

_ENCODING = b"instrc/blob"


class Blobs(PayloadCodec):
    """Keeps large payloads as files; the history has their hash."""

    def __init__(self, folder: Path, large: int = HISTORY_VALUE_BYTES) -> None:
        self.folder = folder
        self.large = large

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Put large payloads away."""
        if all(payload.ByteSize() < self.large for payload in payloads):
            return list(payloads)
        return await asyncio.to_thread(lambda: [self._put(payload) for payload in payloads])

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Fetch payloads that were put away."""
        if all(payload.metadata.get("encoding") != _ENCODING for payload in payloads):
            return list(payloads)
        return await asyncio.to_thread(lambda: [self._get(payload) for payload in payloads])

    def _put(self, payload: Payload) -> Payload:
        if payload.ByteSize() < self.large:
            return payload
        data = payload.SerializeToString(deterministic=True)
        name = sha256(data).hexdigest()
        file = self.folder / name[:2] / name
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_name(f"{name}.{token_hex(4)}.part")
            with beside.open("wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            beside.replace(file)
        return Payload(metadata={"encoding": _ENCODING}, data=name.encode())

    def _get(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _ENCODING:
            return payload
        name = payload.data.decode()
        data = (self.folder / name[:2] / name).read_bytes()
        if sha256(data).hexdigest() != name:
            message = f"the value {name} in {self.folder} is damaged"
            raise ValueError(message)
        return Payload.FromString(data)


def converter(folder: Path) -> DataConverter:
    """Return what turns values into payloads: plain JSON, large ones put away."""
    return replace(DataConverter.default, payload_converter_class=OrderedConverter, payload_codec=Blobs(folder))
