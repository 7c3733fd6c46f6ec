"""Hovers, signatures and semantic tokens."""

from __future__ import annotations

from typing import Final

from lsprotocol import types
from msgspec.structs import replace

from instrc.compiler.ir import SUFFIXES, suffix_of
from instrc.language.lexer import Token
from instrc.language.surface import Name
from instrc.language.tables import CONTEXTUAL
from instrc.language.view import KEYWORDS
from instrc.lsp.knowledge import Definition, Knowledge, KnownInstruction, carried_out_by, declared_inputs, members
from instrc.lsp.session import EditorSession, Lines, TextDocument
from instrc.problems.blocks import FORMS
from instrc.text.jsontext import dumps
from instrc.text.jsonvalue import Json, mapping
from instrc.text.source import Span
from instrc.vibes.registry import ProgramFile

HOVERED_SCHEMA: Final = 4_000
"""Maximum characters of a schema that are shown."""
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
    "when": f"`{FORMS['when']}`: the value of the first body whose condition holds; after a list, the elements that are kept.",
    "each": f"`{FORMS['each']}`: the body once for each element, all at the same time; the list of values.",
    "repeat": f"`{FORMS['repeat']}`: the body again until the condition holds, at most `max` rounds, 3 by default.",
    "try": f"`{FORMS['try']}`: the `else` runs if something in the first body has finally failed; it can read `error`.",
    "race": f"`{FORMS['race']}`: all bodies at the same time; when the first is done, the others are cancelled.",
    "do": f"`{FORMS['do']}`: calls of their own, apart from all other steps.",
    "else": "What runs if no condition holds, if the first body of a `try` fails, or after the last round.",
    "until": "The condition that ends the rounds, or cancels the elements that are not done.",
    "max": "Most rounds, or most elements: a list with more fails.",
    "first": "How many elements are taken.",
    "keep": "How many of the last rounds `rounds` holds.",
    "const": "Names a value.",
    "tool": "Names a value and exports it as a program of its own.",
    "input": "Declares an input in addition to `prompt`.",
}


def hover(document: TextDocument, offset: int, session: EditorSession) -> types.Hover | None:
    """Return the documentation of the name, the reference or the member at an offset."""
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
        words = (each for each in document.words.tokens if each.start <= offset <= each.end and each.kind in _COLORING_WORDS)
        spans = (document.source.span(each.start, each.end) for each in words)
        return next((_hover_of(_WORDS[span.text], {}, document, span) for span in spans if span.text in _WORDS), None)
    known = knowledge.find(mention.text)
    if known is not None:
        return _hover_of(about(known, knowledge), knowledge.schema(known), document, mention.span)
    program = knowledge.program(mention.text)
    if program is not None:
        return _hover_of(_about_program(program), {}, document, mention.span)
    return _hover_of(_WORDS[mention.text], {}, document, mention.span) if mention.text in _WORDS else None


def _hover_of(words: str, schema: Json, document: TextDocument, span: Span) -> types.Hover:
    text = words
    if schema not in ({}, None, True):
        code = dumps(schema)
        cut = code if len(code) <= HOVERED_SCHEMA else f"{code[:HOVERED_SCHEMA]}\n…"
        text += f"\n\n```json\n{cut}\n```"
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), document.lines.range(span))


def _meaning(found: Definition) -> str:
    if found.value is None:
        return ""
    text = found.value.span.text.strip()
    return f" = `{text[:120]}{'…' if len(text) > 120 else ''}`" if "\n" not in text and "`" not in text else ""


def _about_program(program: ProgramFile) -> str:
    """Return the description of a called program, and the inputs that it declares."""
    inputs = ", ".join(f"`{name}`" for name in ("prompt", *declared_inputs(program)))
    return f"**{program.segment}** · `{program.uri}` · a program; its inputs: {inputs}"


def about(known: KnownInstruction, knowledge: Knowledge) -> str:
    """Return the description of an instruction in a few lines of Markdown."""
    schema = knowledge.schema(known)
    words = [f"**{known.instruction.name}** · `{known.vibe.uri}` · carried out by {carried_out_by(known.instruction)}"]
    words += [said for key in ("title", "description") if isinstance(said := mapping(schema).get(key), str)]
    return "\n\n".join(words)


def signature(document: TextDocument, offset: int, session: EditorSession) -> types.SignatureHelp | None:
    """Return the signature of the call around an offset."""
    knowledge = session.knowledge(document)
    if knowledge is None or document.is_vibe:
        return None
    inside = [call for call in document.index.calls if call.callee.span.end < offset < call.span.end]
    if not inside:
        return None
    call = max(inside, key=lambda each: each.span.start)
    known = knowledge.find(call.callee.text) if isinstance(call.callee, Name) else None
    if known is None:
        return None
    slots = list(members(knowledge.schema(known)))
    label = f"{call.callee.text}({{ {', '.join(slots)} }})"
    return types.SignatureHelp([types.SignatureInformation(label=label)])


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
"""Token types; an instruction is a function, a server's an event, a person's an interface, a mixin a macro."""
_NUMBERS = {kind: number for number, kind in enumerate(TOKENS)}
_BY_KIND = {"model": "function", "server": "event", "user": "interface", "mixin": "macro"}
_COLORING_WORDS = frozenset(KEYWORDS | {"ELSE", "IN", "IS", "OR", "UNTIL", "MAX", "KEEP", "FIRST"})
_NAMES = _COLORING_WORDS | {"NAME"}
_FIXED = {"STRING": "string", "NUMBER": "number", "AUG_URI": "namespace", "METRIC": "property"}
"""Token types that the grammar determines, by terminal name."""
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
    """Return the kind of a name, or of a keyword that may be a name."""
    mention = document.index.by_start.get(word.start)
    if word.kind in _COLORING_WORDS and mention is None and word.start not in defined:
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
