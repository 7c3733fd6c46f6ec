"""The canonical layout of programs and of JSON.

Whatever fits on a line is printed on one; otherwise a pipe has one stage per line, a condition one alternative, a call one
argument, braces one field; only numbers in square brackets fill their lines.
Statements end with `;`, broken lists with a comma.  Single empty lines and all comments are kept.
Strings get double quotes, keys none, if that changes nothing; redundant brackets around a value are removed.

In JSON, keys keep their order, which is significant in a vibe, and numbers their digits.
The outermost brackets get their own lines; whatever fits on a line inside them gets one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from instrc import problems
from instrc.language.concrete_tree import Leaf, Phrase, read_tree
from instrc.language.definitions import wrong_definitions
from instrc.language.habits import name_habits
from instrc.language.lexer import is_name, normal
from instrc.language.line_breaking import Doc, Group, Line, Nest, in_lines
from instrc.language.list_layout import (
    Comment,
    Item,
    Made,
    WordComments,
    bracketed,
    chain,
    comments_beside,
    comments_of_words,
    filled,
    statement_rows,
    without_brackets,
)
from instrc.language.parser import parse
from instrc.language.tables import CONTEXTUAL
from instrc.problems.report import Report
from instrc.problems.suggest import applied
from instrc.text.jsontext import INDENTED, read_value
from instrc.text.jsonvalue import JsonSyntaxError
from instrc.text.source import CONFLICT_MARK, Source


def statements(parts: Iterable[Made]) -> tuple[list[Item], tuple[Comment, ...]]:
    """Return the statements of a file or block; the trivia of a `;` goes to the previous statement, or is left over."""
    items: list[Item] = []
    waiting: tuple[Comment, ...] = ()
    for part in parts:
        bare = without_brackets(part).item
        if part.kind != "SEMICOLON":
            items.append((replace(bare, lead=waiting + bare.lead) if waiting else bare).behind(()))
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


def file_lines(items: Sequence[Item], behind: tuple[Comment, ...]) -> Doc:
    """Return the lines of a file."""
    rows = statement_rows(items, behind, end=";")
    return (*rows, "\n") if rows else ""


def braces_of_block(parts: Sequence[Made]) -> Made:
    """Lay out the braces of a block; only a single value without a nested block may share their line."""
    opening, *inner, closing = parts
    items, _ = statements(inner)
    items[0] = replace(items[0], lead=opening.item.trail + items[0].lead)
    blocks = any(part.blocks for part in inner)
    return _braces(opening, items, closing.item.lead, closing, blocks=blocks)


def _braces(opening: Made, items: Sequence[Item], behind: tuple[Comment, ...], closing: Made, *, blocks: bool) -> Made:
    hard = blocks or len(items) > 1 or bool(behind) or any(item.loose for item in items)
    doc: Doc = ("{", Nest((Line(), *statement_rows(items, behind, end=""))), Line(), "}")
    item = Item(doc, opening.item.lead, closing.item.trail, opening.item.blank, hard, "{", closed=True)
    return Made("block", item, raw=doc, body=(tuple(items), behind), blocks=blocks)


def block_with_head(rule: str, parts: Sequence[Made]) -> Made:
    """Lay out a keyword with its blocks: their braces break together."""
    parts = _comments_in_blocks(parts)
    docs: list[Doc] = []
    for part in parts:
        docs += [" ", part.item.doc if part.raw is None else part.raw]
    whole: Doc = tuple(docs[1:])
    hard = any(part.item.hard for part in parts)
    first, last = parts[0].item, parts[-1].item
    item = Item(Group(whole, hard), *comments_beside(parts), first.blank, hard, first.first, last.closed)
    return Made(rule, item, raw=whole, blocks=True, parts=tuple(parts))


def _comments_in_blocks(parts: Sequence[Made]) -> list[Made]:
    """Move comments next to `else` into the following block, and those next to `until` into the preceding one.

    So they stay near their subject, however long the blocks are.
    """
    found = list(parts)
    at = next((number for number, part in enumerate(found) if part.kind == "ELSE"), None)
    if at is not None:
        before, word, behind = found[at - 1 : at + 2]
        moved = (*before.item.trail, *word.item.lead, *word.item.trail, *behind.item.lead)
        if moved:
            found[at - 1], found[at] = _without_comments(before, trail=True), _without_comments(word, lead=True, trail=True)
            found[at + 1] = _at_beginning(behind, moved)
    if found[0].parts:  # of a `repeat`, with its continuation
        last = len(found) if at is None else at
        moved = found[0].item.trail
        for number in range(1, last):
            trail = number + 1 < last or at is not None
            moved += found[number].item.lead + (found[number].item.trail if trail else ())
            found[number] = _without_comments(found[number], lead=True, trail=trail)
        if moved:
            found[0] = _at_end(found[0], moved)
    return found


def _without_comments(part: Made, *, lead: bool = False, trail: bool = False) -> Made:
    """Return a part without the comments before or after it."""
    item = part.item
    if not ((lead and item.lead) or (trail and item.trail)):
        return part
    return replace(part, item=replace(item, lead=() if lead else item.lead, trail=() if trail else item.trail))


def _at_beginning(part: Made, comments: tuple[Comment, ...]) -> Made:
    """Return a block, or a `when` after `else`, with comments at the beginning of its first block."""
    if part.body is None:
        at = next(number for number, each in enumerate(part.parts) if each.body is not None)
        head = [_without_comments(each, lead=True, trail=True) for each in part.parts[:at]]
        return block_with_head(part.kind, [*head, _at_beginning(part.parts[at], comments), *part.parts[at + 1 :]])
    items, behind = part.body
    first = replace(items[0], lead=_on_lines(comments) + items[0].lead)
    bare = _without_comments(part, lead=True)
    return _braces(bare, [first, *items[1:]], behind, bare, blocks=part.blocks)


def _on_lines(comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
    return tuple(replace(comment, inline=False, blank=False) for comment in comments)


def _at_end(part: Made, comments: tuple[Comment, ...]) -> Made:
    """Return a `repeat` with the comments after it moved to the end of its block."""
    *head, block = part.parts
    assert block.body is not None
    items, behind = block.body
    bare = _without_comments(block, trail=True)
    return block_with_head(part.kind, [*head, _braces(bare, items, behind + _on_lines(comments), bare, blocks=block.blocks)])


_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


def format_json(text: str) -> str:
    """Return the canonical text of a JSON text; it must be JSON."""
    open_: list[list[Doc]] = [[]]
    signs: list[str] = []
    for found in _TOKEN.finditer(text):
        match found[1]:
            case "{" | "[" as sign:
                signs.append(sign)
                open_.append([])
            case "}" | "]" as sign:
                inner = open_.pop()
                _add(open_[-1], _brackets(signs.pop(), inner, sign, level=len(signs)))
            case ",":
                last = open_[-1].pop()
                open_[-1] += [(last, ","), Line() if len(signs) <= INDENTED else " "]
            case ":":
                open_[-1][-1] = (open_[-1][-1], ": ")
            case word:
                _add(open_[-1], (_ESCAPE.sub(_unescaped, word) if "\\" in word else word) if word.startswith('"') else word)
    return in_lines((*open_[0], "\n"))


def _add(docs: list[Doc], value: Doc) -> None:
    """Append a value after its key, or as an element."""
    if docs and isinstance(last := docs[-1], tuple) and type(last) is tuple and last[-1] == ": ":
        docs[-1] = (*last, value)
    else:
        docs.append(value)


def _brackets(opening: str, inner: list[Doc], closing: str, *, level: int) -> Doc:
    if not inner:
        return opening + closing
    space = " " if opening == "{" else ""
    if level >= INDENTED:
        return (opening, space, *inner, space, closing)
    edge = Line(space)
    if opening == "[" and (numbers := filled([part[0] if type(part) is tuple else part for part in inner[::2]])):
        inner = numbers
    return Group((opening, Nest((edge, *inner)), edge, closing), broken=level == 0)


def _unescaped(escape: re.Match[str]) -> str:
    written = escape[0]
    if written == "\\/":
        return "/"
    if not written.startswith("\\u"):
        return written
    character = bytes.fromhex(written.replace("\\u", "")).decode("utf-16-be", "replace")
    return character if character.isprintable() and character not in '"\\\ufffd' else written


_CLOSED = frozenset({"name", "uri", "literal", "call", "access", "deeper", "object", "array", "inline", "annotated"})
"""Rules that read the same with and without brackets, at any place."""
_AROUND_BLOCKS = frozenset({"when_chain", "repeat", "each_until"})
"""Rules whose braces break together, like everything that ends with a block's braces, and that may end otherwise."""
_WHOLE = frozenset({"binding", "argument", "field", "array", "group", "anonymous", "call", "block", "program"})
"""Rules that accept any expression without brackets."""


def format_program(source: Source) -> str:
    """Return the canonical text of a source; it must be a program."""
    tree = read_tree(source)
    around, end = comments_of_words(tree)
    layouter = _Layouter(around)
    body = tree.fold(layouter.phrase, layouter.leaf).body
    assert body is not None  # the root is a program
    statements, behind = body
    return in_lines(file_lines(statements, behind + end))


class _Layouter:
    """Lays out a tree from the leaves upwards."""

    def __init__(self, around: dict[int, WordComments]) -> None:
        self.around = around

    def leaf(self, leaf: Leaf) -> Made:
        """Return a word or a sign with its trivia."""
        here = self.around[leaf.start]
        text = _string(leaf.text) if leaf.kind == "STRING" else leaf.text
        return Made(leaf.kind, Item(text, here.lead, here.trail, here.blank, first=leaf.text))

    def phrase(self, phrase: Phrase, parts: list[Made]) -> Made:
        """Return the layout of a rule's range."""
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
            case rule if parts[-1].kind == "block" or rule in _AROUND_BLOCKS:
                return block_with_head(rule, parts)
            case rule:
                return _row(rule, parts)


def _string(text: str) -> str:
    r"""Return a string in double quotes, unless it holds one: `'a'` and `'it\'s'`, but not `'"'`."""
    if not text.startswith("'") or '"' in text:
        return text
    parts = text[1:-1].split("\\\\")
    return '"' + "\\\\".join(part.replace("\\'", "'") for part in parts) + '"'


def _row(rule: str, parts: Sequence[Made]) -> Made:
    """Put parts side by side; comments between them go above the whole."""
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
        if number and not (parts[number - 1].kind == "DOT" or part.kind in {"DOT", "COLON"}):
            docs.append(" ")
        docs.append(part.item.doc)
    hard = any(part.item.hard for part in parts)
    first = parts[0].item
    item = Item(tuple(docs), *comments_beside(parts), first.blank, hard, first.first, bracketed=rule == "inline")
    return Made(rule, item, blocks=any(part.blocks for part in parts))


def _group(parts: Sequence[Made]) -> Made:
    opening, value, closing = parts[0], without_brackets(parts[1]), parts[-1]
    lead, trail = comments_beside([opening, value, closing])
    hard = value.item.hard
    doc = Group(("(", Nest((Line(""), value.item.doc)), Line(""), ")"), hard)
    item = Item(doc, lead, trail, opening.item.blank, hard, "(")
    within = replace(value, item=replace(value.item, lead=lead, trail=trail, blank=opening.item.blank))
    return Made("group", item, within=within, blocks=value.blocks)


_SEPARATORS = frozenset({"COMMA"})


def _call(parts: Sequence[Made]) -> Made:
    """Lay out a call: on one line, or with one argument per line."""
    at = next(number for number, part in enumerate(parts) if part.kind == "LPAR")
    callee, opening, closing = parts[0], parts[at], parts[-1]
    items, behind = _items(parts[at:], _SEPARATORS)
    doc, hard = bracketed("(", items, behind, ")", spaced=False)
    lead, _ = comments_beside([callee, opening])
    item = Item((callee.item.doc, doc), lead, closing.item.trail, callee.item.blank, hard, callee.item.first)
    return Made("call", item, blocks=any(part.blocks for part in parts[at + 1 : -1]))


def _items(parts: Sequence[Made], separators: frozenset[str]) -> tuple[list[Item], tuple[Comment, ...]]:
    """Return the items between two brackets, and the comments after the last one; one after the bracket is the first item's."""
    opening, *inner, closing = parts
    items: list[Item] = []
    waiting = opening.item.trail
    for part in inner:
        if part.kind not in separators:
            bare = without_brackets(part).item
            items.append((replace(bare, lead=waiting + bare.lead) if waiting else bare).behind(()))
            waiting = ()
        else:
            waiting += part.item.lead
            if items:
                items[-1] = items[-1].behind(part.item.trail)
    return items, waiting + closing.item.lead


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


def _key(key: Made) -> Made:
    """Return a key without quotes, if it parses as the same key."""
    text = key.item.doc
    if key.kind != "STRING" or not isinstance(text, str):
        return key
    name = text[1:-1]
    if "\\" in name or not is_name(name) or normal(name) != name or name.upper() in CONTEXTUAL:
        return key
    return replace(key, item=replace(key.item, doc=name))


JSON_ENDING = ".json"


def format_source(source: Source, report: Report) -> str | None:
    """Return the canonical text of a program, or of JSON for a `.json` name; return `None` and problems if it is neither.

    Definitions get the words `const` and `tool`.

    A program is also left unchanged if the ends of its statements are unclear: `"say "hi" to him"` would become three
    statements with a `;` after each, and the mistake would be hidden.
    """
    if source.name.endswith(JSON_ENDING):
        return _json(source, report)
    found = Report()
    program = parse(source, found)
    name_habits(program, found)
    report.problems += found.problems
    unclear = any(isinstance(problem, problems.habits.MissingSeparator) for problem in found.problems)
    if found.failed or unclear:
        return None
    text, _ = applied(source.text, (fix for each in wrong_definitions(program) for fix in each.fixes))
    return format_program(Source(source.name, text))


def _json(source: Source, report: Report) -> str | None:
    try:
        read_value(source.text)
    except JsonSyntaxError as error:
        start = min(error.offset, max(len(source.text) - 1, 0))
        at = source.span(start, min(start + 1, len(source.text)))
        mark = CONFLICT_MARK.search(source.text)
        report.add(
            problems.files.InvalidJson(at=at, reason=error.reason)
            if mark is None
            else problems.statements.MergeConflict(at=source.span(*mark.span()))
        )
        return None
    return format_json(source.text)
