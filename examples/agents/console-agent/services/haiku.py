"""`POST /generate_haiku {theme}`: three lines of 5, 7 and 5 syllables about a theme, and how they were counted."""

from __future__ import annotations

import random
import re
from typing import Any
from zlib import crc32

from serve import main

FORM = (5, 7, 5)
_ENDS = {
    0: ("",),
    1: ("ждёт", "спит", "вновь", "здесь"),
    2: ("и снег", "и дождь", "и ночь", "и свет"),
    3: ("тишина", "и заря", "и туман", "далеко"),
    4: ("и тишина", "у тихих вод", "за той горой"),
}
_SEVENS = ("капля с ветки сорвалась", "лунный луч лежит в траве", "ветер листья шевелит", "лодка спит у берегов")
_FIVES = ("старый тихий пруд", "след на берегу", "дым над крышами", "тает первый снег")
_RUSSIAN = frozenset("аеёиоуыэюя")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def syllables(text: str) -> int:
    """Count syllables: Russian ones by vowels, English ones by groups of vowels and a silent `e`."""
    return sum(_of_word(word.lower()) for word in _WORD.findall(text))


def _of_word(word: str) -> int:
    if re.search(r"[а-яё]", word):
        return sum(letter in _RUSSIAN for letter in word)
    groups = len(re.findall(r"[aeiouy]+", word))
    silent = word.endswith("e") and not re.search(r"[^aeiouy]le$", word) and groups > 1
    ending = re.search(r"[^aeiouytd]ed$", word) is not None and groups > 1
    return max(groups - silent - ending, 1)


def compose(theme: str) -> list[str] | None:
    """Return three lines, the theme in the first or, if it is long, in the second; `None` if it fits neither."""
    draw = random.Random(crc32(theme.encode()))
    count = syllables(theme)
    first, second, third = draw.choice(_FIVES), draw.choice(_SEVENS), draw.choice(_FIVES)
    while third == first:
        third = draw.choice(_FIVES)
    if 1 <= count <= FORM[0] and FORM[0] - count in _ENDS:
        first = f"{theme} {draw.choice(_ENDS[FORM[0] - count])}".strip()
    elif FORM[0] < count <= FORM[1]:
        second = f"{theme} {draw.choice(_ENDS[FORM[1] - count])}".strip()
    else:
        return None
    return [first, second, third]


def answer(given: dict[str, Any]) -> dict[str, Any]:
    """Return a haiku with its counts, or an error."""
    theme = given.get("theme")
    if not isinstance(theme, str) or not theme.strip():
        return {"error": "the parameter `theme` is missing"}
    lines = compose(" ".join(theme.split()))
    if lines is None:
        return {"error": "a theme has 1 to 7 syllables"}
    return {
        "haiku_text": "\n".join(lines),
        "syllables_per_line": [syllables(line) for line in lines],
        "total_words": sum(len(_WORD.findall(line)) for line in lines),
    }


if __name__ == "__main__":
    main("/generate_haiku", answer, 8002)
