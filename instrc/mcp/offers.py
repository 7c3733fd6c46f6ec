"""Tools that a server offers, without its protocol: what they are called with is checked before their functions see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from instrc import problems
from instrc.jsonvalue import Json, as_object, as_text
from instrc.lifting.lift import lift
from instrc.lowering.given import ToolLike
from instrc.lowering.lower import Lowering, lower
from instrc.problems.problem import CompileError

TARGET: Final = "mcp"

AnyCall: TypeAlias = Callable[[dict[str, Json]], Awaitable[Json]]


class RefusedError(Exception):
    """A call cannot be carried out; the text says why, in words for whoever has called."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """One tool of the server."""

    lowering: Lowering
    call: AnyCall

    @property
    def name(self) -> str:
        """Its name in the protocol."""
        return as_text(as_object(self.lowering.payload)["name"])


@dataclass(slots=True)
class Offers:
    """All tools of one server, by their names in the protocol."""

    offers: dict[str, ServerTool] = field(default_factory=dict)

    def offer(self, name: str | None, schema: ToolLike, call: AnyCall) -> None:
        """Add a tool; one of the same name is a problem."""
        made = ServerTool(lower(schema, target=TARGET, name=name), call)
        if made.name in self.offers:
            reason = "two would be one tool: give one another name"
            raise CompileError([problems.runs.UnusableSetting(what="tool", word=made.name, reason=reason)])
        self.offers[made.name] = made

    async def call(self, name: str, arguments: Json) -> Json:
        """Call a tool by its name in the protocol; `RefusedError` says why it cannot be."""
        offer = self.offers.get(name)
        if offer is None:
            known = ", ".join(f"`{each}`" for each in self.offers)
            message = f"no tool is called `{name}`; there {'is' if len(self.offers) == 1 else 'are'} {known}"
            raise RefusedError(message)
        lifted = lift({"name": name, "arguments": arguments}, offer.lowering.map)
        if not lifted.ok:
            told = [f"{violation.instance or '/'}: {violation.message}" for violation in lifted.invalid]
            raise RefusedError("; ".join(told) or f"the arguments are {lifted.status}")
        try:
            return await offer.call(as_object(lifted.value))
        except CompileError as error:
            raise RefusedError("; ".join(problem.message for problem in error.problems)) from None

    async def close(self) -> None:
        """End what is under way; tools that are only called leave nothing behind."""
