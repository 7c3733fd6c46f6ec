"""Problems with characters, comments and strings."""

from __future__ import annotations

import re

from msgspec.structs import replace

from instrc.problems.problem import Edit, Fix, Problem, ProblemWarning
from instrc.problems.suggest import fixed_by, insertion, replacement
from instrc.text.limits import REPORTED_MISTAKES
from instrc.text.source import Span

_TEXT = re.compile(r"\S|\Z")


class NotUtf8(Problem):
    message = "this byte does not belong to UTF-8 text"
    hint = "save the file as UTF-8"


class TooDeep(Problem):
    message = "this is nested more than {limit:,} levels deep"
    hint = "name inner parts with `const` and use the names"

    limit: int


class StrayCharacter(Problem):
    in_string: bool = False
    instead: str | None = None
    """Sign that it resembles, as the full-width `，` resembles `,`."""
    others: tuple[StrayCharacter, ...] = ()
    """Further such characters on the same line."""

    def joined_with(self, other: StrayCharacter) -> StrayCharacter | None:
        """Return one mistake for two similar signs on the same line, or `None` if they are separate mistakes."""
        last = self.others[-1] if self.others else self
        if not (self.instead and other.instead and last.at and other.at) or len(self.others) == REPORTED_MISTAKES:
            return None
        if "\n" in other.at.source.text[last.at.end : other.at.start]:
            return None
        return replace(self, others=(*self.others, other))

    def before(self, place: int) -> StrayCharacter:
        """Return the problem without characters after a place."""
        return replace(self, others=tuple(each for each in self.others if each.at and each.at.start < place))

    @property
    def message(self) -> str:
        text = self.characters
        said = f"`{text}`" if text.isprintable() else f"character U+{ord(text):04X}"
        return f"{said} has no meaning {'in a string unless it is escaped' if self.in_string else 'here'}"

    @property
    def hint(self) -> str | None:
        if self.in_string:
            return f"write it as `\\u{ord(self.characters):04x}`"
        if self.others:
            return f"write `{self.instead}`, and replace the similar characters in the line: {self._listed}"
        return f"write `{self.instead}`" if self.instead else "remove it"

    @property
    def _listed(self) -> str:
        kinds = list(dict.fromkeys(f"`{each.characters}`" for each in self.others))
        return ", ".join(kinds)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.in_string:
            return ()
        if self.others:
            edits = tuple(Edit(each.at, each.instead) for each in (self, *self.others) if each.at and each.instead)
            return (Fix(f"replace {len(edits)} signs", edits, safe=True),)
        return replacement(self.at, self.instead or "", safe=self.instead is not None)


class MisleadingText(ProblemWarning):
    message = "a reader sees another text than the compiler: {signs}"
    hint = "remove what is not seen, and type the rest again"

    signs: str


class UnclosedComment(Problem):
    message = "this comment has no end"
    hint = "close it with `*/`"


_NAME_BEFORE = re.compile(r"[^\W\d]\w{0,60}\Z")
_NAME_AFTER = re.compile(r"[^\W\d]\w{0,60}(?=\()")
"""A called name: it hardly ever follows a `#` that begins a comment."""


class HashComment(Problem):
    message = "comments do not begin with `{characters}`"

    @property
    def hint(self) -> str | None:
        if found := self._reference():
            return f"one export of a program is called by its reference: `aug:{found}`"
        return "write `//`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.at is None or self.characters == "<!--" or self._reference():
            return ()
        return (Fix("begin with `//`", _hashes(self.at), safe=True),)

    def _reference(self) -> str:
        """Return the two names around a `#`: `letters#Formal`."""
        if self.at is None or self.characters != "#":
            return ""
        before = _NAME_BEFORE.search(self.at.source.text, max(0, self.at.start - 100), self.at.start)
        after = _NAME_AFTER.match(self.at.source.text, self.at.end)
        return f"{before[0]}#{after[0]}" if before and after else ""


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


class MarkdownFence(Problem):
    message = "this Markdown fence is not part of the program"

    @property
    def hint(self) -> str | None:
        alone = self.at is None or not self.at.source.text[: self.at.start].strip()
        return "remove it and the fence that closes it" if alone else "keep only what is between the fences"


class LineMarks(Problem):
    message = "the `{characters}` at the beginning of this line is not part of a program"
    hint = "remove it, and those of the other lines; stages are joined with `|`"


_DOUBLE = frozenset("“”„‟«»〝〞「」『』＂")
"""Quotation marks that are replaced by `"`; all others are replaced by `'`."""


class SmartQuote(Problem):
    message = "`{characters}` does not begin or end a string"
    hint = "write a straight quote instead"

    closing: Span | None = None
    """Typographic quote at the other end."""

    @property
    def fixes(self) -> tuple[Fix, ...]:
        straight = '"' if self.characters in _DOUBLE else "'"
        if self.at is None or self.closing is None:
            return replacement(self.at, straight)
        return (Fix(f"write {straight}…{straight}", (Edit(self.at, straight), Edit(self.closing, straight)), safe=True),)


class TemplateString(Problem):
    message = "strings are not written in backticks"

    @property
    def hint(self) -> str | None:
        inside = "" if self.at is None else self.at.source.text[self.at.end :].partition("`")[0]
        if "|" in inside or re.search(r"\w\(", inside):
            return "remove the backticks: they belong to Markdown"
        return 'write "…"'

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.at is None or (end := self.at.source.text.find("`", self.at.end)) < 0:
            return ()
        inside = self.at.source.text[self.at.end : end]
        if "|" in inside or "(" in inside or "\n" in inside or '"' in inside or "${" in inside:
            return ()
        closing = self.at.source.span(end, end + 1)
        return (Fix('write `"` for both', (Edit(self.at, '"'), Edit(closing, '"')), safe=True),)


class PrefixedString(Problem):
    message = "a string has no `{prefix}` before it"
    hint = "remove the `{prefix}`; pass values as arguments, as in `Greet(name)`"

    prefix: str


class Placeholder(ProblemWarning):
    message = "nothing is inserted for `{word}`: the text is sent as it is written"

    word: str
    in_vibe: bool = False
    """Whether the text is a title or a description in a vibe."""

    @property
    def hint(self) -> str | None:
        if self.in_vibe:
            return "remove it: programs say what a step reads; if other code fills in the text: `[tool.instrc] templates = true`"
        return "pass the value as an argument, `Greet(name)`; if other code fills in the text: `[tool.instrc] templates = true`"


class TripledQuotes(Problem):
    message = "a string is written in one pair of quotes"
    hint = 'write `"…"`, with `\\n` for a line break'


class TextAlone(Problem):
    message = "this text is alone: it is neither a step nor the goal of a pipe"

    defines: bool = False
    """Whether a definition follows, which is not a stage of a pipe."""

    @property
    def hint(self) -> str | None:
        if self.defines:
            return 'put it before the last expression, `"…" | Send_Activity(draft)`, or make it a comment with `//`'
        return "write `|` after it to make it the goal of a pipe, or make it a comment with `//`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.at is None or self.defines:
            return ()
        return (Fix("put `|` after it", (Edit(self.at.source.span(self.at.end, self.at.end), " |"),)),)


class UnclosedString(Problem):
    goes_on: bool = False
    """Whether the closing quote is on a later line."""

    @property
    def message(self) -> str:
        return "this string continues on the next line" if self.goes_on else "this string has no closing quote"

    @property
    def hint(self) -> str | None:
        return r"write each line break in it as `\n`" if self.goes_on else "close it with the same kind of quote"


class BadEscape(Problem):
    message = "`{characters}` is not an escape"
    hint = "write `\\\\` for a backslash, or `\\u` and four hexadecimal digits"
    fixes = fixed_by(insertion, "\\")


class LoneSurrogate(Problem):
    message = "this is half a character"
    hint = "write both halves of the pair, or the character itself"
