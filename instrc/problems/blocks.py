"""Problems with blocks: their parts, conditions, bounds and deadlines."""

from __future__ import annotations

import re
from typing import Literal

from instrc.problems.problem import Edit, Fix, Problem, ProblemWarning, did_you_mean, listed
from instrc.problems.suggest import FOREIGN_VALUES, fixed_by, insertion, replacement
from instrc.text.limits import LISTED_VALUES
from instrc.text.source import Span

FORMS = {
    "when": "when PATH { … } else { … }",
    "each": "each NAME in PATH { … }",
    "repeat": "repeat { … } until PATH",
    "try": "try { … } else { … }",
    "race": "race { … } or { … }",
    "do": "do { … }",
}
"""Syntax of each block."""
TWO_BOUNDS = "compare with one number at a time: `PATH >= 3 and PATH <= 5`"
MORE_BRANCHES = "for one more branch write `else when CONDITION { … }` before the last `else`"
"""Hint for a block with a second `else` or a second pair of braces."""


class StrayElse(Problem):
    message = "this `else` belongs to no block"

    block: str = ""
    """Keyword of the block before it."""

    @property
    def hint(self) -> str | None:
        if self.block in {"each", "race", "do"}:
            return f"`{self.block}` has no `else`: write `try {{ … }} else {{ … }}` around it for what is done if it fails"
        return MORE_BRANCHES


class MissingElse(Problem):
    message = "`else` is missing before the second braces of this `{word}`"
    fixes = fixed_by(insertion, "else ")

    word: str
    """Keyword of the block."""

    @property
    def hint(self) -> str | None:
        return f"write `{FORMS[self.word]}`"


class StrayBraces(Problem):
    message = "these braces belong to no block: the `{word}` before them has its own"

    word: str
    """Keyword of the block that the preceding braces belong to."""

    @property
    def hint(self) -> str | None:
        if self.word == "else":
            return MORE_BRANCHES
        return f"put the whole body of the `{self.word}` into one pair of braces, or begin these with `do`"


class MissingBraces(Problem):
    message = "an object in a block needs its own braces"
    hint = "write `{ { key: value } }`"

    opening: Span | None = None
    """Opening brace of the block."""
    closing: Span | None = None
    """Closing brace of the block, if known."""

    @property
    def fixes(self) -> tuple[Fix, ...]:
        if self.opening is None or self.closing is None:
            return ()
        after = self.opening.source.span(self.opening.end, self.opening.end)
        before = self.closing.source.span(self.closing.start, self.closing.start)
        return (Fix("add a pair of braces", (Edit(after, " {"), Edit(before, "} "))),)


_AGAIN = "write `repeat { … } until PATH`, or `each i in 3 { … }` for three at the same time"
_LIMITED = 'write it after the block: `do { … } @ { within: "PT30S" }`'
_TOGETHER = "write `do { … }` for each: blocks that do not read each other's results run at the same time"
INSTEAD = {
    "otherwise": "write `else { … }`",
    "default": "write `else { … }`",
    "loop": _AGAIN,
    "times": _AGAIN,
    "retry": "retries are configured where the program is run; `try { … } else { … }` handles a failure",
    "timeout": _LIMITED,
    "deadline": _LIMITED,
    "within": _LIMITED,
    "max": "write the bound after the condition: `repeat { … } until PATH max 3`",
    "until": "write `repeat { … } until PATH`: the condition comes after the braces",
    "parallel": _TOGETHER,
    "all": _TOGETHER,
    "fork": _TOGETHER,
    "concurrently": _TOGETHER,
    "async": _TOGETHER,
    "spawn": _TOGETHER,
    **dict.fromkeys(("any", "first", "either", "fastest"), "write `race { … } or { … }`: the first that is done counts"),
    "block": "write `do { … }`",
    "begin": "write `do { … }`",
    "group": "write `do { … }`",
    "finally": "write the steps after the block: they run when it has ended",
}
"""What to write instead of a lower-case word before braces."""


class BracesAfterName(Problem):
    message = "`{word}` does not begin a block, and a call has round brackets"

    word: str
    duration: str = ""
    """Duration after the keyword, in valid syntax."""

    @property
    def hint(self) -> str | None:
        told = INSTEAD.get(self.word.casefold(), f"write `{self.word}({{ … }})`")
        return told.replace("PT30S", self.duration) if self.duration else told


class StrayWord(Problem):
    message = "`{word}` does not belong to what is written before it"

    word: str
    block: str = ""
    """Keyword of the block before it."""

    @property
    def hint(self) -> str | None:
        if self.word == "times":
            return "leave it out: the number alone is the bound"
        if self.word in {"is", "or"}:
            return "a condition is `PATH is VALUE`, and `and` or `or` joins two of them"
        if self.word == "in":
            return "`in` follows the name of an element: `each NAME in PATH { … }`"
        if self.word in {"until", "while"}:
            return "write `repeat { … } until PATH` to run a block again"
        if self.block == "repeat":
            return "a bound belongs to a condition: `repeat { … } until PATH max 3`; `repeat i in 3 { … }` has its own"
        if self.block == "each":
            return "write it before the braces: `each NAME in PATH max 5 { … }`"
        return "only `each` and `repeat` have a bound: `repeat { … } until PATH max 3`"


class IncompleteBlock(Problem):
    message = "this `{word}` needs {missing} here"
    fixes = fixed_by(replacement, "{put}")

    word: str
    """Keyword of the block."""
    missing: str
    """What is expected: `` `in` ``, `` `{` ``."""
    put: str = ""
    """Replacement for the word at this place."""
    advice: str = ""
    """Correct form of what was probably intended."""

    @property
    def hint(self) -> str | None:
        if self.advice:
            return self.advice
        return f"write `{FORMS.get(self.word, FORMS['repeat'])}`"


class BadBound(Problem):
    message = "a bound is a whole number from 1 to {limit:,}"
    hint = "write such a number, or remove the block if it should not run"

    limit: int


class NotACount(Problem):
    message = "this is never a number"
    hint = "`max` and `first` take a whole number, 0 or more, or the path to one: `first order.limit`"


class OverLimit(Problem):
    message = "{count:,} times is over the limit of {limit:,}"

    count: int
    limit: int
    written: bool
    """Whether the limit is given by `max`."""

    @property
    def hint(self) -> str | None:
        if self.written:
            return "write a smaller number, or a larger `max`"
        return f"write a smaller number, or allow more with `max {self.count}` before the braces"


class WrongFirstValue(Problem):
    message = "`{word}` cannot have a value before the first round: {reason}"

    word: str
    reason: str
    known: tuple[str, ...] = ()
    """Names of the body that refer to a step or a block."""
    misfit: bool = False
    """Whether the schema of the name excludes the value."""

    @property
    def hint(self) -> str | None:
        if self.nearest:
            return did_you_mean(self.nearest)
        if self.misfit:
            return "write a complete value of its schema, or leave the name out: then it is `null` in the first round"
        names = ", ".join(f"`{name}`" for name in self.known[:8])
        if not names:
            return "`from` gives values to names of the body: `from { draft: outline }`"
        return f"names that can have one: {names}; a member of one is set in braces, `{self.known[0]}: {{ … }}`"


class KeepOverMax(ProblemWarning):
    message = "`keep {keep}` has no effect: there are {most} rounds at most"
    hint = "leave `keep` out, or write `max {keep}` or more"

    keep: int
    most: int


_CALENDAR = re.compile(r"""["']P[0-9]+[MY]""")
"""A duration in months or years."""


_WAITS = re.compile(r"\b(?:sleep|wait|pause)\s+\Z")


class BadDuration(Problem):
    word: str = ""
    """`within` or `delay`, if the duration follows one."""
    over: bool = False
    """Whether it is a deadline of zero length."""
    written: str = ""
    """The source text in its place, if that is not a string."""
    instead: str | None = None
    """The same duration in ISO 8601, if it can be derived."""

    @property
    def message(self) -> str:
        if self.over:
            return "this deadline expires at once"
        if self.written:
            return f"`{self.written}` is not a duration of ISO 8601"
        return f"`{self.word}` needs a duration of ISO 8601"

    @property
    def hint(self) -> str | None:
        if self.over:
            return 'write how long to wait, `"PT30S"`, or leave the deadline out'
        if self.at is not None and _CALENDAR.search(self.at.text):
            return 'months and years have no fixed length: write days, `"P30D"`'
        if self.instead and self.at and _WAITS.search(self.at.source.text[: self.at.start]):
            return f'to wait before a step, annotate it: `@ {{ delay: "{self.instead}" }}` after the step or block that waits'
        if self.instead:
            return f'write `"{self.instead}"`, in `@ {{ within: "{self.instead}" }}` after the step or block'
        return 'write `"P2D"` for two days, `"PT30S"` for half a minute'


_PLACES_OF_DEADLINES = {
    "words": (
        "is not a word of the language: a deadline is an annotation",
        'write it in braces after the step: `Confirm_User(draft) @ { within: "P2D" }`',
    ),
    "condition": (
        "is in a condition, where only a schema is allowed",
        "put the block into brackets and write it after them: `(repeat { … } until …) @ { … }`",
    ),
    "input": ("is on an input, and a program does not wait for its inputs", "write it after the step that may take long"),
    "context": ("is on a context: only its steps can have one", "write it after the step that may take long"),
    "slot": ("is on the contents of a slot, which are not a separate step", "write it after the step that has the slot"),
    "twice": ("is written twice for the same step or block", "remove one of the two"),
}
"""Explanation and hint for a misplaced deadline, by place."""


class MisplacedDeadline(Problem):
    word: str
    place: Literal["condition", "words", "input", "context", "slot", "twice"] = "condition"
    """Where the deadline is written; `words` if it is not an annotation, `twice` if there is another one."""

    @property
    def message(self) -> str:
        return f"`{self.word}` {_PLACES_OF_DEADLINES[self.place][0]}"

    @property
    def hint(self) -> str | None:
        return _PLACES_OF_DEADLINES[self.place][1]


class IdleDeadline(ProblemWarning):
    message = "{words:and} on a step of a tool: no engine enforces it"
    hint = "write `do { … } @ { … }` around it, which makes the program a process, or remove it"

    words: tuple[str, ...]
    """`within`, `delay` or both."""


class NeverTrue(ProblemWarning):
    message = "this condition never holds: the schema of the value excludes it"

    admitted: tuple[str, ...] = ()
    """Values that the schema lists, as written in the schema."""
    advice: str = ""
    """What to write instead, if the type of the value tells."""

    @property
    def hint(self) -> str | None:
        if self.advice:
            return self.advice
        if not self.admitted:
            return "compare it with the values that the schema allows"
        return f"the schema allows {listed(self.admitted, LISTED_VALUES)}"


class AlwaysTrue(ProblemWarning):
    message = "this condition always holds: the schema of the value allows nothing else"
    hint = "remove it, or test something that the schema does not guarantee"


class UnchangingCondition(Problem):
    message = "this value is the same in every round: it comes from outside the block"
    hint = "move the step that computes this value into the block"


class MayBeNull(ProblemWarning):
    message = "the argument `{argument}` of `{word}` may be `null`, which its schema excludes"
    hint = "check it first with `when`, or let the schema of the argument allow `null`"

    word: str
    argument: str


_CALLED = {
    **dict.fromkeys(("contains", "includes", "has"), "{ contains: { const: … } }"),
    **dict.fromkeys(("len", "length", "count", "size", "any", "not_empty", "notempty"), "{ minItems: 1 }"),
    **dict.fromkeys(("empty", "is_empty", "isempty"), "{ maxItems: 0 }"),
    **dict.fromkeys(("exists", "defined", "is_defined", "isdefined", "bool"), "{}"),
    **dict.fromkeys(("startswith", "starts_with", "endswith", "ends_with", "matches", "match"), '{ pattern: "…" }'),
}
"""JSON Schema conditions that replace function calls of other languages, by lower-case name."""


class BadCondition(Problem):
    slip: str
    """Kind of mistake: `brackets`, `call`, `range`, `scalar`, `list`, `number`, `or`, `bounds` or `value`."""
    word: str = "when"
    empty: bool = False
    """Whether the list is empty."""
    joined: bool = False
    """Whether an `or` in brackets is combined with `and`."""

    @property
    def message(self) -> str:
        match self.slip:
            case "brackets":
                return f"what follows `{self.word}` is written without brackets"
            case "call" | "range":
                return f"a call cannot follow `{self.word}`: write a name or a path"
            case "scalar" | "list":
                return "`is` needs a text, a number, `true`, `false`, `null` or a path after it"
            case "number":
                return "`<`, `<=`, `>` and `>=` compare with a number"
            case "or":
                return "`and` and `or` need a whole condition after them, with its own path"
            case _:
                return f"`{self.word}` needs a name or a path after it"

    @property
    def hint(self) -> str | None:
        match self.slip:
            case "brackets" if self.joined:
                return "`and` joins before `or`: write `A and B or A and C` for `A and (B or C)`, or one `when` in another"
            case "brackets":
                return "remove the brackets"
            case "call" if self.at and (found := _MEASURED.match(self.at.source.text, self.at.start)):
                word, more = _BOUNDS[found[2]]
                return f"programs do not compute: write `{found[1]} @ {{ {word}: {max(0, int(found[3]) + more)} }}`"
            case "call" if self.at and (instead := _CALLED.get(self.at.text.casefold())):
                return f"programs do not compute: write `PATH @ {instead}`"
            case "call":
                return "name the result of the call first: `const answer = …`"
            case "range":
                return "write the number of times, or the path to it: `each i in 3 { … }`, `each i in order.count { … }`"
            case "scalar":
                return _scalar(self.word)
            case "list" if self.empty:
                return "write `PATH @ { maxItems: 0 }` for an empty list"
            case "list":
                return "write `PATH @ { enum: […] }` for one of several values"
            case "number":
                return "write a number, or the path to one: `PATH >= 8`, `PATH >= order.limit`"
            case "or":
                return f"write the path again: `PATH is … {self.word}`"
            case "bounds":
                return "the path comes first: `PATH > 3`, `PATH >= 3 and PATH <= 5`"
            case _ if self.word == "in" and self.at and self.at.text == "[":
                return "make a written list a value first: `const items = do { […] }; each NAME in items { … }`"
            case _ if self.word == "in":
                return "write the path of a list from a step or an `input`: `each NAME in found.items { … }`"
            case _:
                return "write a name such as `answer`, or a path such as `answer.ok`"


_MEASURED = re.compile(r"(?i:len|length|count|size)\(([\w.]+)\)\s*(>=|>|<=|<)\s*(\d{1,9})\b")
"""The comparison of a length with a number, as other languages write it."""
_BOUNDS = {">": ("minItems", 1), ">=": ("minItems", 0), "<": ("maxItems", -1), "<=": ("maxItems", 0)}
"""Keyword for such a comparison, and what is added to the number."""


_ANSWERS = {**dict.fromkeys(("yes", "on"), "true"), **dict.fromkeys(("no", "off"), "false")}
"""Words that people use for `true` and `false`."""


def _scalar(word: str) -> str | None:
    """Return the replacement of a word after `is`."""
    constant = FOREIGN_VALUES.get(word) or _ANSWERS.get(word.casefold())
    if constant is not None:
        return f"write `{constant}`"
    if word in {"in", "one"}:
        return "write `PATH @ { enum: […] }` for one of several values"
    if word in {"<", "<=", ">", ">="}:
        return f"write `PATH {word} …` without `is`"
    if word == "empty":
        return 'write `""` for an empty text; of a list `PATH @ { maxItems: 0 }`'
    return f'write a text in quotes: `is "{word}"`' if word.isidentifier() else "write one of these"
