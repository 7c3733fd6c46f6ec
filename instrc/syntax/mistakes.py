"""Mistakes that people make, by what stands where: each has a name, a place and a way to be mended.

`diagnose` is asked about a token that no rule takes.  It looks first at what stands before (a `|`, a `:`, an `=` that
waits for something), then at the token itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from instrc.problems import notation as n
from instrc.problems import text as t
from instrc.problems.problem import Problem
from instrc.source import Source, Span
from instrc.syntax.tables import END
from instrc.syntax.tokens import Token

OPENING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSING = {closing: opening for opening, closing in OPENING.items()}

_SIGNS = {"LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{", "RBRACE": "}"}
_SIGNS |= {"COMMA": ",", "SEMICOLON": ";", "COLON": ":", "EQUAL": "=", "VBAR": "|", "AT": "@"}
_DEFINING = {"CONST", "LET", "TOOL"}
_STATEMENT = _DEFINING | {"INPUT"}
_RESERVED = {"WHEN", "EACH"}
_KEYWORDS = _STATEMENT | _RESERVED | {"TRUE", "FALSE", "NULL"}
_STARTS_VALUE = {"NAME", "AUG_URI", "STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LBRACE", "LSQB", "LPAR"}
_ENDS_VALUE = {"NAME", "AUG_URI", "STRING", "NUMBER", "TRUE", "FALSE", "NULL", "RBRACE", "RSQB", "RPAR"}
FAR = 1_000
"""Tokens that are looked at to find out whether a bracket is closed."""

# fmt: off
_FOREIGN = frozenset({
    "async", "await", "break", "case", "catch", "class", "continue", "def", "do", "elif", "else", "enum", "except",
    "export", "extends", "fn", "for", "foreach", "from", "func", "function", "import", "include", "interface", "lambda",
    "namespace", "package", "private", "protected", "public", "raise", "require", "return", "static", "struct", "switch",
    "throw", "try", "type", "using", "val", "var", "while", "with", "yield",
})
# fmt: on
_FOREIGN_WITH_BRACKETS = frozenset({"catch", "for", "foreach", "function", "if", "switch", "while"})

_ADVICE = {
    "&&": ("conditions are the work of instructions",),
    "&": ("conditions are the work of instructions",),
    "?": ("choices are the work of instructions",),
    "!": ("conditions are the work of instructions",),
    "<": ("a call is written with round brackets",),
    ">": ("a call is written with round brackets",),
    ".": ("a step is read whole; there is no `name.property`",),
    "..": ("list what you mean",),
    "...": ("list what you mean",),
    "$": ("a name is written without a sign before it",),
    "\\": ("a line break needs no sign",),
    "/": ("a comment begins with `//` or `/*`",),
    "--": ("a comment begins with `//`",),
}


class Repair(NamedTuple):
    """How to go on: pass over some tokens, read others in their place."""

    put: tuple[Token, ...] = ()
    drop: int = 0


GIVE_UP = Repair(drop=-1)
"""No way to mend it: pass over the rest of the statement."""


class View(NamedTuple):
    """What a mistake is judged by."""

    source: Source
    tokens: list[Token]
    place: int
    """Of the token that cannot be read."""
    read: list[Token]
    """The tokens of the statement that have been read."""
    open: list[tuple[Token, bool]]
    """Open brackets, outermost first, and whether each is that of a call."""
    accepts: Callable[..., bool]

    @property
    def token(self) -> Token:
        """The token that cannot be read."""
        return self.tokens[self.place]

    @property
    def following(self) -> Token:
        """The token after that one."""
        return self.tokens[min(self.place + 1, len(self.tokens) - 1)]

    def before(self, distance: int = 1) -> str:
        """Return the kind of a token that has been read, the last one or one before it."""
        return self.read[-distance].kind if len(self.read) >= distance else ""

    def span(self, token: Token) -> Span:
        """Return the place of a token."""
        return self.source.span(token.start, token.end)

    def text(self, token: Token) -> str:
        """Return the characters of a token."""
        return self.source.text[token.start : token.end]

    def gap(self) -> Span:
        """Return the place directly behind what has been read."""
        end = self.read[-1].end if self.read else self.token.start
        return self.source.span(end, end)

    def one(self, kind: str, value: str | None = None) -> Token:
        """Return a token to put before the one that cannot be read."""
        return Token(kind, self.token.start, self.token.start, value)

    @property
    def in_braces(self) -> bool:
        """Whether the innermost open bracket is a brace."""
        return bool(self.open) and self.open[-1][0].kind == "LBRACE"

    @property
    def after_key(self) -> bool:
        """Whether a key in braces has just been read."""
        return self.in_braces and self.before(2) in {"LBRACE", "COMMA"} and self.before() in _KEYWORDS | {"NAME", "STRING"}


def may_begin_statement(source: Source, tokens: list[Token], index: int) -> bool:
    """Tell whether a token probably begins a statement: a word, a reference or a string at the very beginning of a line."""
    token = tokens[index]
    at_margin = source.text[max(0, token.start - 1) : token.start] in {"", "\n", "\r"}
    waiting = index > 0 and tokens[index - 1].kind in {"VBAR", "EQUAL", "COMMA", "COLON", "AT"}
    return at_margin and not waiting and token.kind in {"NAME", "AUG_URI", "STRING"}


def begins_statement(source: Source, tokens: list[Token], index: int) -> bool:
    """Tell whether a token surely begins a statement: a defining word, or `name =`, first on its line."""
    token = tokens[index]
    if token.kind not in _STATEMENT | {"NAME"}:
        return False
    following = tokens[index + 1].kind
    if token.kind == "NAME":
        return following == "EQUAL" and _first_on_line(source, tokens, index)
    if token.kind == "TOOL" and following in {"CONST", "LET"}:
        following = tokens[index + 2].kind
        return following == "NAME"
    return following == "NAME" and (_first_on_line(source, tokens, index) or tokens[index + 2].kind in {"EQUAL", "AT"})


def _first_on_line(source: Source, tokens: list[Token], index: int) -> bool:
    start = tokens[index - 1].end if index else 0
    return index == 0 or "\n" in source.text[start : tokens[index].start]


_Found: TypeAlias = tuple[Problem, Repair] | None


def diagnose(view: View) -> tuple[Problem, Repair]:
    """Name the mistake that the next token shows, and tell how to go on."""
    for rule in (_foreign_statement, _foreign_sign, _waiting, _key_without_value, _border, _closing, _sign, _keyword, _value):
        if found := rule(view):
            return found
    return _unexpected(view), GIVE_UP


# ---- other languages


def _foreign_statement(view: View) -> _Found:
    """See to `def greet(prompt):` and its like: the first word of the line says it all."""
    first = view.place
    while first and not _first_on_line(view.source, view.tokens, first):
        first -= 1
        if view.place - first > 50:
            return None
    if first == view.place or view.tokens[first].kind != "NAME":
        return None
    word = view.text(view.tokens[first])
    follows = view.tokens[first + 1].kind
    if follows in {"EQUAL", "VBAR", "SEMICOLON", "COLON"} or (word not in _FOREIGN and follows != "LPAR"):
        return None
    if follows == "LPAR" and word not in _FOREIGN_WITH_BRACKETS:
        return None
    return n.ForeignStatement(at=view.span(view.tokens[first]), word=word), GIVE_UP


def _foreign_sign(view: View) -> _Found:
    """See to arrows, comparisons and operators that this notation does not have."""
    token = view.token
    text = view.text(token)
    at = view.span(token)
    match token.kind:
        case "ARROW":
            order: tuple[str, ...] = ("COLON", "VBAR", "EQUAL") if view.in_braces or text == "=>" else ("VBAR", "COLON", "EQUAL")
            if text == "|>":
                order = ("VBAR",)
            meant = next((kind for kind in order if view.accepts(kind)), None)
            problem = n.Arrow(at=at, text=text, meant=_SIGNS[meant or "VBAR"])
            return problem, Repair((view.one(meant),), 1) if meant else GIVE_UP
        case "COMPARISON":
            if view.accepts("EQUAL") and text != "!=":
                return n.WrongEquals(at=at, text=text), Repair((view.one("EQUAL"),), 1)
            if view.accepts("COLON") and text == ":=":
                return n.EqualsForColon(at=at), Repair((view.one("COLON"),), 1)
            return n.UnknownOperator(at=at, text=text, meant=("there are no comparisons",)), _separate(view)
        case "OPERATOR":
            return n.UnknownOperator(at=at, text=text, meant=_ADVICE.get(text, ())), _separate(view)
    return None


def _separate(view: View) -> Repair:
    """Read on behind an operator as if something harmless stood there."""
    for kind in ("VBAR", "COMMA"):
        if view.accepts(kind, view.following.kind):
            return Repair((view.one(kind),), 1)
    return Repair(drop=1) if view.accepts(view.following.kind) else GIVE_UP


# ---- something before the token waits


def _waiting(view: View) -> _Found:
    """Look for a sign or word before the token that announces something."""
    if not view.read:
        return None
    last, token = view.read[-1], view.token
    at = view.span(last)
    dummy = Repair((view.one("NAME", "missing"),))
    keyword = token.kind in _KEYWORDS and not begins_statement(view.source, view.tokens, view.place)
    if last.kind == "AT":
        if token.kind == "NAME" and view.following.kind not in {"LPAR", "COLON"}:
            return n.BadAnnotation(at=at), Repair((view.one("STRING", ""),), 1)
        return n.BadAnnotation(at=at), Repair((view.one("STRING", ""),), 1 if token.kind in {"NUMBER", "AUG_URI"} else 0)
    if keyword:
        return None
    if last.kind == "VBAR" and token.kind not in {"ARROW", "OPERATOR"}:
        if token.kind == "VBAR":
            return n.MissingStage(at=view.span(token), side="before"), Repair(drop=1)
        return n.MissingStage(at=at, side="after"), dummy
    if last.kind == "EQUAL" or (last.kind == "COLON" and token.kind != "COLON"):
        if token.kind == "VBAR":
            return n.MissingStage(at=view.span(token), side="before"), Repair(drop=1)
        return n.MissingValue(at=at, after=f"after `{_SIGNS[last.kind]}`"), Repair(dummy.put, 1 if token.kind == "EQUAL" else 0)
    if last.kind in _STATEMENT and not view.open and not view.after_key:
        return _after_defining_word(view, last)
    if last.kind == "NAME" and view.before(2) in _DEFINING and not view.open:
        return _after_defined_name(view, last)
    return None


def _after_defining_word(view: View, last: Token) -> _Found:
    """Tell in `const = A`, `tool;`, `input(x)` whether the word is used as a name or the name is missing."""
    word = view.text(last)
    token = view.token
    used_as_name = token.kind in {"LPAR", "VBAR"} or (token.kind == "EQUAL" and last.kind == "INPUT")
    if used_as_name:
        return n.KeywordAsName(at=view.span(last), word=word), GIVE_UP
    return n.MissingName(at=view.span(last), word=word), GIVE_UP


def _after_defined_name(view: View, last: Token) -> _Found:
    """See to `const a: A`, `const a A`, `const f(x) = A`."""
    token = view.token
    word = view.text(last)
    if token.kind == "COLON":
        return n.WrongEquals(at=view.span(token), text=":"), Repair((view.one("EQUAL"),), 1)
    if token.kind in _STARTS_VALUE and token.kind != "LPAR":
        return n.MissingEquals(at=view.span(token), word=word), Repair((view.one("EQUAL"),))
    if token.kind in {"SEMICOLON", END} or begins_statement(view.source, view.tokens, view.place):
        return n.MissingEquals(at=view.gap(), word=word), Repair((view.one("EQUAL"), view.one("NAME", "missing")))
    if token.kind == "LPAR":
        return n.MissingEquals(at=view.span(token), word=word), GIVE_UP
    if token.kind == "AT":
        return n.UnexpectedText(at=view.span(token), what="`@`", expected="`=`: an `@` follows the value"), GIVE_UP
    return None


def _key_without_value(view: View) -> _Found:
    """See to a key in braces that something else than `:` follows, and to a value without one."""
    if not view.in_braces:
        return None
    token = view.token
    if not view.after_key:
        expects_key = view.before() in {"LBRACE", "COMMA"}
        if expects_key and token.kind in _STARTS_VALUE | {"AT"}:
            return n.MissingKey(at=view.span(token)), Repair((view.one("NAME", "missing"), view.one("COLON")))
        return None
    last = view.read[-1]
    if token.kind in {"LPAR", "VBAR", "AT"}:
        again = Token(last.kind, last.start, last.end, last.value)
        return n.MissingKey(at=view.span(last)), Repair((view.one("COLON"), again))
    if token.kind == "EQUAL":
        return n.EqualsForColon(at=view.span(token)), Repair((view.one("COLON"),), 1)
    if token.kind in {"COMMA", "RBRACE"} and last.kind in _KEYWORDS:
        return _as_name(view, last), Repair((view.one("COLON"), view.one("NAME", "missing")))
    if token.kind in {"COMMA", "RBRACE"}:
        return _missing_colon(view, last), Repair((view.one("COLON"), view.one("NAME", "missing")))
    if token.kind in _STARTS_VALUE and not begins_statement(view.source, view.tokens, view.place):
        alone = last.kind == "NAME" and token.kind == "NAME" and view.following.kind in {"COMMA", "RBRACE", "COLON", "NAME"}
        if alone or (last.kind == "NAME" and token.kind == "STRING" and view.following.kind == "COLON"):
            return n.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
        return _missing_colon(view, last), Repair((view.one("COLON"),))
    return None


def _missing_colon(view: View, key: Token) -> Problem:
    return n.MissingColon(at=view.span(key), key=view.text(key))


# ---- the end of a statement


def _border(view: View) -> _Found:
    """See to a statement that ends, or another that begins, where this one is not complete."""
    token = view.token
    begins = begins_statement(view.source, view.tokens, view.place) and view.following.kind != "COLON"
    if token.kind not in {"SEMICOLON", END} and not begins:
        return None
    if not view.open:
        if token.kind == "SEMICOLON":
            return n.ExtraSemicolon(at=view.span(token)), Repair(drop=1)
        return None
    if view.before() in OPENING and not view.accepts(OPENING[view.before()]):
        return _empty_group(view), GIVE_UP
    closed = _is_closed(view, stop_at_names=not view.in_braces)
    if token.kind == "SEMICOLON" and closed:
        kind = "COMMA" if view.accepts("COMMA") else "VBAR"
        problem = n.SemicolonInBrackets(at=view.span(token), opening=view.span(view.open[-1][0]))
        return problem, Repair((view.one(kind),), 1) if view.accepts(kind, view.following.kind) else Repair(drop=1)
    if token.kind == "NAME" and closed and view.accepts("COMMA"):
        return n.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
    return _unclosed(view, len(view.open))


def _unclosed(view: View, count: int) -> tuple[Problem, Repair]:
    """Close the innermost brackets."""
    inner = [token for token, _ in view.open[: -count - 1 : -1]]
    closing = tuple(view.one(OPENING[token.kind]) for token in inner)
    problem = n.MissingClosingBracket(
        at=view.gap(),
        closing="".join(_SIGNS[token.kind] for token in closing[:8]),
        openings=tuple(view.span(token) for token in inner[:8]),
    )
    return problem, Repair(closing) if view.accepts(*(token.kind for token in closing)) else GIVE_UP


def _is_closed(view: View, *, stop_at_names: bool) -> bool:
    """Tell whether all open brackets are closed before the next statement surely begins."""
    level = len(view.open)
    for index in range(view.place, min(len(view.tokens), view.place + FAR - 2)):
        kind = view.tokens[index].kind
        if kind in OPENING:
            level += 1
        elif kind in CLOSING:
            level -= 1
            if not level:
                return True
        elif index > view.place and (stop_at_names or kind != "NAME") and begins_statement(view.source, view.tokens, index):
            return False
    return False


# ---- brackets


def _closing(view: View) -> _Found:
    """See to a closing bracket that closes nothing, or the wrong thing, or too early."""
    token = view.token
    if token.kind not in CLOSING:
        return None
    at = view.span(token)
    if not view.open:
        count = 1
        while count < FAR - 2 and view.tokens[view.place + count].kind in CLOSING:
            count += 1
        end = view.tokens[view.place + count - 1].end
        text = view.text(token) if count == 1 else view.source.text[token.start : min(end, token.start + 20)]
        return n.ExtraClosingBracket(at=view.source.span(token.start, end), text=text), Repair(drop=count)
    top = view.open[-1][0]
    if OPENING[top.kind] == token.kind:
        if view.before() in OPENING:
            return _empty_group(view), Repair((view.one("NAME", "missing"),))
        if view.before() == "COMMA" and view.read[-2:-1] and view.accepts("NAME"):
            return n.ExtraComma(at=view.span(view.read[-1])), Repair((view.one("NAME", "missing"),))
        return None
    due = OPENING[top.kind]
    outer = next((depth for depth, (opening, _) in enumerate(reversed(view.open)) if OPENING[opening.kind] == token.kind), 0)
    swapped = outer == 1 and view.following.kind == due
    if not outer or swapped:
        put = (view.one(due), view.one(token.kind)) if swapped else (view.one(due),)
        problem = n.MismatchedBracket(at=at, opening=view.span(top), closing=_SIGNS[due])
        return problem, Repair(put, len(put)) if view.accepts(due) else GIVE_UP
    return _unclosed(view, outer)


def _empty_group(view: View) -> Problem:
    opening = view.read[-1]
    return n.MissingValue(at=view.span(opening), after=f"after `{_SIGNS[opening.kind]}`")


# ---- separators and other signs


def _sign(view: View) -> _Found:
    """See to a sign of the language in the wrong place."""
    token = view.token
    at = view.span(token)
    before = view.before()
    after_nothing = not view.read or before in OPENING or before in {"COMMA", "SEMICOLON"}
    match token.kind:
        case "COMMA" if not view.open:
            return n.ExtraComma(at=at, where="statement"), Repair(
                (view.one("SEMICOLON"),) if view.accepts("SEMICOLON") else (), 1
            )
        case "COMMA" if after_nothing:
            return n.ExtraComma(at=at), Repair(drop=1)
        case "COMMA" if view.open[-1][0].kind == "LPAR" and not view.open[-1][1]:
            following = view.accepts("VBAR", view.following.kind)
            return n.ExtraComma(at=at, where="group"), Repair((view.one("VBAR"),) if following else (), 1)
        case "VBAR" if after_nothing:
            return n.MissingStage(at=at, side="before"), Repair(drop=1)
        case "COLON":
            return _colon(view)
        case "EQUAL" if view.open:
            put = "COLON" if view.accepts("COLON") else "COMMA"
            return n.EqualsForColon(at=at), Repair((view.one(put),), 1) if view.accepts(put) else GIVE_UP
        case "EQUAL" if before == "EQUAL" or after_nothing:
            return n.UnexpectedText(at=at, what="`=`", expected="a name before it"), GIVE_UP
        case "EQUAL" if before in _ENDS_VALUE and view.read[0].kind != "INPUT":
            return n.EqualsAfterValue(at=at), GIVE_UP
        case "LPAR" if before in _ENDS_VALUE and view.read[0].kind != "INPUT":
            put = "COMMA" if view.open and view.accepts("COMMA") else "SEMICOLON"
            return n.BracketAfterValue(at=at), Repair((view.one(put),)) if view.accepts(put) else GIVE_UP
    return None


def _colon(view: View) -> _Found:
    token = view.token
    at = view.span(token)
    last = view.read[-1] if view.read else None
    if last and last.kind == "NAME" and view.text(last) == "aug" and last.end == token.start:
        return t.EmptyUri(at=view.source.span(last.start, token.end)), Repair(drop=1)
    if view.accepts("EQUAL"):
        return n.WrongEquals(at=at, text=":"), Repair((view.one("EQUAL"),), 1)
    separator = next((kind for kind in ("COMMA", "VBAR") if view.accepts(kind, view.following.kind)), None)
    return n.StrayColon(at=at), Repair((view.one(separator),), 1) if separator and view.open else GIVE_UP


# ---- words and values


def _as_name(view: View, token: Token) -> Problem:
    word = view.text(token)
    if token.kind in _RESERVED:
        return n.ReservedWord(at=view.span(token), word=word)
    return n.KeywordAsName(at=view.span(token), word=word)


def _keyword(view: View) -> _Found:
    """See to a word of the language where a name or nothing is expected."""
    last = view.read[-1] if view.read else None
    if last and last.kind in _KEYWORDS and view.before(2) in {"LPAR", "COMMA"} and view.open and not view.accepts("NAME"):
        if view.token.kind in {"COMMA", "RPAR", "VBAR", "AT", "LPAR"}:  # a label it could have been, a value it is not
            return _as_name(view, last), GIVE_UP
        return None
    token = view.token
    if token.kind not in _KEYWORDS:
        return None
    if view.accepts("NAME"):
        return _as_name(view, token), Repair((view.one("NAME", view.text(token)),), 1)
    if view.open and view.accepts("COMMA") and (view.following.kind == "COLON" or token.kind not in _STATEMENT):
        return n.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
    return None


def _value(view: View) -> _Found:
    """See to a value directly after another."""
    token = view.token
    if token.kind not in _STARTS_VALUE | {"AT"} or not view.open:
        return None
    if _first_on_line(view.source, view.tokens, view.place) and not _is_closed(view, stop_at_names=True):
        return _unclosed(view, len(view.open))
    if view.before() in _ENDS_VALUE and view.accepts("COMMA"):
        return n.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
    if view.before() in _ENDS_VALUE and view.accepts("VBAR", token.kind):
        return _unexpected(view), Repair((view.one("VBAR"),))
    return None


def _unexpected(view: View) -> Problem:
    """Say what was met and what could have stood there."""
    token = view.token
    if token.kind == END:
        what, at = "the end of the file", view.gap()
    else:
        what, at = f"`{view.text(token)[:40]}`", view.span(token)
    kinds = [sign for kind, sign in _SIGNS.items() if kind not in {"LPAR", "LSQB", "LBRACE"} and view.accepts(kind)]
    expected = ["a value"] if view.accepts("NUMBER") else ["a name"] if view.accepts("NAME") else []
    expected += [f"`{sign}`" for sign in kinds]
    if view.accepts(END):
        expected.append("the end of the statement")
    return n.UnexpectedText(at=at, what=what, expected=" or ".join(expected))
