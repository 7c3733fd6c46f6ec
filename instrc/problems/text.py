"""Problems with the characters of a source: bytes, strings, comments, depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUtf8(Problem):
    """A source holds bytes that are not UTF-8.

    Sources are UTF-8, with or without a byte order mark.
    Other encodings, UTF-16 among them, and files that are no text at all are refused.

    ```hex greet.aug
    22 48 E9 6C 6C 6F 22
    ```

    Save the file as UTF-8 in the editor, or convert it: `iconv -f WINDOWS-1252 -t UTF-8 old.aug > new.aug`.
    """

    name: ClassVar[str] = "not-utf8"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this byte does not belong to UTF-8 text"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "save the file as UTF-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class TooDeep(Problem):
    """Brackets are nested deeper than any reader could follow.

    The limit is a thousand and some levels, brackets and stacked `@` counted together, so that no input can exhaust the stack.

    ```aug nested.aug
    const deep =
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    ```

    Give inner parts names of their own with `const`.
    """

    name: ClassVar[str] = "too-deep"

    limit: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"this is nested more than {self.limit:,} levels deep"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "name inner parts with `const` and use the names"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayCharacter(Problem):
    """A character has no meaning where it stands.

    Outside strings and comments a program consists of names, numbers and the signs `( ) [ ] { } | @ = : , ;`.
    Inside strings, control characters are written as escapes.

    ```aug greet.aug
    "Say hello" | Greet №
    ```

    Remove the character, or put it into a string.
    """

    name: ClassVar[str] = "stray-character"

    in_string: bool = False
    meant: str | None = None
    """The sign it looks like, as the full-width `，` looks like `,`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        text = _text(self)
        said = f"`{text}`" if text.isprintable() else f"character U+{ord(text):04X}"
        return f"{said} has no meaning {'in a string as it is' if self.in_string else 'here'}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.in_string:
            return f"write it as `\\u{ord(_text(self)):04x}`"
        return f"write `{self.meant}`" if self.meant else "remove it"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartQuote(Problem):
    """A string stands in typographic quotes.

    Word processors and messengers turn straight quotes into curly ones; the notation knows `"` and `'` only.

    ```aug greet.aug
    “Say hello” | Greet
    ```

    Write straight quotes: `"Say hello"`.
    """

    name: ClassVar[str] = "smart-quote"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{_text(self)}` does not begin or end a string"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write a straight quote instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateString(Problem):
    r"""A string stands in backticks.

    There are no templates: what a step reads is said by its arguments, not by its text.

    ```aug greet.aug
    `Say hello` | Greet
    ```

    Write `"…"` or `'…'`, with `\n` for a line break.
    """

    name: ClassVar[str] = "template-string"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "strings do not stand in backticks"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return 'write "…"'


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclosedString(Problem):
    r"""A string has no end on its line.

    Strings do not go on over line breaks.

    ```aug greet.aug
    "Say hello | Greet
    ```

    Close the string with the quote it began with; write `\n` where it should hold a line break.
    """

    name: ClassVar[str] = "unclosed-string"

    goes_on: bool = False
    """Whether the closing quote stands on a later line."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this string goes on over the end of its line" if self.goes_on else "this string has no closing quote"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return r"write each line break in it as `\n`" if self.goes_on else "close it with the quote it began with"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadEscape(Problem):
    r"""A backslash in a string begins no escape.

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
        return f"`{_text(self)}` is no escape"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `\\\\` for a backslash, or `\\u` and four hexadecimal digits"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneSurrogate(Problem):
    r"""A string holds half of a surrogate pair.

    Characters beyond U+FFFF are written as two `\u` escapes, a high one and a low one; one alone is no character.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclosedComment(Problem):
    """A comment that begins with `/*` has no `*/`.

    Such comments do not nest: the first `*/` ends them.

    ```aug greet.aug
    "Say hello" | Greet; /* politely
    ```

    Add `*/`, or use `//` for a comment that ends with its line.
    """

    name: ClassVar[str] = "unclosed-comment"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this comment has no end"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "close it with `*/`"


@dataclass(frozen=True, slots=True, kw_only=True)
class HashComment(Problem):
    """A `#` does not begin a comment.

    ```aug greet.aug
    # a first try
    "Say hello" | Greet
    ```

    Write `// a first try`, or `/* … */` for several lines.
    """

    name: ClassVar[str] = "hash-comment"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "comments do not begin with `#`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "write `//`"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFence(Problem):
    """A Markdown fence stands in a source.

    Answers of language models and pages of documentation wrap programs in such fences; they are not part of the program.

    ~~~aug greet.aug
    ```
    "Say hello" | Greet
    ```
    ~~~

    Remove the lines with the fences.
    """

    name: ClassVar[str] = "markdown-fence"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this Markdown fence is no part of the program"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it, and the one that closes it"


def _text(problem: Problem) -> str:
    """Return the characters a problem is about."""
    return problem.at.text if problem.at and problem.at.text else "?"
