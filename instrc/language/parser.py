"""Text to surface: run the grammar's LALR(1) automaton over the tokens of a source.

Correct source is read in one pass with an explicit stack, so depth costs nothing.
At the first mistake this pass gives up, and `instrc.language.recovery` parses the source again,
naming each mistake and continuing after it.
"""

from __future__ import annotations

from itertools import islice, takewhile
from typing import Final

from instrc import problems
from instrc.language.builder import Builder
from instrc.language.lexer import Token, is_name
from instrc.language.stack import Stack
from instrc.language.surface import Expression, Input, Pipe, Program, children
from instrc.language.tables import CLOSING, CONTEXTUAL, END, FOLLOWED, OPENING, Tables, tables
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text.limits import BRACKET_LEVELS, REPORTED_MISTAKES
from instrc.text.source import CONFLICT_MARK, Source, Span

PROGRAM_TOKENS: Final = 100_000
"""Maximum words, signs and comments of a program, which take some 40 microseconds each; a text is one word."""


def parse(source: Source, report: Report) -> Program:
    """Parse the statements of a source; report its mistakes and leave out the affected statements."""
    automaton = tables()
    words = takewhile(lambda token: token[0] != "STRAY", automaton.tokens(source.text))  # `recover` reports a stray character
    if len(source.text) > PROGRAM_TOKENS and any(islice(words, PROGRAM_TOKENS, None)):
        report.add(problems.files.TooLarge(at=source.whole(), what="the source", limit=PROGRAM_TOKENS, unit="words and signs"))
        return Program(source, (), ())
    builder = Builder(source)
    if not recognise(source, automaton, builder):
        from instrc.language.recovery import recover  # only needed for invalid programs

        builder = recover(source, automaton)
    program = builder.program()
    if deep := too_deep(program):
        builder.problems[:] = [deep]
        program = Program(source, (), program.comments)
    mark = CONFLICT_MARK.search(source.text) if builder.problems else None
    if mark is not None and mark[0][0] != "=":  # a line under a title, where a page was taken for a program
        builder.problems[:] = [problems.statements.MergeConflict(at=source.span(*mark.span()))]
        program = Program(source, (), program.comments)
    elif len(builder.problems) > REPORTED_MISTAKES or builder.hopeless:
        first = tuple(builder.problems[:3])
        builder.problems[:] = [problems.punctuation.TooManyMistakes(at=first[0].at, limit=REPORTED_MISTAKES, first=first)]
    for problem in builder.problems:
        report.add(problem)
    return program


def too_deep(program: Program) -> Problem | None:
    """Return the problem of a program with too many stacked `@`; brackets were counted during parsing."""
    if program.source.text.count("@") <= BRACKET_LEVELS // 2:
        return None  # at the bracket limit, the nesting is at most one and a half times that
    nodes: list[tuple[Expression, int]] = [(each.value, 1) for each in program.statements if not isinstance(each, Input)]
    while nodes:
        node, depth = nodes.pop()
        if depth > BRACKET_LEVELS * 3 // 2:
            return problems.text.TooDeep(at=node.span, limit=BRACKET_LEVELS)
        deeper = depth if isinstance(node, Pipe) else depth + 1
        nodes.extend((child, deeper) for child in children(node))
    return None


def recognise(source: Source, automaton: Tables, builder: Builder) -> bool:
    """Build the statements of a source; return whether it is a program."""
    stack = Stack(automaton, builder)
    text, position, levels = source.text, 0, 0
    while True:
        kind, start, position = automaton.token(text, position)
        if kind == "COMMENT":
            builder.comments.append(Span(source, start, position))
            continue
        if (kind in CONTEXTUAL or kind in FOLLOWED) and not stack.accepts(kind):
            kind = "NAME"
        elif kind == "NAME" and not is_name(text[start:position]):
            return False
        elif kind == "AUG_URI" and not stack.accepts(kind):  # where a reference is impossible, `aug` is a name
            kind, position = "NAME", start + len("aug")
        elif kind == END:
            return stack.finish()
        levels += (kind in OPENING) - (kind in CLOSING)
        if levels > BRACKET_LEVELS or not stack.shift(Token(kind, start, position)):
            return False
