"""Choose what of the artefacts is printed or written, and under which names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from instrc import problems
from instrc.cli.terminal import write
from instrc.files import shown_path
from instrc.ir.artefact import Artefact
from instrc.ir.artefact import Emit as Kind
from instrc.jsontext import dumps
from instrc.jsonvalue import Json, JsonObject, as_object
from instrc.naming import file_name
from instrc.problems.report import Report
from instrc.source import Source


class Emit(StrEnum):
    """What to print or write."""

    TOOL = "tool"
    RESULT = "result"
    FLAT = "flat"
    PROCESS = "process"
    CALL = "call"
    ALL = "all"


class NamedArtefact(Struct, frozen=True):
    """An artefact, the file it is from, and the stem of its own files, unique in this run."""

    file: str
    stem: str
    artefact: Artefact

    @property
    def file_name(self) -> str:
        """The stem as the file system takes it."""
        return file_name(self.stem)


def kinds_to_strip(said: Iterable[str]) -> frozenset[str]:
    """Read the sets of `--strip`: words, several in one with commas between them."""
    from instrc.flattening.strip import KINDS

    kinds = frozenset(word for each in said for word in each.replace(",", " ").split())
    if unknown := sorted(kinds - KINDS):
        from typer import BadParameter  # already loaded by the program around the commands

        message = f"--strip knows no `{unknown[0]}`; it takes {', '.join(sorted(KINDS))}"
        raise BadParameter(message)
    return kinds


def exports(compiled: Iterable[tuple[str, Artefact]], unwanted: frozenset[str] | None = None) -> Iterator[NamedArtefact]:
    """Yield the artefacts of one run without what is unwanted; a name that is taken, in any case of its letters, gets `_2`."""
    taken: set[str] = set()
    for file, artefact in compiled:
        stem, count = artefact.name, 1
        while file_name(stem).casefold() in taken:
            count += 1
            stem = f"{artefact.name}_{count}"
        taken.add(file_name(stem).casefold())
        yield NamedArtefact(file, stem, artefact if unwanted is None else _strip_all(artefact, unwanted))


def _strip_all(artefact: Artefact, unwanted: frozenset[str]) -> Artefact:
    """Strip each document; a direct call is no schema, only its tool is."""
    from instrc.flattening.strip import strip

    stripped: dict[Kind, JsonObject] = {
        kind: {**document, "tool": strip(document["tool"], unwanted)} if kind == "call" else as_object(strip(document, unwanted))
        for kind, document in artefact.documents.items()
    }
    return replace(artefact, documents=stripped)


def document_to_print(export: NamedArtefact, emit: Emit | None, report: Report) -> Json:
    """Return the document to print: the one asked for, the one that fits, or an object of all by kind."""
    documents = export.artefact.documents
    if emit is Emit.ALL:
        return {str(kind): document for kind, document in documents.items()}
    if emit is None:
        return documents[export.artefact.kind]
    for kind, document in documents.items():
        if kind == emit.value:
            return document
    report.add(
        problems.calls.NoSuchDocument(
            at=Source(shown_path(export.file), "").whole(), asked=emit.value, program=export.stem, present=tuple(documents)
        )
    )
    return None


def documents_to_write(export: NamedArtefact, emit: Emit | None, report: Report) -> dict[str, Json]:
    """Return the documents to write by the names of their files: all there are, or the one asked for."""
    if emit is None or emit is Emit.ALL:
        return {f"{export.file_name}.{kind}.json": document for kind, document in export.artefact.documents.items()}
    return {f"{export.file_name}.{emit}.json": document_to_print(export, emit, report)}


class Output(Struct):
    """What a run delivers: documents for the standard output and for files."""

    documents: list[Json] = field(default_factory=list)
    """To print."""
    files: dict[Path, Json] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    """Files of this run that must not be overwritten."""

    def deliver(self) -> None:
        """Write the files, all or none (`OSError`), then print: one document as it is, several as an array."""
        if self.files:
            from instrc.cli.outputs import write_files  # not needed to print

            write_files({path: f"{dumps(document)}\n" for path, document in self.files.items()}, self.sources)
        if self.documents:
            write(f"{dumps(self.documents[0] if len(self.documents) == 1 else self.documents)}\n")
