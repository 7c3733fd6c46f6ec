"""Import tools as vibes: from files, values and Python objects; each vibe passes the check."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, get_args

from msgspec.structs import replace

from instrc.compiler.driver import compile_vibe
from instrc.compiler.ir import CompileOptions
from instrc.compiler.lint.review import review
from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.files import UnreadableFile
from instrc.problems.importing import LeftOut, NoTools, ReadOtherwise, UnusableTool
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.schemas import Contradiction
from instrc.problems.steps import OutputNotObject
from instrc.problems.vibes import MissingFromProperties
from instrc.text import arguments
from instrc.text.arguments import takes_shared_parts
from instrc.text.jsontext import dumps
from instrc.text.source import Source
from instrc.tools.importers import OF_PYTHON, Imported, known_kind, read_tools
from instrc.tools.sources import Given, of_text, of_value
from instrc.tools.vibe_documents import ImportedVibe, Results, boxed, with_property, without_contradictions
from instrc.vibes.find_files import STDIN, read_text
from instrc.vibes.registry import Registry
from instrc.vibes.vibe import Vibe

IMPORT_ATTEMPTS: Final = 20
"""Maximum attempts to make an imported vibe pass the check."""


def sound_vibes(imported: Imported) -> Imported:
    """Leave out the vibes that the check refuses, as a registry must not contain broken ones."""
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
                report.add(ReadOtherwise(at=vibe.at, what=fault.word, meaning="a property without a schema"))
                made = with_property(made, fault.word)
            elif isinstance(fault, Contradiction) and (pruned := without_contradictions(made))[1]:
                made, names = pruned
                report.problems += [
                    LeftOut(at=vibe.at, what=name, reason="it is optional, and nothing satisfies it") for name in names
                ]
            else:
                break
            fault = _fault(made, registry)
        if fault is None:
            sound.append(made)
        else:
            report.add(UnusableTool(at=vibe.at, tool=str(vibe.document.get("title", vibe.name)), reason=fault.message))
    return replace(imported, vibes=tuple(sound), problems=report.once())


def _fault(vibe: ImportedVibe, registry: Registry) -> Problem | None:
    """Return the problem of a vibe, or the reason why it cannot be composed."""
    found = Report()
    written = Vibe(f"aug:{vibe.name}", vibe.name, Source(vibe.path, dumps(vibe.document)), vibe.document, "")
    try:
        review(written, registry, found)
        if not found.failed:
            compile_vibe(written, registry, CompileOptions(), found, stem=vibe.name)
    except InstrcError as error:
        found.take(error)
    return next((problem for problem in found.ordered() if problem.severity == "error"), None)


_TEXTS = (".json", ".jsonl", ".ndjson", ".yaml", ".yml")


def read_source(kind: str, source: object, report: Report) -> Given | None:
    """Read the source of an import; return `None` with a problem if it is unreadable."""
    if isinstance(source, Source):
        return _of_text(source)  # it may have no folder, so the caller must provide what it refers to
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
        from instrc.tools.python_objects import load  # runs code, so only on request

        value, whole_module = load(path)
        return _of_objects(kind, value, whole_module=whole_module)
    text = read_text(path, report)
    if text is None:
        return None
    given = _of_text(text)
    given.neighbours = None if path == STDIN else Folder(Path(path).parent)
    return given


def _of_text(source: Source) -> Given:
    if source.name.endswith((".yaml", ".yml")):
        from instrc.tools.yaml_text import of_yaml  # it is read by an optional library

        return of_yaml(source)
    return of_text(source)


def _holds_objects(source: object) -> bool:
    """Return whether a collection contains objects rather than JSON."""
    items = source.values() if isinstance(source, dict) else source if isinstance(source, Iterable) else ()
    plain = (dict, list, tuple, str, int, float, bool, type(None))
    return any(not isinstance(item, plain) for item in items)


def _of_objects(kind: str, value: object, *, whole_module: bool) -> Given:
    from instrc.tools.python_objects import is_model, pydantic_objects, read_pydantic, read_smolagents, smolagents_objects

    objects = pydantic_objects if kind == "pydantic" else smolagents_objects
    if whole_module:
        own = [item for name, item in vars(value).items() if not name.startswith("_")]
        if kind == "pydantic":
            found = [item for item in own if is_model(item) and item.__module__ == getattr(value, "__name__", None)]
        else:
            found = [tool for item in own if getattr(item, "__module__", None) != "smolagents.tools" for tool in objects(item)]
    else:
        found = objects(value)
    read = read_pydantic if kind == "pydantic" else read_smolagents
    return read({id(item): item for item in found}.values())


class Folder:
    """The folder of a source, whose files it may refer to, including subfolders.  Each file is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Given | InstrcError] = {}

    def given(self, name: str) -> Given:
        """Return the content of a file, by its name relative to the folder; raise `CompileError` if it cannot be read."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._read_file(name)
        if isinstance(found, InstrcError):
            raise found
        return found

    def _read_file(self, name: str) -> Given | InstrcError:
        path = self._folder / name
        try:
            inside = path.resolve().is_relative_to(self._folder.resolve())  # a link may lead out of it
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            return CompileError([UnreadableFile(path=str(path), reason="it lies outside of the source's folder")])
        report = Report()
        try:
            text = read_text(str(path), report)
            return CompileError(report.problems) if text is None else _of_text(text)
        except InstrcError as error:
            return error


@takes_shared_parts
def import_tools(kind: str, source: object, *, results: Results = "leave") -> Imported:
    """Return the tools of a source as vibes.

        imported = instrc.import_tools("mcp", {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]})
        vibes = {vibe.name: vibe.document for vibe in imported.vibes}

    `kind` is `openai`, `anthropic`, `mcp`, `openapi`, `pydantic`, `smolagents`, `bfcl` or `taskbench`.
    `source` is a path or `-`, a `Source`, JSON as text or as Python values; for pydantic and smolagents also `module:Name`,
    `path/to/file.py:Name`, or the objects themselves.
    `results` says how to handle a tool's result: `leave` it out, an `output` property, or a separate `activity`.
    Bad input raises nothing: the problems describe the faults and their places.
    """
    arguments.known_word("results", results, get_args(Results))
    report = Report()
    try:
        given = read_source(known_kind(kind), source, report)
    except InstrcError as error:
        report.take(error)
        given = None
    if given is None:
        return Imported((), report.once())
    return sound_vibes(read_tools(kind, given, results))
