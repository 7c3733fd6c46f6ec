"""Places in JSON text, found when they are asked for: only the containers on the way to a part are looked at, each once.

`instrc.jsonreader.read` finds the places of all parts, which takes long where a few of many texts have a mistake.
"""

from __future__ import annotations

import re
from json import decoder

from instrc.jsonreader import JsonText, ValueOffsets, parse_json
from instrc.jsonvalue import tokens

_SPACE = re.compile(r"[ \t\n\r]*")
_READER = decoder.JSONDecoder(parse_int=len, parse_float=len)
"""Only where a value ends is of interest."""
_TIMES = 8
"""So often may a text be passed over, container by container, before it is read as a whole: one that is deep and long."""


class JsonPlaces:
    """The places of the parts of a JSON text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._members: dict[int, dict[str | int, ValueOffsets]] = {}
        """By the place where a container begins: its parts."""
        self._read: JsonText | None = None
        self._left = _TIMES * len(text)

    def place(self, pointer: str) -> ValueOffsets:
        """Return where a JSON Pointer leads to, or the innermost part on the way that exists.

        `JsonSyntaxError` if the text is not JSON.
        """
        if self._read is None:
            try:
                return self._found(pointer)
            except (ValueError, IndexError, RecursionError):  # no JSON, or too deep for this way
                self._read = parse_json(self.text)
        return self._read.place(pointer)

    def _found(self, pointer: str) -> ValueOffsets:
        start = self._skip(0)
        if -1 not in self._members:
            end = self._end(start)
            if self._skip(end) < len(self.text):
                return parse_json(self.text).place(pointer)  # which says that the text goes on
            self._members[-1] = {"": ValueOffsets(start, end, start, end)}
        member = self._members[-1][""]
        for token in tokens(pointer):
            opening = self.text[member.start]
            if opening not in "[{":
                break
            if member.start not in self._members:
                self._members[member.start] = self._parts(member)
            key: str | int = int(token) if opening == "[" and token.isdecimal() else token
            found = self._members[member.start].get(key)
            if found is None:
                break
            member = found
        return member

    def _parts(self, container: ValueOffsets) -> dict[str | int, ValueOffsets]:
        """Return the parts of a container; of a key that is written twice the last one counts."""
        text = self.text
        is_object = text[container.start] == "{"
        self._left -= container.end - container.start
        if self._left < 0:
            raise RecursionError
        found: dict[str | int, ValueOffsets] = {}
        position = self._skip(container.start + 1)
        while text[position] not in "]}":
            key: str | int = len(found)
            key_start = key_end = position
            if is_object:
                key, key_end = _READER.raw_decode(text, position)
                position = self._skip(self._skip(key_end) + 1)  # behind the colon
            end = self._end(position)
            found[key] = ValueOffsets(key_start, key_end, position, end)
            position = self._skip(end)
            if text[position] == ",":
                position = self._skip(position + 1)
        return found

    def _end(self, start: int) -> int:
        return _READER.raw_decode(self.text, start)[1]

    def _skip(self, position: int) -> int:
        space = _SPACE.match(self.text, position)
        return position if space is None else space.end()
