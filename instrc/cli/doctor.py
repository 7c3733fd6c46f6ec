"""`instrc doctor`: what is installed, and which settings and roots count here."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from pathlib import Path

import typer

from instrc.cli.options import Roots, Shared
from instrc.cli.show import Format, show, verdict
from instrc.cli.terminal import write_report
from instrc.lint.settings_names import idle_entries
from instrc.problems.problem import CompileError
from instrc.version import __version__
from instrc.vibes.context import ProjectContext

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?([^;]*)(?:;(.*))?")
_BOUND = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")
_EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")


def command(root: Roots = None, shared: Shared = None) -> None:
    """Show the installed version, the extras that work, and settings.

    Also the folders of vibes in use, and why.
    """
    write_report(f"instrc {__version__} in {Path(__file__).parent.parent}\n")
    write_report(f"Python {platform.python_version()} in {sys.executable}, {platform.system()} {platform.machine()}\n\n")
    for line in _extras():
        write_report(f"{line}\n")
    try:
        project = ProjectContext([Path(each) for each in root or ()], [Path(each) for each in shared or ()])
        settings = project.settings(None)
        write_report(f"\nsettings: {settings.file or 'none: there is no pyproject.toml here or above'}\n")
        if settings.file is not None and settings == type(settings)(file=settings.file):
            write_report("  it has no table [tool.instrc], so everything is as usual\n")
        registry = project.registry(None)
    except CompileError as error:
        show(error.problems, Format.TEXT)
        raise typer.Exit(verdict(error.problems)) from None
    write_report("\nroots, the first that has a name wins:\n")
    given = {Path(each) for each in (*(root or ()), *(shared or ()))}
    for each in registry.roots:
        why = (
            "given by --root or --shared"
            if each.path in given
            else "a setting"
            if each.path in {*settings.roots, *settings.shared}
            else "beside what is compiled"
            if each.path == Path("schemas")
            else "built in"
        )
        count = sum(1 for _ in each.uris())
        state = "" if each.path.is_dir() else ", but it is not a folder"
        write_report(f"  {each.path.as_posix()}  {count} vibe{'' if count == 1 else 's'}, {why}{state}\n")
    show(tuple(idle_entries(settings, registry)), Format.TEXT)
    write_report(f"\nlock: {project.lock_place(None)}{'' if project.lock_place(None).is_file() else ' (not there)'}\n")
    for program, use in (("git", "check --dependents sees deleted vibes"), ("chromium", "our own tests look at pictures in it")):
        write_report(f"{program}: {shutil.which(program) or f'not found; with it {use}'}\n")


def _extras() -> list[str]:
    """Return a line for each extra: which of its packages are there."""
    from importlib import metadata  # the help of all commands does without it

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
    return f"{name} {version}{_unfit(version, wanted)}"


def _unfit(version: str, wanted: str) -> str:
    """Say why a version that is installed is not one that is wanted."""
    for operator, bound in _BOUND.findall(wanted):
        if operator == ">=" and _release(version) < _release(bound):
            return f" is too old (it must be {bound} or newer)"
        if operator == "<" and _release(version) >= _release(bound):
            return f" is too new (it must be older than {bound})"
    return ""


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, so that `2`, `2.0` and `2.0.0` are equal."""
    numbers = [int(part) for part in version.split(".") if part.isdecimal()]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
