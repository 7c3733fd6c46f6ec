"""HTTP operations for operators: act on all runs that match a filter, read the audit log, sum up costs, manage webhooks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, cast, get_args

from msgspec import Struct, structs

from instrc import problems
from instrc.engines.approvals import ALL
from instrc.engines.operating import (
    COST_GROUPS,
    AuditFilter,
    CostGroup,
    DeliveryFilter,
    RunAction,
    WebhookDelivery,
    action_query,
    audit_log,
    costs,
    deliveries,
    send_again,
)
from instrc.engines.run_table import RunRow
from instrc.problems.errors import InstrcError, NotFoundError
from instrc.runtime.retry import RetryOptions
from instrc.runtime.run_report import RunFilter, moment_ago
from instrc.server.access import Caller
from instrc.server.operation_json import (
    ID,
    METADATA,
    MOMENT,
    SPAN,
    TEXT,
    WORD,
    moment,
    object_of,
    place_of,
    place_of_run,
    refuse,
    row_json,
    token_of,
)
from instrc.server.operations import PAGE, RUNS_CHOSEN, Call, Endpoint, RequestData, ResponseData, filter_of
from instrc.server.run_service import RunService
from instrc.server.streams import LEAVE
from instrc.server.visibility import SEES
from instrc.server.webhooks import EVENTS, STATUSES, Hook, Webhooks
from instrc.text.jsonvalue import Json, JsonObject, as_number, as_object, as_text, as_texts, optional_text

_AT_ONCE: Final = 8
"""Maximum runs of one request processed concurrently."""


class ActedRuns(Struct, frozen=True):
    """The result of an action on a page of runs."""

    count: int
    """Number of runs that match the filter, on all pages."""
    rows: tuple[RunRow, ...]
    """The runs of the page, as they are after the action."""
    reasons: tuple[str | None, ...]
    """Reason of failure for each row, if any."""
    next: tuple[float, str] | None


async def act_on_runs(
    service: RunService,
    caller: Caller,
    action: RunAction,
    chosen: RunFilter,
    *,
    dry_run: bool,
    limit: int = 50,
    cursor: tuple[float, str] | None = None,
) -> ActedRuns:
    """Apply an action to a page of matching runs that the caller may operate; with `dry_run`, only list and count them.

    Erasing, which changes the audit log, requires the role `admin` for all programs, everything else `operator`.
    """
    if action == "erase":
        caller.require("admin", ALL, "erase runs")
    programs = [name for name in service.launchers if caller.may("operator", name)]
    if chosen.program is not None or not programs:
        caller.require("operator", chosen.program or "", f"{action} runs")
    if not dry_run:
        await service.enter(caller)
    query = partial(action_query, action, chosen, programs=None if caller.may("operator", "") else programs)
    count = await asyncio.to_thread(service.records.count, query())
    rows = await asyncio.to_thread(service.records.runs, query(before=cursor), limit + 1)
    page = tuple(rows[:limit])
    turns = asyncio.Semaphore(_AT_ONCE)
    LEAVE.set(lambda: None)  # after it has waited for one run, it goes on with others

    async def act(run: str) -> str | None:
        async with turns:
            try:
                await _act(service, caller, action, run)
            except InstrcError as error:
                return error.problems[0].message
        return None

    reasons = [None] * len(page) if dry_run else await asyncio.gather(*(act(row.run) for row in page))
    now = page if dry_run else tuple(await asyncio.to_thread(lambda: [service.records.run(row.run) or row for row in page]))
    return ActedRuns(count, now, tuple(reasons), (page[-1].began, page[-1].run) if len(rows) > limit else None)


async def _act(service: RunService, caller: Caller, action: RunAction, run: str) -> None:
    if action == "retry":
        await service.retry(caller, run, RetryOptions(), counts=False)
    elif action == "cancel":
        await service.cancel(caller, run)
    elif action == "release":
        await asyncio.to_thread(service.records.release, run, caller.name, caller.by)
        service.hub.wake(run)
    else:
        await service.delete(caller, run, action=action)


async def _acted(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    body = asked.body
    acted = await act_on_runs(
        service,
        caller,
        cast("RunAction", body["action"]),
        filter_of(as_object(body.get("filter", {}))),
        dry_run=body.get("dryRun") is not False,
        limit=int(as_number(body.get("limit", 50))),
        cursor=place_of_run(optional_text(body.get("cursor"))),
    )
    rows = zip(acted.rows, acted.reasons, strict=True)
    items: list[Json] = [{**row_json(row), **({} if reason is None else {"reason": reason})} for row, reason in rows]
    return ResponseData({"count": acted.count, "items": items, "next": token_of(acted.next)})


async def _audited(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    caller.require("admin", ALL, "read the audit log")
    texts = {name: asked.query.get(name) for name in ("run", "who", "action")}
    chosen = AuditFilter(**texts, since=_ago(asked, "since"), before=_ago(asked, "before"))
    place = place_of(asked.query.get("cursor"), int)
    below = None if place is None else int(place[0])
    found = await asyncio.to_thread(audit_log, service.records, chosen, asked.limit + 1, below)
    page = found[: asked.limit]
    items: list[Json] = [{**structs.asdict(entry), "at": moment(entry.at)} for entry in page]
    return ResponseData({"items": items, "next": token_of((page[-1].number,)) if len(found) > asked.limit else None})


def _ago(asked: RequestData, name: str) -> float | None:
    try:
        return moment_ago(asked.query.get(name))
    except InstrcError as error:
        refuse(error.problems[0].message)


async def _costs(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
    groups = asked.query.get("by", "program").split(",")
    if not {*groups} <= {*COST_GROUPS}:
        refuse(f"`by` is some of {', '.join(f'`{group}`' for group in COST_GROUPS)}, divided by commas")
    chosen = structs.replace(filter_of(asked.query), status=None)
    programs = None if caller.may_any(SEES, "") else [name for name in service.launchers if caller.may_any(SEES, name)]
    if programs == []:
        caller.require("viewer", chosen.program or "", "see what runs have cost")
    rows = await asyncio.to_thread(costs, service.records, cast("list[CostGroup]", groups), chosen, programs)
    return ResponseData({"items": [row.to_json(groups) for row in rows]})


_SPANS: Final = {"since": SPAN, "before": SPAN}
_ROW: Final = object_of(
    {"run": ID, "program": TEXT, "status": TEXT, "began": MOMENT, "ended": MOMENT},
    {"reason": {**TEXT, "description": "Why it was not possible."}},
)
_NEXT: Final[JsonObject] = {"type": ["string", "null"]}
OPERATOR_ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        "POST",
        "/v1/actions",
        "actOnRuns",
        "Count the runs that a filter names and that you may operate; with `dryRun: false`, act on a page of them.",
        _acted,
        object_of({"count": {"type": "integer"}, "items": {"type": "array", "items": _ROW}, "next": _NEXT}),
        body=object_of(
            {"action": {"enum": [*get_args(RunAction)]}},
            {
                "filter": {
                    **object_of({}, {**RUNS_CHOSEN, "metadata": METADATA}, closed=True),
                    "description": "Which runs; all that the action is for by default.",
                },
                "dryRun": {"type": "boolean", "default": True},
                **PAGE,
            },
            closed=True,
        ),
    ),
    Endpoint(
        "GET",
        "/v1/audit",
        "listAudit",
        "List who did what, the latest first.",
        _audited,
        object_of(
            {
                "items": {"type": "array", "items": object_of({"number": {"type": "integer"}, "at": MOMENT, "who": TEXT})},
                "next": _NEXT,
            }
        ),
        query={**PAGE, "run": WORD, "who": WORD, "action": WORD, **_SPANS},
    ),
    Endpoint(
        "GET",
        "/v1/costs",
        "listCosts",
        "Sum what runs have used, `by=program,day,person` or some of these; days are those of UTC.",
        _costs,
        object_of({"items": {"type": "array", "items": object_of({"runs": {"type": "integer"}, "tokens": {"type": "integer"}})}}),
        query={
            "by": {"type": "string", "pattern": "^(program|day|person)(,(program|day|person))*$", "default": "program"},
            "program": WORD,
            **_SPANS,
        },
    ),
)
"""HTTP operations for operators; `ENDPOINTS` has those for everybody."""


_NAMES: Final[JsonObject] = {"type": "array", "items": TEXT, "maxItems": 100}
_EVENTS: Final[JsonObject] = {"type": "array", "items": {"enum": [*EVENTS]}, "minItems": 1, "maxItems": 100}
_ASKED: Final = object_of(
    {"url": {"type": "string", "pattern": "^https?://", "maxLength": 2000}},
    {"events": _EVENTS, "programs": _NAMES, "people": _NAMES},
    closed=True,
)
_ITEMS: Final = object_of({"items": {"type": "array"}})
_AGAIN: Final = object_of(
    {}, {"status": {"enum": [*STATUSES[1:]]}, "type": {"enum": [*EVENTS]}, "run": TEXT, "message": TEXT}, closed=True
)


def webhook_routes(hooks: Webhooks) -> list[Endpoint]:
    """Return the operations that add, list and remove webhooks, and those about their deliveries."""

    async def listed(_caller: Caller, _asked: RequestData) -> ResponseData:
        return ResponseData({"items": [_hook_json(each) for each in await hooks.hooks()]})

    async def made(caller: Caller, asked: RequestData) -> ResponseData:
        body = asked.body
        events, programs = as_texts(body.get("events", [*EVENTS])), as_texts(body.get("programs", []))
        url, details = as_text(body["url"]), {"people": body["people"]}
        hook, secret = await hooks.add(url, owner=caller.name, means=caller.by, events=events, programs=programs, details=details)
        return ResponseData({**_hook_json(hook), "secret": secret}, 201, {"Location": f"/v1/webhooks/{hook.id}"})

    async def removed(caller: Caller, asked: RequestData) -> ResponseData:
        hook = await _known(hooks, asked)
        await asyncio.to_thread(hooks.records.audit, caller.name, caller.by, "remove webhook", None, question=hook)
        await hooks.remove(hook)
        return ResponseData(None, 204)

    place, hook = "/v1/webhooks", "/v1/webhooks/{hook}"
    shown: JsonObject = {"type": "object", "required": ["id", "url", "secret", "events", "programs", "people"]}
    added = "Add a webhook; its secret is shown this once."
    return [
        Endpoint("GET", place, "listWebhooks", "List the webhooks.", _allowed(listed), _ITEMS),
        Endpoint("POST", place, "addWebhook", added, _allowed(made), shown, body=_ASKED, status=201, errors=(404, 422)),
        Endpoint("DELETE", hook, "removeWebhook", "Delete a webhook.", _allowed(removed), None, status=204, errors=(404,)),
        *_delivery_routes(hooks, f"{hook}/deliveries"),
    ]


def _allowed(call: Callable[[Caller, RequestData], Awaitable[ResponseData]]) -> Call:
    async def checked(service: RunService, caller: Caller, asked: RequestData) -> ResponseData:
        caller.require("admin", ALL, "manage webhooks")
        for name in as_texts(asked.body.get("programs", [])):
            await service.program(caller, name)
        names = service.visibility.names
        people: list[Json] = [name for word in as_texts(asked.body.get("people", [])) for name in names.read(word)]
        return await call(caller, structs.replace(asked, body={**asked.body, "people": people}))

    return checked


async def _known(hooks: Webhooks, asked: RequestData) -> str:
    """Return the webhook in the path."""
    hook = asked.path["hook"]
    if hook not in {each.id for each in await hooks.hooks()}:
        raise NotFoundError([problems.serving.InvalidRequest(reason="there is no such webhook", pointer="/hook")])
    return hook


def _delivery_routes(hooks: Webhooks, place: str) -> list[Endpoint]:
    async def listed(_caller: Caller, asked: RequestData) -> ResponseData:
        hook, before = await _known(hooks, asked), place_of_run(asked.query.get("cursor"))
        chosen = DeliveryFilter(hook, *(asked.query.get(name) for name in ("status", "type", "run")))
        found = await asyncio.to_thread(deliveries, hooks.records, chosen, asked.limit + 1, before)
        page = found[: asked.limit]
        following = token_of((page[-1].at, page[-1].message)) if len(found) > asked.limit else None
        return ResponseData({"items": [_delivery_json(each) for each in page], "next": following})

    async def again(caller: Caller, asked: RequestData) -> ResponseData:
        hook = await _known(hooks, asked)
        chosen = DeliveryFilter(hook, *(optional_text(asked.body.get(name)) for name in ("status", "type", "run", "message")))
        await asyncio.to_thread(hooks.records.audit, caller.name, caller.by, "send again", None, question=hook, sent=asked.body)
        count = await asyncio.to_thread(send_again, hooks.records, chosen)
        hooks.wake()
        return ResponseData({"count": count}, 202)

    summary = "List what became of the messages to a webhook, the latest first."
    query: dict[str, JsonObject] = {**PAGE, "status": {"enum": [*STATUSES]}, "type": {"enum": [*EVENTS]}, "run": WORD}
    sent = "Send messages again that were delivered or have failed: all of the webhook, or those that the body names."
    count = object_of({"count": {"type": "integer"}})
    return [
        Endpoint("GET", place, "listDeliveries", summary, _allowed(listed), _ITEMS, query=query, errors=(404,)),
        Endpoint("POST", place, "sendAgain", sent, _allowed(again), count, body=_AGAIN, status=202, errors=(404,)),
    ]


def _hook_json(hook: Hook) -> JsonObject:
    told = {"id", "url", "owner", "made", "disabled", "events", "programs"}
    shown = {key: value for key, value in structs.asdict(hook).items() if key in told}
    return {**shown, "made": moment(hook.made), "people": hook.details.get("people", [])}


def _delivery_json(delivery: WebhookDelivery) -> JsonObject:
    times: JsonObject = {name: moment(getattr(delivery, name)) for name in ("at", "due", "last")}
    return structs.asdict(delivery) | times
