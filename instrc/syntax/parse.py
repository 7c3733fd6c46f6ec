"""Text to surface: run the automaton of the grammar over the tokens of a source.

What is written correctly is recognised in one pass with an explicit stack, so depth costs nothing.
At the first mistake this pass gives up, and `instrc.syntax.recovery` reads the source again, slower,
naming each mistake and going on behind it.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from instrc.ir.surface import Program
from instrc.limits.programs import BRACKET_LEVELS, REPORTED_MISTAKES
from instrc.problems.report import Report
from instrc.source import Source
from instrc.syntax.build import Action, Builder
from instrc.syntax.depth import too_deep
from instrc.syntax.tables import CONTEXTUAL, END, START, Tables, tables
from instrc.syntax.tokens import is_name

_SIGNS = {"LPAR": 1, "LSQB": 1, "LBRACE": 1, "RPAR": -1, "RSQB": -1, "RBRACE": -1}
_SIGNS |= dict.fromkeys(("SEMICOLON", "EQUAL", "VBAR", "AT", "COMMA", "COLON", "DOT"), 0)
"""Tokens whose text says nothing more than their kind, with the levels of nesting they open."""


def parse(source: Source, report: Report, start: int = 0) -> Program:
    """Return the statements of a source; mistakes go to the report, and what they spoil is left out.

    With `start`, only what stands behind this offset is read: an editor asks for the statements that have changed.
    """
    automaton = tables()
    builder = Builder(source)
    if not recognise(source, automaton, builder, start):
        from instrc.syntax.recovery import recover  # wrong programs only

        recover(source, automaton, builder, recognise, start)
    program = builder.program()
    if deep := too_deep(program):
        builder.problems[:] = [deep]
        program = Program(source, (), program.comments)
    if len(builder.problems) > REPORTED_MISTAKES or builder.hopeless:
        from instrc.problems.notation import TooManyMistakes  # as above

        first = tuple(builder.problems[:3])
        builder.problems[:] = [TooManyMistakes(at=first[0].at, limit=REPORTED_MISTAKES, first=first)]
    for problem in builder.problems:
        report.add(problem)
    return program


_Rule: TypeAlias = tuple[int, str, Action | None]
"""How many symbols a rule reduces, to what, and what is built of their values."""


def _hop(table: list[dict[str, int]], rules: list[_Rule], state: int, origin: str, kind: str) -> tuple[int, int | None]:
    """Return where a reduction leads from a state, on through all rules that build nothing, and what to do there."""
    while True:
        reached = table[state][origin]
        action = table[reached].get(kind)
        if action is None or action >= 0 or rules[~action][0] != 1 or rules[~action][2] is not None:
            return reached, action
        origin = rules[~action][1]


def _rules(automaton: Tables, builder: Builder) -> list[_Rule]:
    actions = zip(automaton.rules, builder.actions(automaton.rules), strict=True)
    return [(rule.length, rule.origin, action) for rule, action in actions]


def recognise(source: Source, automaton: Tables, builder: Builder, position: int = 0) -> bool:
    """Build the source from the beginning of a statement on, or tell that it is no program."""
    word, sign = builder.word, builder.sign
    text = source.text
    only_ascii = text.isascii()
    match = automaton.lexer.match
    table = automaton.states
    hops = automaton.hops
    rules = _rules(automaton, builder)
    state, states = 0, [0]
    values: list[object] = []
    starts: list[int] = []  # where the text of each value begins
    end, depth = position, 0
    while True:
        found = match(text, position)
        kind: str = found.lastgroup  # type: ignore[union-attr,assignment]  # the lexer matches everywhere, always by a group
        start, position = found.span(kind)  # type: ignore[union-attr]  # as above
        if kind in CONTEXTUAL and not automaton.accept(states, kind):
            kind = "NAME"
        action = table[state].get(kind)
        while action is not None and action < 0:
            length, origin, build = rules[~action]
            if length == 1:
                if build is not None:
                    values[-1] = build(values[-1:], starts[-1], end)
                states.pop()
            elif length:
                values[-length:] = [build(values[-length:], starts[-length], end)]  # type: ignore[misc]  # single symbols only have none
                del states[-length:], starts[1 - length :]
            else:
                values.append(None)
                starts.append(start)
            hop = (states[-1], origin, kind)
            if (learned := hops.get(hop)) is None:
                learned = hops[hop] = _hop(table, rules, *hop)
            state, action = learned
            states.append(state)
        if action is None:
            if kind == "COMMENT":
                builder.comments.append(source.span(start, position))
                continue
            if kind == END:
                return state == table[0][START]
            if kind != "AUG_URI" or "NAME" not in table[state]:
                return False
            kind = "NAME"
            action = table[state]["NAME"]
            position = re.compile(automaton.name).match(text, start).end()  # type: ignore[union-attr]  # `aug` is a name
        if (nested := _SIGNS.get(kind)) is not None:
            depth += nested
            if depth > BRACKET_LEVELS:
                return False
            values.append(None if sign is None else sign(kind, start, position))
        else:
            if not only_ascii and kind == "NAME" and not is_name(text[start:position]):
                return False
            values.append(word(kind, start, position))
        states.append(state := action)
        starts.append(start)
        end = position
