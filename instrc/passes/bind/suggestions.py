"""Offer names for one that stands for nothing: names that can be typed where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from instrc.ir.fusion import Instruction
from instrc.ir.surface import Binding, Name, Uri
from instrc.limits.programs import SUGGESTED_NAMES
from instrc.naming import pascal
from instrc.passes.bind.scopes import Scope
from instrc.passes.instructions import InstructionTable
from instrc.problems.problem import CompileError, Problem
from instrc.problems.suggest import comparison_key, nearest, twin, typed_on_latin
from instrc.problems.vibes import UnresolvedReference

_NEXT = re.compile(r"[ \t]+(\w+)")
_BEFORE = re.compile(r"(\w+)[ \t]+\Z")
_LOOKED_BACK = 100
"""Characters before a name in which the word before it begins."""


_ELSEWHERE = {
    "previous": frozenset({"prev", "last", "prior", "earlier", "lastround", "previousround"}),
    "rounds": frozenset({"history", "iterations", "attempts", "results", "scratchpad"}),
    "round": frozenset({"i", "n", "idx", "index", "iteration", "attempt", "counter", "count", "step"}),
    "error": frozenset({"e", "ex", "exc", "err", "exception", "failure", "reason"}),
}
"""How other languages call what blocks give."""
_ELEMENTS = frozenset({"item", "element", "elem", "it", "x", "i", "current", "this", "self", "value", "each"})
"""How other languages call an element."""


def suggestions(name: Name, scope: Scope, vibes: Sequence[str], reserved: Iterable[str]) -> tuple[str, ...]:
    """Return up to three names that may have been meant, the likeliest first; none once too many were compared.

    The name that is being defined where `name` stands is left out, and vibes are spelled as names of the language.
    """
    if not scope.program.offers.may_compare(scope.count() + len(vibes)):
        return ()
    values, own = _values(name, scope)
    given = scope.all_given()
    spelled = {vibe: _in_style_of(name.text, vibe) for vibe in vibes}
    known = (*values, *sorted(reserved), *spelled)  # the same for each name of a program, so that it is prepared once
    without = own.difference(reserved, spelled)
    near = [spelled.get(each, each) for each in nearest(name.text, known, without=without)]
    looks_like = {comparison_key(word) for word in (twin(name.text), typed_on_latin(name.text), _with_next_word(name)) if word}
    seen = [each for each in known if each not in without] if looks_like else []
    same = [spelled.get(each, each) for each in seen if comparison_key(each) in looks_like]
    words = [each for each in given if comparison_key(name.text) in _ELSEWHERE.get(each, _ELEMENTS)]
    return tuple(dict.fromkeys([*same, *words, *near, *_completions(name.text, values, own)]))[:SUGGESTED_NAMES]


def _values(name: Name, scope: Scope) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the names of values that are visible at the place of a name, and those of them that it cannot read."""
    locals_ = scope.visible()
    return (*scope.all_given(), *locals_, *scope.inputs), _defined_here(name, locals_).difference(scope.inputs)


def _with_next_word(name: Name) -> str | None:
    """Return a name with the word that follows it: `find slot` for `find_slot`."""
    end = name.span.end
    found = _NEXT.match(name.span.source.text, end)
    return name.text + found[1] if found else None


def is_second_word(name: Name, vibes: Iterable[str]) -> bool:
    """Tell whether a name and the word before it are together the name of a vibe: the word before it is told."""
    found = _BEFORE.search(name.span.source.text, max(0, name.span.start - _LOOKED_BACK), name.span.start)
    return found is not None and any(comparison_key(found[1] + name.text) == comparison_key(vibe) for vibe in vibes)


def misspelt_value(name: Name, scope: Scope) -> bool:
    """Tell whether a bare name is probably a slip for a local name or an input, not an instruction still to be written."""
    text = name.span.source.text
    called = text[name.span.end : name.span.end + 100].lstrip()[:1] == "("
    if called or not name.text[:1].islower() or not scope.program.offers.may_compare(scope.count()):
        return False
    values, own = _values(name, scope)
    return bool(nearest(name.text, values, without=own) or _completions(name.text, values, own))


def similar_values(name: Name, scope: Scope) -> tuple[str, ...]:
    """Return the names of values that may have been meant by the name of an instruction."""
    if not scope.program.offers.may_compare(scope.count()):
        return ()
    values, own = _values(name, scope)
    aliases = {local for local, binding in scope.visible().items() if isinstance(binding.value, Name | Uri)}
    return nearest(name.text, tuple(value for value in values if value not in aliases), without=own)


def _defined_here(name: Name, locals_: Mapping[str, Binding]) -> frozenset[str]:
    """Return the local names whose values hold a name: they cannot be read there."""
    here = name.span
    return frozenset(
        local
        for local, binding in locals_.items()
        if binding.span.source is here.source and binding.span.start <= here.start < binding.span.end
    )


def _completions(word: str, values: tuple[str, ...], without: frozenset[str]) -> list[str]:
    """Return the values whose names begin with a word: `participants` for `p`."""
    start = comparison_key(word)
    return [value for value, key in zip(values, _keys(values), strict=True) if key.startswith(start) and value not in without]


@lru_cache(maxsize=4)
def _keys(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(comparison_key, values))


def _in_style_of(word: str, vibe: str) -> str:
    """Return the name of a vibe as the author of `word` would write it: vibes are found in any case style."""
    if word[:1].isupper() and "-" not in word:
        instruction = Instruction(vibe, None, None)
        return pascal(instruction.base_name) + vibe.removeprefix(instruction.base_name)
    return vibe.replace("-", "_")


def with_programs(problem: Problem, reference: str, instructions: InstructionTable) -> Problem:
    """Return a problem that offers programs as well, where a reference in a program leads nowhere."""
    if not isinstance(problem, UnresolvedReference) or problem.nearest:
        return problem
    document, mark, _ = reference.partition("#")
    for sign in "./":
        head, _, export = document.rpartition(sign)
        if head and not mark and _is_program(head, instructions):
            return replace(problem, nearest=(f"{head}#{export}",))
    registry = instructions.registry
    name = document.rpartition("/")[2].removeprefix("aug:")
    uris = [uri for near in nearest(name, registry.program_names()) for uri in registry.lookup_program(near)]
    return replace(problem, nearest=tuple(uris[:SUGGESTED_NAMES]))


def _is_program(reference: str, instructions: InstructionTable) -> bool:
    try:
        return instructions.program(reference, None) is not None
    except CompileError:
        return False
