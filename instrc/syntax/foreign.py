"""Habits of other languages: statements, arrows, comparisons and operators that this notation does not have."""

from __future__ import annotations

from instrc.problems import notation, statements, words
from instrc.syntax.view import GIVE_UP, SIGNS, Found, Repair, View, first_on_line

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


def foreign_statement(view: View) -> Found:
    """See to `def greet(prompt):` and its like: the first word of the line says it all."""
    first = view.place
    while first and not first_on_line(view.source, view.tokens, first):
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
    return words.ForeignStatement(at=view.span(view.tokens[first]), word=word), GIVE_UP


def foreign_sign(view: View) -> Found:
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
            problem = words.Arrow(at=at, text=text, meant=SIGNS[meant or "VBAR"])
            return problem, Repair((view.one(meant),), 1) if meant else GIVE_UP
        case "COMPARISON":
            if view.accepts("EQUAL") and text != "!=":
                return statements.WrongEquals(at=at, text=text), Repair((view.one("EQUAL"),), 1)
            if view.accepts("COLON") and text == ":=":
                return notation.EqualsForColon(at=at), Repair((view.one("COLON"),), 1)
            return words.UnknownOperator(at=at, text=text, meant=("there are no comparisons",)), _separate(view)
        case "OPERATOR":
            return words.UnknownOperator(at=at, text=text, meant=_ADVICE.get(text, ())), _separate(view)
    return None


def _separate(view: View) -> Repair:
    """Read on behind an operator as if something harmless stood there."""
    for kind in ("VBAR", "COMMA"):
        if view.accepts(kind, view.following.kind):
            return Repair((view.one(kind),), 1)
    return Repair(drop=1) if view.accepts(view.following.kind) else GIVE_UP
