"""Find calls that a text writes as elements: `<weather><city>Oslo</city></weather>`, or with the name as an element of its own.

Cline, Roo and other agents ask models to write so, LangChain's XML agent and older prompts of Anthropic too.
Such elements are a call only under the name of a tool of ours, with nothing but elements or one JSON object inside.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from instrc.jsonvalue import Json
from instrc.lifting.replies.arguments import raw_call
from instrc.lifting.replies.reply import RawCall
from instrc.limits.payloads import SEARCHED_STARTS

_NAMED = re.compile(
    r"<(?P<holder>tool_call|tool_use|invoke|function_call|use_mcp_tool|tool)>\s*(?:<server_name>[^<]*+</server_name>\s*)?"
    r"<(?P<label>tool_name|name|function_name)>(?P<name>[^<]*+)</(?P=label)>"
)
_TOOL_AND_INPUT = re.compile(r"<tool>(?P<name>[^<]*+)</tool>\s*<tool_input>")
_WITH_NAME = re.compile(r"<(?P<holder>tool|tool_call|tool_use)\s+name=(?P<mark>[\"'])(?P<name>[^\"'<>]+)(?P=mark)\s*>")
_ARGUMENTS = re.compile(r"\s*<(?P<tag>arguments|parameters|input|args|params)>(?P<body>.*)</(?P=tag)>\s*\Z", re.DOTALL)
_CHILD = re.compile(r"<(?P<key>[^\W\d][\w.-]*+)>")
_ATTRIBUTE = re.compile(r"\s+(?P<key>[^\W\d][\w.-]*+)=(?P<mark>[\"'])(?P<value>[^\"'<>]*+)(?P=mark)")


class _Begun(NamedTuple):
    """The beginning of a call in a text."""

    start: int
    inside: int
    """Where what it holds begins."""
    name: str
    closing: str
    attributes: dict[str, Json]


def calls_in_elements(text: str, names: frozenset[str]) -> tuple[list[RawCall], str]:
    """Return the calls of our tools that elements of a text are, and the text around them."""
    calls: list[RawCall] = []
    rest: list[str] = []
    end = 0
    for begun in _beginnings(text, names):
        if begun.start < end:
            continue
        stop = text.find(begun.closing, begun.inside)
        call = _call(begun, text[begun.inside : stop]) if stop >= 0 else None  # what has no end may have been cut off
        if call is not None:
            calls.append(call)
            rest.append(text[end : begun.start])
            end = stop + len(begun.closing)
    return calls, "".join([*rest, text[end:]])


def _beginnings(text: str, names: frozenset[str]) -> list[_Begun]:
    """Return where calls of our tools may begin, in their order."""
    found: list[_Begun] = [
        _Begun(match.start(), match.end(), match["name"].strip(), f"</{holder or match['holder']}>", {})
        for form, holder in ((_NAMED, None), (_WITH_NAME, None), (_TOOL_AND_INPUT, "tool_input"))
        for match in form.finditer(text)
    ]
    own = re.compile(rf"<(?P<name>{'|'.join(map(re.escape, sorted(names)))})(?P<attributes>(?:\s[^<>]*?)?)(?P<end>/?)>")
    for match in own.finditer(text):
        attributes: dict[str, Json] = {each["key"]: each["value"] for each in _ATTRIBUTE.finditer(match["attributes"])}
        if not _ATTRIBUTE.sub("", match["attributes"]).strip():
            closing = "" if match["end"] else f"</{match['name']}>"
            found.append(_Begun(match.start(), match.end(), match["name"], closing, attributes))
    return sorted((begun for begun in found if begun.name in names), key=lambda begun: begun.start)[:SEARCHED_STARTS]


def _call(begun: _Begun, inside: str) -> RawCall | None:
    """Return the call that a name and what stands inside its element are; `None` if that is text."""
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
    """Return the elements that a text is made of; `None` if anything else stands between them."""
    found: list[tuple[str, Json]] = []
    place = len(body) - len(body.lstrip())
    while place < len(body):
        opened = _CHILD.match(body, place)
        if opened is None:
            return None
        closing = f"</{opened['key']}>"
        end = body.find(closing, opened.end())
        if end < 0:
            return None
        found.append((opened["key"], body[opened.end() : end].removeprefix("\n").removesuffix("\n")))
        place = end + len(closing)
        place += len(body[place:]) - len(body[place:].lstrip())
    return found
