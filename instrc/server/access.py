"""Callers of a service, their roles by program, what they may do with a question, and rate limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from time import time
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from instrc import problems
from instrc.engines.approvals import ALL, OUTSIDER, Vote, disputed_by, known_as, normal_name
from instrc.problems.errors import AccessError, ConflictError, InstrcError, RateLimitError
from instrc.problems.problem import Problem
from instrc.server.views import QuestionInfo
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
    sender: str | None = None
    """Who asked for the link."""
    key: str | None = None
    """Id of the API key used, or of the identity provider's key that signed the token used, directly or through a session."""
    until: float | None = None
    """Expiry of the token's claims, in seconds since 1970."""
    stated: frozenset[str] = frozenset()
    """Groups in the token or of the key, without those of the settings, which may be others later."""
    barred: frozenset[str] = frozenset()
    """Groups of the person's other keys: a rule that excludes one excludes them, with whichever key they come."""

    def may(self, role: Role, program: str) -> bool:
        """Return whether the caller has a role for a program; an `admin` has all, and the bearer of a link none."""
        return self.only is None and self.holds(role, program)

    def holds(self, role: Role, program: str) -> bool:
        """Return whether the person has a role for a program, however they were authenticated."""
        held = self.roles.get(ALL, frozenset()) | self.roles.get(program, frozenset())
        return role in held or "admin" in held

    def has_given(self, vote: Vote) -> bool:
        """Return whether the caller gave an answer: the bearer of a link, by a link of the same sender, who can use it too."""
        return vote.who == self.name and (self.only is None or vote.sender == self.sender)

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

    @property
    def as_excluded(self) -> frozenset[str]:
        """Return the names under which rules exclude the caller: a group counts in every spelling, an outsider as their name."""
        others = {known_as(self.name), *(f"group:{group}" for group in self.barred)}
        return frozenset(map(normal_name, self.as_candidates | others))


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

    def enter(self, name: str, what: str, times: int = 1) -> None:
        """Count an action, or the number of `times`; raise beyond the limit."""
        now = int(time())
        if now // 60 != self._minute:
            self._minute, self._counts = now // 60, Counter()
        self._counts[name] += times
        self.refuse(self._counts[name], what, now)

    def refuse(self, count: int, what: str, now: int) -> None:
        """Raise if there were too many actions in a minute."""
        if count > self.limit:
            raise RateLimitError([problems.serving.TooMuch(what=what, limit=self.limit, retry_after=60 - now % 60)])


Action: TypeAlias = Literal["answer", "claim", "release", "delegate", "link"]
"""Action on a question; `delegate` and `link` concern another person."""
_ACTIONS: Final[dict[Action, str]] = {
    "answer": "answer",
    "claim": "claim",
    "release": "release",
    "delegate": "delegate",
    "link": "send a link to",
}
_ONE_ORIGIN: Final = "the same person has given, or asked for the link of, another answer to it"
EXCLUDED: Final = "a person who took part in this run may not approve it"
_UNKNOWN: Final = "this service cannot tell whom the rule excludes"
_STANDING_IN: Final = "only the person who claimed it and the role `operator` may do this"


def refusal_of(
    action: Action, question: QuestionInfo, caller: Caller, now: float, to: Caller | None = None
) -> InstrcError | None:
    """Return why a caller may not perform an action on a question, or `None` if they may.

    `to` is the other person, with their known groups and roles: a link is for a candidate, or for an
    outsider if the question allows outsiders. People excluded by the question can neither answer nor let others answer.
    """
    doing = f"{_ACTIONS[action]} `{question.question.id}` of `{question.run}`"

    def refused(reason: str, role: Role | None = None) -> AccessError:
        return AccessError([problems.serving.NotAllowed(who=caller.name, action=doing, reason=reason, role=role)])

    holder = question.claimed_by if question.claimed_by and (question.claimed_until or now) >= now else None
    claimed = ConflictError([problems.serving.QuestionNotFree(question=question.question.id, state="claimed", by=holder or "")])
    is_linked = question.question.by == "person" and caller.only == (question.run, question.question.id)
    if caller.only is not None and (action != "answer" or not is_linked):
        return refused("the link is for another")
    if question.question.by == "operator" and not caller.may("operator", question.program):
        return refused("this needs the role `operator`", "operator")
    excluded = question.approval.excluded if question.question.by == "person" else frozenset[str]()
    barred = _UNKNOWN if ALL in excluded else EXCLUDED
    if action != "release" and _may_be_excluded(caller, excluded):
        return refused(barred)
    given = question.given and not question.approval.approvers and caller.may("answerer", question.program)
    holds = holder == caller.name and (given or action == "release" or is_candidate(question, caller))
    if action in {"release", "delegate", "link"}:
        if not (holds or caller.may("operator", question.program)):
            if action == "release" and caller.may("answerer", question.program) and holder is not None:
                return claimed
            return refused(_STANDING_IN, "operator")
        if to is not None and (_may_be_excluded(to, excluded) if action == "link" else to.as_excluded & excluded):
            return refused(barred)
        if action == "link" and (question.question.by != "person" or to is None or not is_candidate(question, to)):
            return refused("the link is for no candidate, and the question allows no outsiders (`x-links`)")
        reassigns = not question.approval.approvers  # people of the settings are a default, of the program a rule
        may_be = to is not None and any(each in {"*", to.name} or each.startswith("group:") for each in question.candidates)
        is_unfit = question.question.by == "operator" and to is not None and not to.holds("operator", question.program)
        if action == "delegate" and (is_unfit or not (reassigns or may_be)):  # some groups are only confirmed by a token
            return refused("the other person needs the role `operator` too" if is_unfit else _for(question))
        return None
    if question.question.by != "operator" and not holds and not is_candidate(question, caller):
        needs_role = caller.only is None and not caller.may("answerer", question.program)
        return refused("this needs the role `answerer`", "answerer") if needs_role else refused(_for(question))
    if holder not in {None, caller.name, caller.sender}:
        return claimed
    mine = Vote(caller.name, caller.by, now, None, sender=caller.sender)
    if question.approval.needed > 1 and any(vote.who != mine.who and vote.may_be_of(mine) for vote in question.votes):
        return refused(_ONE_ORIGIN)
    if action == "claim" and any(vote.who == caller.name for vote in question.votes):  # they would prevent others from answering
        return ConflictError([problems.serving.QuestionNotFree(question=question.question.id, state="answered by you")])
    return None


def require_allowed(
    action: Action, question: QuestionInfo, caller: Caller, to: Caller | None = None, vote: Vote | None = None
) -> None:
    """Raise for an action that the caller may not perform on a question, or for a `vote` that disputes an earlier one."""
    error = refusal_of(action, question, caller, time(), to)
    if error is None and vote is not None and question.approval.needed > 1 and (other := disputed_by(question.votes, vote)):
        error = ConflictError([problems.serving.QuestionNotFree(question=question.question.id, state="disputed", by=other.who)])
    if error is not None:
        raise error


def page_refusal(question: QuestionInfo, caller: Caller) -> Problem | None:
    """Return why the page of a question has no form for the caller, or `None` if it has: claims of others are ignored."""
    own = question.claimed_by == caller.name
    error = refusal_of("answer", question if own else replace(question, claimed_by=None), caller, time())
    return None if error is None else error.problems[0]


def is_candidate(question: QuestionInfo, person: Caller) -> bool:
    """Return whether a question is for a person: they are named and have the role, or a link names them."""
    if person.name.startswith(OUTSIDER):
        return question.approval.outsiders
    named = person.as_candidates & {*question.candidates}
    by_name = person.by == "link" and bool(named - {"*"})  # a link needs no role where the question names the person
    return bool(named) and (by_name or person.holds("answerer", question.program))


def _may_be_excluded(person: Caller, excluded: frozenset[str]) -> bool:
    """Return whether a person is excluded, or may be: without a token, the groups of its subject are unknown."""
    has_unknown = person.by == "link" and known_as(person.name).startswith("oidc:")
    return bool(person.as_excluded & excluded) or (has_unknown and any(each.startswith("group:") for each in excluded))


def _for(question: QuestionInfo) -> str:
    return f"this is for {', '.join(f'`{each}`' for each in question.candidates)}"
