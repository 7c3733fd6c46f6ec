"""Tools in the form of TaskBench, and the names they have in vibes and plans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

BenchKind: TypeAlias = Literal["resource", "temporal", "open"]
"""`resource`: typed inputs by position; `temporal`: parameters by name; `open`: nothing is said of what it takes."""


@dataclass(frozen=True, slots=True)
class BenchInput:
    """One input of a tool."""

    key: str
    """Its name as an argument: that of the parameter, or the type, numbered where it comes again."""
    type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class BenchTool:
    """One tool."""

    id: str
    """As TaskBench writes it: `Image Search (by Image)`."""
    name: str
    """As a plan calls it: `ImageSearchByImage`."""
    kind: BenchKind
    description: str
    slots: tuple[BenchInput, ...]
    outputs: tuple[str, ...]
    """The types of what it gives back; temporal tools do not say."""
    index: int
    """Its place in the file."""


@dataclass(frozen=True, eq=False)
class Bench:
    """The tools of a file, in its order; ids and names are all different."""

    tools: tuple[BenchTool, ...]

    @cached_property
    def by_id(self) -> dict[str, BenchTool]:
        """The tools by the id that TaskBench gives them."""
        return {tool.id: tool for tool in self.tools}

    @cached_property
    def by_name(self) -> dict[str, BenchTool]:
        """The tools by the name that plans give them."""
        return {tool.name: tool for tool in self.tools}

    @property
    def is_resource(self) -> bool:
        """Whether plans say by their arguments what depends on what."""
        return any(tool.kind == "resource" for tool in self.tools)

    def edges(self) -> frozenset[tuple[str, str]]:
        """Return which tool may follow which, by id: one that gives a type which the other takes, or any where no types are."""
        return frozenset(
            (one.id, other.id)
            for one in self.tools
            for other in self.tools
            if one.id != other.id
            and (other.kind != "resource" or not {slot.type for slot in other.slots}.isdisjoint(one.outputs))
        )
