"""Problems with a plan that a model or a person has made: tasks for tools, and what they take from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.problem import Problem
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProblem(Problem):
    """One mistake in a plan."""

    pointer: str = ""
    """Where in the plan, as a JSON Pointer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidPlan(PlanProblem):
    """Something in a plan is no task.

    A plan is a list of tasks `{"tool", "id", "arguments", "after"}`; `after` may be left out.
    An id begins with a letter, and up to 31 letters, digits and `_` follow.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "the first one", "arguments": { "query": "boats" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "invalid-plan"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateTask(PlanProblem):
    """Two tasks of a plan have the same id.

    Tasks read each other's output by id, so each needs one of its own.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [
      { "tool": "Search", "id": "t1", "arguments": { "query": "boats" } },
      { "tool": "Search", "id": "t1", "arguments": { "query": "harbours" } }
    ]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "duplicate-task"

    id: str
    first: str
    """Where the first one stands, as a JSON Pointer."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"another task has the id `{self.id}` too"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTool(PlanProblem):
    """A task of a plan calls a tool that the plan was not given.

    Only what `Plan(…)` names can be called.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [{ "tool": "Serch", "id": "t1", "arguments": { "query": "boats" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "unknown-tool"

    tool: str
    known: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no tool `{self.tool}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        if self.nearest or not self.known:
            return did_you_mean(self.nearest)
        listed = ", ".join(f"`{tool}`" for tool in self.known[:12])
        return f"the tools are {listed}{', …' if len(self.known) > 12 else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DanglingTask(PlanProblem):
    """A task reads or waits for a task that is not in the plan.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": { "query": { "from": "t7.topic" } } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "dangling-task"

    id: str
    nearest: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there is no task `{self.id}` in this plan"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return did_you_mean(self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class CircularPlan(PlanProblem):
    """Tasks of a plan wait for each other, so none of them can begin.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [
      { "tool": "Search", "id": "t1", "arguments": { "query": { "from": "t2" } } },
      { "tool": "Search", "id": "t2", "arguments": { "query": "boats" }, "after": ["t1"] }
    ]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "circular-plan"

    ids: tuple[str, ...]
    """The tasks of one circle, each of which waits for the next."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if len(self.ids) == 1:
            return f"the task `{self.ids[0]}` waits for itself"
        shown = self.ids if len(self.ids) <= 6 else (*self.ids[:5], "…")
        return f"tasks wait for each other: {' → '.join(f'`{each}`' for each in (*shown, self.ids[0]))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingArgument(PlanProblem):
    """A call leaves out an argument that is needed.

    ```json tools.json
    {
      "Search": {
        "activity": "Search_Activity",
        "arguments": { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }
      }
    }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": {} }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "missing-argument"

    callee: str
    """What is called."""
    argument: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.callee}` needs the argument `{self.argument}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownArgument(PlanProblem):
    """A call gives an argument that what is called does not take.

    In a plan that includes the arguments which the program gives itself: nobody else can set them.

    ```json tools.json
    {
      "Search": {
        "activity": "Search_Activity",
        "arguments": { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }
      }
    }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": { "query": "boats", "limt": 3 } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "unknown-argument"

    callee: str
    """What is called."""
    argument: str
    nearest: tuple[str, ...] = ()
    bound: bool = False
    """Whether the program gives this argument itself."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.bound:
            return f"the argument `{self.argument}` of `{self.callee}` is given by the program and cannot be changed"
        return f"`{self.callee}` has no argument `{self.argument}`"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "leave it out" if self.bound else did_you_mean(self.nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongArgument(PlanProblem):
    """An argument of a task is certainly not what its tool takes.

    A value is checked against the schema of the argument.
    The output of another task is checked by its schema: only if no output could fit is that a problem.

    ```json tools.json
    {
      "Search": {
        "activity": "Search_Activity",
        "arguments": { "type": "object", "properties": { "limit": { "type": "integer" } } }
      }
    }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "t1", "arguments": { "limit": "a few" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```
    """

    name: ClassVar[str] = "wrong-argument"

    callee: str
    """What is called."""
    argument: str
    """Its name; empty where all of them together are wrong."""
    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        which = f"the argument `{self.argument}`" if self.argument else "the arguments"
        return f"{which} of `{self.callee}` {'does' if self.argument else 'do'} not fit: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotForPlans(Problem):
    """A plan can call only activities and processes.

    What stands in the brackets of `Plan(…)` is a tool: an activity of the server, or a process.
    What a model or a person does comes as a process.

    ```aug agent.aug
    const act = Act(prompt, { plan: Plan(Confirm_User) });
    RunPlan_Activity(act.plan)
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    ```json schemas/confirm_User.vibe.json
    { "type": "object", "properties": { "decision": { "type": "string" } } }
    ```

    Name an activity, or put the step into a program of its own and name that.
    """

    name: ClassVar[str] = "not-for-plans"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` is no tool that a plan can call"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "tools are activities (`Search_Activity`) and processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedPlan(Problem):
    """`Plan(…)` or `OneOf(…)` stands where no property is filled.

    Both are schemas: they say what a property may be, so they stand in braces, under the name of that property.

    ```aug agent.aug
    Act(prompt) | Plan(Search_Activity)
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    ```json schemas/search_Activity.vibe.json
    { "type": "object", "properties": { "hits": { "type": "array" } } }
    ```

    Write it in the braces of a step: `Act(prompt, { plan: Plan(Search_Activity) })`.
    """

    name: ClassVar[str] = "misplaced-plan"

    word: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.word}` stands only in the braces of a step"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write it under the name of a property: `Act({{ property: {self.word}(…) }})`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAPlan(Problem):
    """`RunPlan_Activity` is given something that no `Plan(…)` has filled.

    Which tools a plan may call is said by `Plan(…)`, where the property is filled; nothing else can be carried out.

    ```aug agent.aug
    const act = Act(prompt);
    RunPlan_Activity(act.plan)
    ```

    ```json schemas/act.vibe.json
    { "type": "object", "properties": { "plan": {} } }
    ```

    Let a `Plan(…)` fill the property: `Act(prompt, { plan: Plan(Search_Activity) })`.
    """

    name: ClassVar[str] = "not-a-plan"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "this is no plan: no `Plan(…)` fills it"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return "fill the property with `Plan(…)` in the braces of the step, and hand on its path: `act.plan`"
