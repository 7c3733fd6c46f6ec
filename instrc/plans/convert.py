"""A plan from one spelling to the other."""

from __future__ import annotations

from instrc.ir.tasks import Reference
from instrc.jsonvalue import Json
from instrc.plain_values import takes_plain_values
from instrc.plans.reading import read_tasks
from instrc.plans.spelling import uniform_text
from instrc.plans.tools import PlanTool, ToolSet
from instrc.problems.plans import PlanProblem


@takes_plain_values
def typed_plan(plan: Json, tools: Json) -> Json:
    """Return a plan with its arguments as an object; what is no task is left out, see `check_plan`."""
    ignored: list[PlanProblem] = []
    return [task.to_json() for _, task in read_tasks(plan, ToolSet(tools), ignored.append)]


@takes_plain_values
def uniform_plan(plan: Json, tools: Json) -> Json:
    """Return a plan with its arguments as a list of `{ name, is, text }`; what is no task is left out, see `check_plan`."""
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
