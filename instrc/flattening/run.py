"""What is given for one flattening: the documents, the options of the caller, and what has been mixed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypedDict

from msgspec import Struct

from instrc import problems
from instrc.jsonvalue import Json
from instrc.limits.schemas import FLAT_SCHEMAS
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.schema.drafts import FLAT
from instrc.schema.located import Locate
from instrc.schema.resources import DynamicScope, Resource, SchemaDocument
from instrc.schema.store import SchemaStore

if TYPE_CHECKING:
    from instrc.flattening.watched import Watched


class FlattenKeywords(TypedDict, total=False):
    """The keywords of `flatten` whatever it returns, as type checkers read them."""

    base: str
    distribute: int
    limit: int
    report: Report | None
    locate: Locate | None
    nullable: bool
    share: bool


class FlattenOptions(Struct, frozen=True):
    """What a caller may choose."""

    distribute: int = 0
    limit: int = FLAT_SCHEMAS
    report: Report | None = None
    trace: bool = False
    share: bool = True
    """Whether a result that grows far beyond its input keeps repeated parts under `$defs`."""


class Flattening:
    """One flattening of a document."""

    home: DynamicScope
    """The scope that the run begins in, which most schemas are read in."""

    def __init__(self, store: SchemaStore, options: FlattenOptions) -> None:
        self.store = store
        self.needs_flattening = store.needs_flattening
        self.options = options
        self.mixed: dict[tuple[int, int], Json] = {}
        """What schemas that apply mixins have become; the flattener fills it."""

    @cached_property
    def flat(self) -> DynamicScope:
        """The scope of results that are merged once more."""
        nowhere: Json = {}
        return DynamicScope(Resource("", nowhere, SchemaDocument("", nowhere), FLAT), {})

    @cached_property
    def watched(self) -> Watched:
        """Which schemas are watched by `unevaluated…` around them."""
        from instrc.flattening.watched import Watched  # few schemas have these keywords

        return Watched(self.store)


def too_large(limit: int) -> CompileError:
    """Return the error for a result over the limit."""
    return CompileError([problems.files.TooLarge(what="the flat schema", limit=limit, unit="schemas", setting="schema")])
