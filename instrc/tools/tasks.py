"""The tasks of a plan, in two spellings.

Typed arguments: `{"query": "boats", "limit": {"from": "t1.count"}}`.
Uniform ones: `[{"name": "query", "is": "value", "text": "boats"}, {"name": "limit", "is": "from", "text": "t1.count"}]`;
a text is used as is if the argument is a text; otherwise it is parsed as JSON if possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, JsonObject, JsonSyntaxError, as_text

ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
"""Pattern of a task's id."""
_STEP = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')
_PLAIN = re.compile(r'[^."]+')
ReferenceKind: TypeAlias = Literal["from", "each"]


class Reference(NamedTuple):
    """A task's output, or part of it, used as an argument."""

    kind: ReferenceKind
    """`from` passes the value on; `each` copies the task for every element of the value."""
    task: str
    """Id of the task that provides the value."""
    steps: tuple[str, ...] = ()
    """Keys and indexes (as digits) that lead into its output."""

    def __str__(self) -> str:
        return ".".join((self.task, *(step if _PLAIN.fullmatch(step) else dumps(step) for step in self.steps)))

    def to_json(self) -> Json:
        """Return the reference in argument form."""
        return {self.kind: str(self)}


class PlanTask(Struct, frozen=True):
    """One call of a tool."""

    tool: str
    id: str
    arguments: dict[str, Json | Reference]
    after: tuple[str, ...] = ()
    """Ids of tasks that it waits for without reading their output."""
    unread: frozenset[str] = frozenset()
    """Arguments that are present but not in argument syntax."""

    def references(self) -> Iterator[tuple[str, Reference]]:
        """Yield the arguments that refer to other tasks, by name."""
        for name, value in self.arguments.items():
            if value.__class__ is Reference:
                yield name, value

    @property
    def needs(self) -> tuple[str, ...]:
        """The ids of the tasks it waits for, without duplicates."""
        read = [value.task for value in self.arguments.values() if value.__class__ is Reference]
        return tuple(dict.fromkeys([*read, *self.after])) if read or self.after else ()

    @property
    def copied(self) -> bool:
        """Whether it runs once per element, so that its output is a list."""
        return any(value.__class__ is Reference and value.kind == "each" for value in self.arguments.values())

    def to_json(self) -> JsonObject:
        """Return the task in the typed spelling."""
        arguments: JsonObject = {
            name: value.to_json() if isinstance(value, Reference) else value for name, value in self.arguments.items()
        }
        task: JsonObject = {"tool": self.tool, "id": self.id, "arguments": arguments}
        return {**task, "after": list(self.after)} if self.after else task


def parse_reference(kind: ReferenceKind, text: str) -> Reference | None:
    """Parse `ID` or `ID.path`, or return `None`.  A step with a dot in it is written as a JSON string."""
    found = ID.match(text)
    if found is None:
        return None
    steps: list[str] = []
    at = found.end()
    while at < len(text):
        step = _STEP.match(text, at + 1) if text[at] == "." else None
        if step is None:
            return None
        try:
            steps.append(as_text(loads(step.group())) if step.group().startswith('"') else step.group())
        except JsonSyntaxError:  # a bad escape, or half of a pair of surrogates
            return None
        at = step.end()
    return Reference(kind, found.group(), tuple(steps))


def argument_value(text: str, *, raw: bool) -> Json:
    """Return the value of a text in the uniform spelling: the text if `raw`, or else its JSON value if it has one."""
    if raw:
        return text
    try:
        return loads(text)
    except (JsonSyntaxError, ValueError):
        return text


def argument_text(value: Json, *, raw: bool) -> str:
    """Return the text of a value in the uniform spelling."""
    if value.__class__ is str and argument_value(value, raw=raw) == value:
        return str(value)
    return dumps(value, indent=False)
