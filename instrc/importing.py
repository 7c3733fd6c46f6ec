"""Import tools from files, the standard input, values and objects of Python; each vibe that comes out passes the check."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from instrc import arguments
from instrc.files import STDIN, read_bytes, shown_path
from instrc.importers.catalogue import KINDS, OF_PYTHON
from instrc.importers.given import Given, of_text, of_value
from instrc.importers.read_tools import Imported, given_of, known_kind, read_tools
from instrc.importers.vibes import ImportedVibe, Results, boxed, with_property
from instrc.jsontext import dumps, loads
from instrc.jsonvalue import Json
from instrc.limits.incoming import IMPORT_ATTEMPTS, SOURCE_FILES
from instrc.plain_values import takes_plain_values
from instrc.problems.imported import ReadOtherwise, UnusableTool
from instrc.problems.importing import NoTools
from instrc.problems.problem import CompileError, Problem
from instrc.problems.report import Report
from instrc.problems.rim import InvalidJson, InvalidOption, UnreadableFile
from instrc.problems.size import TooLarge
from instrc.problems.steps import OutputNotObject
from instrc.problems.vibes import MissingFromProperties
from instrc.python_types import model_as_json
from instrc.regular import MOST_BYTES
from instrc.source import Source

if TYPE_CHECKING:
    from instrc.vibes.registry import Registry

_TEXTS = (".json", ".jsonl", ".ndjson", ".yaml", ".yml")


@takes_plain_values
def import_tools(kind: str, source: object, *, results: Results = "leave") -> Imported:
    """Return the tools of a source as vibes.

    `kind` is `openai`, `anthropic`, `mcp`, `openapi`, `pydantic`, `smolagents`, `bfcl` or `taskbench`.
    `source` is a path or `-`, a `Source`, JSON as text or as Python values; for pydantic and smolagents also `module:Name`,
    `path/to/file.py:Name`, or the objects themselves.
    `results` says what becomes of what a tool gives back: `leave` it out, an `output` property, or an `activity` of its own.
    Nothing is raised for bad input: the problems say what is wrong, and where.
    """
    arguments.known_word("results", results, get_args(Results))
    report = Report()
    try:
        given = _read_source(known_kind(kind), source, report)
    except CompileError as error:
        report.take(error)
        given = None
    if given is None:
        return Imported((), report.once())
    imported = read_tools(kind, given, results)
    return _checked(imported)


def schema_in_memory(value: object, option: str) -> tuple[Json, tuple[Problem, ...]]:
    """Return the schema that a vibe without a file is, and notes: of a schema, a type, a function, a tool of any provider.

    What has none is a `CompileError` that names the `option`.
    """
    from instrc.lint.other_documents import foreign
    from instrc.lowering.given import tool_of

    known: object = value
    if isinstance(value, str):
        try:
            known = loads(value)
        except ValueError as error:
            raise _no_schema(value, option) from error
    known = model_as_json(known)
    if isinstance(known, dict):
        other = foreign(known, option)
        if other is not None and other.importer is not None:
            return _only_schema(read_tools(other.importer, of_value(known)), value, option)
        if known is value or isinstance(value, str):
            return known, ()
    if isinstance(known, bool):
        return known, ()
    try:
        tool = tool_of(value)
    except TypeError as error:
        raise _no_schema(value, option, str(error)) from error
    schema: Json = tool.schema
    if tool.description and isinstance(schema, dict) and "description" not in schema:
        schema = {"description": tool.description, **schema}
    return schema, ()


def _only_schema(imported: Imported, value: object, option: str) -> tuple[Json, tuple[Problem, ...]]:
    if errors := [problem for problem in imported.problems if problem.severity == "error"]:
        raise CompileError(errors)
    if len(imported.vibes) != 1:
        raise _no_schema(value, option, f"it holds {len(imported.vibes)} tools")
    losses = tuple(problem for problem in imported.problems if not isinstance(problem, ReadOtherwise))  # which loses nothing
    return imported.vibes[0].document, losses


def _no_schema(value: object, option: str, reason: str = "") -> CompileError:
    wanted = "a JSON Schema, a tool, or a type that pydantic can describe (a model, a dataclass, a `TypedDict`)"
    given = f"{arguments.excerpt(value)}: {reason}" if reason else arguments.excerpt(value)
    return CompileError([InvalidOption(option=option, given=given, wanted=wanted)])


def _read_source(kind: str, source: object, report: Report) -> Given | None:
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
    text = _read(path, report)
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
            text = _read(str(path), report)
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


def _read(path: str, report: Report) -> Source | None:
    data = read_bytes(path, MOST_BYTES, report)
    if data is None:
        return None
    name = shown_path(path)
    if len(data) > MOST_BYTES:
        at = Source(name, data[:200].decode("utf-8", "replace")).whole()
        report.add(TooLarge(at=at, what="the file", limit=MOST_BYTES, unit="bytes"))
        return None
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode("utf-8-sig", "replace"))
        source = Source(name, data.decode("utf-8-sig", "replace"))
        report.add(InvalidJson(at=source.span(start, start + 1), reason="a byte here is not UTF-8"))
        return None


def _checked(imported: Imported) -> Imported:
    """Leave out the vibes that the check refuses: a registry is no place for broken ones."""
    from instrc.vibes.registry import Registry

    registry = Registry()
    sound: list[ImportedVibe] = []
    report = Report()
    report.problems += imported.problems
    for vibe in imported.vibes:
        made, fault, is_boxed = vibe, _fault(vibe, registry), False
        for _ in range(IMPORT_ATTEMPTS):
            if isinstance(fault, OutputNotObject) and not is_boxed:
                report.add(
                    ReadOtherwise(at=vibe.at, what=vibe.name, meaning="an object with one property `value`: it is none itself")
                )
                made, is_boxed = boxed(made), True
            elif isinstance(fault, MissingFromProperties):
                report.add(ReadOtherwise(at=vibe.at, what=fault.word, meaning="a property of which nothing is said"))
                made = with_property(made, fault.word)
            else:
                break
            fault = _fault(made, registry)
        if fault is None:
            sound.append(made)
        else:
            report.add(UnusableTool(at=vibe.at, tool=str(vibe.document.get("title", vibe.name)), reason=fault.message))
    return replace(imported, vibes=tuple(sound), problems=report.once())


def _fault(vibe: ImportedVibe, registry: Registry) -> Problem | None:
    """Return what the check says of a vibe, or what keeps it from being composed."""
    from instrc.compiler import compile_vibe
    from instrc.ir.options import CompileOptions
    from instrc.lint.review import review
    from instrc.vibes.vibe import Vibe

    found = Report()
    written = Vibe(f"aug:{vibe.name}", vibe.name, Source(vibe.path, dumps(vibe.document)), vibe.document, "")
    try:
        review(written, registry, found)
        if not found.failed:
            compile_vibe(written, registry, CompileOptions(), found, stem=vibe.name)
    except CompileError as error:
        found.take(error)
    return next((problem for problem in found.ordered() if problem.severity == "error"), None)
