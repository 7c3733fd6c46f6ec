"""Find tool calls in plain text, where a server passes on what a model wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from instrc.providers.lifting.call_notations import (
    PARALLEL,
    SEARCHED_TEXT,
    CallsIn,
    call_at,
    named_call,
    python_calls,
    separate_calls,
    separated,
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

SEARCHED_STARTS: Final = 100
"""Places of a text from which on JSON is tried to be read."""
_NAMED = re.compile(
    r"<(?P<holder>tool_call|tool_use|invoke|function_call|use_mcp_tool|tool)>\s*(?:<server_name>[^<]*+</server_name>\s*)?"
    r"<(?P<label>tool_name|name|function_name)>(?P<name>[^<]*+)</(?P=label)>"
)
_TOOL_AND_INPUT = re.compile(r"<tool>(?P<name>[^<]*+)</tool>\s*<tool_input>")
_WITH_NAME = re.compile(r"<(?P<holder>tool|tool_call|tool_use)\s+name=(?P<mark>[\"'])(?P<name>[^\"'<>]+)(?P=mark)\s*>")
_ARGUMENTS = re.compile(r"\s*<(?P<tag>arguments|parameters|input|args|params)>(?P<body>.*)</(?P=tag)>\s*\Z", re.DOTALL)
_CHILD = re.compile(r"<(?P<key>[^\W\d][\w.-]*+)>")
_ATTRIBUTE = re.compile(r"\s+(?P<key>[^\W\d][\w.-]*+)=(?P<mark>[\"'])(?P<value>[^\"'<>]*+)(?P=mark)")


def calls_in_elements(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Return the calls of our tools that elements of a text are, and the text around them."""
    result: list[CallsIn] = []
    for begun in _beginnings(text, names):
        if result and begun.start < result[-1].end:
            continue
        stop = text.find(begun.closing, begun.inside)
        call = _call(begun, text[begun.inside : stop]) if stop >= 0 else None  # what has no end may have been cut off
        if call is not None:
            result.append(CallsIn(begun.start, stop + len(begun.closing), [call]))
    return taken_out(text, result)


class _Begun(NamedTuple):
    """The beginning of a call in a text."""

    start: int
    inside: int
    """Where what it holds begins."""
    name: str
    closing: str
    attributes: dict[str, Json]


def _beginnings(text: str, names: frozenset[str]) -> list[_Begun]:
    """Return where calls of our tools may begin, in their order."""
    result: list[_Begun] = [
        _Begun(match.start(), match.end(), match["name"].strip(), f"</{holder or match['holder']}>", {})
        for form, holder in ((_NAMED, None), (_WITH_NAME, None), (_TOOL_AND_INPUT, "tool_input"))
        for match in form.finditer(text)
    ]
    own = re.compile(rf"<(?P<name>{'|'.join(map(re.escape, sorted(names)))})(?P<attributes>(?:\s[^<>]*?)?)(?P<end>/?)>")
    for match in own.finditer(text):
        attributes: dict[str, Json] = {item["key"]: item["value"] for item in _ATTRIBUTE.finditer(match["attributes"])}
        if not _ATTRIBUTE.sub("", match["attributes"]).strip():
            closing = "" if match["end"] else f"</{match['name']}>"
            result.append(_Begun(match.start(), match.end(), match["name"], closing, attributes))
    return sorted((begun for begun in result if begun.name in names), key=lambda begun: begun.start)[:SEARCHED_STARTS]


def _call(begun: _Begun, inside: str) -> RawCall | None:
    """Return the call in a name and the content of its element, or `None` if that is text."""
    held = _ARGUMENTS.match(inside)
    body = held["body"] if held else inside
    if body.strip().startswith("{"):
        call = raw_call(begun.name, body)
        return call if isinstance(call.arguments, dict) and not begun.attributes else None
    children = _children(body)
    if children is None or (begun.attributes and children):
        return None
    keys = [key for key, _ in children]
    repeated = tuple(dict.fromkeys(key for key in keys if keys.count(key) > 1))
    return RawCall(begun.name, begun.attributes or dict(children), repeated=repeated)


def _children(body: str) -> list[tuple[str, Json]] | None:
    """Return the elements that a text consists of, or `None` if there is other text between them."""
    result: list[tuple[str, Json]] = []
    place = len(body) - len(body.lstrip())
    while place < len(body):
        opened = _CHILD.match(body, place)
        if opened is None:
            return None
        closing = f"</{opened['key']}>"
        end = body.find(closing, opened.end())
        if end < 0:
            return None
        result.append((opened["key"], body[opened.end() : end].removeprefix("\n").removesuffix("\n")))
        place = end + len(closing)
        place += len(body[place:]) - len(body[place:].lstrip())
    return result


_MARK = re.compile(r"^[ \t]*```(?P<language>[\w-]*)[ \t]*$", re.MULTILINE)
_OBJECT = re.compile(r"\{\s*\"")
_AROUND_CALLS = re.compile(
    r"</?(?:[|｜‖]DSML[|｜‖]|\w+:)?(?:tool_?calls?|function_calls?|TOOLCALL|tools)>"
    r"|<[|｜‖](?:DSML[|｜‖])?/?tool[_▁]calls?(?:[_▁]section)?(?:[_▁:](?:begin|start|end))?[|｜]>"
    r"|<\|/?(?:tool_calls?|tools):(?:begin|start|end)\|>|\[/?TOOL_CALLS\]"
    r"|<[|｜](?:end[_▁]of[_▁]sentence|end▁of▁sentence|im_end|eo[tm]_id|call|return|end)[|｜]>|</s>"
)
"""Marks around all calls of a text, and behind it, which are no words for anybody."""


class KnownTools(NamedTuple):
    """The tools of which a text may hold calls."""

    names: frozenset[str]
    owns: Callable[[Json], bool] = lambda _: False
    """Says whether an object is a value of the only tool, so that it is no call: `{"search": {…}}` where `search` is a key."""


class InText(NamedTuple):
    """The content of a text."""

    calls: list[RawCall]
    rest: str
    """The text around the calls, thoughts left out."""
    unended: bool = False
    """Whether the text is nothing but thoughts without an end."""


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
    tools = tools._replace(names=tools.names | {PARALLEL})
    for search in (_reason_and_act, _fenced, _in_elements, _in_python, _behind_names, _lone):
        if calls or len(said) > SEARCHED_TEXT:
            break
        calls, rest = search(said, tools)
    return InText(calls, rest.strip() if calls else said)


def _is_json(text: str) -> bool | None:
    """Return whether a text is one JSON value, so that marks inside of it are quotations, or `None` if it is one that is cut."""
    begun = text.strip()
    if not begun.startswith(("{", "[", "```")):
        return False
    read = raw_call(None, begun)
    whole = read.unreadable is None and read.loose is None
    return whole or (None if begun.startswith("{") and ends_early(begun) else False)


_ACTION = re.compile(r"^(?:Action|Tool):[ \t]*(?P<name>\S+)[ \t]*\n+(?:(?:Action|Tool) )?(?:Input|Arguments):\s*", re.MULTILINE)


def _reason_and_act(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read `Action:` and `Action Input:`; text after an `Observation:` is invented by the model."""
    said, _, _ = text.partition("\nObservation:")
    result: list[CallsIn] = []
    for action in _ACTION.finditer(said):
        read = value_at(said, action.end())
        if read is not None and action["name"] in tools.names and not (result and action.start() < result[-1].end):
            result.append(CallsIn(action.start(), read[1], [call_at(action["name"], said, action.end(), read)]))
    return taken_out(said, result)


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


def _in_elements(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    return calls_in_elements(text, tools.names)


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


_IN_TEXT_BEHIND_NAME = re.compile(
    r"^[ \t]*(?:to=|@)?(?:(?:functions|tools|default_api)\.)?(?P<name>[\w-]+(?:\.[\w-]+)*+)"
    r"(?:[ \t]*(?P<bracket>\()|[ \t]*(?::|=>|->)?)\s*(?=\{)",
    re.MULTILINE,
)
_CLOSED = re.compile(r"\s*\)[ \t]*;?[ \t]*(?=\n|\Z)")
_LINE_END = re.compile(r"[ \t]*;?[ \t]*(?=\n|\Z)")


def _behind_names(text: str, tools: KnownTools) -> tuple[list[RawCall], str]:
    """Read objects behind the names of tools, each on lines of its own: `weather{"city": "Oslo"}`, `weather({city: "Oslo"})`."""
    taken: list[CallsIn] = []
    for begun in islice(_IN_TEXT_BEHIND_NAME.finditer(text), SEARCHED_STARTS):
        if begun["name"] not in tools.names or (taken and begun.start() < taken[-1].end):
            continue
        read = value_at(text, begun.end())
        behind = (_CLOSED if begun["bracket"] else _LINE_END).match(text, read[1]) if read is not None else None
        if read is not None and behind is not None:
            result, stop = call_at(begun["name"], text, begun.end(), read), behind.end()
        else:
            inside = re.sub(r"\)\s*;?\s*\Z", "", text[begun.end() :]) if begun["bracket"] else text[begun.end() :]
            result, stop = raw_call(begun["name"], inside), len(text)
        if result.unreadable is None and isinstance(result.arguments, dict):
            taken.append(CallsIn(begun.start(), stop, [*separated(result)]))
    return taken_out(text, taken)


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
    if several := separate_calls(value):
        return several
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
