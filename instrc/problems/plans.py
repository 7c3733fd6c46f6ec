"""Problems with a plan that a model or a person has made: its tasks, their tools and their references to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from instrc.problems.problem import Problem
from instrc.problems.suggest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProblem(Problem):
    """One mistake in a plan."""

    pointer: str = ""
    """Where in the plan, as a JSON Pointer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidPlan(PlanProblem):
    """Something in a plan is not a valid task.

    A plan is a list of tasks `{"tool", "id", "arguments", "after"}`; `after` may be left out.
    An id is a letter, followed by up to 31 letters, digits and `_`.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "the first one", "arguments": { "query": "boats" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Write every task in this form. Here the id can be `first`.
    """

    name: ClassVar[str] = "invalid-plan"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return self.reason


ToolsFault: TypeAlias = Literal["no tools", "no object", "no schema", "bare schema", "no arguments", "undescribed"]
"""How tools can be none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidTools(PlanProblem):
    """The tools for the check of a plan are neither an object nor a list of tools, or one of them is not a tool.

    An object has the tools by name, each with the schema of its `arguments`.
    In a list, each tool has a `name` and the schema of its `parameters`.
    The plan is not checked, because all its tools would be unknown.

    ```json tools.json
    ["Search"]
    ```
    ```json plan.json
    [{ "tool": "Search", "id": "first", "arguments": { "query": "boats" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Write `{ "Search": { "arguments": { "type": "object", … } } }`, or a list of tools as a provider accepts them.
    """

    name: ClassVar[str] = "invalid-tools"

    tool: str | None = None
    """The tool that is none."""
    fault: ToolsFault = "no tools"
    reason: str | None = None
    """Why a function or type of Python is no tool, where one is `undescribed`."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
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
        """One short sentence: the way out."""
        if self.fault == "undescribed":
            return 'annotate it with types that pydantic knows, or write `{ NAME: { "arguments": SCHEMA } }` in its place'
        return 'write `{ NAME: { "arguments": SCHEMA } }`, or a list of tools as a provider takes them'


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateTask(PlanProblem):
    """Two tasks of a plan have the same id.

    Tasks read each other's output by id, so each task needs a different id.

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

    Give one of them another id, here `t2`.
    """

    name: ClassVar[str] = "duplicate-task"

    id: str
    first: str
    """The place of the first one, as a JSON Pointer."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"another task also has the id `{self.id}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTool(PlanProblem):
    """A task of a plan calls a tool that is not one of the tools of the plan.

    Only the tools in `Plan(…)` can be called.

    ```json tools.json
    { "Search": { "activity": "Search_Activity", "arguments": { "type": "object", "properties": { "query": {} } } } }
    ```
    ```json plan.json
    [{ "tool": "Serch", "id": "t1", "arguments": { "query": "boats" } }]
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Use one of the tools of the plan: here `Search`.
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

    Write the id of a task of the plan, or add the task.
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

    Remove the reference, or the id in `after`, that closes the cycle.
    """

    name: ClassVar[str] = "circular-plan"

    ids: tuple[str, ...]
    """The tasks of one cycle, each of which waits for the next."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if len(self.ids) == 1:
            return f"the task `{self.ids[0]}` waits for itself"
        shown = self.ids if len(self.ids) <= 6 else (*self.ids[:5], "…")
        return f"tasks wait for each other: {' → '.join(f'`{each}`' for each in (*shown, self.ids[0]))}"
