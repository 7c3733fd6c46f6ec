"""Words of other languages, and words of the language as people misspell them.

They write them in another case, with wrong letters, or with another keyboard layout.
"""

from __future__ import annotations

from instrc.durations import from_words, is_duration
from instrc.source import Span


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOREIGN = _words(
    """
    and as assert async await break call case catch class continue def del delete elif elseif elsif enum except
    execute export extends finally fn for foreach from func function global goto if import include insert interface
    invoke lambda match namespace new nonlocal not or package pause pipeline private process protected public raise
    require return run select self sleep static struct switch then this throw type unless update use using val var
    wait where while with workflow yield
    """
)
"""Words that begin a statement in other languages."""
FOREIGN_BESIDE = frozenset({"if", "for", "foreach", "while", "switch", "catch", "unless"})
"""Words that look like a call: `if (x)`."""
FOREIGN_WITH_BRACKETS = frozenset({"catch", "for", "foreach", "function", "if", "switch", "while"})
HANDLING = frozenset({"catch", "except", "finally", "rescue"})
"""Words behind the body of a `try` in other languages."""
NEGATED = {
    "when": "put what is to happen otherwise behind `else`, or write `PATH is false` or `PATH @ { not: { … } }`",
    "repeat": "write `until PATH is false`, or `until PATH @ { not: { … } }`",
}
"""What to write in place of `not`, by the block whose condition it stands in."""
_DEFINING = ("const", "let", "tool", "input")
_BLOCKS = ("when", "each", "repeat", "try", "do", "else")
_OTHERS = {"constant": "const", "inputs": "input", "tools": "tool", "foreach": "each"}
_INPUTS = frozenset({"param", "params", "parameter", "arg", "argument", "inputs", "variable"})
"""Words for what a program is given, in other systems."""
_SHORTEST = 4
"""Letters of a word of the language that a name with one wrong letter may have been."""


def is_foreign(word: str) -> bool:
    """Tell whether a word begins a statement elsewhere; those of SQL are often in capital letters."""
    return word in FOREIGN or (word.isupper() and word.lower() in FOREIGN)


def misspelt_definition(word: str) -> str | None:
    """Return the word before `NAME = …` that a word may have been."""
    return _near(word, _DEFINING)


def misspelt_input(word: str) -> str | None:
    """Return `input` if a word before a name alone may have been that."""
    return "input" if word.casefold() in _INPUTS or _near(word, ("input",)) else None


def misspelt_block(word: str) -> str | None:
    """Return the word before the head or the braces of a block that a word may have been."""
    return _near(word, _BLOCKS)


def _near(word: str, keywords: tuple[str, ...]) -> str | None:
    from instrc.problems.suggest import is_a_slip_of, twin, typed_on_latin  # asked about few programs

    if word in keywords:
        return None
    for read in (word, twin(word) or "", typed_on_latin(word) or ""):
        lower = read.casefold()
        if lower in keywords and word != lower:
            return lower
        if _OTHERS.get(lower) in keywords:
            return _OTHERS[lower]
    slips = [each for each in keywords if len(each) >= _SHORTEST and is_a_slip_of(word.casefold(), each)]
    return slips[0] if slips else None


def duration_behind(word: Span) -> str:
    """Return the duration in the brackets behind a word, as it is to be written; nothing if there is none."""
    text = word.source.text
    written = text[word.end : text.find(")", word.end)].strip("( \t\"'")
    return written if is_duration(written) else from_words(written) or ""
