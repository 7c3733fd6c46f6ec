"""Tools offered by a server, independent of its protocol; arguments are checked before a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from instrc.problems.errors import InstrcError, unusable
from instrc.providers.lifting.lift import lift
from instrc.providers.lowering.lower import Lowering, lower
from instrc.schema.walk import nodes, redirected
from instrc.server.access import LOCAL, Caller
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text
from instrc.text.names import free_name
from instrc.text.streams import SPEAKER
from instrc.tools.given import ToolLike
from instrc.tools.tool import Tool

AnyCall: TypeAlias = Callable[[Caller, dict[str, Json]], Awaitable[Json]]
"""Executes a call for any caller."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """One tool of the server."""

    lowering: Lowering
    call: AnyCall
    output: JsonObject | None = None
    """Schema of the result of a call; `None` if unknown."""
    hints: Mapping[str, bool] = field(default_factory=dict)
    """Hints for clients: whether a call only reads, whether it can be undone."""
    program: str | None = None
    """Program that a call runs."""

    @property
    def name(self) -> str:
        """Its name in the protocol."""
        return as_text(as_object(self.lowering.payload)["name"])

    @property
    def described(self) -> JsonObject:
        """The tool in the protocol's listing format."""
        payload = as_object(self.lowering.payload)
        made: JsonObject = {key: value for key, value in payload.items() if key != "_meta"}
        made["inputSchema"] = _without_root_references(as_object(payload["inputSchema"]))
        if self.output is not None:
            made["outputSchema"] = _without_root_references(self.output)
        title = as_object(payload["inputSchema"]).get("title")
        if isinstance(title, str):
            made.setdefault("title", title)
        if self.hints:
            made["annotations"] = dict(self.hints)
        return made


TARGET: Final = "mcp"


@dataclass(slots=True)
class Offers:
    """All tools of one server, by their protocol names."""

    offers: dict[str, ServerTool] = field(default_factory=dict)

    def offer(
        self,
        name: str | None,
        schema: ToolLike,
        call: AnyCall,
        output: Json = None,
        *,
        hints: Mapping[str, bool] | None = None,
        program: str | None = None,
    ) -> None:
        """Add a tool, with the schema of its results if known; raise for a duplicate name."""
        gives = None if output is None else as_object(lower(Tool("output", output), target=TARGET).payload)
        lowering = lower(schema, target=TARGET, name=name)
        made = ServerTool(lowering, call, None if gives is None else as_object(gives["inputSchema"]), hints or {}, program)
        if made.name in self.offers:
            raise unusable("tool", made.name, "two would be one tool: give one another name")
        self.offers[made.name] = made

    async def call(self, name: str, arguments: Json, caller: Caller = LOCAL) -> Json:
        """Call a tool by its protocol name; raise `RefusedError` with the reason on failure."""
        offer, value = await asyncio.to_thread(self.read, name, arguments, caller)
        speaker = SPEAKER.set(name)
        try:
            return await offer.call(caller, value)
        except InstrcError as error:
            raise RefusedError("; ".join(problem.message for problem in error.problems)) from None
        finally:
            SPEAKER.reset(speaker)

    def known_to(self, caller: Caller) -> dict[str, ServerTool]:
        """Return the tools visible to a caller, by name: those of its programs, and those without a program."""
        return {name: each for name, each in self.offers.items() if each.program is None or caller.knows(each.program)}

    def read(self, name: str, arguments: Json, caller: Caller) -> tuple[ServerTool, JsonObject]:
        """Return a tool by its protocol name, and its arguments; raise `RefusedError` if they are invalid."""
        known = self.known_to(caller)
        offer = known.get(name)
        if offer is None:
            named = ", ".join(f"`{each}`" for each in known)
            raise RefusedError(f"no tool is called `{name}`; there {'is' if len(known) == 1 else 'are'} {named}")
        lifted = lift({"name": name, "arguments": arguments}, offer.lowering.map)
        if not lifted.ok:
            told = [f"{violation.instance or '/'}: {violation.message}" for violation in lifted.invalid]
            raise RefusedError("; ".join(told) or f"the arguments are {lifted.status}")
        return offer, as_object(lifted.value)


class RefusedError(Exception):
    """A call was refused; the text is the reason, for the caller."""


def _without_root_references(schema: JsonObject) -> JsonObject:
    """Return a schema that refers to itself through a definition: clients embed it in another one, which changes `#`."""
    if not any(isinstance(node, dict) and node.get("$ref") == "#" for node in nodes(schema)):
        return schema
    definitions = as_object(schema.get("$defs") or {})
    name = free_name("root", definitions.__contains__)
    moved = as_object(redirected(schema, {"#": f"#/$defs/{name}"}))
    root: JsonObject = {key: value for key, value in moved.items() if key not in {"$defs", "$schema", "title"}}
    return {**moved, "$defs": {**as_object(moved.get("$defs") or {}), name: root}}
