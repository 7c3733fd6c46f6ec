"""Text to surface: run the automaton of the grammar over the tokens of a source.

What is written correctly is recognised in one pass with an explicit stack, so depth costs nothing.
At the first mistake this pass gives up, and `instrc.syntax.recovery` reads the source again, slower,
naming each mistake and going on behind it.
"""

from __future__ import annotations

import re
from typing import Any

from instrc.ir.surface import Program
from instrc.limits.programs import BRACKET_LEVELS, REPORTED_MISTAKES
from instrc.problems.report import Report
from instrc.source import Source, Span
from instrc.syntax.build import Builder
from instrc.syntax.depth import too_deep
from instrc.syntax.moves import moves_of
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


def recognise(source: Source, automaton: Tables, builder: Builder, position: int = 0) -> bool:
    """Build the source from the beginning of a statement on, or tell that it is no program."""
    word, named, sign = builder.word, builder.named, builder.sign
    text = source.text
    only_ascii = text.isascii()
    fixed = automaton.fixed
    builds = builder.actions(automaton.rules)
    moves = moves_of(frozenset(rule for rule, build in enumerate(builds) if build is None))
    stack: list[Any] = [0]  # states and places, and between them values, another type for each rule
    end, depth = position, 0
    while True:
        for found in automaton.lexer.finditer(text, position):
            kind: str = found.lastgroup  # type: ignore[assignment]  # the lexer matches everywhere, always by a group
            written = found[kind]
            position = found.end()
            start = position - len(written)
            if written in fixed:
                kind = fixed[written]
                if kind in CONTEXTUAL and not automaton.accept(stack[::3], kind):
                    kind = "NAME"
            reduction, state = moves[stack[-1]][kind]
            while reduction is not None:
                rule, values, whole, first, below, goto = reduction
                if values is not None:
                    begin = stack[first]
                    built = builds[rule](stack[values], begin, end)
                    reached, reduction, state = goto[stack[below]]
                    stack[whole] = built, begin, reached
                elif below == -1:  # a rule of no symbols
                    reached, reduction, state = goto[stack[-1]]
                    stack += None, start, reached
                else:
                    stack[-1], reduction, state = goto[stack[below]]
            if state is None:
                if kind == "COMMENT":
                    builder.comments.append(Span(source, start, position))
                    continue
                if kind == END:
                    return bool(stack[-1] == automaton.states[0][START])
                state = moves[stack[-1]]["NAME"][1]
                if found.lastgroup != "AUG_URI" or state is None:
                    return False
                end = position = re.compile(automaton.name).match(text, start).end()  # type: ignore[union-attr]  # `aug` is a name
                stack += named(text[start:position], start, position), start, state
                break  # and go on behind the name
            if kind == "NAME":
                if not only_ascii and not is_name(written):
                    return False
                stack += named(written, start, position), start, state
            elif (levels := _SIGNS.get(kind)) is None:
                stack += word(kind, start, position), start, state
            else:
                if levels and (depth := depth + levels) > BRACKET_LEVELS:
                    return False
                stack += None if sign is None else sign(kind, start, position), start, state
            end = position
