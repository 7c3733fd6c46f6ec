"""References in arguments of TaskBench: `<node-0>`, and what models write instead."""

from __future__ import annotations

import re
from typing import NamedTuple

_EXACT = re.compile(r"<node-(\d{1,9})>")
_NODE = r"<\s*(?:node|task|step|generated)[-_#:\s]*\[?(\d{1,9})\]?(?:\.\w+)*\s*>(?:\.\w+)*"
_GENERATED = r"<\s*generated\s*>[-_\s]*(\d{1,9})"
_MEMBER = r"<\s*(?:task|tool)_nodes\[(\d{1,9})\](?:\.arguments\[(\d{1,9})\](?:\.value)?|\.\w+)*\s*>"
_NAMED = r"<\s*(?:output|result)s?[-_\s](?:of|from)[-_\s]([^<>]{1,200})>"
# no two repetitions of these stand side by side that a space could belong to: a hostile text must not take long
_ANY = re.compile(f"{_NODE}|{_GENERATED}|{_MEMBER}|{_NAMED}", re.IGNORECASE)


class ReferenceTag(NamedTuple):
    """A reference as it was written."""

    text: str
    node: int | None
    """The number of the task, as it was counted."""
    argument: int | None = None
    """The number of an argument of that task, if it is meant instead of the output."""
    tool: str | None = None
    """The name of the tool, where the task goes by that."""

    @property
    def is_exact(self) -> bool:
        """Whether it is written as it should be."""
        return _EXACT.fullmatch(self.text) is not None


def tags_in(text: str) -> list[ReferenceTag]:
    """Return the references in a text, in order."""
    return [_tag(found) for found in _ANY.finditer(text)] if "<" in text else []


def _tag(found: re.Match[str]) -> ReferenceTag:
    node, generated, member, argument, tool = found.groups()
    number = next((each for each in (node, generated, member) if each is not None), None)
    return ReferenceTag(
        found.group(), None if number is None else int(number), None if argument is None else int(argument), tool and tool.strip()
    )
