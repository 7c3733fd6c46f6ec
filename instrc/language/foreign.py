"""Habits of other languages: statements, arrows, comparisons and operators that this notation does not have."""

from __future__ import annotations

from instrc.language.habits import FOREIGN_WITH_BRACKETS, HANDLING, is_foreign
from instrc.language.lexer import Token
from instrc.language.view import (
    CLOSING,
    ENDS_VALUE,
    GIVE_UP,
    KEYWORDS,
    OPENING,
    SIGNS,
    STATEMENT,
    Slip,
    TokenRepair,
    View,
    first_on_line,
)
from instrc.problems import calls, habits, punctuation, statements
from instrc.text.limits import HEAD_TOKENS
from instrc.text.source import Span

_BESIDE = "write `|` for one step after the other, `{ a: A, b: B }` for steps beside each other"
_WHOLE = "hand over the value whole, `f(people)`, or its members by their paths, `f(people.names)`"
_TEMPLATE = "there are no templates: write `when PATH { … } else { … }`, `each NAME in PATH { … }`"
_COMPARED = "there are no comparisons outside of conditions: choose by `when PATH is VALUE { … } else { … }`"
_ADVICE = {
    "&&": (_BESIDE,),
    "&": (_BESIDE,),
    "??": ("for a value in place of `null` write `when PATH @ {} { … } else { … }`",),
    "||": ("write one `|` to lead to the next stage; in a condition write `or`",),
    "?": ("write `when PATH { … } else { … }`",),
    "?.": ("write `.`: what is not there is `null`",),
    "!": ("put what is to happen otherwise behind `else`",),
    "[": ("write `.NAME` for a member",),
    "<": ("a call is written with round brackets",),
    ">": ("write `|` to lead to the next stage; compare in a condition by a JSON Schema: `PATH @ { exclusiveMinimum: 3 }`",),
    ".": ("a path is written `name.member`",),
    "..": (_WHOLE,),
    "...": (_WHOLE,),
    "*": (_WHOLE,),
    "**": (_WHOLE,),
    "::": ("a path is written `name.member`",),
    "$": ("a name is written without a sign before it",),
    "\\": ("a line break needs no sign, and there are no functions without a name: write the call itself",),
    "/": ("a comment begins with `//` or `/*`",),
    "--": ("a comment begins with `//`",),
}
ELSE_IF = frozenset({"elif", "elsif", "elseif"})
_FOR_EACH = frozenset({"forEach", "foreach", "for_each", "map", "filter", "flatMap"})


def foreign_statement(view: View) -> Slip:
    """See to `def greet(prompt):` and its like: the first word of the line says it all."""
    first, part = view.place, None
    while first and not first_on_line(view.source, view.tokens, first):
        first -= 1
        if view.place - first > HEAD_TOKENS:
            return part
        token = view.tokens[first]
        if part is None and _begins_part(view, first):
            part = statements.ForeignStatement(at=view.span(token), word=view.text(token)), GIVE_UP
        if view.text(token) in ELSE_IF and view.tokens[first - 1].kind == "RBRACE":
            return statements.ForeignStatement(at=view.span(token), word=view.text(token)), GIVE_UP
        if token.kind == "NAME" and view.text(token) == "lambda" and view.tokens[first + 1].kind in {"NAME", "COLON"}:
            return statements.ForeignStatement(at=view.span(token), word="lambda"), GIVE_UP
    if first == view.place or view.tokens[first].kind != "NAME":
        return part
    word = view.text(view.tokens[first])
    follows = view.tokens[first + 1].kind
    if follows == "COLON" and word in HANDLING:  # other words before a `:` may be meant as names
        return statements.ForeignStatement(at=view.span(view.tokens[first]), word=word), GIVE_UP
    if follows in {"EQUAL", "VBAR", "SEMICOLON", "COLON"} or (not is_foreign(word) and follows != "LPAR"):
        return part
    if follows == "LPAR" and word not in FOREIGN_WITH_BRACKETS:
        return part
    return statements.ForeignStatement(at=view.span(view.tokens[first]), word=word), GIVE_UP


_BEFORE_PARTS = frozenset({"LBRACE", "LPAR", "COMMA", "SEMICOLON", "EQUAL", "VBAR"})
_BEHIND_WORDS = STATEMENT | {"NAME", "STRING", "NUMBER", "OPERATOR", "TRUE", "FALSE"}


def _begins_part(view: View, place: int) -> bool:
    """Return whether a statement of another language begins in a line: behind what opens a body, a call or a value."""
    token, following = view.tokens[place], view.tokens[place + 1].kind
    if token.kind != "NAME" or place == 0 or view.tokens[place - 1].kind not in _BEFORE_PARTS:
        return False
    word = view.text(token)
    if following == "LPAR":
        return word in FOREIGN_WITH_BRACKETS
    return following in _BEHIND_WORDS and (is_foreign(word) or word in _FOR_EACH - {"map", "filter"})


def foreign_sign(view: View) -> Slip:
    """See to arrows, comparisons and operators that this notation does not have."""
    token = view.token
    text = view.text(token)
    at = view.span(token)
    match token.kind:
        case "ARROW":
            order: tuple[str, ...] = ("COLON", "VBAR", "EQUAL") if view.in_braces or text == "=>" else ("VBAR", "COLON", "EQUAL")
            if text in {"|>", ">>"}:
                order = ("VBAR",)
            if text == "=>" and (loop := _loop_around(view)) is not None:
                return statements.ForeignStatement(at=view.span(loop), word=view.text(loop)), GIVE_UP
            if text == "=>" and _is_function(view):
                return statements.ForeignStatement(at=at, word=text), GIVE_UP
            if text == "->" and view.read and view.read[-1].end == token.start and view.accepts("DOT", view.following.kind):
                return statements.Arrow(at=at, text=text, instead="."), TokenRepair((view.one("DOT"),), 1)
            sign = next((kind for kind in order if view.accepts(kind)), None)
            problem = statements.Arrow(at=at, text=text, instead=SIGNS[sign or "VBAR"])
            return problem, TokenRepair((view.one(sign),), 1) if sign else GIVE_UP
        case "COMPARISON":
            if view.accepts("EQUAL") and text != "!=":
                return statements.WrongEquals(at=at, text=text), TokenRepair((view.one("EQUAL"),), 1)
            if view.accepts("COLON") and text == ":=":
                return punctuation.EqualsForColon(at=at), TokenRepair((view.one("COLON"),), 1)
            return statements.UnknownOperator(at=at, text=text, advice=(_COMPARED,)), _separate(view)
        case "OPERATOR" if text == "?" and _is_ternary(view):
            return statements.UnknownOperator(at=at, text=text, advice=_ADVICE[text]), GIVE_UP
        case "OPERATOR":
            put = "." if text == "?." else ""
            if text == "%" and view.before() == "LBRACE":
                return statements.UnknownOperator(at=at, text=text, advice=(_TEMPLATE,)), GIVE_UP
            if advice := _beside_operator(view):
                return statements.UnknownOperator(at=at, text=text, advice=(advice,)), _separate(view)
            return statements.UnknownOperator(at=at, text=text, advice=_ADVICE.get(text, ()), put=put), _separate(view)
        case "METRIC" if view.in_braces and view.before() in {"LBRACE", "COMMA"}:
            if view.following.kind in {"COMMA", "RBRACE"}:
                named = statements.UnknownOperator(at=at, text="$", advice=("a name begins without it",), put=text[1:])
                return named, TokenRepair((view.one("NAME", text[1:]),), 1)
            quoted = f'write it in quotes: `"{text}"`'
            return statements.UnknownOperator(at=at, text="$", advice=(quoted,), put=f'"{text}"'), TokenRepair(
                (view.one("STRING", text),), 1
            )
        case "METRIC":
            return statements.UnknownOperator(
                at=at, text="$", advice=("a name begins without it; it begins a metric in a path",)
            ), GIVE_UP
    return None


def _loop_around(view: View) -> Token | None:
    """Return the `forEach` or `map` whose brackets are open: `forEach(people, person => …)`."""
    depth = 0
    for at in range(len(view.read) - 1, max(len(view.read) - 50, 0), -1):
        kind = view.read[at].kind
        depth += (kind in {"LPAR", "LBRACE"}) - (kind in {"RPAR", "RBRACE"})
        before = view.read[at - 1]
        if kind == "LPAR" and depth > 0 and before.kind == "NAME" and view.text(before) in _FOR_EACH:
            return before
    return None


def _is_function(view: View) -> bool:
    """Return whether what stands before an arrow is a parameter: the statement behind the arrow reads it."""
    names = set()
    for token in reversed(view.read):
        if token.kind not in {"NAME", "LPAR", "RPAR", "COMMA"}:
            break
        names.add(view.text(token) if token.kind == "NAME" else "")
    if view.before() == "LPAR" or view.before(2) == "LPAR":
        return True
    if view.before() == "RPAR" and view.before(3) == "LPAR" and view.before(4) != "NAME":
        return True
    behind = view.tokens[view.place + 1 : view.place + 30]
    return any(token.kind == "NAME" and view.text(token) in names for token in behind)


def _separate(view: View) -> TokenRepair:
    """Read on behind an operator as if something harmless stood there."""
    for kind in ("VBAR", "COMMA"):
        if view.accepts(kind, view.following.kind):
            return TokenRepair((view.one(kind),), 1)
    return TokenRepair(drop=1) if view.accepts(view.following.kind) else GIVE_UP


def _is_ternary(view: View) -> bool:
    """Return whether a `:` stands outside of brackets on the same line, as in `ok ? A : B`."""
    depth = 0
    for at in range(view.place + 1, min(view.place + HEAD_TOKENS, len(view.tokens))):
        token = view.tokens[at]
        depth += (token.kind in OPENING) - (token.kind in CLOSING)
        if depth < 0 or first_on_line(view.source, view.tokens, at):
            return False
        if not depth and token.kind == "COLON":
            return True
    return False


def _beside_operator(view: View) -> str:
    """Return the advice for an operator that what stands beside it makes clear."""
    token = view.token
    text = view.text(token)
    behind = bool(view.read) and view.read[-1].end == token.start and view.before() in ENDS_VALUE
    if text == "!" and behind:
        return "remove it"
    if text == "%" and view.before() == "NUMBER" and behind:
        return "write the number alone"
    if text in {"..", "..."} and view.following.kind in CLOSING:
        return "leave it out, or write the value"
    if text == "**" and not view.read and "**" in view.source.text[token.end : token.end + 200].partition("\n")[0]:
        return "remove the signs of Markdown: a name is written alone"
    if text == "**" and view.following.kind == "LBRACE":
        return "write the braces alone: `f({ … })`"
    return ""


def index_slip(view: View) -> Slip:
    """See to `people[0]` and `people.0`: no part of a value is picked by brackets or numbers."""
    token = view.token
    touching = bool(view.read) and view.read[-1].end == token.start
    if token.kind == "DOT" and (index := _index_before(view)) is not None:
        return habits.IndexedValue(at=index), GIVE_UP
    if token.kind == "LSQB" and touching and view.before() in ENDS_VALUE:
        return habits.IndexedValue(at=view.span(token)), GIVE_UP
    if token.kind == "LPAR" and view.before(2) == "DOT" and (word := view.text(view.read[-1])) in _FOR_EACH:
        return statements.ForeignStatement(at=view.span(view.read[-1]), word=word), GIVE_UP
    if token.kind == "LPAR" and view.before(2) == "DOT" and view.before() in {"NAME", *KEYWORDS} and touching:
        bare = view.before(3) == "NAME" and view.before(4) != "DOT"
        defined = bare and is_defined(view, view.text(view.read[-3]))
        member = view.text(view.read[-1])
        return calls.BracketAfterValue(at=view.span(token), member=member, of_value=not bare or defined), GIVE_UP
    if token.kind == "NUMBER" and touching and view.before() == "DOT":
        return habits.IndexedValue(at=view.span(token)), GIVE_UP
    return None


def _index_before(view: View) -> Span | None:
    """Return the place of `[0]` in `people[0].name`, which was read as a list behind a value."""
    end = view.place - 1
    opening = end - 2
    if opening < 1 or [view.tokens[at].kind for at in (opening, end)] != ["LSQB", "RSQB"]:
        return None
    before, bracket = view.tokens[opening - 1], view.tokens[opening]
    indexed = before.kind in ENDS_VALUE and before.end == bracket.start
    return view.source.span(bracket.start, view.tokens[end].end) if indexed else None


def is_defined(view: View, name: str) -> bool:
    """Return whether a name is that of a value, as far as can be seen before it."""
    if name == "prompt":
        return True
    pairs = zip(view.tokens[: view.place], view.tokens[1 : view.place], strict=False)
    return any(view.text(one) == name and other.kind == "EQUAL" for one, other in pairs)
