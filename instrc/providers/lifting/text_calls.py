"""Find tool calls in plain text, where a server passes on what a model wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from instrc.providers.lifting.call_notations import (
    SEARCHED_TEXT,
    CallsIn,
    named_call,
    python_calls,
    tagged,
    taken_out,
    value_at,
)
from instrc.providers.lifting.reply import (
    RawCall,
    ends_early,
    raw_call,
    strip_reasoning,
    with_repeated,
)
from instrc.text.jsontext import repeated_keys
from instrc.text.jsonvalue import Json


class KnownTools(NamedTuple):
    """The tools of which a text may hold calls."""

    names: frozenset[str]
    owns: Callable[[Json], bool] = lambda _: False
    """Returns whether an object is a value of the only tool rather than a call: `{"search": {…}}` where `search` is a key."""


class InText(NamedTuple):
    """The content of a text."""

    calls: list[RawCall]
    rest: str
    """Text around the calls, without thoughts."""
    unended: bool = False
    """Whether the text consists of unfinished thoughts only."""


def extract_tool_calls(text: str, tools: KnownTools) -> InText:
    """Return the calls of tools in a text."""
    said, unended = strip_reasoning(text)
    if unended:
        return InText([], "", unended=True)
    if (is_json := _is_json(said)) is True:
        calls = _fenced(said, tools)[0] or _ours(said, tools)
        return InText(calls, "" if calls else said)
    calls, rest = tagged(said) if is_json is False else ([], said)
    rest = _AROUND_CALLS.sub("", rest) if calls else rest
    for search in (_fenced, _in_python, _lone):
        if calls or len(said) > SEARCHED_TEXT:
            break
        calls, rest = search(said, tools)
    return InText(calls, rest.strip() if calls else said)


_AROUND_CALLS = re.compile(
    r"</?(?:[|｜‖]DSML[|｜‖]|\w+:)?(?:tool_?calls?|function_calls?|TOOLCALL|tools)>"
    r"|<[|｜‖](?:DSML[|｜‖])?/?tool[_▁]calls?(?:[_▁]section)?(?:[_▁:](?:begin|start|end))?[|｜]>"
    r"|<\|/?(?:tool_calls?|tools):(?:begin|start|end)\|>|\[/?TOOL_CALLS\]"
    r"|<[|｜](?:end[_▁]of[_▁]sentence|end▁of▁sentence|im_end|eo[tm]_id|call|return|end)[|｜]>|</s>"
)
"""Markers around all calls of a text, and after it, which are not part of the prose."""


def _is_json(text: str) -> bool | None:
    """Return whether a text is one JSON value, so that marks inside of it are quotations, or `None` if it is one that is cut."""
    begun = text.strip()
    if not begun.startswith(("{", "[", "```")):
        return False
    read = raw_call(None, begun)
    whole = read.unreadable is None and read.loose is None
    return whole or (None if begun.startswith("{") and ends_early(begun) else False)


def _fenced(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read calls in fences of backticks."""
    result: list[CallsIn] = []
    for fence in _fences(text):
        calls = _ours(fence.body, tools)
        if not calls and fence.language in tools.names and (read := raw_call(fence.language, fence.body)).unreadable is None:
            calls = [read]
        if calls:
            result.append(CallsIn(fence.start, fence.end, calls))
    return taken_out(text, result)


class _Fence(NamedTuple):
    start: int
    end: int
    language: str
    body: str


_MARK = re.compile(r"^[ \t]*```(?P<language>[\w-]*)[ \t]*$", re.MULTILINE)


def _fences(text: str) -> Iterator[_Fence]:
    """Yield the text between lines of three backticks; a line that names a language opens, and never closes."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if opened is None:
            opened = mark
        elif not mark["language"]:
            yield _Fence(opened.start(), mark.end(), opened["language"], text[opened.end() : mark.start()])
            opened = None
    if opened is not None:  # a model may stop at the end of the value
        yield _Fence(opened.start(), len(text), opened["language"], text[opened.end() :])


def _ours(text: str, tools: KnownTools) -> list[RawCall]:
    """Return the calls of our tools that a text is, as JSON or nearly so."""
    read = raw_call(None, text)
    if read.unreadable is not None:
        return []
    result = calls_of_known_tools(read.arguments, tools)
    return [*with_repeated(result if read.loose is None else [replace(call, loose=text) for call in result], read.repeated)]


def _in_python(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read calls as Python writes them, if a fence or the text is nothing else."""
    read = ((fence, python_calls(fence.body)) for fence in _fences(text))
    result = [CallsIn(fence.start, fence.end, calls) for fence, calls in read if calls and _all_ours(calls, tools)]
    if result:
        return taken_out(text, result)
    calls = python_calls(text) if text.rstrip().endswith((")", ")]")) else []
    return (calls, "") if calls and _all_ours(calls, tools) else ([], text)


def _all_ours(calls: list[RawCall], tools: KnownTools) -> bool:
    return all(call.name in tools.names for call in calls)


_LINE_END = re.compile(r"[ \t]*;?[ \t]*(?=\n|\Z)")


SEARCHED_STARTS: Final = 100
"""Maximum positions in a text at which parsing JSON is tried."""
_OBJECT = re.compile(r"\{\s*\"")


def _lone(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read calls as objects somewhere in the text, such as behind `Action:`, or as a list that is all of it."""
    if whole := _ours(text, tools):
        return whole, ""
    result: list[CallsIn] = []
    end = 0
    for _ in range(SEARCHED_STARTS):
        begin = _OBJECT.search(text, end)
        if begin is None:
            break
        value, end = value_at(text, begin.start()) or (None, begin.end())
        if calls := calls_of_known_tools(value, tools):
            result.append(CallsIn(begin.start(), end, [*with_repeated(calls, repeated_keys(text[begin.start() : end], value))]))
    return taken_out(text, result)


def fenced_value(text: str) -> tuple[RawCall, str] | None:
    """Return the object or list in the last fence of a text that has one, and the text around it, or `None` if there is none."""
    for fence in reversed(list(_fences(text[:SEARCHED_TEXT]))):
        call = raw_call(None, fence.body)
        if call.unreadable is None and isinstance(call.arguments, dict | list):
            return call, (text[: fence.start] + text[fence.end :]).strip()
    return None


_OBJECT_ON_A_LINE = re.compile(r"^[ \t]*(?=\{\s*\")", re.MULTILINE)


def lone_value(text: str) -> tuple[RawCall, str] | None:
    """Return the only object of a text that begins a line and ends one, and the text around it, or `None` if there is none."""
    if len(text) > SEARCHED_TEXT:
        return None
    result: list[tuple[Json, int, int]] = []
    for begun in islice(_OBJECT_ON_A_LINE.finditer(text), SEARCHED_STARTS):
        read = None if result and begun.start() < result[-1][2] else value_at(text, begun.end())
        if read is not None and _LINE_END.match(text, read[1]):
            result.append((read[0], begun.start(), read[1]))
    if len(result) != 1:
        return None
    [(_, start, end)] = result
    return raw_call(None, text[start:end]), (text[:start] + text[end:]).strip()


def calls_of_known_tools(value: Json, tools: KnownTools) -> list[RawCall]:
    """Return the calls of our tools in a value, or none if any of it is something else."""
    if tools.owns(value):
        return []
    if isinstance(value, dict) and isinstance(listed := value.get("tool_calls"), list):
        value = listed
    calls = [named_call(item) or _by_key(item, tools.names) for item in (value if isinstance(value, list) else [value])]
    return (
        [call for call in calls if call is not None]
        if all(call is not None and call.name in tools.names for call in calls)
        else []
    )


def _by_key(value: Json, names: frozenset[str]) -> RawCall | None:
    """Return the call that an object is whose only key is the name of a tool of ours."""
    [(name, arguments)] = value.items() if isinstance(value, dict) and len(value) == 1 else [("", None)]
    return RawCall(name, arguments) if name in names and isinstance(arguments, dict) else None
