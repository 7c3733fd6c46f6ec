"""Problems with `aug.lock`: references that are not in it or have changed since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem

_RELOCK = "`instrc lock` writes it again; look at the difference before you commit it"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidLock(Problem):
    """`aug.lock` cannot be read.

    ```aug letter.aug
    @{ type: "object" }
    ```
    ```toml aug.lock
    version = 99
    ```
    ```console
    $ instrc compile letter.aug --locked
    ```

    `instrc lock` writes this file; do not edit it by hand.
    """

    name: ClassVar[str] = "invalid-lock"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the lock cannot be read: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return _RELOCK


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLocked(Problem):
    """`--locked` was given, but a reference is not in `aug.lock`, or there is no lock.

    ```aug letter.aug
    Draft
    ```
    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```
    ```console
    $ instrc compile letter.aug --locked
    ```

    `instrc lock` writes the lock again.
    """

    name: ClassVar[str] = "not-locked"

    lock: str
    """The path where the lock is, or should be."""
    reference: str | None = None
    """What is not in it; `None` if there is no lock."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no `{self.lock}`" if self.reference is None else f"`{self.reference}` is not in `{self.lock}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "`instrc lock` writes it" if self.reference is None else _RELOCK


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleLock(Problem):
    """A reference finds something other than `aug.lock` records.

    Its vibe has changed or was removed, or a reference without a version now finds another version.

    ```aug letter.aug
    Draft
    ```
    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```
    ```toml aug.lock
    version = 1

    [[vibe]]
    reference = "aug:draft"
    version = ""
    file = "schemas/draft.vibe.json"
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
    ```
    ```console
    $ instrc compile letter.aug --locked
    ```

    Restore the vibe, or write the lock again with `instrc lock`.
    """

    name: ClassVar[str] = "stale-lock"

    reference: str
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.reference}` is not what the lock records: {self.reason}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return _RELOCK
