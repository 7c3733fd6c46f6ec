"""The condition of a block: signs and words of other languages in it, and what is missing."""

from __future__ import annotations

from instrc.problems import conditions, words
from instrc.syntax.block_heads import Head, incomplete, to_braces
from instrc.syntax.spelling import NEGATED
from instrc.syntax.tables import END
from instrc.syntax.view import GIVE_UP, Slip, TokenRepair, View

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


def condition_slip(view: View, head: Head) -> Slip:
    """See to the condition of a `when` or an `until`."""
    return _operator(view, head) or _condition(view, head)


def _operator(view: View, head: Head) -> Slip:
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
        return words.UnknownOperator(at=view.span(last), text="not", advice=(negated,)), to_braces(view)
    if text in {"<", ">"}:
        return words.UnknownOperator(at=at, text=text, advice=(_comparison(view),)), to_braces(view)
    if text in _OPERATORS:
        advice = _joined(head) if _OPERATORS[text] == "and" else _unequal(view) or negated
        return words.UnknownOperator(at=at, text=text, advice=(advice,)), to_braces(view)
    return None


def _joined(head: Head) -> str:
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


def _condition(view: View, head: Head) -> Slip:
    """See to what can be no path and no value, and to a condition that has no end."""
    token = view.token
    if view.before() == "IS" and token.kind == "LSQB":
        return conditions.BadCondition(at=view.span(token), slip="list", empty=view.following.kind == "RSQB"), to_braces(view)
    if view.before() == "AT" and token.kind == "STRING":
        said = f"behind `@` stands a JSON Schema in braces; a value is compared by `is`: `PATH is {view.text(token)}`"
        return incomplete(view, head.word, "a schema", said)
    if view.before() == "OR" and token.kind in {"STRING", "NUMBER", "TRUE", "FALSE", "NULL"}:
        return conditions.BadCondition(at=view.span(token), slip="or", word=view.text(token)), to_braces(view)
    if view.before() == "IS":
        at = view.gap() if token.kind == END else view.span(token)
        return conditions.BadCondition(at=at, slip="scalar", word=view.text(token)), to_braces(view)
    if head.first and token.kind == "LPAR":
        return conditions.BadCondition(at=view.span(token), slip="brackets", word=head.word), to_braces(view)
    if token.kind == "LPAR" and view.before() == "NAME":
        return conditions.BadCondition(at=view.span(view.read[-1]), slip="call", word=head.word), to_braces(view)
    if head.first and token.kind == "LBRACE":
        return incomplete(view, head.word, "a condition")
    if head.first:
        return conditions.BadCondition(
            at=view.span(token) if token.kind != END else view.gap(), slip="value", word=head.word
        ), to_braces(view)
    return incomplete(view, head.word, "`{`") if head.kind == "WHEN" and view.accepts("LBRACE") else None
