"""The commands that list and display runs, act on many of them, and show the records of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, TypeVar, cast

import typer
from msgspec import structs, to_builtins

from instrc.cli import options
from instrc.cli.output import FINE, PROBLEMS, Format, deliver_text, moment_text, show, verdict, write_rows
from instrc.cli.run_common import audited, deliver, engine, imports_of, report_as_json, run_to_end, step_asked, tell_line
from instrc.cli.terminal import write, write_error, write_report
from instrc.problems.errors import InstrcError
from instrc.process.picture import titles_of
from instrc.process.process import Process
from instrc.runtime.traces import read_events, spans_of, usage_of
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, JsonObject, mapping
from instrc.text.names import counted
from instrc.text.visible import visible_lines

if TYPE_CHECKING:
    from instrc.engines.operating import AuditEntry, CostGroup, CostRow, RunAction, WebhookDelivery
    from instrc.runtime.engine_protocol import Engine, WorkerInfo
    from instrc.runtime.run_report import RunFilter, RunReport
    from instrc.runtime.traces import Event
    from instrc.server.records import Records


_T = TypeVar("_T")
Since = Annotated[str | None, typer.Option("--since", metavar="SPAN", help="Only those since this long ago, such as P7D.")]
Before = Annotated[str | None, typer.Option("--before", metavar="SPAN", help="Only those older than this, for example P30D.")]
ErrorText = Annotated[
    str | None, typer.Option("--error", metavar="TEXT", help="Only failed and held runs with this kind of error, step, or text.")
]
Yes = Annotated[bool, typer.Option("--yes", help="With --do: apply the action, and do not only count the runs.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, metavar="N", help="Maximum entries.")]
ActionOption = Annotated[
    Literal["retry", "cancel", "release", "delete", "erase"] | None,
    typer.Option("--do", help="Count the listed runs affected; with --yes, apply it to them."),
]


def runs_command(
    at: options.EngineGroup,
    status: Annotated[str | None, typer.Option("--status", metavar="STATUS", help="Only runs with this status: held.")] = None,
    program: options.Program = None,
    since: Since = None,
    before: Before = None,
    error: ErrorText = None,
    metadata: options.Metadata = None,
    do: ActionOption = None,
    yes: Yes = False,
    family: Annotated[
        str | None,
        typer.Option("--family", metavar="RUN", help="Only this run, its origin, and all forks of these."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs in the store, the latest first.

    With `--family`, those that were forked from one another, each below its origin.
    """
    from instrc.engines.places import scheme_of
    from instrc.runtime.run_report import RunFilter

    if do and family is not None:
        options.refuse_use("`--do` does not look at forks", "--family")
    if yes and do is None:
        options.refuse_use("it says that an action is meant: give `--do ACTION` with it", "--yes")
    chosen = RunFilter.of(status, program, since, before, error, options.pairs_of(metadata))
    beside = [] if scheme_of(at.place) else ["memory"]  # waiting items are stored next to the default engine
    names = [at.engine_name] if at.engine_name is not None else [None, *beside]
    engines = [engine(structs.replace(at, engine_name=name)) for name in names]
    if do is not None:
        raise typer.Exit(run_to_end(act(engines, do, chosen, at.place, yes=yes)))
    reports, unserved = _reports_of(engines, None if family else chosen)
    lines = [(report, 0) for report in reports]
    if family is not None:
        if not any(report.run == family for report in reports):
            run_to_end(engine(at, run=family).show(family))  # which reports that there is none
        lines = [each for each in _family(family, reports) if chosen.takes(each[0])]
    counts = set() if lines or as_json else {name for each in engines for name in run_to_end(each.counts())}

    def document(row: tuple[RunReport, int]) -> JsonObject:
        report, _ = row
        waits = {"waitsFor": unserved[report.run]} if report.run in unserved else {}
        return {**report_as_json(report), "began": report.began, "ended": report.ended, **waits}

    write_rows(lines, document, lambda row: _line(row[0], row[1], unserved), _none_of(program, counts), as_json=as_json)


def _reports_of(engines: Iterable[Engine], chosen: RunFilter | None) -> tuple[list[RunReport], dict[str, str]]:
    """Return the runs of engines without duplicates, latest first, and the projects for whose workers some of them wait."""
    from instrc.runtime.engine_protocol import WorkerListing

    reports: dict[str, RunReport] = {}
    unserved: dict[str, str] = {}
    for kept in engines:
        found = {report.run: report for report in run_to_end(kept.runs(chosen))}
        reports = found | reports
        if isinstance(kept, WorkerListing):
            running = {run: report.config.project for run, report in found.items() if report.status == "running"}
            unserved |= run_to_end(kept.unserved(running))
    return sorted(reports.values(), key=lambda report: -(report.began or 0)), unserved


def _family(run: str, reports: list[RunReport]) -> list[tuple[RunReport, int]]:
    """Return the runs that were forked from one another, each after its origin, with the number of origins above it."""
    known = {report.run: report for report in reports}
    forks: dict[str, list[RunReport]] = {}
    for report in reversed(reports):  # the earliest first
        if report.forked is not None:
            forks.setdefault(report.forked["run"], []).append(report)
    first = known[run]
    while first.forked is not None and first.forked["run"] in known:
        first = known[first.forked["run"]]
    found: list[tuple[RunReport, int]] = []
    waiting = [(first, 0)]
    while waiting:
        report, depth = waiting.pop()
        found.append((report, depth))
        waiting += [(each, depth + 1) for each in reversed(forks.get(report.run, []))]
    return found


def _none_of(program: str | None, programs: set[str]) -> str:
    """Report that no run is listed, and the programs that have runs if the requested one has none."""
    from instrc.engines.launch import names_as_text  # as above

    others = f"; there are some of {names_as_text(sorted(programs))}" if program and program not in programs else ""
    return f"there are no such runs here{others}" if programs else "there are no runs here"


def _line(report: RunReport, depth: int, unserved: Mapping[str, str]) -> str:
    steps = [step_asked(question) for question in report.questions]
    asked = zip(report.questions, steps, strict=True)
    waits = ", ".join(step if steps.count(step) == 1 else question.id for question, step in asked)
    more = f"  {'held by' if report.status == 'held' else 'waits for'} {waits}" if waits else ""
    if report.run in unserved:
        project = unserved[report.run]
        more = "  waits for a worker" + (f" of the project `{project}`" if project else "")
    origin = f"  {report.origin}" if report.forked else ""
    why = "" if report.fault is None else f"  {report.fault.kind}: {report.fault.message.partition(NEWLINE)[0][:_SHOWN_MESSAGE]}"
    return f"{moment_text(report.began or 0)}  {report.status:<9}  {'  ' * depth}{report.run}{more}{origin}{why}"


NEWLINE = "\n"
_SHOWN_MESSAGE = 100


def workers_command(
    at: options.EngineGroup,
    as_json: options.AsJson = False,
) -> None:
    """List the workers that carry the runs of a database.

    With their projects, and how many runs each carries now.
    """
    from instrc.runtime.engine_protocol import WorkerListing

    listing = engine(at)
    workers = run_to_end(listing.workers()) if isinstance(listing, WorkerListing) else []

    def line(each: WorkerInfo) -> str:
        slots = f"{each.busy} of {'any number' if each.slots is None else each.slots} slots"
        projects = ", ".join(each.projects) or "projects without a name"
        return f"{each.name}  {slots}  {projects}  process {each.process} on {each.host} since {moment_text(each.began)}"

    none = "there are no workers: a folder has none, and runs in a database wait until `instrc worker` is started"
    write_rows(workers, to_builtins, line, none, as_json=as_json)


def show_command(
    run: options.RunId,
    at: options.EngineGroup,
    record: Annotated[
        bool, typer.Option("--record", help="Also show everything recorded, in the structure of the process.")
    ] = False,
) -> None:
    """Show the state of a run: its outcome, or its open question."""
    kept = engine(at, run=run)
    report = run_to_end(kept.show(run))
    used = kept.usage(run) or usage_of(kept.trace_from(run)[0])
    spent: JsonObject = {"usage": cast("JsonObject", used)} if used["requests"] else {}
    write(f"{dumps(report_as_json(report, record=record) | spent)}\n")


TraceFormat: TypeAlias = Literal["text", "html", "json"]
_ENDINGS: Final[dict[str, TraceFormat]] = {".html": "html", ".htm": "html", ".json": "json", ".jsonl": "json"}


def trace_command(
    run: options.RunId,
    shape: Annotated[
        TraceFormat | None,
        typer.Option(
            "--format",
            help="Output format: text, one HTML page, or the events as JSON Lines; by default from the extension of -o.",
        ),
    ] = None,
    output: options.OutputFile = None,
    store: options.Store = None,
    engine_name: options.EngineName = None,
) -> None:
    """Show the events of a run.

    It shows requests, answers, thoughts, metrics and retries; also those in a file of events, as `instrc eval` leaves them.
    """
    name, status, origin, events, titles = _traced(run, options.EngineGroup(store, engine_name=engine_name))
    if not events:
        where = "it lies in the folder of the process that has carried the run (runs of `--items` have none)"
        write_error(f"no trace of `{name}` is here: {where}\n")
        raise typer.Exit(PROBLEMS)
    if shape is None:
        shape = _ENDINGS.get("" if output is None else output.suffix.lower(), "text")
    if shape == "json":
        text = "".join(f"{dumps(event, indent=False)}\n" for event in events)
    elif shape == "html":
        from instrc.runtime.trace_page import page_of

        text = page_of(name, f"{status} · {origin}" if origin else status, spans_of(events), titles)
    else:
        text = visible_lines((f"{origin}\n" if origin else "") + _text(events, titles))
    found = deliver_text(text, output)
    show(found, Format.TEXT)
    raise typer.Exit(verdict(found))


def _traced(run: str, at: options.EngineGroup) -> tuple[str, str, str, list[Event], dict[str, str]]:
    """Return the name of a run, its state, its origin if it was forked, its events, and the titles of its steps by key.

    `instrc eval` leaves files of events.
    """
    file = Path(run)
    if file.suffix == ".jsonl" and file.is_file():
        events, _ = read_events(file)
        outcome = next((event.get("outcome") for event in reversed(events) if event["event"] == "ended"), None)
        return file.stem, str(mapping(cast("Json", outcome)).get("status", "running")), "", events, {}
    kept = engine(at, run=run)
    report, launch = run_to_end(kept.show(run)), run_to_end(kept.launch(run))
    return report.run, report.status, report.origin, kept.trace_from(run)[0], titles_of(Process.from_json(launch.plan["process"]))


_SHOWN = ("sent", "input", "show", "answer", "output", "thoughts", "metrics", "cost", "complaints", "error", "place", "traceback")


def _text(events: Iterable[Event], titles: Mapping[str, str]) -> str:
    from instrc.runtime.trace_page import title_of

    lines: list[str] = []
    for span in spans_of(events):
        took = "open" if span.ended is None else f"{span.ended - span.began:.2f} s"
        state = f"{span.state}, invented" if span.facts.get("invented") else span.state
        lines.append(f"{span.began:8.2f}  {span.lane:<7} {span.id}  {title_of(span, titles)}  ({state}, {took})")
        for name in _SHOWN:
            value = span.facts.get(name)
            if value is not None and value not in ({}, [], ""):
                shown = value if isinstance(value, str) else dumps(value)
                lines.append(f"          {name}:")
                lines += [f"            {line}" for line in shown.rstrip("\n").split("\n")]
        lines += [f"          tried again after: {error}" for error in span.retries]
    return "".join(f"{line}\n" for line in lines)


def cancel_command(
    run: options.RunId,
    at: options.EngineGroup,
    quiet: options.Quiet = False,
) -> None:
    """End a run; steps that it has completed are not undone.

    `instrc runs --do cancel` ends all runs that its filters select.
    """
    report = run_to_end(_cancelled(engine(at, run=run), run))
    deliver(report, at, quiet=quiet)
    raise typer.Exit(PROBLEMS if report.status == "failed" else 0)


async def _cancelled(kept: Engine, run: str) -> RunReport:
    report = await kept.show(run)
    return report if report.has_ended else await audited(kept, kept.cancel(run), "cancel", run)


_LISTED = 20
"""Maximum runs that a count lists."""
_AT_ONCE = 8
"""Maximum runs processed concurrently."""
_BATCH = 100
"""Number of runs deleted together."""
_DONE = {"retry": "retried", "cancel": "cancelled", "release": "released", "delete": "deleted", "erase": "erased"}


async def act(engines: Sequence[Engine], action: RunAction, chosen: RunFilter, place: str, *, yes: bool) -> int:
    """Count the runs that match a filter and allow an action, or apply it to all of them; return the exit code."""
    from instrc.engines.operating import STATUSES_OF, action_query

    if action == "release":
        with _records(place) as records:
            named = [(engines[0], records.names(action_query(action, chosen)))]
    else:
        found: dict[str, Engine] = {}
        for kept in engines:  # two of them may have the same runs
            found = dict.fromkeys(await kept.run_ids(chosen.only(STATUSES_OF[action])), kept) | found
        named = [(kept, [run for run, its in found.items() if its is kept]) for kept in engines]
    runs = [run for _, each in named for run in each]
    if not runs:
        write_error("there are no such runs here\n")
        return FINE
    if not yes:
        write_report("".join(f"{run}\n" for run in runs[:_LISTED]))
        more = f" ({_LISTED} are shown)" if len(runs) > _LISTED else ""
        write_error(f"{counted(len(runs), 'run')} would be {_DONE[action]}{more}: add `--yes` to do it\n")
        return FINE
    with _records(place) as records:
        statuses = Counter[str]()
        reasons = {run: why for kept, each in named for run, why in (await _acted(kept, action, each, records, statuses)).items()}
        records.audit("local", "command", action, *(run for run in runs if run not in reasons and action != "release"))
    ended = ", ".join(f"{number} {status}" for status, number in sorted(statuses.items()))
    for run, reason in reasons.items():
        tell_line(f"{run}: {reason}")
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
    from instrc.runtime.engine_protocol import Engine
    from instrc.runtime.retry import RetryOptions
    from instrc.server.records import secrets_given

    together = action in {"delete", "erase"} and type(kept).delete_all is not Engine.delete_all  # which deletes one by one
    size = _BATCH if together else 1
    turns, reasons = Semaphore(1 if size > 1 else _AT_ONCE), dict[str, str]()
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
                        records.release(run, "local", "command")
                    else:  # before their metadata are deleted, by which they are found again after a crash
                        erase_names(records, run, secret)
                if action in {"delete", "erase"}:
                    await kept.delete_all(page)
            except InstrcError as error:
                reasons.update(dict.fromkeys(page, error.problems[0].message))

    await gather(*(act_on(runs[first : first + size]) for first in range(0, len(runs), size)))
    return reasons


def audit_command(
    at: options.StoreGroup,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only actions on this run.")] = None,
    who: Annotated[str | None, typer.Option("--who", metavar="NAME", help="Only actions of this person, as key:ann.")] = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="NAME", help="Only this action: start, answer, retry, delete.")
    ] = None,
    since: Since = None,
    before: Before = None,
    limit: Limit = 50,
    as_json: options.AsJson = False,
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
    at: options.StoreGroup,
    by: Annotated[
        str, typer.Option("--by", metavar="GROUPS", help="What to group by: program, day, person; separated by commas.")
    ] = "program",
    program: options.Program = None,
    since: Since = None,
    before: Before = None,
    as_json: options.AsJson = False,
) -> None:
    """Sum the tokens and the cost of runs.

    Costs are in US dollars; days are those of UTC on which runs began.
    """
    from instrc.runtime.run_report import RunFilter

    chosen = RunFilter.of(None, program, since, before)
    from instrc.engines.operating import COST_GROUPS, costs

    groups = by.split(",")
    if not {*groups} <= {*COST_GROUPS}:
        options.refuse_use(
            f"`{by[:80]}` is not a list of {', '.join(f'`{group}`' for group in COST_GROUPS)}, divided by commas", "--by"
        )
    rows = _read(at.place, lambda records: costs(records, cast("list[CostGroup]", groups), chosen))

    def line(row: CostRow) -> str:
        document = row.to_json(groups)
        key = "  ".join(str(document[group] or "-") for group in groups)
        return f"{key}  {counted(row.runs, 'run')}  {row.tokens:,} tokens  {row.cost:.4f} USD"

    write_rows(rows, lambda row: row.to_json(groups), line, "there are no runs here", as_json=as_json)


def deliveries_command(
    at: options.StoreGroup,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Only messages about this run.")] = None,
    hook: Annotated[str | None, typer.Option("--hook", metavar="ID", help="Only messages to this webhook.")] = None,
    status: Annotated[Literal["pending", "delivered", "failed"] | None, typer.Option("--status", help="Only these.")] = None,
    event: Annotated[str | None, typer.Option("--event", metavar="NAME", help="Only this event, as run.failed.")] = None,
    message: Annotated[str | None, typer.Option("--message", metavar="ID", help="Only this message.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Count the messages to send again; with --yes, send them.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --again: send the messages, and do not only count them.")] = False,
    limit: Limit = 50,
    as_json: options.AsJson = False,
) -> None:
    """List messages to webhooks, latest first, or send them again.

    A number counts the messages about a run to one webhook. A service sends what is pending.
    """
    from instrc.engines.operating import DeliveryFilter, deliveries, send_again

    if yes and not again:
        options.refuse_use("it says that messages are sent again: give `--again` with it", "--yes")
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
