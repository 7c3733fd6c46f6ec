"""The texts that an editor has open, and what is known about each.

What depends on a text alone (its statements, its names) is computed when it is asked for and kept until the text changes.
What depends on vibes is forgotten when a vibe changes, on disk or in the editor.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from threading import RLock

from instrc.format.formatter import format_source
from instrc.format.pieces import Piece, format_pieces
from instrc.ir.surface import Program
from instrc.limits.incoming import UNOPENED_BYTES
from instrc.lsp.knowledge import Knowledge
from instrc.lsp.positions import Lines, uri_of
from instrc.lsp.scopes import SymbolIndex, index_of
from instrc.lsp.segments import Segments, edited, read_segments
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key
from instrc.regular import read_whole
from instrc.source import Source
from instrc.syntax.parser import parse
from instrc.syntax.scanner import Scanner
from instrc.syntax.tables import tables
from instrc.workspace import Workspace

VIBE_ENDING = ".json"
_BOM = "\ufeff"


class TextDocument:
    """One text as it stands in the editor."""

    def __init__(
        self,
        path: str,
        text: str,
        encoding: str,
        version: int = 0,
        earlier: TextDocument | None = None,
        uri: str | None = None,
    ) -> None:
        self.path = path
        self.uri: str = uri_of(path) if uri is None else uri
        """Its name in the protocol: as the editor wrote it, for one that is open."""
        self.version = version
        self.source: Source = Source(path, text)
        self.encoding = encoding
        self._earlier = None if earlier is None else earlier.__dict__.get("segments")
        """What was found in the text before this one, if it was asked for."""
        self.pieces: Mapping[str, Piece] = {} if earlier is None else earlier.pieces
        """The layouts of its statements that are known, or of those of a text before."""

    @property
    def is_vibe(self) -> bool:
        """Whether it is JSON and not a program."""
        return self.path.endswith(VIBE_ENDING)

    @cached_property
    def lines(self) -> Lines:
        """Its lines, to translate places."""
        return Lines(self.source, self.encoding)

    @cached_property
    def program(self) -> Program:
        """Its statements, those with mistakes left out."""
        return self.segments.outside if self.segments.whole else parse(self.source, Report())

    @cached_property
    def segments(self) -> Segments:
        """The mistakes that show without looking anything up, found in what has changed since the text before."""
        return read_segments(self.source) if self._earlier is None else edited(self._earlier, self.source)

    @property
    def slips(self) -> tuple[Problem, ...]:
        """The mistakes that show without looking anything up."""
        return self.segments.slips

    @cached_property
    def formatted(self) -> str | None:
        """Its canonical text; `None` for what can have none."""
        if self.is_vibe or self.slips:
            return format_source(self.source, Report())
        found = format_pieces(self.source, self.segments.cuts, self.pieces)
        self.pieces = found.pieces
        return found.text

    @cached_property
    def index(self) -> SymbolIndex:
        """Its names."""
        return index_of(self.program)

    @cached_property
    def words(self) -> Scanner:
        """Every word of it, and its comments: what costs little."""
        scanner = Scanner(self.source, tables())
        if self.slips:
            scanner.need(len(self.source.text) + 1)
        else:
            scanner.scan_all()
        return scanner


class EditorSession:
    """All open documents, and the files around them."""

    def __init__(self) -> None:
        self.documents: dict[str, TextDocument] = {}
        self.encoding = "utf-16"
        self._unsaved: dict[str, str] = {}
        self._workspace: Workspace | None = None
        self._knowledge: dict[str, Knowledge] = {}
        self._lock = RLock()

    def put(self, path: str, text: str, version: int = 0, uri: str | None = None) -> TextDocument:
        """Take a text as it stands in the editor; a byte order mark at its beginning is nothing, but it has a place."""
        if text.startswith(_BOM):
            text = " " + text[1:]
        document = TextDocument(path, text, self.encoding, version, self.documents.get(path), uri)
        with self._lock:
            self.documents[path] = document
            self._unsaved[os.path.realpath(path)] = text
            if document.is_vibe or self.users(document):
                self.forget()
        return document

    def uri(self, path: str) -> str:
        """Return the name in the protocol of a file, or of a document that has none."""
        document = self.documents.get(path)
        return uri_of(path) if document is None else document.uri

    def file(self, path: str) -> TextDocument | None:
        """Return a file as it stands in the editor, else on disk; `None` if it cannot be read."""
        real = os.path.realpath(path)
        opened = next((each for each in self.documents.values() if os.path.realpath(each.path) == real), None)
        if opened is not None:
            return opened
        try:
            text = read_whole(path, UNOPENED_BYTES).decode("utf-8")
        except (OSError, ValueError):
            return None
        return TextDocument(path, text.removeprefix(_BOM), self.encoding)

    def drop(self, path: str) -> list[TextDocument]:
        """Forget a text that is no longer open, and return its users: for them the file counts again."""
        with self._lock:
            closed = self.documents.pop(path, None)
            self._unsaved.pop(os.path.realpath(path), None)
            users = [] if closed is None else self.users(closed)
            if users or (closed is not None and closed.is_vibe):
                self.forget()
        return users

    def users(self, document: TextDocument) -> list[TextDocument]:
        """Return what else is open and may use a document: all for a vibe, for a program the programs that contain its name."""
        others = [each for each in self.documents.values() if each.path != document.path]
        if document.is_vibe:
            return others
        name = comparison_key(Path(document.path).name.partition(".")[0])
        return [each for each in others if not each.is_vibe and name in comparison_key(each.source.text)]

    def forget(self) -> None:
        """Read vibes and settings anew when they are needed."""
        with self._lock:
            self._workspace = None
            self._knowledge.clear()

    def workspace(self) -> Workspace:
        """Return the files around the documents."""
        with self._lock:
            if self._workspace is None:
                self._workspace = Workspace(unsaved=self._unsaved)
            return self._workspace

    def knowledge(self, document: TextDocument) -> Knowledge | None:
        """Return what can be looked up from a document; `None` if its settings are broken."""
        with self._lock:
            known = self._knowledge.get(document.path)
            if known is None:
                try:
                    known = self._knowledge[document.path] = Knowledge(self.workspace().registry(document.path))
                except CompileError:
                    return None
            return known

    def check(self, document: TextDocument) -> tuple[Problem, ...]:
        """Return all that is wrong with a document, those of its problems that lie in other files included."""
        report = Report()
        try:
            known = None if document.is_vibe or document.slips else document.program
            self.workspace().check(document.path, report, known)
        except CompileError as error:
            report.take(error)
        return report.once()

    def lines(self, source: Source) -> Lines:
        """Return the lines of a source, open or not."""
        document = self.documents.get(source.name)
        if document is not None and document.source.text == source.text:
            return document.lines
        return Lines(source, self.encoding)
