"""Problems with the escapes in a string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import insertion
from instrc.problems.problem import Fix, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class BadEscape(Problem):
    r"""A backslash in a string does not begin an escape.

    The escapes are those of JSON: `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, and `\u` with four hexadecimal digits.
    `\'` works too.

    ```aug greet.aug
    "C:\greetings" | Greet
    ```

    Write `\\` for a backslash.
    """

    name: ClassVar[str] = "bad-escape"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.characters}` is not an escape"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `\\\\` for a backslash, or `\\u` and four hexadecimal digits"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return insertion(self.at, "\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneSurrogate(Problem):
    r"""A string contains half of a surrogate pair.

    Characters beyond U+FFFF are written as two `\u` escapes, a high one and a low one; one alone is not a character.

    ```aug greet.aug
    "Say hello \ud83d" | Greet
    ```

    Write both halves (`\ud83d\ude00`), or the character itself.
    """

    name: ClassVar[str] = "lone-surrogate"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this is half a character"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write both halves of the pair, or the character itself"
