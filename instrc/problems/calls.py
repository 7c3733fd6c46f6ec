"""Problems with calls and annotations, and with the programs and exports that are called."""

from __future__ import annotations

import re

from instrc.problems.problem import Problem, ProblemWarning, did_you_mean
from instrc.problems.suggest import CHOSEN_FOR_RUNS, OF_RUNS, MisspeltWord, strange_letter, twin
from instrc.text.source import Span
from instrc.text.visible import shortened


class NotCallable(Problem):
    message = "`{word}` is a value, not an instruction"
    marks = "places", "defined here"

    word: str
    places: tuple[Span, ...] = ()
    hides: bool = False
    """Whether an instruction has the same name."""
    inline: bool = False
    """Whether the name belongs to a schema that is written in the program."""
    pipe: bool = False
    """Whether it is the name of a pipe."""

    @property
    def hint(self) -> str | None:
        if self.pipe:
            return "a pipe is a value and takes nothing: begin it with what it reads, or save it as a program and call that"
        if self.hides:
            return f"the name `{self.word}` hides the instruction: choose another name for the value"
        if self.inline:
            return (
                "a schema in the program is a stage of a pipe: write it there, `{ letter, tone } | @ { … }`, or save it as a vibe"
            )
        return "write a value in the brackets of a call, or at the start of a pipe"


class NotAProcess(Problem):
    word: str

    @property
    def message(self) -> str:
        if self.word.startswith("LaunchProcess("):
            return "`LaunchProcess` takes one name or reference of a process"
        return f"`{shortened(self.word, 40)}` is not a process that is saved as a vibe"

    @property
    def hint(self) -> str | None:
        if self.word.startswith("LaunchProcess(") and self.at is not None and self.at.text != self.word:
            return "write the name alone, as in `LaunchProcess(ScheduleMeeting)`: the model fills in what starts it"
        return "compile the process with `--emit process`, save it as a vibe, and launch that"


class MisplacedContext(Problem):
    word: str
    held: bool = False
    """Whether braces surround what may be a context."""

    @property
    def message(self) -> str:
        if self.held:
            return "the contexts of a process are not written in braces"
        return f"`{shortened(self.word, 40)}` is not allowed here"

    @property
    def hint(self) -> str | None:
        if self.held:
            return "write them one after the other: `Process(LLM_Context({ a: A }), Server_Context({ b: B_Activity(a) }))`"
        return "a process is an export, and contains only `LLM_Context(…)`, `Server_Context(…)` and `User_Context(…)`"


class TooManyArguments(Problem):
    marks = "first", "fills the slot"

    mixin: str
    first: Span | None
    inputs: tuple[str, ...] = ()
    """Inputs of the called program, `prompt` included."""

    @property
    def message(self) -> str:
        if self.inputs:
            return f"`{self.mixin}` takes one plain argument, its `prompt`, and it is set already"
        if self.first is None:
            return f"`{self.mixin}` has no slot for a plain argument"
        return f"`{self.mixin}` has one slot for a plain argument, and it is filled already"

    @property
    def hint(self) -> str | None:
        if self.mixin == "StartProcess":
            return 'name the argument: `StartProcess({ name: "…", llmContext1: A })`'
        if named := next((each for each in self.inputs if each != "prompt"), None):
            return f"name the others: `{named}: …`"
        if self.inputs:
            return "it has no other input: pass several values as an object, `({ a: A, b: B })`"
        return "name the slot, or pass several steps as an object: `{ default: { a: A, b: B } }`"


class SlotNotFound(MisspeltWord):
    message = "`{holder}` has no property `{word}`"

    holder: str
    slots: tuple[str, ...] = ()
    said: bool = False
    """Whether a text is written in it."""

    @property
    def hint(self) -> str | None:
        if self.holder == "Loop_Mixin" and self.word.lower().startswith(("max", "count", "times", "rounds", "limit")):
            return "bound it by `Loop_Mixin(…) @ { properties: { _iteration: { maximum: 5 } } }`"
        if self.word in OF_RUNS and not self.nearest:
            return CHOSEN_FOR_RUNS
        strange = strange_letter(self.word)
        if strange or (self.nearest and twin(self.word) == self.nearest[0]):
            return f"{strange or 'its letters only look like Latin letters'}; {did_you_mean(self.nearest) or 'correct it'}"
        if self.nearest or not self.slots:
            return did_you_mean(self.nearest)
        known = ", ".join(f"`{slot}`" for slot in self.slots[:8])
        if self.said:
            return f'it has {known}; what the model should only know is said by `@ "…"` after the call'
        return f"it has {known}; add more with `@ {{ properties: {{ {self.word}: … }} }}`"


class EmptyMixin(Problem):
    mixin: str
    elsewhere: str = ""
    """A step in its brackets that another mixin already contains."""
    slot: str = ""
    """A slot that reads a step in its brackets and keeps that step outside."""
    step: str = ""
    """The step that stays outside."""

    @property
    def message(self) -> str:
        if self.slot:
            return f"`{self.mixin}` contains nothing: its slot `{self.slot}` reads `{self.step}`, which therefore comes before it"
        if self.elsewhere:
            return f"`{self.mixin}` contains nothing: another mixin contains this step `{self.elsewhere}` already"
        return f"`{self.mixin}` contains no step of the model"

    @property
    def hint(self) -> str | None:
        if self.slot:
            return "write another step in its brackets, or let the slot read something else"
        if self.elsewhere:
            return 'equal calls are one step: nest the mixins, `A_Mixin(B_Mixin(…))`, or let the calls differ, `… @ "the second"`'
        return f"write a step of the model in its brackets, as in `{self.mixin}(Draft(prompt))`"


class MisplacedCall(Problem):
    message = "`{word}` cannot be composed into `{holder}`: the model does not fill it in"
    hint = "pass its result in brackets: `{holder}(name: …)`"

    word: str
    holder: str


class MisplacedData(Problem):
    message = "a literal is not allowed here: it is not the result of a step"

    failing: bool = False
    """Whether it is an argument of `Fail`."""

    @property
    def hint(self) -> str | None:
        if self.failing:
            return 'name the arguments: `Fail(code: "…", message: "…")`'
        if self.at is not None and re.search(r"\d,\Z", self.at.source.text[: self.at.start][-2:]) and self.at.text.isdecimal():
            return "write the decimal point as `.`, as in `1.5`"
        if self.at is not None and self.at.text == self.at.source.text.strip().rstrip(";").rstrip():
            return 'a goal needs steps after it: `"…" | Draft`'
        if self.at is not None and self.at.text[1:-1] == "prompt":
            return "without quotes, `prompt` is the request to the program"
        if self.at is not None and self.at.text[1:5].casefold() == "aug:":
            return "to make it a reference, remove the quotes"
        return 'give it a name, as in `Draft(tone: "warm")`, describe the step with `@ "…"`, or put it at the start of the pipe'


class NotData(Problem):
    message = "data contains only literals"

    @property
    def hint(self) -> str | None:
        if self.characters.partition("(")[0].endswith("_Activity"):
            return "for tools from which a model chooses, write `Plan(Search_Activity, Book_Activity)`"
        return "pass results as separate arguments"


class MisplacedAnnotation(Problem):
    block: bool = False
    """Whether it follows a block."""
    values: bool = False
    """Whether it follows an object of values."""

    @property
    def message(self) -> str:
        if self.values:
            return "an object of values has no schema of its own: its members are steps"
        if self.block:
            return "a block has no schema to annotate: it takes `within`, `delay` and a description"
        return "there is no schema here to annotate"

    @property
    def hint(self) -> str | None:
        return "put the `@` after a call in the block" if self.block else "put the `@` after a call"


class MisplacedBlock(Problem):
    message = "a block is not allowed here"
    hint = "write it before this expression, and pass its value in brackets"


_OF_RUNS = frozenset({"invoke", "ainvoke", "run", "execute", "call", "stream", "batch", "forward", "send", "kickoff"})
"""Methods that start a run in other systems."""


class BracketAfterValue(Problem):
    member: str = ""
    """Preceding member, such as `then` in `Draft(prompt).then(…)`."""
    of_value: bool = True
    """Whether it is a member of a value rather than of a foreign module: `dspy.Predict(…)`."""

    @property
    def message(self) -> str:
        return f"`.{self.member}` is a member, not a function" if self.member else "what is before this `(` cannot be called"

    @property
    def hint(self) -> str | None:
        if self.member in _OF_RUNS:
            return "remove it: `instrc run FILE` runs a program"
        if self.member in {"all", "gather", "race"}:
            return "steps that do not read each other's results are written beside each other: `{ a: A, b: B }`"
        if self.member in {"log", "print"}:
            return "remove it: the value of the last expression is the result"
        if self.member:
            before = "" if self.at is None else self.at.source.text[: self.at.start].removesuffix(self.member)
            if re.search(r"\.\s*\n\s*\Z", before[-200:]):
                return f"remove the `.` that ends the line before, or write `{self.member}(…)` alone if it has another meaning"
            if self.of_value:
                return "pass the value to an instruction: `… | Review`, or `Review(…)`"
            return f"instructions are not members: call one by its name alone, as in `{self.member}(…)`"
        return "write `;` before it to begin a new statement, or `|` to begin a stage"


class CircularProgram(Problem):
    hint = "to repeat steps until the result is good, write `repeat { … } until …`"

    uris: tuple[str, ...]

    @property
    def message(self) -> str:
        return "a program calls itself: " + " calls ".join(f"`{uri}`" for uri in self.uris)


class UnchosenExport(Problem):
    known: tuple[str, ...]

    @property
    def message(self) -> str:
        return (
            f"this program has {len(self.known)} exports, and a call needs one" if self.known else "this program exports nothing"
        )

    @property
    def hint(self) -> str | None:
        names = ", ".join(f"`#{name}`" for name in self.known)
        return f"name one after the reference: {names}" if names else "write its value as the last line"


class UnknownExport(Problem):
    message = "the program exports nothing called `{word}`"

    word: str
    known: tuple[str, ...]

    @property
    def hint(self) -> str | None:
        return did_you_mean(self.nearest or self.known[:5])


class ProgramWithSuffix(Problem):
    message = "`{word}` is a program, and a program has no executor"
    hint = "rename `{path}`: a name with this suffix is the name of an instruction"

    word: str
    path: str


class ForeignProcess(ProblemWarning):
    message = "from the program that is compiled, `{word}` does not lead to `{path}`"
    hint = "to run the compiled document, add the root of that file to `shared` in the settings; the source runs without it"

    word: str
    path: str


class NoSuchDocument(Problem):
    message = "`{program}` has no `{asked}`"
    hint = "it has {present:and}"

    asked: str
    program: str
    """Name of the export."""
    present: tuple[str, ...]
    """Exports that the program has."""


class NoSuchExport(Problem):
    message = "there is no export `{asked}`"

    asked: str
    present: tuple[str, ...]

    @property
    def hint(self) -> str | None:
        return f"there is {', '.join(f'`{name}`' for name in self.present)}" if self.present else None


class SeveralExports(Problem):
    message = "`{program}` does not have exactly one export to run"

    program: str
    names: tuple[str, ...]

    @property
    def hint(self) -> str | None:
        return f"`--export` takes {' or '.join(f'`{name}`' for name in self.names)}" if self.names else None
