"""HTTP operations for webhooks: add and remove them, list their deliveries, and send messages again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import structs

from instrc import problems
from instrc.engines.approvals import ALL
from instrc.engines.operating import DeliveryFilter, WebhookDelivery, deliveries, send_again
from instrc.problems.errors import NotFoundError
from instrc.server.access import Caller
from instrc.server.operation_json import TEXT, WORD, moment, object_of, place_of_run, token_of
from instrc.server.operations import PAGE, Call, Endpoint, RequestData, ResponseData
from instrc.server.run_service import RunService
from instrc.server.webhooks import EVENTS, STATUSES, Hook, Webhooks
from instrc.text.jsonvalue import Json, JsonObject, as_text, as_texts, optional_text

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
        events, programs = (
            as_texts(asked.body.get(name, default)) for name, default in (("events", list[Json](EVENTS)), ("programs", []))
        )
        url, details = as_text(asked.body["url"]), {"people": asked.body["people"]}
        hook, secret = await hooks.add(url, owner=caller.name, events=events, programs=programs, details=details)
        return ResponseData({**_hook_json(hook), "secret": secret}, 201, {"Location": f"/v1/webhooks/{hook.id}"})

    async def removed(_caller: Caller, asked: RequestData) -> ResponseData:
        await hooks.remove(await _known(hooks, asked))
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

    async def again(_caller: Caller, asked: RequestData) -> ResponseData:
        hook = await _known(hooks, asked)
        chosen = DeliveryFilter(hook, *(optional_text(asked.body.get(name)) for name in ("status", "type", "run", "message")))
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
