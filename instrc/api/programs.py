"""The public functions for programs: compile and check them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from instrc import problems
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.problems.errors import CompileError, CompileWarning, InstrcError, SettingsError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.text import arguments
from instrc.text.arguments import TEXT_NAME, ProgramInput, source_or_path, takes_plain_values
from instrc.text.callers import warn_caller
from instrc.text.jsonvalue import Json, JsonObject
from instrc.text.names import free_name
from instrc.text.source import Source
from instrc.vibes.find_files import find_files, is_there, unreadable
from instrc.vibes.project import Project
from instrc.vibes.settings import NAMING, Naming

if TYPE_CHECKING:
    import referencing

    from instrc.compiler.ir import Artefact, Emit
    from instrc.compiler.resolve import InMemory

AnyPath: TypeAlias = str | os.PathLike[str]
BATCH_ITEMS: Final = 10_000
"""Maximum items of one batch."""


@takes_plain_values
def compile(  # noqa: A001  -- `instrc.compile` is its name; nothing here compiles Python
    program: ProgramInput,
    *,
    emit: Emit | Literal["auto"] = "auto",
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Naming | None = None,
    hints: bool = True,
    batch: int = 1,
    sketch: bool = False,
    locked: bool = False,
    report: Report | None = None,
) -> list[JsonObject]:
    """Return one JSON document per export of a program, in order.

        program = '"Write a letter" | Introspect_Mixin(Draft)'
        [tool] = instrc.compile(program, vibes={"Draft": {"type": "object", "properties": {"text": {"type": "string"}}}})

    `program` is a path if it is an `os.PathLike` or a single-line text ending in `.aug` or `.json`, otherwise the text itself.
    `emit` selects the document: `tool`, `result`, `flat`, `process`, `call`, or the default one (`auto`).
    `vibes` are in-memory instructions by name: JSON Schemas, pydantic models, dataclasses, `TypedDict`s, annotated
    functions, and tools in the formats of OpenAI, Anthropic, MCP, Gemini and others.  A list of classes and functions uses their
    names, `vibes=[Draft]`, or those set by `instrc.instruction`.
    `roots` and `shared` are registry folders in addition to the project's; `naming` defaults to the project's.
    With `locked`, a reference that differs from the project's `aug.lock`, or is missing in it, is a problem.
    `CompileError` contains all problems; warnings of a compiled program go to the `report`, or become Python warnings
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
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Naming | None = None,
    hints: bool = True,
    batch: int = 1,
    sketch: bool = False,
    locked: bool = False,
    report: Report | None = None,
) -> tuple[Artefact, ...]:
    """Return all documents of each export of a program, with their names and titles.

        [artefact] = instrc.artefacts('@{ title: "Draft", type: "object" }')
        assert artefact.documents["tool"]["title"] == "Draft"

    The arguments are those of `compile`.
    """
    _refuse(naming, batch)
    for name, value in (("hints", hints), ("sketch", sketch), ("locked", locked)):
        arguments.truth(name, value)
    told = None if report is None else arguments.instance("report", report, Report, "an `instrc.Report`")
    found = Report()  # for this program alone: mistakes of earlier ones do not stop it
    overrides = OptionOverrides(naming=naming, hints=hints, batch=batch, sketch=sketch)
    workspace = Workspace(project_of(roots, shared, vibes, found, locked=locked))
    compiled = workspace.compile(source_or_path(program), overrides, found)
    if told is not None:
        told.problems.extend(found.problems)
    found.stop_if_failed()
    if told is None:
        _warn(found)
    return compiled


def _refuse(naming: object, batch: object) -> None:
    """Raise `SettingsError` for invalid options."""
    found = Report()
    if not isinstance(batch, int) or isinstance(batch, bool) or not 1 <= batch <= BATCH_ITEMS:
        wanted = f"a whole number from 1 to {BATCH_ITEMS:,}"
        found.add(problems.settings.InvalidOption(option="batch", given=arguments.excerpt(batch), wanted=wanted))
    if naming is not None and NAMING.read(naming) is None:
        wanted = '`"step"`, `"camel"` or `"plain"`'
        found.add(problems.settings.InvalidOption(option="naming", given=arguments.excerpt(naming), wanted=wanted))
    found.stop_if_failed(SettingsError)


@takes_plain_values
def types(
    program: ProgramInput,
    *,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    naming: Naming | None = None,
    batch: int = 1,
    partial: bool = False,
    locked: bool = False,
) -> str:
    """Return a Python module with typed classes: the model's answers, the steps, and the result of each export.

        Path("models.py").write_text(instrc.types("reply.aug"))

    The classes are pydantic models; `lift(...).as_model(AnswerALetter)` creates an instance.
    With `partial`, each has a second class, `PartialAnswerALetter`, whose members may be `None`, for `RunStream.values`.
    The other arguments are those of `compile`.  The generator needs the extra `types`.
    """
    report = Report()
    compiled = artefacts(
        program,
        vibes=vibes,
        roots=roots,
        shared=shared,
        naming=naming,
        hints=False,  # hints tell the model what a step reads, and are useless in a class
        batch=batch,
        locked=locked,
        report=report,
    )
    _warn(report)

    named = source_or_path(program)
    file = named.name if isinstance(named, Source) else os.path.basename(named)  # noqa: PTH119  -- the path as it was given
    return module_of(compiled, file, partial=arguments.truth("partial", partial))


def module_of(artefacts: Iterable[Artefact], source: str, *, partial: bool = False) -> str:
    """Return a module with the classes of each export: the model's answers per call, the steps, and the result.

    `source` is named in the first line.  `partial` adds classes of partial values.
    """
    documents: dict[str, tuple[dict[str, Json], Json]] = {}
    for artefact in artefacts:
        name = free_name(artefact.name, documents.__contains__)
        documents[name] = ({name: artefact.documents["tool"], **_later(artefact, name)}, artefact.documents["result"])
    from instrc.tools.python_classes import module, module_parts  # not needed by `compile`

    return module(f"Classes for {source}.", module_parts(documents, partial=partial))


def _later(artefact: Artefact, name: str) -> dict[str, Json]:
    """Return the chunks that the model completes after the entry of a process, by name."""
    if "process" not in artefact.documents:
        return {}
    from instrc.testing.preview import later_schemas  # imports the interpreter

    return {f"{name}_{chunk}": schema for chunk, schema in later_schemas(artefact).items()}


def _warn(report: Report) -> None:
    """Issue the warnings in a report as Python warnings, at the line that called the public function."""
    for problem in report.once():
        if problem.severity == "warning":
            warn_caller(CompileWarning(problem))


@takes_plain_values
def check(
    *paths: ProgramInput,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
    locked: bool = False,
) -> tuple[Problem, ...]:
    """Return the problems of programs, vibes and folders of both, sorted by file and place, without raising errors for them.

        for problem in instrc.check("programs", vibes={"Draft": {"type": "objekt"}}):
            print(problem)

    Each of `paths` is an existing file or folder, or a program as for `compile`: a `Source`, a path that ends in `.aug`
    or `.json`, or a text.
    `vibes` are in-memory instructions, as for `compile`: they are visible to the programs, and checked too.
    """
    report = Report()
    texts = [path if not isinstance(path, str) or os.path.exists(path) else source_or_path(path) for path in paths]  # noqa: PTH110  -- never raises
    sources = [each for each in texts if isinstance(each, Source)]
    places = arguments.paths("paths", [each for each in texts if not isinstance(each, Source)])
    arguments.truth("locked", locked)
    try:
        workspace = Workspace(project_of(roots, shared, vibes, report, locked=locked))
        if vibes:
            workspace.check_memory(report)
    except InstrcError as error:
        return error.problems
    files = find_files(places, report)
    for path in files:
        workspace.check(path, report)
    for source in sources:
        workspace.check(source, report)
    from instrc.engines.prepare import wrong_activities  # imports the runtime, which `compile` does not need

    report.problems += wrong_activities([*files, *(source.name for source in sources)])
    return report.once()


@takes_plain_values
def registry(
    path: AnyPath = ".",
    *,
    vibes: InMemory | None = None,
    roots: Iterable[AnyPath] = (),
    shared: Iterable[AnyPath] = (),
) -> referencing.Registry[Json]:
    """Return the vibes visible to a file or folder as a registry, with which validators resolve `aug:` references.

        registry = instrc.registry(vibes={"Draft": {"type": "object", "required": ["text"]}})
        assert not jsonschema.Draft202012Validator({"$ref": "aug:Draft"}, registry=registry).is_valid({})

    A vibe is read on first reference; nothing else is ever retrieved.
    `vibes` are in-memory instructions, as for `compile`: `aug:Draft` refers to the one named `Draft`.
    Raise `CompileError` if there is no such file or folder, or if an in-memory vibe has no schema.
    """
    place = arguments.path("path", path)
    if not is_there(place):
        raise CompileError([unreadable(place, "there is no such file or folder")])
    inside = os.path.join(place, TEXT_NAME) if os.path.isdir(place) else place  # noqa: PTH112, PTH118  -- any path of a caller's
    from instrc.vibes.retrieval import reference_registry  # imports the `referencing` library

    return reference_registry(Workspace(project_of(roots, shared, vibes, Report())).registry(inside))


def project_of(
    roots: Iterable[AnyPath],
    shared: Iterable[AnyPath],
    vibes: InMemory | None,
    report: Report,
    *,
    locked: bool = False,
) -> Project:
    """Return the project that these arguments of public functions describe; notes on the vibes go to the report."""
    memory = None
    if vibes is not None:
        from instrc.compiler.resolve import schemas_in_memory  # imports the readers of tools and types

        memory = schemas_in_memory(vibes, report)
    return Project(tuple(arguments.paths("roots", roots)), tuple(arguments.paths("shared", shared)), locked, memory)
