"""Problems with the words of the language: used as names, or misspelt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replacement
from instrc.problems.problem import Fix, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordAsName(Problem):
    """A word of the language is written where a name is needed.

    `const`, `let`, `tool`, `input`, `true`, `false`, `null`, `when`, `each`, `repeat`, `try` and `do` have a fixed meaning.
    They are allowed as keys and labels, `{ input: x }`, but not as names of values.

    ```aug greet.aug
    const input = Greet(prompt)
    ```

    Choose another name. Call an instruction of that name by another case (`Input`) or by its `aug:` reference.
    """

    name: ClassVar[str] = "keyword-as-name"

    word: str
    declares: bool = False
    """Whether it is used as if it declared something in brackets: `input(language)`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is a word of the language, not a name"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.declares:
            return f"write it without brackets: `{self.word} NAME`"
        if self.word == "input":
            return "the request is called `prompt`; for another value choose another name"
        return "choose another name; to call an instruction of this name, write it in another case"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisspeltKeyword(Problem):
    """A word of the language is misspelt: in another case, with wrong letters, or typed with another keyboard layout.

    The words are written in lower-case Latin letters.

    ```aug greet.aug
    Const text = Greet(prompt);
    Reply(text)
    ```

    Correct the word, here `const`.
    """

    name: ClassVar[str] = "misspelt-keyword"

    word: str
    keyword: str
    """The word of the language."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is not a word of the language"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.keyword}`, in Latin letters" if not self.word.isascii() else f"write `{self.keyword}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, self.keyword)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedWord(Problem):
    """The same word or string is written twice, one directly after the other.

    ```aug greet.aug
    const const text = Greet(prompt);
    Reply(text)
    ```

    Remove one of the two.
    """

    name: ClassVar[str] = "repeated-word"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is written twice"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove one of the two"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        return replacement(self.at, "", safe=False)
