"""Problems with steps, and with readers of their results."""

from __future__ import annotations

import re

from instrc.problems.problem import Label, Problem, ProblemWarning, did_you_mean, listed
from instrc.text.limits import HINTED_PATH
from instrc.text.source import Span


class NothingToDo(Problem):
    message = "no instruction is called here, so there is nothing to do"

    @property
    def hint(self) -> str | None:
        name = "" if self.at is None else _name_before(self.at)
        if name and self.at is not None:
            return f"a call has round brackets: write `{name}({self.at.text})`"
        return "pass the value to an instruction, as in `Draft(prompt)`"


def _name_before(at: Span) -> str:
    """Return the instruction name directly before a short value on the same line: `Draft prompt`."""
    line = at.source.text[: at.start].rpartition("\n")[2]
    word = line.rstrip(" \t").split(" ")[-1]
    follows = word != line and word[:1].isupper() and word.isidentifier()
    return word if follows and len(word) + len(at.text) < HINTED_PATH else ""


class CutAgainstDataFlow(Problem):
    message = "`{word}` {reason}"
    hint = "move it to another context, or write the chain as a pipe and let the compiler divide it"
    marks = "other", "this is the cause"

    word: str
    reason: str
    other: Span | None = None


class OutputNotObject(Problem):
    message = "`{word}` is not an object, so it cannot be filled in alone"
    hint = "make the value a property of an object"

    word: str


class Unsatisfiable(Problem):
    hint = "remove the keyword that excludes every value"

    keys: tuple[str, ...] = ()
    """Properties of the object of steps involved, if any."""

    @property
    def message(self) -> str:
        if not self.keys:
            return "no value satisfies what is written here"
        return f"no object with the steps {listed(self.keys, 4)} satisfies what is written around them"


class EntangledMixins(Problem):
    message = "this {thing} needs the contents of another one, and that one needs the contents of this one"
    marks = "other", "this is the other one"

    other: Span | None = None
    thing: str = "mixin"
    """`mixin` or `object`: an object that contains a mixin is not divided either."""

    @property
    def hint(self) -> str | None:
        if self.thing == "mixin":
            return "define what both need outside of the mixins, with a name of its own"
        return "define the call of the mixin outside of the object, with a name of its own"


class IdleAnnotation(ProblemWarning):
    message = "`{word}` has no effect on an object"

    word: str
    loop: bool = False

    @property
    def hint(self) -> str | None:
        name = "_iteration" if self.loop else "NAME"
        return f"name the property: `@ {{ properties: {{ {name}: {{ {self.word}: … }} }} }}`"


class UnreadPipe(ProblemWarning):
    message = "nothing in this block reads what is piped into it"
    hint = "give the value a name before the block and pass it to the calls that need it"


class SameEffect(Problem):
    message = "`{word}` is called on two lines with the same values: equal calls are one step, so it would be carried out once"
    hint = "give it a name and read that, or let the calls differ: `attempt: 2`; an activity that only reads says so in its vibe"
    marks = "first", "the same call"

    word: str
    first: Span


class SameStep(ProblemWarning):
    message = "`{word}` is the same step as `{other}`: equal calls are one, so the model answers once"
    hint = "for independent answers write `each i in 2 { … }`; for one answer, read `{other}`"
    marks = "first", "the same call"

    word: str
    other: str
    first: Span


class UnreadResult(ProblemWarning):
    word: str
    """Step whose result is not passed on."""
    other: Span | None = None
    """Span of that step if another one needs its result."""
    carried: Span | None = None
    """Activity that receives the result after the decision of a person who was not shown it."""

    @property
    def message(self) -> str:
        if self.other is None:
            return f"nothing reads the result of `{self.word}`"
        if self.carried is not None:
            return f"the person is not shown `{self.word}`, which is used after this decision"
        return f"this step receives only the decision, not `{self.word}`, which the decision is about"

    @property
    def hint(self) -> str | None:
        if self.carried is not None:
            return f"give the result of `{self.word}` to this step as well"
        return f"give `{self.word}` a name and pass it on" if self.other is not None else "pass it on, or remove the step"

    @property
    def labels(self) -> tuple[Label, ...]:
        if self.other is None:
            return ()
        if self.carried is None:
            return (Label(self.other, "the decision is about this"),)
        return Label(self.other, "this is not shown"), Label(self.carried, "this uses it after the decision")


class UnreadAnswer(ProblemWarning):
    marks = "early", "this is also carried out after a refusal"

    word: str
    choice: str
    """Property that the person decides on."""
    early: Span | None = None
    """Effect before the first line that reads the choice; otherwise no line reads it."""

    @property
    def message(self) -> str:
        if self.early is None:
            return f"nothing reads the `{self.choice}` of `{self.word}`, so what follows is carried out whatever the answer is"
        return f"an effect comes before the line that reads the `{self.choice}` of `{self.word}`: it is carried out in any case"

    @property
    def hint(self) -> str:
        if self.early is not None:
            return "move the effect into the `when` that reads the answer, or above the question"
        return f"give the answer a name and write `when answer.{self.choice} is … {{ … }}` around what depends on it"


class IdleKey(ProblemWarning):
    message = "`{word}` is only another name for an earlier value, and nothing reads it by this name"
    hint = "remove it; to call an instruction whose name is an earlier key, rename that key"

    word: str


_OF_ROUNDS = {
    "round": "the number of this round is `round`, without `previous` before it",
    "rounds": "all finished rounds are `rounds`, without `previous` before it",
    "previous": "`previous` is the last round; all finished ones are `rounds`",
}
_ENDS_WITH_DOT = re.compile(r"\.[ \t\r]*\n\s*\Z")
_LOOKED_BACK = 200
"""Maximum characters before a member in which the previous line must end."""


class UnknownMember(Problem):
    message = "there is no member `{word}` here"

    word: str
    known: tuple[str, ...] = ()
    """Existing members."""
    handed: bool = False
    """Whether the member is looked up in a block's value or another round, which leave out thoughts and metrics."""
    mixed: bool = False
    """Whether one branch of a block has a round of a `repeat` as its value and another branch something else."""
    passed: str = ""
    """Name in the block that only passes on a value from elsewhere; other rounds do not have it."""
    in_rounds: bool = False
    """Whether the value is a round or belongs to another round, so that rounds do not show it."""
    about: str = ""
    """`previous` or `round`, if the member directly follows that name."""

    @property
    def hint(self) -> str | None:
        if self.mixed:
            return f"one branch returns a whole round, another does not: return in each `{{ {{ {self.word}: … }} }}`"
        if self.in_rounds:
            return "a round cannot contain `rounds`: read them in a step, and return its value"
        if self.passed:
            made = f"`const {self.passed} = do {{ … }}`" if self.passed == self.word else f"`{self.word}: do {{ … }}`"
            return f"rounds keep only the values of steps and blocks: make it a block, {made}"
        if self.about == "previous" and self.word in _OF_ROUNDS:
            return _OF_ROUNDS[self.word]
        if self.about == "round":
            return f"`round` is the number of the round; the value of the last one is `previous.{self.word}`"
        if self.nearest:
            return did_you_mean(self.nearest)
        if self.at and _ENDS_WITH_DOT.search(self.at.source.text[max(0, self.at.start - _LOOKED_BACK) : self.at.start]):
            return "remove the `.` that ends the line before, if it does not lead to this word"
        if self.handed and self.word.startswith(("_", "$")):
            return f"a block passes on no thoughts or metrics: make it a value in it, `const why = do {{ step.{self.word} }}`"
        members = ", ".join(f"`{name}`" for name in self.known[:8])
        if self.about == "previous":
            return f"name in the body what later rounds read: `const {self.word} = …`; named are {members or 'none'}"
        return f"its members: {members}" if self.known else "it has no members"


_LENGTHS = frozenset({"length", "len", "size", "count"})
"""Names for the length of a list in other languages."""


class PathIntoList(Problem):
    message = "`{word}` cannot be read here: the value before it is a list"

    word: str
    rounds: bool = False
    """Whether the list is `rounds`."""

    @property
    def hint(self) -> str | None:
        if self.word in _LENGTHS:
            return "ask how long a list is in a condition: `PATH @ { minItems: 1 }`, `PATH @ { maxItems: 0 }`"
        if self.rounds:
            return (
                f"the value of the last round is `previous.{self.word}` in the next one; for all write `each r in rounds {{ … }}`"
            )
        return "pass on the whole list, or process its elements: `each element in … { … }`"


class NotAValue(Problem):
    marks = "named", "only named here, not called"

    word: str
    choosing: bool = False
    """Whether the value is the list of a `OneOf(…)`."""
    failing: bool = False
    """Whether the value is a `Fail`, which ends its block."""
    named: Span | None = None
    """What its definition refers to, if it is only an alias: `Check` in `const c = Check;`."""
    literal: bool = False
    """Whether the value is the name of a literal."""

    @property
    def message(self) -> str:
        if self.named:
            return f"`{self.word}` is only another name of `{self.named.text}`, which has not been called"
        if self.choosing:
            return "`OneOf(…)` takes one path to a list in the result of an earlier step"
        if self.failing:
            return f"`{self.word}` has no value: it ends its block, so a step that reads it never runs"
        return f"`{self.word}` is not a value that can be read"

    @property
    def hint(self) -> str | None:
        if self.choosing:
            return 'for values that are known, write `@ { properties: { NAME: { enum: ["a", "b"] } } }` after the step'
        if self.failing:
            return "put it into a `try`, and the steps after it into the `else`, which reads `error`"
        if self.literal:
            return "write its value here: `each i in 3 { … }`; to name a list, write `do { [1, 2] }`"
        if self.nearest:
            return did_you_mean(self.nearest)
        if self.named:
            return f"call it in its definition: `const {self.word} = {self.named.text}();`"
        return "call it first and give the result a name: `const result = …;`"


class NotAList(Problem):
    word: str
    lists: tuple[str, ...] = ()
    """Members that are lists."""
    number: bool = False
    """Whether the value is a number, as if the block should run that many times."""
    choosing: bool = False
    """Whether the value should be the list of texts or numbers of a `OneOf(…)`."""

    @property
    def message(self) -> str:
        if self.choosing:
            return f"`{self.word}` is not a list of texts or numbers"
        return f"`{self.word}` is not a list"

    @property
    def hint(self) -> str | None:
        if self.choosing:
            return "choose from a list of only the names or ids: `const ids = each item in PATH { do { item.id } };`"
        if self.number:
            return "to count, let its schema say `integer`, or write the number: `each i in 3 { … }`"
        members = did_you_mean(tuple(f"{self.word}.{name}" for name in self.lists))
        return members or "name what has the type `array`; let an instruction return a list if there is none"


class MemberOfTool(ProblemWarning):
    hint = "export the step itself, or write `do { … }` around it: a process returns the member alone"

    word: str
    member: tuple[str, ...]
    unwaited: bool = False
    """Whether the call is one that nothing waits for."""

    @property
    def message(self) -> str:
        if self.unwaited:
            return f"nothing waits for the answer of `{self.word}`: there is no `{'.'.join(self.member)}` to give"
        return f"a tool returns the whole answer of `{self.word}`, not only `{'.'.join(self.member)}`"
