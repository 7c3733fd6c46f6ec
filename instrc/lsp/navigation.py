"""Go to a definition, find all places of a name, rename it, in one program and in a project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from instrc.compiler.bind.scopes import RESERVED
from instrc.language.lexer import is_name, normal
from instrc.language.surface import Access, Call, Expression, Object
from instrc.language.tables import tables
from instrc.lsp.knowledge import Definition, Knowledge, KnownInstruction
from instrc.lsp.session import EditorSession, TextDocument, uri_of
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key
from instrc.text.source import Span
from instrc.vibes.find_files import find_files
from instrc.vibes.registry import ProgramFile

_KINDS = {
    "const": types.SymbolKind.Variable,
    "tool": types.SymbolKind.Function,
    "input": types.SymbolKind.Constant,
    "element": types.SymbolKind.Variable,
    "key": types.SymbolKind.Field,
}


def definition(document: TextDocument, offset: int, session: EditorSession) -> types.Location | None:
    """Return where the name, the reference, the member or the slot at an offset is defined."""
    knowledge = session.knowledge(document)
    span = member_place(document, offset, knowledge) if knowledge and not document.is_vibe else None
    if span is None and not document.is_vibe and (found := document.index.definition(offset)) is not None:
        return types.Location(document.uri, document.lines.range(found.span))
    if span is None and knowledge and (known := instruction_at(document, offset, session)):
        span = knowledge.place(known)
        span = span if document.is_vibe else Span(span.source, span.start, span.start)
    if span is None:
        called = program_at(document, offset, session)
        return None if called is None else _beginning(called.path)
    return types.Location(session.uri(span.source.name), session.lines(span.source).range(span))


def _beginning(path: str) -> types.Location:
    start = types.Position(0, 0)
    return types.Location(uri_of(path), types.Range(start, start))


def member_place(document: TextDocument, offset: int, knowledge: Knowledge) -> Span | None:
    """Return where the member of a path, or the slot of a call, at an offset is written in a vibe."""
    for access in document.index.accesses:
        first = access.members[0]
        if first.span.start <= offset <= first.span.end:
            return _property(access, first.text, document, knowledge)
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
    base: Expression | None = access.base
    if not isinstance(base, Call):
        mention = document.index.by_start.get(access.base.span.start)
        base = mention.definition.value if mention and mention.definition else None
    known = knowledge.find(base.callee.text) if isinstance(base, Call) else None
    return knowledge.place(known, member) if known else None


def references(document: TextDocument, offset: int, *, declaration: bool) -> list[types.Location]:
    """Return all places of the name at an offset."""
    uri = document.uri
    return [types.Location(uri, document.lines.range(span)) for span in _spans(document, offset, declaration=declaration)]


def _spans(document: TextDocument, offset: int, *, declaration: bool) -> list[Span]:
    index = document.index
    found = index.definition(offset)
    if found is None or found.kind == "round":
        mention = index.mention(offset)
        if mention is None:
            return []
        return [each.span for each in index.mentions if each.text == mention.text and each.definition is found]
    return [*([found.span] if declaration else []), *(mention.span for mention in index.places(found))]


def highlights(document: TextDocument, offset: int) -> list[types.DocumentHighlight]:
    """Return all places of the name at an offset in the same text."""
    return [types.DocumentHighlight(document.lines.range(span)) for span in _spans(document, offset, declaration=True)]


def renameable(document: TextDocument, offset: int) -> Definition | None:
    """Return the definition at an offset if its name may change: keys and labels are part of the compiled documents."""
    found = None if document.is_vibe else document.index.definition(offset)
    return None if found is None or found.kind in {"key", "round"} else found


def rename(document: TextDocument, offset: int, name: str, session: EditorSession) -> types.WorkspaceEdit | str:
    """Return the edits that rename a name, or the reason why it cannot be renamed."""
    found = renameable(document, offset)
    if found is None:
        return "only names that this program defines can be renamed"
    name = normal(name.strip())
    if not is_name(name) or tables().token(name, 0) != ("NAME", 0, len(name)):
        return f"`{name}` is not a name"
    taken = name in document.index.scope(found.whole.end) or any(each.name == name for each in document.index.definitions)
    if taken:
        return f"`{name}` is defined already"
    if name in RESERVED:
        return f"`{name}` has a meaning in the language"
    if any(each.text == name for each in document.index.mentions):
        return f"`{name}` is used here for something else, which it would no longer reach"
    own = ProgramFile("", Path(document.path).stem.partition("@")[0], document.path, b"", Path())
    if found.kind in {"input", "tool"} and any(use.uri != document.uri for use in _uses(own, document, session)):
        return f"other files use this program, and may say `{found.name}`: rename it by hand, there too"
    edits = [types.TextEdit(document.lines.range(found.span), name)]
    edits += [
        types.TextEdit(document.lines.range(each.span), f"{each.text}: {name}" if each.short else name)
        for each in document.index.places(found)
    ]  # the key of `{ a }` stays
    return types.WorkspaceEdit(changes={document.uri: edits})


def symbols(document: TextDocument) -> list[types.DocumentSymbol]:
    """Return the definitions of a program, in order of place."""
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


_REFERENCE = re.compile(r'"(aug:[^"\\]*)"')
_SEGMENT = re.compile(r"[^/:#?]+(?=(?:[?:#].*)?\Z)")
"""Last segment of a reference, without version and fragment."""


def instruction_at(document: TextDocument, offset: int, session: EditorSession) -> KnownInstruction | None:
    """Return the instruction that is named at an offset, in a program or in a reference of a vibe."""
    knowledge = session.knowledge(document)
    if knowledge is None:
        return None
    if document.is_vibe:
        inside = (each for each in _REFERENCE.finditer(document.source.text) if each.start(1) <= offset <= each.end(1))
        found = next(inside, None)
        return knowledge.find(found[1]) if found else None
    mention = document.index.mention(offset)
    return knowledge.find(mention.text) if mention is not None and mention.definition is None else None


def program_at(document: TextDocument, offset: int, session: EditorSession) -> ProgramFile | None:
    """Return the program that is called at an offset."""
    knowledge = None if document.is_vibe else session.knowledge(document)
    mention = document.index.mention(offset) if knowledge is not None else None
    return knowledge.program(mention.text) if knowledge and mention is not None and mention.definition is None else None


Target: TypeAlias = KnownInstruction | ProgramFile
"""What a name or a reference can refer to."""


def _uses(target: Target, document: TextDocument, session: EditorSession) -> Iterator[types.Location]:
    """Yield the places of an instruction or a program in all files of the project of a document, of its name alone."""
    name, place = comparison_key(target.segment), os.path.realpath(target.path)

    def leads(knowledge: Knowledge, text: str) -> bool:
        found = knowledge.find(text) if isinstance(target, KnownInstruction) else knowledge.program(text)
        return found is not None and os.path.realpath(found.path) == place

    project = _project(document, session)
    opened = [path for path in [*session.documents] if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(project))]
    saved = find_files([str(project)], Report())
    for file in {os.path.realpath(path): path for path in (*opened, *saved)}.values():  # open files may not be saved yet
        other = session.file(file)
        if other is None or name not in comparison_key(other.source.text):
            continue
        knowledge = session.knowledge(other)
        if knowledge is None:
            continue
        led: dict[str, bool] = {}
        for span, reference in _named(other):
            text = reference or span.text
            if text not in led:
                led[text] = leads(knowledge, text)
            if not led[text]:
                continue
            part = _SEGMENT.search(reference.removeprefix("aug:")) if reference else None
            start = span.start + (part.start() + len("aug:") if part else 0)
            end = span.start + part.end() + len("aug:") if part else span.end
            yield types.Location(other.uri, other.lines.range(other.source.span(start, end)))


def _project(document: TextDocument, session: EditorSession) -> Path:
    settings = session.workspace().settings_file(document.path)
    return (settings or Path(document.path)).parent


def _named(document: TextDocument) -> Iterator[tuple[Span, str]]:
    """Yield the places of names that a program does not define, and of references with their text."""
    if document.is_vibe:
        for found in _REFERENCE.finditer(document.source.text):
            yield document.source.span(*found.span(1)), found[1]
        return
    for mention in document.index.mentions:
        if mention.definition is None:
            yield mention.span, mention.text if mention.text.startswith("aug:") else ""


def places_in_project(
    target: Target, document: TextDocument, session: EditorSession, *, declaration: bool
) -> list[types.Location]:
    """Return the places of an instruction or a program, its own file among them if that is asked for."""
    return [*([_beginning(target.path)] if declaration else []), *_uses(target, document, session)]
