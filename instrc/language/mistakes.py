"""Mistakes by context: each has a name, a place and a repair.

`diagnose` is called with a token that no rule accepts.  It examines first the preceding tokens (a `|`, a `:`, an `=` that
lacks its operand), then the token itself.
"""

from __future__ import annotations

from typing import Final

from instrc.language.block_mistakes import block_slip, called_block, head_of, inside_block, second_braces, stray_else
from instrc.language.bracket_mistakes import closing_slip, early_end, is_closed, key_slip, sign_slip, unclosed
from instrc.language.habits import FOREIGN_WITH_BRACKETS, HANDLING, is_foreign, unbracketed_reason
from instrc.language.lexer import Token
from instrc.language.tables import CLOSING, END, OPENING
from instrc.language.view import (
    BLOCK,
    DEFINING,
    ENDS_VALUE,
    GIVE_UP,
    KEYWORDS,
    SIGNS,
    STARTS_VALUE,
    STATEMENT,
    Slip,
    TokenRepair,
    View,
    begins_statement,
    first_on_line,
)
from instrc.problems import blocks, calls, habits, punctuation, statements, text
from instrc.problems.problem import Problem
from instrc.text.durations import from_words
from instrc.text.limits import HEAD_TOKENS, STRING_PREFIX
from instrc.text.source import Span

DECORATOR_TOKENS: Final = 20
"""Maximum tokens between an `@` and what it decorates."""


def string_slip(view: View) -> Slip:
    """Diagnose a string in brackets that touches a name or another string."""
    if not view.open or not view.read or view.read[-1].end != view.token.start:
        return None
    last, token = view.read[-1], view.token
    if last.kind == "STRING" and last.value is None and token.kind in {"STRING", "NAME"}:
        if token.kind == "STRING" and last.end - last.start == 2:
            return text.TripledQuotes(at=view.span(last)), GIVE_UP
        return habits.NestedQuotes(at=view.source.span(last.end - 1, last.end)), GIVE_UP
    if last.kind == "NAME" and token.kind == "STRING" and last.end - last.start <= STRING_PREFIX:
        at = view.source.span(last.start, token.end)
        return text.PrefixedString(at=at, prefix=view.text(last)), GIVE_UP
    return None


_DEADLINES = frozenset({"within", "deadline", "timeout", "delay"})
_OF_BLOCKS = frozenset({"max", "keep", "limit", "until", "while", "times"})


def value_beside(view: View) -> Slip:
    """Diagnose a word or value directly after a value in brackets, as `habits` does in statements."""
    token, following = view.token, view.following
    if view.before() not in ENDS_VALUE:
        return None
    last, word = view.read[-1], view.text(token)
    at = view.span(token)
    if word == "else" and last.kind == "RBRACE" and following.kind in {"LBRACE", "WHEN"}:
        block = view.word_of_block(view.place - 1)
        return blocks.StrayElse(at=at, block=view.text(block) if block else ""), GIVE_UP
    if word == "max" and following.kind == "NUMBER" and last.kind == "RPAR":
        bound = f"`@ {{ maxItems: {view.text(following)} }}`, which bounds a plan"
        return punctuation.UnexpectedText(at=at, what="`max`", expected=bound), GIVE_UP
    if word in _DEADLINES and following.kind in {"STRING", "NUMBER"}:
        return blocks.MisplacedDeadline(at=at, word=word, place="words"), GIVE_UP
    block = view.word_of_block(view.place - 1) if last.kind == "RBRACE" else None
    if block and following.kind == "LBRACE" and word.casefold() in blocks.INSTEAD:
        return blocks.BracesAfterName(at=at, word=word), GIVE_UP
    if block and word in _OF_BLOCKS:
        return blocks.StrayWord(at=at, word=word, block=view.text(block)), GIVE_UP
    if token.kind == "NAME" and is_foreign(word):
        return statements.ForeignStatement(at=at, word=word), GIVE_UP
    return _behind_name(view, last) if last.kind == "NAME" else None


def _behind_name(view: View, name: Token) -> Slip:
    """Diagnose names without brackets: `parallel { … }`, `all [A, B]`, `Fail "late"`, `retry 3 { … }`."""
    token, following, at = view.token, view.following, view.span(view.token)
    word = view.text(name)
    if word == "Fail" and token.kind == "STRING":
        return unbracketed_reason(at), GIVE_UP
    if (
        token.kind == "LBRACE"
        and (word.casefold() in blocks.INSTEAD or word[:1].isupper())
        and "\n" not in view.source.text[name.end : token.start]
    ):
        return blocks.BracesAfterName(at=view.span(name), word=word), GIVE_UP
    if token.kind == "LSQB" and following.kind == "NAME" and (end := view.closing(0)) is not None:
        return habits.ListOfSteps(at=view.source.span(token.start, end.end)), GIVE_UP
    if following.kind == "LBRACE" and token.kind in {"NAME", "NUMBER", "STRING"}:
        headed = token if token.kind == "NAME" else name
        return blocks.BracesAfterName(at=view.span(headed), word=view.text(headed)), GIVE_UP
    return None


_NAMES = frozenset({"NAME", "LBRACE", "LSQB"})
_VALUE_ONLY = "a value: write the statement before this one, or in braces, `do { const a = A(b); a }`"


def missing_behind(view: View) -> Slip:
    """Diagnose a sign or word before the token that lacks its operand."""
    if not view.read:
        return None
    last, token = view.read[-1], view.token
    if last.kind == "VBAR" and token.kind == "VBAR" and last.end == token.start:
        span = view.source.span(last.start, token.end)
        advice = "write one `|` to lead to the next stage; in a condition write `or`"
        head = head_of(view, but=1)
        put = "or" if head is not None and head.kind == "UNTIL" and view.ahead(2).kind == "DOT" else "|"
        return statements.UnknownOperator(at=span, text="||", advice=(advice,), put=put), TokenRepair(drop=1)
    if last.kind == "AT":
        return _after_at(view, last)
    if token.kind in KEYWORDS and not begins_statement(view.source, view.tokens, view.place):
        return None
    if last.kind == "EQUAL" or (last.kind == "COLON" and token.kind != "COLON"):
        return _without_value(view, last)
    if last.kind == "VBAR" and token.kind not in {"ARROW", "OPERATOR"}:
        return _without_value(view, last)
    if last.kind in DEFINING and view.open and view.before(2) in {"LPAR", "COMMA"} and token.kind in _NAMES:
        return punctuation.UnexpectedText(at=view.span(last), what=f"`{view.text(last)}`", expected=_VALUE_ONLY), GIVE_UP
    in_block = view.in_braces and (last.kind == "NAME" or view.accepts("NAME", "EQUAL"))
    if last.kind in STATEMENT and (in_block or (not view.open and not view.after_key)):
        return _after_defining_word(view, last)
    if last.kind == "NAME" and view.before(2) in DEFINING and (in_block or not view.open):
        return _after_defined_name(view, last)
    return None


def _after_at(view: View, last: Token) -> Slip:
    """Diagnose an `@` without a text or braces after it: `@ name`, `Draft@2`, `@tool` before a function."""
    at, token = view.span(last), view.token
    described = next((each for each in (token, view.following) if each.kind == "NAME"), None)
    if described is not None and first_on_line(view.source, view.tokens, view.place - 1) and (found := _decorated(view)):
        return found
    if view.before(2) in {"", "VBAR", "EQUAL", *OPENING} and described is not None:
        return punctuation.BadAnnotation(at=at, described=view.text(described)), GIVE_UP
    if token.kind == "NAME" and view.following.kind not in {"LPAR", "COLON"}:
        return punctuation.BadAnnotation(at=at), TokenRepair((view.one("STRING", ""),), 1)
    version = token.kind == "NUMBER" and token.start == last.end
    dropped = 1 if token.kind in {"NUMBER", "AUG_URI"} else 0
    return punctuation.BadAnnotation(at=at, version=version), TokenRepair((view.one("STRING", ""),), dropped)


_DECORATED = frozenset({"def", "async", "class", "export", "function"})


def _decorated(view: View) -> Slip:
    """Diagnose `@tool` on its own line before a function, which is the actual mistake."""
    for index in range(view.place, min(view.place + DECORATOR_TOKENS, len(view.tokens) - 1)):
        token = view.tokens[index]
        if index > view.place and first_on_line(view.source, view.tokens, index) and view.text(token) in _DECORATED:
            return statements.ForeignStatement(at=view.span(token), word=view.text(token)), TokenRepair(drop=index - view.place)
    return None


def _without_value(view: View, last: Token) -> Slip:
    """Diagnose `|`, `=` or `:` without a following stage or value."""
    at, token = view.span(last), view.token
    if token.kind == "VBAR":
        return statements.MissingStage(at=view.span(token), side="before"), TokenRepair(drop=1)
    missing = (view.one("NAME", "missing"),)
    if last.kind == "VBAR":
        return statements.MissingStage(at=at, side="after"), TokenRepair(missing)
    repair = TokenRepair(missing, 1 if token.kind == "EQUAL" else 0)
    return statements.MissingValue(at=at, after=f"after `{SIGNS[last.kind]}`"), repair


def _after_defining_word(view: View, last: Token) -> Slip:
    """Diagnose `const = A`, `tool;`, `input(x)`: a keyword used as a name, or a missing name."""
    word = view.text(last)
    token = view.token
    used_as_name = token.kind in {"LPAR", "VBAR"} or (token.kind == "EQUAL" and last.kind == "INPUT")
    if used_as_name:
        declares = word == "input" and token.kind == "LPAR"
        return statements.KeywordAsName(at=view.span(last), word=word, declares=declares), GIVE_UP
    quoted = view.text(token)[1:-1] if token.kind == "STRING" else ""
    parts = token.kind in {"LBRACE", "LSQB"}
    return statements.MissingName(at=view.span(last), word=word, parts=parts, quoted=quoted), GIVE_UP


def _after_defined_name(view: View, last: Token) -> Slip:
    """Diagnose `const a: A`, `const a A`, `const f(x) = A`."""
    token = view.token
    word = view.text(last)
    if token.kind == "COLON":
        return view.colon_for_equals()
    if token.kind == "LBRACE":
        return statements.MissingEquals(at=view.span(token), word=word), GIVE_UP
    if token.kind == "NAME" and view.following.kind == "EQUAL" and not first_on_line(view.source, view.tokens, view.place):
        return statements.ForeignStatement(at=view.span(last), word=word), GIVE_UP  # `let mut x = …`, `const string x = …`
    if token.kind in STARTS_VALUE and token.kind != "LPAR":
        return statements.MissingEquals(at=view.span(token), word=word), TokenRepair((view.one("EQUAL"),))
    if token.kind in {"SEMICOLON", END} or begins_statement(view.source, view.tokens, view.place):
        return statements.MissingEquals(at=view.gap(), word=word), TokenRepair((view.one("EQUAL"), view.one("NAME", "missing")))
    if token.kind == "LPAR":
        if _has_parameters(view):
            return habits.Parameters(at=view.span(token), word=word), GIVE_UP
        return statements.MissingEquals(at=view.span(token), word=word, called=True), GIVE_UP
    if token.kind == "AT":
        return punctuation.UnexpectedText(at=view.span(token), what="`@`", expected="`=`: an `@` follows the value"), GIVE_UP
    return None


def _has_parameters(view: View) -> bool:
    """Return whether a bracketed list of names follows, and `=` after it."""
    end = view.behind_names(1, "COMMA", "COLON")
    return view.ahead(end).kind == "RPAR" and view.ahead(end + 1).kind in {"EQUAL", "COLON", "ARROW"}


def diagnose(view: View) -> tuple[Problem, TokenRepair]:
    """Return the mistake at the next token, and its repair."""
    for rule in (
        _repeated_word,
        _duration_in_words,
        called_block,
        foreign_statement,
        string_slip,
        block_slip,
        second_braces,
        inside_block,
        stray_else,
        index_slip,
        foreign_sign,
        missing_behind,
        key_slip,
        early_end,
        closing_slip,
        sign_slip,
        _keyword,
        _value,
    ):
        if found := rule(view):
            return found
    return _unexpected(view), GIVE_UP


def _repeated_word(view: View) -> Slip:
    """Diagnose a repeated word or string: `const const`, `{ text text: x }`."""
    if not view.read:
        return None
    last, token = view.read[-1], view.token
    word = view.text(token)
    if word != view.text(last) or not (token.kind == "STRING" or word[:1].isalnum() or word[:1] == "_"):
        return None
    return statements.RepeatedWord(at=view.span(token), word=word), TokenRepair(drop=1)


def _duration_in_words(view: View) -> Slip:
    """Diagnose the unit of a duration written as a number and a word: `within: 3 days`."""
    if view.token.kind != "NAME" or view.before() != "NUMBER" or view.before(2) != "COLON":
        return None
    at = view.source.span(view.read[-1].start, view.token.end)
    instead = from_words(at.text)
    return (blocks.BadDuration(at=at, written=at.text, instead=instead), TokenRepair(drop=1)) if instead else None


def _keyword(view: View) -> Slip:
    """Diagnose a keyword where a name or nothing is expected."""
    last = view.read[-1] if view.read else None
    if last and last.kind in KEYWORDS and view.before(2) in {"LPAR", "COMMA"} and view.open and not view.accepts("NAME"):
        if view.token.kind in {"COMMA", "RPAR", "VBAR", "AT", "LPAR"}:  # a label it could have been, a value it is not
            return _as_name(view, last), GIVE_UP
        return None
    token = view.token
    if last and last.kind in BLOCK and token.kind in {"EQUAL", "VBAR", "LPAR", "AT", "COMMA", "SEMICOLON", END, *CLOSING}:
        return _as_name(view, last), GIVE_UP
    if token.kind not in KEYWORDS:
        return None
    if view.accepts("NAME"):
        return _as_name(view, token), TokenRepair((view.one("NAME", view.text(token)),), 1)
    if view.open and view.accepts("COMMA") and (view.following.kind == "COLON" or token.kind not in STATEMENT):
        return punctuation.MissingComma(at=view.span(token)), TokenRepair((view.one("COMMA"),))
    return None


def _as_name(view: View, token: Token) -> Problem:
    return statements.KeywordAsName(at=view.span(token), word=view.text(token))


def _value(view: View) -> Slip:
    """Diagnose a value directly after another."""
    token = view.token
    if token.kind not in STARTS_VALUE | {"AT"} or not view.open:
        return None
    if first_on_line(view.source, view.tokens, view.place) and not is_closed(view, stop_at_names=True):
        return unclosed(view, len(view.open))
    last = view.read[-1] if view.read else token
    if slip := value_beside(view):
        return slip
    if view.before() in ENDS_VALUE and view.accepts("COMMA"):
        return _missing_comma(view, last), TokenRepair((view.one("COMMA"),))
    if view.before() in ENDS_VALUE and view.accepts("VBAR", token.kind):
        return _unexpected(view), TokenRepair((view.one("VBAR"),))
    return None


def _missing_comma(view: View, last: Token) -> Problem:
    """Return the problem of two adjacent values, the first perhaps an argument name, as in `Send(to people.names)`."""
    labels = last.kind == "NAME" and view.before(2) in {"LPAR", "COMMA"} and view.open[-1][1] and view.following.kind != "COLON"
    key = view.span(last) if labels and not is_defined(view, view.text(last)) else None
    keyed = view.token.kind in {"NAME", "STRING"}
    return punctuation.MissingComma(at=view.span(view.token), key=key, sure=keyed or not view.in_braces)


def _unexpected(view: View) -> Problem:
    """Report an unexpected token, and what was expected."""
    token = view.token
    if token.kind == END:
        what, at = "the end of the file", view.gap()
    else:
        what, at = f"`{view.text(token)[:40]}`", view.span(token)
    kinds = [sign for kind, sign in SIGNS.items() if kind not in {"LPAR", "LSQB", "LBRACE"} and view.accepts(kind)]
    expected = ["a value"] if view.accepts("NUMBER") else ["a name"] if view.accepts("NAME") else []
    expected += [f"`{sign}`" for sign in kinds]
    if view.before() == "DOT":
        expected = ["the name of a member, or no `.` before it"]
    elif token.kind == "DOT" and view.before() in {"RBRACE", "RPAR"}:
        return punctuation.UnexpectedText(at=at, what=what, expected="a name before it: `const found = …;`, then `found.NAME`")
    if view.accepts(END):
        expected.append("the end of the statement")
    return punctuation.UnexpectedText(at=at, what=what, expected=" or ".join(expected))


_BESIDE = "write `|` for consecutive steps, `{ a: A, b: B }` for parallel ones"
_WHOLE = "pass the whole value, `f(people)`, or its members by their paths, `f(people.names)`"
_TEMPLATE = "there are no templates: write `when PATH { … } else { … }`, `each NAME in PATH { … }`"
_COMPARED = "there are no comparisons outside of conditions: write `when PATH is VALUE { … } else { … }`"
_ADVICE = {
    "&&": (_BESIDE,),
    "&": (_BESIDE,),
    "??": ("for a value in place of `null` write `when PATH @ {} { … } else { … }`",),
    "||": ("write one `|` to lead to the next stage; in a condition write `or`",),
    "?": ("write `when PATH { … } else { … }`",),
    "?.": ("write `.`: a missing member is `null`",),
    "!": ("put the other case after `else`",),
    "[": ("write `.NAME` for a member",),
    "<": ("a call is written with round brackets",),
    ">": ("write `|` to lead to the next stage; in a condition, compare with a JSON Schema: `PATH @ { exclusiveMinimum: 3 }`",),
    ".": ("a path is written `name.member`",),
    "..": (_WHOLE,),
    "...": (_WHOLE,),
    "*": (_WHOLE,),
    "**": (_WHOLE,),
    "::": ("a path is written `name.member`",),
    "$": ("a name has no sign before it",),
    "\\": ("a line break needs no sign, and there are no anonymous functions: write the call itself",),
    "/": ("a comment begins with `//` or `/*`",),
    "--": ("a comment begins with `//`",),
}
ELSE_IF = frozenset({"elif", "elsif", "elseif"})
_FOR_EACH = frozenset({"forEach", "foreach", "for_each", "map", "filter", "flatMap"})


def foreign_statement(view: View) -> Slip:
    """Diagnose `def greet(prompt):` and similar statements by the first word of the line."""
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
    """Return whether a foreign statement begins within a line: at the start of a body, a call or a value."""
    token, following = view.tokens[place], view.tokens[place + 1].kind
    if token.kind != "NAME" or place == 0 or view.tokens[place - 1].kind not in _BEFORE_PARTS:
        return False
    word = view.text(token)
    if following == "LPAR":
        return word in FOREIGN_WITH_BRACKETS
    return following in _BEHIND_WORDS and (is_foreign(word) or word in _FOR_EACH - {"map", "filter"})


def foreign_sign(view: View) -> Slip:
    """Diagnose arrows, comparisons and operators that the language lacks."""
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
    """Return whether a parameter precedes an arrow, so that the statement after the arrow reads it."""
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
    """Continue after an operator as if it were a separator."""
    for kind in ("VBAR", "COMMA"):
        if view.accepts(kind, view.following.kind):
            return TokenRepair((view.one(kind),), 1)
    return TokenRepair(drop=1) if view.accepts(view.following.kind) else GIVE_UP


def _is_ternary(view: View) -> bool:
    """Return whether a `:` occurs outside brackets on the same line, as in `ok ? A : B`."""
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
    """Return the advice for an operator, derived from its neighbours."""
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
        return "remove the Markdown: write the name alone"
    if text == "**" and view.following.kind == "LBRACE":
        return "write the braces alone: `f({ … })`"
    return ""


def index_slip(view: View) -> Slip:
    """Diagnose `people[0]` and `people.0`: there is no indexing."""
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
    """Return the place of `[0]` in `people[0].name`, which was parsed as a list after a value."""
    end = view.place - 1
    opening = end - 2
    if opening < 1 or [view.tokens[at].kind for at in (opening, end)] != ["LSQB", "RSQB"]:
        return None
    before, bracket = view.tokens[opening - 1], view.tokens[opening]
    indexed = before.kind in ENDS_VALUE and before.end == bracket.start
    return view.source.span(bracket.start, view.tokens[end].end) if indexed else None


def is_defined(view: View, name: str) -> bool:
    """Return whether a name has been defined as a value before the mistake."""
    if name == "prompt":
        return True
    pairs = zip(view.tokens[: view.place], view.tokens[1 : view.place], strict=False)
    return any(view.text(one) == name and other.kind == "EQUAL" for one, other in pairs)
