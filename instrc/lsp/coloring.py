"""Colours and small notes in the text: semantic tokens, inlay hints, folding."""

from __future__ import annotations

from lsprotocol import types

from instrc.ir.fusion import SUFFIXES, suffix_of
from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.lsp.knowledge import carried_out_by
from instrc.lsp.positions import Lines
from instrc.syntax.lexer import Token
from instrc.syntax.tables import CONTEXTUAL

TOKENS = [
    "keyword",
    "function",
    "macro",
    "event",
    "interface",
    "variable",
    "parameter",
    "property",
    "string",
    "number",
    "comment",
    "namespace",
]
"""Kinds of tokens; an instruction is a function, of the server an event, of a person an interface, a mixin a macro."""
_NUMBERS = {kind: number for number, kind in enumerate(TOKENS)}
_BY_KIND = {"model": "function", "server": "event", "user": "interface", "mixin": "macro"}
_WORDS = frozenset({"CONST", "LET", "TOOL", "INPUT", "TRUE", "FALSE", "NULL", "WHEN", "EACH", "REPEAT", "TRY", "DO"})
_WORDS |= {"ELSE", "IN", "IS", "OR", "UNTIL", "MAX", "KEEP"}
_NAMES = _WORDS | {"NAME"}
_FIXED = {"STRING": "string", "NUMBER": "number", "AUG_URI": "namespace", "METRIC": "property"}
"""What is always of one kind, by the grammar's names."""
_OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_DEFINED = {"const": "variable", "tool": "variable", "input": "parameter", "element": "parameter", "key": "property"}


def semantic_tokens(document: TextDocument) -> list[int]:
    """Return the tokens of a program in the protocol's packed form."""
    defined = {
        each.span.start: _DEFINED.get(each.kind, "variable") for each in document.index.definitions if each.kind != "round"
    }
    words = document.words
    rows = [(span.start, span.end, "comment") for span in words.comments]
    rows += [
        (word.start, word.end, kind)
        for word in words.tokens
        if (kind := _FIXED.get(word.kind) or (_name_kind(word, document, defined) if word.kind in _NAMES else ""))
    ]
    rows.sort()
    return _encode_rows(rows, document.lines)


def _name_kind(word: Token, document: TextDocument, defined: dict[int, str]) -> str:
    """Return the kind of a name, or of a word of the language, which may stand for a name."""
    mention = document.index.by_start.get(word.start)
    if word.kind in _WORDS and mention is None and word.start not in defined:
        return "keyword"
    if word.kind != "NAME" and word.kind not in CONTEXTUAL:
        return ""
    if word.start in defined:
        return defined[word.start]
    if mention is None:
        return "property"
    if mention.definition is not None:
        return _DEFINED.get(mention.definition.kind, "variable")
    kind = SUFFIXES.get(suffix_of(mention.text), "model")
    return _BY_KIND[kind] if mention.text != "prompt" else "parameter"


def _encode_rows(rows: list[tuple[int, int, str]], lines: Lines) -> list[int]:
    """Return tokens relative to the one before; one over several lines becomes one a line."""
    data: list[int] = []
    line = column = 0
    for row, before, length, kind in lines.stretches(rows):
        data += row - line, before - (column if row == line else 0), length, _NUMBERS[kind], 0
        line, column = row, before
    return data


def inlay_hints(document: TextDocument, wanted: types.Range, session: EditorSession) -> list[types.InlayHint]:
    """Return who carries out each call of a range that is not the model's, and the version of references without one."""
    knowledge = session.knowledge(document)
    if knowledge is None or document.is_vibe:
        return []
    start, end = document.lines.offset(wanted.start), document.lines.offset(wanted.end)
    hints = []
    for mention in document.index.mentions:
        if not start <= mention.span.start <= end or mention.definition is not None:
            continue
        known = knowledge.find(mention.text)
        if known is None:
            continue
        version = known.vibe.uri.rpartition(":")[2] if known.vibe.uri.count(":") > 1 else ""
        if version and not mention.text.endswith(f":{version}"):
            hints.append(
                types.InlayHint(
                    position=document.lines.position(mention.span.end),
                    label=f":{version}",
                    tooltip=f"{known.vibe.uri}, carried out by {carried_out_by(known.instruction)}",
                )
            )
    return hints


def folding(document: TextDocument) -> list[types.FoldingRange]:
    """Return the brackets that go over several lines."""
    found = []
    opened: list[int] = []
    line = document.lines.line
    for word in document.words.tokens:
        if word.kind in _OPENING:
            opened.append(word.start)
        elif word.kind in _CLOSING and opened:
            first, last = line(opened.pop()), line(word.end)
            if last > first:
                found.append(types.FoldingRange(first, max(first, last - 1)))
    return sorted(found, key=lambda each: (each.start_line, each.end_line))
