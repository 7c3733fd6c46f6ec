"""What can be typed at a place: names, members of a path, slots of an instruction, `aug:` references, words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.limits.programs import COMPLETION_DISTANCE
from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.lsp.expected import Expected, expected
from instrc.lsp.hover import about
from instrc.lsp.knowledge import Knowledge, declared_inputs, members
from instrc.lsp.typed_text import is_silent, name_of_closed_call, name_of_open_call, without_silent
from instrc.naming import pascal
from instrc.passes.bind.names import RESERVED

_URI = re.compile(r"aug:[^\s()\[\]{},;|@\"']*\Z")
_PATH = re.compile(r"([^\W\d]\w*)((?:\s*\.\s*[$\w]+)*)\s*\.\s*[$\w]*\Z")
_CALL_PATH = re.compile(r"\)\s*((?:\.\s*[$\w]+\s*)*)\.\s*[$\w]*\Z")
_VALUE = re.compile(r"([^\W\d]\w*)((?:\s*\.\s*[$\w]+)*)\s+is\s+(\"?)[^\"\n{]*\Z")
_STATEMENTS = {
    "const": "const ${1:name} = $0",
    "tool": "tool ${1:name} = $0",
    "input": "input ${1:name}",
    "when": "when ${1:path} {\n  $2\n} else {\n  $0\n}",
    "each": "each ${1:name} in ${2:path} {\n  $0\n}",
    "repeat": "repeat {\n  $0\n} until ${1:path} max ${2:3}",
    "try": "try {\n  $1\n} else {\n  $0\n}",
    "do": "do {\n  $0\n}",
}
_BETWEEN = ("else", "until", "max", "keep", "is", "or", "in")
"""Words inside of blocks."""


def completion(document: TextDocument, offset: int, session: EditorSession, *, snippets: bool) -> list[types.CompletionItem]:
    """Return what can stand at an offset."""
    knowledge = session.knowledge(document)
    if knowledge is None:
        return []
    before = document.source.text[max(0, offset - COMPLETION_DISTANCE) : offset]
    if found := _URI.search(before):
        return _references(document, offset, found.group(), knowledge)
    if document.is_vibe:
        return []
    if found := _VALUE.search(before):
        schema = _path_schema(document, offset, found, knowledge)
        if found.group(3) or _values(schema):
            return _value_items(_values(schema), quoted=bool(found.group(3)))
    if is_silent(document.source.text[:offset]):
        return []
    before = without_silent(document.source.text[:offset])[-COMPLETION_DISTANCE:]
    if path := _PATH.search(before):
        return _members(_path_schema(document, offset, path, knowledge))
    if path := _CALL_PATH.search(before):
        return _members(_call_schema(document, offset - len(path.group()) + 1, path.group(1), knowledge))
    fits = expected(document, offset)
    slots = _slots(before, knowledge) if fits.values else []
    return [*slots, *_names(document, offset, knowledge, fits), *_words(fits, snippets=snippets)]


def _references(document: TextDocument, offset: int, typed: str, knowledge: Knowledge) -> list[types.CompletionItem]:
    place = types.Range(document.lines.position(offset - len(typed)), document.lines.position(offset))
    return [
        types.CompletionItem(label=uri, kind=types.CompletionItemKind.Reference, text_edit=types.TextEdit(place, uri))
        for uri in dict.fromkeys([*knowledge.registry.uris(), *knowledge.registry.program_uris()])
        if uri.startswith(typed)
    ]


def _path_schema(document: TextDocument, offset: int, path: re.Match[str], knowledge: Knowledge) -> Json:
    """Return the schema of what stands before the last point."""
    way = re.findall(r"[$\w]+", path.group(2))
    text = document.source.text
    read = [document]
    if text[offset - 1 : offset] in {".", " "}:  # what is not typed to its end can hide the block around it
        typed = f"{text[:offset]}x{text[offset:]}"
        read.insert(0, TextDocument(document.path, typed, document.encoding, earlier=document))
    for each in read:
        definition = each.index.scope(offset).find(path.group(1))
        if definition is not None:
            return knowledge.along(definition, way, each.index)
    return {}


def _values(schema: Json) -> list[Json]:
    """Return the values that a schema lists."""
    listed = schema.get("enum") if isinstance(schema, dict) else None
    return listed if isinstance(listed, list) else [True, False] if _kind(schema) == "boolean" else []


def _value_items(values: list[Json], *, quoted: bool) -> list[types.CompletionItem]:
    return [
        types.CompletionItem(
            label=each if quoted and isinstance(each, str) else dumps(each), kind=types.CompletionItemKind.EnumMember
        )
        for each in values
        if isinstance(each, str) or not (quoted or isinstance(each, list | dict))
    ]


def _call_schema(document: TextDocument, end: int, way: str, knowledge: Knowledge) -> Json:
    call = next((call for call in document.index.calls if call.span.end == end), None)
    if call is None:  # a program with a mistake here: the text says enough
        called = name_of_closed_call(document.source.text[:end])
        known = knowledge.find(called) if called else None
        return _down(knowledge.schema(known), way) if known else {}
    return _down(knowledge.value(call, document.index), way)


def _down(schema: Json, way: str) -> Json:
    for word in re.findall(r"[$\w]+", way):
        schema = members(schema).get(word, {})
    return schema


def _members(schema: Json) -> list[types.CompletionItem]:
    return [
        types.CompletionItem(
            label=name,
            kind=types.CompletionItemKind.Field,
            detail=_kind(part),
            documentation=said if isinstance(part, dict) and isinstance(said := part.get("description"), str) else None,
        )
        for name, part in members(schema).items()
    ]


def _kind(schema: Json) -> str:
    if isinstance(schema, dict):
        kind = schema.get("type")
        return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind or "")
    return ""


def _slots(before: str, knowledge: Knowledge) -> list[types.CompletionItem]:
    """Return the properties of the instruction, or the inputs of the program, in whose braces or brackets a text ends."""
    name = name_of_open_call(before)
    if name is None:
        return []
    if known := knowledge.find(name):
        items = _members(knowledge.schema(known))
    else:
        program = knowledge.program(name)
        inputs = () if program is None else declared_inputs(program)
        items = [types.CompletionItem(label=each, kind=types.CompletionItemKind.Field) for each in inputs]
    for item in items:
        item.insert_text = f"{item.label}: "
        item.sort_text = f"0{item.label}"
    return items


def _names(document: TextDocument, offset: int, knowledge: Knowledge, fits: Expected) -> Iterable[types.CompletionItem]:
    seen: set[str] = set()
    if not fits.values:
        return
    for definition in document.index.scope(offset).visible():
        typed = definition.kind != "round" and definition.span.start <= offset <= definition.span.end
        if definition.name not in seen and not typed:
            seen.add(definition.name)
            yield types.CompletionItem(
                label=definition.name,
                kind=types.CompletionItemKind.Variable,
                detail=definition.kind,
                sort_text=f"1{definition.name}",
            )
    if not fits.instructions:
        return
    for name in knowledge.registry.names():
        spelled = _program_name(name)
        if spelled not in seen:
            seen.add(spelled)
            yield types.CompletionItem(
                label=spelled, kind=types.CompletionItemKind.Function, sort_text=f"2{spelled}", data={"vibe": name}
            )
    own = Path(document.path).stem
    for spelled in map(_program_name, knowledge.registry.program_names()):
        if spelled not in seen and spelled != _program_name(own):
            seen.add(spelled)
            yield types.CompletionItem(label=spelled, kind=types.CompletionItemKind.Module, sort_text=f"2{spelled}")
    for name in sorted(RESERVED):
        if name not in seen:
            yield types.CompletionItem(label=name, kind=types.CompletionItemKind.Keyword, sort_text=f"3{name}")


def _program_name(name: str) -> str:
    """Return a vibe's name as programs write it: `FindSlot` for `find-slot`."""
    bare, mark, suffix = name.rpartition("_")
    if mark and suffix in {"Activity", "User", "Human", "Mixin"}:
        return f"{pascal(bare)}_{suffix}"
    return pascal(name)


def _words(fits: Expected, *, snippets: bool) -> list[types.CompletionItem]:
    kind = types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText
    return [
        types.CompletionItem(
            label=word,
            kind=types.CompletionItemKind.Keyword,
            insert_text=text if snippets else word,
            insert_text_format=kind,
            sort_text=f"4{word}",
        )
        for word, text in {**_STATEMENTS, **{word: word for word in _BETWEEN}}.items()
        if fits.word(word)
    ]


def resolve_item(item: types.CompletionItem, knowledge: Knowledge | None) -> types.CompletionItem:
    """Return an item with what is worth reading about it."""
    known = knowledge.find(item.label) if knowledge else None
    if known is not None and knowledge is not None:
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, about(known, knowledge))
    return item
