"""Problems with references: what they lead to, and whether they may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import did_you_mean
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedReference(Problem):
    """A reference leads nowhere.

    `$ref` and `aug:` references name a vibe of the registry, or a part of one after `#`.
    There is no such vibe, or it has no such part.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:instructions/tone" } } }
    ```

    Check the spelling: a path is written exactly as the folders and files below a registry root,
    without `.vibe.json`, and a version goes after a colon.
    If the vibe lies in another folder, make that folder a root with `--root` or in `[tool.instrc] roots`.
    """

    name: ClassVar[str] = "unresolved-reference"

    reference: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` leads nowhere"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.reference, self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenReference(Problem):
    """A reference points to a place that the compiler does not read.

    Only vibes below the roots of the registry (`aug:…`) and parts of the same file (`#…`) may be referred to.
    Nothing is fetched from a network, and no spelling of a path leads out of the roots: not `..`, not an absolute path,
    not a symbolic link to another folder.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "sender": { "$ref": "https://example.org/person.json" } } }
    ```

    Save a copy of the schema as a vibe below one of the roots and refer to that.
    """

    name: ClassVar[str] = "forbidden-reference"

    reference: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` is not allowed: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "refer to a vibe of the registry as `aug:path/name`, or to a part of the same file as `#…`"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousFragment(Problem):
    """A name after `#` fits several places.

    A fragment that is neither a JSON Pointer nor an `$anchor` names a property, which must be the only one of that name
    in the whole vibe.

    ```json schemas/letter.vibe.json
    {
      "type": "object",
      "properties": {
        "sender": { "type": "object", "properties": { "name": { "type": "string" } } },
        "reader": { "type": "object", "properties": { "name": { "type": "string" } } },
        "signed": { "$ref": "#name" }
      }
    }
    ```

    Write the JSON Pointer of the place that is meant, here `#/properties/sender/properties/name`,
    or give that place an `$anchor`.
    """

    name: ClassVar[str] = "ambiguous-fragment"

    reference: str
    pointers: tuple[str, ...]
    """JSON Pointers of the places that fit, in order."""
    places: tuple[Span, ...] = ()
    """Where they stand, as far as it is known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` fits {len(self.pointers)} properties"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write a JSON Pointer: " + " or ".join(f"`#{pointer}`" for pointer in self.pointers[:3])

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, "fits") for place in self.places[:5])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCycle(Problem):
    """References lead in a circle with nothing in between.

    Each says only "I am what that one is", so that there is no schema at the end of the way.
    Recursion is fine where a step down lies between: a property, the items of a list.

    ```json schemas/letter.vibe.json
    {
      "type": "object",
      "properties": { "body": { "$ref": "#/$defs/a" } },
      "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }
    }
    ```

    Give one of them a schema of its own.
    """

    name: ClassVar[str] = "reference-cycle"

    references: tuple[str, ...]
    """The references in the order in which they follow each other; the last leads to the first again."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if len(self.references) == 1:
            return f"the reference `{self.references[0]}` leads to itself"
        return "references lead in a circle: " + " → ".join(f"`{reference}`" for reference in self.references)

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put a property or a list between, or give one of them a schema of its own"
