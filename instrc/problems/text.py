"""Problems with the characters of a source: bytes, signs, comments, depth."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from instrc.limits.programs import REPORTED_MISTAKES
from instrc.problems.edits import replacement
from instrc.problems.problem import Edit, Fix, Problem
from instrc.source import Span

_TEXT = re.compile(r"\S|\Z")


def _hashes(first: Span) -> tuple[Edit, ...]:
    """Return the edits of a block of lines that begin with `#` or `--`."""
    text = first.source.text
    sign = text[first.start]
    edits = []
    start = first.start
    while text.startswith(first.text, start):
        stop = start + len(first.text)
        while text.startswith(sign, stop):
            stop += 1
        edits.append(Edit(first.source.span(start, stop), "//"))
        line_end = text.find("\n", stop)
        if line_end < 0:
            break
        start = next(_TEXT.finditer(text, line_end)).start()
    return tuple(edits)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUtf8(Problem):
    """A source holds bytes that are not UTF-8.

    Sources are UTF-8, with or without a byte order mark.
    Other encodings, such as UTF-16, and files that are not text are refused.

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
    """Brackets are nested too deeply.

    The limit is a little over a thousand levels of brackets and repeated `@`, so that no input can exhaust the stack.

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

    Give names to inner parts with `const`.
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
    """A character has no meaning in this place.

    Outside strings and comments a program consists of names, numbers and the signs `( ) [ ] { } | @ = : , ;`.
    Inside strings, control characters are written as escapes.

    ```aug greet.aug
    "Say hello" | Greet §
    ```

    Remove the character, or put it into a string.
    """

    name: ClassVar[str] = "stray-character"

    in_string: bool = False
    instead: str | None = None
    """The sign that it looks like, as the full-width `，` looks like `,`."""
    others: tuple[StrayCharacter, ...] = ()
    """Further ones in the same line that look like signs."""

    def joined_with(self, other: StrayCharacter) -> StrayCharacter | None:
        """Return one mistake for two that look like signs and stand in one line; `None` if they are two mistakes."""
        last = self.others[-1] if self.others else self
        if not (self.instead and other.instead and last.at and other.at) or len(self.others) == REPORTED_MISTAKES:
            return None
        if "\n" in other.at.source.text[last.at.end : other.at.start]:
            return None
        return replace(self, others=(*self.others, other))

    def before(self, place: int) -> StrayCharacter:
        """Return it without those that stand behind a place."""
        return replace(self, others=tuple(each for each in self.others if each.at and each.at.start < place))

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        text = self.characters
        said = f"`{text}`" if text.isprintable() else f"character U+{ord(text):04X}"
        return f"{said} has no meaning {'in a string as it is' if self.in_string else 'here'}"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.in_string:
            return f"write it as `\\u{ord(self.characters):04x}`"
        if self.others:
            return f"write `{self.instead}`, and replace the other signs of this kind in the line: {self._listed}"
        return f"write `{self.instead}`" if self.instead else "remove it"

    @property
    def _listed(self) -> str:
        kinds = list(dict.fromkeys(f"`{each.characters}`" for each in self.others))
        return ", ".join(kinds)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.in_string:
            return ()
        if self.others:
            edits = tuple(Edit(each.at, each.instead) for each in (self, *self.others) if each.at and each.instead)
            return (Fix(f"replace {len(edits)} signs", edits, safe=True),)
        return replacement(self.at, self.instead or "", safe=self.instead is not None)


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


_NAME_BEFORE = re.compile(r"[^\W\d]\w{0,60}\Z")
_NAME_AFTER = re.compile(r"[^\W\d]\w{0,60}(?=\()")
"""A name that is called: behind a `#` that begins a comment it is hardly ever so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashComment(Problem):
    """A comment begins with `#`, `№` or `--` instead of `//` or `/*`.

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
        return f"comments do not begin with `{self.characters}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if found := self._reference():
            return f"one export of a program is called by its reference: `aug:{found}`"
        return "write `//`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.at is None or self.characters == "<!--" or self._reference():
            return ()
        return (Fix("begin with `//`", _hashes(self.at), safe=True),)

    def _reference(self) -> str:
        """Return the names around a `#` that stands right between two: `letters#Formal`."""
        if self.at is None or self.characters != "#":
            return ""
        before = _NAME_BEFORE.search(self.at.source.text, max(0, self.at.start - 100), self.at.start)
        after = _NAME_AFTER.match(self.at.source.text, self.at.end)
        return f"{before[0]}#{after[0]}" if before and after else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFence(Problem):
    """A source contains a Markdown fence.

    Language models and documentation put programs between such fences; they are not part of the program.

    ~~~aug greet.aug
    ```
    "Say hello" | Greet
    ```
    ~~~

    Remove the lines with the fences, and the text around them.
    """

    name: ClassVar[str] = "markdown-fence"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this Markdown fence is not part of the program"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        alone = self.at is None or not self.at.source.text[: self.at.start].strip()
        return "remove it and the fence that closes it" if alone else "keep only what is between the fences"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMarks(Problem):
    """Lines begin with marks that do not belong to the program: numbers, the marks of a list, the signs of a terminal.

    They are copied with the text from editors, chats and documentation.

    ```aug greet.aug
    1. ReadLetter
    2. Greet
    ```

    Remove them. Stages of a pipe are joined with `|`: `ReadLetter | Greet`.
    """

    name: ClassVar[str] = "line-marks"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the `{self.characters}` at the beginning of this line is not part of a program"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "remove it, and those of the other lines; stages are joined with `|`"
