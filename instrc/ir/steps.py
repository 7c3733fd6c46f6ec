"""The steps of a process, and the chunks that they stand in.

True of this form: what is for the engine stands beside a schema, not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from instrc.ir.executors import Executor
from instrc.ir.reads import Read, Value, reads_of
from instrc.jsonvalue import Json, JsonObject, as_object


class EngineProperties(msgspec.Struct, frozen=True, gc=False):
    """What stands beside a schema for the engine alone."""

    references: tuple[Read, ...] = ()
    arguments: Value | None = None
    activity: str | None = None
    plan: JsonObject | None = None
    """The tools a plan may name, by name: `{ "activity" | "process", "arguments", "output", "bound"? }`."""
    among: Read | None = None
    """A list of which this is one."""
    fail: bool = False
    within: str | None = None
    """A deadline, ISO 8601."""
    delay: str | None = None


NO_ENGINE = EngineProperties()


class EngineSlot(msgspec.Struct, frozen=True, gc=False):
    """A schema inside a step that has something for the engine."""

    path: tuple[str | int, ...]
    """The keywords, names and places that lead to it from the schema of the step."""
    engine: EngineProperties

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the properties that lead to it."""
        return tuple(str(each) for before, each in pairwise(self.path) if before == "properties")


class Among(msgspec.Struct, frozen=True):
    """A property whose value is one of a list that an earlier step gave."""

    place: tuple[str, ...]
    """The names that lead to it from the step."""
    choices: Read


class Planned(msgspec.Struct, frozen=True):
    """A property that is filled with a plan."""

    place: tuple[str, ...]
    tools: JsonObject


class Loop(msgspec.Struct, frozen=True):
    """A part of a model's answer that may ask for another round."""

    place: tuple[str, ...]
    """The names that lead to the object with `_iteration` and `_continue` from the chunk."""
    maximum: int


class Step(msgspec.Struct, frozen=True, gc=False):
    """One property of a chunk."""

    key: str
    schema: Json
    """Without what is for the engine; a reference at its top is followed."""
    executor: Executor = "model"
    engine: EngineProperties = NO_ENGINE
    slots: tuple[EngineSlot, ...] = ()
    reference: Json = None
    """How the schema is written where that is a reference."""

    @property
    def references(self) -> tuple[Read, ...]:
        """What it reads, those of its filled slots included; without `references` the paths in its `arguments`."""
        if not self.slots and self.engine.references:
            return self.engine.references
        found = dict.fromkeys(self.engine.references)
        for slot in self.slots:
            found |= dict.fromkeys(slot.engine.references)
        return tuple(found or dict.fromkeys(reads_of(self.engine.arguments)))

    @property
    def arguments(self) -> Value | None:
        """What fills what."""
        return self.engine.arguments

    @property
    def activity(self) -> str | None:
        """What the server is called by."""
        return self.engine.activity

    @property
    def fail(self) -> bool:
        """Whether it ends its block, or the run, as failed."""
        return self.engine.fail

    @property
    def within(self) -> str | None:
        """A deadline, ISO 8601."""
        return self.engine.within

    @property
    def delay(self) -> str | None:
        """What passes before it starts, ISO 8601."""
        return self.engine.delay

    @property
    def plan(self) -> JsonObject | None:
        """Of a step that carries a plan out: the tools it may call."""
        return self.engine.plan if self.executor == "server" else None

    @property
    def among(self) -> tuple[Among, ...]:
        """The properties, itself included, whose value is one of a list."""
        return tuple(Among(names, engine.among) for names, engine in self._engines() if engine.among is not None)

    @property
    def plans(self) -> tuple[Planned, ...]:
        """The properties, itself included, that are filled with a plan."""
        return tuple(
            Planned(names, engine.plan)
            for names, engine in self._engines()
            if engine.plan is not None and (names or self.executor != "server")
        )

    def _engines(self) -> Iterator[tuple[tuple[str, ...], EngineProperties]]:
        yield (), self.engine
        yield from ((slot.names, slot.engine) for slot in self.slots)

    @property
    def output(self) -> bool:
        """Whether its value is the member `output` of what is recorded."""
        properties = self.schema.get("properties") if isinstance(self.schema, dict) else None
        return isinstance(properties, dict) and "output" in properties


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """What one executor does without a break."""

    name: str
    executor: Executor
    steps: tuple[Step, ...]
    frame: JsonObject | None = None
    """The schema around the steps, its `properties` empty; `None` if it is an object that requires them all."""
    definition: str | None = None
    """What it is called among the definitions; `None` if it stands in its place."""

    @property
    def schema(self) -> JsonObject:
        """Its schema without what is for the engine."""
        return framed(self.frame, {step.key: step.schema for step in self.steps})


def framed(frame: JsonObject | None, properties: JsonObject) -> JsonObject:
    """Return an object with these properties in a frame."""
    if frame is None:
        whole: JsonObject = {"type": "object", "properties": properties}
        return {**whole, "required": list(properties)} if properties else whole
    return {**frame, "properties": {**as_object(frame["properties"]), **properties}} if "properties" in frame else frame
