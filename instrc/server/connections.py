"""Limit the connections of a service: their number, in total and per address, and the time they may be idle."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.utils import get_remote_addr

from instrc.server.access import peer_of
from instrc.server.bounds import CONNECTIONS, FROM_ONE_ADDRESS, HEAD_SECONDS, RESERVED


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # h11 or httptools, whichever is there
    """A connection to uvicorn that is refused beyond the limits, and closed if the head of a request does not arrive in time.

    `instrc serve` uses it; the command line of uvicorn, from 0.36, takes it with
    `--http instrc.server.connections:BoundedProtocol --ws none --backlog 100`.
    A connection that became a web socket would have no time limit.
    """

    address: str | None = None
    """The counted address of the client; `None` for a connection that was refused."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Accept or refuse a connection; the proxies in the configuration of uvicorn are limited only in total."""
        super().connection_made(transport)
        address = peer_of((get_remote_addr(transport) or ("",))[0])
        taken = [each for each in (getattr(other, "address", "") for other in self.connections) if each is not None]
        proxies = self.config.forwarded_allow_ips
        trusted = proxies.split(",") if isinstance(proxies, str) else proxies
        is_proxy = any(each == "*" or peer_of(each.strip()) == address for each in trusted)
        if admits(taken.count(address), len(taken), is_proxy=is_proxy):
            self.address = address
            self._wait()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a request."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data, and limit the time until the head of a request is complete."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:  # the head of a request is incomplete
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


def admits(here: int, total: int, *, is_proxy: bool = False) -> bool:
    """Return whether to accept another connection; a few are reserved for addresses without any, such as probes."""
    return (here < FROM_ONE_ADDRESS or is_proxy) and total < CONNECTIONS - (RESERVED if here else 0)
