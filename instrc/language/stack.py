"""The stack of the LALR(1) automaton: its states, and the values that it has built."""

from __future__ import annotations

from instrc.language.builder import Action, Builder
from instrc.language.lexer import Token
from instrc.language.tables import END, Tables


class Stack:
    """The states of the automaton, and the values that it has built."""

    def __init__(self, automaton: Tables, builder: Builder) -> None:
        self.automaton = automaton
        self.builder = builder
        self.actions: list[Action | None] = builder.actions(automaton.rules)
        self.states: list[int] = [0]
        self.values: list[object] = []
        self.starts: list[int] = []
        self.end: int = 0

    def accepts(self, *kinds: str) -> bool:
        """Return whether tokens of these kinds can be read next."""
        return self.automaton.accept(self.states, *kinds)

    def finish(self) -> bool:
        """Return whether the source may end here; if so, build the rest."""
        if not self.accepts(END):
            return False
        self._reduce(END)
        return True

    def shift(self, token: Token) -> bool:
        """Read a token; return whether it fits. If it does not, what ends before it may have been built."""
        state = self._reduce(token.kind)
        if state is None:
            return False
        self.states.append(state)
        self.values.append(self.builder.given(token))
        self.starts.append(token.start)
        self.end = token.end
        return True

    def _reduce(self, kind: str) -> int | None:
        """Build all that ends before a token of this kind; return the state after it, if there is one."""
        table, states, values, starts = self.automaton.states, self.states, self.values, self.starts
        while (action := table[states[-1]].get(kind)) is not None and action < 0:
            rule, build = self.automaton.rules[~action], self.actions[~action]
            length = rule.length
            if not length:
                values.append(None)
                starts.append(self.end)
            else:
                if build is not None:
                    values[-length:] = [build(values[-length:], starts[-length], self.end)]
                elif length > 1:
                    del values[1 - length :]
                if length > 1:
                    del starts[1 - length :]
                del states[-length:]
            states.append(table[states[-1]][rule.origin])
        return action
