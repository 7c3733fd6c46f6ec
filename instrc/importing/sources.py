"""What an import reads: a text or a file with what lies beside it, a value of JSON, or objects of Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from instrc.files import STDIN, read_text
from instrc.importers.catalogue import KINDS, OF_PYTHON
from instrc.importers.given import Given, of_text, of_value
from instrc.importers.read_tools import given_of
from instrc.limits.incoming import SOURCE_FILES
from instrc.problems.files import UnreadableFile
from instrc.problems.importing import NoTools
from instrc.problems.problem import CompileError
from instrc.problems.report import Report
from instrc.source import Source

_TEXTS = (".json", ".jsonl", ".ndjson", ".yaml", ".yml")


def read_source(kind: str, source: object, report: Report) -> Given | None:
    """Read the source of an import of a kind; `None` with a problem if it cannot be read."""
    if isinstance(source, Source):
        return _of_text(source)  # it may have no folder: what it refers to is for the caller to bring
    if isinstance(source, dict | list | tuple) and not (kind in OF_PYTHON and _holds_objects(source)):
        return of_value(source)
    if isinstance(source, str) and source.lstrip().startswith(("{", "[")):
        return _of_text(Source("<text>", source))
    if not isinstance(source, str | os.PathLike):
        if kind not in OF_PYTHON:
            raise CompileError([NoTools(kind=kind)])
        return _of_objects(kind, source, whole_module=False)
    path = os.fspath(source)
    if kind in OF_PYTHON and path != STDIN and not path.endswith(_TEXTS):
        from instrc.importers.python_objects import load  # it runs code: only where that is asked for

        value, whole_module = load(path)
        return _of_objects(kind, value, whole_module=whole_module)
    text = read_text(path, report)
    if text is None:
        return None
    given = _of_text(text)
    given.neighbours = None if path == STDIN else Folder(Path(path).parent)
    return given


class Folder:
    """The folder of a source, whose files it may refer to: those in it and below, and no others.  Each is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Given | CompileError] = {}

    def given(self, name: str) -> Given:
        """Return what a file holds, by its name as seen from the folder; a `CompileError` says why it cannot be read."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._read_file(name)
        if isinstance(found, CompileError):
            raise found
        return found

    def _read_file(self, name: str) -> Given | CompileError:
        path = self._folder / name
        try:
            inside = path.resolve().is_relative_to(self._folder.resolve())  # a link may lead out of it
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside or len(self._known) >= SOURCE_FILES:
            reason = "the source is spread over too many files" if inside else "it lies outside of the source's folder"
            return CompileError([UnreadableFile(path=str(path), reason=reason)])
        report = Report()
        try:
            text = read_text(str(path), report)
            return CompileError(report.problems) if text is None else _of_text(text)
        except CompileError as error:
            return error


def _holds_objects(source: object) -> bool:
    """Tell whether a collection is one of objects, not of JSON."""
    items = source.values() if isinstance(source, dict) else source if isinstance(source, Iterable) else ()
    plain = (dict, list, tuple, str, int, float, bool, type(None))
    return any(not isinstance(item, plain) for item in items)


def _of_objects(kind: str, value: object, *, whole_module: bool) -> Given:
    from importlib import import_module

    reader = import_module(f"instrc.importers.{KINDS[kind]}")
    if whole_module:
        own = [item for name, item in vars(value).items() if not name.startswith("_")]
        if kind == "pydantic":
            found = [item for item in own if reader.is_model(item) and item.__module__ == getattr(value, "__name__", None)]
        else:
            found = [
                tool for item in own if getattr(item, "__module__", None) != "smolagents.tools" for tool in reader.objects(item)
            ]
    else:
        found = reader.objects(value)
    return given_of(kind, list({id(item): item for item in found}.values()))


def _of_text(source: Source) -> Given:
    if source.name.endswith((".yaml", ".yml")):
        from instrc.importers.yaml_text import of_yaml  # an optional library reads it

        return of_yaml(source)
    return of_text(source)
