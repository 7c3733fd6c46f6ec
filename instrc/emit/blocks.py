"""Convert the blocks of a plan to blocks of a process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeAlias

from instrc.emit.paths import Paths, suffixed
from instrc.ir import flow
from instrc.ir.blocks import Do, Each, Region, Repeat, Try, When
from instrc.ir.plan import Chunk, Plan
from instrc.ir.process import CHUNK, CONTEXT
from instrc.ir.reads import Constant
from instrc.jsonvalue import JsonObject

_BLOCKS = ("when", "each", "repeat", "try", "do", "else")
_CONTEXTS = {str(each): name for each, name in CONTEXT.items()} | {word: f"{word}Context" for word in _BLOCKS}
_CHUNKS = {str(each): name for each, name in CHUNK.items()} | {word: word.upper() for word in _BLOCKS}


def context_name(chunk: Chunk, item: int | None = None) -> str:
    """Return what a chunk is called among the properties of a process."""
    name = f"{_CONTEXTS[chunk.executor]}{chunk.index}"
    return name if item is None else suffixed(name, item)


def definition_name(chunk: Chunk, item: int | None = None) -> str:
    """Return what it is called among the definitions."""
    name = f"{_CHUNKS[chunk.executor]}_{chunk.index}"
    return name if item is None else suffixed(name, item)


class Blocks:
    """The blocks of one plan as those of a process."""

    def __init__(self, plan: Plan, paths: Paths) -> None:
        self.plan = plan
        self.paths = paths

    @cached_property
    def _of(self) -> dict[tuple[int | None, bool], Chunk]:
        """The chunks of each `repeat`: of its rounds, of its `else`."""
        return {
            (chunk.block, chunk.executor == "else"): chunk for chunk in self.plan.walk() if chunk.executor in {"repeat", "else"}
        }

    def context(
        self, chunk: Chunk, name: str, definition: str, item: int | None, inside: Mapping[str, flow.Context]
    ) -> flow.Block:
        """Return a block, or the `else` of a `repeat`; `inside` are the contexts in it by name."""
        step = self.plan.flat.graph.steps[chunk.units[0]]  # type: ignore[index]  # a block is a single step
        about: JsonObject | None = None if step.about is None else {"description": step.about}
        key = suffixed(self.plan.keys[step.number], item) if step.number in self.plan.keys else None
        common = (key, step.timing.within, step.timing.delay, about, definition)

        def body(region: Region) -> flow.Body:
            contexts = tuple([inside[context_name(each, item)] for each in self.plan.inside[region.number]])
            return flow.Body(contexts, self.paths.value(region.value, item))

        match step.content:
            case Do(only):
                return flow.Do(name, body(only), *common)
            case When(branches):
                made = (flow.Branch(self.paths.condition(each.condition, item), body(each.body)) for each in branches)
                return flow.When(name, tuple(made), *common)
            case Try(first, otherwise):
                return flow.Try(name, body(first), body(otherwise), *common)
            case Each() as each:
                return self._each(name, each, body(each.body), common, item)
            case Repeat(otherwise=Region() as otherwise) if chunk.executor == "else":
                return flow.Else(name, context_name(self._of[step.number, False], item), body(otherwise), None, definition)
            case Repeat() as repeat:
                other = self._of.get((step.number, True))
                return self._repeat(
                    name, repeat, body(repeat.body), common, item, None if other is None else context_name(other, item)
                )
            case content:
                raise AssertionError(content)

    def _each(self, name: str, content: Each, body: flow.Body, common: _Common, item: int | None) -> flow.Each:
        counted = content.source if isinstance(content.source, int) else None
        source = self.paths.read(content.source, item) if not isinstance(content.source, int) else Constant(content.source)
        most = content.most if counted is None else counted
        return flow.Each(name, self.plan.elements[content.body.number], source, body, most, *common, counted)

    def _repeat(
        self, name: str, content: Repeat, body: flow.Body, common: _Common, item: int | None, otherwise: str | None
    ) -> flow.Repeat:
        return flow.Repeat(
            name,
            body,
            self.paths.condition(content.until, item),
            None if content.source is None else self.plan.elements[content.body.number],
            None if content.source is None else self.paths.read(content.source, item),
            content.most,
            content.keep,
            self.paths.hands(content, item) if content.handed else None,
            otherwise,
            *common,
            1 if content.source is None else 0,
        )


_Common: TypeAlias = "tuple[str | None, str | None, str | None, JsonObject | None, str]"
