"""Programs and vibes on disk: find the registry and settings of each, compile and check it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from instrc import problems
from instrc.compiler.lint.letters import misleading
from instrc.problems.errors import CompileError, InstrcError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key, nearest
from instrc.text.files import is_regular
from instrc.text.limits import FLAT_SCHEMAS, PROGRAM_BYTES
from instrc.text.source import Source
from instrc.vibes.find_files import STDIN, read_bytes, readable, shown_path, tuned_file
from instrc.vibes.project import DEFAULT_PROJECT, Project, ProjectContext
from instrc.vibes.registry import Registry
from instrc.vibes.roots import Root
from instrc.vibes.settings import Naming, Settings
from instrc.vibes.settings_places import entry_place, readable_path
from instrc.vibes.uri import evergreen_of

if TYPE_CHECKING:
    from instrc.compiler.ir import Artefact, CompileOptions, FlatGraph
    from instrc.compiler.tuned import TunedForm
    from instrc.vibes.lock import Lock, Locked
    from instrc.vibes.registry import Registry


def check_files(files: Sequence[str], project: Project = DEFAULT_PROJECT) -> list[Problem]:
    """Return the problems of programs and vibes."""
    workspace, report = Workspace(project), Report()
    workspace.check_settings(files, report)
    for file in files:
        workspace.check(file, report)
    return report.problems


class OptionOverrides(Struct, frozen=True, kw_only=True):
    """The compiler options of a run; `None` leaves an option to the project's settings, then to the default."""

    naming: Naming | None = None
    hints: bool = True
    batch: int = 1
    sketch: bool = False
    change: Callable[[FlatGraph], FlatGraph] | None = None
    """As in `CompileOptions`."""
    model: str | None = None
    """Model to use in place of the project's: a form from `instrc tune` is for one model."""
    tuned: bool = True
    """Whether to use the form chosen by `instrc tune`, before any `change`."""


class Workspace:
    """Compiles and checks files; those with the same surroundings share one registry, so each vibe is read once.

    Raises `CompileError` if one of the project's roots does not exist.
    `unsaved` are texts open in an editor, by real path, that replace the files.
    """

    def __init__(self, project: Project = DEFAULT_PROJECT, *, unsaved: Mapping[str, str] | None = None) -> None:
        self._unsaved = {} if unsaved is None else unsaved
        self._checked: list[str] = []
        """Programs whose forms belong into a lock."""
        generated = partial(_python_roots, renew=unsaved is None)  # an editor must not run the files that it opens
        self._project = ProjectContext(project, unsaved=self._unsaved, generated=generated)

    def lock(self, place: Path) -> Lock:
        """Return the lock of all lookups so far, for a lock file at the given place."""
        from instrc.vibes.lock import lock_of

        lock = lock_of(place, (each for registry in self._project.registries() for each in registry.resolved()))
        forms = [form for path in self._checked if (form := _locked_form(path, place.parent)) is not None]
        return structs.replace(lock, entries=tuple(sorted({*lock.entries, *forms}))) if forms else lock

    def lock_place(self, path: str) -> Path:
        """Return the path of a program's lock."""
        return self._project.lock_place(_place(path))

    def registry(self, path: str) -> Registry:
        """Return the registry visible to a file or to standard input."""
        return self._project.registry(_place(path))

    def settings_file(self, path: str) -> Path | None:
        """Return the `pyproject.toml` that applies to a file."""
        return self._project.settings(_place(path)).file

    def files(self, path: str) -> Callable[[], list[Path]]:
        """Return a function that lists the files a program may depend on: itself, its settings, the vibes of its roots."""
        place = _place(path)
        settings = self._project.settings(place).file
        folders = [root.path for root in self.registry(path).roots]
        own = [each for each in (place, settings) if each is not None]
        tuned = [] if place is None else [tuned_file(place)]
        return lambda: [
            *own,
            *(file for file in tuned if is_regular(str(file))),
            *(file for folder in folders for file in sorted(Root(folder, shared=False).files())),
        ]

    def compile(self, program: str | Source, overrides: OptionOverrides, report: Report) -> tuple[Artefact, ...]:
        """Return the artefacts of a program or vibe, given as a path, `-`, or a text with the name it would have as a file.

        A mistake in it is reported, and no documents are returned.
        """
        name = program.name if isinstance(program, Source) else shown_path(program)
        with _own_report(report, name) as found:
            return self._compile(program, overrides, found)
        return ()

    def check(self, path: str | Source, report: Report) -> None:
        """Report the problems of a program or a vibe, or of a text that is a program."""
        if isinstance(path, str):
            self._checked.append(path)
        with _own_report(report, path.name if isinstance(path, Source) else path) as found:
            if isinstance(path, str) and path.endswith(VIBE_ENDING):
                self._review(path, found)
            else:
                self._check(path, found)

    def check_memory(self, report: Report) -> None:
        """Report the problems of in-memory vibes."""
        from instrc.compiler.lint.review import review  # as in `_review`
        from instrc.vibes.roots import MemoryRoot  # files have none

        registry, settings = self._project.registry(None), self._project.settings(None)
        for uri in (uri for root in registry.roots if isinstance(root, MemoryRoot) for uri in root.each()):
            with _own_report(report, uri) as found:
                review(registry.load(uri), registry, found, settings.keywords, templates=settings.templates)

    def check_settings(self, paths: Sequence[str], report: Report) -> None:
        """Report the entries of some files' settings that match no vibe, each settings file once."""
        seen: set[Path] = set()
        first_of_folder: dict[str, str] = {}
        for path in paths:
            first_of_folder.setdefault(os.path.dirname(path), path)  # noqa: PTH120  -- a string, for speed: this runs for each file
        for path in first_of_folder.values():
            place = _place(path)
            try:
                settings = self._project.settings(place)
                if settings.file is None or settings.file in seen or not (settings.models or settings.checks):
                    continue
                seen.add(settings.file)

                report.problems.extend(idle_entries(settings, self._project.registry(place)))
            except (InstrcError, OSError):  # reported where the file is checked
                continue

    def _check(self, program: str | Source, report: Report) -> None:
        from instrc.compiler import driver  # the whole of it is loaded only here

        place = _place(program)
        source = program if isinstance(program, Source) else self._read(program, place, report)
        if source is not None:
            options = self._options(place, OptionOverrides())
            driver.check_source(source, self._project.registry(place), options, report, stem=_stem(place))
            report.problems.extend(misleading(source))  # where it has no mistakes: an editor shows those at once

    def _compile(self, program: str | Source, overrides: OptionOverrides, report: Report) -> tuple[Artefact, ...]:
        from instrc.compiler import driver  # the whole of it is loaded only here

        place = _place(program)
        stem = _stem(place)
        if isinstance(program, str) and program.endswith(VIBE_ENDING):
            if not readable(program, report):
                return ()
            registry = self._project.registry(place)
            vibe = registry.open(Path(program))
            return driver.compile_vibe(vibe, registry, self._options(place, overrides), report, stem=stem)
        source = program if isinstance(program, Source) else self._read(program, place, report)
        if source is None:
            return ()
        registry, options = self._project.registry(place), self._options(place, overrides)
        form = self._tuned(source, place, overrides, report)
        if form is None:
            return driver.compile_source(source, registry, options, report, stem=stem)
        then = options.change or (lambda flat: flat)
        options = structs.replace(options, change=lambda flat: then(form.change(flat)))
        artefacts = driver.compile_source(source, registry, options, report, stem=stem)
        return tuple(structs.replace(each, words=form.words) if each.name == form.tuned.export else each for each in artefacts)

    def _tuned(self, source: Source, place: Path | None, overrides: OptionOverrides, report: Report) -> TunedForm | None:
        """Return the form that `instrc tune` chose for a program."""
        if place is None or not overrides.tuned or not source.name.endswith(".aug") or not is_regular(str(tuned_file(place))):
            return None
        from instrc.compiler.tuned import TunedForm, read_tuned  # few programs are tuned

        if (lock := self._project.registry(place).lock) is not None:
            _require_locked(source.name, lock)
        tuned = read_tuned(source.name, report)
        model = overrides.model or self._project.settings(place).run.get("model")
        return None if tuned is None else TunedForm(tuned, source, model, report)

    def _review(self, path: str, report: Report) -> None:
        from instrc.compiler.lint.review import review  # imports the schema checks

        place = Path(path)
        registry = self._project.registry(place)
        try:
            vibe = registry.open(place)
        except InstrcError:
            if self._text(path) is None and not readable(path, report):  # checked last, as it reads the file once more
                return
            raise
        report.problems.extend(misleading(vibe.source))
        settings = self._project.settings(place)
        review(vibe, registry, report, settings.keywords, templates=settings.templates)
        if not path.endswith(".vibe.json"):
            report.add(problems.vibes.UnfindableVibe(at=vibe.source.whole(), file=place.name))

    def _read(self, path: str, place: Path | None, report: Report) -> Source | None:
        from instrc.language.lexer import decode_source

        limit = self._project.settings(place).limits.get("source", PROGRAM_BYTES)
        text = self._text(path)
        data = read_bytes(path, limit, report) if text is None else text.encode("utf-8", "surrogatepass")
        return None if data is None else decode_source(shown_path(path), data, report, limit)

    def _text(self, path: str) -> str | None:
        return self._unsaved.get(os.path.realpath(path)) if self._unsaved and path != STDIN else None

    def _options(self, place: Path | None, overrides: OptionOverrides) -> CompileOptions:
        from instrc.compiler.ir import CompileOptions

        settings = self._project.settings(place)
        return CompileOptions(
            naming=overrides.naming or settings.naming or "step",
            hints=overrides.hints,
            sentences=settings.sentences,
            batch=overrides.batch,
            sketch=overrides.sketch,
            limit=settings.limits.get("schema", FLAT_SCHEMAS),
            keywords=settings.keywords,
            templates=settings.templates,
            change=overrides.change,
        )


@contextmanager
def _own_report(report: Report, file: str) -> Iterator[Report]:
    """Give a file a report of its own, so that its mistakes do not stop the next; name the file in internal errors."""
    found = Report()
    try:
        yield found
    except InstrcError as error:
        found.take(error)
    except Exception as error:
        error.add_note(f"(in {file})")
        raise
    finally:
        report.problems.extend(found.problems)


def _locked_form(program: str, folder: Path) -> Locked | None:
    """Return the lock entry for the form of a program, or `None` if it has none."""
    file = tuned_file(Path(program))
    if not program.endswith(".aug") or not is_regular(str(file)):
        return None
    from hashlib import sha256

    from instrc.vibes.lock import Locked

    place = Path(os.path.relpath(file.absolute(), folder.absolute())).as_posix()
    return Locked(place, "", place, sha256(file.read_bytes()).hexdigest())


def _require_locked(program: str, lock: Lock) -> None:
    """Raise `CompileError` unless the form of a program matches its lock."""
    form = _locked_form(program, lock.path.parent)
    known = {} if form is None else {entry.reference: entry.sha256 for entry in lock.entries}
    if form is not None and form.reference not in known:
        raise CompileError([problems.settings.NotLocked(reference=form.reference, lock=lock.path.as_posix())])
    if form is not None and known[form.reference] != form.sha256:
        raise CompileError([problems.settings.StaleLock(reference=form.reference, reason="the file has changed")])


VIBE_ENDING = ".json"
"""Extension of a vibe file; other files are programs."""


def _python_roots(settings: Settings, *, renew: bool) -> tuple[Path, ...]:
    if not settings.python:
        return ()
    from instrc.compiler.python_vibes import python_roots  # few projects have modules

    return python_roots(settings, renew=renew)


def _place(program: str | Source) -> Path | None:
    """Return the path of a program, given as a path or as a text with a name, or `None` for standard input."""
    name = program.name if isinstance(program, Source) else program
    return None if name in {STDIN, shown_path(STDIN)} else Path(name)


def _stem(place: Path | None) -> str:
    """Return the name of a program that does not name itself: its file name without the extension."""
    if place is None:
        return "stdin"
    name = place.name
    return next((name.removesuffix(ending) for ending in (".aug", ".vibe.json", ".json") if name.endswith(ending)), name)


def idle_entries(settings: Settings, registry: Registry) -> Iterator[Problem]:
    """Yield the entries of the settings that match no vibe visible to the registry.

    A check may also be for a key written manually in a program, so for checks only names similar to a vibe's are reported.
    """
    if settings.file is None or not (settings.models or settings.checks):
        return
    names = registry.names()
    paths = [evergreen_of(uri).removeprefix("aug:").strip("/") for uri in registry.uris()]
    known = {comparison_key(name) for name in names}
    entries = [("models", pattern) for pattern in settings.models] + [("checks", name) for name in settings.checks]
    for table, entry in entries:
        place = entry.removeprefix("aug:").strip("/")
        there = known if "/" not in place else {comparison_key(path) for path in paths}
        if any(fnmatchcase(name, comparison_key(place)) for name in there):
            continue
        close = nearest(place, names if "/" not in place else tuple(paths))
        if close or table == "models":
            name = readable_path(settings.file).as_posix()
            at = entry_place(Source(name, settings.file.read_text("utf-8-sig", errors="replace")), entry)
            yield problems.settings.IdleSetting(at=at, table=table, entry=entry, nearest=close)
