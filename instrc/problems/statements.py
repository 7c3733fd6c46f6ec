"""Problems with statements: their keywords, names, values and operators."""

from __future__ import annotations

from instrc.problems.problem import Edit, Fix, Problem
from instrc.problems.suggest import fixed_by, insertion, replacement
from instrc.text.durations import from_words
from instrc.text.source import Span


class MissingName(Problem):
    message = "a name is missing after `{word}`"

    word: str
    parts: bool = False
    """Whether there is a bracket instead of the name, as in destructuring: `const { a, b } = …`."""
    quoted: str = ""
    """Quoted text in place of the name."""

    @property
    def hint(self) -> str | None:
        if self.quoted.isidentifier():
            return f"write the name without quotes: `{self.word} {self.quoted}`"
        if self.parts and self.word == "input":
            return "declare one input per statement: `input a; input b`"
        if self.parts:
            return "name the whole value, `const people = …`, and read its members by paths: `people.names`"
        return "write a name"


class NewerLanguage(Problem):
    message = "this program is written in version {version} of the language, and this `instrc` knows version {known}"
    hint = "install a newer `instrc`, or use the words of version {known} and say so: `language {known};`"

    version: int
    known: int


class MisplacedLanguage(Problem):
    first: bool = False
    """Whether the line is the first of the file, so that its number is wrong."""

    @property
    def message(self) -> str:
        return "a version is a whole number from 1" if self.first else "`language` stands before everything else in a file, once"

    @property
    def hint(self) -> str | None:
        return "write `language 1;`" if self.first else "move it to the first line, or remove it"


class WrongDefinition(Problem):
    word: str
    """Word before the name; empty if none."""
    exported: bool
    """Whether `tool` also precedes the name."""
    before: Span
    """Span of the defined name."""

    @property
    def message(self) -> str:
        if self.exported:
            return f"`tool` defines a name by itself: `{self.word}` is one word too many"
        return f"a definition begins with `const`, not with `{self.word}`" if self.word else "a definition begins with `const`"

    @property
    def hint(self) -> str | None:
        return (
            "remove it; `instrc check --fix` does so" if self.exported else "write `const NAME = …`; `instrc check --fix` does so"
        )

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.exported and self.at is not None:
            between = self.at.source.text[self.at.end : self.before.start].lstrip()  # comments stay
            return replacement(Span(self.at.source, self.at.start, self.before.start - len(between)), "")
        return replacement(self.at, "const") if self.word else insertion(self.at, "const ")


class MissingEquals(Problem):
    word: str
    called: bool = False
    """Whether brackets follow, as after an instruction: `tool Greet(prompt)`."""

    @property
    def message(self) -> str:
        return f"a name and `=` are missing before `{self.word}`" if self.called else f"`=` is missing after `{self.word}`"

    @property
    def hint(self) -> str | None:
        return f"write `tool NAME = {self.word}(…)`" if self.called else f"write `{self.word} = …`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return insertion(self.at, "= ") if self.at and self.at.text and not self.called else ()


class WrongEquals(Problem):
    message = "`{text}` does not name a value"

    text: str
    typed: str = ""
    """Text between the name and an `=`, such as a type in other languages: `const text: Letter = …`."""

    @property
    def hint(self) -> str | None:
        if self.typed:
            return f"names have no types: remove `: {self.typed}`"
        return "write `=`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return () if self.typed else replacement(self.at, "=")


class EqualsAfterValue(Problem):
    message = "only a name at the start of a statement can be before `=`"
    hint = "write `const name = …`"


class MissingStage(Problem):
    message = "there is no stage {side} this `|`"
    hint = "remove the `|`, or write the missing stage"
    fixes = fixed_by(replacement, "", safe=False)

    side: str
    """Side of the missing stage: `before` or `after`."""


class MissingValue(Problem):
    message = "a value is missing {after}"

    after: str
    """Sign or word that requires the value, with its preposition: ``after `:` ``."""
    defined: str = ""
    """Last defined name, if a block ends with a definition."""

    @property
    def hint(self) -> str | None:
        if self.defined:
            return f"a block ends with the expression that is its value: write `{self.defined}` before the `}}`"
        return "write an expression: a name, a call, a string, …"


class KeywordAsName(Problem):
    message = "`{word}` is a word of the language, not a name"

    word: str
    declares: bool = False
    """Whether it is used like a declaration with brackets: `input(language)`."""

    @property
    def hint(self) -> str | None:
        if self.declares:
            return f"write it without brackets: `{self.word} NAME`"
        if self.word == "input":
            return "the request is called `prompt`; for another value choose another name"
        return "choose another name; to call an instruction of this name, write it in another case"


class MisspeltKeyword(Problem):
    message = "`{word}` is not a word of the language"
    fixes = fixed_by(replacement, "{keyword}")

    word: str
    keyword: str
    """The intended keyword."""

    @property
    def hint(self) -> str | None:
        return f"write `{self.keyword}`, in Latin letters" if not self.word.isascii() else f"write `{self.keyword}`"


class RepeatedWord(Problem):
    message = "`{word}` is written twice"
    hint = "remove one of the two"
    fixes = fixed_by(replacement, "", safe=False)

    word: str


class BadName(Problem):
    message = "`{written}` is not a name"
    fixes = fixed_by(replacement, "{instead}")

    written: str
    instead: str = ""
    """Similar valid name."""

    @property
    def hint(self) -> str | None:
        if self.instead:
            return f"write `{self.instead}`"
        if duration := from_words(self.written):
            return f'write a duration after the step or block: `@ {{ within: "{duration}" }}`'
        return "names consist of letters, digits and `_`, and do not begin with a digit"


class BadNumber(Problem):
    message = "this number {reason}"

    reason: str
    """What is wrong with the number, as the rest of a sentence."""

    @property
    def hint(self) -> str | None:
        if self.at and ".." in self.at.text:
            return "for 1, 2, 3 at the same time write `each i in 3 { … }`, one after the other `repeat i in 3 { … }`"
        return "write numbers as in JSON: `3`, `0.5`, `-1e6`"


class EmptyUri(Problem):
    message = "this reference does not name a vibe"
    hint = "write the path of a vibe after the colon: `aug:folder/name`"


_LEFT_AWAY = frozenset({"return", "await", "async", "new", "yield"})
_ADVICE: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"import", "from", "require", "include", "using", "use", "package"}),
        "nothing is imported: instructions are found by name, or by an `aug:` reference",
    ),
    (
        frozenset({"def", "function", "fn", "func", "fun", "lambda", "=>"}),
        "there are no functions: instructions are JSON Schemas in vibe files; name a pipeline with `tool NAME = …`",
    ),
    (
        frozenset({"class", "struct", "interface", "type", "enum", "extends"}),
        'types are JSON Schemas in vibe files; a small one can be written as `@ { type: "object", … }`',
    ),
    (
        frozenset({"select", "insert", "update", "delete", "where"}),
        "a member is read by its path, `people.name`; use `each NAME in PATH { … }` for the elements of a list",
    ),
    (frozenset({"assert"}), "write what must be true into the schema, or `when PATH { … } else { … }`"),
    (frozenset({"global", "nonlocal", "del", "mut"}), "remove it: a name has one value, which each block inside sees"),
    (
        frozenset({"and"}),
        "in a condition write one `when` in the other, for `until` in a name: `const done = when A { when B { true } }`",
    ),
    (frozenset({"or"}), "`or` joins conditions, and the bodies of a `race`; for a choice write `when PATH { … } else { … }`"),
    (frozenset({"not"}), "put the other case after `else`: `when PATH { … } else { … }`"),
    (frozenset({"this", "self"}), "remove it and the `.`: an instruction is called by its name"),
    (frozenset({"return"}), "remove it: the last expression is the result"),
    (frozenset({"await", "async", "yield"}), "remove it: a step waits for the results that it reads"),
    (frozenset({"call", "run", "invoke", "execute", "goto"}), "remove it: an instruction is called by its name, `Draft(prompt)`"),
    (frozenset({"new"}), "remove it: an instruction is called by its name"),
    (frozenset({"export", "process", "pipeline", "workflow"}), "write `tool NAME = …`: that exports it"),
    (frozenset({"wait", "sleep", "pause"}), 'to wait before a step, annotate it: `Send_Activity(draft) @ { delay: "PT30S" }`'),
    (frozenset({"as"}), "name a value before it is used: `const NAME = …`"),
    (frozenset({"elif", "elsif", "else if", "elseif"}), "write `else when PATH { … }`"),
    (frozenset({"map", "forEach", "for_each", "filter", "flatMap"}), "write `each NAME in PATH { … }`"),
    (frozenset({"break", "continue"}), "a block runs to its end; write `repeat { … } until PATH` for a loop that ends early"),
    (frozenset({"then"}), "write `|` before what reads the step before it; a choice is `when PATH { … } else { … }`"),
    (frozenset({"if", "unless"}), "write `when PATH { … } else { … }`"),
    (frozenset({"switch", "match", "case"}), "write `when PATH is VALUE { … } else when PATH is VALUE { … } else { … }`"),
    (frozenset({"for", "foreach"}), "write `each NAME in PATH { … }`"),
    (frozenset({"while", "loop"}), "write `repeat { … } until PATH`"),
    (
        frozenset({"catch", "except", "finally", "rescue", "throw", "raise"}),
        "write `try { … } else { … }`; `Fail(error)` fails again",
    ),
)
"""What to write instead of keywords of other languages."""


class ForeignStatement(Problem):
    word: str

    @property
    def message(self) -> str:
        if self._gives_first_values():
            return "`from` does not belong to what is written before it"
        return f"there is no `{self.word}` in this language"

    def _gives_first_values(self) -> bool:
        """Return whether it is the `from` of a `repeat` in the wrong place."""
        return self.word == "from" and self.at is not None and self.at.source.text[self.at.end :].lstrip().startswith("{")

    @property
    def hint(self) -> str | None:
        if self._gives_first_values():
            return "it follows the braces of a `repeat` directly: `repeat { … } from { NAME: VALUE } until PATH`"
        if advice := next((advice for words, advice in _ADVICE if not words.isdisjoint({self.word, self.word.lower()})), None):
            return advice
        return "name values with `const NAME = …`, export with `tool NAME = …`"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.at is None or self.at.text != self.word:
            return ()
        if self.word in _LEFT_AWAY:
            text = self.at.source.text
            end = self.at.end
            while text[end : end + 1] == " ":
                end += 1
            return (Fix(f"remove `{self.word}`", (Edit(Span(self.at.source, self.at.start, end), ""),), safe=True),)
        return replacement(self.at, "tool", safe=False) if self.word == "export" else ()


class MergeConflict(Problem):
    message = "this file contains merge conflict markers"
    hint = "keep the lines of one version, or of both, and delete the markers"


class UnknownOperator(Problem):
    message = "`{text}` is not an operator here"
    fixes = fixed_by(replacement, "{put}")

    text: str
    advice: tuple[str, ...] = ()
    """Hints for this sign."""
    put: str = ""
    """The correct sign at this place, if any."""

    @property
    def hint(self) -> str | None:
        return "; ".join(self.advice) if self.advice else "join stages with `|`; pass values in the brackets of a call"


class Arrow(Problem):
    message = "`{text}` has no meaning"
    hint = "write `{instead}`"
    fixes = fixed_by(replacement, "{instead}")

    text: str
    instead: str
    """The correct sign at this place."""
