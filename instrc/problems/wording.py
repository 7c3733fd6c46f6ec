"""Names as parts of a sentence, and a hint that several problems give."""

from __future__ import annotations


def types_in_words(names: tuple[str, ...]) -> str:
    """Return types as the object of a sentence: `an array`, `a number or a string`."""
    shown = ["null" if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in names]
    return " or ".join(shown)


def one_of(names: tuple[str, ...]) -> str:
    """Return names as a choice: `` `a` or `b` ``."""
    return " or ".join(f"`{name}`" for name in names)


OF_RUNS = frozenset({"model", "temperature", "retries", "retry", "max_tokens", "maxTokens", "provider", "seed", "top_p"})
"""What other systems write into a step and is a choice of a run here."""
CHOSEN_FOR_RUNS = "models, retries and the like are chosen when a program is run, not in the program: remove it"
