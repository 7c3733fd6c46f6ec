"""What the grammar lets stand at a place: the automaton reads what is before it, and says which words it would take."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from instrc.lsp.session import TextDocument
from instrc.syntax.tables import CONTEXTUAL, END, Tables, tables

_NAMED_ANEW = frozenset({"CONST", "LET", "TOOL", "INPUT", "EACH"})
"""Words behind which a name is made up."""
_READS = frozenset({"WHEN", "UNTIL", "OR", "IN"})
"""Words behind which a value is read, by its name or a path."""
_ENDS = frozenset({"NAME", "AUG_URI", "NUMBER", "STRING", "METRIC", "RPAR", "RSQB", "RBRACE"})
"""Tokens with which an expression may end."""

_FOLLOWING = {
    **dict.fromkeys(("CONST", "TOOL", "INPUT", "WHEN", "EACH", "UNTIL", "OR", "IN"), "NAME"),
    "MAX": "NUMBER",
    "KEEP": "NUMBER",
    "IS": "STRING",
}
"""The token behind a word that is no key: `const` may be one, as in `{ const: Draft }`."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What can stand at a place."""

    instructions: bool
    """Whether an expression can begin here, which may call an instruction."""
    values: bool
    """Whether the name of a value can stand here."""
    _automaton: Tables | None = None
    _states: list[int] = field(default_factory=list)
    _behind_expression: bool = False
    """Whether an expression stands before the place, on the same line."""

    def word(self, word: str) -> bool:
        """Tell whether a word of the language can stand here, with what has to follow it."""
        kind = word.upper()
        if self._automaton is None:
            return self.values
        if self._behind_expression and kind not in CONTEXTUAL:
            return False  # it would begin another statement, without a `;`
        return self._automaton.accept(self._states, kind, _FOLLOWING.get(kind, "LBRACE"))


_ANYTHING = Expected(instructions=True, values=True)
_NOTHING = Expected(instructions=False, values=False)


def expected(document: TextDocument, offset: int) -> Expected:
    """Return what can stand at an offset, in place of the word that is being typed there."""
    automaton = tables()
    text = document.source.text
    while offset and (text[offset - 1].isalnum() or text[offset - 1] in "_$"):
        offset -= 1
    cuts = document.segments.cuts
    place = bisect_right(cuts, offset)
    states, kinds, end = _read(text, cuts[place - 1] if place else 0, offset, automaton)
    if states is None:
        return _ANYTHING
    if _in_annotation(kinds):
        return _NOTHING
    last = kinds[-1] if kinds else ""
    behind = last in _ENDS and "\n" not in text[end:offset]
    named = automaton.accept(states, "NAME") and last not in _NAMED_ANEW and not behind
    return Expected(named and last not in _READS, named, automaton, states, behind)


def _read(text: str, place: int, offset: int, automaton: Tables) -> tuple[list[int] | None, list[str], int]:
    """Return the states of the automaton before an offset, the tokens there, and where the last one ends.

    No states where a mistake stands before the offset.
    """
    states = [0]
    kinds: list[str] = []
    end = place
    while True:
        found = automaton.lexer.match(text, place, offset)
        kind = None if found is None else found.lastgroup
        if found is None or kind is None:
            return None, kinds, end
        place = found.end(kind)
        if kind == "COMMENT":
            continue
        if kind == END or found.start(kind) >= offset:
            return states, kinds, end
        if (kind in CONTEXTUAL or kind == "AUG_URI") and not automaton.accept(states, kind):
            kind = "NAME"
        if not _shift(states, kind, automaton):
            return None, kinds, end
        kinds.append(kind)
        end = place


def _shift(states: list[int], kind: str, automaton: Tables) -> bool:
    """Read one token; tell whether the grammar has a place for it."""
    table = automaton.states
    while (action := table[states[-1]].get(kind)) is not None:
        if action >= 0:
            states.append(action)
            return True
        rule = automaton.rules[~action]
        del states[len(states) - rule.length :]
        states.append(table[states[-1]][rule.origin])
    return False


def _in_annotation(kinds: list[str]) -> bool:
    """Tell whether the last token is inside of the braces of an annotation, which hold JSON."""
    open_braces: list[bool] = []
    before = ""
    for kind in kinds:
        if kind in {"LBRACE", "LSQB", "LPAR"}:
            open_braces.append((before == "AT" and kind == "LBRACE") or (bool(open_braces) and open_braces[-1]))
        elif kind in {"RBRACE", "RSQB", "RPAR"} and open_braces:
            open_braces.pop()
        before = kind
    return bool(open_braces) and open_braces[-1]
