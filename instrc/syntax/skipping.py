"""Where to read on in the body of a block behind a statement that cannot be read."""

from __future__ import annotations

from instrc.limits.programs import PASSED_OVER
from instrc.syntax.scan import Scanner
from instrc.syntax.tables import END
from instrc.syntax.tokens import Token
from instrc.syntax.view import CLOSING, OPENING, begins_statement


def behind_statement(scanner: Scanner, index: int, opened: list[str]) -> int:
    """Return the index of the token that ends the body of a block or begins its next statement.

    `opened` are the kinds of the brackets that the statement has opened so far, outermost first.
    A `;` or a definition on a line of its own ends the statement, also where brackets are still open, but not inside of braces:
    these may be blocks in the statement, with statements of their own.
    """
    first = index
    while True:
        if index - first > PASSED_OVER:
            scanner.finish(index)
        scanner.need(index + 3)
        token = scanner.tokens[index]
        kind = token.kind
        if kind == END:
            return index
        if "LBRACE" not in opened:
            if index > first and begins_statement(scanner.source, scanner.tokens, index):
                return index
            if kind == "SEMICOLON":
                return index + 1
            if kind == "RBRACE":
                return index
        if kind in OPENING:
            opened.append(kind)
        elif kind in CLOSING and CLOSING[kind] in opened:
            while opened.pop() != CLOSING[kind]:
                pass
        index += 1


def empty_statement(place: Token) -> list[Token]:
    """Return what stands for the statement that was passed over, before the token that follows."""
    return [Token("NAME", place.start, place.start, "missing"), Token("SEMICOLON", place.start, place.start)]
