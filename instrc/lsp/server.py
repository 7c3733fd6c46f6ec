"""The language server: notifications go to the session, requests to the functions of this folder."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Protocol, TypeVar

import orjson
from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import RPCMessage, RPCRequest

from instrc.lsp import completion, hints, navigation
from instrc.lsp.hints import hover, signature
from instrc.lsp.session import EditorSession, LastDiagnostics, TextDocument, actions, applied, diagnostics, fix_all
from instrc.problems.problem import Problem
from instrc.text.streams import read_chunks
from instrc.version import __version__

T = TypeVar("T")
_HEADER_BYTES = 8192
_HEADER = re.compile(rb"(?:Content-Length: [1-9][0-9]{0,8}|(?!Content-Length:)[A-Za-z-]+: [^\r\n]*)?\r\n", re.IGNORECASE)
"""A line of a header; no message has a gigabyte."""
PAUSE = 0.2
"""Seconds without typing after which everything is checked."""


class Server(LanguageServer):
    """The language server with its session."""

    def __init__(self) -> None:
        kind = types.TextDocumentSyncKind.Incremental
        super().__init__("instrc", __version__, text_document_sync_kind=kind, protocol_cls=_Protocol)
        self.session: EditorSession = EditorSession()
        self.found: dict[str, tuple[str, tuple[Problem, ...]]] = {}
        """The problems of each document that were published last, with its text."""
        self.shown_before: dict[str, LastDiagnostics] = {}
        self.with_slips: set[str] = set()
        """Documents of which slips are shown."""
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.checker: ThreadPoolExecutor = ThreadPoolExecutor(1)
        """Only one check runs at a time; one of a text that has changed since is left out."""

    def serve(self) -> None:
        """Serve over standard input and output until the editor sends `exit`, disconnects, or the process is interrupted."""
        if sys.stdin is None or sys.stdout is None:  # `None` where a shell has closed them
            return
        self.protocol.set_writer(StdoutWriter(sys.stdout.buffer))
        reader = Incoming(sys.stdin.fileno())
        try:
            asyncio.run(run_async(Event(), reader, self.protocol, error_handler=self.report_server_error))
        except BrokenPipeError:  # the editor has exited
            return
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls has no types here

    def path(self, uri: str) -> str:
        """Return the path of a document; one without a file, or whose URI cannot be read, keeps its URI as a name."""
        try:
            return uris.to_fs_path(uri) or uri
        except ValueError:  # `file://[a`: not a valid host
            return uri

    def document(self, uri: str) -> TextDocument | None:
        """Return an open document."""
        return self.session.documents.get(self.path(uri))

    def safely(self, do: Callable[[], T], otherwise: T) -> T:
        """Return the result of a request; an internal error is logged, and the result is empty."""
        try:
            return do()
        except Exception as error:  # noqa: BLE001  -- no text may stop the server
            message = f"instrc: internal error: {type(error).__name__}: {str(error)[:300]}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
            return otherwise

    def publish(self, document: TextDocument, problems: tuple[Problem, ...], also: tuple[types.Diagnostic, ...] = ()) -> None:
        """Show the problems of a document, and those known from an earlier check of it."""
        self.found[document.path] = (document.source.text, problems)
        nothing: list[types.Diagnostic] = []
        shown = self.safely(lambda: diagnostics(problems, document, self.session), nothing)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, [*shown, *also], document.version))

    def changed(self, uri: str, text: str, version: int) -> None:
        """Take a text, show its slips when all that has arrived is read, and check the rest when typing pauses."""
        document = self.session.put(self.path(uri), text, version, uri)
        self.stop_waiting(document.path)
        self.waiting[document.path] = asyncio.get_running_loop().create_task(self._read(document))

    async def _read(self, document: TextDocument) -> None:
        """Show the slips of the last of several texts."""
        self.waiting.pop(document.path)
        if document.is_vibe:
            self.later([document, *self.session.users(document)])
            return
        none: tuple[Problem, ...] = ()
        slips = self.safely(lambda: document.slips, none)
        shown_before = self.shown_before.pop(document.path, LastDiagnostics(document.lines, ())).moved(document.lines)
        self.shown_before[document.path] = shown_before
        if slips or document.path in self.with_slips:
            self.publish(document, slips, shown_before.shown)
        self.with_slips.discard(document.path)
        if slips:
            self.with_slips.add(document.path)
        if not any(problem.severity == "error" for problem in slips):
            self.later([document, *self.session.users(document)])

    def later(self, documents: list[TextDocument]) -> None:
        """Check documents after a pause."""
        for each in documents:
            self.stop_waiting(each.path)
            self.waiting[each.path] = asyncio.get_running_loop().create_task(self._check(each))

    def stop_waiting(self, path: str) -> None:
        """Skip a check that has not started."""
        task = self.waiting.pop(path, None)
        if task is not None:
            task.cancel()

    async def _check(self, document: TextDocument) -> None:
        await asyncio.sleep(PAUSE)
        problems = await asyncio.get_running_loop().run_in_executor(self.checker, self._checked, document)
        if self.current(document):
            names = set() if document.is_vibe else {slip.name for slip in document.slips}
            lasting = tuple(problem for problem in problems if problem.name not in names)
            self.shown_before[document.path] = LastDiagnostics(
                document.lines, tuple(diagnostics(lasting, document, self.session))
            )
            self.publish(document, problems)

    def _checked(self, document: TextDocument) -> tuple[Problem, ...]:
        nothing: tuple[Problem, ...] = ()
        return self.safely(lambda: self.session.check(document), nothing) if self.current(document) else nothing

    def current(self, document: TextDocument) -> bool:
        """Return whether a document is open and has not changed since."""
        return self.session.documents.get(document.path) is document

    async def problems(self, document: TextDocument) -> tuple[Problem, ...]:
        """Return the problems of the current document, when they are known."""
        while (task := self.waiting.get(document.path)) is not None and not task.done():
            await asyncio.wait([task])
        text, problems = self.found.get(document.path, ("", ()))
        return problems if text == document.source.text else ()


class _Protocol(LanguageServerProtocol):
    """The protocol as pygls has it, but for three things.

    Changes of texts are the session's.  pygls takes a form feed or U+2028 for a line end, and changes positions after the end
    of a line while it reads them: its text would not be the one that the editor shows.
    Messages are written by `orjson`, which takes a tenth of the time for long answers.
    Every request is answered: one that cannot be read, that comes before `initialize` or after `shutdown`, with an error.
    An editor would wait for ever for an answer that pygls leaves out.
    """

    def structure_message(self, data: dict[str, object]) -> object:
        """Parse a message; answer a request that cannot be parsed with an error."""
        try:
            return super().structure_message(data)
        except JsonRpcException:
            if isinstance(data.get("id"), int | str) and "method" in data:
                self._refuse(data["id"], JsonRpcInvalidParams("This request is not what the protocol says it is."))
            raise

    def handle_message(self, message: RPCMessage) -> None:
        """Hand a message on; refuse a request that comes too early or too late."""
        if isinstance(message, RPCRequest):
            if self._shutdown:
                self._refuse(message.id, JsonRpcInvalidRequest("The server is shut down: it only takes `exit`."))
                return
            if message.method != types.INITIALIZE and not hasattr(self, "server_capabilities"):
                self._refuse(message.id, JsonRpcServerNotInitialized("The first request must be `initialize`."))
                return
        super().handle_message(message)

    def _refuse(self, request: object, error: JsonRpcException) -> None:
        self._send_data({"jsonrpc": "2.0", "id": request, "error": error.to_response_error()})

    def _send_data(self, data: object) -> None:
        """Send a message; a text that `orjson` cannot write, with half of a surrogate pair, is left to pygls."""
        try:
            body = orjson.dumps(data, default=self._serialize_message)
        except orjson.JSONEncodeError:
            super()._send_data(data)
            return
        if self.writer is not None:
            self.writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[object]:
        """Hand a change on as it came."""
        handler = self.fm.features.get(types.TEXT_DOCUMENT_DID_CHANGE)
        if handler is not None:
            yield handler, (params,), None


class Incoming:
    """The bytes of a descriptor as `pygls` asks for them: a line of a header, or a body of a known length."""

    def __init__(self, descriptor: int) -> None:
        self._chunks = read_chunks(descriptor)
        self._kept = bytearray()

    async def readline(self) -> bytes:
        """Return the next line of a header with its end, or nothing where there is none.

        The input ends at any other line: a wrong `Content-Length` has shifted all that follows, and the editor starts anew.
        """
        seen = 0
        while (end := self._kept.find(b"\n", seen)) < 0:
            seen = len(self._kept)
            if seen > _HEADER_BYTES or not await self._more():
                return b""
        line = self._taken(end + 1)
        return line if _HEADER.fullmatch(line) else b""

    async def readexactly(self, n: int) -> bytes:
        """Return so many bytes, or fewer at the end."""
        while len(self._kept) < n and await self._more():
            pass
        return self._taken(n)

    async def _more(self) -> bool:
        chunk = await anext(self._chunks, b"")
        self._kept += chunk
        return bool(chunk)

    def _taken(self, count: int) -> bytes:
        taken = bytes(self._kept[:count])
        del self._kept[:count]
        return taken


def make_server() -> Server:
    """Return a server that knows all it can be asked."""
    server = Server()
    _documents(server)
    _questions(server)
    _pictures(server)
    _edits(server)
    return server


def _documents(server: Server) -> None:
    """Apply changes of documents at once, not in a task: a request may follow an edit directly."""

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
        if document is not None:  # closed files cannot change
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
        server.later(users)  # files that they call count in their current saved form


def _files_changed(server: Server) -> None:
    """Read the files on disk again, and check open documents."""
    server.session.forget()
    server.later(list(server.session.documents.values()))


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
            target = navigation.instruction_at(document, offset, session) or navigation.program_at(document, offset, session)
            if target is not None:
                return navigation.places_in_project(target, document, session, declaration=declaration)
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
        document = server.document(item.data) if isinstance(item.data, str) else None
        return server.safely(lambda: completion.resolve_item(item, session.knowledge(document) if document else None), item)

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(["(", "{", ","]))
    def signed(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return _asked(server, params, lambda document, offset: signature(document, offset, session), None)


class _OfDocument(Protocol):
    """The requests of the protocol about a document."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier: ...


class _AtPosition(_OfDocument, Protocol):
    """The requests of the protocol about a place in a document."""

    @property
    def position(self) -> types.Position: ...


def _asked(server: Server, params: _AtPosition, verb: Callable[[TextDocument, int], T], otherwise: T) -> T:
    return _whole(server, params, lambda document: verb(document, document.lines.offset(params.position)), otherwise)


def _snippets(server: Server) -> bool:
    text = server.client_capabilities.text_document
    item = text.completion.completion_item if text and text.completion else None
    return bool(item and item.snippet_support)


def _pictures(server: Server) -> None:
    """Answer the requests for decorations of a whole document."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def listed(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return _whole(server, params, lambda document: [] if document.is_vibe else navigation.symbols(document), [])

    legend = types.SemanticTokensLegend(hints.TOKENS, [])

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens:
        nothing: list[int] = []
        verb = hints.semantic_tokens
        return types.SemanticTokens(_whole(server, params, lambda each: nothing if each.is_vibe else verb(each), nothing))


def _whole(server: Server, params: _OfDocument, verb: Callable[[TextDocument], T], otherwise: T) -> T:
    document = server.document(params.text_document.uri)
    return otherwise if document is None else server.safely(lambda: verb(document), otherwise)


def _edits(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return _whole(server, params, _formatted, None)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return _asked(server, params, _prepared, None)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        made = _asked(server, params, lambda doc, offset: navigation.rename(doc, offset, params.new_name, server.session), None)
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


def _prepared(document: TextDocument, offset: int) -> types.PrepareRenamePlaceholder | None:
    found = navigation.renameable(document, offset)
    if found is None:
        return None
    mention = document.index.mention(offset)
    place = mention.span if mention is not None else found.span
    return types.PrepareRenamePlaceholder(document.lines.range(place), place.text)
