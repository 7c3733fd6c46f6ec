"""Write the names of properties in descriptions as they are sent: `Use step1_найти.` beside the key `step1_nayti` misleads.

A word is taken for the name of a property if it could be nothing else: it has a sign or a digit in it (`step1_найти`, `$score`),
it stands in quotes or backticks, or the sentence is a hint of the compiler, which lists names (`Use тема, имя.`).
An ordinary word of a text (`Полное имя`) stays, though a property may be called so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from instrc.jsonvalue import Json
from instrc.schema.walk import map_schemas

_HINT = re.compile(r"^Use .+\.$", re.MULTILINE)
_QUOTES = "`\"'«»“”„"


class Mentions:
    """The names that are sent in place of others, found in texts."""

    def __init__(self, sent: Mapping[str, str]) -> None:
        """`sent` is what is sent for each name that changes."""
        self._sent = dict(sent)
        words = sorted((name for name in sent if name), key=len, reverse=True)
        self._any = _matching(words)
        self._sure = _matching([name for name in words if not name.isalpha()])

    def in_text(self, text: str) -> str:
        """Return a text that names properties as they are sent."""
        if not any(name in text for name in self._sent):
            return text
        text = _HINT.sub(lambda hint: self._any.sub(self._replaced, hint.group()), text)
        text = self._any.sub(self._quoted, text)
        return self._sure.sub(self._replaced, text)

    def in_schema(self, schema: Json) -> Json:
        """Return a schema whose descriptions do; what does not change stays the same object."""
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

    def _quoted(self, match: re.Match[str]) -> str:
        text, start, end = match.string, match.start(), match.end()
        quoted = start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES
        return self._sent[match.group()] if quoted else match.group()


def _matching(words: list[str]) -> re.Pattern[str]:
    """Return what matches each of the words where it stands for itself."""
    if not words:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, words))})(?!\w)")
