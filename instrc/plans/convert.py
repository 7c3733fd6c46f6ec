"""A plan from one spelling to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from instrc.ir.tasks import Reference
from instrc.jsonvalue import Json
from instrc.plain_values import takes_plain_values
from instrc.plans.reading import read_tasks
from instrc.plans.spelling import uniform_text
from instrc.plans.tools import PlanTool, ToolSet
from instrc.problems.plans import PlanProblem


@takes_plain_values
def typed_plan(plan: Json, tools: Json | Mapping[str, object] | Sequence[object]) -> Json:
    """Return a plan with its arguments as an object.

        tools = {"find": {"activity": "find", "arguments": {"properties": {"text": {"type": "string"}}}}}
        task = {"tool": "find", "id": "found", "arguments": [{"name": "text", "is": "value", "text": "a bank"}]}
        [typed] = instrc.typed_plan([task], tools)
        assert typed["arguments"] == {"text": "a bank"}

    What is no task is left out; `check_plan` tells it, and says what `tools` may be.
    """
    ignored: list[PlanProblem] = []
    return [task.to_json() for _, task in read_tasks(plan, ToolSet(tools), ignored.append)]


@takes_plain_values
def uniform_plan(plan: Json, tools: Json | Mapping[str, object] | Sequence[object]) -> Json:
    """Return a plan with its arguments as a list of `{ name, is, text }`.

        tools = {"find": {"activity": "find", "arguments": {"properties": {"text": {"type": "string"}}}}}
        [task] = instrc.uniform_plan([{"tool": "find", "id": "found", "arguments": {"text": "a bank"}}], tools)
        assert task["arguments"] == [{"name": "text", "is": "value", "text": "a bank"}]

    What is no task is left out; `check_plan` tells it, and says what `tools` may be.
    """
    known = ToolSet(tools)
    ignored: list[PlanProblem] = []
    return [
        {
            "tool": task.tool,
            "id": task.id,
            "arguments": [_entry(name, value, known.get(task.tool)) for name, value in task.arguments.items()],
            "after": list(task.after),
        }
        for _, task in read_tasks(plan, known, ignored.append)
    ]


def _entry(name: str, value: Json | Reference, tool: PlanTool | None) -> Json:
    if isinstance(value, Reference):
        return {"name": name, "is": value.kind, "text": str(value)}
    return {"name": name, "is": "value", "text": uniform_text(value, name, tool)}
