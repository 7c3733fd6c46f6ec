"""Limit the connections of a service: their number in total and per address, and the time to wait for a request."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.utils import get_remote_addr

from instrc.server.access import peer_of
from instrc.server.bounds import CONNECTIONS, FROM_ONE_ADDRESS, HEAD_SECONDS, RESERVED


class BoundedConnections:
    """Counts the connections of one service by address; those of proxies count only in total."""

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self.proxies: frozenset[str] = frozenset(map(peer_of, proxies))
        self.open: Counter[str] = Counter()

    def protocol(self) -> type[asyncio.Protocol]:
        """Return the protocol class of counted connections."""
        bounds = self

        class Bounded(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # h11 or httptools, whichever is there
            _late: asyncio.TimerHandle | None = None
            _address: str | None = None

            def connection_made(self, transport: asyncio.Transport) -> None:
                super().connection_made(transport)
                address = peer_of((get_remote_addr(transport) or ("",))[0])
                if not bounds.admits(address):
                    transport.abort()
                    return
                self._address = address
                bounds.open[address] += 1
                self._wait()

            def connection_lost(self, exc: Exception | None) -> None:
                self._stop_waiting()
                if self._address is not None:
                    bounds.open[self._address] -= 1
                    bounds.open += Counter()  # those of which none is left go
                super().connection_lost(exc)

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                if self.cycle is None or self.cycle.response_complete:  # the head of a request is not whole yet
                    self._wait()
                else:
                    self._stop_waiting()

            def _wait(self) -> None:
                if self._late is None:
                    self._late = asyncio.get_running_loop().call_later(HEAD_SECONDS, self.transport.abort)

            def _stop_waiting(self) -> None:
                if self._late is not None:
                    self._late.cancel()
                    self._late = None

        return Bounded

    def admits(self, address: str) -> bool:
        """Return whether to accept a connection from an address; a few are reserved for addresses without any, such as probes."""
        total, here = self.open.total(), self.open[address]
        if here >= FROM_ONE_ADDRESS and address not in self.proxies:
            return False
        return total < CONNECTIONS - (RESERVED if here else 0)
