"""Problems with strings and the characters in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.edits import replacement
from instrc.problems.problem import Edit, Fix, Problem, Severity
from instrc.source import Span

_DOUBLE = frozenset("“”„‟«»〝〞「」『』＂")
"""Marks that are replaced by `"`; all others are replaced by `'`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartQuote(Problem):
    """A string is in typographic quotes.

    Word processors and messengers replace straight quotes by curly quotes; the notation knows only `"` and `'`.

    ```aug greet.aug
    “Say hello” | Greet
    ```

    Write straight quotes: `"Say hello"`.
    """

    name: ClassVar[str] = "smart-quote"

    closing: Span | None = None
    """The typographic quote at its other end."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.characters}` does not begin or end a string"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write a straight quote instead"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        straight = '"' if self.characters in _DOUBLE else "'"
        if self.at is None or self.closing is None:
            return replacement(self.at, straight)
        return (Fix(f"write {straight}…{straight}", (Edit(self.at, straight), Edit(self.closing, straight)), safe=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateString(Problem):
    r"""A string is in backticks.

    There are no templates: the arguments of a step, not its text, say what it reads.

    ```aug greet.aug
    `Say hello` | Greet
    ```

    Write `"…"` or `'…'`, with `\n` for a line break.
    """

    name: ClassVar[str] = "template-string"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "strings are not written in backticks"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        inside = "" if self.at is None else self.at.source.text[self.at.end :].partition("`")[0]
        if "|" in inside or re.search(r"\w\(", inside):
            return "remove the backticks: they are signs of Markdown"
        return 'write "…"'

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None or (end := self.at.source.text.find("`", self.at.end)) < 0:
            return ()
        inside = self.at.source.text[self.at.end : end]
        if "|" in inside or "(" in inside or "\n" in inside or '"' in inside or "${" in inside:
            return ()
        closing = self.at.source.span(end, end + 1)
        return (Fix('write `"` for both', (Edit(self.at, '"'), Edit(closing, '"')), safe=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixedString(Problem):
    """A name is directly before a string, like `f` and `r` in Python.

    Strings have no prefixes, and no values are inserted into them: the arguments of a step say what it reads.

    ```aug greet.aug
    f"Say hello to {name}" | Greet
    ```

    Write the string alone, and pass the value as an argument: `input name; "Say hello" | Greet(name)`.
    """

    name: ClassVar[str] = "prefixed-string"

    prefix: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"a string has no `{self.prefix}` before it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"remove the `{self.prefix}`; pass values as arguments, as in `Greet(name)`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder(Problem):
    """A text contains a placeholder of a template, and nothing is inserted there.

    `{{name}}`, `${name}` and `<%= name %>` are reported, and `{name}` where the program has a value of that name.
    In a vibe, titles and descriptions are looked at; a placeholder in quotes, as in "write '{{name}}'", is not reported there.
    Texts are sent as they are written: the arguments of a step, not its text, say what it reads.

    ```aug greet.aug
    input name;
    "Say hello to {{name}}" | Greet(name)
    ```
    ```json schemas/greet.vibe.json
    { "type": "object", "properties": { "text": { "type": "string" } } }
    ```

    Pass the value as an argument, and write the text without it: `"Say hello" | Greet(name)`.
    If other code fills in the texts, say so in the settings: `[tool.instrc] templates = true`.
    """

    name: ClassVar[str] = "placeholder"
    severity: ClassVar[Severity] = "warning"

    word: str
    in_vibe: bool = False
    """Whether the text is a title or a description in a vibe."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"nothing is inserted for `{self.word}`: the text is sent as it is written"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.in_vibe:
            return "remove it: programs say what a step reads; if other code fills in the text: `[tool.instrc] templates = true`"
        return "pass the value as an argument, `Greet(name)`; if other code fills in the text: `[tool.instrc] templates = true`"


@dataclass(frozen=True, slots=True, kw_only=True)
class TripledQuotes(Problem):
    r'''A string is in triple quotes, like long texts in Python.

    ```aug greet.aug
    """Say hello""" | Greet
    ```

    One pair is enough. `\n` is a line break in a string.
    '''

    name: ClassVar[str] = "tripled-quotes"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "a string is written in one pair of quotes"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write `"…"`, with `\\n` for a line break'


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAlone(Problem):
    """A text is a statement alone.

    It is not a step, and it is not the goal of a pipe: the goal is written at the start of the pipe.

    ```aug greet.aug
    "Say hello"
    Greet(prompt)
    ```

    Write `"Say hello" | Greet(prompt)`. To explain the program to a reader, write a comment: `// Say hello`.
    """

    name: ClassVar[str] = "text-alone"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this text is alone: it is neither a step nor the goal of a pipe"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `|` after it to make it the goal of a pipe, or make it a comment with `//`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None:
            return ()
        return (Fix("put `|` behind it", (Edit(self.at.source.span(self.at.end, self.at.end), " |"),)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclosedString(Problem):
    r"""A string does not end on its line.

    Strings cannot contain line breaks.

    ```aug greet.aug
    "Say hello | Greet
    ```

    Close the string with the quote it began with; write `\n` where it should hold a line break.
    """

    name: ClassVar[str] = "unclosed-string"

    goes_on: bool = False
    """Whether the closing quote is on a later line."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this string continues on the next line" if self.goes_on else "this string has no closing quote"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return r"write each line break in it as `\n`" if self.goes_on else "close it with the quote it began with"
