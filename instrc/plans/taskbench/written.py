"""The arguments of a task as they are written: a list of texts, or of `{name, value}`, and what models write instead."""

from __future__ import annotations

from typing import NamedTuple

from instrc.ir.bench import BenchTool
from instrc.jsonvalue import Json
from instrc.plans.taskbench.named_record import NamedRecord
from instrc.plans.taskbench.tags import ReferenceTag, tags_in
from instrc.problems.plans import PlanProblem


class WrittenArgument(NamedTuple):
    """One argument as it was written, and what it refers to."""

    key: str | None
    value: Json
    number: int
    """Of its task."""
    position: int
    tags: tuple[ReferenceTag, ...] = ()
    """The references in it."""
    target: str | None = None
    """The id of the task it stands for."""


def arguments_of(record: NamedRecord, node: Json, number: int) -> tuple[list[WrittenArgument], list[PlanProblem]]:
    """Return the arguments of a task as they are written, and what is odd about that."""
    tool = record.tools[number]
    problems: list[PlanProblem] = []
    written = node.get("arguments") if isinstance(node, dict) else None
    if isinstance(node, dict) and "task" in node and written is None and tool is not None and tool.slots:
        problems.append(record.odd("there are no arguments", number))
    if isinstance(written, str):
        problems.append(record.odd("the arguments are one text, no list", number))
        written = [written] if written else []
    if isinstance(written, dict):
        named = written.keys() == {"name", "value"}
        if tool is None or tool.kind == "resource" or named:
            problems.append(record.odd("the arguments are an object, no list", number))
        elif tool.kind == "temporal":
            problems.append(record.odd("the arguments are an object by name, no list of `{name, value}`", number))
        written = [written] if named else [{"name": name, "value": value} for name, value in written.items()]
    if written is not None and not isinstance(written, list):
        return [], [*problems, record.odd("the arguments are not a list", number)]
    found: list[WrittenArgument] = []
    for position, each in enumerate(written or ()):
        argument, reason = _argument(tool, each, number, position)
        found.append(argument)
        problems += [] if reason is None else [record.odd(reason, number, position)]
    return found, problems


def _argument(tool: BenchTool | None, each: Json, number: int, position: int) -> tuple[WrittenArgument, str | None]:
    """Return an argument, and what is odd about it."""
    name: str | None = None
    reason: str | None = None
    value = each
    if isinstance(each, dict) and "value" in each and isinstance(said := each.get("name"), str):
        value = each["value"]
        if tool is not None and tool.kind == "resource":
            reason = "an argument is an object, where the tool takes a list of texts"
        else:
            name = said
    elif tool is not None and tool.kind == "temporal":
        reason = "an argument is not an object with a `name` and a `value`"
    tags = tuple(tags_in(value)) if isinstance(value, str) and "<" in value else ()
    return WrittenArgument(name, value, number, position, tags), reason
