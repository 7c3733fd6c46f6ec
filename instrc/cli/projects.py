"""The commands about projects: `init`, `new`, `lock`, `doctor`."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from instrc import problems
from instrc.cli.options import FolderGroup, ProblemFormat, refuse_use
from instrc.cli.output import FINE, PROBLEMS, Format, formatted_files, report_written, show, try_to_write, verdict
from instrc.cli.terminal import write_error, write_report
from instrc.compiler.scaffold import PROGRAM, SETTINGS, new, project, with_table
from instrc.compiler.workspace import Workspace, idle_entries
from instrc.problems.errors import InstrcError
from instrc.problems.files import FileExists
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.problems.suggest import comparison_key
from instrc.text.arguments import excerpt
from instrc.text.files import is_regular, read_whole
from instrc.text.names import file_name
from instrc.text.source import Source
from instrc.text.visible import visible
from instrc.version import __version__
from instrc.vibes.find_files import find_files
from instrc.vibes.lock import Lock, Locked, lock_text, place_in_lock, read_lock
from instrc.vibes.packages import package_roots, unusable_entry_points
from instrc.vibes.project import Project, ProjectContext
from instrc.vibes.roots import ENDING
from instrc.vibes.settings import read_settings


def write_new(files: Mapping[Path, str], shape: Format, *, replacing: Collection[Path] = (), way_out: str = "") -> int:
    """Write all files or none, report them, and return the exit code; an existing file is a problem.

    `way_out` is the hint for that case.
    """
    found: list[Problem] = [
        problems.files.FileExists(at=Source(path.as_posix(), "").whole(), path=path.as_posix(), way_out=way_out)
        for path in files
        if path not in replacing and os.path.lexists(path)
    ]
    if not found:
        found += try_to_write(formatted_files(files))
    if not found:
        report_written(files, shape)
    show(found, shape)
    return PROBLEMS if found else FINE


def init_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; by default the current one.")] = Path(),
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Create a project: a program, its vibes, cases and settings.

    Nothing is overwritten.

    The table [tool.instrc] is added to an existing pyproject.toml.
    """
    files = {folder / path: text for path, text in project().items()}
    kept = [path for path in files if _may_stay(path)]
    replaced: list[Path] = []
    for path in kept:
        joined = _with_table(path) if path.name == SETTINGS else None
        if joined is None:
            del files[path]
        else:
            files[path] = joined
            replaced.append(path)
    way_out = "the project is there already: `instrc new instruction NAME` adds an instruction to it"
    code = write_new(files, shape, replacing=replaced, way_out=way_out)
    if code == FINE and shape is Format.TEXT:
        for path in kept:
            if path not in replaced:
                write_error(f"kept {path.as_posix()} as it is\n")
        write_error(f"next: {'' if folder == Path() else f'cd {_in_shell(folder)} && '}instrc compile {PROGRAM}\n")
    raise typer.Exit(code)


def _may_stay(path: Path) -> bool:
    """Return whether an existing file may be kept: settings of other tools, but not our program and its vibes."""
    return (path.name == SETTINGS or path.name.startswith(".") or path.parent.name.startswith(".")) and is_regular(str(path))


def _with_table(path: Path) -> str | None:
    """Return the project's settings with our table appended, or `None` to leave them unchanged."""
    try:
        return with_table(read_whole(str(path)).decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _in_shell(folder: Path) -> str:
    """Return a path quoted for a shell."""
    path = folder.as_posix()
    path = f"./{path}" if path.startswith("-") else path  # otherwise it would be an option
    if os.name == "nt":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)


_WAY_OUT = "programs would find both by this name: choose another one, or remove the file"


def new_command(
    kind: Annotated[
        Literal["instruction", "mixin", "process"], typer.Argument(metavar="KIND", help="instruction, mixin or process.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="For example FindSlot, Send_Activity or mail/FindSlot.")],
    root: Annotated[
        Path | None, typer.Option("--root", metavar="DIR", help="The folder of vibes; by default the first of the project.")
    ] = None,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Create an instruction, a mixin or a process.

    Instructions and mixins are vibes, processes are programs; nothing is overwritten.
    """
    roots = read_settings(Path()).roots if root is None else (root,)
    files = new(kind, name, roots[0].as_posix() if roots else "schemas")
    if files is None:
        refuse_use(f"{excerpt(name)} cannot be a name: each of its parts needs letters or digits")
    for part in (*name.replace("\\", "/").split("/")[:-1], *(Path(path).name for path in files)):
        if file_name(part) != part:
            plain = "x" * len(part.encode("utf-8", "surrogatepass"))  # and without other characters that a file system rejects
            reason = f"no file can be called `{part}` on Windows" if file_name(plain) == plain else "it is too long for a file"
            refuse_use(f"{excerpt(name)} cannot be a name: {reason}")
    if alike := [problem for path in files for problem in _found_by_the_same_name(Path(path))]:
        show(alike, shape)
        raise typer.Exit(verdict(alike))
    raise typer.Exit(write_new({Path(path): text for path, text in files.items()}, shape))


def _found_by_the_same_name(path: Path) -> list[Problem]:
    """Return a problem for each vibe next to a new one that programs look up by the same name: `Find` next to `find`."""
    if not path.name.endswith(ENDING) or path.exists():
        return []
    name = comparison_key(path.name.removesuffix(ENDING))
    return [
        FileExists(at=Source(other.as_posix(), "").whole(), path=other.as_posix(), way_out=_WAY_OUT)
        for other in sorted(path.parent.glob(f"*{ENDING}"))
        if comparison_key(other.name.removesuffix(ENDING).partition("@")[0]) == name
    ]


def lock_command(
    folders: FolderGroup,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Programs, vibes and folders; by default the current folder.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if the lock is out of date.")] = False,
    shape: ProblemFormat = Format.TEXT,
) -> None:
    """Write aug.lock: version and digest of each vibe in use.

    In use are the vibes that programs and vibes refer to.

    The file is next to the pyproject.toml of the project; each project in a folder has its own. `instrc compile --locked` uses
    exactly these vibes.
    """
    report = Report()
    try:
        locks = _locks_of(folders.project, paths or ["."], report)
        found = [problem for problem in report.once() if problem.severity == "error"]
        if not found:
            found = [problem for lock in locks for problem in (_stale(lock) if check else _write(lock, shape))]
    except InstrcError as error:
        found = list(error.problems)
    show(found, shape)
    raise typer.Exit(verdict(found))


def _locks_of(project: Project, paths: list[str], report: Report) -> list[Lock]:
    """Return the lock of each project that files belong to; if there are several, only non-empty ones."""
    workspace = Workspace(project)
    projects: dict[Path, list[str]] = {}
    for path in find_files(paths, report):
        projects.setdefault(workspace.lock_place(path), []).append(path)
    locks: list[Lock] = []
    for place, files in projects.items():
        own = Workspace(project)  # it contains what these files refer to, and nothing else
        for path in files:
            own.check(path, report)
        locks.append(own.lock(place))
    kept = [lock for lock in locks if lock.entries or lock.path.exists()]
    return kept or locks[:1] or [workspace.lock(workspace.lock_place("-"))]


def _stale(lock: Lock) -> list[Problem]:
    """Return the entries of the lock on disk that differ from the current ones."""
    name = lock.path.as_posix()
    text = lock_text(lock.path)
    if text is None:
        return [
            problems.files.UnreadableFile(
                at=Source(name, "").whole(), path=name, reason="there is no such file: `instrc lock` writes it"
            )
        ]
    before = read_lock(lock.path, text)
    source = Source(name, text)
    old, new = _by_reference(before), _by_reference(lock)
    found: list[Problem] = []
    for reference in sorted({*old, *new}):
        was, now = old.get(reference, {}), new.get(reference, {})
        gone, come = sorted({*was} - {*now}), sorted({*now} - {*was})
        reasons = [(file, f"`{file}` has changed") for file in sorted({*was} & {*now}) if was[file] != now[file]]
        if len(gone) == len(come) == 1:
            reasons.append((gone[0], f"it now finds `{come[0]}`, not `{gone[0]}`"))
        else:
            reasons += [(file, f"nothing refers to `{file}` by it any more") for file in gone]
            reasons += [(next(iter(was), ""), f"`{file}` is not in it") for file in come]
        for file, said in reasons:
            at = place_in_lock(source, reference, file)
            found.append(problems.settings.StaleLock(at=at, reference=reference, reason=said))
    return found


def _by_reference(lock: Lock) -> dict[str, dict[str, Locked]]:
    """Return the entries of a lock by reference, then by file."""
    found: dict[str, dict[str, Locked]] = {}
    for entry in lock.entries:
        found.setdefault(entry.reference, {})[entry.file] = entry
    return found


def _write(lock: Lock, shape: Format) -> list[Problem]:
    found = try_to_write({lock.path: lock.text()})
    if not found:
        report_written([lock.path], shape)
    return found


_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?([^;]*)(?:;(.*))?")
_EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")


def models_command() -> None:
    """Show the request forms of models, and the refused ones.

    Known forms have a source and a date. Refusals met here are
    remembered for 30 days; `instrc doctor --forget` clears it.
    """
    from instrc.runtime.models.catalogue import ADAPTERS, adapter_of  # the other commands here call no model
    from instrc.runtime.models.forms import FORMS, KNOWN_MODELS  # as above

    write_report("forms, in the order in which they are tried:\n")
    for form, meaning in FORMS.items():
        kinds = [kind for kind in ADAPTERS if form in adapter_of(kind).forms]
        write_report(f"  {form:7} {meaning}: {', '.join(kinds)}\n")
    write_report("\nknown to be refused:\n")
    for row in KNOWN_MODELS:
        when = " unless thinking is off" if row.thinking == "unless off" else " if thinking is asked for"
        write_report(f"  {row.kinds}:{row.models}  {', '.join(sorted(row.refuses))}{when} ({row.source}, {row.date})\n")
    for line in _refusals() or ["refused here: nothing"]:
        write_report(f"{line}\n")


def _refusals() -> list[str]:
    """Return a line for each form that a provider has refused in this project."""
    from instrc.runtime.models.database import MODELS_FILE  # the other commands here call no model
    from instrc.runtime.models.forms import refusals  # as above

    lines = [
        f"  {visible(item.model)}  {item.form}, on {datetime.fromtimestamp(item.at, UTC):%Y-%m-%d}: {visible(item.said)}"
        for item in refusals(Path(MODELS_FILE))
    ]
    return ["refused here (`instrc doctor --forget` clears it):", *lines] if lines else []


def doctor_command(
    folders: FolderGroup,
    forget: Annotated[bool, typer.Option("--forget", help="Forget which request formats models have rejected.")] = False,
) -> None:
    """Show the installed version, the usable extras, and settings.

    Also which providers have a key here, and the folders of vibes in use, and
    why.
    """
    if forget:
        from instrc.runtime.models.database import MODELS_FILE  # the other commands here call no model
        from instrc.runtime.models.forms import forget as forget_refusals  # as above

        write_report(f"forgotten: {forget_refusals(Path(MODELS_FILE))} refused\n")
    write_report(f"instrc {__version__} in {Path(__file__).parent.parent}\n")
    write_report(f"Python {platform.python_version()} in {sys.executable}, {platform.system()} {platform.machine()}\n\n")
    for line in (*_extras(), *_providers(), *_refusals()):
        write_report(f"{line}\n")
    project = ProjectContext(folders.project)
    settings = project.settings(None)
    write_report(f"\nsettings: {settings.file or 'none: there is no pyproject.toml here or above'}\n")
    if settings.file is not None and settings == type(settings)(file=settings.file):
        write_report("  it has no table [tool.instrc], so everything is as usual\n")
    registry = project.registry(None)
    write_report("\nroots, the first that has a name wins:\n")
    given = {Path(each) for each in (*(folders.root or ()), *(folders.shared or ()))}
    for each in registry.roots:
        why = (
            "given by --root or --shared"
            if each.path in given
            else "a setting"
            if each.path in {*settings.roots, *settings.shared}
            else "beside what is compiled"
            if each.path == Path("schemas")
            else "of an installed package"
            if each.path in package_roots()
            else "built in"
        )
        count = sum(1 for _ in each.uris())
        state = "" if each.path.is_dir() else ", but it is not a folder"
        write_report(f"  {each.path.as_posix()}  {count} vibe{'' if count == 1 else 's'}, {why}{state}\n")
    for point in unusable_entry_points():
        write_report(
            f"  the entry point `{point}` of a package brings nothing: it names no folder that contains `{point.split()[0]}`\n"
        )
    show(tuple(idle_entries(settings, registry)), Format.TEXT)
    from instrc.engines.stores import SERVICE_FILE, USUAL_FOLDER, exposed  # the other commands here know no store

    for line in exposed(store := Path(USUAL_FOLDER), signs=(store / SERVICE_FILE).is_file()):
        write_report(f"\nwarning: {line}\n")
    write_report(f"\nlock: {project.lock_place(None)}{'' if project.lock_place(None).is_file() else ' (not there)'}\n")
    for program, use in (("git", "check --dependents sees deleted vibes"), ("chromium", "our own tests look at pictures in it")):
        write_report(f"{program}: {shutil.which(program) or f'not found; with it {use}'}\n")


def _extras() -> list[str]:
    """Return a line for each extra, with its installed packages."""
    from importlib import metadata  # not needed for the help of commands

    try:
        required = metadata.requires("instrc") or []
    except metadata.PackageNotFoundError:
        return ["extras: unknown, as instrc runs without being installed"]
    by_extra: dict[str, list[str]] = {}
    for requirement in required:
        found = _REQUIREMENT.match(requirement)
        extra = _EXTRA.search(requirement)
        if found and (extra is None or extra[1] != "dev"):
            by_extra.setdefault(extra[1] if extra else "", []).append(_package(found[1], found[2].strip()))
    width = max(map(len, by_extra), default=0)
    lines = ["packages:", *(f"  {line}" for line in by_extra.pop("", []))]
    return [*lines, "extras:", *(f"  {extra:{width}}  {', '.join(packages)}" for extra, packages in sorted(by_extra.items()))]


def _package(name: str, wanted: str) -> str:
    from importlib import metadata  # as above

    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is not installed ({wanted.strip('() ') or 'any version'})"
    return f"{name} {version}"


def _providers() -> list[str]:
    """Return a line for each model provider: whether the environment has its key, and the location of its server."""
    from instrc.runtime.models.catalogue import ADAPTERS, adapter_of  # the other commands here call no model

    width = max(map(len, ADAPTERS))
    lines = ["models, and the variables of the environment they go by:"]
    for kind, adapter in ((kind, adapter_of(kind)) for kind in ADAPTERS):
        usual = f" ({adapter.usual_url})" if adapter.usual_url else ""
        names = {adapter.key: "", adapter.url: usual}
        said = (f"{name} is {'set' if os.environ.get(name) else f'not set{usual}'}" for name, usual in names.items() if name)
        lines.append(f"  {kind:{width}}  {', '.join(said)}")
    return lines
