"""An editor: a real client that starts the server as a process and speaks to it over pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient


class Editor(LanguageClient):
    """A client that keeps what the server publishes."""

    def __init__(self, folder: Path) -> None:
        super().__init__("editor", "1")
        self.folder = folder
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.logged: list[str] = []
        self.arrived = asyncio.Event()
        self.version = 0
        self.edited = ""
        """The document that was edited last."""

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            if params.version is not None and params.version < self.version and params.uri == self.edited:
                return  # of a text that has changed since
            self.published[params.uri] = list(params.diagnostics)
            self.arrived.set()

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.logged.append(params.message)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """Wait for the next problems of a document."""
        while self.uri(name) not in self.published:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), 60)
        return self.published.pop(self.uri(name))

    async def open(self, name: str, text: str) -> list[types.Diagnostic]:
        self.published.pop(self.uri(name), None)
        item = types.TextDocumentItem(self.uri(name), "aug", self.version, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(name)

    async def change(self, name: str, *changes: tuple[types.Range | None, str]) -> list[types.Diagnostic]:
        self.edit(name, *changes)
        return await self.diagnostics(name)

    def close(self, name: str) -> None:
        """Close a document; the problems that others had before do not count any more."""
        self.published.clear()
        self.text_document_did_close(types.DidCloseTextDocumentParams(self.document(name)))

    def edit(self, name: str, *changes: tuple[types.Range | None, str]) -> None:
        """Change a document; the problems of the text before do not count any more."""
        self.version += 1
        self.edited = self.uri(name)
        events: list[Any] = [
            types.TextDocumentContentChangeWholeDocument(text)
            if place is None
            else types.TextDocumentContentChangePartial(range=place, text=text)
            for place, text in changes
        ]
        identifier = types.VersionedTextDocumentIdentifier(self.version, self.uri(name))
        self.published.pop(self.uri(name), None)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, events))


class Watch:
    """The time from now on that an editor and its server take, without the time in which others had the processors."""

    def __init__(self, editor: Editor) -> None:
        assert editor._server is not None
        self.server = editor._server.pid
        self.start = perf_counter()
        self.ran, self.waited = self._times()

    def seconds(self) -> float:
        """Return what has passed less what both waited for a processor, and at the least what the server has worked."""
        ran, waited = self._times()
        return max(ran - self.ran, perf_counter() - self.start - (waited - self.waited))

    def _times(self) -> tuple[float, float]:
        """Return how long the server has run, and both were ready and had to wait; zero where the system does not say it."""
        ran, waited = 0, 0
        for process in (self.server, os.getpid()):
            for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
                running, waiting, _ = map(int, task.read_text().split())
                ran += running if process == self.server else 0
                waited += waiting
        return ran / 1e9, waited / 1e9


@asynccontextmanager
async def editor(folder: Path) -> AsyncIterator[Editor]:
    client = Editor(folder)
    await client.start_io(sys.executable, "-m", "instrc", "lsp", cwd=folder)
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            completion=types.CompletionClientCapabilities(completion_item=types.ClientCompletionItemOptions(snippet_support=True))
        ),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(
                document_changes=True, resource_operations=[types.ResourceOperationKind.Rename]
            )
        ),
    )
    await client.initialize_async(types.InitializeParams(capabilities, root_uri=folder.as_uri()))
    client.initialized(types.InitializedParams())
    try:
        yield client
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()


Scenario = Callable[[Editor], Awaitable[None]]
