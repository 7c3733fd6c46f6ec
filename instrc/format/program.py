"""The one layout of a program.

What fits on a line stands on one; else a pipe has a stage on each line, a call an argument, braces a field.
Statements end with `;`, broken lists with a comma.  Single empty lines and all comments stay.
Strings get double quotes, keys none, where that changes nothing; brackets around a value that needs none go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from instrc.format.comments import Comment, Surroundings, surroundings
from instrc.format.lists import Item, bracketed, line_end, lines_above, statement_rows
from instrc.format.page import Doc, Group, Line, Nest, layout
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


class _Made(NamedTuple):
    """What has been laid out of a part of the tree, with the comments that still have to find a line."""

    kind: str
    item: Item
    raw: Doc | None = None
    """The document without its own group, for what breaks together with what is around it."""
    within: _Made | None = None
    """Of a value in brackets, the value."""
    body: tuple[tuple[Item, ...], tuple[Comment, ...]] | None = None
    """Of a block's braces, the statements and the comments behind them."""
    blocks: bool = False
    """Whether a block is in it."""


def format_program(source: Source) -> str:
    """Return the canonical text of a source; it must be a program."""
    return format_tree(read_tree(source))


def format_tree(tree: Tree) -> str:
    """Return the canonical text of a program's tree."""
    around, end = surroundings(tree)
    layouter = _Layouter(around, end)
    return layout(tree.fold(layouter.phrase, layouter.leaf).item.doc)


class _Layouter:
    """Lays out a tree from its leaves upwards."""

    def __init__(self, around: dict[int, Surroundings], end: tuple[Comment, ...]) -> None:
        self.around = around
        self.end = end

    def leaf(self, leaf: Leaf) -> _Made:
        """Return a word or a sign with what belongs to it."""
        here = self.around[leaf.start]
        text = _string(leaf.text) if leaf.kind == "STRING" else leaf.text
        return _Made(leaf.kind, Item(text, here.lead, here.trail, here.blank, first=leaf.text))

    def phrase(self, phrase: Phrase, parts: list[_Made]) -> _Made:
        """Return what a rule covers."""
        match phrase.rule:
            case "program":
                items, waiting = _statements(parts)
                return _Made("program", Item(_lines(items, waiting + self.end)))
            case "group":
                return _group(parts)
            case "call":
                return _call(parts)
            case "object":
                return _list("object", parts, spaced=True)
            case "array":
                return _list("array", parts, spaced=False)
            case "pipe":
                return _pipe(parts)
            case "block":
                return _block(parts)
            case "field":
                return _row("field", [_key(parts[0]), *parts[1:]])
            case rule:
                return _row(rule, parts)


# ---- rows: what stands side by side


def _row(rule: str, parts: Sequence[_Made]) -> _Made:
    """Put parts side by side; comments between them go above all."""
    parts = _with_comments_of_else(parts)
    if rule in _WHOLE:
        parts = [*parts[:-1], _bare(parts[-1])]
    elif rule != "call":
        parts = [_bare(part, _CLOSED) for part in parts]
    docs: list[Doc] = []
    for number, part in enumerate(parts):
        if number and not _close(parts[number - 1].kind, part.kind):
            docs.append(" ")
        docs.append(part.raw if part.raw is not None and rule in _BLOCKS else part.item.doc)
    hard = any(part.item.hard for part in parts)
    whole: Doc = tuple(docs)
    first, last = parts[0].item, parts[-1].item
    item = Item(whole, *_comments(parts), first.blank, hard, first.first, last.closed and rule in _BLOCKS | {"anonymous"})
    if rule not in _BLOCKS:
        return _Made(rule, item, blocks=any(part.blocks for part in parts))
    return _Made(rule, item._replace(doc=Group(whole, hard)), raw=whole, blocks=True)


def _comments(parts: Sequence[_Made]) -> tuple[tuple[Comment, ...], tuple[Comment, ...]]:
    """Return the comments above a row and those behind it."""
    lead: tuple[Comment, ...] = parts[0].item.lead
    for before, part in pairwise(parts):
        lead += tuple(comment._replace(blank=False) for comment in (*before.item.trail, *part.item.lead))
    return lead, parts[-1].item.trail


def _close(left: str, right: str) -> bool:
    """Tell whether nothing stands between two parts of a row."""
    return "DOT" in {left, right} or right == "COLON"


def _key(key: _Made) -> _Made:
    """Return a key without quotes, where it reads back as the same key."""
    text = key.item.doc
    if key.kind != "STRING" or not isinstance(text, str):
        return key
    name = text[1:-1]
    if "\\" in name or not is_name(name) or normal(name) != name or name.upper() in CONTEXTUAL:
        return key
    return key._replace(item=key.item._replace(doc=name))


def _string(text: str) -> str:
    r"""Return a string in double quotes, unless it holds one: `'a'` and `'it\'s'`, but not `'"'`."""
    if not text.startswith("'") or '"' in text:
        return text
    parts = text[1:-1].split("\\\\")
    return '"' + "\\\\".join(part.replace("\\'", "'") for part in parts) + '"'


# ---- brackets


def _bare(part: _Made, kinds: frozenset[str] | None = None) -> _Made:
    """Return what stands in idle brackets, without them; with `kinds`, only if it is one of those."""
    while part.within is not None and (kinds is None or part.within.kind in kinds):
        part = part.within
    return part


def _group(parts: Sequence[_Made]) -> _Made:
    opening, value, closing = parts[0], _bare(parts[1]), parts[-1]
    lead, trail = _comments([opening, value, closing])
    hard = value.item.hard
    doc = Group(("(", Nest((Line(""), value.item.doc)), Line(""), ")"), hard)
    item = Item(doc, lead, trail, opening.item.blank, hard, "(")
    within = value._replace(item=value.item._replace(lead=lead, trail=trail, blank=opening.item.blank))
    return _Made("group", item, within=within, blocks=value.blocks)


def _items(parts: Sequence[_Made], separators: frozenset[str]) -> tuple[list[Item], tuple[Comment, ...]]:
    """Return the items between two brackets, and the comments behind the last one; one behind the bracket is the first item's."""
    opening, *inner, closing = parts
    items: list[Item] = []
    waiting = opening.item.trail
    for part in inner:
        if part.kind not in separators:
            bare = _bare(part).item
            items.append(bare._replace(lead=waiting + bare.lead).behind(()))
            waiting = ()
        else:
            waiting += part.item.lead
            if items:
                items[-1] = items[-1].behind(part.item.trail)
    return items, waiting + closing.item.lead


_SEPARATORS = frozenset({"COMMA"})


def _list(kind: str, parts: Sequence[_Made], *, spaced: bool) -> _Made:
    """Lay out braces of fields or square brackets."""
    items, behind = _items(parts, _SEPARATORS)
    opening, closing = parts[0], parts[-1]
    doc, hard = bracketed(_sign(opening), items, behind, _sign(closing), spaced=spaced)
    item = Item(doc, opening.item.lead, closing.item.trail, opening.item.blank, hard, opening.item.first)
    return _Made(kind, item, blocks=any(part.blocks for part in parts))


def _sign(part: _Made) -> str:
    doc = part.item.doc
    assert isinstance(doc, str)
    return doc


def _call(parts: Sequence[_Made]) -> _Made:
    """Lay out a call; a single object between its brackets breaks in their place."""
    at = next(number for number, part in enumerate(parts) if part.kind == "LPAR")
    callee, opening, closing = parts[0], parts[at], parts[-1]
    items, behind = _items(parts[at:], _SEPARATORS)
    inner = [_bare(part) for part in parts[at + 1 : -1] if part.kind not in _SEPARATORS]
    sole = inner[0].kind if len(inner) == 1 else ""
    if sole in {"object", "array"} and not behind and not (items[0].above or items[0].trail):
        doc: Doc = ("(", items[0].inner, ")")
        hard = items[0].hard
    else:
        doc, hard = bracketed("(", items, behind, ")", spaced=False)
    lead = _comments([callee, opening._replace(item=opening.item._replace(trail=()))])[0]
    item = Item((callee.item.doc, doc), lead, closing.item.trail, callee.item.blank, hard, callee.item.first)
    return _Made("call", item, blocks=any(part.blocks for part in inner))


# ---- pipes


def _pipe(parts: Sequence[_Made]) -> _Made:
    """Lay out a pipe: on one line, or a stage on each."""
    stages: list[Item] = []
    waiting: tuple[Comment, ...] = ()
    for part in parts:
        if part.kind == "VBAR":
            waiting = (*part.item.lead, *part.item.trail)
        else:
            item = _bare(part, _CLOSED).item
            stages.append(item._replace(lead=waiting + item.lead).behind(()))
            waiting = ()
    first, *rest = stages
    lead, trail = first.lead, stages[-1].trail
    hard = bool(first.trail) or any(item.hard for item in stages) or any(item.above for item in rest)
    hard = hard or any(item.trail for item in rest[:-1])
    rows: list[Doc] = []
    for number, item in enumerate(rest):
        rows += [Line(), *lines_above(item._replace(blank=False)), "| ", Nest(item.inner)]
        if number < len(rest) - 1:
            rows += line_end(item)
    doc = Group((first.doc, *line_end(first), Nest(tuple(rows))), hard)
    whole = Item(doc, lead, trail, first.blank, hard, first.first)
    return _Made("pipe", whole, blocks=any(part.blocks for part in parts))


# ---- statements and blocks


def _statements(parts: Iterable[_Made]) -> tuple[list[Item], tuple[Comment, ...]]:
    """Return the statements of a file or a block; what belongs to a `;` belongs to the statement before it, or is left over."""
    items: list[Item] = []
    waiting: tuple[Comment, ...] = ()
    for part in parts:
        bare = _bare(part).item
        if part.kind != "SEMICOLON":
            items.append(bare._replace(lead=waiting + bare.lead).behind(()))
            waiting = ()
            continue
        waiting += tuple(comment for comment in bare.lead if not comment.inline)
        trail = (*bare.trail, *(comment for comment in bare.lead if comment.inline))
        if items:
            items[-1] = items[-1].behind(trail)
        else:
            waiting += trail
    if items:
        items[-1] = items[-1].behind(waiting)
        waiting = ()
    return items, waiting


def _lines(items: Sequence[Item], behind: tuple[Comment, ...]) -> Doc:
    """Return the lines of a file."""
    rows = statement_rows(items, behind, end=";")
    return (*rows, "\n") if rows else ""


def _block(parts: Sequence[_Made]) -> _Made:
    """Lay out the braces of a block; only a single value without a block in it may stand in their line."""
    opening, *inner, closing = parts
    items, _ = _statements(inner)
    items[0] = items[0]._replace(lead=opening.item.trail + items[0].lead)
    blocks = any(part.blocks for part in inner)
    return _braces(opening, items, closing.item.lead, closing, blocks=blocks)


def _braces(opening: _Made, items: Sequence[Item], behind: tuple[Comment, ...], closing: _Made, *, blocks: bool) -> _Made:
    hard = blocks or len(items) > 1 or bool(behind) or any(item.loose for item in items)
    doc: Doc = ("{", Nest((Line(), *statement_rows(items, behind, end=""))), Line(), "}")
    item = Item(doc, opening.item.lead, closing.item.trail, opening.item.blank, hard, "{", closed=True)
    return _Made("block", item, raw=doc, body=(tuple(items), behind), blocks=blocks)


def _with_comments_of_else(parts: Sequence[_Made]) -> list[_Made]:
    """Move comments around an `else` into the block behind it, where they stay beside what they speak of."""
    found = list(parts)
    for at in range(1, len(found) - 1):
        before, word, block = found[at - 1], found[at], found[at + 1]
        if word.kind != "ELSE" or block.body is None:
            continue
        moved = (*before.item.trail, *word.item.lead, *word.item.trail, *block.item.lead)
        if not moved:
            continue
        items, behind = block.body
        first = items[0]._replace(lead=tuple(comment._replace(inline=False, blank=False) for comment in moved) + items[0].lead)
        found[at - 1] = before._replace(item=before.item._replace(trail=()))
        found[at] = word._replace(item=word.item._replace(lead=(), trail=()))
        bare = block._replace(item=block.item._replace(lead=()))
        found[at + 1] = _braces(bare, [first, *items[1:]], behind, bare, blocks=block.blocks)
    return found
