"""What the server can be asked: each question of the protocol goes to a verb of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from lsprotocol import types

from instrc.lsp import coloring, completion, navigation, uses
from instrc.lsp.diagnostics import actions, fix_all
from instrc.lsp.editor_session import TextDocument
from instrc.lsp.hover import hover
from instrc.lsp.positions import applied
from instrc.lsp.server import Server
from instrc.lsp.signature import signature

T = TypeVar("T")


class _OfDocument(Protocol):
    """What the protocol asks about a document."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier: ...


class _AtPosition(_OfDocument, Protocol):
    """What the protocol asks about a place in a document."""

    @property
    def position(self) -> types.Position: ...


def make_server() -> Server:
    """Return a server that knows all it can be asked."""
    server = Server()
    _documents(server)
    _questions(server)
    _pictures(server)
    _edits(server)
    return server


def _documents(server: Server) -> None:
    """Take in what happens to documents at once, in no task of its own: a question may lie right behind an edit."""

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        encoding = server.workspace.position_encoding
        server.session.encoding = str(getattr(encoding, "value", None) or encoding or "utf-16")

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        server.changed(item.uri, item.text, item.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        item = params.text_document
        document = server.document(item.uri)
        if document is not None:  # what is not open cannot change
            text = applied(document.source.text, params.content_changes, document.encoding)
            server.changed(item.uri, text, item.version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_params: types.DidSaveTextDocumentParams) -> None:
        _files_changed(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        _files_changed(server)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        path = server.path(params.text_document.uri)
        server.stop_waiting(path)
        users = server.session.drop(path)
        server.found.pop(path, None)
        server.shown_before.pop(path, None)
        server.with_slips.discard(path)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
        server.later(users)  # what they call counts as it is in its file now


def _files_changed(server: Server) -> None:
    """Read what lies on disk anew, and check what is open."""
    server.session.forget()
    server.later(list(server.session.documents.values()))


def _asked(server: Server, params: _AtPosition, verb: Callable[[TextDocument, int], T], otherwise: T) -> T:
    document = server.document(params.text_document.uri)
    if document is None:
        return otherwise
    return server.safely(lambda: verb(document, document.lines.offset(params.position)), otherwise)


def _questions(server: Server) -> None:
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        return _asked(server, params, lambda document, offset: hover(document, offset, session), None)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def defined(params: types.DefinitionParams) -> types.Location | None:
        return _asked(server, params, lambda document, offset: navigation.definition(document, offset, session), None)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def referred(params: types.ReferenceParams) -> list[types.Location]:
        declaration = params.context.include_declaration

        def find(document: TextDocument, offset: int) -> list[types.Location]:
            known = uses.instruction_at(document, offset, session)
            if known is not None:
                return uses.uses_of_instruction(known, document, session, declaration=declaration)
            called = uses.program_at(document, offset, session)
            if called is not None:
                return uses.program_places(called, document, session, declaration=declaration)
            return [] if document.is_vibe else navigation.references(document, offset, declaration=declaration)

        return _asked(server, params, find, [])

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        return _asked(server, params, navigation.highlights, [])

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions([".", ":", "{", "(", "/"], resolve_provider=True))
    def completed(params: types.CompletionParams) -> list[types.CompletionItem]:
        return _asked(
            server, params, lambda doc, offset: completion.completion(doc, offset, session, snippets=_snippets(server)), []
        )

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolved(item: types.CompletionItem) -> types.CompletionItem:
        document = next((each for each in session.documents.values() if not each.is_vibe), None)
        return server.safely(lambda: completion.resolve_item(item, session.knowledge(document) if document else None), item)

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(["(", "{", ","]))
    def signed(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return _asked(server, params, lambda document, offset: signature(document, offset, session), None)


def _pictures(server: Server) -> None:
    """Answer what an editor draws of a document as a whole."""
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def listed(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return _whole(server, params, lambda document: [] if document.is_vibe else navigation.symbols(document), [])

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return _whole(server, params, lambda document: [] if document.is_vibe else coloring.folding(document), [])

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hinted(params: types.InlayHintParams) -> list[types.InlayHint]:
        return _whole(server, params, lambda document: coloring.inlay_hints(document, params.range, session), [])

    legend = types.SemanticTokensLegend(coloring.TOKENS, [])

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens:
        nothing: list[int] = []
        verb = coloring.semantic_tokens
        return types.SemanticTokens(_whole(server, params, lambda each: nothing if each.is_vibe else verb(each), nothing))


def _whole(server: Server, params: _OfDocument, verb: Callable[[TextDocument], T], otherwise: T) -> T:
    document = server.document(params.text_document.uri)
    return otherwise if document is None else server.safely(lambda: verb(document), otherwise)


def _snippets(server: Server) -> bool:
    text = server.client_capabilities.text_document
    item = text.completion.completion_item if text and text.completion else None
    return bool(item and item.snippet_support)


def _edits(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return _whole(server, params, _formatted, None)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return _asked(server, params, lambda document, offset: _prepared(document, offset, server), None)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        def find(document: TextDocument, offset: int) -> types.WorkspaceEdit | str:
            known = uses.instruction_at(document, offset, server.session) if _renames_files(server) else None
            if known is not None:
                return uses.rename_instruction(known, document, server.session, params.new_name)
            return navigation.rename(document, offset, params.new_name)

        made = _asked(server, params, find, None)
        if isinstance(made, str):
            server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, made))
            return None
        return made

    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def offered(params: types.CodeActionParams) -> list[types.CodeAction]:
        asked = server.document(params.text_document.uri)
        problems = () if asked is None else await server.problems(asked)

        def find(document: TextDocument) -> list[types.CodeAction]:
            wanted = params.context.only
            found = actions(problems, document, params.range, params.context.diagnostics)
            found += fix_all(problems, document)
            return [each for each in found if not wanted or any(str(each.kind).startswith(str(kind)) for kind in wanted)]

        return _whole(server, params, find, [])


def _formatted(document: TextDocument) -> list[types.TextEdit] | None:
    text = document.formatted
    if text is None or text == document.source.text:
        return None if text is None else []
    end = document.lines.position(len(document.source.text))
    return [types.TextEdit(types.Range(types.Position(0, 0), end), text)]


def _renames_files(server: Server) -> bool:
    """Tell whether the editor can rename files as part of an edit."""
    known = server.client_capabilities.workspace
    edit = known.workspace_edit if known else None
    return types.ResourceOperationKind.Rename in ((edit.resource_operations if edit else None) or ())


def _prepared(document: TextDocument, offset: int, server: Server) -> types.PrepareRenamePlaceholder | None:
    known = uses.instruction_at(document, offset, server.session) if _renames_files(server) else None
    if known is None and navigation.renameable(document, offset) is None:
        return None
    if document.is_vibe:
        return None
    index = document.index
    span = next((each.span for each in index.definitions if each.span.start <= offset <= each.span.end), None)
    mention = index.mention(offset)
    place = span or (mention.span if mention else None)
    if place is None:
        return None
    shown = place.text if known is None or not place.text.startswith("aug:") else known.vibe.segment
    return types.PrepareRenamePlaceholder(document.lines.range(place), shown)
