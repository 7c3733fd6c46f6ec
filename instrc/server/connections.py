"""Limit the connections of a service: their number, in total and per address, and the time they may be idle or unread."""

from __future__ import annotations

import asyncio

from uvicorn.middleware.proxy_headers import _TrustedHosts
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.utils import get_remote_addr

from instrc.server.access import peer_of
from instrc.server.bounds import CONNECTIONS, FROM_ONE_ADDRESS, HEAD_SECONDS, READ_BYTES, RESERVED, UNREAD_SECONDS


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # h11 or httptools, whichever is there
    """A connection to uvicorn that is refused beyond the limits, and closed if the head of a request does not arrive in time.

    `instrc serve` uses it; the command line of uvicorn, from 0.36, takes it with
    `--http instrc.server.connections:BoundedProtocol --ws none --backlog 100`.
    A connection that became a web socket would have no time limit.
    """

    address: str | None = None
    """The counted address of the client; `None` for a connection that was refused."""
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Accept or refuse a connection; the proxies in the configuration of uvicorn are limited only in total."""
        super().connection_made(transport)
        transport.max_size = READ_BYTES  # type: ignore[attr-defined]  # of the loops of asyncio
        host = (get_remote_addr(transport) or ("",))[0]
        address, proxies = peer_of(host), self.config.forwarded_allow_ips
        taken = [each for each in (getattr(other, "address", "") for other in self.connections) if each is not None]
        if admits(taken.count(address), len(taken), is_proxy=host in _TrustedHosts(proxies)):
            self.address = address
            self._wait()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a request, and for the client to read."""
        self._stop_waiting()
        self._stop_unread()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data, and limit the time until the head of a request is complete."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:  # the head of a request is incomplete
            self._wait()
        else:
            self._stop_waiting()

    def pause_writing(self) -> None:
        """Wait for the client to read, for a limited time."""
        super().pause_writing()
        self._unread = asyncio.get_running_loop().call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Write again, as the client has read."""
        super().resume_writing()
        self._stop_unread()

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()

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
