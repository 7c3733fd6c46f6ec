"""What the automaton has read before a place in a text that is being typed, past the mistakes on the way."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter

from instrc.syntax.tables import CONTEXTUAL, END, Tables
from instrc.syntax.view import CLOSING, OPENING, STATEMENT


class TextBefore:
    """The states of the automaton at a place, and the tokens before it.

    A statement that cannot be read is passed over: behind it the next one begins, in the same body of a block.
    """

    def __init__(self, automaton: Tables, text: str, start: int, stop: int) -> None:
        """Read what stands between two places, the first of which is between statements."""
        self.automaton = automaton
        self.text = text
        self.states: list[int] = [0]
        self.kinds: list[str] = []
        """The tokens that have been read since the last mistake."""
        self.end: int = start
        """Of the last token."""
        self.lost: list[str] | None = None
        """Inside of a statement that is passed over: the brackets that it has opened, outermost first."""
        self._depths: list[int] = [0]
        """The number of brackets that were open when each state was entered."""
        self._opened: list[tuple[str, int]] = []
        """The brackets that are open in what has been read, each with the number of states below it."""
        place = start
        while True:
            kind, begin, place = automaton.token(text, place, stop)
            if kind == END:
                break
            if kind != "COMMENT":
                self._take(kind, begin, place)
                self.end = place

    def _take(self, kind: str, start: int, end: int) -> None:
        if self.lost is None:
            if self._shift(kind):
                return
            self.lost = self._back_to_body()
        if self._begins_anew(self.lost, kind, start):
            self._begin_anew()
            if self._shift(kind):
                return
            self.lost = self._back_to_body()
        if kind == "SEMICOLON" and self._may_end(self.lost, end):
            self._begin_anew()
        elif kind in OPENING:
            self.lost.append(kind)
        elif kind in CLOSING and CLOSING[kind] in self.lost:
            while self.lost.pop() != CLOSING[kind]:
                pass

    def _shift(self, kind: str) -> bool:
        """Read one token; tell whether the grammar has a place for it."""
        accept = self.automaton.accept
        if not accept(self.states, kind):
            if (kind not in CONTEXTUAL and kind != "AUG_URI") or not accept(self.states, "NAME"):
                return False
            kind = "NAME"
        table = self.automaton.states
        while (action := table[self.states[-1]][kind]) < 0:
            rule = self.automaton.rules[~action]
            self._keep(len(self.states) - rule.length)
            self._enter(table[self.states[-1]][rule.origin])
        if kind in OPENING:
            self._opened.append((kind, len(self.states)))
        elif kind in CLOSING:
            del self._opened[-1]
        self._enter(action)
        self.kinds.append(kind)
        return True

    def _enter(self, state: int) -> None:
        self.states.append(state)
        self._depths.append(len(self._opened))

    def _keep(self, size: int) -> None:
        del self.states[size:]
        del self._depths[size:]

    def _back_to_body(self) -> list[str]:
        """Be before the statement that cannot be read, in its body; return the brackets that it has opened."""
        size = len(self.states)
        while self._is_closed(size) or not self.automaton.accept(self.states[:size], "CONST", "NAME", "EQUAL"):
            size -= 1
        self._keep(size)
        lost = [bracket for bracket, below in self._opened if below >= size]
        del self._opened[len(self._opened) - len(lost) :]
        return lost

    def _is_closed(self, size: int) -> bool:
        """Tell whether a place is inside of brackets that have been closed since, as the body of a `try` before its `else`."""
        return self._depths[size - 1] != bisect_left(self._opened, size, key=itemgetter(1))

    def _begins_anew(self, lost: list[str], kind: str, start: int) -> bool:
        """Tell whether a token ends the body, or begins a definition on a line of its own."""
        if self._opened and "LBRACE" in lost:
            return False
        defines = kind in STATEMENT and "\n" in self.text[self.end : start]
        return defines or (kind == "RBRACE" and bool(self._opened))

    def _may_end(self, lost: list[str], end: int) -> bool:
        """Tell whether the `;` before a place ends the statement; those in braces may end statements inside of it."""
        if "LBRACE" not in lost:
            return True
        return not self._opened and not self.text[end : self.text.find("\n", end) + 1 or None].strip()

    def _begin_anew(self) -> None:
        """Be behind the statement, as if it had been a name."""
        self.lost = None
        self.kinds.clear()
        self._shift("NAME")
        self._shift("SEMICOLON")
