"""The automaton of the grammar, one token at a time: what may be read next, what has been read, which brackets are open."""

from __future__ import annotations

from instrc.syntax.build import Action, Builder
from instrc.syntax.tables import END, Tables
from instrc.syntax.tokens import Token
from instrc.syntax.view import CLOSING, OPENING


class Stack:
    """The states of the automaton, the values that it has built, and the statement that it is in."""

    def __init__(self, automaton: Tables, builder: Builder) -> None:
        self.automaton = automaton
        self.builder = builder
        self.actions: list[Action | None] = builder.actions(automaton.rules)
        self.states: list[int] = [0]
        self.values: list[object] = []
        self.starts: list[int] = []
        self.end: int = 0
        self.read: list[Token] = []
        """The tokens of this statement so far."""
        self.open: list[tuple[Token, bool]] = []
        """Brackets around this place, and whether each is that of a call."""
        self.bodies: list[bool] = []
        """Whether each of them opens the body of a block."""

    def accepts(self, *kinds: str) -> bool:
        """Tell whether tokens of these kinds can be read next."""
        return self.automaton.accept(self.states, *kinds)

    def finish(self) -> bool:
        """Tell whether the source may end here, and build what is left of it if so."""
        if not self.accepts(END):
            return False
        self._reduce(END)
        return True

    def feed(self, token: Token) -> bool:
        """Read a token, or leave everything as it is and tell that it cannot be read."""
        if not self.accepts(token.kind):
            return False
        state = self._reduce(token.kind)
        assert state is not None, token  # it was tried
        if len(self.states) == 2:  # between statements
            self.read.clear()
        self.states.append(state)
        self.values.append(self.builder.given(token))
        self.starts.append(token.start)
        self.end = token.end
        if token.kind in OPENING:
            called = bool(self.read) and self.read[-1].kind in {"NAME", "AUG_URI"} and token.kind == "LPAR"
            self.open.append((token, called))
            self.bodies.append(token.kind == "LBRACE" and self.accepts("CONST", "NAME", "EQUAL"))
        elif token.kind in CLOSING and self.open:
            self.open.pop()
            self.bodies.pop()
        self.read.append(token)
        return True

    def begin_anew(self) -> None:
        """Be between statements."""
        self.states = [0]
        self.values.clear()
        self.starts.clear()
        self.read.clear()
        self.open.clear()
        self.bodies.clear()

    def back_to_body(self) -> int | None:
        """Be behind the last part of the innermost body of a block that can be a statement; nothing outside of blocks.

        Return how many brackets are open there.
        """
        level = next((at for at in range(len(self.bodies), 0, -1) if self.bodies[at - 1]), None)
        if level is None:
            return None
        size = len(self.states)
        while not self.automaton.accept(self.states[:size], "CONST", "NAME", "EQUAL"):
            size -= 1
        if size <= len(self.starts):
            cut = self.starts[size - 1]
            self.read[:] = [token for token in self.read if token.start < cut]
        del self.states[size:], self.values[size - 1 :], self.starts[size - 1 :]
        del self.open[level:], self.bodies[level:]
        return level

    def _reduce(self, kind: str) -> int | None:
        """Build all that ends before a token of this kind; return the state behind it, if it has one."""
        table = self.automaton.states
        while True:
            action = table[self.states[-1]].get(kind)
            if action is None or action >= 0:
                return action
            rule = self.automaton.rules[~action]
            build = self.actions[~action]
            if not rule.length:
                self.values.append(None)
                self.starts.append(self.end)
            elif build is not None:
                value = build(self.values[-rule.length :], self.starts[-rule.length], self.end)
                del self.values[-rule.length :], self.starts[len(self.starts) - rule.length + 1 :]
                self.values.append(value)
            elif rule.length > 1:
                del self.values[1 - rule.length :], self.starts[1 - rule.length :]
            if rule.length:
                del self.states[-rule.length :]
            self.states.append(table[self.states[-1]][rule.origin])
