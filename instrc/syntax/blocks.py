"""Slips in blocks and conditions: words of other languages, brackets, parts that are missing."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from instrc.limits.programs import HEAD_TOKENS
from instrc.problems import blocks, words
from instrc.syntax.spelling import HANDLING, NEGATED
from instrc.syntax.tables import END
from instrc.syntax.view import BLOCK, CLOSING, GIVE_UP, OPENING, Slip, TokenRepair, View, first_on_line

_HEADS = frozenset({"WHEN", "UNTIL", "EACH", "REPEAT", "TRY", "DO"})
_EQUAL = frozenset({"=", "==", "==="})
_ADVICE = {
    "and": "write one `when` in the other: `when A { when B { … } }`",
    "and until": "name both of them in the block, and wait for the name: `const done = when A { when B { true } }`",
    "not null": "write `PATH @ {}`: it holds for all values but `null`",
}
_OPERATORS = {
    "&&": "and",
    "&": "and",
    "and": "and",
    "!=": "not",
    "!==": "not",
    "!": "not",
    "not": "not",
}
_LENGTHS = frozenset({"length", "size", "len"})
"""What the number of elements of a list is called elsewhere."""
_EACH_NUMBER = "write `each i in 3 { … }` for three at the same time, `repeat { … } until round is 3` for one after the other"
_BEHIND = "the condition and the bound stand behind the braces: `repeat { … } until PATH max 3`"
_IN_BRACES = "what is to run stands in braces, without a colon or a word before them: `{FORM}`"
_FOR_ALL = "it runs for every element: choose in the braces, `each NAME in PATH { when NAME.… { … } }`"
_WORDS = {
    ("when", "in"): "write `PATH @ { enum: […] }` for one of several values",
    ("when", "exists"): "write `PATH @ {}`: it holds for all values but `null`",
    ("when", "defined"): "write `PATH @ {}`: it holds for all values but `null`",
    ("when", "contains"): "write `PATH @ { contains: { const: … } }`",
    ("when", "includes"): "write `PATH @ { contains: { const: … } }`",
    ("when", "matches"): 'write `PATH @ { pattern: "…" }`',
    ("when", "equals"): "write `PATH is VALUE`",
    ("when", "are"): "write `PATH is VALUE`",
    ("when", ","): "write one `when` in the other for two conditions, `or` between them for one of two",
    ("when", "["): "a member is read by `.NAME`; for the elements of a list write `each NAME in PATH { when NAME is … { … } }`",
    ("when", "|"): "write `or`: `when PATH is VALUE or PATH is VALUE { … }`",
    ("each", ","): "an element has one name, and no number: `each NAME in PATH { … }`",
    ("each", "limit"): "write `max`: `each NAME in PATH max 5 { … }`",
    ("each", "until"): "write `repeat NAME in PATH { … } until PATH` for one element after the other",
    ("each", "while"): "write `repeat NAME in PATH { … } until PATH` for one element after the other",
    ("each", "if"): _FOR_ALL,
    ("each", "where"): _FOR_ALL,
    ("each", "when"): _FOR_ALL,
    ("each", "and"): "a block runs over one list: write an `each` for either, one in the other for all pairs",
    ("each", "|"): "name the joined list before, or write an `each` for either",
    ("repeat", "until"): _BEHIND,
    ("repeat", "max"): _BEHIND,
    ("repeat", "while"): _BEHIND,
}
"""What to write in place of words and signs in the head of a block."""
_AFTER_ELSE = {
    "when": "a branch with a condition of its own begins with `else when`: `else when PATH { … }`",
    "try": "what has failed is called `error` in these braces, without being named: `else { … error.message … }`",
}
_INSTEAD_OF_IN = frozenset({"of", "from", "as", ":", "="})


_NUMBERS = frozenset({"range", "xrange", "enumerate", "seq"})
_AFTER_A_NAME = frozenset({"EQUAL", "SEMICOLON", "COMMA", "RPAR", "RSQB", "RBRACE", "VBAR", "COLON", END})


class _Head(NamedTuple):
    """The word that the part of a block begins with, and whether its braces have been closed."""

    kind: str
    word: str
    first: bool
    """Whether nothing has been read behind it."""
    closed: bool


def block_slip(view: View) -> Slip:
    """See to the head of a block: its condition, its list, its words."""
    if view.before() == "ELSE" and view.text(view.token) == "if":
        at = view.source.span(view.read[-1].start, view.token.end)
        return words.ForeignStatement(at=at, word="else if"), GIVE_UP
    if view.before() == "ELSE" and view.token.kind in {"NAME", "AUG_URI"}:
        return _after_else(view)
    head = _head(view)
    if head is None or (head.first and view.token.kind in _AFTER_A_NAME and not _ends_line(view)):  # it is used as a name
        return None
    last = view.text(view.read[-1])
    if last in {"max", "keep"} and view.accepts("NUMBER"):
        word = "repeat" if head.kind == "UNTIL" else head.word
        form = "each NAME in PATH max 5 { … }" if word == "each" else f"repeat {{ … }} until PATH {last} 5"
        return _incomplete(view, word, f"a whole number behind `{last}`", f"write one without quotes: `{form}`")
    match head.kind:
        case "WHEN" | "UNTIL" if not head.closed:
            return _operator(view, head) or _condition(view, head)
        case "EACH" if not head.closed:
            return _each(view, head)
        case "REPEAT":
            return _repeat(view, head)
        case "TRY" if head.closed:
            return _without_else(view, head)
        case "TRY" | "DO" if not head.closed:
            return _incomplete(view, head.word, "`{`")
    return None


def _ends_line(view: View) -> bool:
    """Tell whether a `:` stands behind a word of blocks that begins its line or a value, as in `try:`, where no key can stand."""
    alone = first_on_line(view.source, view.tokens, view.place - 1) or view.before(2) == "EQUAL"
    return view.token.kind == "COLON" and alone and (not view.open or first_on_line(view.source, view.tokens, view.place + 1))


def _after_else(view: View) -> Slip:
    """See to a condition, a name or a call right behind `else`."""
    head = _head(view, but=1)
    if head is None or head.word not in _AFTER_ELSE:
        return None
    advice = "" if view.following.kind == "LPAR" else _AFTER_ELSE[head.word]
    return _incomplete(view, head.word, "`{`", advice)


def _head(view: View, *, but: int = 0) -> _Head | None:
    """Return the head of the innermost block that is being read, without the last tokens."""
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
            return _Head(token.kind, view.text(token), first=not distance, closed=closed)
    return None


def _to_braces(view: View) -> TokenRepair:
    """Go on at the braces of the block, if they follow on this line, so that what is in them and behind them is read."""
    for count, token in enumerate(view.tokens[view.place : view.place + HEAD_TOKENS]):
        if token.kind == END or (count and first_on_line(view.source, view.tokens, view.place + count)):
            break
        if token.kind == "LBRACE" and count and view.tokens[view.place + count - 1].kind != "AT":
            for put in ((), ("NAME",), ("NULL",), ("IN", "NAME")):
                if view.accepts(*put, "LBRACE"):
                    return TokenRepair(tuple(view.one(kind, "missing") for kind in put), count)
            break
    return GIVE_UP


def _operator(view: View, head: _Head) -> Slip:
    """See to signs and words that compare, negate and join conditions elsewhere."""
    token = view.token
    text = view.text(token)
    at = view.span(token)
    last = view.read[-1]
    negated = NEGATED["repeat" if head.kind == "UNTIL" else "when"]
    if text in _EQUAL and view.accepts("IS"):
        return words.UnknownOperator(at=at, text=text, advice=("write `is`",), put="is"), TokenRepair((view.one("IS"),), 1)
    if text == "|" and view.following.start == token.end and view.text(view.following) == "|":
        at = view.source.span(token.start, view.following.end)
        problem = words.UnknownOperator(at=at, text="||", advice=("write `or`",), put="or")
        return problem, TokenRepair((view.one("OR"),), 2) if view.accepts("OR") else GIVE_UP
    if last.kind == "NAME" and view.text(last) == "not":  # `not` was read as the name of a value
        return words.UnknownOperator(at=view.span(last), text="not", advice=(negated,)), _to_braces(view)
    if text in {"<", ">"}:
        return words.UnknownOperator(at=at, text=text, advice=(_comparison(view),)), _to_braces(view)
    if text in _OPERATORS:
        advice = _joined(head) if _OPERATORS[text] == "and" else _unequal(view) or negated
        return words.UnknownOperator(at=at, text=text, advice=(advice,)), _to_braces(view)
    return None


def _joined(head: _Head) -> str:
    return _ADVICE["and until" if head.kind == "UNTIL" else "and"]


def _unequal(view: View) -> str:
    """Return how `!= "low"` and `is not "low"` are written; nothing if no value stands there."""
    value = view.following
    if value.kind == "NULL":
        return _ADVICE["not null"]
    if value.kind in {"TRUE", "FALSE"}:
        return f"write `PATH is {'false' if value.kind == 'TRUE' else 'true'}`"
    shown = view.text(value)
    return f"write `PATH @ {{ not: {{ const: {shown} }} }}`" if value.kind in {"STRING", "NUMBER"} else ""


def _comparison(view: View) -> str:
    """Return how `> 3`, `>= 3` and their like are said by a JSON Schema."""
    equal = view.source.text[view.token.end : view.token.end + 1] == "="
    index = view.place + (2 if equal and view.text(view.following) == "=" else 1)
    number = view.tokens[min(index, len(view.tokens) - 1)]
    shown = view.text(number) if number.kind == "NUMBER" else "3"
    sign = view.text(view.token) + ("=" if equal else "")
    if view.text(view.tokens[view.place - 1]) in _LENGTHS and shown.isdecimal():
        keyword, more = {"<": ("maxItems", -1), "<=": ("maxItems", 0), ">": ("minItems", 1), ">=": ("minItems", 0)}[sign]
        return f"ask the list for its length by a JSON Schema: `PATH @ {{ {keyword}: {max(int(shown) + more, 0)} }}`"
    keyword = {"<": "exclusiveMaximum", "<=": "maximum", ">": "exclusiveMinimum", ">=": "minimum"}[sign]
    return f"compare by a JSON Schema: `PATH @ {{ {keyword}: {shown} }}`"


def _condition(view: View, head: _Head) -> Slip:
    token = view.token
    if view.before() == "IS" and token.kind == "LSQB":
        return blocks.BadCondition(at=view.span(token), slip="list"), _to_braces(view)
    if view.before() == "AT" and token.kind == "STRING":
        said = f"behind `@` stands a JSON Schema in braces; a value is compared by `is`: `PATH is {view.text(token)}`"
        return _incomplete(view, head.word, "a schema", said)
    if view.before() == "OR" and token.kind in {"STRING", "NUMBER", "TRUE", "FALSE", "NULL"}:
        return blocks.BadCondition(at=view.span(token), slip="or", word=view.text(token)), _to_braces(view)
    if view.before() == "IS":
        at = view.gap() if token.kind == END else view.span(token)
        return blocks.BadCondition(at=at, slip="scalar", word=view.text(token)), _to_braces(view)
    if head.first and token.kind == "LPAR":
        return blocks.BadCondition(at=view.span(token), slip="brackets", word=head.word), _to_braces(view)
    if token.kind == "LPAR" and view.before() == "NAME":
        return blocks.BadCondition(at=view.span(view.read[-1]), slip="call", word=head.word), _to_braces(view)
    if head.first and token.kind == "LBRACE":
        return _incomplete(view, head.word, "a condition")
    if head.first:
        return blocks.BadCondition(
            at=view.span(token) if token.kind != END else view.gap(), slip="value", word=head.word
        ), _to_braces(view)
    return _incomplete(view, head.word, "`{`") if head.kind == "WHEN" and view.accepts("LBRACE") else None


def _each(view: View, head: _Head) -> Slip:
    token = view.token
    if head.first and token.kind == "LPAR":
        if view.tokens[min(view.place + 2, len(view.tokens) - 1)].kind == "COMMA":
            return _incomplete(view, head.word, "a name", _WORDS["each", ","])
        return blocks.BadCondition(at=view.span(token), slip="brackets", word=head.word), _to_braces(view)
    if head.first:
        return _incomplete(view, head.word, "a name")
    if view.accepts("IN"):
        if view.text(token) in _INSTEAD_OF_IN:
            problem = blocks.IncompleteBlock(at=view.span(token), word=head.word, missing="`in`", put="in")
            return problem, TokenRepair((view.one("IN"),), 1)
        return _incomplete(view, head.word, "`in`")
    if view.before() == "IN":
        return blocks.BadCondition(at=view.span(token), slip="value", word="in"), _to_braces(view)
    if token.kind == "LPAR" and view.before() == "NAME":
        slip = "range" if view.text(view.read[-1]) in _NUMBERS else "call"
        return blocks.BadCondition(at=view.span(view.read[-1]), slip=slip, word="in"), _to_braces(view)
    counted = view.text(token) == "to" and view.before() == "NUMBER"
    return _incomplete(view, head.word, "`{`", _EACH_NUMBER if counted else "") if view.accepts("LBRACE") else None


def _repeat(view: View, head: _Head) -> Slip:
    token = view.token
    if not head.closed:
        if view.text(view.read[-1]) in {"until", "max", "while"} and view.read[-2].kind == "REPEAT":
            at = view.span(view.read[-1])
            return blocks.IncompleteBlock(at=at, word=head.word, missing="`{`", advice=_BEHIND), GIVE_UP
        return _incomplete(view, head.word, "`{`") if head.first else _each(view, head)
    if view.accepts("UNTIL"):
        at = view.span(token) if view.text(token) == "while" else view.gap()
        advice = _BEHIND if view.text(token) in {"max", "keep"} else ""
        return blocks.IncompleteBlock(at=at, word=head.word, missing="`until` and a condition", advice=advice), GIVE_UP
    return None


def _without_else(view: View, head: _Head) -> Slip:
    token = view.token
    if not view.accepts("ELSE"):
        return None
    if view.text(token) not in HANDLING:
        return _incomplete(view, head.word, "`else`")
    put = "else" if view.following.kind == "LBRACE" else ""
    problem = blocks.IncompleteBlock(at=view.span(token), word=head.word, missing="`else`", put=put)
    return problem, TokenRepair((view.one("ELSE"),), 1) if put else GIVE_UP


def _incomplete(view: View, word: str, missing: str, advice: str = "") -> Slip:
    token = view.token
    at = view.gap() if token.kind == END else view.span(token)
    advice = advice or _WORDS.get((word, view.text(token)), "")
    number = view.following if token.kind == "LPAR" else token
    if not advice and word in {"each", "repeat"} and number.kind == "NUMBER" and view.before() in {"EACH", "REPEAT"}:
        advice = _EACH_NUMBER
    if not advice and missing == "`{`" and token.kind in {"COLON", "NAME", "AUG_URI", "STRING", *BLOCK}:
        advice = _IN_BRACES.replace("{FORM}", blocks.FORMS[word])
    return blocks.IncompleteBlock(at=at, word=word, missing=missing, advice=advice), GIVE_UP if word == "repeat" else _to_braces(
        view
    )
