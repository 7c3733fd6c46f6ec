"""What the grammar lets stand at a place: the automaton reads what is before it, and says which words it would take."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from instrc.lsp.before import TextBefore
from instrc.lsp.editor_session import TextDocument
from instrc.lsp.segments import Segments
from instrc.syntax.tables import CONTEXTUAL, Tables, tables

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
    before = TextBefore(automaton, text, _start(document.segments, offset), offset)
    if before.lost is not None:
        return _ANYTHING
    if _in_annotation(before.kinds):
        return _NOTHING
    last = before.kinds[-1] if before.kinds else ""
    behind = last in _ENDS and "\n" not in text[before.end : offset]
    named = automaton.accept(before.states, "NAME") and last not in _NAMED_ANEW and not behind
    return Expected(named and last not in _READS, named, automaton, before.states, behind)


def _start(segments: Segments, offset: int) -> int:
    """Return a place before an offset where a statement begins and before which nothing is wrong."""
    correct = offset if segments.broken is None else min(offset, segments.broken[0])
    place = bisect_right(segments.cuts, correct)
    return segments.cuts[place - 1] if place else 0


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
