"""Replace the names of properties in descriptions with those that are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from instrc.schema.walk import map_schemas
from instrc.text.jsonvalue import Json
from instrc.tools.tool import Hint

_USUAL_HINT = re.compile(r"^Use .+\.$", re.MULTILINE)
"""The usual form of hints, for a schema whose hints are unknown, such as one read from a file."""
_QUOTES = "`\"'«»“”„"


class Mentions:
    """Replacements of names in texts by those that are sent."""

    def __init__(self, sent: Mapping[str, str], hints: Sequence[Hint] | None = None) -> None:
        """`sent` is what is sent for each name that changes, `hints` are those in the texts, `None` if they are unknown."""
        self._sent = dict(sent)
        words = sorted((name for name in sent if name), key=len, reverse=True)
        self._any = _matching(words)
        self._sure = _matching([name for name in words if not name.isalpha()])
        changed = {hint.text: new for hint in hints or () if (new := self._in_hint(hint)) != hint.text}
        longest_first = "|".join(map(re.escape, sorted(changed, key=len, reverse=True)))
        self._hints = _USUAL_HINT if hints is None else re.compile(longest_first or r"(?!)")
        self._changed_hints = changed

    def in_text(self, text: str) -> str:
        """Return a text with the names of properties as they are sent."""
        if not any(name in text for name in self._sent):
            return text
        text = self._hints.sub(self._hint_replaced, text)
        text = self._any.sub(self._quoted, text)
        return self._sure.sub(self._replaced, text)

    def in_schema(self, schema: Json) -> Json:
        """Return a schema with such descriptions; the same object if nothing changes."""
        if not self._sent or not isinstance(schema, dict):
            return schema
        return map_schemas(schema, self._described)

    def _described(self, node: Json) -> Json:
        text = node.get("description") if isinstance(node, dict) else None
        if not isinstance(node, dict) or not isinstance(text, str) or (new := self.in_text(text)) == text:
            return node
        return {**node, "description": new}

    def _replaced(self, match: re.Match[str]) -> str:
        return self._sent[match.group()]

    def _hint_replaced(self, match: re.Match[str]) -> str:
        known = self._changed_hints.get(match.group())
        return self._any.sub(self._replaced, match.group()) if known is None else known

    def _in_hint(self, hint: Hint) -> str:
        """Return the text of a hint with the names in its paths as they are sent."""
        built, end = [], 0
        for start, stop in hint.paths:
            built += [hint.text[end:start], self._any.sub(self._replaced, hint.text[start:stop])]
            end = stop
        return "".join([*built, hint.text[end:]])

    def _quoted(self, match: re.Match[str]) -> str:
        text, start, end = match.string, match.start(), match.end()
        quoted = start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES
        return self._sent[match.group()] if quoted or _in_path(text, start, end) else match.group()


def _matching(words: list[str]) -> re.Pattern[str]:
    """Return a pattern for any of the words as a whole word."""
    if not words:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, words))})(?!\w)")


def _in_path(text: str, start: int, end: int) -> bool:
    """Return whether a word is joined to another one by a dot."""
    after, before = text[end : end + 2], text[max(start - 2, 0) : start]
    return (after[:1] == "." and after[1:].isidentifier()) or (before[1:] == "." and f"_{before[:1]}".isidentifier())
