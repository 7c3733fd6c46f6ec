"""Problems with the bounds of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class BadBound(Problem):
    """A bound is not a positive whole number.

    `max`, `keep` and the number of `each i in 3` are whole numbers of at least 1.

    ```aug letter.aug
    each i in 0 { Draft }
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Write a whole number of at least 1.
    """

    name: ClassVar[str] = "bad-bound"

    limit: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a bound is a whole number from 1 to {self.limit:,}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write such a number; remove a block that should not run at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepOverMax(Problem):
    """A `keep` asks for more rounds than there can be.

    `keep` says how many of the last rounds `rounds` shows. There are never more than `max`, which is 3 if it is not written.

    ```aug letter.aug
    repeat { const draft = Draft(prompt, rounds); draft } until draft.good max 2 keep 5
    ```

    ```json schemas/draft.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" }, "good": { "type": "boolean" } } }
    ```

    Leave `keep` out to show all rounds, or write a larger `max`.
    """

    name: ClassVar[str] = "keep-over-max"
    severity: ClassVar[Severity] = "warning"

    keep: int
    most: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`keep {self.keep}` has no effect: there are {self.most} rounds at most"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"leave `keep` out, or write `max {self.keep}` or more"
