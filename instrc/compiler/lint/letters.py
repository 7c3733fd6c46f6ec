"""Find letters that a reader does not see, or takes for others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from instrc import problems
from instrc.problems.problem import Problem
from instrc.problems.suggest import strange_letter, twin
from instrc.text.source import Source
from instrc.text.visible import HIDDEN


def misleading(source: Source) -> Iterator[Problem]:
    """Yield one warning, at the first such letter, that names the first few."""
    if not source.text.isascii() and (shown := dict(islice(_found(source.text), _MOST))):
        start = min(map(source.text.index, shown))
        yield problems.text.MisleadingText(at=source.span(start, start + 1), signs="; ".join(shown.values()))


_MOST = 5


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Yield each such letter and word, with what it is."""
    yield from ((letter, f"U+{ord(letter):04X} is not seen") for letter in dict.fromkeys(re.findall(HIDDEN, text)))
    listed = re.findall(r"[^\W\d]\w{0,99}", text)
    around = zip(listed, ["", *listed], [*listed[1:], ""], strict=False)
    bare = {word for word, before, after in around if len(word) > 1 or (before + after).isascii()}  # a letter may be a word
    words = dict.fromkeys(listed)
    for word in words:
        latin = None if word.isascii() or word not in bare else twin(word)
        if not word.isascii() and (said := strange_letter(word) or (latin in words and f"it only looks like `{latin}`")):
            yield word, f"in `{word}`, {said}"
