"""The documents of an editor: positions, the files around them, diagnostics and fixes."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from threading import RLock
from typing import Final, TypeVar

import attrs
from lsprotocol import types
from msgspec import Struct

from instrc.compiler.workspace import Workspace
from instrc.language.formatter import format_source
from instrc.language.habits import name_habits
from instrc.language.parser import parse
from instrc.language.scanner import Scanner
from instrc.language.surface import Program
from instrc.language.tables import tables
from instrc.lsp.knowledge import Knowledge, SymbolIndex, index_of
from instrc.problems.errors import InstrcError
from instrc.problems.problem import Fix, Problem, shorten_values
from instrc.problems.report import Report
from instrc.problems.suggest import apart, comparison_key
from instrc.text.files import read_whole
from instrc.text.source import Source, Span
from instrc.text.visible import visible

UNOPENED_BYTES: Final = 1024 * 1024
"""Maximum bytes of a file that no editor has open."""
T = TypeVar("T")
_LINE_END = re.compile(r"\r\n|\n|\r")
_IN_LINE = re.compile(r"[^\r\n]+")
_ROW = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
"""A line with its end, or the last one without."""
_LONG = {"utf-8": r"[^\x00-\x7f]", "utf-16": r"[^\x00-\uffff]", "utf-32": "(?!)"}
"""The characters that are several units, by encoding."""


def uri_of(path: str) -> str:
    """Return the URI of a file."""
    return path if "://" in path else Path(path).absolute().as_uri()


class Lines:
    r"""The lines of one text; `\r` alone ends one too, as the protocol has it."""

    def __init__(self, source: Source, encoding: str = "utf-16") -> None:
        self.source = source
        self.encoding = encoding
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(source.text))]
        long = list(re.finditer(_LONG[encoding], source.text))
        self._long = [found.start() for found in long]
        """The places of characters that are several units."""
        more = (len(found[0].encode("utf-8", "surrogatepass")) - 1 if encoding == "utf-8" else 1 for found in long)
        self._more = [0, *accumulate(more)]
        """By how much the units before and up to each of them exceed the characters."""

    def position(self, offset: int) -> types.Position:
        """Return the place of an offset."""
        return types.Position(*self.place(offset))

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset."""
        offset = max(0, min(offset, len(self.source.text)))
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(offset) - self._units(self._starts[line])

    def stretches(self, ranges: Iterable[tuple[int, int, T]]) -> Iterator[tuple[int, int, int, T]]:
        """Yield the line, the column and the length of ranges in order of their places, one over several lines on each."""
        for start, end, what in ranges:
            for part in _IN_LINE.finditer(self.source.text, start, end):
                yield *self.place(part.start()), self._units(part.end()) - self._units(part.start()), what

    def range(self, span: Span) -> types.Range:
        """Return the range of a span."""
        return types.Range(self.position(span.start), self.position(max(span.start, span.end)))

    def offset(self, position: types.Position) -> int:
        """Return the offset of a place; one past the end of its line is the end of the line."""
        text = self.source.text
        if position.line >= len(self._starts):
            return len(text)
        start = self._starts[max(0, position.line)]
        end = found.end() if (found := _IN_LINE.match(text, start)) else start
        return bisect_left(range(end), self._units(start) + max(0, position.character), start, key=self._units)

    def _units(self, offset: int) -> int:
        """Return the number of units before an offset."""
        return offset + self._more[bisect_left(self._long, offset)]


def applied(text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: str) -> str:
    """Return a text after the changes of an editor, in order; lines end as the protocol defines."""
    rows = _ROW.findall(text)
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = change.range.start.line, change.range.end.line
            first = max(min(start, len(rows)) - 1, 0)  # rows around may end in half of `\r\n`, or in nothing
            last = max(start, end) + 2
            part = "".join(rows[first:last])
            lines, ends = Lines(Source("", part), encoding), (change.range.start, change.range.end)
            start, end = (lines.offset(types.Position(max(each.line - first, 0), each.character)) for each in ends)
            rows[first:last] = _ROW.findall(part[:start] + change.text + part[max(start, end) :])
        else:
            rows = _ROW.findall(change.text)
    return "".join(rows)


def changed_range(old: str, new: str) -> tuple[int, int]:
    """Return the range of a text outside of which another one is the same."""
    start = _agreed(old, new)
    return start, len(old) - _agreed(old[start:][::-1], new[start:][::-1])


def _agreed(one: str, other: str) -> int:
    """Return for how many characters two texts agree."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


VIBE_ENDING = ".json"
_BOM = "\ufeff"


class TextDocument:
    """A text with its current contents in the editor."""

    def __init__(self, path: str, text: str, encoding: str, version: int = 0, uri: str | None = None) -> None:
        self.path = path
        self.uri: str = uri_of(path) if uri is None else uri
        """Its name in the protocol: as the editor wrote it, for one that is open."""
        self.version = version
        self.source: Source = Source(path, text)
        self.encoding = encoding

    @property
    def is_vibe(self) -> bool:
        """Whether it is JSON and not a program."""
        return self.path.endswith(VIBE_ENDING)

    @cached_property
    def lines(self) -> Lines:
        """Its lines, to translate places."""
        return Lines(self.source, self.encoding)

    @cached_property
    def _parsed(self) -> tuple[Program, tuple[Problem, ...]]:
        report = Report()
        program = parse(self.source, report)
        name_habits(program, report)
        return program, report.ordered()

    @property
    def program(self) -> Program:
        """Its statements without those that hold mistakes."""
        return self._parsed[0]

    @property
    def slips(self) -> tuple[Problem, ...]:
        """The mistakes that parsing alone finds."""
        return self._parsed[1]

    @cached_property
    def formatted(self) -> str | None:
        """Its canonical text, or `None` if it has none."""
        return format_source(self.source, Report())

    @cached_property
    def index(self) -> SymbolIndex:
        """Its names."""
        return index_of(self.program)

    @cached_property
    def words(self) -> Scanner:
        """Every word of it, and its comments."""
        scanner = Scanner(self.source, tables())
        scanner.need(len(self.source.text) + 1)
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
        """Accept the current text of the editor; a byte order mark at its beginning is ignored, but counts in offsets."""
        if text.startswith(_BOM):
            text = " " + text[1:]
        document = TextDocument(path, text, self.encoding, version, uri)
        with self._lock:
            self.documents[path] = document
            self._unsaved[os.path.realpath(path)] = text
            if document.is_vibe or self.users(document):
                self.forget()
        return document

    def uri(self, path: str) -> str:
        """Return the URI of a file, or of a document that has no file."""
        document = self.documents.get(path)
        return uri_of(path) if document is None else document.uri

    def file(self, path: str) -> TextDocument | None:
        """Return the text of a file in the editor, else on disk, or `None` if it cannot be read."""
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
        """Return the other open documents that may use one: all for a vibe, for a program the programs that contain its name."""
        others = [each for each in self.documents.values() if each.path != document.path]
        if document.is_vibe:
            return others
        name = comparison_key(Path(document.path).name.partition(".")[0])
        return [each for each in others if not each.is_vibe and name in comparison_key(each.source.text)]

    def forget(self) -> None:
        """Read vibes and settings again when they are needed."""
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
        """Return the knowledge for a document, or `None` if its settings are broken."""
        with self._lock:
            known = self._knowledge.get(document.path)
            if known is None:
                try:
                    known = self._knowledge[document.path] = Knowledge(self.workspace().registry(document.path))
                except InstrcError:
                    return None
            return known

    def check(self, document: TextDocument) -> tuple[Problem, ...]:
        """Return all problems of a document, including those that lie in other files."""
        report = Report()
        try:
            self.workspace().check(document.path, report)
        except InstrcError as error:
            report.take(error)
        return report.once()

    def lines(self, source: Source) -> Lines:
        """Return the lines of a source, open or not."""
        document = self.documents.get(source.name)
        if document is not None and document.source.text == source.text:
            return document.lines
        return Lines(source, self.encoding)


class LastDiagnostics(Struct, frozen=True):
    """Problems as they were shown for a text, without those that reading alone finds."""

    lines: Lines
    shown: tuple[types.Diagnostic, ...]

    def moved(self, lines: Lines) -> LastDiagnostics:
        """Return the problems that an edit has not touched, at their new places."""
        old, new = self.lines.source.text, lines.source.text
        if not self.shown or old == new:
            return LastDiagnostics(lines, self.shown)
        first, last = changed_range(old, new)
        by = len(new) - len(old)
        kept: list[types.Diagnostic] = []
        for each in self.shown:
            start, end = self.lines.offset(each.range.start), self.lines.offset(each.range.end)
            if end < first:
                kept.append(each)
            elif start > last:
                place = types.Range(lines.position(start + by), lines.position(end + by))
                kept.append(attrs.evolve(each, range=place))
        return LastDiagnostics(lines, tuple(kept))


_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_UNUSED = frozenset({"unused-binding", "unread-pipe"})


def diagnostics(problems: Iterable[Problem], document: TextDocument, session: EditorSession) -> list[types.Diagnostic]:
    """Return the diagnostics of a document; problems of others are shown at its beginning."""
    return [_diagnostic(problem, document, session) for problem in problems]


def _diagnostic(problem: Problem, document: TextDocument, session: EditorSession) -> types.Diagnostic:
    at = problem.at
    here = at is not None and at.source.name == document.path
    place = document.lines.range(at) if at is not None and here else types.Range(types.Position(0, 0), types.Position(0, 1))
    message = visible(str(problem)) if here or at is None else f"{visible(at.source.name)}: {visible(str(problem))}"
    hint = f"\n{visible(shorten_values(problem.hint))}" if problem.hint else ""
    related = [_related(label.span, label.text, session) for label in problem.labels if _is_file(label.span.source)]
    if at is not None and not here and _is_file(at.source):
        related.append(_related(at, str(problem), session))
    return types.Diagnostic(
        range=place,
        message=message + hint,
        severity=_SEVERITY[problem.severity],
        code=problem.name,
        source="instrc",
        tags=[types.DiagnosticTag.Unnecessary] if problem.name in _UNUSED else None,
        related_information=related or None,
    )


def _related(span: Span, words: str, session: EditorSession) -> types.DiagnosticRelatedInformation:
    location = types.Location(session.uri(span.source.name), session.lines(span.source).range(span))
    return types.DiagnosticRelatedInformation(location, visible(shorten_values(words)))


def _is_file(source: Source) -> bool:
    return not source.name.startswith("<")


def actions(
    problems: Sequence[Problem], document: TextDocument, wanted: types.Range, given: Sequence[types.Diagnostic]
) -> list[types.CodeAction]:
    """Return the fixes of the problems that touch a range, and one for all safe fixes."""
    found = []
    start, end = document.lines.offset(wanted.start), document.lines.offset(wanted.end)
    for problem in problems:
        at = problem.at
        if at is None or at.source.text != document.source.text or at.start > end or at.end < start:
            continue
        own = [each for each in given if each.code == problem.name and each.range == document.lines.range(at)]
        for number, fix in enumerate(problem.fixes):
            found.append(
                types.CodeAction(
                    title=fix.title,
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=own or None,
                    is_preferred=fix.safe and not number,
                    edit=_edit([fix], document),
                )
            )
    return found


def _edit(fixes: Sequence[Fix], document: TextDocument) -> types.WorkspaceEdit:
    edits = [types.TextEdit(document.lines.range(edit.span), edit.text) for fix in fixes for edit in fix.edits]
    return types.WorkspaceEdit(changes={document.uri: edits})


def fix_all(problems: Sequence[Problem], document: TextDocument) -> list[types.CodeAction]:
    """Return the action that applies all safe fixes of a document, if there are any."""
    first = (next((fix for fix in problem.fixes if fix.safe), None) for problem in problems)
    text = document.source.text
    safe = apart(fix for fix in first if fix is not None and all(edit.span.source.text == text for edit in fix.edits))
    if not safe:
        return []
    kind = types.CodeActionKind.SourceFixAll
    return [types.CodeAction(title="Apply all safe fixes of instrc", kind=kind, edit=_edit(safe, document))]
