"""The state of the parser at a mistake: the tokens around it, the open brackets, and the tokens acceptable next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from instrc.language.lexer import Token
from instrc.language.tables import CLOSING, OPENING
from instrc.problems.problem import Problem
from instrc.problems.statements import WrongEquals
from instrc.text.limits import BRACKET_DISTANCE
from instrc.text.source import Source, Span

BODY_TOKENS: Final = 500
"""Maximum tokens of a block's braces that are read backwards to find the keyword that begins it."""


SIGNS = {"LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{", "RBRACE": "}"}
SIGNS |= {"COMMA": ",", "SEMICOLON": ";", "COLON": ":", "EQUAL": "=", "VBAR": "|", "AT": "@"}
DEFINING = {"CONST", "LET", "TOOL"}
STATEMENT = DEFINING | {"INPUT"}
BLOCK = {"WHEN", "EACH", "REPEAT", "TRY", "RACE", "DO"}
KEYWORDS = STATEMENT | BLOCK | {"TRUE", "FALSE", "NULL"}
STARTS_VALUE = {"NAME", "AUG_URI", "STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LBRACE", "LSQB", "LPAR"} | BLOCK
ENDS_VALUE = {"NAME", "AUG_URI", "STRING", "NUMBER", "TRUE", "FALSE", "NULL", "RBRACE", "RSQB", "RPAR"}


_BEFORE_BLOCK = frozenset({"COMMA", "SEMICOLON", "COLON", "EQUAL", "VBAR"})
"""Tokens that may precede a block."""


class TokenRepair(NamedTuple):
    """A repair: skip some tokens, and parse others in their place."""

    put: tuple[Token, ...] = ()
    drop: int = 0


Slip: TypeAlias = tuple[Problem, TokenRepair] | None
"""Result of a mistake rule: the problem and the repair, or `None` if the rule does not apply."""

GIVE_UP = TokenRepair(drop=-1)
"""Repair that gives up: skip the rest of the statement."""


class View(NamedTuple):
    """The context for diagnosing a mistake."""

    source: Source
    tokens: list[Token]
    place: int
    """Index of the token that cannot be parsed."""
    read: list[Token]
    """Tokens of the statement that have been parsed."""
    open: list[tuple[Token, bool]]
    """Open brackets, outermost first, and whether each belongs to a call."""
    accepts: Callable[..., bool]

    @property
    def token(self) -> Token:
        """The token that cannot be parsed."""
        return self.tokens[self.place]

    @property
    def following(self) -> Token:
        """The following token."""
        return self.ahead(1)

    def ahead(self, distance: int) -> Token:
        """Return a token further ahead, or the end of the file."""
        return self.tokens[min(self.place + distance, len(self.tokens) - 1)]

    def behind_names(self, distance: int, *kinds: str) -> int:
        """Return the distance of the first token, from a distance on, that is neither a name nor of these kinds."""
        while self.place + distance < len(self.tokens) - 1 and self.ahead(distance).kind in {"NAME", *kinds}:
            distance += 1
        return distance

    def colon_for_equals(self) -> tuple[Problem, TokenRepair]:
        """Return the problem of a `:` where `=` defines a name, possibly after a type: `const a: Text = A`."""
        at = self.span(self.token)
        if self.following.kind == "NAME" and self.ahead(2).kind == "EQUAL":
            return WrongEquals(at=at, text=":", typed=self.text(self.following)), TokenRepair(drop=2)
        return WrongEquals(at=at, text=":"), TokenRepair((self.one("EQUAL"),), 1)

    def before(self, distance: int = 1) -> str:
        """Return the kind of a parsed token, by its distance from the last one."""
        return self.read[-distance].kind if len(self.read) >= distance else ""

    def span(self, token: Token) -> Span:
        """Return the span of a token."""
        return self.source.span(token.start, token.end)

    def text(self, token: Token) -> str:
        """Return the characters of a token."""
        return self.source.text[token.start : token.end]

    def gap(self) -> Span:
        """Return the empty span directly after the last token."""
        end = self.read[-1].end if self.read else self.token.start
        return self.source.span(end, end)

    def one(self, kind: str, value: str | None = None) -> Token:
        """Return a token to insert before the one that cannot be parsed."""
        return Token(kind, self.token.start, self.token.start, value)

    def closing(self, level: int) -> Token | None:
        """Return the bracket, shortly after the last token, that closes the given number of levels."""
        for token in self.tokens[self.place : self.place + BRACKET_DISTANCE - 2]:
            level += (token.kind in OPENING) - (token.kind in CLOSING)
            if not level:
                return token
        return None

    def word_of_block(self, end: int) -> Token | None:
        """Return the keyword of the block, or its `else`, whose braces the token at `end` closes."""
        level = 0
        for at in range(end, max(end - BODY_TOKENS, -1), -1):
            kind = self.tokens[at].kind
            level += (kind in CLOSING) - (kind in OPENING)
            if level < 0 or (not level and kind in _BEFORE_BLOCK):
                return None
            if not level and (kind in BLOCK or kind == "ELSE"):
                return self.tokens[at]
        return None

    @property
    def in_braces(self) -> bool:
        """Whether the innermost open bracket is a brace."""
        return bool(self.open) and self.open[-1][0].kind == "LBRACE"

    @property
    def after_key(self) -> bool:
        """Whether a key in braces has just been parsed."""
        return self.in_braces and self.before(2) in {"LBRACE", "COMMA"} and self.before() in KEYWORDS | {"NAME", "STRING"}


def is_quoted_name(view: View) -> bool:
    """Return whether the tokens so far end with a quoted reference or name, right before the `(` of a call."""
    last = view.read[-1] if view.read else view.token
    text = view.text(last)[1:-1]
    return last.kind == "STRING" and last.end == view.token.start and (text.startswith("aug:") or text.isidentifier())


def may_begin_statement(source: Source, tokens: list[Token], index: int) -> bool:
    """Return whether a token probably begins a statement: a word, a reference or a string at the very beginning of a line."""
    token = tokens[index]
    at_margin = source.text[max(0, token.start - 1) : token.start] in {"", "\n", "\r"}
    waiting = index > 0 and tokens[index - 1].kind in {"VBAR", "EQUAL", "COMMA", "COLON", "AT"}
    return at_margin and not waiting and token.kind in {"NAME", "AUG_URI", "STRING"}


def begins_statement(source: Source, tokens: list[Token], index: int) -> bool:
    """Return whether a token certainly begins a statement: a defining keyword, or `name =`, first on its line."""
    token = tokens[index]
    if token.kind not in STATEMENT | {"NAME"}:
        return False
    following = tokens[index + 1].kind
    if token.kind == "NAME":
        return following == "EQUAL" and first_on_line(source, tokens, index)
    if token.kind == "TOOL" and following in {"CONST", "LET"}:
        following = tokens[index + 2].kind
        return following == "NAME"
    return following == "NAME" and (first_on_line(source, tokens, index) or tokens[index + 2].kind in {"EQUAL", "AT"})


def first_on_line(source: Source, tokens: list[Token], index: int) -> bool:
    """Return whether a token is the first one on its line."""
    start = tokens[index - 1].end if index else 0
    return index == 0 or "\n" in source.text[start : tokens[index].start]
