"""Callers of a service, their roles by program, and rate limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from time import time
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from instrc import problems
from instrc.engines.approvals import ALL
from instrc.problems.errors import AccessError, RateLimitError
from instrc.vibes.service_settings import Role

Means: TypeAlias = Literal["key", "token", "cookie", "link", "local"]
"""How a caller was authenticated; `local`: authentication is off, and the service listens on this machine only."""


class Caller(Struct, frozen=True):
    """An authenticated caller and their roles; every method of the service takes one and checks it."""

    name: str
    groups: frozenset[str] = frozenset()
    roles: Mapping[str, frozenset[Role]] = field(default_factory=dict)
    """Roles by program; those of `*` apply to all."""
    by: Means = "local"
    only: tuple[str, str] | None = None
    """Run and question of a signed link: its bearer may see and answer only these."""
    nonce: str | None = None
    """Nonce of a link, which can be used once."""
    key: str | None = None
    """Id of the API key used, directly or through a session."""
    until: float | None = None
    """Expiry of the token's claims, in seconds since 1970."""

    def may(self, role: Role, program: str) -> bool:
        """Return whether the caller has a role for a program; an `admin` has all, and the bearer of a link none."""
        return self.only is None and self.holds(role, program)

    def holds(self, role: Role, program: str) -> bool:
        """Return whether the person has a role for a program, however they were authenticated."""
        held = self.roles.get(ALL, frozenset()) | self.roles.get(program, frozenset())
        return role in held or "admin" in held

    def may_any(self, roles: Iterable[Role], program: str) -> bool:
        """Return whether the caller has one of some roles for a program."""
        return any(self.may(role, program) for role in roles)

    def knows(self, program: str) -> bool:
        """Return whether the caller has any role for a program; for others it does not exist."""
        return self.only is None and bool(self.roles.get(ALL) or self.roles.get(program))

    def require(self, role: Role, program: str, action: str) -> None:
        """Raise for a caller without a role for a program; `action` is what was attempted."""
        if not self.may(role, program):
            reason = f"this needs the role `{role}`"
            raise AccessError([problems.serving.NotAllowed(who=self.name, action=action, reason=reason, role=role)])

    @property
    def as_candidates(self) -> frozenset[str]:
        """Return the names under which candidate lists include the caller: the name, the groups, everybody."""
        return frozenset({self.name, ALL, *(f"group:{group}" for group in self.groups)})


LOCAL: Final = Caller("local", roles={ALL: frozenset({"admin"})})
"""The caller of a service without authentication, which listens on this machine only."""


def peer_of(address: str) -> str:
    """Return an address in the form used for limits: for IPv6 its /64 network, which one host can use entirely."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False))


class RateLimiter:
    """Limits the actions of each caller per minute."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._counts: Counter[str] = Counter()
        self._minute = 0

    def enter(self, name: str, what: str) -> None:
        """Count an action; raise beyond the limit."""
        now = int(time())
        if now // 60 != self._minute:
            self._minute, self._counts = now // 60, Counter()
        self._counts[name] += 1
        self.refuse(self._counts[name], what, now)

    def refuse(self, count: int, what: str, now: int) -> None:
        """Raise if there were too many actions in a minute."""
        if count > self.limit:
            raise RateLimitError([problems.serving.TooMuch(what=what, limit=self.limit, retry_after=60 - now % 60)])
