"""Problems with the keys of braces: one without its colon, a value without its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import insertion
from instrc.problems.problem import Fix, Problem
from instrc.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingColon(Problem):
    """A key in braces has no colon.

    ```aug greet.aug
    "Say hello" | Greet({ tone "polite" })
    ```

    Write `{ tone: "polite" }`.
    A key alone is allowed if it is a name: `{ tone }` means `{ tone: tone }`.
    """

    name: ClassVar[str] = "missing-colon"

    key: str
    has_value: bool = False
    """Whether a value stands behind the key."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a `:` is missing between key `{self.key}` and its value"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.key}: …`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None or not self.has_value:
            return ()
        return insertion(Span(self.at.source, self.at.end, self.at.end), ":")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingKey(Problem):
    """A value in braces has no key.

    Every value in braces has a key; only a name may be written alone.

    ```aug greet.aug
    "Say hello" | Greet({ Polite(prompt) })
    ```

    Write a key before it, `{ tone: Polite(prompt) }`, or use square brackets for a list of data.
    """

    name: ClassVar[str] = "missing-key"

    shown: str = ""
    """The value with a suitable key, if one is known."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this value in braces has no key"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{{ {self.shown} }}`" if self.shown else "write `{ key: value }`"
