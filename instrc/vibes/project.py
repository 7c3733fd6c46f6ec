"""The roots and settings that apply to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.text.jsonvalue import Json
from instrc.text.limits import VIBE_BYTES
from instrc.text.source import Source
from instrc.vibes.registry import Registry
from instrc.vibes.settings import Settings, read_settings
from instrc.vibes.settings_places import readable_path

if TYPE_CHECKING:
    from instrc.vibes.lock import Lock


class Project(Struct, frozen=True):
    """Inputs besides the project's own settings that determine which vibes a program sees."""

    roots: tuple[str, ...] = ()
    """Additional vibe folders, searched before those of the settings."""
    shared: tuple[str, ...] = ()
    """Additional shared folders, searched before those of the settings."""
    locked: bool = False
    """Whether references resolve through the project's `aug.lock` or are a problem."""
    vibes: Mapping[str, Json] | None = None
    """Schemas by name, which take precedence over all folders."""


_ENDINGS = (".json", ".aug")
DEFAULT_PROJECT: Final = Project()
"""A project defined by its settings alone."""


class ProjectContext:
    """The registries and settings of many files; files with the same roots share a registry.

    Raise `SettingsError` if one of the project's roots is not a folder.
    `unsaved` has texts from an editor, by real path, that replace files; `generated` returns further roots.
    """

    def __init__(
        self,
        project: Project = DEFAULT_PROJECT,
        *,
        unsaved: Mapping[str, str] | None = None,
        generated: Callable[[Settings], tuple[Path, ...]] = lambda _: (),
    ) -> None:
        self._generated = generated
        self._locked = project.locked
        self._memory = project.vibes
        self._unsaved = unsaved
        self._roots = tuple(map(Path, project.roots))
        self._shared = tuple(map(Path, project.shared))
        missing = [folder for folder in (*self._roots, *self._shared) if not os.path.isdir(folder)]  # noqa: PTH112  -- no error for a NUL
        if missing:
            raise CompileError(
                problems.files.UnreadableFile(at=Source(str(folder), "").whole(), path=str(folder), reason="it is not a folder")
                for folder in missing
            )
        self._settings: dict[str, Settings] = {}
        """Settings by folder name, a string because creating and looking up a `Path` is as slow as opening a file."""
        self._near: dict[tuple[str | None, bool], Registry] = {}
        """Registries by what they depend on: the folder of a source, and whether its name may be in a folder of vibes."""
        self._registries: dict[tuple[tuple[Path, ...], tuple[Path, ...], int, Path | None], Registry] = {}

    def settings(self, source: Path | None) -> Settings:
        """Return the settings of a source file, or those of the working folder."""
        folder = "" if source is None else os.path.dirname(source)  # noqa: PTH120  -- a string, for speed: this runs for each file
        if folder not in self._settings:
            self._settings[folder] = read_settings(Path(folder))
        return self._settings[folder]

    def registry(self, source: Path | None) -> Registry:
        """Return the registry for a source file, or the one of the working folder."""
        near = (None, False) if source is None else (os.path.dirname(source), str(source).endswith(_ENDINGS))  # noqa: PTH120  -- as above
        if near not in self._near:
            self._near[near] = self._registry(source)
        return self._near[near]

    def called(self, source: Path, root: Path, lock: Lock | None) -> Registry:
        """Return the registry of a program found in a root, which also becomes one of its roots; the lock is the caller's."""
        return self._registry(source, root, lock)

    def _registry(self, source: Path | None, root: Path | None = None, lock: Lock | None = None) -> Registry:
        settings = self.settings(source)
        workspace: tuple[Path, ...] = (*self._roots, *_beside(source), *settings.roots, *self._generated(settings))
        shared = (*self._shared, *settings.shared)
        if root is not None and os.path.realpath(root) not in map(os.path.realpath, (*workspace, *shared)):
            workspace = (*workspace, root)
        max_bytes = settings.limits.get("vibe", VIBE_BYTES)
        place = lock.path if lock is not None else self.lock_place(source) if self._locked else None
        key = (workspace, shared, max_bytes, place)
        if key not in self._registries:
            if place is not None and lock is None:
                from instrc.vibes.lock import open_lock  # only needed with a lock

                lock = open_lock(place)
            self._registries[key] = Registry(
                workspace, shared, max_bytes=max_bytes, lock=lock, memory=self._memory, unsaved=self._unsaved, around=self.called
            )
        return self._registries[key]

    def lock_place(self, source: Path | None) -> Path:
        """Return the path of a source file's lock: next to the settings of its project, or else in the working folder."""
        from instrc.vibes.lock import NAME  # as below

        file = self.settings(source).file
        return readable_path(file.parent / NAME) if file is not None else Path(NAME)

    def registries(self) -> tuple[Registry, ...]:
        """Return all registries used so far."""
        return tuple(self._registries.values())


def _beside(source: Path | None) -> list[Path]:
    folder = Path() if source is None else source.parent
    found = [folder / "schemas"] if (folder / "schemas").is_dir() else []
    if source is not None and source.name.endswith(_ENDINGS):
        absolute = Path(os.path.abspath(folder))  # noqa: PTH100  -- as written: links are not followed
        for steps, above in enumerate((absolute, *absolute.parents)):
            if above.name == "schemas":
                written = Path(*folder.parts[: len(folder.parts) - steps]) if steps < len(folder.parts) else above
                found.append(written if os.path.abspath(written) == str(above) else above)  # noqa: PTH100  -- as above
                break
    return found
