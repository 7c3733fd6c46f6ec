"""Projects whose runs this process carries out: a run names its project, which may be in another folder than the run's."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from instrc.runtime.run_config import RunConfig
from instrc.text.files import TomlError, read_toml
from instrc.vibes.settings import read_settings, settings_file

_folders: Final[dict[str, Path]] = {}
"""Folders of projects on this machine, by name."""
_unnamed: Final[list[Path]] = []
_elsewhere: Final[set[str]] = set()
"""Projects whose runs are carried out in the folders where they began."""


def project_name(folder: Path) -> str | None:
    """Return the name of the project in a folder, `name` of `[project]` in its `pyproject.toml`, or `None`."""
    try:
        table = read_toml((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project")
    except (OSError, UnicodeError, TomlError):
        return None
    name = table.get("name") if isinstance(table, dict) else None
    return name if isinstance(name, str) and name.strip() else None


def project_here() -> str | None:
    """Return the name of the project of the current folder, or `None`."""
    file = read_settings(Path()).file
    return None if file is None else project_name(file.parent)


def serve_project(place: Path) -> None:
    """Carry out the runs of a place's project in its folder, wherever they began."""
    settings = read_settings(place)
    folder = (place if settings.file is None else settings.file.parent).absolute()
    name = project_name(folder)
    if name is not None:
        _folders[name] = folder
    elif folder not in _unnamed:
        _unnamed.append(folder)


def served_projects() -> frozenset[str]:
    """Return the names of the projects whose runs this process carries out."""
    return frozenset(_folders) | _elsewhere


def serve_runs_of(project: str) -> None:
    """Carry out the runs of a project in the folders where they began, unless this process has the project's folder."""
    _elsewhere.add(project)


def is_here(project: str | None, folder: Path = Path()) -> bool:
    """Return whether this process serves a project, or is in its folder; the settings of its `folder` tell one without a name."""
    if project is None:
        file = settings_file(folder)
        return file is None or file == settings_file(Path()) or file.parent in _unnamed
    return project in _folders or project == project_here()


def folder_of(config: RunConfig) -> Path:
    """Return the folder for a run: that of its project on this machine, or else where it began.

    A run of an unnamed project, or of an earlier release, whose folder is gone, uses the only project of
    this process.
    """
    if config.project is not None and config.project in _folders:
        return _folders[config.project]
    folder = Path(config.folder)
    served = [*_folders.values(), *_unnamed]
    return served[0] if len(served) == 1 and not folder.is_dir() and config.project is None else folder
