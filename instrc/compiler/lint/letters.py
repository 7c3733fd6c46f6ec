"""Find letters that a reader does not see, or takes for others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from instrc.problems.suggest import strange_letter, twin
from instrc.problems.text import MisleadingText
from instrc.text.source import Source
from instrc.text.visible import HIDDEN


def misleading(source: Source) -> Iterator[MisleadingText]:
    """Yield one warning, at the first such letter, that names the first few."""
    if source.text.isascii():
        return
    words = re.findall(r"[^\W\d]\w*", source.text)
    plain = {word for word in words if word.isascii()}
    found = {letter: f"U+{ord(letter):04X} is not seen" for letter in re.findall(HIDDEN, source.text)}
    for word in dict.fromkeys(words):
        if not word.isascii() and (
            said := strange_letter(word) or (twin(word) in plain and f"it only looks like `{twin(word)}`")
        ):
            found[word] = f"in `{word}`, {said}"
    if found:
        start = min(map(source.text.index, found))
        yield MisleadingText(at=source.span(start, start + 1), signs="; ".join([*found.values()][:_MOST]))


_MOST = 5
