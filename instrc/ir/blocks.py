"""Blocks: bodies with what decides whether, how often and on what they run."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from instrc.ir.fusion import Fusion, StepObject, Unit
from instrc.ir.paths import Path, Reading
from instrc.ir.reads import Constant
from instrc.jsonvalue import Json
from instrc.source import Span

Word: TypeAlias = Literal["when", "each", "repeat", "try", "do"]


class Test(msgspec.Struct, frozen=True, gc=False):
    """Holds if what a path leads to satisfies a schema; the schema says by itself whether `null` does."""

    path: Path
    schema: Json
    span: Span


class Region(msgspec.Struct, frozen=True, gc=False):
    """What stands in the braces of a block: it is cut by itself."""

    number: int
    units: tuple[Unit, ...]
    """In evaluation order."""
    value: Reading
    span: Span


class Branch(msgspec.Struct, frozen=True, gc=False):
    """One case of a `when`; no condition is the `else`."""

    condition: tuple[Test, ...]
    body: Region


class When(msgspec.Struct, frozen=True, gc=False):
    """The first branch whose condition holds."""

    branches: tuple[Branch, ...]


class Each(msgspec.Struct, frozen=True, gc=False):
    """The body once an element, or once for 1, 2, 3."""

    item: str
    source: Path | int
    most: int
    body: Region
    at: Span
    """Where the list is written."""


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """The body again and again, or one element after the other."""

    item: str | None
    source: Path | None
    most: int
    keep: int | None
    body: Region
    until: tuple[Test, ...]
    otherwise: Region | None
    names: tuple[tuple[str, Reading], ...]
    """What `previous` has: the names that the body defines, with what they stand for."""
    handed: bool
    """Whether `previous` or `rounds` is read."""
    at: Span
    """Where the list is written, else the whole."""


class Try(msgspec.Struct, frozen=True, gc=False):
    """The first body, and the second when the first has failed for good."""

    body: Region
    otherwise: Region


class Do(msgspec.Struct, frozen=True, gc=False):
    """The body, once."""

    body: Region


Block: TypeAlias = When | Each | Repeat | Try | Do

Content: TypeAlias = Fusion | Constant | StepObject | When | Each | Repeat | Try | Do


def regions_of(content: Content) -> tuple[Region, ...]:
    """Return the regions of a block, in order; anything else has none."""
    match content:
        case Do() | Each():
            return (content.body,)
        case Fusion():
            return ()
        case When(branches):
            return tuple(branch.body for branch in branches)
        case Repeat():
            return (content.body,) if content.otherwise is None else (content.body, content.otherwise)
        case Try(body, otherwise):
            return body, otherwise
        case _:
            return ()


def tests_of(content: Content) -> tuple[Test, ...]:
    """Return the tests of a block's conditions, in order."""
    match content:
        case Do() | Fusion():
            return ()
        case When(branches):
            return tuple(test for branch in branches for test in branch.condition)
        case Repeat():
            return content.until
        case _:
            return ()


_WORDS: dict[type[Block], Word] = {When: "when", Each: "each", Repeat: "repeat", Try: "try", Do: "do"}


def word_of(block: Block) -> Word:
    """Return the word that a block begins with."""
    return _WORDS[type(block)]
