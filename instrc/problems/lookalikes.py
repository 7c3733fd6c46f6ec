"""Letters of other scripts that look like Latin letters: a name that contains one is a different name."""

from __future__ import annotations

import unicodedata

_CYRILLIC = "аАвВеЕкКМНоОрРсСтТуУхХіІјЈѕЅԁԛԝһ"
_LATIN_FOR_CYRILLIC = "aABBeEkKMHoOpPcCTTyYxXiIjJsSdqwh"
_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανοιυρ"
_LATIN_FOR_GREEK = "ABEZHIKMNOPTYXavoiup"
_LATIN = dict(zip(_CYRILLIC, _LATIN_FOR_CYRILLIC.replace("BB", "bB", 1).replace("TT", "tT", 1), strict=True))
_LATIN |= dict(zip(_GREEK, _LATIN_FOR_GREEK, strict=True))
_OTHER: dict[str, str] = {}
for _letter, _looks in _LATIN.items():
    if _letter in _CYRILLIC:
        _OTHER.setdefault(_looks, _letter)


def strange_letter(word: str) -> str | None:
    """Say which letter of a word only looks like a letter of the script of the other letters, if there is one."""
    known = [script for letter in word if (script := _script(letter))]
    if len(set(known)) < 2:
        return None
    most = max(set(known), key=known.count)
    twins = _LATIN if most == "Latin" else _OTHER
    for part in word.split("_"):
        strange = [letter for letter in part if _script(letter) not in {"", most}]
        if len({_script(letter) for letter in part} - {""}) == 1 and not all(letter in twins for letter in strange):
            continue  # a whole word of another script, as in `Составить_User`
        for letter in strange:
            if letter in twins:
                return f"`{letter}` in it is {_script(letter)} (U+{ord(letter):04X}) and only looks like `{twins[letter]}`"
    return None


def twin(word: str) -> str | None:
    """Return the Latin word that a word looks like letter by letter; `None` if it is Latin or has letters of its own."""
    latin = "".join(_LATIN.get(letter, letter) for letter in word)
    return latin if latin != word and latin.isascii() else None


_TYPED = dict(zip("йцукенгшщзфывапролдячсмить", "qwertyuiopasdfghjklzxcvbnm", strict=True))
"""The letters of a keyboard with the Russian layout, as the same keys have them with the Latin layout."""


def typed_on_latin(word: str) -> str | None:
    """Return the word that the same keys give with the Latin layout; `None` if it is not all Cyrillic letters of such keys."""
    latin = [_TYPED.get(letter) or (_TYPED.get(letter.lower(), "").upper()) for letter in word if letter not in "_0123456789"]
    if not latin or not all(latin):
        return None
    return "".join(_TYPED.get(letter) or _TYPED.get(letter.lower(), "").upper() or letter for letter in word)


def _script(letter: str) -> str:
    return next(
        (script for script in ("Latin", "Cyrillic", "Greek") if unicodedata.name(letter, "").startswith(script.upper())), ""
    )
