"""Text to surface: run the automaton of the grammar over the tokens of a source.

What is written correctly is recognised in one pass with an explicit stack, so depth costs nothing.
At the first mistake this pass gives up, and `instrc.syntax.recovery` reads the source again, slower,
naming each mistake and going on behind it.
"""

from __future__ import annotations

from typing import Any

from instrc.ir.surface import Program
from instrc.problems.report import Report
from instrc.source import Source
from instrc.syntax.build import Builder
from instrc.syntax.depth import MAX_DEPTH, too_deep
from instrc.syntax.tables import START, Tables, tables
from instrc.syntax.tokens import Token, is_name

_LEVELS = {"LPAR": 1, "LSQB": 1, "LBRACE": 1, "RPAR": -1, "RSQB": -1, "RBRACE": -1}


def parse(source: Source, report: Report) -> Program:
    """Return the statements of a source; mistakes go to the report, and what they spoil is left out."""
    automaton = tables()
    builder = Builder(source)
    if _recognise(source, automaton, builder):
        program = builder.program()
        if deep := too_deep(program):
            builder.problems.append(deep)
            program = Program(source, (), program.comments)
    else:
        from instrc.syntax.recovery import recover  # wrong programs only

        builder = Builder(source)
        recover(source, automaton, builder)
        program = builder.program()
    for problem in builder.problems:
        report.add(problem)
    return program


def _recognise(source: Source, automaton: Tables, builder: Builder) -> bool:
    """Build the whole source, or tell that it is no program."""
    text = source.text
    match = automaton.lexer.match
    table = automaton.states
    rules = [
        (rule.length, rule.origin, action) for rule, action in zip(automaton.rules, builder.actions(automaton.rules), strict=True)
    ]
    states = [0]
    values: list[Any] = []
    starts: list[int] = []  # where the text of each value begins
    end = position = depth = 0
    while True:
        found = match(text, position)
        kind = found.lastgroup  # type: ignore[union-attr]  # the lexer matches everywhere
        start, position = found.span(kind)  # type: ignore[union-attr,arg-type]  # and always by a group
        action = table[states[-1]].get(kind)  # type: ignore[arg-type]
        while action is not None and action < 0:
            length, origin, build = rules[~action]
            if origin == START:
                return True
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
            row = table[states[-1]]
            state = row[origin]
            states.append(state)
            action = table[state].get(kind)  # type: ignore[arg-type]
        if action is None:
            if kind == "COMMENT":
                builder.comments.append(source.span(start, position))
                continue
            name = automaton.name.match(text, start) if kind == "AUG_URI" and "NAME" in table[states[-1]] else None
            if name is None:
                return False
            kind = "NAME"
            action = table[states[-1]]["NAME"]
            position = name.end()
        if kind == "NAME":
            if not text.isascii() and not is_name(text[start:position]):
                return False
        elif kind in _LEVELS:
            depth += _LEVELS[kind]
            if depth > MAX_DEPTH:
                return False
        states.append(action)
        values.append(Token(kind, start, position))  # type: ignore[arg-type]
        starts.append(start)
        end = position
