"""Problems with names: undefined, defined twice, hidden, unused."""

from __future__ import annotations

import re

from msgspec.structs import replace

from instrc.problems.problem import Edit, Fix, Label, Problem, ProblemWarning, did_you_mean
from instrc.problems.suggest import (
    FOREIGN_VALUES,
    comparison_key,
    renamings,
    strange_letter,
    twin,
    typed_on_latin,
)
from instrc.text.source import Span


class AmbiguousName(Problem):
    message = "`{word}` may be {uris:or}"

    word: str
    uris: tuple[str, ...]

    @property
    def hint(self) -> str | None:
        return f"choose one: `const {self.word} = {self.uris[0]}`"


class RepeatedName(Problem):
    message = "`{word}` is given twice"

    word: str
    first: Span | None
    """Span of the first definition; `None` if the enclosing block defines the name."""
    argument: bool = False
    """Whether two arguments share the name; one may be a member of an object that is passed."""
    tool: bool = False
    """Whether the name belongs to a tool of a plan."""
    defined: bool = False
    """Whether it is defined again where the first one can be seen."""
    further: tuple[Span, ...] = ()
    """Where it is defined once more, if a program does so."""

    @property
    def hint(self) -> str | None:
        if self.defined:
            return "a name cannot be reassigned: choose another one; in a `repeat`, `previous.NAME` is the last value"
        if self.tool:
            return "name each tool once: a plan can use it any number of times"
        return "give one of them a label of its own: `label: …`" if self.argument else "rename one of them"

    @property
    def labels(self) -> tuple[Label, ...]:
        first = () if self.first is None else (Label(self.first, "first here"),)
        return (*first, *(Label(place, "and here") for place in self.further))


class ReservedName(Problem):
    message = "`{word}` has a fixed meaning"

    word: str
    of_mixin: bool = False

    @property
    def hint(self) -> str:
        if self.of_mixin:
            return "it is a property of the mixin, which would stand in its place: rename the property"
        if self.word == "prompt":
            return "every program has it, the request that starts a run: read it without a definition, or choose another name"
        return "choose another name"


_SWITCHES = dict.fromkeys(("yes", "Yes", "YES", "on", "ON"), "true") | dict.fromkeys(("no", "No", "NO", "off", "OFF"), "false")
"""Booleans in YAML spelling."""
_NO_NUMBERS = frozenset({"NaN", "nan", "Infinity", "inf"})
_PRINTING = frozenset({"print", "puts", "echo", "printf"})
_DEFINE = "save its schema as a vibe below a root, or pass it as `vibes=` in Python"
_FUNCTIONS = frozenset(["len", "str", "int", "list", "range", "dict", "max", "min", "sum", "sorted", "json", "format", "join"])
"""Computing functions of other languages."""
_WAITING = frozenset({"sleep", "wait", "delay", "pause", "timer", "setTimeout"})
_REQUESTS = frozenset(["request", "question", "query", "message", "user_input", "userInput", "input_text", "text", "task"])
"""Names that other systems use for the request that starts a program."""
_STEP_KEY = re.compile(r"step\d+_\w+|(?:llm|server|user)Context\d+")
_ENDS = {
    "START": "remove it: a program begins with what reads `prompt`",
    "END": "remove it: a program ends when its steps are done",
}
"""Hints for the start and end nodes of graphs in other systems."""
_IN_BLOCKS = {
    "error": "it exists in the `else` of a `try`: `try { … } else { Draft(error) }`",
    "round": "it exists in a `repeat`, where it counts the rounds; in an `each` the element is the number, `each i in 3 { … }`",
    "previous": "it exists in the braces of a `repeat`; to read it later, name the block: `const last = repeat { … } until PATH`",
    "rounds": "it exists between the braces of a `repeat` and of its `else`",
    "break": "a block runs to its end; `repeat { … } until PATH` ends when the condition holds",
    "continue": "a block runs to its end; write `when PATH { … }` around steps that do not always run",
    "raise": 'write `Fail(error)`, or `Fail(message: "…")`',
    "throw": 'write `Fail(error)`, or `Fail(message: "…")`',
    "pass": "a block ends with a value; write `null` for nothing",
}
"""Hints for names that exist only in certain blocks, and for words that end a block in other languages."""
_OF_ROUNDS = frozenset({"round", "rounds", "previous"})
_FAILURES = frozenset({"e", "err", "ex", "exc", "exception"})
_LOOPS = frozenset({"forEach", "for_each", "map", "flatMap"})
"""Functions of other languages that process each element of a list."""


class UnknownName(Problem):
    word: str
    searched: tuple[str, ...] = ()
    """Roots that were searched, as displayed."""
    inside: Span | None = None
    """Span of a block that defines the same name."""
    element: bool = False
    """Whether that block uses the name for its element."""
    other: str = ""
    """`try` or `repeat` if the name is read in the `else` of the block that defines it in its first body; `from` likewise."""

    unread: Span | None = None
    """Definition of the nearest name, if unused: it may be the misspelt one."""
    reading: bool = False
    """Whether a value is read at this place: the head of a path, a list or a condition."""
    vain: bool = False
    """Whether it is read in the `else` of a `repeat`, where it never has a value."""
    file: tuple[str, str] | None = None
    """File that was probably meant to be this vibe, and the path under which it would be resolved."""

    @property
    def message(self) -> str:
        return f"nothing is called `{self.word}`{' here' if self.inside else ''}"

    @property
    def labels(self) -> tuple[Label, ...]:
        if self.unread:
            return (Label(self.unread, "nothing reads this name"),)
        return (Label(self.inside, "this name is defined only in its block"),) if self.inside else ()

    @property
    def hint(self) -> str | None:
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
        """Return the hint for a known word that shows what was intended; most hints apply only if no name is similar."""
        if self.word in FOREIGN_VALUES:
            return f"write `{FOREIGN_VALUES[self.word]}`"
        if self.word in _ENDS:
            return _ENDS[self.word]
        if self.word == "previous" and self.vain:
            return "the `else` of a `repeat` reads `rounds`; for the last values, name the block and read them after it"
        if self.word in _OF_ROUNDS:
            return _IN_BLOCKS[self.word]
        if self.word == "race" and re.match(r"[(\w]", self._next()):
            return "write `race { … } or { … }`"
        if not self.nearest and (told := self._of_word_of_other_languages()):
            return told
        if self.word in _WAITING and self._next().startswith("("):
            return 'to wait before a step, annotate it: `Send_Activity(draft) @ { delay: "PT30S" }`'
        if self.reading and not self.nearest:
            return f"first name the value that contains it, `const found = …;`, then read `found.{self.word}`"
        if _STEP_KEY.fullmatch(self.word):
            return "keys exist only in the compiled program: name the value, `const found = …;`, and read it by that name"
        return None

    def _of_word_of_other_languages(self) -> str | None:
        """Return the equivalent of a keyword of another language."""
        if self.word in _SWITCHES:
            return f"write `{_SWITCHES[self.word]}`"
        if self.word in _NO_NUMBERS:
            return "JSON has no such number"
        if self.word in _FAILURES and self.at is not None and "try" in self.at.source.text:
            return "the failure is called `error`, in the `else` of a `try`"
        if self.word in _IN_BLOCKS:
            return _IN_BLOCKS[self.word]
        return "write `each NAME in PATH { … }`" if self.word in _LOOPS else None

    def _of_other_names(self) -> str:
        """Return similar names with the reason why they do not match, or advice if there are none."""
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
        """Return how to read a value of a block from outside it."""
        if self.other == "try":
            return "its block has failed, so it has no value here: read `error`"
        if self.other == "repeat":
            return "it is defined in each round: `rounds` lists its values"
        if self.other == "from":
            return f"values before the first round come from outside the block: `from {{ {self.word}: VALUE }}`"
        if self.element:
            return "an element exists in its block only; name the block to read its list of values: `const all = each … { … }`"
        return "make it the value of its block, and give the block a name: `const found = when … { … }`"

    def _advice(self) -> str:
        """Return advice for a name without similar ones, depending on its use."""
        called = self._next().startswith("(")
        if called and self.word in _PRINTING:
            return "remove it: the value of the last expression is the result"
        if called and self.word in _FUNCTIONS:
            return "programs do not compute: let an instruction return the value"
        if called or not self.word[:1].islower():
            return f"{_DEFINE}, or try `instrc compile --sketch`"
        if self.word in _REQUESTS:
            return f"the request is called `prompt`; declare another one with `input {self.word}`"
        if self._is_labelled():
            return f'write a text in quotes, `"{self.word}"`, or declare it with `input {self.word}`'
        return f"declare it with `input {self.word}`, {_DEFINE}, or try `instrc compile --sketch`"

    def _next(self) -> str:
        """Return the text after the name."""
        return "" if self.at is None else self.at.source.text[self.at.end : self.at.end + 20].lstrip()

    def _is_labelled(self) -> bool:
        """Return whether the name is the whole value of a label or a key."""
        if self.at is None or self._next()[:1] not in {",", ")", "}"}:
            return False
        before = self.at.source.text[max(0, self.at.start - 20) : self.at.start].rstrip()
        return before.endswith(":") and before[-2:-1].isalnum()

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.word in FOREIGN_VALUES:
            return renamings(self.at, self.word, (FOREIGN_VALUES[self.word],))
        if self.unread is None:
            return renamings(self.at, self.word, self.nearest)
        here = tuple(replace(fix, safe=False) for fix in renamings(self.at, self.word, self.nearest))
        return (*here, Fix(f"rename `{self.unread.text}` to `{self.word}`", (Edit(self.unread, self.word),)))


class HiddenInstruction(ProblemWarning):
    message = "the value `{word}` has the name of an instruction, which is hidden in this program"
    hint = "choose another name for the value, such as `{small}`"

    word: str

    @property
    def small(self) -> str:
        """The name in the usual style of values."""
        return self.word[0].lower() + self.word[1:]


class HiddenName(Problem):
    message = "this reads `{word}` from outside the block, but `{word}` here belongs to the block"
    hint = "make it the value of a block: `const earlier = do { {word} };`"

    word: str


class HiddenSlot(ProblemWarning):
    message = "`{word}` calls the instruction, it does not read the slot `{path}`"

    word: str
    path: str
    """Path to the slot through names in braces, such as `page.header`, or only `header`."""

    @property
    def hint(self) -> str | None:
        called = f"`{self.word}()` to call the instruction without this warning"
        if self.path == self.word:
            return f"rename the slot, or write {called}"
        return f"write `{self.path}` to read the slot, or {called}"


class RecursiveBinding(Problem):
    words: tuple[str, ...]
    places: tuple[Span, ...] = ()

    @property
    def message(self) -> str:
        return "a name is defined by itself: " + " needs ".join(f"`{word}`" for word in (*self.words, self.words[0]))

    @property
    def hint(self) -> str | None:
        alone = self.at is not None and self.at.source.text[: self.at.start].rstrip().endswith("=")
        if alone and len(self.words) == 1:  # `const Draft = Draft`
            return "choose another name for it, or name the instruction by its `aug:` reference"
        return "to repeat a step until it is good, write `repeat { … } until PATH max 5`"

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(Label(place, f"`{word}` is defined here") for word, place in zip(self.words, self.places, strict=True))


class MisspeltDefinition(Problem):
    hint = "rename it to `{read_as}`"

    word: str
    read_as: str
    """Spelling of the name where it is read."""
    places: tuple[Span, ...]

    @property
    def message(self) -> str:
        return f"nothing reads `{self.word}`, but {len(self.places)} places read `{self.read_as}`, which is not defined"

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(Label(place, f"`{self.read_as}` is read here") for place in self.places[:3])

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return renamings(self.at, self.word, (self.read_as,))


class UnusedBinding(ProblemWarning):
    word: str
    left_out: bool = False
    """Whether its value has steps that are therefore not carried out."""

    @property
    def message(self) -> str:
        return f"`{self.word}` is not used, so it does not run" if self.left_out else f"`{self.word}` is not used"

    @property
    def hint(self) -> str | None:
        if self.left_out:
            return "use it, remove it, or export it with `tool`; in a file without `tool` every line runs"
        return "use it, remove it, or export it with `tool`"


class MisplacedLine(Problem):
    beside: str
    """`tool` or `Process(…)`: in their presence no line runs."""

    @property
    def message(self) -> str:
        if self.beside == "tool":
            return "a file that exports with `tool` has no lines of its own"
        return f"nothing runs beside `{self.beside}`, which has all steps of its program"

    @property
    def hint(self) -> str | None:
        if self.beside == "tool":
            return "name it with `tool NAME = …`; in a file without `tool` every line runs"
        return "put it into a context, or read its result there"


class NothingExported(Problem):
    message = "there is nothing to compile in this file"
    hint = 'write an expression, as in `"Write a letter" | Draft`'
