"""Problems with how tasks of TaskBench refer to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from instrc.problems.plans import PlanProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class OddReference(PlanProblem):
    """A reference to the output of another task has an unknown spelling.

    It is written `<node-0>`, with the place of the task in the list.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    {
      "task_nodes": [
        { "task": "Translation", "arguments": ["Hello"] },
        { "task": "Translation", "arguments": ["<Node_0>.output"] }
      ]
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    `instrc plan import --repair` reads the spellings that models often use.
    """

    name: ClassVar[str] = "odd-reference"

    text: str
    meaning: str | None = None

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` is not a reference to a task"

    @property
    def hint(self) -> str | None:
        """One short sentence: the way out."""
        return f"write `{self.meaning}`" if self.meaning else "write `<node-0>`, with the place of the task in the list"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceInText(PlanProblem):
    """A reference to the output of another task is in the middle of a text.

    An argument is either a text or the output of a task; an output cannot be inserted into a text.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    {
      "task_nodes": [
        { "task": "Translation", "arguments": ["Hello"] },
        { "task": "Translation", "arguments": ["translate <node-0> again"] }
      ]
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Write the reference alone as the argument, `<node-0>`, or write the text without it.
    """

    name: ClassVar[str] = "reference-in-text"

    text: str

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.text}` is in the middle of a text"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralReferences(PlanProblem):
    """One argument refers to the outputs of several tasks.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    {
      "task_nodes": [
        { "task": "Translation", "arguments": ["Hello"] },
        { "task": "Translation", "arguments": ["Good bye"] },
        { "task": "Translation", "arguments": ["<node-0>, <node-1>"] }
      ]
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    Use a separate argument for each.
    """

    name: ClassVar[str] = "several-references"

    count: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"one argument refers to {self.count} tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedFromOne(PlanProblem):
    """References count the tasks from 1, but the first task is `<node-0>`.

    It is reported if the plan is valid when counted from 1, and is not valid when counted from 0.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    {
      "task_nodes": [
        { "task": "Translation", "arguments": ["Hello"] },
        { "task": "Translation", "arguments": ["<node-1>"] }
      ]
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    `instrc plan import --repair` counts them so.
    """

    name: ClassVar[str] = "counted-from-one"

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return "references in this plan count from 1; the first task is `<node-0>`"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictingLinks(PlanProblem):
    """The links of a plan contradict the arguments of its tasks.

    ```json tools.json
    { "nodes": [{ "id": "Translation", "desc": "", "input-type": ["text"], "output-type": ["text"] },
                { "id": "Summarization", "desc": "", "input-type": ["text"], "output-type": ["text"] }] }
    ```
    ```json plan.json
    {
      "task_nodes": [
        { "task": "Translation", "arguments": ["Hello"] },
        { "task": "Summarization", "arguments": ["<node-0>"] }
      ],
      "task_links": []
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    `instrc plan import --repair` takes them from the arguments.
    """

    name: ClassVar[str] = "contradicting-links"

    source: str
    target: str
    missing: bool
    """Whether it is in the arguments but not in the links; else it is in the links but not in the arguments."""

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        if self.missing:
            return f"`{self.target}` reads `{self.source}`, but no link says so"
        return f"a link leads from `{self.source}` to `{self.target}`, but no argument does"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousReference(PlanProblem):
    """A reference names a tool, but several tasks of the plan use that tool.

    ```json tools.json
    { "nodes": [{ "id": "find", "desc": "", "parameters": [{ "name": "what", "type": "string", "desc": "" }] },
                { "id": "tell", "desc": "", "parameters": [{ "name": "what", "type": "string", "desc": "" }] }] }
    ```
    ```json plan.json
    {
      "task_nodes": [
        { "task": "find", "arguments": [{ "name": "what", "value": "boats" }] },
        { "task": "find", "arguments": [{ "name": "what", "value": "ships" }] },
        { "task": "tell", "arguments": [{ "name": "what", "value": "find" }] }
      ],
      "task_links": [{ "source": "find", "target": "tell" }]
    }
    ```
    ```console
    $ instrc plan check plan.json --tools tools.json
    ```

    `instrc plan import --repair` takes the nearest earlier one.
    """

    name: ClassVar[str] = "ambiguous-reference"

    tool: str
    count: int

    @property
    def message(self) -> str:
        """One short sentence: what is wrong."""
        return f"`{self.tool}` refers to {self.count} tasks of this plan"
