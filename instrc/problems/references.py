"""Problems with references: how they are written, and what they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import renamings
from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import did_you_mean
from instrc.problems.wording import one_of
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedReference(Problem):
    """A reference has no target.

    A `$ref` or an `aug:` reference names a vibe of the registry, or a part of it after `#`.
    This vibe does not exist, or it has no such part.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:instructions/tone" } } }
    ```

    Check the spelling: a path is written exactly like the folders and files below a root of the registry,
    without `.vibe.json`, and a version is written after a colon.
    If the vibe is in another folder, make that folder a root with `--root` or in `[tool.instrc] roots`.
    """

    name: ClassVar[str] = "unresolved-reference"

    reference: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` has no target"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if not self.nearest and self.reference.startswith("#/") and self.at and self.at.source.name.endswith(".aug"):
            return "write the schema itself in the place of the reference, or refer to a vibe: `aug:NAME#/$defs/…`"
        return did_you_mean(self.nearest)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return renamings(self.at, self.reference, self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenReference(Problem):
    """A reference points to a place that the compiler does not read.

    A reference may name only vibes below the roots of the registry (`aug:…`) and parts of the same file (`#…`).
    Nothing is fetched from a network, and no path can leave the roots: not with `..`, not as an absolute path,
    not through a symbolic link to another folder.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "sender": { "$ref": "https://example.org/person.json" } } }
    ```

    Save a copy of the schema as a vibe below one of the roots and refer to the copy.
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
    """A name after `#` matches several places.

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

    Write the JSON Pointer of the place that you want, here `#/properties/sender/properties/name`,
    or give that place an `$anchor`.
    """

    name: ClassVar[str] = "ambiguous-fragment"

    reference: str
    pointers: tuple[str, ...]
    """JSON Pointers of the places that match, in order."""
    places: tuple[Span, ...] = ()
    """Their places in the source, if known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the reference `{self.reference}` matches {len(self.pointers)} properties"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write a JSON Pointer: {one_of(tuple(f'#{pointer}' for pointer in self.pointers[:3]))}"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that belong to the problem."""
        return tuple(Label(place, "matches") for place in self.places[:5])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCycle(Problem):
    """References form a cycle without a schema of their own.

    Each contains only a reference to the next, so none of them has a schema.
    Recursion is allowed if there is a property, or the items of a list, between the references.

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
    """The references in the order of the cycle; the last refers to the first."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if len(self.references) == 1:
            return f"the reference `{self.references[0]}` refers to itself"
        return "references form a cycle: " + " → ".join(f"`{reference}`" for reference in self.references)

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "put a property or a list between them, or give one of them a schema of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownVersion(Problem):
    """A vibe exists, but not in the requested version.

    `:1` asks for exactly that version and `?1` for the newest that begins with 1.
    A file without a version in its name is found only by a reference without a version.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:tone:2" } } }
    ```
    ```json schemas/tone@1.vibe.json
    { "type": "string" }
    ```

    Ask for a version that exists, or leave the version out to use the newest.
    """

    name: ClassVar[str] = "unknown-version"

    reference: str
    versions: tuple[str, ...]
    """The versions that exist, oldest first; the empty string is a file without a version."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no such version: `{self.reference}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        there = [f"`:{version}`" for version in self.versions if version]
        if "" in self.versions:
            there.append("a file without a version")
        return "there is " + ", ".join(there)


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedReference(Problem):
    """An `aug:` reference is not written correctly.

    The form is `aug:folder/name`, then `:1` or `?1` for a version, then `#part` for a part.
    With a leading `/`, as in `aug:/folder/name`, only the shared library is searched.

    ```json schemas/letter.vibe.json
    { "type": "object", "properties": { "tone": { "$ref": "aug:tone:latest" } } }
    ```

    Versions are numbers joined by dots; leave the version out to use the newest.
    """

    name: ClassVar[str] = "malformed-reference"

    reference: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.reference}` is not an `aug:` reference: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write it like `aug:folder/name`, `aug:folder/name:1` or `aug:folder/name#part`"
