"""What the call around a place takes."""

from __future__ import annotations

from lsprotocol import types

from instrc.ir.surface import Call, Name
from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.lsp.knowledge import members


def signature(document: TextDocument, offset: int, session: EditorSession) -> types.SignatureHelp | None:
    """Return what the call around an offset takes."""
    knowledge = session.knowledge(document)
    if knowledge is None or document.is_vibe:
        return None
    inside = [call for call in document.index.calls if call.span.start < offset < call.span.end and _behind_name(call, offset)]
    if not inside:
        return None
    call = max(inside, key=lambda each: each.span.start)
    known = knowledge.find(call.callee.text) if isinstance(call.callee, Name) else None
    if known is None:
        return None
    slots = list(members(knowledge.schema(known)))
    label = f"{call.callee.text}({{ {', '.join(slots)} }})"
    return types.SignatureHelp([types.SignatureInformation(label=label)])


def _behind_name(call: Call, offset: int) -> bool:
    return offset > call.callee.span.end
