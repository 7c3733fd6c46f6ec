"""What an editor shows beside a name: what it stands for, who carries it out, its schema."""

from __future__ import annotations

from lsprotocol import types
from msgspec.structs import replace

from instrc.jsontext import dumps
from instrc.jsonvalue import Json
from instrc.limits.programs import HOVERED_SCHEMA
from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.lsp.knowledge import Knowledge, KnownInstruction, carried_out_by, declared_inputs
from instrc.lsp.scopes import Definition
from instrc.source import Span
from instrc.vibes.programs import ProgramFile

_WORDS = {
    "prompt": "The request that started everything.",
    "round": "The number of this round, from 1.",
    "previous": "What the last round gave; `null` in the first one.",
    "rounds": "All finished rounds.",
    "error": "What failed: `step`, `kind`, `code` and `message`.",
    "Process": "Contexts whose cut is made by hand.",
    "Plan": "A list of tasks that a model decides on; `RunPlan_Activity` carries it out.",
    "OneOf": "One value of a list that an earlier step gave.",
    "Fail": "Fail for good.",
}


def hover(document: TextDocument, offset: int, session: EditorSession) -> types.Hover | None:
    """Return what is known about the name, the reference or the member at an offset."""
    knowledge = session.knowledge(document)
    if document.is_vibe or knowledge is None:
        return None
    for access in document.index.accesses:
        for count, member in enumerate(access.members, 1):
            if member.span.start <= offset <= member.span.end:
                schema = knowledge.value(replace(access, members=access.members[:count]), document.index)
                return _hover_of(f"member `{member.text}`", schema, document, member.span)
    mention = document.index.mention(offset)
    found = document.index.definition(offset)
    if found is not None:
        span = mention.span if mention else found.span
        title = _WORDS.get(found.name, "") if found.kind == "round" else f"{found.kind} `{found.name}`"
        return _hover_of(title + _meaning(found), knowledge.of_definition(found, document.index), document, span)
    if mention is None:
        return None
    known = knowledge.find(mention.text)
    if known is not None:
        return _hover_of(about(known, knowledge), knowledge.schema(known), document, mention.span)
    program = knowledge.program(mention.text)
    if program is not None:
        return _hover_of(_about_program(program), {}, document, mention.span)
    return _hover_of(_WORDS[mention.text], {}, document, mention.span) if mention.text in _WORDS else None


def about(known: KnownInstruction, knowledge: Knowledge) -> str:
    """Return what an instruction is in a few lines of Markdown."""
    schema = knowledge.schema(known)
    words = [f"**{known.instruction.name}** · `{known.vibe.uri}` · carried out by {carried_out_by(known.instruction)}"]
    if isinstance(schema, dict):
        words += [str(schema[key]) for key in ("title", "description") if isinstance(schema.get(key), str)]
    return "\n\n".join(words)


def _about_program(program: ProgramFile) -> str:
    """Return what a called program is, and the inputs that it declares."""
    inputs = ", ".join(f"`{name}`" for name in ("prompt", *declared_inputs(program)))
    return f"**{program.segment}** · `{program.uri}` · a program; its inputs: {inputs}"


def _meaning(found: Definition) -> str:
    if found.value is None:
        return ""
    text = found.value.span.text.strip()
    return f" = `{text[:120]}{'…' if len(text) > 120 else ''}`" if "\n" not in text and "`" not in text else ""


def _hover_of(words: str, schema: Json, document: TextDocument, span: Span) -> types.Hover:
    text = words
    if schema not in ({}, None, True):
        code = dumps(schema)
        cut = code if len(code) <= HOVERED_SCHEMA else f"{code[:HOVERED_SCHEMA]}\n…"
        text += f"\n\n```json\n{cut}\n```"
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), document.lines.range(span))
