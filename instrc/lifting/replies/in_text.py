"""Find calls of tools in plain text, where a server hands through what a model wrote.

A server that was started with the parser for a model takes calls out of the text; one that was not leaves them in.
What stands between marks is a call, whatever its name.  What is merely shaped like one, in a fence of backticks, as a lone
object, as elements, as a call in Python, behind `Action:` or behind its name, must bear the name of a tool of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import raw_call
from instrc.lifting.replies.elements import calls_in_elements
from instrc.lifting.replies.in_python import python_calls
from instrc.lifting.replies.json_calls import named_call, value_at
from instrc.lifting.replies.parallel import PARALLEL, separate_calls, separated
from instrc.lifting.replies.reasoning import strip_reasoning
from instrc.lifting.replies.reply import RawCall
from instrc.lifting.replies.tagged import tagged
from instrc.limits.payloads import SEARCHED_STARTS, SEARCHED_TEXT

_MARK = re.compile(r"^[ \t]*```(?P<language>[\w-]*)[ \t]*$", re.MULTILINE)
_OBJECT = re.compile(r"\{\s*\"")


class InText(NamedTuple):
    """What a text holds."""

    calls: list[RawCall]
    rest: str
    """The text around the calls, thoughts left out."""
    unended: bool = False
    """Whether the text is nothing but thoughts without an end."""


def extract_tool_calls(text: str, names: frozenset[str]) -> InText:
    """Return the calls in a text; `names` are those of our tools."""
    said, unended = strip_reasoning(text)
    if unended:
        return InText([], "", unended=True)
    calls, rest = tagged(said)
    names |= {PARALLEL}
    for search in (_reason_and_act, _fenced, calls_in_elements, _in_python, _behind_names, _lone):
        if calls or len(said) > SEARCHED_TEXT:
            break
        calls, rest = search(said, names)
    return InText(calls, rest.strip() if calls else said)


def fenced_value(text: str) -> tuple[RawCall, str] | None:
    """Return the object or list in the last fence of a text that holds one, and the text around it; `None` if there is none."""
    for fence in reversed(list(_fences(text[:SEARCHED_TEXT]))):
        call = raw_call(None, fence.body)
        if call.unreadable is None and isinstance(call.arguments, dict | list):
            return call, (text[: fence.start] + text[fence.end :]).strip()
    return None


_OBJECT_ON_A_LINE = re.compile(r"^[ \t]*(?=\{\s*\")", re.MULTILINE)


def lone_value(text: str) -> tuple[RawCall, str] | None:
    """Return the only object of a text that begins a line and ends one, and the text around it; `None` if there is none."""
    if len(text) > SEARCHED_TEXT:
        return None
    found: list[tuple[Json, int, int]] = []
    for begun in islice(_OBJECT_ON_A_LINE.finditer(text), SEARCHED_STARTS):
        read = None if found and begun.start() < found[-1][2] else value_at(text, begun.end())
        if read is not None and _LINE_END.match(text, read[1]):
            found.append((read[0], begun.start(), read[1]))
    if len(found) != 1:
        return None
    [(_, start, end)] = found
    return raw_call(None, text[start:end]), (text[:start] + text[end:]).strip()


class _Fence(NamedTuple):
    start: int
    end: int
    language: str
    body: str


def _fences(text: str) -> Iterator[_Fence]:
    """Yield what stands between lines of three backticks; a line that names a language opens, and never closes."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if opened is None:
            opened = mark
        elif not mark["language"]:
            yield _Fence(opened.start(), mark.end(), opened["language"], text[opened.end() : mark.start()])
            opened = None
    if opened is not None:  # a model may stop at the end of the value
        yield _Fence(opened.start(), len(text), opened["language"], text[opened.end() :])


def calls_of_known_tools(value: Json, names: frozenset[str]) -> list[RawCall]:
    """Return the calls of our tools that a value is; none if any of it is something else."""
    if several := separate_calls(value):
        return several
    if isinstance(value, dict) and isinstance(listed := value.get("tool_calls"), list):
        value = listed
    calls = [named_call(item) or _by_key(item, names) for item in (value if isinstance(value, list) else [value])]
    return [call for call in calls if call is not None] if all(call is not None and call.name in names for call in calls) else []


def _ours(text: str, names: frozenset[str]) -> list[RawCall]:
    """Return the calls of our tools that a text is, as JSON or nearly so."""
    read = raw_call(None, text)
    if read.unreadable is not None:
        return []
    found = calls_of_known_tools(read.arguments, names)
    return found if read.loose is None else [replace(call, loose=text) for call in found]


def _by_key(value: Json, names: frozenset[str]) -> RawCall | None:
    """Return the call that an object is whose only key is the name of a tool of ours."""
    [(name, arguments)] = value.items() if isinstance(value, dict) and len(value) == 1 else [("", None)]
    return RawCall(name, arguments) if name in names and isinstance(arguments, dict) else None


def _fenced(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Read calls in fences of backticks."""
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for fence in _fences(text):
        found = _ours(fence.body, names)
        if not found and fence.language in names and (read := raw_call(fence.language, fence.body)).unreadable is None:
            found = [read]
        if found:
            calls += found
            rest.append(text[end : fence.start])
            end = fence.end
    return calls, "".join([*rest, text[end:]])


def _in_python(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Read calls as Python writes them, if a fence or the text is nothing else."""
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for fence in _fences(text):
        if (found := python_calls(fence.body)) and all(call.name in names for call in found):
            calls += found
            rest.append(text[end : fence.start])
            end = fence.end
    if calls:
        return calls, "".join([*rest, text[end:]])
    calls = python_calls(text) if text.rstrip().endswith((")", ")]")) else []
    return (calls, "") if calls and all(call.name in names for call in calls) else ([], text)


_ACTION = re.compile(r"^(?:Action|Tool):[ \t]*(?P<name>\S+)[ \t]*\n+(?:(?:Action|Tool) )?(?:Input|Arguments):\s*", re.MULTILINE)


def _reason_and_act(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Read `Action:` and `Action Input:`; what follows an `Observation:` is made up by the model."""
    said, _, _ = text.partition("\nObservation:")
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for action in _ACTION.finditer(said):
        read = value_at(said, action.end())
        if read is not None and action["name"] in names and action.start() >= end:
            calls.append(RawCall(action["name"], read[0]))
            rest.append(said[end : action.start()])
            end = read[1]
    return calls, "".join([*rest, said[end:]])


_BEHIND_NAME = re.compile(
    r"^[ \t]*(?:to=|@)?(?:(?:functions|tools|default_api)\.)?(?P<name>[\w-]+(?:\.[\w-]+)*+)"
    r"(?:[ \t]*(?P<bracket>\()|[ \t]*(?::|=>|->)?)\s*(?=\{)",
    re.MULTILINE,
)


def _behind_names(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Read objects behind the names of tools, each on lines of its own: `weather{"city": "Oslo"}`, `weather({city: "Oslo"})`."""
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for begun in islice(_BEHIND_NAME.finditer(text), SEARCHED_STARTS):
        if begun["name"] not in names or begun.start() < end:
            continue
        read = value_at(text, begun.end())
        behind = (_CLOSED if begun["bracket"] else _LINE_END).match(text, read[1]) if read is not None else None
        if read is not None and behind is not None:
            found, stop = RawCall(begun["name"], read[0]), behind.end()
        else:
            inside = re.sub(r"\)\s*;?\s*\Z", "", text[begun.end() :]) if begun["bracket"] else text[begun.end() :]
            found, stop = raw_call(begun["name"], inside), len(text)
        if found.unreadable is None and isinstance(found.arguments, dict):
            calls.append(found)
            rest.append(text[end : begun.start()])
            end = stop
    return [each for call in calls for each in separated(call)], "".join([*rest, text[end:]])


_CLOSED = re.compile(r"\s*\)[ \t]*;?[ \t]*(?=\n|\Z)")
_LINE_END = re.compile(r"[ \t]*;?[ \t]*(?=\n|\Z)")


def _lone(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Read calls as objects somewhere in the text, such as behind `Action:`, or as a list that is all of it."""
    if whole := _ours(text, names):
        return whole, ""
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for _ in range(SEARCHED_STARTS):
        begin = _OBJECT.search(text, end)
        if begin is None:
            break
        read = value_at(text, begin.start())
        found = calls_of_known_tools(read[0], names) if read is not None else []
        place = read[1] if read is not None else begin.end()
        rest.append(text[end : begin.start() if found else place])
        calls += found
        end = place
    return calls, "".join([*rest, text[end:]])
