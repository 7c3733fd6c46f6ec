"""The problem of a name that is not defined, with what may be meant by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from msgspec.structs import replace

from instrc.problems.edits import renamings
from instrc.problems.lookalikes import strange_letter, twin, typed_on_latin
from instrc.problems.problem import Edit, Fix, Label, Problem
from instrc.problems.suggest import FOREIGN_VALUES, comparison_key, did_you_mean
from instrc.source import Span

_SWITCHES = dict.fromkeys(("yes", "Yes", "YES", "on", "ON"), "true") | dict.fromkeys(("no", "No", "NO", "off", "OFF"), "false")
"""How YAML writes two of them."""
_NO_NUMBERS = frozenset({"NaN", "nan", "Infinity", "inf"})
_PRINTING = frozenset({"print", "puts", "echo", "printf"})
_FUNCTIONS = frozenset(["len", "str", "int", "list", "range", "dict", "max", "min", "sum", "sorted", "json", "format", "join"])
"""Functions of other languages that compute."""
_WAITING = frozenset({"sleep", "wait", "delay", "pause", "timer", "setTimeout"})
_REQUESTS = frozenset(["request", "question", "query", "message", "user_input", "userInput", "input_text", "text", "task"])
"""How the request that starts a program is called elsewhere."""
_STEP_KEY = re.compile(r"step\d+_\w+|(?:llm|server|user)Context\d+")
_ENDS = {
    "START": "remove it: a program begins with what reads `prompt`",
    "END": "remove it: a program ends when its steps are done",
}
"""How graphs of other systems begin and end."""
_IN_BLOCKS = {
    "error": "it exists in the `else` of a `try`: `try { … } else { Draft(error) }`",
    "round": "it exists in a `repeat`: `repeat { … } until round is 3`",
    "previous": "it exists in the braces of a `repeat`; to read it later, name the block: `const last = repeat { … } until PATH`",
    "rounds": "it exists between the braces of a `repeat` and of its `else`",
    "break": "a block runs to its end; `repeat { … } until PATH` ends when the condition holds",
    "continue": "a block runs to its end; write `when PATH { … }` around steps that do not always run",
    "raise": 'write `Fail(error)`, or `Fail(message: "…")`',
    "throw": 'write `Fail(error)`, or `Fail(message: "…")`',
    "pass": "a block ends with a value; write `null` for nothing",
}
"""Names that exist only in blocks, and words that end a block in other languages."""
_FAILURES = frozenset({"e", "err", "ex", "exc", "exception"})
_LOOPS = frozenset({"forEach", "for_each", "map", "flatMap"})
"""Functions of other languages that process each element of a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownName(Problem):
    """A name is not defined.

    A name is a local name, `prompt` or a declared input, or the name of a vibe below a root of the registry.
    Vibes are found in any case style: `FindSlot` finds `find-slot.vibe.json`.

    ```aug letter.aug
    Draft
    ```

    Check the spelling, save the schema as a vibe below a root (a `schemas/` folder beside the source is one),
    or compile with `--sketch`, which treats unknown instructions as objects with any properties.
    """

    name: ClassVar[str] = "unknown-name"

    word: str
    nearest: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    """The roots that were searched, as they are shown."""
    inside: Span | None = None
    """Where a block defines the same name."""
    element: bool = False
    """Whether that block calls its element so."""
    other: str = ""
    """`try` or `repeat`, if the name is read in the `else` of the block that defines it in its first body."""

    unread: Span | None = None
    """The definition of the nearest name, if nothing reads it: that may be the one that is misspelt."""
    reading: bool = False
    """Whether a value is read there: the head of a path, a list or a condition."""
    file: tuple[str, str] | None = None
    """A file that was probably saved as this vibe, and the path under which it would be found."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"nothing is called `{self.word}`{' here' if self.inside else ''}"

    @property
    def labels(self) -> tuple[Label, ...]:
        """Other places that the problem is about."""
        if self.unread:
            return (Label(self.unread, "nothing reads this name"),)
        return (Label(self.inside, "this name is defined only in its block"),) if self.inside else ()

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.inside:
            return self._of_another_block()
        if self.unread:
            return f"write `{self.unread.text}` here, or `{self.word}` there"
        if self.file:
            found, wanted = self.file
            as_json = "" if ".json" in found.rpartition("/")[2] or found.endswith(".vibe") else ", as JSON"
            return f"there is `{found}`, which no name finds: save it as `{wanted}`{as_json}"
        return self._of_known_word() or self._of_other_names()

    def _of_known_word(self) -> str | None:
        """Return the way out where the word itself shows what was meant; most do so only where no name is near."""
        if self.word in FOREIGN_VALUES:
            return f"write `{FOREIGN_VALUES[self.word]}`"
        if self.word in _ENDS:
            return _ENDS[self.word]
        if not self.nearest and (told := self._of_word_of_other_languages()):
            return told
        if self.word in _WAITING and self._next().startswith("("):
            return 'a step that waits says so: `Send_Activity(draft) @ { delay: "PT30S" }`'
        if self.reading and not self.nearest:
            return f"first name the value that contains it, `const found = …;`, then read `found.{self.word}`"
        if _STEP_KEY.fullmatch(self.word):
            return "keys exist only in the compiled program: name the value, `const found = …;`, and read it by that name"
        return None

    def _of_word_of_other_languages(self) -> str | None:
        """Return what is written here instead of a word that other languages have."""
        if self.word in _SWITCHES:
            return f"write `{_SWITCHES[self.word]}`"
        if self.word in _NO_NUMBERS:
            return "JSON has no such number"
        if self.word in _FAILURES and self.at is not None and "try" in self.at.source.text:
            return "what has failed is called `error`, in the `else` of a `try`"
        if self.word in _IN_BLOCKS:
            return _IN_BLOCKS[self.word]
        return "write `each NAME in PATH { … }`" if self.word in _LOOPS else None

    def _of_other_names(self) -> str:
        """Return the names that are near, with why they were not found, or what to do where none is."""
        advice = did_you_mean(self.nearest) or self._advice()
        if strange := strange_letter(self.word):
            return f"{strange}; {advice}"
        if self.nearest and twin(self.word) == self.nearest[0]:
            return f"all its letters only look like Latin letters; {advice}"
        if self.nearest and comparison_key(typed_on_latin(self.word) or "") == comparison_key(self.nearest[0]):
            return f"it is typed with the Russian keyboard layout; {advice}"
        looked_up = self.searched and (self.nearest or "below a root" in advice)
        return f"{advice} (looked in {', '.join(self.searched)})" if looked_up else advice

    def _of_another_block(self) -> str:
        """Return how a value that a block defines is read outside of it."""
        if self.other == "try":
            return "its block has failed, so it has no value here: what is known is `error`"
        if self.other == "repeat":
            return "it is a name of each round: `rounds` lists what all of them gave"
        if self.element:
            return "an element exists in its block only; name the block to read its list of values: `const all = each … { … }`"
        return "make it the value of the block: `const NAME = when … { … }`"

    def _advice(self) -> str:
        """Return the way out where no other name is near: by how the name is used."""
        called = self._next().startswith("(")
        if called and self.word in _PRINTING:
            return "remove it: the value of the last expression is the result"
        if called and self.word in _FUNCTIONS:
            return "a program computes nothing: let an instruction give the value"
        if called or not self.word[:1].islower():
            return "save its schema as a vibe below a root, or try `instrc compile --sketch`"
        if self.word in _REQUESTS:
            return f"the request is called `prompt`; declare another one with `input {self.word}`"
        if self._is_labelled():
            return f'write a text in quotes, `"{self.word}"`, or declare it with `input {self.word}`'
        return f"declare it with `input {self.word}`, save its schema as a vibe below a root, or try `instrc compile --sketch`"

    def _next(self) -> str:
        """Return what stands behind the name."""
        return "" if self.at is None else self.at.source.text[self.at.end : self.at.end + 20].lstrip()

    def _is_labelled(self) -> bool:
        """Tell whether the name is all that stands behind a label or a key."""
        if self.at is None or self._next()[:1] not in {",", ")", "}"}:
            return False
        before = self.at.source.text[max(0, self.at.start - 20) : self.at.start].rstrip()
        return before.endswith(":") and before[-2:-1].isalnum()

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Ways out that a machine can take."""
        if self.word in FOREIGN_VALUES:
            return renamings(self.at, self.word, (FOREIGN_VALUES[self.word],))
        if self.unread is None:
            return renamings(self.at, self.word, self.nearest)
        here = tuple(replace(fix, safe=False) for fix in renamings(self.at, self.word, self.nearest))
        return (*here, Fix(f"rename `{self.unread.text}` to `{self.word}`", (Edit(self.unread, self.word),)))
