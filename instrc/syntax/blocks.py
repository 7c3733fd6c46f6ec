"""Slips in blocks: words of other languages, brackets, parts that are missing."""

from __future__ import annotations

from instrc.problems import blocks, conditions, words
from instrc.syntax.block_heads import BEHIND_BRACES, EACH_NUMBER, ONE_ELEMENT, Head, head_of, incomplete, to_braces
from instrc.syntax.conditions import condition_slip
from instrc.syntax.spelling import HANDLING
from instrc.syntax.tables import END
from instrc.syntax.view import GIVE_UP, Slip, TokenRepair, View, first_on_line

_AFTER_ELSE = {
    "when": "a branch with a condition of its own begins with `else when`: `else when PATH { … }`",
    "try": "what has failed is called `error` in these braces, without being named: `else { … error.message … }`",
}
_WHEN_IN_ELSE = "only a `when` has further conditions: put one into these braces, `else { when PATH { … } }`"
_REPEAT_IN_VAIN = "what is to run after the last round in vain stands in braces: `repeat { … } until PATH else { … }`"
_INSTEAD_OF_IN = frozenset({"of", "from", "as", ":", "="})
_NUMBERS = frozenset({"range", "xrange", "enumerate", "seq"})
_AFTER_A_NAME = frozenset({"EQUAL", "SEMICOLON", "COMMA", "RPAR", "RSQB", "RBRACE", "VBAR", "COLON", END})


def block_slip(view: View) -> Slip:
    """See to the head of a block: its condition, its list, its words."""
    if view.before() == "ELSE" and view.text(view.token) == "if":
        at = view.source.span(view.read[-1].start, view.token.end)
        return words.ForeignStatement(at=at, word="else if"), GIVE_UP
    if view.before() == "ELSE" and view.token.kind in {"NAME", "AUG_URI", "WHEN"}:
        return _after_else(view)
    head = head_of(view)
    if head is None or (head.first and view.token.kind in _AFTER_A_NAME and not _ends_line(view)):  # it is used as a name
        return None
    last = view.text(view.read[-1])
    if last in {"max", "keep"} and view.accepts("NUMBER"):
        word = "repeat" if head.kind == "UNTIL" else head.word
        form = "each NAME in PATH max 5 { … }" if word == "each" else f"repeat {{ … }} until PATH {last} 5"
        return incomplete(view, word, f"a whole number behind `{last}`", f"write one without quotes: `{form}`")
    match head.kind:
        case "WHEN" | "UNTIL" if not head.closed:
            return condition_slip(view, head)
        case "EACH" if not head.closed:
            return _each(view, head)
        case "REPEAT":
            return _repeat(view, head)
        case "TRY" if head.closed:
            return _without_else(view, head)
        case "TRY" | "DO" if not head.closed:
            return incomplete(view, head.word, "`{`")
    return None


def _ends_line(view: View) -> bool:
    """Tell whether a `:` stands behind a word of blocks that begins its line or a value, as in `try:`, where no key can stand."""
    alone = first_on_line(view.source, view.tokens, view.place - 1) or view.before(2) == "EQUAL"
    return view.token.kind == "COLON" and alone and (not view.open or first_on_line(view.source, view.tokens, view.place + 1))


def _after_else(view: View) -> Slip:
    """See to a condition, a name or a call right behind `else`."""
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


def _each(view: View, head: Head) -> Slip:
    token = view.token
    if head.first and token.kind == "LPAR":
        if view.tokens[min(view.place + 2, len(view.tokens) - 1)].kind == "COMMA":
            return incomplete(view, head.word, "a name", ONE_ELEMENT)
        return conditions.BadCondition(at=view.span(token), slip="brackets", word=head.word), to_braces(view)
    if head.first:
        return incomplete(view, head.word, "a name")
    if view.accepts("IN"):
        if view.text(token) in _INSTEAD_OF_IN:
            problem = blocks.IncompleteBlock(at=view.span(token), word=head.word, missing="`in`", put="in")
            return problem, TokenRepair((view.one("IN"),), 1)
        return incomplete(view, head.word, "`in`")
    if view.before() == "IN":
        return conditions.BadCondition(at=view.span(token), slip="value", word="in"), to_braces(view)
    if token.kind == "LPAR" and view.before() == "NAME":
        slip = "range" if view.text(view.read[-1]) in _NUMBERS else "call"
        return conditions.BadCondition(at=view.span(view.read[-1]), slip=slip, word="in"), to_braces(view)
    counted = view.text(token) == "to" and view.before() == "NUMBER"
    return incomplete(view, head.word, "`{`", EACH_NUMBER if counted else "") if view.accepts("LBRACE") else None


def _repeat(view: View, head: Head) -> Slip:
    token = view.token
    if not head.closed:
        if view.text(view.read[-1]) in {"until", "max", "while"} and view.read[-2].kind == "REPEAT":
            at = view.span(view.read[-1])
            return blocks.IncompleteBlock(at=at, word=head.word, missing="`{`", advice=BEHIND_BRACES), GIVE_UP
        return incomplete(view, head.word, "`{`") if head.first else _each(view, head)
    if view.accepts("UNTIL"):
        at = view.span(token) if view.text(token) == "while" else view.gap()
        advice = BEHIND_BRACES if view.text(token) in {"max", "keep"} else ""
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
