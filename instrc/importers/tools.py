"""A tool as every kind of source describes it, and the names of files for tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from instrc.jsonvalue import Json, Location
from instrc.limits.incoming import TOOL_NAME, TOOL_NAME_BYTES
from instrc.naming import is_reserved, words
from instrc.problems.suggest import comparison_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTool:
    """One tool: its schemas are normalized, all else is as it was written."""

    name: str | None
    at: Location
    """Where it stands in what was given."""
    schema: Json
    """What it is given: the schema of its arguments."""
    schema_at: Location = ()
    description: str | None = None
    title: str | None = None
    """What people see instead of the name, where a kind has both."""
    result: Callable[[], Json] | None = None
    """Makes the schema of what it gives back; `None` if nothing is said."""
    extras: dict[str, Json] = field(default_factory=dict)
    """Further keywords for the root of the schema."""


_TAKEN_BY_THE_LANGUAGE = (
    *("Process", "StartProcess", "LaunchProcess", "LLM_Context", "Server_Context", "User_Context", "prompt"),
    *("Introspect_Mixin", "Loop_Mixin", "SelfEvaluate_Mixin"),
)


def kebab(name: str) -> str:
    """Return the name of a tool's vibe: `get-user` for `getUser`, `get.user` and `GET USER`; empty if no letter is in it."""
    said = words(name)
    kept: list[str] = []
    for word in said:
        if len("-".join([*kept, word])) > TOOL_NAME or len("-".join([*kept, word]).encode()) > TOOL_NAME_BYTES:
            break
        kept.append(word)
    text = "-".join(kept) or "".join(said)[:TOOL_NAME].encode()[:TOOL_NAME_BYTES].decode("utf-8", "ignore")
    return f"tool-{text}" if text and not text[0].isalpha() else text


class FileNames:
    """Names that every file system takes and no other has, as the registry compares them: without case and separators."""

    def __init__(self) -> None:
        self._taken = set(map(comparison_key, _TAKEN_BY_THE_LANGUAGE))

    def free(self, name: str) -> str:
        """Return the name, or one with a number, and take it."""
        for candidate in _candidates(name):
            if comparison_key(candidate) not in self._taken and not is_reserved(candidate):
                self._taken.add(comparison_key(candidate))
                return candidate
        raise AssertionError  # there is always a next number


def _candidates(name: str) -> Iterator[str]:
    yield name
    if comparison_key(name) in set(map(comparison_key, _TAKEN_BY_THE_LANGUAGE)) or is_reserved(name):
        yield f"{name}-tool"
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
