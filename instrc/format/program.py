"""The one layout of a program.

What fits on a line stands on one; else a pipe has a stage on each line, a condition an alternative, a call an argument,
braces a field; only numbers in square brackets fill their lines.
Statements end with `;`, broken lists with a comma.  Single empty lines and all comments stay.
Strings get double quotes, keys none, where that changes nothing; brackets around a value that needs none go.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from instrc.collector import paused_collector
from instrc.format.blocks import block_with_head, braces_of_block, file_lines, statements
from instrc.format.chains import chain
from instrc.format.comments import Comment, WordComments, comments_of_words
from instrc.format.line_breaking import Doc, Group, Line, Nest, in_lines
from instrc.format.lists import Item, bracketed
from instrc.format.parts import Made, comments_beside, without_brackets
from instrc.ir.tree import Leaf, Phrase, Tree
from instrc.source import Source
from instrc.syntax.concrete import read_tree
from instrc.syntax.tables import CONTEXTUAL
from instrc.syntax.tokens import is_name, normal

_CLOSED = frozenset({"name", "uri", "literal", "call", "access", "deeper", "object", "array", "inline", "annotated"})
"""What reads the same with and without brackets, wherever it stands."""
_WHOLE = frozenset({"binding", "argument", "field", "array", "group", "anonymous", "call", "block", "program"})
"""What takes any expression as it is, so that it needs no brackets there."""


_BLOCKS = frozenset({"when", "when_chain", "each", "do", "attempt", "rounds", "repeat"})
"""Rules whose braces break together."""


def format_program(source: Source) -> str:
    """Return the canonical text of a source; it must be a program."""
    with paused_collector():
        return in_lines(file_lines(*statements_of_tree(read_tree(source))))


def statements_of_tree(tree: Tree) -> tuple[tuple[Item, ...], tuple[Comment, ...]]:
    """Return the statements of a program, each laid out, and the comments behind the last one."""
    around, end = comments_of_words(tree)
    layouter = _Layouter(around)
    body = tree.fold(layouter.phrase, layouter.leaf).body
    assert body is not None  # the root is a program
    items, behind = body
    return items, behind + end


class _Layouter:
    """Lays out a tree from its leaves upwards."""

    def __init__(self, around: dict[int, WordComments]) -> None:
        self.around = around
        self.plain: dict[tuple[str, str], Made] = {}
        """The words and signs to which nothing belongs, made once each."""

    def leaf(self, leaf: Leaf) -> Made:
        """Return a word or a sign with what belongs to it."""
        here = self.around.get(leaf.start)
        if here is not None:
            return _word(leaf, here)
        key = leaf.kind, leaf.text
        if (made := self.plain.get(key)) is None:
            made = self.plain[key] = _word(leaf, WordComments())
        return made

    def phrase(self, phrase: Phrase, parts: list[Made]) -> Made:
        """Return what a rule covers."""
        match phrase.rule:
            case "name" | "argument" | "binding":  # as most are
                return _row(phrase.rule, parts)
            case "program":
                items, behind = statements(parts)
                return Made("program", Item(""), body=(tuple(items), behind))
            case "group":
                return _group(parts)
            case "call":
                return _call(parts)
            case "object":
                return _list("object", parts, spaced=True)
            case "array":
                return _list("array", parts, spaced=False)
            case "pipe":
                return chain("pipe", [without_brackets(part, _CLOSED) for part in parts])
            case "either":
                return chain("either", parts)
            case "block":
                return braces_of_block(parts)
            case "field":
                return _row("field", [_key(parts[0]), *parts[1:]])
            case rule if rule in _BLOCKS:
                return block_with_head(rule, parts)
            case rule:
                return _row(rule, parts)


def _word(leaf: Leaf, here: WordComments) -> Made:
    text = _string(leaf.text) if leaf.kind == "STRING" else leaf.text
    return Made(leaf.kind, Item(text, here.lead, here.trail, here.blank, first=leaf.text))


# ---- rows: what stands side by side


def _row(rule: str, parts: Sequence[Made]) -> Made:
    """Put parts side by side; comments between them go above all."""
    if len(parts) == 1:
        part = without_brackets(parts[0], None if rule in _WHOLE else _CLOSED)
        item = replace(part.item, closed=False) if part.item.closed and rule != "anonymous" else part.item
        return Made(rule, item, blocks=part.blocks)
    if rule in _WHOLE:
        parts = [*parts[:-1], without_brackets(parts[-1])]
    elif rule != "call":
        parts = [without_brackets(part, _CLOSED) for part in parts]
    docs: list[Doc] = []
    for number, part in enumerate(parts):
        if number and not _close(parts[number - 1].kind, part.kind):
            docs.append(" ")
        docs.append(part.item.doc)
    hard = any(part.item.hard for part in parts)
    first = parts[0].item
    item = Item(tuple(docs), *comments_beside(parts), first.blank, hard, first.first, bracketed=rule == "inline")
    return Made(rule, item, blocks=any(part.blocks for part in parts))


def _close(left: str, right: str) -> bool:
    """Tell whether nothing stands between two parts of a row."""
    return left == "DOT" or right in {"DOT", "COLON"}


def _key(key: Made) -> Made:
    """Return a key without quotes, where it reads back as the same key."""
    text = key.item.doc
    if key.kind != "STRING" or not isinstance(text, str):
        return key
    name = text[1:-1]
    if "\\" in name or not is_name(name) or normal(name) != name or name.upper() in CONTEXTUAL:
        return key
    return replace(key, item=replace(key.item, doc=name))


def _string(text: str) -> str:
    r"""Return a string in double quotes, unless it holds one: `'a'` and `'it\'s'`, but not `'"'`."""
    if not text.startswith("'") or '"' in text:
        return text
    parts = text[1:-1].split("\\\\")
    return '"' + "\\\\".join(part.replace("\\'", "'") for part in parts) + '"'


# ---- brackets


def _group(parts: Sequence[Made]) -> Made:
    opening, value, closing = parts[0], without_brackets(parts[1]), parts[-1]
    lead, trail = comments_beside([opening, value, closing])
    hard = value.item.hard
    doc = Group(("(", Nest((Line(""), value.item.doc)), Line(""), ")"), hard)
    item = Item(doc, lead, trail, opening.item.blank, hard, "(")
    within = replace(value, item=replace(value.item, lead=lead, trail=trail, blank=opening.item.blank))
    return Made("group", item, within=within, blocks=value.blocks)


def _items(parts: Sequence[Made], separators: frozenset[str]) -> tuple[list[Item], tuple[Comment, ...]]:
    """Return the items between two brackets, and the comments behind the last one; one behind the bracket is the first item's."""
    opening, *inner, closing = parts
    items: list[Item] = []
    waiting = opening.item.trail
    for part in inner:
        if part.kind not in separators:
            bare = without_brackets(part).item
            items.append(_behind(waiting, bare))
            waiting = ()
        else:
            waiting += part.item.lead
            if items:
                items[-1] = items[-1].behind(part.item.trail)
    return items, waiting + closing.item.lead


def _behind(comments: tuple[Comment, ...], item: Item) -> Item:
    """Return an item with comments that were written before its separator."""
    return (replace(item, lead=comments + item.lead) if comments else item).behind(())


_SEPARATORS = frozenset({"COMMA"})


def _list(kind: str, parts: Sequence[Made], *, spaced: bool) -> Made:
    """Lay out braces of fields or square brackets."""
    items, behind = _items(parts, _SEPARATORS)
    opening, closing = parts[0], parts[-1]
    doc, hard = bracketed(_sign(opening), items, behind, _sign(closing), spaced=spaced)
    item = Item(doc, opening.item.lead, closing.item.trail, opening.item.blank, hard, opening.item.first, bracketed=True)
    return Made(kind, item, blocks=any(part.blocks for part in parts))


def _sign(part: Made) -> str:
    doc = part.item.doc
    assert isinstance(doc, str)
    return doc


def _call(parts: Sequence[Made]) -> Made:
    """Lay out a call: on one line, or an argument on each."""
    at = next(number for number, part in enumerate(parts) if part.kind == "LPAR")
    callee, opening, closing = parts[0], parts[at], parts[-1]
    items, behind = _items(parts[at:], _SEPARATORS)
    doc, hard = bracketed("(", items, behind, ")", spaced=False)
    lead, _ = comments_beside([callee, opening])
    item = Item((callee.item.doc, doc), lead, closing.item.trail, callee.item.blank, hard, callee.item.first)
    return Made("call", item, blocks=any(part.blocks for part in parts[at + 1 : -1]))
