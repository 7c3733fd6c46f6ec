"""Compile and check from Python: what the commands of the same names do, as functions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from instrc import arguments, problems
from instrc.files import is_there, unreadable
from instrc.finding import find_files
from instrc.importing.vibes_in_memory import schemas_in_memory
from instrc.jsonvalue import Json, JsonObject
from instrc.limits.programs import BATCH_ITEMS
from instrc.plain_values import takes_plain_values
from instrc.problems.problem import CompileError, CompileWarning, Problem
from instrc.problems.report import Report
from instrc.source import Source
from instrc.workspace import OptionOverrides, Workspace

if TYPE_CHECKING:
    import referencing

    from instrc.ir.artefact import Artefact, Emit

AnyPath: TypeAlias = str | os.PathLike[str]
ProgramInput: TypeAlias = AnyPath | Source
"""A path of a program (`.aug`) or a vibe (`.json`), the text of a program, or a text with the name it would have as a file."""

TEXT_NAME = "program.aug"
"""The name of a text that has none, as if it were a file of the working folder."""
_PATH_ENDINGS = (".aug", ".json")


@takes_plain_values
def compile(  # noqa: A001  -- `instrc.compile` is its name; nothing here compiles Python
    program: ProgramInput,
    *,
    emit: Emit | Literal["auto"] = "auto",
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Literal["step", "camel"] | None = None,
    hints: bool = True,
    batch: int = 1,
    sketch: bool = False,
    locked: bool = False,
    report: Report | None = None,
) -> list[JsonObject]:
    """Return one JSON document for each export of a program, in order.

        program = '"Write a letter" | Introspect_Mixin(Draft)'
        [tool] = instrc.compile(program, vibes={"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}})

    `program` is a path if it is an `os.PathLike` or a text of one line that ends in `.aug` or `.json`, else the text itself.
    `emit` chooses the document: `tool`, `result`, `flat`, `process`, `call`, or the one that fits (`auto`).
    `vibes` are instructions from memory by name: JSON Schemas, models of pydantic, dataclasses, `TypedDict`s, annotated
    functions, and tools as OpenAI, Anthropic, MCP, Gemini and others write them.
    `roots` and `shared` are registry folders in addition to those of the project; `naming` is by default that of the project.
    With `locked`, a reference that differs from the project's `aug.lock`, or is not in it, is a problem.
    `CompileError` contains all problems; warnings of a program that compiles go to the `report`, or are Python warnings
    (`CompileWarning`) without one.
    """
    told = Report() if report is None else report
    compiled = artefacts(
        program,
        vibes=vibes,
        roots=roots,
        shared=shared,
        naming=naming,
        hints=hints,
        batch=batch,
        sketch=sketch,
        locked=locked,
        report=told,
    )
    if report is None:
        _warn(told)
    found = Report()
    documents = []
    arguments.text("emit", emit)
    for artefact in compiled:
        kind = artefact.kind if emit == "auto" else emit
        if kind in artefact.documents:
            documents.append(artefact.documents[kind])
        else:
            found.add(problems.calls.NoSuchDocument(asked=kind, program=artefact.name, present=tuple(artefact.documents)))
    found.stop_if_failed()
    return documents


@takes_plain_values
def artefacts(
    program: ProgramInput,
    *,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Literal["step", "camel"] | None = None,
    hints: bool = True,
    batch: int = 1,
    sketch: bool = False,
    locked: bool = False,
    report: Report | None = None,
) -> tuple[Artefact, ...]:
    """Return all documents of each export of a program, with its name and title.

        [artefact] = instrc.artefacts('@{ title: "Draft", type: "object" }')
        assert artefact.documents["tool"]["title"] == "Draft"

    The arguments are those of `compile`.
    """
    _refuse(naming, batch)
    for name, value in (("hints", hints), ("sketch", sketch), ("locked", locked)):
        arguments.truth(name, value)
    told = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    found = Report()  # of this program alone: what an earlier one did wrong does not stop it
    overrides = OptionOverrides(naming=naming, hints=hints, batch=batch, sketch=sketch)
    workspace = _workspace(roots, shared, schemas_in_memory(vibes, found), locked=locked)
    compiled = workspace.compile(_as_source_or_path(program), overrides, found)
    if told is not None:
        told.problems.extend(found.problems)
    found.stop_if_failed()
    if told is None:
        _warn(found)
    return compiled


def _warn(report: Report) -> None:
    """Show the warnings in a report as warnings of Python, at the line that called the public function."""
    for problem in report.once():
        if problem.severity == "warning":
            warnings.warn(CompileWarning(problem), stacklevel=4)  # the caller of the public function, which is wrapped


def _refuse(naming: object, batch: object) -> None:
    """Raise a `CompileError` for options that cannot be worked with."""
    found = Report()
    if not isinstance(batch, int) or isinstance(batch, bool) or not 1 <= batch <= BATCH_ITEMS:
        wanted = f"a whole number from 1 to {BATCH_ITEMS:,}"
        found.add(problems.settings.InvalidOption(option="batch", given=arguments.excerpt(batch), wanted=wanted))
    if naming is not None and not (isinstance(naming, str) and naming in {"step", "camel"}):
        found.add(
            problems.settings.InvalidOption(option="naming", given=arguments.excerpt(naming), wanted='`"step"` or `"camel"`')
        )
    found.stop_if_failed()


@takes_plain_values
def types(
    program: ProgramInput,
    *,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Literal["step", "camel"] | None = None,
    batch: int = 1,
    locked: bool = False,
) -> str:
    """Return a Python module with typed classes: what a model fills in, its steps, and the result of each export.

        Path("models.py").write_text(instrc.types("reply.aug"))

    The classes are pydantic models; `lift(...).as_model(AnswerALetter)` makes an instance of one.
    The arguments are those of `compile`.  The generator needs the extra `types`.
    """
    report = Report()
    compiled = artefacts(
        program,
        vibes=vibes,
        roots=roots,
        shared=shared,
        naming=naming,
        hints=False,  # what a step reads is for the model: nobody who reads a class can use it
        batch=batch,
        locked=locked,
        report=report,
    )
    _warn(report)
    from instrc.classes.programs import module_of  # the generator is an extra

    named = _as_source_or_path(program)
    file = named.name if isinstance(named, Source) else os.path.basename(named)  # noqa: PTH119  -- the path as it was given
    return module_of(compiled, file)


@takes_plain_values
def check(
    *paths: ProgramInput,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    locked: bool = False,
) -> tuple[Problem, ...]:
    """Return the problems of programs, vibes and folders of both, by file and place; no error is raised for them.

        for problem in instrc.check("programs", vibes={"Draft": {"type": "objekt"}}):
            print(problem)

    Each of `paths` is a file or a folder, or a text as for `compile`: a `Source`, or a text of several lines.
    `vibes` are instructions from memory, as for `compile`: the programs see them, and they are checked too.
    """
    report = Report()
    texts = [_as_source_or_path(path) if isinstance(path, str) and "\n" in path else path for path in paths]
    sources = [each for each in texts if isinstance(each, Source)]
    places = arguments.paths("paths", [each for each in texts if not isinstance(each, Source)])
    arguments.truth("locked", locked)
    try:
        workspace = _workspace(roots, shared, schemas_in_memory(vibes, report), locked=locked)
        if vibes:
            workspace.check_memory(report)
    except CompileError as error:
        return error.problems
    for path in find_files(places, report):
        workspace.check(path, report)
    for source in sources:
        workspace.check(source, report)
    return report.once()


@takes_plain_values
def registry(
    path: AnyPath = ".",
    *,
    vibes: Mapping[str, object] | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
) -> referencing.Registry[Json]:
    """Return the vibes that are visible to a file or a folder, as a registry with which validators follow `aug:` references.

        registry = instrc.registry(vibes={"Draft": {"type": "object", "required": ["text"]}})
        assert not jsonschema.Draft202012Validator({"$ref": "aug:Draft"}, registry=registry).is_valid({})

    A vibe is read when it is first referred to; nothing else is ever retrieved.
    `vibes` are instructions from memory, as for `compile`: `aug:Draft` refers to one that is called `Draft`.
    `CompileError` if there is no such file or folder, or a vibe from memory has no schema.
    """
    place = arguments.path("path", path)
    if not is_there(place):
        raise CompileError([unreadable(place, "there is no such file or folder")])
    inside = os.path.join(place, TEXT_NAME) if os.path.isdir(place) else place  # noqa: PTH112, PTH118  -- any path of a caller's
    memory = schemas_in_memory(vibes, Report())
    return _workspace(roots, shared, memory).registry(inside).reference_registry()


def _workspace(
    roots: Iterable[AnyPath], shared: Iterable[AnyPath], memory: Mapping[str, Json] | None = None, *, locked: bool = False
) -> Workspace:
    return Workspace(arguments.paths("roots", roots), arguments.paths("shared", shared), memory=memory, locked=locked)


def _as_source_or_path(program: ProgramInput) -> str | Source:
    if isinstance(program, Source):
        return program
    if isinstance(program, str) and ("\n" in program or not program.endswith(_PATH_ENDINGS)):
        return Source(TEXT_NAME, program)
    return arguments.path("program", program)
