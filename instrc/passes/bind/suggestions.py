"""Offer names for one that stands for nothing: names that can be typed where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from instrc.ir.fusion import Instruction
from instrc.ir.surface import Binding, Name
from instrc.limits import SUGGESTED_NAMES
from instrc.naming import pascal
from instrc.problems.lookalikes import twin
from instrc.problems.suggest import nearest, plain
from instrc.source import Span


def suggestions(
    name: Name, locals_: Mapping[str, Binding], inputs: Mapping[str, Span | None], vibes: Iterable[str], reserved: Iterable[str]
) -> tuple[str, ...]:
    """Return up to three names that may have been meant, the likeliest first.

    The name that is being defined where `name` stands is left out, and vibes are spelled as names of the language.
    """
    values = _values(name, locals_, inputs)
    spelled = {vibe: _in_style_of(name.text, vibe) for vibe in vibes}
    known = [*values, *sorted(reserved), *spelled]
    near = [spelled.get(each, each) for each in nearest(name.text, known)]
    looks_like = twin(name.text)
    same = [spelled.get(each, each) for each in known if looks_like in {each, spelled.get(each)}] if looks_like else []
    return tuple(dict.fromkeys([*same, *near, *_completions(name.text, values)]))[:SUGGESTED_NAMES]


def misspelt_value(name: Name, locals_: Mapping[str, Binding], inputs: Mapping[str, Span | None]) -> bool:
    """Tell whether a bare name is probably a slip for a local name or an input, not an instruction still to be written."""
    text = name.span.source.text
    called = text[name.span.end : name.span.end + 100].lstrip()[:1] == "("
    values = _values(name, locals_, inputs)
    return not called and name.text[:1].islower() and bool(nearest(name.text, values) or _completions(name.text, values))


def _values(name: Name, locals_: Mapping[str, Binding], inputs: Mapping[str, Span | None]) -> list[str]:
    """Return the local names and inputs that can be read where a name stands."""
    here = name.span
    return [
        *(
            local
            for local, binding in locals_.items()
            if not (binding.span.source is here.source and binding.span.start <= here.start < binding.span.end)
        ),
        *inputs,
    ]


def _completions(word: str, values: Iterable[str]) -> list[str]:
    """Return the values whose names begin with a word: `participants` for `p`."""
    return [value for value in values if plain(value).startswith(plain(word))]


def _in_style_of(word: str, vibe: str) -> str:
    """Return the name of a vibe as the author of `word` would write it: vibes are found in any case style."""
    if word[:1].isupper() and "-" not in word:
        instruction = Instruction(vibe, None, None)
        return pascal(instruction.stem) + vibe.removeprefix(instruction.stem)
    return vibe if vibe.isidentifier() else vibe.replace("-", "_")
