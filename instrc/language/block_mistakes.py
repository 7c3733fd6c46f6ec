"""Mistakes in blocks: words of other languages, brackets, conditions, missing parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from instrc.language.habits import HANDLING, NEGATED, is_foreign, misspelt_block
from instrc.language.lexer import Token
from instrc.language.tables import CLOSING, END, OPENING
from instrc.language.view import BLOCK, DEFINING, GIVE_UP, Slip, TokenRepair, View, first_on_line
from instrc.problems import blocks, punctuation, statements
from instrc.problems.problem import Problem
from instrc.text.limits import HEAD_TOKENS

_HEADS = frozenset({"UNTIL", *BLOCK})
EACH_NUMBER = "write `each i in 3 { … }` for three at the same time, `repeat i in 3 { … }` for one after the other"
BEHIND_BRACES = "the condition and the bound follow the braces: `repeat { … } until PATH max 3`"
_FIRST_VALUES = "values before the first round go in braces after the body: `repeat { … } from { NAME: VALUE } until PATH`"
ONE_ELEMENT = "an element has one name and no index: `each NAME in PATH { … }`"
_IN_BRACES = "the body goes in braces, without a colon or a word before them: `{FORM}`"
_FOR_ALL = "select elements with `when`: `each NAME in PATH when NAME.… { … }`"
_EACH_UNTIL = "the condition follows the braces: `each NAME in PATH { … } until PATH`"
_WORDS = {
    ("when", "in"): "write `PATH @ { enum: […] }` for one of several values",
    ("when", "exists"): "write `PATH @ {}`: it holds for all values but `null`",
    ("when", "defined"): "write `PATH @ {}`: it holds for all values but `null`",
    ("when", "contains"): "write `PATH @ { contains: { const: … } }`",
    ("when", "includes"): "write `PATH @ { contains: { const: … } }`",
    ("when", "matches"): 'write `PATH @ { pattern: "…" }`',
    ("when", "isnt"): "write `is not`: `PATH is not VALUE`",
    ("when", "between"): "write `PATH >= 3 and PATH <= 5`",
    **dict.fromkeys([("when", sign) for sign in ("<", ">", "<=", ">=")], blocks.TWO_BOUNDS),
    **dict.fromkeys([("when", word) for word in ("greater", "more", "above", "over")], "write `PATH > 3`"),
    **dict.fromkeys([("when", word) for word in ("less", "below", "under")], "write `PATH < 3`"),
    ("when", "unless"): "write `and` and the opposite: `PATH is false`, `PATH is not VALUE`",
    ("when", "xor"): "write `A is not B` for two paths to true or false",
    ("when", "equals"): "write `PATH is VALUE`",
    ("when", "are"): "write `PATH is VALUE`",
    ("when", ","): "write `and` between two conditions, `or` for one of two",
    ("when", "["): "a member is read by `.NAME`; for the elements of a list write `each NAME in PATH { when NAME is … { … } }`",
    ("when", "|"): "write `or`: `when PATH is VALUE or PATH is VALUE { … }`",
    ("each", ","): ONE_ELEMENT,
    ("each", "limit"): "write `max`: `each NAME in PATH max 5 { … }`",
    ("each", "@"): "a limit is `max`: `each NAME in PATH max 5 { … }`; a time limit follows the braces: `{ … } @ { within: … }`",
    ("each", "until"): _EACH_UNTIL,
    ("each", "while"): _EACH_UNTIL,
    ("each", "if"): _FOR_ALL,
    ("each", "where"): _FOR_ALL,
    ("each", "when"): _FOR_ALL,
    ("each", "and"): "a block runs over one list: write an `each` for each list, one inside the other for all pairs",
    ("each", "|"): "name the joined list first, or write an `each` for each list",
    ("repeat", "until"): BEHIND_BRACES,
    ("repeat", "max"): BEHIND_BRACES,
    ("repeat", "while"): BEHIND_BRACES,
}
"""What to write in place of words and signs in the head of a block."""


class Head(NamedTuple):
    """The keyword of a block's part, and how much of the part has been parsed."""

    kind: str
    word: str
    first: bool
    """Whether nothing after it has been read."""
    closed: bool


def head_of(view: View, *, but: int = 0) -> Head | None:
    """Return the head of the innermost unfinished block, ignoring the last tokens."""
    level = 0
    closed = False
    for distance, token in enumerate(islice(reversed(view.read), but, None)):
        if token.kind in CLOSING:
            level += 1
            closed = closed or token.kind == "RBRACE"
        elif token.kind in OPENING:
            if not level:
                return None
            level -= 1
        elif not level and token.kind in {"SEMICOLON", "EQUAL", "VBAR", "COMMA", "COLON", "ELSE"}:
            return None
        elif not level and token.kind in _HEADS:
            return Head(token.kind, view.text(token), first=not distance, closed=closed)
    return None


def to_braces(view: View) -> TokenRepair:
    """Resume at the braces of the block, if they follow on this line, so that their contents and the rest are parsed."""
    for count, token in enumerate(view.tokens[view.place : view.place + HEAD_TOKENS]):
        if token.kind == END or (count and first_on_line(view.source, view.tokens, view.place + count)):
            break
        if token.kind == "LBRACE" and count and view.tokens[view.place + count - 1].kind != "AT":
            for put in ((), ("NAME",), ("NULL",), ("IN", "NAME")):
                if view.accepts(*put, "LBRACE"):
                    return TokenRepair(tuple(view.one(kind, "missing") for kind in put), count)
            break
    return GIVE_UP


def incomplete(view: View, word: str, missing: str, advice: str = "") -> tuple[Problem, TokenRepair]:
    """Return the problem of a missing part at a token, from the state of the block that begins with a keyword."""
    token = view.token
    at = view.gap() if token.kind == END else view.span(token)
    advice = advice or _WORDS.get((word, view.text(token)), "")
    if not advice and word == "when" and view.text(token) in {"AND", "OR"}:
        advice = f"write `{view.text(token).lower()}` in lower case"
    number = view.following if token.kind == "LPAR" else token
    if not advice and word in {"each", "repeat"} and number.kind == "NUMBER" and view.before() in {"EACH", "REPEAT"}:
        advice = EACH_NUMBER
    if not advice and missing == "`{`" and token.kind in {"COLON", "NAME", "AUG_URI", "STRING", *BLOCK}:
        advice = _IN_BRACES.replace("{FORM}", blocks.FORMS[word])
    return blocks.IncompleteBlock(at=at, word=word, missing=missing, advice=advice), GIVE_UP if word == "repeat" else to_braces(
        view
    )


_EQUAL = frozenset({"=", "==", "==="})
_CONDITION_OPERATORS = frozenset({"!", "not", "!=", "!=="})


def condition_slip(view: View, head: Head) -> Slip:
    """Diagnose the condition of a `when` or an `until`."""
    return _foreign_operator(view, head) or _condition(view, head)


_WRITTEN = {"≥": ">=", "≤": "<=", "≠": "is not", "!=": "is not", "!==": "is not", "&&": "and", "&": "and", "=>": ">=", "=<": "<="}
"""Equivalents in conditions of operators from other languages."""


def _foreign_operator(view: View, head: Head) -> Slip:
    """Diagnose operators and words that compare, negate and join conditions in other languages."""
    token = view.token
    text = view.text(token)
    at = view.span(token)
    last = view.read[-1]
    negated = NEGATED["repeat" if head.kind == "UNTIL" else "when"]
    if text in _EQUAL and view.accepts("IS"):
        return statements.UnknownOperator(at=at, text=text, advice=("write `is`",), put="is"), TokenRepair((view.one("IS"),), 1)
    if text == "|" and view.following.start == token.end and view.text(view.following) == "|":
        at = view.source.span(token.start, view.following.end)
        problem = statements.UnknownOperator(at=at, text="||", advice=("write `or`",), put="or")
        return problem, TokenRepair((view.one("OR"),), 2) if view.accepts("OR") else GIVE_UP
    if last.kind == "NAME" and view.text(last) == "not":  # `not` was read as the name of a value
        return statements.UnknownOperator(at=view.span(last), text="not", advice=(negated,)), to_braces(view)
    if text in _WRITTEN and (put := _put(view, text)):
        words = [view.one(kind) for kind in put]
        written = _WRITTEN[text]
        return statements.UnknownOperator(at=at, text=text, advice=(f"write `{written}`",), put=written), TokenRepair(
            tuple(words), 1
        )
    if text in _CONDITION_OPERATORS:
        return statements.UnknownOperator(at=at, text=text, advice=(negated,)), to_braces(view)
    return None


_KINDS = {"is not": ("IS", "NOT"), "and": ("AND",), ">=": ("COMPARE",), "<=": ("COMPARE",)}


def _put(view: View, text: str) -> tuple[str, ...]:
    """Return the kinds of the words that replace a sign, if they are acceptable here."""
    kinds = _KINDS[_WRITTEN[text]]
    fits = view.accepts(*kinds) and (kinds != ("COMPARE",) or view.following.kind == "NUMBER")
    return kinds if fits else ()


def _condition(view: View, head: Head) -> Slip:
    """Diagnose a token that is neither a path nor a value, and a condition without an end."""
    token = view.token
    if view.before() == "IS" and token.kind == "LSQB":
        return blocks.BadCondition(at=view.span(token), slip="list", empty=view.following.kind == "RSQB"), to_braces(view)
    if token.kind == "LSQB" and [each.kind for each in view.read[-2:]] == ["IS", "NAME"]:
        last = view.read[-1]
        return blocks.BadCondition(at=view.span(last), slip="scalar", word=view.text(last)), to_braces(view)
    if view.before() == "AT" and token.kind == "STRING":
        said = f"`@` is followed by a JSON Schema in braces; compare a value with `is`: `PATH is {view.text(token)}`"
        return incomplete(view, head.word, "a schema", said)
    if view.before() == "COMPARE":
        return blocks.BadCondition(at=view.gap() if token.kind == END else view.span(token), slip="number"), to_braces(view)
    doubled = view.before(2) in {"OR", "AND"} and view.text(view.read[-1]) == "is"  # it was read as a name
    joiner = view.before(2 if doubled else 1).lower()
    if (doubled or view.before() in {"OR", "AND"}) and token.kind in {"STRING", "NUMBER", "TRUE", "FALSE", "NULL"}:
        return blocks.BadCondition(at=view.span(token), slip="or", word=f"{joiner} PATH is {view.text(token)}"), to_braces(view)
    if view.before() in {"OR", "AND"} and view.text(token) in {"<", "<=", ">", ">="}:
        word = f"{joiner} PATH {view.text(token)} {view.text(view.following)}"
        return blocks.BadCondition(at=view.span(token), slip="or", word=word), to_braces(view)
    if view.before() in {"IS", "NOT"}:
        at = view.gap() if token.kind == END else view.span(token)
        return blocks.BadCondition(at=at, slip="scalar", word=view.text(token)), to_braces(view)
    if (head.first or view.before() in {"OR", "AND"}) and token.kind == "LPAR":
        slip = blocks.BadCondition(at=view.span(token), slip="brackets", word=head.word, joined=_is_joined(view))
        return slip, to_braces(view)
    if head.first and token.kind == "NUMBER" and view.following.kind == "COMPARE":
        return blocks.BadCondition(at=view.span(token), slip="bounds", word=head.word), to_braces(view)
    if token.kind == "LPAR" and view.before() == "NAME":
        return blocks.BadCondition(at=view.span(view.read[-1]), slip="call", word=head.word), to_braces(view)
    if (head.first or view.before() in {"OR", "AND"}) and token.kind == "LBRACE":
        return incomplete(view, head.word, "a condition")
    if head.first:
        return blocks.BadCondition(
            at=view.span(token) if token.kind != END else view.gap(), slip="value", word=head.word
        ), to_braces(view)
    return incomplete(view, head.word, "`{`") if head.kind == "WHEN" and view.accepts("LBRACE") else None


def _is_joined(view: View) -> bool:
    """Return whether the brackets that open here contain an `or`, with an `and` before or after them."""
    level, alternative, joined = 0, False, view.before() == "AND"
    for token in view.tokens[view.place : view.place + HEAD_TOKENS]:
        level += (token.kind in OPENING) - (token.kind in CLOSING)
        if not level:
            behind = view.tokens[view.tokens.index(token) + 1]
            return alternative and (joined or view.text(behind) == "and")
        alternative = alternative or view.text(token) in {"or", "||"}
    return False


_WITH_ELSE = frozenset({"WHEN", "TRY"})


def second_braces(view: View) -> Slip:
    """Diagnose the second braces of a block, parsed as an object: `when c.ok { Send } { Ask(c) }`, `do { Send } { Ask(c) }`."""
    if not view.in_braces:
        return None
    second = view.tokens.index(view.open[-1][0])
    if not second or view.tokens[second - 1].kind != "RBRACE":
        return None
    word = view.word_of_block(second - 1)
    if word is None:
        return None
    problem = blocks.MissingElse if word.kind in _WITH_ELSE else blocks.StrayBraces
    return problem(at=view.span(view.tokens[second]), word=view.text(word)), GIVE_UP


_BEFORE_STATEMENT = frozenset({"SEMICOLON", "LBRACE", "RBRACE"})


def stray_else(view: View) -> Slip:
    """Diagnose an `else` after a `;`, or another name before braces, parsed as a name and an object."""
    if view.before() == "ELSE" and view.token.kind == "LPAR":
        return punctuation.UnexpectedText(
            at=view.span(view.token), what="`(`", expected="`{`: the failure is called `error` there"
        ), GIVE_UP
    if not view.in_braces:
        return None
    opening = view.open[-1][0]
    behind = reversed(view.tokens[: view.place])
    before = next((token for token in behind if token.end <= opening.start), None)
    if before is None:
        return None
    if view.text(before) == "else" and before.kind == "NAME":
        if (word := _negation(view, before)) is not None:
            return statements.UnknownOperator(at=view.span(word), text="not", advice=(NEGATED["repeat"],)), GIVE_UP
        again = view.tokens.index(before) - 1
        if again > 0 and view.text(view.tokens[again]) == view.text(view.tokens[again - 1]) != "}":
            return statements.RepeatedWord(at=view.span(view.tokens[again]), word=view.text(view.tokens[again])), GIVE_UP
        block = view.word_of_block(view.tokens.index(before) - 1)
        return blocks.StrayElse(at=view.span(before), block=view.text(block) if block else ""), GIVE_UP
    if found := _line_of(view, opening):
        return found
    if name := _name_before(view, view.tokens.index(opening)):
        return blocks.BracesAfterName(at=view.span(name), word=view.text(name)), GIVE_UP
    return None


def _negation(view: View, otherwise: Token) -> Token | None:
    """Return the `not` of `until not check.ok else { … }`, which was parsed as a whole condition."""
    end = view.tokens.index(otherwise)
    line = range(end, max(end - HEAD_TOKENS, 0), -1)
    found = (view.tokens[at] for at in line if view.text(view.tokens[at]) == "not" and view.tokens[at - 1].kind == "UNTIL")
    return next(found, None)


def _line_of(view: View, opening: Token) -> Slip:
    """Diagnose braces on a line that begins with a misspelt block keyword, or with a keyword of another language."""
    first = view.tokens.index(opening)
    while first and not first_on_line(view.source, view.tokens, first):
        first -= 1
    token = view.tokens[first]
    word = view.text(token)
    if token.kind != "NAME" or token == opening:
        return None
    if keyword := misspelt_block(word):
        return statements.MisspeltKeyword(at=view.span(token), word=word, keyword=keyword), GIVE_UP
    return (statements.ForeignStatement(at=view.span(token), word=word), GIVE_UP) if is_foreign(word) else None


def _name_before(view: View, place: int) -> Token | None:
    """Return the statement's first name before braces on the same line: `loop 3 { … }`, `retry { … }` in a block."""
    last = place - 1
    if last > 0 and view.tokens[last].kind in {"NUMBER", "STRING"}:
        last -= 1
    name = view.tokens[last]
    if last < 0 or name.kind != "NAME" or "\n" in view.source.text[name.end : view.tokens[place].start]:
        return None
    first = last - (view.tokens[last - 1].kind == "NAME")
    begins = view.read[0] == view.tokens[place] or (first > 0 and view.tokens[first - 1].kind in _BEFORE_STATEMENT)
    return name if begins else None


def called_block(view: View) -> Slip:
    """Diagnose a keyword of other languages before braces, with its arguments: `timeout("PT5M") { … }`, `until c.ok { … }`."""
    name = next((found for opening in _openings(view) if (found := _word_before(view, opening)) is not None), None)
    if name is None:
        return None
    return blocks.BracesAfterName(at=view.span(name), word=view.text(name)), GIVE_UP


def _openings(view: View) -> Iterator[int]:
    """Yield the opening braces that the mistake may concern: at it, around it, or after it on its line."""
    if view.in_braces:
        yield view.tokens.index(view.open[-1][0])
    level = 0
    for place in range(view.place, min(view.place + HEAD_TOKENS, len(view.tokens))):
        kind = view.tokens[place].kind
        if kind == "LBRACE" and level <= 0:
            yield place
            return
        level += (kind in OPENING) - (kind in CLOSING)
        if level < -1 or kind == "SEMICOLON":
            return


_HEADED = frozenset({"NAME", "DOT", "NUMBER", "STRING", "LPAR"})
"""Tokens that may stand between such a word and the braces."""


def _word_before(view: View, opening: int) -> Token | None:
    """Return the first word before braces on the same line, if it is a keyword there in other languages."""
    first = opening
    level = 0
    while first and opening - first < HEAD_TOKENS:
        kind = view.tokens[first - 1].kind
        level += (kind in CLOSING) - (kind in OPENING)
        if level < 0 or (not level and kind not in _HEADED):
            break
        first -= 1
    name = view.tokens[first]
    if first and view.tokens[first - 1].kind in BLOCK:
        return None
    headed = opening - first > 1 and name.kind == "NAME" and view.text(name).casefold() in blocks.INSTEAD
    return name if headed and "\n" not in view.source.text[name.end : view.tokens[opening].start] else None


def inside_block(view: View) -> Slip:
    """Diagnose the contents of a block's braces: fields without their own braces, `tool` and `input`."""
    token = view.token
    if not view.in_braces or not (view.accepts("EQUAL") or view.accepts("SEMICOLON") or _begins_body(view)):
        return None
    if token.kind in {"TOOL", "INPUT"} and view.following.kind in {"NAME", "CONST", "LET"}:
        outside = "`const` or a value: `tool` and `input` belong outside of blocks"
        return punctuation.UnexpectedText(at=view.span(token), what=f"`{view.text(token)}`", expected=outside), GIVE_UP
    if token.kind not in {"COLON", "COMMA"} or (token.kind == "COLON" and view.before() in CLOSING):
        return None
    if token.kind == "COLON" and view.before(2) in DEFINING:
        return None
    if token.kind == "COMMA" and view.before() == "RPAR":
        return punctuation.ExtraComma(at=view.span(token), where="body"), GIVE_UP
    opening = view.open[-1][0]
    closing = view.closing(1)
    at = view.span(view.read[-1])
    return blocks.MissingBraces(
        at=at, opening=view.span(opening), closing=view.span(closing) if closing and closing.kind == "RBRACE" else None
    ), GIVE_UP


def _begins_body(view: View) -> bool:
    return view.before() == "LBRACE" and view.accepts("CONST")


_AFTER_ELSE = {
    "when": "a branch with its own condition begins with `else when`: `else when PATH { … }`",
    "try": "the failure is called `error` in these braces; it needs no name: `else { … error.message … }`",
}
_WHEN_IN_ELSE = "only a `when` can have more conditions: put one into these braces, `else { when PATH { … } }`"
_REPEAT_IN_VAIN = "the steps to run if no round succeeds go in braces: `repeat { … } until PATH else { … }`"
_INSTEAD_OF_IN = frozenset({"of", "from", "as", ":", "="})
_NUMBERS = frozenset({"range", "xrange", "enumerate", "seq"})
_AFTER_A_NAME = frozenset({"EQUAL", "SEMICOLON", "COMMA", "RPAR", "RSQB", "RBRACE", "VBAR", "COLON", END})


def block_slip(view: View) -> Slip:
    """Diagnose the head of a block: its condition, its list, its keywords."""
    if view.before() == "ELSE" and view.text(view.token) == "if":
        at = view.source.span(view.read[-1].start, view.token.end)
        return statements.ForeignStatement(at=at, word="else if"), GIVE_UP
    if view.before() == "ELSE" and view.token.kind in {"NAME", "AUG_URI", "WHEN"}:
        return _after_else(view)
    head = head_of(view)
    if head is None or (head.first and view.token.kind in _AFTER_A_NAME and not _ends_line(view)):  # it is used as a name
        return None
    last = view.text(view.read[-1])
    if last in {"max", "keep"} and view.accepts("NUMBER"):
        word = "repeat" if head.kind == "UNTIL" else head.word
        form = "each NAME in PATH max 5 { … }" if word == "each" else f"repeat {{ … }} until PATH {last} 5"
        return incomplete(view, word, f"a whole number after `{last}`", f"write one without quotes: `{form}`")
    match head.kind:
        case "WHEN" | "UNTIL" if not head.closed:
            return condition_slip(view, head)
        case "EACH" if not head.closed:
            return _each(view, head)
        case "REPEAT":
            return _repeat(view, head)
        case "TRY" if head.closed:
            return _without_else(view, head)
        case "RACE" if view.token.kind == "SEMICOLON" and view.text(view.following) == "or":
            advice = f"remove the `;`: `{blocks.FORMS['race']}`"
            return incomplete(view, head.word, "its `or`", advice)[0], TokenRepair((view.one("OR"),), 2)
        case "RACE" if view.accepts("OR"):
            return incomplete(view, head.word, "`or` and a second pair of braces")
        case "TRY" | "RACE" | "DO" if not head.closed or view.accepts("LBRACE"):
            return incomplete(view, head.word, "`{`")
    return None


def _after_else(view: View) -> Slip:
    """Diagnose a condition, a name or a call directly after `else`."""
    head = head_of(view, but=1)
    if head is not None and view.token.kind == "WHEN":
        return incomplete(view, "repeat" if head.kind == "UNTIL" else head.word, "`{`", _WHEN_IN_ELSE)
    if head is None:
        return None
    if head.kind == "UNTIL":
        return incomplete(view, "repeat", "`{`", _REPEAT_IN_VAIN)
    if head.word not in _AFTER_ELSE:
        return None
    advice = "" if view.following.kind == "LPAR" else _AFTER_ELSE[head.word]
    return incomplete(view, head.word, "`{`", advice)


def _ends_line(view: View) -> bool:
    """Return whether a `:` follows a block keyword at the beginning of a line or value, where no key is allowed."""
    alone = first_on_line(view.source, view.tokens, view.place - 1) or view.before(2) == "EQUAL"
    return view.token.kind == "COLON" and alone and (not view.open or first_on_line(view.source, view.tokens, view.place + 1))


def _each(view: View, head: Head) -> Slip:
    token = view.token
    if (head.first or view.before() in {"OR", "AND"}) and token.kind == "LPAR":
        if view.ahead(2).kind == "COMMA":
            return incomplete(view, head.word, "a name", ONE_ELEMENT)
        return blocks.BadCondition(at=view.span(token), slip="brackets", word=head.word), to_braces(view)
    if head.first:
        return incomplete(view, head.word, "a name")
    if view.accepts("IN"):
        if view.text(token) in _INSTEAD_OF_IN:
            problem = blocks.IncompleteBlock(at=view.span(token), word=head.word, missing="`in`", put="in")
            return problem, TokenRepair((view.one("IN"),), 1)
        return incomplete(view, head.word, "`in`")
    if view.before() == "IN":
        return blocks.BadCondition(at=view.span(token), slip="value", word="in"), to_braces(view)
    if token.kind == "LPAR" and view.before() == "NAME":
        slip = "range" if view.text(view.read[-1]) in _NUMBERS else "call"
        return blocks.BadCondition(at=view.span(view.read[-1]), slip=slip, word="in"), to_braces(view)
    counted = view.text(token) == "to" and view.before() == "NUMBER"
    return incomplete(view, head.word, "`{`", EACH_NUMBER if counted else "") if view.accepts("LBRACE") else None


def _repeat(view: View, head: Head) -> Slip:
    token = view.token
    if not head.closed:
        last = view.text(view.read[-1])
        if last in {"until", "max", "while", "from"} and view.read[-2].kind == "REPEAT":
            advice = _FIRST_VALUES if last == "from" else BEHIND_BRACES
            return blocks.IncompleteBlock(at=view.span(view.read[-1]), word=head.word, missing="`{`", advice=advice), GIVE_UP
        return incomplete(view, head.word, "`{`") if head.first else _each(view, head)
    if view.accepts("UNTIL"):
        at = view.span(token) if view.text(token) == "while" else view.gap()
        advice = BEHIND_BRACES if view.text(token) in {"max", "keep"} else _FIRST_VALUES if view.text(token) == "from" else ""
        return blocks.IncompleteBlock(at=at, word=head.word, missing="`until` and a condition", advice=advice), GIVE_UP
    return None


def _without_else(view: View, head: Head) -> Slip:
    token = view.token
    if not view.accepts("ELSE"):
        return None
    if view.text(token) not in HANDLING:
        return incomplete(view, head.word, "`else`")
    put = "else" if view.following.kind == "LBRACE" else ""
    problem = blocks.IncompleteBlock(at=view.span(token), word=head.word, missing="`else`", put=put)
    return problem, TokenRepair((view.one("ELSE"),), 1) if put else GIVE_UP
