"""Problems with plans that a model writes, with the steps that take them, and with plans of TaskBench."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from instrc.problems.problem import Problem, did_you_mean, listed

LISTED_ARGUMENTS: Final = 8
"""Maximum arguments listed in a hint."""


class PlanProblem(Problem):
    """One mistake in a plan."""

    pointer: str = ""
    """JSON Pointer to the place in the plan."""


class InvalidPlan(PlanProblem):
    message = "{reason}"

    reason: str


ToolsFault: TypeAlias = Literal["no tools", "no object", "no schema", "bare schema", "no arguments", "undescribed"]
"""Reasons why a value cannot be read as tools."""


class InvalidTools(PlanProblem):
    tool: str | None = None
    """Name of the invalid tool."""
    fault: ToolsFault = "no tools"
    reason: str | None = None
    """Why a Python function or type is not a tool, for `undescribed`."""

    @property
    def message(self) -> str:
        match self.fault:
            case "no tools":
                return "this is neither an object nor a list of tools"
            case "no object":
                return f"the tool `{self.tool}` is not an object in JSON"
            case "no schema":
                return f"the `arguments` of the tool `{self.tool}` are not a JSON Schema"
            case "bare schema":
                return f"the tool `{self.tool}` has no `arguments`: it is itself a schema"
            case "no arguments":
                return f"the tool `{self.tool}` has no `arguments`, but members that are not known"
            case "undescribed":
                return f"a tool cannot be described: {self.reason}"

    @property
    def hint(self) -> str | None:
        if self.fault == "undescribed":
            return 'annotate it with types that pydantic knows, or write `{ NAME: { "arguments": SCHEMA } }` in its place'
        return 'write `{ NAME: { "arguments": SCHEMA } }`, or a list of tools as a provider takes them'


class DuplicateTask(PlanProblem):
    message = "another task also has the id `{id}`"

    id: str
    first: str
    """JSON Pointer to the first task of that id."""


class UnknownTool(PlanProblem):
    message = "there is no tool `{tool}`"

    tool: str
    known: tuple[str, ...] = ()

    @property
    def hint(self) -> str | None:
        if self.nearest or not self.known:
            return did_you_mean(self.nearest)
        return f"the tools are {listed(self.known, 12)}"


class DanglingTask(PlanProblem):
    message = "there is no task `{id}` in this plan"

    id: str


class CircularPlan(PlanProblem):
    ids: tuple[str, ...]
    """Tasks of one cycle, each of which waits for the next."""

    @property
    def message(self) -> str:
        if len(self.ids) == 1:
            return f"the task `{self.ids[0]}` waits for itself"
        shown = self.ids if len(self.ids) <= 6 else (*self.ids[:5], "…")
        return f"tasks wait for each other: {' → '.join(f'`{each}`' for each in (*shown, self.ids[0]))}"


class MissingArgument(PlanProblem):
    callee: str
    """Name of the called tool."""
    argument: str
    others: tuple[str, ...] = ()
    """Other arguments missing from the same call."""

    @property
    def message(self) -> str:
        named = ", ".join(f"`{name}`" for name in (self.argument, *self.others))
        return f"`{self.callee}` needs the argument{'s' if self.others else ''} {named}"

    @property
    def hint(self) -> str | None:
        labels = ", ".join(f"{name}: …" for name in (self.argument, *self.others))
        return None if self.at is None else f"write {'them' if self.others else 'it'} in the brackets of the call: `{labels}`"


class UnknownArgument(PlanProblem):
    callee: str
    """Name of the called tool."""
    argument: str
    bound: bool = False
    """Whether the program sets this argument itself."""
    known: tuple[str, ...] = ()
    """Known arguments."""
    value: str = ""
    """The value that a program binds without a label, as written."""

    @property
    def message(self) -> str:
        if self.bound:
            return f"the argument `{self.argument}` of `{self.callee}` is set by the program and cannot be changed"
        if not self.argument:
            return f"an argument of `{self.callee}` has no name"
        return f"`{self.callee}` has no argument `{self.argument}`"

    @property
    def hint(self) -> str | None:
        if self.bound:
            return "leave it out"
        if self.value and "." in self.argument:
            return "bind the object as the value of a block, as in `const whole = do { … }`, then `NAME: whole`"
        if self.value:
            names = f"; it has {listed(self.known, LISTED_ARGUMENTS)}" if self.known else ""
            return f"write the name of the argument before the value, as in `NAME: {self.value}`{names}"
        if self.nearest or not self.known:
            return did_you_mean(self.nearest)
        return f"it has {listed(self.known, LISTED_ARGUMENTS)}"


class WrongArgument(PlanProblem):
    callee: str
    """Name of the called tool."""
    argument: str
    """Name of the argument; empty if the arguments are wrong as a whole."""
    reason: str
    instead: tuple[str, ...] = ()
    """Values that fit and were probably intended, in program syntax."""

    @property
    def message(self) -> str:
        which = f"the argument `{self.argument}`" if self.argument else "the arguments"
        return f"{which} of `{self.callee}` {'does' if self.argument else 'do'} not fit: {self.reason}"

    @property
    def hint(self) -> str | None:
        if self.at is None:
            return None
        if self.instead:
            return f"write {' or '.join(f'`{each}`' for each in self.instead)}"
        return f"write a value that the schema of `{self.argument}` allows, or a path to one: `{self.argument}: NAME.MEMBER`"


class NotForPlans(Problem):
    word: str
    activity: str = ""
    """Activity of that name, if any."""
    named: bool = True
    """Whether the value is a name or a reference."""

    @property
    def message(self) -> str:
        if self.word == "Plan()":
            return "a plan needs a tool that it can call"
        return f"`{self.word}` is not a tool that a plan can call"

    @property
    def hint(self) -> str | None:
        if self.activity:
            return f"did you mean `{self.activity}`?"
        if self.word.isdigit():
            return f"bound a plan by its schema: `Plan(…) @ {{ maxItems: {self.word} }}`"
        if not self.named or self.word == "Plan()":
            return "name the tools one after the other: `Plan(Search_Activity, Book_Activity)`"
        return "tools are activities (`Search_Activity`) and processes"


class MisplacedPlan(Problem):
    word: str

    @property
    def message(self) -> str:
        if self._is_bare():
            return f"`{self.word}` needs brackets after it"
        return f"`{self.word}` is allowed only in the braces of a step that the model or a person fills in"

    @property
    def hint(self) -> str | None:
        if self._is_bare():
            given = "tools: `Plan(Search_Activity)`" if self.word == "Plan" else "path of a list: `OneOf(found.ids)`"
            return f"write the {given}"
        return f"write it as a property of a step of the model or a person: `Act({{ property: {self.word}(…) }})`"

    def _is_bare(self) -> bool:
        return self.at is not None and self.at.text == self.word


class NotAPlan(Problem):
    message = "`RunPlan_Activity` takes one plan that `Plan(…)` fills, and nothing else"
    hint = "fill the property with `Plan(…)` in the braces of the step, and pass its path alone: `RunPlan_Activity(act.plan)`"


class DifferentTools(Problem):
    message = "two of the plans that may be run here have different tools with the name `{word}`"
    hint = "pass it the same arguments in each `Plan(…)`, or run each plan in the block that creates it"

    word: str


class BoundInBlock(Problem):
    message = "`{argument}` of the tool `{word}` is a value of a block, but the plan runs outside of it"
    hint = "write `RunPlan_Activity` in the block that creates the plan, or bind a value from outside of the block"

    word: str
    argument: str


class PlanInText(PlanProblem):
    message = "the plan is in a text that contains more than JSON"


class OddArguments(PlanProblem):
    message = "{reason}"

    reason: str


class SurplusArgument(PlanProblem):
    callee: str
    takes: int
    given: int

    @property
    def message(self) -> str:
        return f"`{self.callee}` takes {self.takes or 'no'} argument{'' if self.takes == 1 else 's'}, not {self.given}"


class ArgumentOrder(PlanProblem):
    callee: str
    types: tuple[str, ...]

    @property
    def message(self) -> str:
        return f"the arguments of `{self.callee}` are not in the order {', '.join(self.types)}"


class StepsDiffer(PlanProblem):
    severity = "warning"

    steps: int
    tasks: int

    @property
    def message(self) -> str:
        return f"there are {self.steps} steps in words for {self.tasks} task{'' if self.tasks == 1 else 's'}"


class RepairedPlan(PlanProblem):
    severity = "warning"
    message = "`{before}` is read as `{after}` ({mistake})"

    mistake: str
    """Name of the problem that was repaired."""
    before: str
    after: str


class UnexportablePlan(PlanProblem):
    message = "{reason}"

    reason: str


class OddReference(PlanProblem):
    message = "`{text}` is not a reference to a task"

    text: str
    meaning: str | None = None

    @property
    def hint(self) -> str | None:
        return f"write `{self.meaning}`" if self.meaning else "write `<node-0>`, with the place of the task in the list"


class ReferenceInText(PlanProblem):
    message = "`{text}` is in the middle of a text"

    text: str


class SeveralReferences(PlanProblem):
    message = "one argument refers to {count} tasks"

    count: int


class CountedFromOne(PlanProblem):
    message = "references in this plan count from 1; the first task is `<node-0>`"


class ContradictingLinks(PlanProblem):
    source: str
    target: str
    missing: bool
    """Whether the link is in the arguments but not in the links; otherwise the reverse."""

    @property
    def message(self) -> str:
        if self.missing:
            return f"`{self.target}` reads `{self.source}`, but no link says so"
        return f"a link leads from `{self.source}` to `{self.target}`, but no argument does"


class AmbiguousReference(PlanProblem):
    message = "`{tool}` refers to {count} tasks of this plan"

    tool: str
    count: int
