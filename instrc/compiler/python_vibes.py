"""Vibes from the Python modules of a project: a separate process imports them and writes their descriptions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Final

from instrc.compiler.resolve import schemas_in_memory
from instrc.problems.errors import SettingsError
from instrc.problems.report import Report
from instrc.problems.settings import InvalidSettings
from instrc.text.files import store
from instrc.text.jsontext import dumps, loads
from instrc.text.jsonvalue import Json, as_array, as_object
from instrc.text.source import Source
from instrc.tools.python_values import INSTRUCTION_NAME, instruction_name
from instrc.version import __version__
from instrc.vibes.roots import ENDING
from instrc.vibes.settings import Settings
from instrc.vibes.settings_places import entry_place, readable_path

FOLDER: Final = ".instrc/python"
"""Folder of the vibes, next to the settings that name the modules."""
_STATE: Final = "modules.json"
IMPORT_SECONDS: Final = 60.0
"""Time limit for importing the modules, in seconds."""


def python_roots(settings: Settings, *, renew: bool) -> tuple[Path, ...]:
    """Return the folder of vibes from the project's modules; with `renew`, rewrite it if a module has changed."""
    if settings.file is None:
        return ()
    folder = settings.file.parent / FOLDER
    if renew and not _is_current(folder, settings.python):
        _renew(folder, settings.file, settings.python)
    return (folder,) if folder.is_dir() else ()


def _is_current(folder: Path, modules: Iterable[str]) -> bool:
    try:
        state = as_object(loads((folder / _STATE).read_text(encoding="utf-8")))
        files = as_object(state["files"])
        return state["of"] == [__version__, *modules] and files == _stamps(files)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _stamps(files: Iterable[str]) -> dict[str, Json]:
    return {file: [status.st_mtime_ns, status.st_size] for file in files if (status := Path(file).stat())}


def _renew(folder: Path, file: Path, modules: tuple[str, ...]) -> None:
    """Write the vibes of modules into a folder, replacing its previous ones."""
    project = file.parent.absolute()
    path = os.pathsep.join([str(project), str(project / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", __name__, *modules]
    try:
        done = subprocess.run(  # noqa: S603  -- our own module, with names that are identifiers
            command,
            cwd=project,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=IMPORT_SECONDS,
        )
        answer = as_object(loads(done.stdout.rpartition("\n\0")[2]))
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        said = str(getattr(error, "stderr", None) or "").strip()
        reason = f"the modules cannot be imported: {said.splitlines()[-1][:400] if said else type(error).__name__}"
        frames = re.findall(rf'File "{re.escape(f"{project}{os.sep}")}(.+)", line (\d+)', said)
        reason += f" (`{frames[-1][0]}`, line {frames[-1][1]})" if frames else ""
        at = entry_place(Source(readable_path(file).as_posix(), file.read_text(encoding="utf-8")), "python")
        raise SettingsError([InvalidSettings(at=at, key="python", reason=reason)]) from None
    vibes = as_object(answer["vibes"])
    for name, schema in vibes.items():
        store(folder / f"{name}{ENDING}", dumps(schema).encode())
    for old in folder.glob(f"*{ENDING}"):
        if old.name.removesuffix(ENDING) not in vibes:
            old.unlink(missing_ok=True)
    state: Json = {"of": [__version__, *modules], "files": _stamps(map(str, as_array(answer["files"])))}
    store(folder / _STATE, dumps(state).encode())


def described(modules: Iterable[str]) -> Json:
    """Return the schemas of the classes and functions in modules, and the project files imported for them."""
    found: dict[str, object] = {}
    for module in modules:
        for value in vars(import_module(module)).values():
            own = getattr(value, "__module__", None) == module
            if own and (INSTRUCTION_NAME in getattr(value, "__dict__", ()) or _has_fields(value)):
                name = str(instruction_name(value))
                if (other := found.setdefault(name, value)) is not value:
                    raise TypeError(f"`{other.__module__}` and `{module}` both have `{name}`")
    here = f"{Path.cwd()}{os.sep}"
    files = {str(file) for module in [*sys.modules.values()] if (file := getattr(module, "__file__", None))}
    kept = sorted(file for file in files if file.startswith(here) and "site-packages" not in file)
    return {"vibes": schemas_in_memory(found, Report()), "files": [*kept]}


def _has_fields(value: object) -> bool:
    marks = ("model_fields", "__dataclass_fields__", "__required_keys__")
    return isinstance(value, type) and any(hasattr(value, mark) for mark in marks)


if __name__ == "__main__":
    sys.stdout.write(f"\n\0{dumps(described(sys.argv[1:]))}")
