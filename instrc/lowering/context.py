"""What a rewrite is given and what it returns: the context of a place in the schema, and the progress of the whole, as values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from instrc.flattening.intersection import intersection
from instrc.ir.dialect import Dialect
from instrc.jsonvalue import Json, Location, at
from instrc.lowering.definitions import PayloadDefinitions
from instrc.lowering.losses import LossKind
from instrc.lowering.names import KeyNames
from instrc.lowering.notes import note
from instrc.lowering.variants import Variant


class RewriteContext(Struct, frozen=True, eq=False, gc=False):
    """The target, the schema that is lowered, and where in it a rewrite is at work."""

    dialect: Dialect
    root: Json
    keys: KeyNames
    all_asked: bool
    """Whether each property is required in the payload, so that an optional one is said as nullable."""
    deepest: int
    """The level of the innermost object or array."""
    unroll: int
    recursion: str
    uniform: str = ""
    """Why plans are sent in their uniform spelling, empty if they are not."""
    level: int = 1
    """Of objects and arrays inside one another."""
    nested: int = 0
    """Schemas around this one, combinators included."""
    copying: bool = False
    """Whether each branch of a union around has a copy of what stands here."""
    active: tuple[Hashable, ...] = ()
    """The references that are being written out."""

    def deeper(self) -> RewriteContext:
        """Return the context of what stands in an object or array."""
        return replace(self, level=self.level + 1, nested=self.nested + 1)

    def beside(self) -> RewriteContext:
        """Return the context of another schema about the same value."""
        return replace(self, nested=self.nested + 1)

    def boxed(self) -> RewriteContext:
        """Return the context of a schema that goes into an object or array of which nobody wrote a schema."""
        return replace(self, level=self.level + 1)

    @property
    def too_deep(self) -> str | None:
        """What to say of an object or array at this level if it is one too many."""
        if self.level <= self.deepest:
            return None
        return f"is nested too deeply: this is level {self.level}, and the target takes {self.deepest}"

    def target(self, reference: Json) -> Json:
        """Return what a reference stands for; a flat schema has local pointers only."""
        return target_of(self.root, reference)


def target_of(root: Json, reference: Json) -> Json:
    """Return what a local reference stands for; the schema that allows everything if it leads nowhere."""
    from urllib.parse import unquote

    try:
        return at(root, unquote(str(reference).removeprefix("#")))
    except (LookupError, ValueError):
        return True


CHECKED = "is said in the description and checked when the answer is lifted"
"""What becomes of most keywords that a target has no word for."""


class Lost(Struct, frozen=True, eq=False, gc=False):
    """A keyword of a schema is lost; with `parts` what is inside of it, too."""

    node: Json
    keyword: str
    kind: LossKind
    reason: str
    parts: bool = True


class LostAll(Struct, frozen=True, eq=False, gc=False):
    """Every constraint of a schema is lost.  `below` is the path from a schema to it, for one that is `false`."""

    node: Json
    reason: str
    kind: LossKind
    of: Json = None
    below: Location = ()


class Contradicted(Struct, frozen=True, eq=False, gc=False):
    """A property is left out, because no value satisfies its schema."""

    node: Json
    name: str
    schema: Json


class Derived(Struct, frozen=True, eq=False, gc=False):
    """A schema is made of others, in which its losses were written."""

    new: Json
    sources: tuple[Json, ...]
    invented: bool = False
    """Whether a rewrite made it up to say something else by it: nobody has closed it."""


LedgerEntry: TypeAlias = Lost | LostAll | Contradicted | Derived
Log: TypeAlias = "tuple[Log, LedgerEntry] | None"
"""What was noted, the last of it first."""


class Progress(Struct, frozen=True, eq=False, gc=False):
    """What one lowering has found out so far."""

    log: Log = None
    definitions: PayloadDefinitions = PayloadDefinitions()
    enum_values: int = 0
    """Values in the enums of the payload."""
    unrolled: int = 0
    """Schema objects that were rebuilt below recursive references."""
    copied: int = 0
    """Schema objects that were rebuilt in a branch of a union, for one of its branches after another."""

    def with_entry(self, entry: LedgerEntry) -> Progress:
        """Note something."""
        return Progress((self.log, entry), self.definitions, self.enum_values, self.unrolled, self.copied)

    def with_definitions(self, definitions: PayloadDefinitions) -> Progress:
        """Return the same with other definitions."""
        if definitions is self.definitions:
            return self
        return Progress(self.log, definitions, self.enum_values, self.unrolled, self.copied)

    def with_values(self, enum_values: int) -> Progress:
        """Return the same with another number of values in enums."""
        return Progress(self.log, self.definitions, enum_values, self.unrolled, self.copied)

    def unrolling(self) -> Progress:
        """Return the same with one more schema below a recursive reference."""
        return Progress(self.log, self.definitions, self.enum_values, self.unrolled + 1, self.copied)

    def copying(self) -> Progress:
        """Return the same with one more schema that each branch of a union has a copy of."""
        return Progress(self.log, self.definitions, self.enum_values, self.unrolled, self.copied + 1)

    def lose(
        self, node: Json, keyword: str, kind: LossKind = "unenforced", reason: str = CHECKED, *, parts: bool = True
    ) -> Progress:
        """Note that a keyword is lost."""
        log = self.log, Lost(node, keyword, kind, reason, parts)
        return Progress(log, self.definitions, self.enum_values, self.unrolled, self.copied)

    def lose_each(self, node: Json, keywords: Iterable[str], reason: str = CHECKED) -> Progress:
        """Note of several keywords that they are lost."""
        progress = self
        for keyword in keywords:
            progress = progress.lose(node, keyword, reason=reason)
        return progress

    def lose_with_sentences(self, node: Json, keywords: Sequence[str]) -> tuple[tuple[str, ...], Progress]:
        """Note of keywords that they are lost, and return the sentences that tell a model of them."""
        return (tuple([said(node, keyword) for keyword in keywords]), self.lose_each(node, keywords)) if keywords else ((), self)

    def lose_all(self, node: Json, reason: str, kind: LossKind = "unenforced", of: Json = None, below: Location = ()) -> Progress:
        """Note every constraint of a schema as lost; one that is `false` stands below the schema `of`."""
        return self.with_entry(LostAll(node, reason, kind, of, below))

    def contradict(self, node: Json, name: str, schema: Json) -> Progress:
        """Note that a property is left out, because no value satisfies its schema."""
        return self.with_entry(Contradicted(node, name, schema))

    def derive(self, new: Json, *sources: Json) -> Progress:
        """Note what a schema was made of, so that its losses are shown where they were written."""
        if not isinstance(new, dict) or any(new is each for each in sources):
            return self
        return self.with_entry(Derived(new, sources))

    def invent(self, new: Json, node: Json) -> Progress:
        """Note that a rewrite made a schema up to say another one by it."""
        return self.with_entry(Derived(new, (node,), invented=True))


def said(node: Json, keyword: str) -> str:
    """Return the sentence that tells a model of a keyword which is lost."""
    return note(keyword, node.get(keyword) if isinstance(node, dict) else node)


def sentences_for(node: Json, keywords: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences that tell a model of keywords which are lost."""
    return tuple([said(node, keyword) for keyword in keywords])


def intersected(schemas: list[Json], progress: Progress) -> tuple[Json, Progress]:
    """Return one schema for several that all hold; what no keyword can say stays in its `allOf`."""
    found = intersection(schemas)
    for new, sources in found.sources:
        progress = progress.derive(new, *sources)
    return found.schema, progress


ListVariants: TypeAlias = Callable[[Json, RewriteContext, Progress], tuple[list[Variant], Progress]]
"""Returns the ways in which a value of a schema can be written; none if there is no such value."""
