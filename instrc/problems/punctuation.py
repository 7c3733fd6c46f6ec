"""Problems with brackets, separators, keys and annotations."""

from __future__ import annotations

import re

from instrc.problems.problem import Fix, Label, Problem
from instrc.problems.suggest import FOREIGN_VALUES, fixed_by, insertion, replacement
from instrc.text.limits import SHOWN_NAME
from instrc.text.source import Span


class ExtraClosingBracket(Problem):
    message = "`{text}` closes no open bracket"
    hint = "remove it"
    fixes = fixed_by(replacement, "", safe=False)

    text: str


class MissingClosingBracket(Problem):
    hint = "close it with `{closing}`"
    marks = "openings", "this `{}` is still open"
    fixes = fixed_by(insertion, "{closing}", safe=False)

    closing: str
    """Missing closing brackets, innermost first."""
    openings: tuple[Span, ...]
    """Spans of the open brackets, innermost first."""

    @property
    def message(self) -> str:
        return (
            f"`{self.closing}` is missing here"
            if len(self.openings) == len(self.closing)
            else "many brackets are not closed here"
        )


class MismatchedBracket(Problem):
    hint = "write `{closing}`"
    marks = "opening", "this `{}` is open"
    fixes = fixed_by(replacement, "{closing}", safe=False)

    opening: Span
    closing: str
    """The matching bracket."""

    @property
    def message(self) -> str:
        return f"`{self.at.text if self.at else self.closing}` is written where `{self.closing}` is needed"


class MissingComma(Problem):
    message = "a `,` is missing before this"

    key: Span | None = None
    """Span of the preceding word, if that may be a key or an argument name."""
    sure: bool = True
    """Whether only a comma is missing."""

    @property
    def hint(self) -> str | None:
        key = f", or write `{self.key.text}: …`" if self.key and len(self.key.text) <= SHOWN_NAME else ""
        return f"separate with `,`{key}"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        comma = insertion(self.at, ",", safe=self.sure and self.key is None)
        if self.key is None:
            return comma
        return (*comma, *insertion(Span(self.key.source, self.key.end, self.key.end), ":", safe=False))


class ExtraComma(Problem):
    message = "this `,` separates nothing"

    where: str = "list"
    """Context of the comma: a `list` in brackets, a `group` (round brackets without a name), the `statement` itself,
    the `names` that it defines, the `body` of a block, `bounds` or a `condition`."""

    @property
    def hint(self) -> str | None:
        if self.where == "names":
            return "define one name per statement: `const a = …; const b = …`, `input a; input b`"
        if self.where == "bounds":
            return "remove it: the bounds follow each other: `until PATH max 5 keep 2`"
        if self.where == "condition":
            return "write `and` if both are needed, `or` if one is enough"
        if self.where == "body":
            return "end the statement with `;`; for an object of both, `{ { a: A, b: B } }`"
        if self.where == "statement":
            return "write `;` to end a statement, `|` to begin the next stage"
        if self.where == "group":
            return "round brackets without a name contain one expression: join stages with `|`"
        return "remove it"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        signs = {"statement": "|;", "group": "|", "body": ";", "names": "", "condition": ""}.get(self.where)
        if signs is None:  # something is superfluous, nothing is missing
            return replacement(self.at, "")
        return tuple(fix for sign in signs for fix in replacement(self.at, f" {sign}" if sign == "|" else sign, safe=False))


class SemicolonInBrackets(Problem):
    message = "a `;` ends a statement, but a bracket is still open here"
    hint = "separate with `,`"
    marks = "opening", "this `{}` is open"
    fixes = fixed_by(replacement, ",")

    opening: Span


class ExtraSemicolon(Problem):
    message = "no statement ends here"
    hint = "remove this `;`"
    fixes = fixed_by(replacement, "")


class MissingColon(Problem):
    message = "a `:` is missing between key `{key}` and its value"
    hint = "write `{key}: …`"

    key: str
    has_value: bool = False
    """Whether a value follows the key."""

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.at is None or not self.has_value:
            return ()
        return insertion(Span(self.at.source, self.at.end, self.at.end), ":")


class MissingKey(Problem):
    message = "this value in braces has no key"

    shown: str = ""
    """The value with a suitable key, if one is known."""

    @property
    def hint(self) -> str | None:
        return f"write `{{ {self.shown} }}`" if self.shown else "write `{ key: value }`"


class StrayColon(Problem):
    message = "there is no label or key here"
    hint = "label arguments in a call, `f(text: x)`, or keys in braces, `{ text: x }`"


class RepeatedKey(Problem):
    message = "`{key}` occurs twice"
    hint = "remove one of them, or rename it"
    marks = "first", "first written here"

    key: str
    first: Span


class EqualsForColon(Problem):
    message = "in brackets, a value follows `:`"
    hint = "write `:`"
    fixes = fixed_by(replacement, ":")


class BadAnnotation(Problem):
    version: bool = False
    """Whether the annotation looks like a version, as in `draft@2`."""
    described: str = ""
    """Name after a leading `@`: `@Draft`, `@ "politely" Draft`."""

    @property
    def message(self) -> str:
        if self.described:
            return "an `@` comes after what it describes"
        return "a version is not written with `@`" if self.version else "an `@` is followed by a string or by braces"

    @property
    def hint(self) -> str | None:
        if self.described:
            return f'write `{self.described}`, or `{self.described} @ "…"` to describe it'
        if not self.version:
            return 'write `@ "…"` or `@ { … }`'
        text = "" if self.at is None else self.at.source.text
        named = re.search(r"(?<![^\s()\[\]{},;|@\"'=])([^\s()\[\]{},;|@\"'=]+)\Z", text[: self.at.start] if self.at else "")
        version = re.match(r"\d+", text[self.at.end :] if self.at else "")
        reference = named[1] if named else "letter"
        reference = reference if reference.startswith("aug:") else f"aug:…/{reference}"
        return f"write it after the reference: `{reference}:{version[0] if version else 2}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        before = self.at.source.text[: self.at.start].rpartition("aug:")[2] if self.at else " "
        return replacement(self.at, ":", safe=False) if self.version and not set(before) & set(" \n\"'|(") else ()


class NotPlainData(Problem):
    message = "plain data is needed here"

    @property
    def hint(self) -> str | None:
        if (word := None if self.at is None else FOREIGN_VALUES.get(self.at.text)) is not None:
            return f"write `{word}`"
        return "put it into quotes, or use the brackets of a call to compose instructions"


class UnexpectedText(Problem):
    message = "{what} is not allowed here"

    what: str
    """The unexpected text: `` `=` ``, `the end of the file`."""
    expected: str = ""

    @property
    def hint(self) -> str | None:
        return f"expected {self.expected}" if self.expected else None


class TooManyMistakes(Problem):
    message = "this has more than {limit} mistakes"
    hint = "is this an `.aug` program? if so, correct the first mistakes and try again"

    limit: int
    first: tuple[Problem, ...]
    """The first few mistakes."""

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(Label(problem.at, problem.message) for problem in self.first if problem.at)
