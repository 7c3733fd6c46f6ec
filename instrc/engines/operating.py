"""Operators' requests to a store: act on all runs that match a filter, read the audit log, sum up costs, resend messages."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from time import time
from typing import Final, Literal, TypeAlias, cast, get_args

import sqlalchemy as sa
from msgspec import Struct, structs

from instrc.engines.approvals import ERASED
from instrc.engines.dbos.store import scrub
from instrc.engines.run_table import RunTable, conditions_of, runs_query
from instrc.engines.service_tables import AUDIT, CLAIMS, DELIVERIES, FEED, HOOKS, MESSAGES, REQUESTS, RUNS
from instrc.runtime.run_report import OPEN, STATUSES, RunFilter
from instrc.text.jsonvalue import JsonObject

RunAction: TypeAlias = Literal["retry", "cancel", "release", "delete", "erase"]
"""Bulk operation on runs; `release` ends claims of their questions, `erase` deletes them and names in retained records."""
ENDED: Final = tuple(status for status in STATUSES if status not in OPEN)
STATUSES_OF: Final[Mapping[RunAction, tuple[str, ...]]] = {
    "retry": ("failed", "held"),
    "cancel": OPEN,
    "release": ("waiting", "held"),
    "delete": ENDED,
    "erase": ENDED,
}
"""Statuses of runs to which each action applies; other runs stay unchanged."""


def action_query(
    action: RunAction, chosen: RunFilter, *, programs: Iterable[str] | None = None, before: tuple[float, str] | None = None
) -> sa.Select[*tuple[object, ...]]:
    """Return the query of the runs that match a filter and allow an action, latest first."""
    query = runs_query(chosen.only(STATUSES_OF[action]), programs=programs, before=before)
    if action == "release":
        query = query.where(RUNS.c.run.in_(sa.select(CLAIMS.c.run).where(CLAIMS.c.until > time())))
    return query


def erase_names(table: RunTable, run: str, secret: str) -> None:
    """Delete the names of people from the remaining data of a run that is or will be deleted.

    The audit log keeps a pseudonym of each name and of the digest of the data sent, equal for equal secrets, and who erased it.
    """

    def pseudonym(text: str) -> str:
        return hmac.new(secret.encode(), f"pseudonym {text}".encode("utf-8", "surrogatepass"), sha256).hexdigest()[:32]

    with table.writing() as connection:
        sent = sa.select(MESSAGES.c.id).where(MESSAGES.c.run == run)
        connection.execute(sa.delete(DELIVERIES).where(DELIVERIES.c.message.in_(sent)))
        connection.execute(sa.delete(MESSAGES).where(MESSAGES.c.run == run))
        connection.execute(sa.delete(REQUESTS).where(REQUESTS.c.key == f"run {run}"))
        connection.execute(sa.update(REQUESTS).where(REQUESTS.c.run == run).values(digest="", run=""))  # the key stays used
        connection.execute(sa.update(FEED).where(FEED.c.run == run).values(body={}))
        connection.execute(sa.update(RUNS).where(RUNS.c.run == run).values(starter=ERASED))
        known = sa.select(AUDIT).where(AUDIT.c.run == run, AUDIT.c.action != "erase", AUDIT.c.who.not_like(f"{ERASED}%"))
        noted = connection.execute(known).all()
        for row in noted:
            values = {"who": f"{ERASED}{pseudonym(row.who)}", "digest": row.digest and pseudonym(row.digest)}
            connection.execute(sa.update(AUDIT).where(AUDIT.c.number == row.number).values(values))
    scrub(table.engine)


class AuditEntry(Struct, frozen=True):
    """Who did what, and when."""

    number: int
    at: float
    who: str
    means: str
    action: str
    run: str | None
    question: str | None
    digest: str | None
    """Digest of the request body, which is not stored."""


class AuditFilter(Struct, frozen=True):
    """A filter of audit log entries."""

    run: str | None = None
    who: str | None = None
    action: str | None = None
    since: float | None = None
    before: float | None = None
    question: str | None = None


def audit_log(table: RunTable, chosen: AuditFilter, limit: int, below: int | None = None) -> list[AuditEntry]:
    """Return entries of the audit log, latest first, with numbers `below` a given one."""
    query = sa.select(AUDIT).order_by(AUDIT.c.number.desc())
    for column, value in ((AUDIT.c[name], getattr(chosen, name)) for name in ("run", "who", "action", "question")):
        query = query if value is None else query.where(column == value)
    if chosen.since is not None:
        query = query.where(AUDIT.c.at >= chosen.since)
    if chosen.before is not None:
        query = query.where(AUDIT.c.at < chosen.before)
    if below is not None:
        query = query.where(AUDIT.c.number < below)
    return [AuditEntry(**row._mapping) for row in table.select(query, limit)]  # noqa: SLF001  -- its public name for a mapping


CostGroup: TypeAlias = Literal["program", "day", "person"]
COST_GROUPS: Final[tuple[CostGroup, ...]] = get_args(CostGroup)
_DAY: Final = 86400


class CostRow(Struct, frozen=True):
    """The usage of a group of runs."""

    program: str | None
    """Program; `None` if runs are not grouped by it; likewise below."""
    day: float | None
    """Beginning of the day in UTC, in seconds since 1970."""
    person: str | None
    runs: int
    tokens: int
    cost: float
    """Cost in US dollars."""

    def to_json(self, groups: Sequence[str]) -> JsonObject:
        """Return the row as JSON, with the fields that it is grouped by."""
        day = None if self.day is None else f"{datetime.fromtimestamp(self.day, UTC):%Y-%m-%d}"
        keys = {"program": self.program, "day": day, "person": self.person}
        return {**{group: keys[group] for group in groups}, "runs": self.runs, "tokens": self.tokens, "cost": self.cost}


def costs(
    table: RunTable, groups: Sequence[CostGroup], chosen: RunFilter, programs: Iterable[str] | None = None
) -> list[CostRow]:
    """Return the usage of runs by program, start day and starter; deleted runs have no starter."""
    began = RUNS.c.began if table.engine.dialect.name == "sqlite" else sa.func.floor(RUNS.c.began)  # a cast rounds on a server
    day = sa.cast(began, sa.BigInteger) // sa.literal_column(str(_DAY), sa.BigInteger)
    person = sa.func.nullif(RUNS.c.starter, sa.literal_column(f"'{ERASED}'", sa.Text))
    of_group = {"program": RUNS.c.program, "day": day, "person": person}
    columns = cast("Mapping[CostGroup, sa.ColumnElement[object]]", of_group)
    keys = [(columns[group] if group in groups else sa.literal(None, sa.Text)).label(group) for group in COST_GROUPS]
    used = [sa.func.coalesce(sa.func.sum(column), 0).label(column.name) for column in (RUNS.c.tokens, RUNS.c.cost)]
    chosen_columns = [columns[group] for group in dict.fromkeys(groups)]
    query = (
        sa.select(*keys, sa.func.count().label("runs"), *used)
        .group_by(*chosen_columns)
        .order_by(*chosen_columns)
        .where(*conditions_of(chosen))
    )
    if programs is not None:
        query = query.where(RUNS.c.program.in_(list(programs)))
    return [
        CostRow(row.program, row.day and float(row.day * _DAY), row.person, row.runs, int(row.tokens), row.cost)
        for row in table.select(query)
        if row.runs
    ]


class DeliveryFilter(Struct, frozen=True):
    """A filter of messages to webhooks."""

    hook: str | None = None
    status: str | None = None
    type: str | None = None
    run: str | None = None
    message: str | None = None


class WebhookDelivery(Struct, frozen=True):
    """A message to a webhook, and its result."""

    message: str
    hook: str
    url: str
    type: str
    run: str
    number: int | None
    """Number of the message among those of its run to this webhook, from 1."""
    at: float
    """Time of the event, in seconds since 1970."""
    status: str
    """`pending`, `delivered` or `failed`."""
    attempts: int
    due: float | None
    """Next attempt, in seconds since 1970."""
    last: float | None
    code: int | None
    """HTTP status of the last response."""
    error: str | None


def deliveries(
    table: RunTable, chosen: DeliveryFilter, limit: int, before: tuple[float, str] | None = None
) -> list[WebhookDelivery]:
    """Return deliveries to webhooks, latest first, `before` a cursor in that order."""
    columns = (DELIVERIES, HOOKS.c.url, MESSAGES.c.type, MESSAGES.c.run, MESSAGES.c.at)
    query = sa.select(*columns).join(MESSAGES, MESSAGES.c.id == DELIVERIES.c.message).join(HOOKS, HOOKS.c.id == DELIVERIES.c.hook)
    query = query.where(*_deliveries_of(chosen))
    if before is not None:
        query = query.where(sa.tuple_(MESSAGES.c.at, MESSAGES.c.id) < sa.tuple_(*map(sa.literal, before)))
    query = query.order_by(MESSAGES.c.at.desc(), MESSAGES.c.id.desc())
    return [WebhookDelivery(**row._mapping) for row in table.select(query, limit)]  # noqa: SLF001  -- its public name for a mapping


def send_again(table: RunTable, chosen: DeliveryFilter, *, dry_run: bool = False) -> int:
    """Requeue messages that are not pending; return how many. Their webhooks are enabled, and so is the one of the filter."""
    query = sa.select(DELIVERIES.c.hook, DELIVERIES.c.message).join(MESSAGES, MESSAGES.c.id == DELIVERIES.c.message)
    meant = query.where(*_deliveries_of(chosen), DELIVERIES.c.status != "pending")
    again = sa.update(DELIVERIES).where(sa.tuple_(DELIVERIES.c.hook, DELIVERIES.c.message).in_(meant))
    hooks = sa.or_(HOOKS.c.id == chosen.hook, HOOKS.c.id.in_(meant.with_only_columns(DELIVERIES.c.hook)))
    with table.writing() as connection:
        if dry_run:
            return connection.execute(sa.select(sa.func.count()).select_from(meant.subquery())).scalar_one()
        connection.execute(sa.update(HOOKS).where(hooks).values(disabled=None))
        return connection.execute(again.values(status="pending", attempts=0, due=time(), error=None)).rowcount


def _deliveries_of(chosen: DeliveryFilter) -> list[sa.ColumnElement[bool]]:
    columns = (DELIVERIES.c.hook, DELIVERIES.c.status, MESSAGES.c.type, MESSAGES.c.run, MESSAGES.c.id)
    pairs = zip(columns, structs.astuple(chosen), strict=True)
    return [column == value for column, value in pairs if value is not None]
