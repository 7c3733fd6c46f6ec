"""Names as parts of a sentence."""

from __future__ import annotations


def types_in_words(names: tuple[str, ...]) -> str:
    """Return types as the object of a sentence: `an array`, `a number or a string`."""
    shown = ["null" if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in names]
    return " or ".join(shown)


def one_of(names: tuple[str, ...]) -> str:
    """Return names as a choice: `` `a` or `b` ``."""
    return " or ".join(f"`{name}`" for name in names)
