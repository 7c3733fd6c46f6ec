"""Mistakes that people make, by what stands where: each has a name, a place and a way to be mended.

`diagnose` is asked about a token that no rule takes.  It looks first at what stands before (a `|`, a `:`, an `=` that
waits for something), then at the token itself.
"""

from __future__ import annotations

from instrc.naming import snake
from instrc.problems import brackets, habits, notation, statements, words
from instrc.problems.problem import Problem
from instrc.syntax.blocks import block_slip, inside_block, stray_else
from instrc.syntax.foreign import foreign_sign, foreign_statement, index_slip
from instrc.syntax.tables import END
from instrc.syntax.tokens import Token
from instrc.syntax.view import (
    BLOCK,
    CLOSING,
    DEFINING,
    ENDS_VALUE,
    FAR,
    GIVE_UP,
    KEYWORDS,
    OPENING,
    SIGNS,
    STARTS_VALUE,
    STATEMENT,
    Found,
    Repair,
    View,
    begins_statement,
    first_on_line,
)

_LONGEST_SHOWN = 60
"""Characters of a path or name that a hint repeats."""


def diagnose(view: View) -> tuple[Problem, Repair]:
    """Name the mistake that the next token shows, and tell how to go on."""
    for rule in (
        foreign_statement,
        block_slip,
        inside_block,
        stray_else,
        index_slip,
        foreign_sign,
        _waiting,
        _key_without_value,
        _border,
        _closing,
        _sign,
        _keyword,
        _value,
    ):
        if found := rule(view):
            return found
    return _unexpected(view), GIVE_UP


# ---- something before the token waits


def _waiting(view: View) -> Found:
    """Look for a sign or word before the token that announces something."""
    if not view.read:
        return None
    last, token = view.read[-1], view.token
    at = view.span(last)
    dummy = Repair((view.one("NAME", "missing"),))
    if last.kind == "VBAR" and token.kind == "VBAR" and last.end == token.start:
        both = view.source.span(last.start, token.end)
        advice = "write one `|` to lead to the next stage; in a condition write `or`"
        return words.UnknownOperator(at=both, text="||", meant=(advice,), put="|"), Repair(drop=1)
    keyword = token.kind in KEYWORDS and not begins_statement(view.source, view.tokens, view.place)
    if last.kind == "AT":
        described = next((each for each in (token, view.following) if each.kind == "NAME"), None)
        if view.before(2) in {"", "VBAR", "EQUAL", *OPENING} and described is not None:
            return notation.BadAnnotation(at=at, described=view.text(described)), GIVE_UP
        if token.kind == "NAME" and view.following.kind not in {"LPAR", "COLON"}:
            return notation.BadAnnotation(at=at), Repair((view.one("STRING", ""),), 1)
        version = token.kind == "NUMBER" and token.start == last.end
        dropped = 1 if token.kind in {"NUMBER", "AUG_URI"} else 0
        return notation.BadAnnotation(at=at, version=version), Repair((view.one("STRING", ""),), dropped)
    if keyword:
        return None
    if last.kind == "VBAR" and token.kind not in {"ARROW", "OPERATOR"}:
        if token.kind == "VBAR":
            return statements.MissingStage(at=view.span(token), side="before"), Repair(drop=1)
        return statements.MissingStage(at=at, side="after"), dummy
    if last.kind == "EQUAL" or (last.kind == "COLON" and token.kind != "COLON"):
        if token.kind == "VBAR":
            return statements.MissingStage(at=view.span(token), side="before"), Repair(drop=1)
        return statements.MissingValue(at=at, after=f"after `{SIGNS[last.kind]}`"), Repair(
            dummy.put, 1 if token.kind == "EQUAL" else 0
        )
    if last.kind in STATEMENT and not view.open and not view.after_key:
        return _after_defining_word(view, last)
    if last.kind == "NAME" and view.before(2) in DEFINING and not view.open:
        return _after_defined_name(view, last)
    return None


def _after_defining_word(view: View, last: Token) -> Found:
    """Tell in `const = A`, `tool;`, `input(x)` whether the word is used as a name or the name is missing."""
    word = view.text(last)
    token = view.token
    used_as_name = token.kind in {"LPAR", "VBAR"} or (token.kind == "EQUAL" and last.kind == "INPUT")
    if used_as_name:
        return words.KeywordAsName(at=view.span(last), word=word), GIVE_UP
    return statements.MissingName(at=view.span(last), word=word, parts=token.kind in {"LBRACE", "LSQB"}), GIVE_UP


def _after_defined_name(view: View, last: Token) -> Found:
    """See to `const a: A`, `const a A`, `const f(x) = A`."""
    token = view.token
    word = view.text(last)
    if token.kind == "COLON":
        if view.following.kind == "NAME" and view.tokens[min(view.place + 2, len(view.tokens) - 1)].kind == "EQUAL":
            return statements.WrongEquals(at=view.span(token), text=":", typed=view.text(view.following)), Repair(drop=2)
        return statements.WrongEquals(at=view.span(token), text=":"), Repair((view.one("EQUAL"),), 1)
    if token.kind == "LBRACE":
        return statements.MissingEquals(at=view.span(token), word=word), GIVE_UP
    if token.kind in STARTS_VALUE and token.kind != "LPAR":
        return statements.MissingEquals(at=view.span(token), word=word), Repair((view.one("EQUAL"),))
    if token.kind in {"SEMICOLON", END} or begins_statement(view.source, view.tokens, view.place):
        return statements.MissingEquals(at=view.gap(), word=word), Repair((view.one("EQUAL"), view.one("NAME", "missing")))
    if token.kind == "LPAR":
        if _has_parameters(view):
            return habits.Parameters(at=view.span(token), word=word), GIVE_UP
        return statements.MissingEquals(at=view.span(token), word=word), GIVE_UP
    if token.kind == "AT":
        return notation.UnexpectedText(at=view.span(token), what="`@`", expected="`=`: an `@` follows the value"), GIVE_UP
    return None


def _has_parameters(view: View) -> bool:
    """Tell whether brackets of names follow, and `=` behind them."""
    index = view.place + 1
    while index < len(view.tokens) - 1 and view.tokens[index].kind in {"NAME", "COMMA", "COLON"}:
        index += 1
    return view.tokens[index].kind == "RPAR" and view.tokens[min(index + 1, len(view.tokens) - 1)].kind in {
        "EQUAL",
        "COLON",
        "ARROW",
    }


def _key_without_value(view: View) -> Found:
    """See to a key in braces that something else than `:` follows, and to a value without one."""
    if not view.in_braces:
        return None
    token = view.token
    if not view.after_key:
        expects_key = view.before() in {"LBRACE", "COMMA"}
        if token.kind == "LBRACE" and view.before() == "LBRACE":
            return habits.DoubledBraces(at=view.span(token)), GIVE_UP
        if expects_key and token.kind in STARTS_VALUE | {"AT"}:
            return notation.MissingKey(at=view.span(token)), Repair((view.one("NAME", "missing"), view.one("COLON")))
        return None
    last = view.read[-1]
    if token.kind in {"LPAR", "VBAR", "AT", "DOT"}:
        again = Token(last.kind, last.start, last.end, last.value)
        problem = notation.MissingKey(at=view.span(last), shown=_with_key(view, last))
        return problem, Repair((view.one("COLON"), again))
    if token.kind == "EQUAL":
        return notation.EqualsForColon(at=view.span(token)), Repair((view.one("COLON"),), 1)
    if token.kind in {"COMMA", "RBRACE"} and last.kind in KEYWORDS:
        return _as_name(view, last), Repair((view.one("COLON"), view.one("NAME", "missing")))
    if token.kind in {"COMMA", "RBRACE"}:
        return _missing_colon(view, last), Repair((view.one("COLON"), view.one("NAME", "missing")))
    if token.kind in STARTS_VALUE and not begins_statement(view.source, view.tokens, view.place):
        alone = last.kind == "NAME" and token.kind == "NAME" and view.following.kind in {"COMMA", "RBRACE", "COLON", "NAME"}
        if alone or (last.kind == "NAME" and token.kind == "STRING" and view.following.kind == "COLON"):
            return brackets.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
        return _missing_colon(view, last), Repair((view.one("COLON"),))
    return None


def _with_key(view: View, last: Token) -> str:
    """Return a path or a call with a key that fits it; nothing for what is neither, or too long to show."""
    word = view.text(last)
    if last.kind != "NAME" or view.token.kind not in {"DOT", "LPAR"}:
        return ""
    if view.token.kind == "LPAR":
        return f"{snake(word)}: {word}(…)" if len(word) < _LONGEST_SHOWN else ""
    end = view.place
    while end + 1 < len(view.tokens) and view.tokens[end].kind == "DOT" and view.tokens[end + 1].kind == "NAME":
        end += 2
    path = view.source.text[last.start : view.tokens[end - 1].end]
    return f"{view.text(view.tokens[end - 1])}: {path}" if end > view.place and len(path) < _LONGEST_SHOWN else ""


def _missing_colon(view: View, key: Token) -> Problem:
    return notation.MissingColon(at=view.span(key), key=view.text(key))


# ---- the end of a statement


def _border(view: View) -> Found:
    """See to a statement that ends, or another that begins, where this one is not complete."""
    token = view.token
    begins = begins_statement(view.source, view.tokens, view.place) and view.following.kind != "COLON"
    if token.kind not in {"SEMICOLON", END} and not begins:
        return None
    if not view.open:
        if token.kind == "SEMICOLON":
            return brackets.ExtraSemicolon(at=view.span(token)), Repair(drop=1)
        return None
    if view.before() in OPENING and not view.accepts(OPENING[view.before()]):
        return _empty_group(view), GIVE_UP
    closed = _is_closed(view, stop_at_names=not view.in_braces)
    if token.kind == "SEMICOLON" and closed:
        kind = "COMMA" if view.accepts("COMMA") else "VBAR"
        problem = brackets.SemicolonInBrackets(at=view.span(token), opening=view.span(view.open[-1][0]))
        return problem, Repair((view.one(kind),), 1) if view.accepts(kind, view.following.kind) else Repair(drop=1)
    if token.kind == "NAME" and closed and view.accepts("COMMA"):
        return brackets.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
    return _unclosed(view, len(view.open))


def _unclosed(view: View, count: int) -> tuple[Problem, Repair]:
    """Close the innermost brackets."""
    inner = [token for token, _ in view.open[: -count - 1 : -1]]
    closing = tuple(view.one(OPENING[token.kind]) for token in inner)
    problem = brackets.MissingClosingBracket(
        at=view.gap(),
        closing="".join(SIGNS[token.kind] for token in closing[:8]),
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


def _closing(view: View) -> Found:
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
        return brackets.ExtraClosingBracket(at=view.source.span(token.start, end), text=text), Repair(drop=count)
    top = view.open[-1][0]
    if OPENING[top.kind] == token.kind:
        if token.kind == "RBRACE" and (defined := _defined_last(view)):
            missing = statements.MissingValue(at=at, after="at the end of this block", defined=defined)
            return missing, Repair((view.one("SEMICOLON"), view.one("NAME", defined)))
        if view.before() in OPENING:
            return _empty_group(view), Repair((view.one("NAME", "missing"),))
        if view.before() == "COMMA" and view.read[-2:-1] and view.accepts("NAME"):
            return brackets.ExtraComma(at=view.span(view.read[-1])), Repair((view.one("NAME", "missing"),))
        return None
    due = OPENING[top.kind]
    outer = next((depth for depth, (opening, _) in enumerate(reversed(view.open)) if OPENING[opening.kind] == token.kind), 0)
    swapped = outer == 1 and view.following.kind == due
    if not outer or swapped:
        put = (view.one(due), view.one(token.kind)) if swapped else (view.one(due),)
        problem = brackets.MismatchedBracket(at=at, opening=view.span(top), closing=SIGNS[due])
        return problem, Repair(put, len(put)) if view.accepts(due) else GIVE_UP
    return _unclosed(view, outer)


def _defined_last(view: View) -> str:
    """Return the name that the last statement of a block defines, where its value is complete; else nothing."""
    if view.before() not in ENDS_VALUE or not view.accepts("SEMICOLON", "NAME", "RBRACE"):
        return ""
    level = 0
    for place in range(len(view.read) - 1, 0, -1):
        kind = view.read[place].kind
        level += (kind in CLOSING) - (kind in OPENING)
        if level < 0 or (not level and kind == "SEMICOLON"):
            return ""
        if not level and kind == "EQUAL":
            return view.text(view.read[place - 1])
    return ""


def _empty_group(view: View) -> Problem:
    opening = view.read[-1]
    return statements.MissingValue(at=view.span(opening), after=f"after `{SIGNS[opening.kind]}`")


# ---- separators and other signs


def _sign(view: View) -> Found:
    """See to a sign of the language in the wrong place."""
    token = view.token
    at = view.span(token)
    before = view.before()
    after_nothing = not view.read or before in OPENING or before in {"COMMA", "SEMICOLON"}
    match token.kind:
        case "COMMA" if not view.open and view.before() == "NAME" and view.before(2) in STATEMENT:
            return brackets.ExtraComma(at=at, where="names"), GIVE_UP
        case "COMMA" if not view.open:
            return brackets.ExtraComma(at=at, where="statement"), Repair(
                (view.one("SEMICOLON"),) if view.accepts("SEMICOLON") else (), 1
            )
        case "COMMA" if after_nothing:
            return brackets.ExtraComma(at=at), Repair(drop=1)
        case "COMMA" if (arrow := _arrow_behind(view)) is not None:
            return words.ForeignStatement(at=view.span(arrow), word="=>"), GIVE_UP
        case "COMMA" if view.open[-1][0].kind == "LPAR" and not view.open[-1][1]:
            following = view.accepts("VBAR", view.following.kind)
            return brackets.ExtraComma(at=at, where="group"), Repair((view.one("VBAR"),) if following else (), 1)
        case "VBAR" if after_nothing:
            return statements.MissingStage(at=at, side="before"), Repair(drop=1)
        case "EQUAL" | "COLON" if not view.open and before == "NAME" and view.before(2) == "INPUT":
            written = '@ { default: "…" }' if token.kind == "EQUAL" else '@ { type: "string" }'
            sign = view.text(token)
            expected = f"`@`: an input says its default and type by a schema, as in `{written}`"
            return notation.UnexpectedText(at=at, what=f"`{sign}`", expected=expected), GIVE_UP
        case "COLON":
            return _colon(view)
        case "EQUAL" if view.open:
            put = "COLON" if view.accepts("COLON") else "COMMA"
            return notation.EqualsForColon(at=at), Repair((view.one(put),), 1) if view.accepts(put) else GIVE_UP
        case "EQUAL" if before == "EQUAL" or after_nothing:
            return notation.UnexpectedText(at=at, what="`=`", expected="a name before it"), GIVE_UP
        case "EQUAL" if before in ENDS_VALUE and view.read[0].kind != "INPUT":
            return statements.EqualsAfterValue(at=at), GIVE_UP
        case "LPAR" if before in ENDS_VALUE and view.read[0].kind != "INPUT":
            put = "COMMA" if view.open and view.accepts("COMMA") else "SEMICOLON"
            return brackets.BracketAfterValue(at=at), Repair((view.one(put),)) if view.accepts(put) else GIVE_UP
    return None


def _arrow_behind(view: View) -> Token | None:
    """Return the `=>` behind brackets that hold names only: `(x, y) => Draft(x)`."""
    index = view.place
    while index < len(view.tokens) - 1 and view.tokens[index].kind in {"NAME", "COMMA"}:
        index += 1
    behind = view.tokens[min(index + 1, len(view.tokens) - 1)]
    return behind if view.tokens[index].kind == "RPAR" and view.text(behind) == "=>" else None


def _colon(view: View) -> Found:
    token = view.token
    at = view.span(token)
    last = view.read[-1] if view.read else None
    if last and last.kind == "NAME" and view.text(last) == "aug" and last.end == token.start:
        return words.EmptyUri(at=view.source.span(last.start, token.end)), Repair(drop=1)
    if view.accepts("EQUAL"):
        return statements.WrongEquals(at=at, text=":"), Repair((view.one("EQUAL"),), 1)
    separator = next((kind for kind in ("COMMA", "VBAR") if view.accepts(kind, view.following.kind)), None)
    return notation.StrayColon(at=at), Repair((view.one(separator),), 1) if separator and view.open else GIVE_UP


# ---- words and values


def _as_name(view: View, token: Token) -> Problem:
    return words.KeywordAsName(at=view.span(token), word=view.text(token))


def _keyword(view: View) -> Found:
    """See to a word of the language where a name or nothing is expected."""
    last = view.read[-1] if view.read else None
    if last and last.kind in KEYWORDS and view.before(2) in {"LPAR", "COMMA"} and view.open and not view.accepts("NAME"):
        if view.token.kind in {"COMMA", "RPAR", "VBAR", "AT", "LPAR"}:  # a label it could have been, a value it is not
            return _as_name(view, last), GIVE_UP
        return None
    token = view.token
    if last and last.kind in BLOCK and token.kind in {"EQUAL", "VBAR", "LPAR", "AT", "COMMA", "RPAR", "SEMICOLON", END}:
        return _as_name(view, last), GIVE_UP
    if token.kind not in KEYWORDS:
        return None
    if view.accepts("NAME"):
        return _as_name(view, token), Repair((view.one("NAME", view.text(token)),), 1)
    if view.open and view.accepts("COMMA") and (view.following.kind == "COLON" or token.kind not in STATEMENT):
        return brackets.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
    return None


def _value(view: View) -> Found:
    """See to a value directly after another."""
    token = view.token
    if token.kind not in STARTS_VALUE | {"AT"} or not view.open:
        return None
    if first_on_line(view.source, view.tokens, view.place) and not _is_closed(view, stop_at_names=True):
        return _unclosed(view, len(view.open))
    if view.before() in ENDS_VALUE and view.accepts("COMMA"):
        return brackets.MissingComma(at=view.span(token)), Repair((view.one("COMMA"),))
    if view.before() in ENDS_VALUE and view.accepts("VBAR", token.kind):
        return _unexpected(view), Repair((view.one("VBAR"),))
    return None


def _unexpected(view: View) -> Problem:
    """Say what was met and what could have stood there."""
    token = view.token
    if token.kind == END:
        what, at = "the end of the file", view.gap()
    else:
        what, at = f"`{view.text(token)[:40]}`", view.span(token)
    kinds = [sign for kind, sign in SIGNS.items() if kind not in {"LPAR", "LSQB", "LBRACE"} and view.accepts(kind)]
    expected = ["a value"] if view.accepts("NUMBER") else ["a name"] if view.accepts("NAME") else []
    expected += [f"`{sign}`" for sign in kinds]
    if view.accepts(END):
        expected.append("the end of the statement")
    return notation.UnexpectedText(at=at, what=what, expected=" or ".join(expected))


_RULES = (
    foreign_statement,
    block_slip,
    inside_block,
    stray_else,
    index_slip,
    foreign_sign,
    _waiting,
    _key_without_value,
    _border,
    _closing,
    _sign,
    _keyword,
    _value,
)
"""What is asked, in this order, what mistake it sees."""
