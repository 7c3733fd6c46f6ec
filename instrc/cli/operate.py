"""The commands of operators: `runs --do` for many runs, `audit`, `costs` and `deliveries`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

import typer
from msgspec import structs

from instrc.cli.options import AsJson, Program, StoreGroup, refuse_use
from instrc.cli.output import FINE, PROBLEMS, moment_text, write_rows
from instrc.cli.run_common import imports_of
from instrc.cli.terminal import write_error, write_report
from instrc.problems.errors import InstrcError
from instrc.text.names import counted

if TYPE_CHECKING:
    from instrc.engines.operating import AuditEntry, CostGroup, CostRow, RunAction, WebhookDelivery
    from instrc.runtime.engine_protocol import Engine
    from instrc.runtime.run_report import RunFilter
    from instrc.server.records import Records

_T = TypeVar("_T")
Since = Annotated[str | None, typer.Option("--since", metavar="SPAN", help="Only those since this long ago, such as P7D.")]
Before = Annotated[str | None, typer.Option("--before", metavar="SPAN", help="Only those older than this, for example P30D.")]
ErrorText = Annotated[
    str | None, typer.Option("--error", metavar="TEXT", help="Only failed and held runs with this kind of error, step, or text.")
]
Yes = Annotated[bool, typer.Option("--yes", help="With --do: apply the action, and do not only count the runs.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, metavar="N", help="Maximum entries.")]
_SHOWN = 20
"""Maximum runs that a count lists."""
_AT_ONCE = 8
"""Maximum runs processed concurrently."""
_BATCH = 100
"""Number of runs deleted together."""


ActionOption = Annotated[
    Literal["retry", "cancel", "release", "delete", "erase"] | None,
    typer.Option("--do", help="Count the listed runs affected; with --yes, apply it to them."),
]
_DONE = {"retry": "retried", "cancel": "cancelled", "release": "released", "delete": "deleted", "erase": "erased"}


async def act(engines: Sequence[Engine], action: RunAction, chosen: RunFilter, place: str, *, yes: bool) -> int:
    """Count the runs that match a filter and allow an action, or apply it to all of them; return the exit code."""
    from instrc.engines.operating import STATUSES_OF, action_query

    if action == "release":
        with _records(place) as records:
            named = [(engines[0], records.names(action_query(action, chosen)))]
    else:
        named = [(kept, await kept.run_ids(chosen.only(STATUSES_OF[action]))) for kept in engines]
    runs = [run for _, each in named for run in each]
    if not runs:
        write_error("there are no such runs here\n")
        return FINE
    if not yes:
        write_report("".join(f"{run}\n" for run in runs[:_SHOWN]))
        more = f" ({_SHOWN} are shown)" if len(runs) > _SHOWN else ""
        write_error(f"{counted(len(runs), 'run')} would be {_DONE[action]}{more}: add `--yes` to do it\n")
        return FINE
    with _records(place) as records:
        statuses = Counter[str]()
        reasons = {run: why for kept, each in named for run, why in (await _acted(kept, action, each, records, statuses)).items()}
        records.audit("local", "command", action, *(run for run in runs if run not in reasons))
    ended = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    for run, reason in reasons.items():
        write_error(f"{run}: {reason}\n")
    changed = f"{len(runs) - len(reasons)} of {counted(len(runs), 'run')}"
    write_error(f"{_DONE[action]} {changed}{ended and ': '}{ended}\n")
    return PROBLEMS if reasons else FINE


@contextmanager
def _records(place: str) -> Iterator[Records]:
    with imports_of("runs --do"):
        from instrc.server.records import Records
    with closing(Records(place)) as records:
        yield records


def _read(place: str, read: Callable[[Records], list[_T]]) -> list[_T]:
    """Return rows of a store's tables, or none if there is no store, which is not created."""
    from instrc.engines.service_tables import service_store

    if not service_store(place).exists():
        return []
    with _records(place) as records:
        return read(records)


async def _acted(
    kept: Engine, action: RunAction, runs: Sequence[str], records: Records, statuses: Counter[str]
) -> dict[str, str]:
    """Apply an action to runs; return failures with their reasons, and count the statuses of retried runs."""
    from asyncio import Semaphore, gather  # not needed for the help of commands

    from instrc.engines.operating import erase_names
    from instrc.runtime.retry import RetryOptions
    from instrc.server.records import secrets_given

    turns, reasons = Semaphore(_AT_ONCE), dict[str, str]()
    secret = (secrets_given() or [records.secret()])[-1]

    async def act_on(page: Sequence[str]) -> None:
        async with turns:
            try:
                for run in page if action != "delete" else ():
                    if action == "retry":
                        statuses[(await kept.retry(run, RetryOptions())).status] += 1
                    elif action == "cancel":
                        await kept.cancel(run)
                    elif action == "release":
                        records.release(run, "local")
                    else:  # before their metadata are deleted, by which they are found again after a crash
                        erase_names(records, run, secret)
                if action in {"delete", "erase"}:
                    await kept.delete_all(page)
            except InstrcError as error:
                reasons.update(dict.fromkeys(page, error.problems[0].message))

    if action in {"delete", "erase"}:
        for first in range(0, len(runs), _BATCH):
            await act_on(runs[first : first + _BATCH])
    else:
        await gather(*(act_on([run]) for run in runs))
    return reasons


def audit_command(
    at: StoreGroup,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only actions on this run.")] = None,
    who: Annotated[str | None, typer.Option("--who", metavar="NAME", help="Only actions of this person, as key:ann.")] = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="NAME", help="Only this action: start, answer, retry, delete.")
    ] = None,
    since: Since = None,
    before: Before = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List who did what with runs, the latest first.

    A service writes this log, and so do the commands that change runs; of what was sent it keeps a digest only.
    """
    from instrc.engines.operating import AuditFilter, audit_log
    from instrc.runtime.run_report import moment_ago

    chosen = AuditFilter(run, who, action, moment_ago(since), moment_ago(before))
    entries = _read(at.place, lambda records: audit_log(records, chosen, limit))

    def line(entry: AuditEntry) -> str:
        about = " ".join(text for text in (entry.run, entry.question) if text)
        return f"{moment_text(entry.at)}  {entry.who} ({entry.means})  {entry.action}  {about}"

    write_rows(entries, structs.asdict, line, "the audit log has no such entries", as_json=as_json)


def costs_command(
    at: StoreGroup,
    by: Annotated[
        str, typer.Option("--by", metavar="GROUPS", help="What to group by: program, day, person; separated by commas.")
    ] = "program",
    program: Program = None,
    since: Since = None,
    before: Before = None,
    as_json: AsJson = False,
) -> None:
    """Sum the tokens and the cost of runs.

    Costs are in US dollars; days are those of UTC on which runs began.
    """
    from instrc.runtime.run_report import RunFilter

    chosen = RunFilter.of(None, program, since, before)
    from instrc.engines.operating import COST_GROUPS, costs

    groups = by.split(",")
    if not {*groups} <= {*COST_GROUPS}:
        refuse_use(f"`{by[:80]}` is not a list of {', '.join(f'`{group}`' for group in COST_GROUPS)}, divided by commas", "--by")
    rows = _read(at.place, lambda records: costs(records, cast("list[CostGroup]", groups), chosen))

    def line(row: CostRow) -> str:
        document = row.to_json(groups)
        key = "  ".join(str(document[group] or "-") for group in groups)
        return f"{key}  {counted(row.runs, 'run')}  {row.tokens:,} tokens  {row.cost:.4f} USD"

    write_rows(rows, lambda row: row.to_json(groups), line, "there are no runs here", as_json=as_json)


def deliveries_command(
    at: StoreGroup,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only messages about this run.")] = None,
    hook: Annotated[str | None, typer.Option("--hook", metavar="ID", help="Only messages to this webhook.")] = None,
    status: Annotated[Literal["pending", "delivered", "failed"] | None, typer.Option("--status", help="Only these.")] = None,
    event: Annotated[str | None, typer.Option("--event", metavar="NAME", help="Only this event, as run.failed.")] = None,
    message: Annotated[str | None, typer.Option("--message", metavar="ID", help="Only this message.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Count the messages to send again; with --yes, send them.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --again: send the messages, and do not only count them.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List messages to webhooks, latest first, or send them again.

    A number counts the messages about a run to one webhook. A service sends what is pending.
    """
    from instrc.engines.operating import DeliveryFilter, deliveries, send_again

    chosen, place = DeliveryFilter(hook, status, event, run, message), at.place
    if again:
        count = sum(_read(place, lambda records: [send_again(records, chosen, dry_run=not yes)]))
        done = "will be sent again" if yes else "would be sent again: add `--yes` to do it"
        write_error(f"{counted(count, 'message')} {done}\n")
        return
    rows = _read(place, lambda records: deliveries(records, chosen, limit))

    def line(row: WebhookDelivery) -> str:
        result = row.error or (row.code and f"HTTP {row.code}") or "not sent yet"
        return f"{moment_text(row.at)}  {row.status}  {row.type}  {row.run} #{row.number}  {row.url}  {result}  {row.message}"

    write_rows(rows, structs.asdict, line, "there are no such messages here", as_json=as_json)
