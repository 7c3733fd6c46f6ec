"""Problems with plans in the format of TaskBench: mistakes of models that make a call impossible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.plans import PlanProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInText(PlanProblem):
    r"""A plan is in a text that contains more than JSON: other words, or the marks of a code block.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    { "id": "1", "result": "Here it is: {\"task_nodes\": [{\"task\": \"Translation\", \"arguments\": [\"Hello\"]}]}" }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    `instrc plan import --repair` reads the object in the text.
    """

    name: ClassVar[str] = "plan-in-text"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "the plan is in a text that contains more than JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class OddArguments(PlanProblem):
    """The arguments of a task do not have the form that the kind of the tool needs.

    A tool with input types takes a list of texts, one with parameters a list of `{"name", "value"}`.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    { "task_nodes": [{ "task": "Translation", "arguments": "Hello" }] }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Write the arguments as the tool needs them, here `["Hello"]`.
    """

    name: ClassVar[str] = "odd-arguments"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SurplusArgument(PlanProblem):
    """A task has more arguments than its tool takes.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    { "task_nodes": [{ "task": "Translation", "arguments": ["Hello", "French"] }] }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Remove the argument, or use a tool that takes it.
    """

    name: ClassVar[str] = "surplus-argument"

    callee: str
    takes: int
    given: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.callee}` takes {self.takes or 'no'} argument{'' if self.takes == 1 else 's'}, not {self.given}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentOrder(PlanProblem):
    """The arguments of a task are not in the order of the types of its tool.

    ```json tools.json
    { "nodes": [{ "id": "Image Editing", "desc": "", "input-type": ["text", "image"], "output-type": ["image"] }] }
    ```
    ```json plan.json
    { "task_nodes": [{ "task": "Image Editing", "arguments": ["example.jpg", "make it blue"] }] }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    `instrc plan import --repair` orders them by type.
    """

    name: ClassVar[str] = "argument-order"

    callee: str
    types: tuple[str, ...]

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"the arguments of `{self.callee}` are not in the order {', '.join(self.types)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsDiffer(PlanProblem):
    """The number of steps in words differs from the number of tasks.

    Only the tasks are carried out.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    {
      "task_steps": ["Step 1: Translate the text", "Step 2: Read it"],
      "task_nodes": [{ "task": "Translation", "arguments": ["Hello"] }]
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Correct the words, or add the task that is missing.
    """

    name: ClassVar[str] = "steps-differ"
    severity = "warning"

    steps: int
    tasks: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"there are {self.steps} steps in words for {self.tasks} task{'' if self.tasks == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedPlan(PlanProblem):
    """Something in a plan was read with its most likely meaning.

    ```json tools.json
    { "nodes": [{ "id": "Image Editing", "desc": "", "input-type": ["text", "image"], "output-type": ["image"] }] }
    ```
    ```json plan.json
    { "task_nodes": [{ "task": "image_editing", "arguments": ["make it blue", "example.jpg"] }] }
    ```
    ```console
    $ instrc plan import plan.json --tools tools.json --repair
    ```

    Read the list of repairs; if a meaning is wrong, correct the plan.
    """

    name: ClassVar[str] = "repaired-plan"
    severity = "warning"

    mistake: str
    """The name of the repaired problem."""
    before: str
    after: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.before}` is read as `{self.after}` ({self.mistake})"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexportablePlan(PlanProblem):
    """Something in a plan cannot be expressed in the format of TaskBench.

    In that format an argument is the whole output of a task; it can be neither a part of it nor a copy for each element.

    ```json tools.json
    { "nodes": [{ "id": "find", "desc": "", "parameters": [{ "name": "what", "type": "string", "desc": "" }] }] }
    ```
    ```json plan.json
    [
      { "tool": "Find", "id": "a", "arguments": { "what": "boats" } },
      { "tool": "Find", "id": "b", "arguments": { "what": { "each": "a" } } }
    ]
    ```
    ```console
    $ instrc plan export plan.json --tools tools.json
    ```

    Write a separate task for each element, or keep the plan in the format of `instrc`.
    """

    name: ClassVar[str] = "unexportable-plan"

    reason: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return self.reason
