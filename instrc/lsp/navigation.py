"""Go to a definition, find all places of a name, rename it, list what a program defines."""

from __future__ import annotations

import re

from lsprotocol import types

from instrc.ir.surface import Access, Call, Object
from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.lsp.knowledge import Knowledge
from instrc.lsp.positions import uri_of
from instrc.lsp.scopes import Definition, Mention
from instrc.passes.bind.names import RESERVED
from instrc.source import Span
from instrc.syntax.lexer import is_name, normal
from instrc.syntax.tables import tables

_KINDS = {
    "const": types.SymbolKind.Variable,
    "tool": types.SymbolKind.Function,
    "input": types.SymbolKind.Constant,
    "element": types.SymbolKind.Variable,
    "key": types.SymbolKind.Field,
}


def definition(document: TextDocument, offset: int, session: EditorSession) -> types.Location | None:
    """Return where the name, the reference, the member or the slot at an offset is defined."""
    if document.is_vibe:
        return _of_reference(document, offset, session)
    knowledge = session.knowledge(document)
    span = member_place(document, offset, knowledge) if knowledge else None
    if span is None and (found := document.index.definition(offset)) is not None:
        return types.Location(document.uri, document.lines.range(found.span))
    mention = document.index.mention(offset)
    if (
        span is None
        and mention is not None
        and mention.definition is None
        and knowledge
        and (known := knowledge.find(mention.text))
    ):
        span = knowledge.place(known)
        span = Span(span.source, span.start, span.start)
    if span is None:
        called = knowledge.program(mention.text) if knowledge and mention is not None and mention.definition is None else None
        start = types.Position(0, 0)
        return None if called is None else types.Location(uri_of(called.path), types.Range(start, start))
    return types.Location(session.uri(span.source.name), session.lines(span.source).range(span))


def _of_reference(document: TextDocument, offset: int, session: EditorSession) -> types.Location | None:
    """Return where an `aug:` reference in a vibe leads."""
    text = document.source.text
    start, end = text.rfind('"', 0, offset), text.find('"', offset)
    knowledge = session.knowledge(document)
    reference = text[start + 1 : end] if 0 <= start < end else ""
    known = knowledge.find(reference) if knowledge and reference.startswith("aug:") and "\n" not in reference else None
    if known is None or knowledge is None:
        return None
    span = knowledge.place(known)
    return types.Location(session.uri(span.source.name), session.lines(span.source).range(span))


def member_place(document: TextDocument, offset: int, knowledge: Knowledge) -> Span | None:
    """Return where the member of a path, or the slot of a call, at an offset is written in a vibe."""
    for access in document.index.accesses:
        for number, member in enumerate(access.members):
            if member.span.start <= offset <= member.span.end and not number:
                return _property(access, member.text, document, knowledge)
    for call in document.index.calls:
        for argument in call.arguments:
            if not isinstance(argument.value, Object):
                continue
            for each in argument.value.fields:
                if each.value is not None and each.key_span.start <= offset <= each.key_span.end:
                    known = knowledge.find(call.callee.text)
                    return knowledge.place(known, each.key) if known else None
    return None


def _property(access: Access, member: str, document: TextDocument, knowledge: Knowledge) -> Span | None:
    base = access.base
    if not isinstance(base, Call):
        mention = document.index.by_start.get(base.span.start)
        value = mention.definition.value if mention and mention.definition else None
        if not isinstance(value, Call):
            return None
        base = value
    known = knowledge.find(base.callee.text)
    return knowledge.place(known, member) if known else None


def references(document: TextDocument, offset: int, *, declaration: bool) -> list[types.Location]:
    """Return all places of the name at an offset."""
    uri = document.uri
    return [types.Location(uri, document.lines.range(span)) for span in _spans(document, offset, declaration=declaration)]


def highlights(document: TextDocument, offset: int) -> list[types.DocumentHighlight]:
    """Return all places of the name at an offset in the same text."""
    return [types.DocumentHighlight(document.lines.range(span)) for span in _spans(document, offset, declaration=True)]


def _spans(document: TextDocument, offset: int, *, declaration: bool) -> list[Span]:
    index = document.index
    found = index.definition(offset)
    if found is None or found.kind == "round":
        mention = index.mention(offset)
        if mention is None:
            return []
        return [each.span for each in index.mentions if each.text == mention.text and each.definition is found]
    return [*([found.span] if declaration else []), *(mention.span for mention in index.places(found))]


def renameable(document: TextDocument, offset: int) -> Definition | None:
    """Return the definition at an offset if its name may change: keys and labels show in what is compiled."""
    found = None if document.is_vibe else document.index.definition(offset)
    return None if found is None or found.kind in {"key", "round"} else found


def rename(document: TextDocument, offset: int, name: str) -> types.WorkspaceEdit | str:
    """Return the edits that give a name another one, or why it cannot be done."""
    found = renameable(document, offset)
    if found is None:
        return "only names that this program defines can be renamed"
    name = normal(name.strip())
    if not is_name(name) or not re.fullmatch(tables().patterns["NAME"], name):
        return f"`{name}` is not a name"
    taken = document.index.scope(found.whole.end).find(name) or any(each.name == name for each in document.index.definitions)
    if taken:
        return f"`{name}` is defined already"
    if name in RESERVED:
        return f"`{name}` has a meaning in the language"
    if any(each.text == name for each in document.index.mentions):
        return f"`{name}` is used here for something else, which it would no longer reach"
    edits = [types.TextEdit(document.lines.range(found.span), name)]
    edits += [types.TextEdit(document.lines.range(each.span), _renamed_text(each, name)) for each in document.index.places(found)]
    return types.WorkspaceEdit(changes={document.uri: edits})


def _renamed_text(mention: Mention, name: str) -> str:
    return f"{mention.text}: {name}" if mention.short else name  # the key of `{ a }` stays


def symbols(document: TextDocument) -> list[types.DocumentSymbol]:
    """Return what a program defines, in order of place."""
    return [
        types.DocumentSymbol(
            name=each.name,
            kind=_KINDS[each.kind],
            range=document.lines.range(each.whole),
            selection_range=document.lines.range(each.span),
            detail=each.kind,
        )
        for each in document.index.definitions
        if each.kind in {"const", "tool", "input"} and each.name
    ]
