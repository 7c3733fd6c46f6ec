"""Webhooks: an outbox of run events and their receivers, signed according to Standard Webhooks."""

from __future__ import annotations

import asyncio
import secrets
import socket
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from random import uniform
from time import time
from typing import Any, Final, TypeAlias, cast

import httpcore
import httpx
import sqlalchemy as sa
from httpcore._backends.anyio import AnyIOStream
from httpcore._backends.auto import AutoBackend
from msgspec import Struct, structs
from standardwebhooks import Webhook

from instrc import problems
from instrc.engines.approvals import ALL
from instrc.engines.run_table import RunChange, audit_row, feed_after, storable
from instrc.engines.service_tables import AUDIT, CANDIDATES, CURSORS, DELIVERIES, HOOKS, MESSAGES, RUNS
from instrc.problems.errors import InputError, InstrcError, RequestError, SettingsError
from instrc.runtime.http_activities import trusted_certificates
from instrc.server.records import Records
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import JsonObject, as_object, as_texts

EVENTS: Final = (
    "question.opened",
    "question.due",
    "question.overdue",
    "question.answered",
    "run.done",
    "run.failed",
    "run.held",
    "run.stopped",
    "run.cancelled",
)
"""Events that a webhook can subscribe to."""
STATUSES: Final = ("pending", "delivered", "failed")
"""Statuses of deliveries."""
IpNetwork: TypeAlias = IPv4Network | IPv6Network
IpAddress: TypeAlias = IPv4Address | IPv6Address


class AddressRules(Struct, frozen=True):
    """The allowed destination addresses: public ones, and private networks from the settings."""

    allowed: tuple[IpNetwork, ...] = ()

    @classmethod
    def of(cls, networks: Iterable[str]) -> AddressRules:
        """Return the rules for networks such as `10.0.0.0/8`; raise `SettingsError` for an invalid one."""
        try:
            return cls(tuple(ip_network(each) for each in networks))
        except ValueError as error:
            raise SettingsError([problems.settings.InvalidSettings(key="serve.networks", reason=str(error))]) from None

    def refusal(self, address: IpAddress, *, encrypted: bool) -> str | None:
        """Return why an address is refused, or `None` if it is allowed."""
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if is_inner(address) and not any(address in network for network in self.allowed):
            return "its address is inside this machine's own networks"
        if not encrypted and not address.is_loopback:
            return "it begins with `https://`; `http://` is for this machine alone"
        return None

    async def resolve(self, host: str, port: int, *, encrypted: bool) -> list[str]:
        """Return the addresses of a host; raise `InputError` if one of them is refused."""
        try:
            look = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
            found = await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(_LOOKING, look), SECONDS)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error) or f"no answer in {SECONDS:g} seconds"
            raise _refused(host, f"its address is not known: {reason}") from None
        addresses = list(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))
        for each in addresses:
            if (reason := self.refusal(ip_address(each), encrypted=encrypted)) is not None:
                raise _refused(host, reason)
        return addresses

    async def check(self, url: str) -> None:
        """Raise `InputError` for a refused URL."""
        parts = _parts_of(url)
        await self.resolve(parts.host, parts.port or (443 if parts.scheme == "https" else 80), encrypted=parts.scheme == "https")


class Hook(Struct, frozen=True):
    """A receiver of run events."""

    id: str
    url: str
    events: list[str]
    """Subscribed events, from `EVENTS`."""
    programs: list[str]
    """Programs whose runs are reported; empty for all."""
    run: str | None
    """The only run that is reported."""
    form: str
    """`standard`, or the name of another message format."""
    owner: str
    made: float
    """Creation time, in seconds since 1970."""
    disabled: str | None
    """Why it is disabled."""
    details: JsonObject
    """Additional data of its format, and the `people` whose events are reported; without them, those of all."""

    def reports(self, change: RunChange, names: set[str]) -> bool:
        """Return whether a change is reported that concerns the people of these names."""
        people = {*as_texts(self.details.get("people", []))}
        of_program = not self.programs or change.program in self.programs
        return change.kind in self.events and of_program and (not people or ALL in names or not people.isdisjoint(names))


Form: TypeAlias = Callable[[Hook, str], Awaitable[tuple[str, dict[str, str]] | None]]
"""Returns the body and headers of a message about a run's id, or `None` if there is nothing to send."""
_DUE: Final = "due"
_OVERDUE: Final = "overdue"
_FEED: Final = "webhooks"
"""Cursors of sent reminders, and of the feed up to which the outbox is written."""
_READ: Final = 500
"""Maximum changes read in one transaction."""
SOON: Final = 3600.0
"""Seconds before the due time at which people are reminded; shorter questions are announced only once."""
_GATHERED: Final = 0.2
"""Seconds in which changes are gathered, so that many of them are read at once."""
_AT_ONCE: Final = 4
"""Maximum concurrent messages to one webhook, so that a slow receiver delays no other."""
_OF_OWNER: Final = 40
"""Maximum concurrent messages to the webhooks of one owner: each needs a connection, and every task may have push settings."""
_IN_ALL: Final = 100
"""Maximum concurrent messages of a service."""
_LOOKING: Final = ThreadPoolExecutor(_IN_ALL, "instrc-names")
"""Threads that look up host names, apart from the others, since a slow name server can block a thread for a long time."""
_ROUND: Final = 1.0
"""Seconds after which a round leaves slow receivers to themselves."""
_LEASE: Final = 60.0
"""Seconds for which one process owns a message; if that process ends, another one sends it afterwards."""
PATIENCE: Final = 3 * 86400.0
"""Seconds after which delivery of a message is abandoned."""
_PLACE: Final = sa.select(CURSORS.c.value).where(CURSORS.c.name == _FEED).with_for_update()
_TURN: Final = sa.func.row_number().over(partition_by=DELIVERIES.c.hook, order_by=DELIVERIES.c.due).label("turn")
_OPEN: Final = (
    sa.select(DELIVERIES.c.message, DELIVERIES.c.hook, DELIVERIES.c.due, DELIVERIES.c.attempts, DELIVERIES.c.number, _TURN)
    .where(DELIVERIES.c.status == "pending", DELIVERIES.c.due <= sa.bindparam("now"))
    .subquery()
)
_PLACE_OF_OWNER: Final = (
    sa.func.row_number().over(partition_by=HOOKS.c.owner, order_by=(_OPEN.c.turn, _OPEN.c.due)).label("place")
)
_FIRST: Final = (
    sa.select(_OPEN, _PLACE_OF_OWNER).join(HOOKS, HOOKS.c.id == _OPEN.c.hook).where(_OPEN.c.turn <= _AT_ONCE).subquery()
)
_PENDING: Final = (
    sa.select(MESSAGES.c.body, MESSAGES.c.at, MESSAGES.c.run.label("about"), _FIRST, HOOKS)
    .join(MESSAGES, MESSAGES.c.id == _FIRST.c.message)
    .join(HOOKS, HOOKS.c.id == _FIRST.c.hook)
    .where(_FIRST.c.place <= _OF_OWNER)
    .order_by(_FIRST.c.place)
    .limit(100)
)
"""Due messages, at most `_AT_ONCE` of one webhook and `_OF_OWNER` of one owner; built once."""


class Webhooks:
    """The webhooks of a store."""

    def __init__(self, records: Records, rules: AddressRules, link: Callable[[RunChange], str]) -> None:
        """Listen to the records of a service; `link` returns the address of the page for a change."""
        self.records = records
        self.rules = rules
        self.link = link
        self.forms: dict[str, Form] = {}
        """Other forms of messages, by their names."""
        self._noted = asyncio.Event()
        self._sending: set[asyncio.Task[bool]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        if records.cursor(_FEED) is None:
            records.move_cursor(_FEED, str(records.feed_bounds()[1]))
        records.watchers.append(lambda _changes: self.wake())

    async def add(
        self,
        url: str,
        *,
        owner: str,
        means: str = "local",
        events: Sequence[str] = EVENTS,
        programs: Sequence[str] = (),
        run: str | None = None,
        form: str = "standard",
        id: str | None = None,  # noqa: A002  -- the name of the member
        details: JsonObject | None = None,
    ) -> tuple[Hook, str]:
        """Add a webhook, or replace that of an `id`, and record by whom; return it and its secret, which is shown only once.

        Raise `InputError` for a refused address, or an unknown event.
        """
        unknown = [each for each in events if each not in EVENTS]
        if unknown or not events:
            reason = f"an event is {', '.join(f'`{each}`' for each in EVENTS)}"
            raise RequestError([problems.serving.InvalidRequest(reason=reason, pointer="/events")])
        await self.rules.check(url)
        ident = id or f"wh_{secrets.token_hex(12)}"
        made = Hook(ident, url, [*events], [*programs], run, form, owner, time(), None, details or {})
        secret = f"whsec_{b64encode(secrets.token_bytes(32)).decode('ascii')}"
        noted = sa.insert(AUDIT).values(audit_row(owner, means, "add webhook", run, ident, url))
        added = sa.insert(HOOKS).values(**structs.asdict(made), secret=secret)
        with suppress(sa.exc.IntegrityError):  # another request has just added the same
            await asyncio.to_thread(self.records.execute, sa.delete(HOOKS).where(HOOKS.c.id == ident), added, noted)
        return made, secret

    async def hooks(self, *, run: str | None = None) -> list[Hook]:
        """Return the webhooks, oldest first: those of one run, or those without a run."""
        of_run = HOOKS.c.run == run if run is not None else HOOKS.c.run.is_(None)
        query = sa.select(HOOKS).where(of_run).order_by(HOOKS.c.made)
        return [_hook_of(row) for row in await asyncio.to_thread(self.records.select, query)]

    async def remove(self, hook: str) -> bool:
        """Delete a webhook and its pending messages; return whether there was one."""
        where = sa.delete(DELIVERIES).where(DELIVERIES.c.hook == hook)
        return await asyncio.to_thread(self.records.execute, where, sa.delete(HOOKS).where(HOOKS.c.id == hook)) > 0

    def read_feed(self) -> None:
        """Copy new entries of the feed into the outbox: each change once, whichever process wrote it."""
        with self.records.writing() as connection:
            after = int(connection.execute(_PLACE).scalar_one())
            changes = feed_after(connection, after, _READ)
            if not changes:
                return
            of_runs = sa.or_(HOOKS.c.run.is_(None), HOOKS.c.run.in_({change.run for change in changes}))
            hooks = [*map(_hook_of, connection.execute(sa.select(HOOKS).where(HOOKS.c.disabled.is_(None), of_runs)))]
            for change in changes:
                self._outbox(connection, change, [hook for hook in hooks if hook.run in {None, change.run}])
            value = str(changes[-1].number)
            connection.execute(sa.update(CURSORS).where(CURSORS.c.name == _FEED).values(value=value))

    def _outbox(self, connection: sa.Connection, change: RunChange, hooks: Sequence[Hook]) -> None:
        names = _concerned(connection, change) if hooks else set()
        told = [hook for hook in hooks if hook.reports(change, names)]
        if told:
            message = f"msg_{secrets.token_hex(12)}"
            row = {"id": message, "type": change.kind, "run": change.run, "at": change.at, "body": self._body(change)}
            connection.execute(sa.insert(MESSAGES), [row])
            before = sa.select(DELIVERIES.c.hook, sa.func.max(DELIVERIES.c.number)).group_by(DELIVERIES.c.hook)
            before = before.join(MESSAGES, MESSAGES.c.id == DELIVERIES.c.message).where(MESSAGES.c.run == change.run)
            last = {row[0]: row[1] for row in connection.execute(before)}
            due = {"message": message, "status": "pending", "attempts": 0, "due": time()}
            rows = [{**due, "hook": hook.id, "number": (last.get(hook.id) or 0) + 1} for hook in told]
            connection.execute(sa.insert(DELIVERIES), rows)

    def _body(self, change: RunChange) -> str:
        """Return the body: ids and a link, without data of the run."""
        when = datetime.fromtimestamp(change.at, UTC).isoformat().replace("+00:00", "Z")
        data: JsonObject = {"run": change.run, "program": change.program, **change.body, "link": self.link(change)}
        return dumps({"type": change.kind, "timestamp": when, "data": data}, indent=False)

    def wake(self) -> None:
        """Wake the loop of `serve`."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._noted.set)

    def remind(self) -> int:
        """Send reminders for open questions due within an hour, and overdue ones, once each; return how many."""
        now = time()
        soon = self.records.tell_due("question.due", _DUE, now + SOON)
        return soon + self.records.tell_due("question.overdue", _OVERDUE, now)

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Deliver due messages while a service runs."""
        stop = asyncio.Event()
        task = asyncio.create_task(self.serve(stop))
        try:
            yield
        finally:
            stop.set()
            self._noted.set()
            await task

    async def serve(self, stop: asyncio.Event, every: float = 1.0) -> None:
        """Deliver due messages until `stop` is set."""
        reminded = 0.0
        self._loop = asyncio.get_running_loop()
        while not stop.is_set():
            self._noted.clear()
            sent = 0
            with suppress(InstrcError, sa.exc.SQLAlchemyError):  # the store may be temporarily unavailable
                sent = await self.deliver()
                if time() - reminded > 60:
                    await asyncio.to_thread(self.remind)
                    reminded = time()
            if sent == 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._noted.wait(), every)
                    await asyncio.sleep(_GATHERED)
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def deliver(self) -> int:
        """Send the due messages once each, and return their number; those that take long continue after a second."""
        await asyncio.to_thread(self.read_feed)
        rows = await asyncio.to_thread(self.records.select, _PENDING, now=time())
        busy = Counter(name for each in self._sending for name in each.get_name().split("\n"))  # no name has a line break
        free = [row for row in rows if row.turn + busy[row.hook] <= _AT_ONCE and row.place + busy[row.owner] <= _OF_OWNER]
        free = sorted(free, key=lambda row: row.place + busy[row.owner])[: _IN_ALL - len(self._sending)]  # fairly by owner
        self._sending |= {asyncio.create_task(self._send(row), name=f"{row.hook}\n{row.owner}") for row in free}
        done, self._sending = await asyncio.wait(self._sending, timeout=_ROUND) if self._sending else (set(), set())
        return sum(each.result() for each in done)

    async def _send(self, row: sa.Row[tuple[object, ...]]) -> bool:
        where = sa.update(DELIVERIES).where(DELIVERIES.c.message == row.message, DELIVERIES.c.hook == row.hook)
        mine = where.where(DELIVERIES.c.due == row.due)
        if await asyncio.to_thread(self.records.execute, mine.values(due=time() + _LEASE)) != 1:
            return False  # another server sends it
        hook, code, error = _hook_of(row), None, None
        try:
            made = await self._made(hook, row)
            code = None if made is None else await post(hook.url, *made, self.rules)
        except InstrcError as refused:
            error = refused.problems[0].message
        except Exception as failed:  # noqa: BLE001  -- an error of one receiver is logged, and does not affect the others
            error = storable(str(failed) or type(failed).__name__)
        done = error is None and (code is None or 200 <= code < 300)
        attempts = row.attempts + 1
        due = None if done else time() + pause_after(attempts)
        given_up = due is not None and due > row.at + PATIENCE
        status = "delivered" if done else "failed" if given_up or code == 410 else "pending"
        told = {"status": status, "attempts": attempts, "code": code, "error": error, "last": time()}
        written: list[sa.Executable] = [where.values(due=due if status == "pending" else None, **told)]
        if code == 410:
            reason = "the receiver is gone (HTTP 410)"
            written.append(sa.update(HOOKS).where(HOOKS.c.id == hook.id).values(disabled=reason))
            open_ = sa.update(DELIVERIES).where(DELIVERIES.c.hook == hook.id, DELIVERIES.c.status == "pending")
            written.append(open_.values(status="failed", due=None, error=reason))
        await asyncio.to_thread(self.records.execute, *written)
        return True

    async def _made(self, hook: Hook, row: sa.Row[tuple[object, ...]]) -> tuple[str, dict[str, str]] | None:
        made = (_numbered(row.body, row.number), {}) if hook.form == "standard" else await self.forms[hook.form](hook, row.about)
        if made is None:
            return None
        body, headers = made
        at = datetime.now(UTC)
        signature = Webhook(row.secret).sign(row.message, at, body)
        stamp = {"webhook-id": row.message, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}
        return body, {**headers, **stamp}


def _concerned(connection: sa.Connection, change: RunChange) -> set[str]:
    """Return whom a change concerns: the candidates of its question and who answered it, or who started the run."""
    question = change.body.get("question")
    query = sa.select(RUNS.c.starter).where(RUNS.c.run == change.run)
    if question is not None:
        query = sa.select(CANDIDATES.c.who).where(CANDIDATES.c.run == change.run, CANDIDATES.c.question == question)
    who = change.body.get("who")
    names = (*connection.scalars(query), *(who if isinstance(who, list) else [who]))
    return {name for name in names if isinstance(name, str)}


def _hook_of(row: sa.Row[tuple[object, ...]]) -> Hook:
    return Hook(*(getattr(row, each.name) for each in structs.fields(Hook)))


_INNER: Final = (
    *map(ip_network, ("168.63.129.16/32", "192.0.0.0/24")),  # services of Azure and of Oracle's cloud
    *map(ip_network, ("64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96", "192.88.99.0/24")),  # local NAT64, embeddings of IPv4 in IPv6
    *map(ip_network, ("fec0::/10", "5f00::/16", "3fff::/20")),  # site-local, segment routing, documentation
)
"""Internal addresses that some Python releases treat as public."""
_NAT64: Final = ip_network("64:ff9b::/96")


def is_inner(address: IpAddress) -> bool:
    """Return whether an address is internal: loopback, private, link-local, metadata services."""
    if isinstance(address, IPv6Address):
        inside = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in _NAT64:
            inside.append(IPv4Address(int(address) & 0xFFFFFFFF))
        if any(each is not None and is_inner(each) for each in inside):
            return True
        if address.ipv4_mapped is not None or address in _NAT64:
            return False
    return not address.is_global or address.is_multicast or any(address in network for network in _INNER)


def _refused(address: str, reason: str) -> InputError:
    return InputError([problems.serving.RefusedAddress(address=address[:200], reason=reason)])


def _parts_of(url: str) -> httpx.URL:
    try:
        parts = httpx.URL(url)
        host = parts.host
    except (httpx.InvalidURL, UnicodeError, TypeError, ValueError) as error:
        raise _refused(url, f"it is not a URL: {error}") from None
    if not 0 < (1 if parts.port is None else parts.port) < 2**16:
        raise _refused(url, "it names no port")
    if parts.scheme not in {"http", "https"} or not host:
        raise _refused(url, "it begins with `https://` and names a host")
    if parts.userinfo:
        raise _refused(url, "it holds a name or a password; a receiver knows us by the signature")
    return parts


SECONDS: Final = 10.0
"""Time limit of a whole request in seconds, from name resolution to the end of the response."""
ANSWER_BYTES: Final = 16 * 1024
"""Maximum bytes read of a response, whose body is ignored."""
_READ_BYTES: Final = 1024
"""Maximum bytes read at a time: the HTTP library parses them at once, however many parts they have, and holds up other work."""


async def post(url: str, body: str, headers: dict[str, str], rules: AddressRules) -> int:
    """Send JSON to a URL; return the status of the response.

    Raise `InputError` if the address is refused, and `OSError`, with a message, if nothing responds in time.
    """
    parts = _parts_of(url)
    sent = {"Content-Type": "application/json", "User-Agent": "instrc", **headers, "Host": parts.netloc.decode("ascii")}
    backend = _CheckedBackend(rules, encrypted=parts.scheme == "https")
    address = httpcore.URL(scheme=parts.raw_scheme, host=parts.raw_host, port=parts.port, target=parts.raw_path)
    given = [(name.encode(), value.encode()) for name, value in sent.items()]
    try:
        async with (
            asyncio.timeout(SECONDS),
            httpcore.AsyncConnectionPool(ssl_context=trusted_certificates(), network_backend=backend) as pool,
            pool.stream("POST", address, headers=given, content=body.encode()) as answer,
        ):
            return answer.status
    except TimeoutError:
        raise OSError(f"no answer in {SECONDS:g} seconds") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
        raise OSError(f"{type(error).__name__}: {error}") from None


class _CheckedBackend(AutoBackend):
    """Connects to the resolved address of a host after the rules have allowed it."""

    def __init__(self, rules: AddressRules, *, encrypted: bool) -> None:
        self.rules = rules
        self.encrypted = encrypted

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  -- the name of the library
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self.rules.resolve(host, port, encrypted=self.encrypted)
        for address in addresses[:-1]:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return _short(await super().connect_tcp(address, port, 3.0, local_address, socket_options))
        return _short(await super().connect_tcp(addresses[-1], port, timeout, local_address, socket_options))


class _ShortAnswer(AnyIOStream):
    """A connection that ends when too much is read from it, such as one informational response after another."""

    left = ANSWER_BYTES

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  -- the name of the library
        data = await super().read(min(max_bytes, _READ_BYTES), timeout)
        self.left -= len(data)
        if self.left < 0:
            raise httpcore.ReadError(f"the answer is longer than {ANSWER_BYTES} bytes")
        return data

    async def start_tls(self, *given: Any, **named: Any) -> httpcore.AsyncNetworkStream:  # noqa: ANN401  -- of the library
        return _short(await super().start_tls(*given, **named))


def _short(stream: httpcore.AsyncNetworkStream) -> httpcore.AsyncNetworkStream:
    return _ShortAnswer(cast("AnyIOStream", stream)._stream)  # noqa: SLF001  -- the library has no other place for it


def _numbered(body: str, number: int | None) -> str:
    """Return the body of a message with its number among those of its run to this webhook; earlier releases stored none."""
    return body if number is None else dumps({**as_object(loads(body)), "sequence": number}, indent=False)


FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 6 * 3600.0


def pause_after(attempts: int) -> float:
    """Return the seconds to wait after a number of attempts, with jitter, so that retries are spread."""
    return min(FIRST_PAUSE * 4.0 ** min(attempts - 1, 20), LONGEST_PAUSE) * uniform(0.8, 1.2)  # noqa: S311  -- no secret
