"""The server itself: what the editor says goes to the session, what it asks to the verbs of this folder.

An edit is answered at once with what the text alone shows; what must be looked up follows when typing pauses.
A mistake of ours in one answer is written to the log, and the server goes on.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

import orjson
from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import RPCMessage, RPCRequest

from instrc.collector import paused_collector
from instrc.lsp.diagnostics import diagnostics
from instrc.lsp.editor_session import EditorSession, TextDocument
from instrc.lsp.incoming import Incoming
from instrc.lsp.last_diagnostics import LastDiagnostics
from instrc.problems.problem import Problem
from instrc.version import __version__

T = TypeVar("T")
PAUSE = 0.2
"""Seconds without typing after which everything is checked."""


class _Protocol(LanguageServerProtocol):
    """The protocol as pygls has it, but for three things.

    Changes of texts are the session's.  pygls takes a form feed or U+2028 for a line end, and changes positions behind the end
    of a line while it reads them: its text would not be the one that the editor shows.
    Messages are written by `orjson`, which takes a tenth of the time for long answers.
    Every request is answered: one that cannot be read, that comes before `initialize` or after `shutdown`, with an error.
    An editor would wait for ever for an answer that pygls leaves out.
    """

    def structure_message(self, data: dict[str, object]) -> object:
        """Read a message; say so to whom has asked what cannot be read."""
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
        """Send a message; what `orjson` cannot write, half of a surrogate pair, is left to pygls."""
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
        """Serve over the standard input and output until the editor says `exit`, goes, or somebody interrupts."""
        if sys.stdin is None or sys.stdout is None:  # so it is where a shell has closed them
            return
        self.protocol.set_writer(StdoutWriter(sys.stdout.buffer))
        reader = Incoming(sys.stdin.fileno())
        try:
            asyncio.run(run_async(Event(), reader, self.protocol, error_handler=self.report_server_error))
        except BrokenPipeError:  # the editor has gone
            return
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]  # pygls says no types here

    def path(self, uri: str) -> str:
        """Return the path of a document; one without a file, or whose URI cannot be read, keeps its URI as a name."""
        try:
            return uris.to_fs_path(uri) or uri
        except ValueError:  # `file://[a`: a host that is none
            return uri

    def document(self, uri: str) -> TextDocument | None:
        """Return an open document."""
        return self.session.documents.get(self.path(uri))

    def safely(self, do: Callable[[], T], otherwise: T) -> T:
        """Return what a verb says; a mistake of ours is logged and answered with nothing."""
        try:
            with paused_collector():
                return do()
        except Exception as error:  # noqa: BLE001  -- the server must outlive any text
            message = f"instrc: internal error: {type(error).__name__}: {str(error)[:300]}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
            return otherwise

    def publish(self, document: TextDocument, problems: tuple[Problem, ...], also: tuple[types.Diagnostic, ...] = ()) -> None:
        """Show the problems of a document, and what is still known from an earlier check of it."""
        self.found[document.path] = (document.source.text, problems)
        nothing: list[types.Diagnostic] = []
        shown = self.safely(lambda: diagnostics(problems, document, self.session), nothing)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, [*shown, *also], document.version))

    def changed(self, uri: str, text: str, version: int) -> None:
        """Take a text, show its slips at once, and check the rest when typing pauses."""
        document = self.session.put(self.path(uri), text, version, uri)
        if document.is_vibe:
            self.later([document, *self.session.users(document)])
            return
        none: tuple[Problem, ...] = ()
        slips = self.safely(lambda: document.slips, none)
        self.stop_waiting(document.path)
        shown_before = self.shown_before.pop(document.path, LastDiagnostics(document.lines, ())).moved(document.lines)
        self.shown_before[document.path] = shown_before
        if slips or document.path in self.with_slips:
            self.publish(document, slips, shown_before.shown)
        self.with_slips.discard(document.path)
        if slips:
            self.with_slips.add(document.path)
        if not any(problem.severity == "error" for problem in slips) or not document.segments.whole:
            self.later([document, *self.session.users(document)])

    def later(self, documents: list[TextDocument]) -> None:
        """Check documents after a pause."""
        for each in documents:
            self.stop_waiting(each.path)
            self.waiting[each.path] = asyncio.get_running_loop().create_task(self._check(each))

    def stop_waiting(self, path: str) -> None:
        """Leave a check out that has not begun."""
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
        """Tell whether a document is open and has not changed since."""
        return self.session.documents.get(document.path) is document

    async def problems(self, document: TextDocument) -> tuple[Problem, ...]:
        """Return the problems of a document as it stands, when they are known."""
        task = self.waiting.get(document.path)
        if task is not None:
            await asyncio.wait([task])
        text, problems = self.found.get(document.path, ("", ()))
        return problems if text == document.source.text else ()
