"""The arguments of a task as they are written: a list of texts, or of `{name, value}`, and what models write instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from instrc.jsonvalue import Json
from instrc.plans.taskbench.draft import Draft
from instrc.plans.taskbench.tags import Tag, tags_in


class Given(NamedTuple):
    """One argument as it was written, and what it refers to."""

    key: str | None
    value: Json
    number: int
    """Of its task."""
    position: int
    tags: tuple[Tag, ...] = ()
    """The references in it."""
    target: str | None = None
    """The id of the task it stands for."""


def arguments_of(draft: Draft, node: Json, number: int) -> Iterator[Given]:
    """Yield the arguments of a task as they are written."""
    tool = draft.tools[number]
    written = node.get("arguments") if isinstance(node, dict) else None
    if isinstance(node, dict) and "task" in node and written is None and tool is not None and tool.slots:
        draft.odd("there are no arguments", number)
    if isinstance(written, str):
        draft.odd("the arguments are one text, no list", number)
        written = [written] if written else []
    if isinstance(written, dict):
        named = written.keys() == {"name", "value"}
        if tool is None or tool.kind == "resource" or named:
            draft.odd("the arguments are an object, no list", number)
        elif tool.kind == "temporal":
            draft.odd("the arguments are an object by name, no list of `{name, value}`", number)
        written = [written] if named else [{"name": name, "value": value} for name, value in written.items()]
    if written is not None and not isinstance(written, list):
        draft.odd("the arguments are no list", number)
        return
    for position, each in enumerate(written or ()):
        yield _argument(draft, each, number, position)


def _argument(draft: Draft, each: Json, number: int, position: int) -> Given:
    tool = draft.tools[number]
    name: str | None = None
    value = each
    if isinstance(each, dict) and "value" in each and isinstance(each.get("name"), str):
        value = each["value"]
        if tool is not None and tool.kind == "resource":
            draft.odd("an argument is an object, where the tool takes a list of texts", number, position)
        else:
            said = each["name"]
            name = said if isinstance(said, str) else None
    elif tool is not None and tool.kind == "temporal":
        draft.odd("an argument is no object with a `name` and a `value`", number, position)
    tags = tuple(tags_in(value)) if isinstance(value, str) and "<" in value else ()
    return Given(name, value, number, position, tags)
