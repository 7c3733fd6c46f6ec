"""Problems with habits from other languages, and with near misses."""

from __future__ import annotations

import re

from instrc.problems.problem import Edit, Fix, Problem, ProblemWarning
from instrc.problems.suggest import replacement
from instrc.text.source import Span


class NestedQuotes(Problem):
    message = "this quote ends the string, but the text continues"

    @property
    def hint(self) -> str | None:
        quote = self.characters or '"'
        return f"write `\\{quote}` for a quote inside a string, or put the string into the other kind of quotes"


class MissingSeparator(ProblemWarning):
    message = "a new statement begins here, but nothing separates it from what is before it"

    before: Span
    """Span of the preceding value."""
    defines: bool = False
    """Whether the second value defines a name."""
    after_when: bool = False
    """Whether the braces of an object follow a `when` without an `else`."""

    @property
    def hint(self) -> str | None:
        if self.defines:
            return f"a definition begins with `const` or `tool`: remove `{self.before.text}`, or write `;` after it"
        if self.after_when:
            return "write `else` between them if this is what happens otherwise, or `;` if it always happens"
        return "write `|` between them if this should read what is before it, else `;`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.defines:
            return ()
        end = self.before.end
        between = Span(self.before.source, end, end)
        if self.after_when:
            return tuple(Fix(f"put `{word.strip()}` between them", (Edit(between, word),), safe=False) for word in (" else", ";"))
        return (
            Fix("put `|` between them", (Edit(between, " |"),), safe=False),
            Fix("put `;` between them", (Edit(between, ";"),), safe=False),
        )


class IndexedValue(Problem):
    hint = "write `.NAME` for a member, or `each NAME in PATH { … }` for the elements of a list"

    @property
    def message(self) -> str:
        number = self.characters.partition(".")[0]  # `0.1` in `people.0.1` is one number
        if number.isdecimal():
            return f"no member of a value is called `{number}`: paths contain only names"
        return "square brackets cannot select a part of a value"


class QuotedReference(Problem):
    message = "in quotes, this is a text, not a reference or a name"
    hint = "write it without quotes"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.at is None or len(self.at.text) < 3:
            return ()
        return replacement(self.at, self.at.text[1:-1])


class ListOfSteps(Problem):
    message = "square brackets contain data, not steps"
    hint = "name the steps in braces: `{ a: A, b: B }`"


class NotAProgram(Problem):
    message = "this looks like {kind}, not a program"
    hint = 'is it the right file? a program looks like `"Write a letter" | Draft`'

    kind: str
    """What the text looks like, with its article if it has one: `YAML`, `plain text`."""


class DoubledBraces(Problem):
    message = "these braces are doubled"
    hint = "remove one pair"


class Parameters(Problem):
    message = "`{word}` cannot have parameters"
    hint = "declare each parameter with `input NAME`, and write `{word} = …`"

    word: str


class MissingScheme(Problem):
    message = "`{path}` is a path, but not a reference"

    path: str

    @property
    def hint(self) -> str | None:
        return f"write `{self._reference()}`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return replacement(self.at, self._reference(), safe=self._reference() == f"aug:{self.path}")

    def _reference(self) -> str:
        """Return the path as a reference: below a root (a folder `schemas` is one), without the file extension."""
        path, dots, version = self.path.partition(":")
        below = re.sub(r"^(?:\.{1,2}/)+|(?:\.vibe)?\.(?:json|aug)$", "", path)
        return f"aug:{below.removeprefix('schemas/')}{dots}{version}"


class IndentedStatement(ProblemWarning):
    message = "this line is a statement of its own, although it is indented like a stage of the pipe before it"
    hint = "write `|` before it, or `;` after the statement before it"


class QuotedName(ProblemWarning):
    message = "in quotes, `{word}` is a text, the goal of this program, and not the value of that name"
    hint = "write `{word}` without quotes to read the value, or choose another text for the goal"

    word: str


class BareFail(ProblemWarning):
    message = "this `Fail` has no reason, so the run does not show why it failed"
    hint = 'write `Fail(code: "…", message: "…")`, or `Fail(error)` in the `else` of a `try`'


class BelowFail(ProblemWarning):
    message = "`Fail` comes last in its body, wherever it is written: the line below it runs first"
    hint = "write it above the `Fail`, or remove it; put a failure that depends on something into a `when`"
    marks = "fail", "this comes last"

    fail: Span


class DeadlineAsArgument(ProblemWarning):
    message = "`{word}` is an argument here: the person sees it, but it sets no deadline"
    hint = 'write it after the call: `Confirm_User(draft) @ { {word}: "{written}" }`'

    word: str
    written: str
    """The duration, as written."""


class SimilarLabel(ProblemWarning):
    message = "`{callee}` is called with the label `{label}`, but its input is `{other}`"
    hint = "if they are the same, spell them alike"

    label: str
    callee: str
    other: str
